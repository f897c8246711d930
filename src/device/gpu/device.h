// SPDX-License-Identifier: BSD-2-Clause-Patent
// Devices of CUDA and HIP, written once over the table of driver functions.
#ifndef ACUITY_DEVICE_GPU_DEVICE_H
#define ACUITY_DEVICE_GPU_DEVICE_H

#include <memory>

#include "device/device.h"
#include "device/gpu/driver.h"

namespace acuity {

/// A driver that is loaded and started, or why there is none.
using LoadedDriver = Result<std::shared_ptr<const GpuDriver>>;

DeviceList list_gpu_devices(Backend backend, const LoadedDriver& driver);
Result<std::shared_ptr<Device>> open_gpu_device(Backend backend, const LoadedDriver& driver, int index);

}  // namespace acuity

#endif
