// SPDX-License-Identifier: BSD-2-Clause-Patent
// What each backend offers the front. A backend that was not built says so in its trouble.
#ifndef ACUITY_DEVICE_BACKENDS_H
#define ACUITY_DEVICE_BACKENDS_H

#include "device/device.h"

namespace acuity {

DeviceList list_cuda_devices();
DeviceList list_hip_devices();
DeviceList list_vulkan_devices();

Result<std::shared_ptr<Device>> open_cuda_device(int index);
Result<std::shared_ptr<Device>> open_hip_device(int index);
Result<std::shared_ptr<Device>> open_vulkan_device(int index);

}  // namespace acuity

#endif
