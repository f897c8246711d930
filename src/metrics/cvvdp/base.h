// SPDX-License-Identifier: BSD-2-Clause-Patent
// What is left below all subbands: a few pixels, without masking and without a limit, compared in double.
#ifndef ACUITY_METRICS_CVVDP_BASE_H
#define ACUITY_METRICS_CVVDP_BASE_H

#include <array>

#include "metrics/cvvdp/cpu.h"

namespace acuity::cvvdp {

struct Base {
  std::array<const ChannelReader*, 2> pictures;  // reference, distorted
  Scale scale;
  int channels = kStillChannels;
  const Plane* heat = nullptr;  // for a map

  /// For each channel the root of the mean square difference.
  std::array<double, kChannels> differences() const;
};

}  // namespace acuity::cvvdp

#endif
