// SPDX-License-Identifier: BSD-2-Clause-Patent
// Whether float samples that are on a device are finite numbers; those of the host are looked at there.
#ifndef ACUITY_DEVICE_PIXELS_FINITE_H
#define ACUITY_DEVICE_PIXELS_FINITE_H

#include <optional>

#include "acuity/image.h"
#include "device/pixels/resident.h"
#include "device/pool.h"

namespace acuity {

/// A sample that is NaN or infinite.
struct NotFinite {
  float value = 0;
  int channel = 0;
  int x = 0;
  int y = 0;
};

/// The first of a picture's floats, by rows, then by channels, that is not a finite number. Waits for the answer.
Result<std::optional<NotFinite>> find_not_finite(DevicePool& pool, const ImageView& view, const Resident& samples);

}  // namespace acuity

#endif
