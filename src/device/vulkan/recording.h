// SPDX-License-Identifier: BSD-2-Clause-Patent
// Work kept in command buffers that are submitted again as they are.
#ifndef ACUITY_DEVICE_VULKAN_RECORDING_H
#define ACUITY_DEVICE_VULKAN_RECORDING_H

#include <functional>
#include <memory>

#include "device/vulkan/queue.h"

namespace acuity {

/// As Device::record.
Result<std::unique_ptr<Recording>> record_commands(const std::shared_ptr<VulkanContext>& context, VulkanQueue& queue,
                                                   const std::function<Status()>& work);

}  // namespace acuity

#endif
