// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures of tests (support/layouts.h) in memory that a device reads.
#ifndef ACUITY_CROSS_BACKEND_SHEETS_H
#define ACUITY_CROSS_BACKEND_SHEETS_H

#include <memory>

#include "acuity/image.h"
#include "device/device.h"
#include "support/layouts.h"

namespace acuity::tests {

/// A sheet in page-locked memory.
struct PinnedSheet {
  std::shared_ptr<PinnedMemory> memory;
  ImageView view;
};

Result<PinnedSheet> pinned_sheet(Device& device, const Sheet& sheet);

/// A sheet in memory of the device.
struct DeviceSheet {
  std::shared_ptr<DeviceMemory> memory;
  ImageView view;  // of addresses there
};

Result<DeviceSheet> device_sheet(Device& device, const PinnedSheet& sheet);

}  // namespace acuity::tests

#endif
