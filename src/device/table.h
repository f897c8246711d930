// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_DEVICE_TABLE_H
#define ACUITY_DEVICE_TABLE_H

#include <memory>
#include <span>

#include "device/device.h"

namespace acuity {

/// Numbers that never change, in memory of the device; they are there when this returns.
Result<std::unique_ptr<DeviceMemory>> send_table(Device& device, std::span<const std::byte> table);

}  // namespace acuity

#endif
