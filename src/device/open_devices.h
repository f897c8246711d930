// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_DEVICE_OPEN_DEVICES_H
#define ACUITY_DEVICE_OPEN_DEVICES_H

#include <memory>
#include <string_view>

namespace acuity {

class Device;

/// Whether open_device() would share a device that this process has open already. Loads no driver.
bool is_device_open(std::string_view id);
/// That device; null if it is not open.
std::shared_ptr<Device> device_if_open(std::string_view id);

}  // namespace acuity

#endif
