// SPDX-License-Identifier: BSD-2-Clause-Patent
// The devices Vulkan shows, and whether they have what the kernels need.
#ifndef ACUITY_DEVICE_VULKAN_CANDIDATES_H
#define ACUITY_DEVICE_VULKAN_CANDIDATES_H

#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/vulkan/instance.h"
#include "device/vulkan/spirv.h"

namespace acuity {

struct VulkanCandidate {
  bool has(Need what) const { return (info.lacks & what) == 0; }

  VkPhysicalDevice handle = VK_NULL_HANDLE;
  DeviceInfo info;
  std::string lacks;          // empty when it can be used
  uint32_t queue_family = 0;  // that computes
  uint32_t queue_count = 0;
  std::optional<uint32_t> copy_family;  // that does nothing but copy: engines of their own, beside those that compute
  std::string pipeline_key;             // what compiled kernels depend on: the device and the version of its driver
  bool has_memory_budget = false;
  bool has_bus_info = false;
  std::vector<FloatMode> float_modes;  // those it takes
  VkPhysicalDeviceLimits limits{};
  VkPhysicalDeviceMemoryProperties memory{};
  VkDeviceSize maximum_allocation = 0;
};

/// All of them, those that cannot be used as well, in the driver's order.
Result<std::vector<VulkanCandidate>> find_vulkan_candidates(const VulkanInstance& instance);

}  // namespace acuity

#endif
