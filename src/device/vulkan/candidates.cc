// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/vulkan/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace acuity {
namespace {

/// The modes of 32-bit numbers that can be demanded without a word about other widths.
std::vector<FloatMode> float_modes(const VkPhysicalDeviceFloatControlsProperties& floats) {
  std::vector<FloatMode> modes;
  if (floats.shaderDenormPreserveFloat32 == VK_TRUE &&
      floats.denormBehaviorIndependence != VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE) {
    modes.push_back(FloatMode::preserve_subnormals);
  }
  if (floats.shaderSignedZeroInfNanPreserveFloat32 == VK_TRUE) modes.push_back(FloatMode::preserve_specials);
  if (floats.shaderRoundingModeRTEFloat32 == VK_TRUE &&
      floats.roundingModeIndependence != VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE) {
    modes.push_back(FloatMode::round_to_nearest);
  }
  return modes;
}

/// A driver without a limit may state the largest number it has.
int at_most_int(uint32_t limit) { return static_cast<int>(std::min<uint32_t>(limit, INT32_MAX)); }

void read_properties(const VulkanInstanceFunctions& vk, VulkanCandidate& candidate) {
  VkPhysicalDeviceDriverProperties driver{};
  driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
  VkPhysicalDeviceMaintenance3Properties maintenance{};
  maintenance.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES;
  maintenance.pNext = &driver;
  VkPhysicalDeviceFloatControlsProperties floats{};
  floats.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES;
  floats.pNext = &maintenance;
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &floats;
  VkPhysicalDeviceIDProperties identity{};
  identity.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
  identity.pNext = properties.pNext;
  properties.pNext = &identity;
  VkPhysicalDeviceSubgroupProperties subgroups{};
  subgroups.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES;
  subgroups.pNext = properties.pNext;
  properties.pNext = &subgroups;
  VkPhysicalDevicePCIBusInfoPropertiesEXT bus{};
  bus.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT;
  if (candidate.has_bus_info) {
    bus.pNext = properties.pNext;
    properties.pNext = &bus;
  }
  vk.GetPhysicalDeviceProperties2(candidate.handle, &properties);

  const uint32_t version = properties.properties.apiVersion;
  candidate.info.name = properties.properties.deviceName;
  candidate.info.uuid = uuid_text(identity.deviceUUID);
  if (candidate.has_bus_info) {
    candidate.info.pci_address =
        fmt::format("{:04x}:{:02x}:{:02x}.{:x}", bus.pciDomain, bus.pciBus, bus.pciDevice, bus.pciFunction);
  }
  const VkPhysicalDeviceType type = properties.properties.deviceType;
  candidate.info.is_software = type == VK_PHYSICAL_DEVICE_TYPE_CPU;
  candidate.info.has_unified_memory = candidate.info.is_software || type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
  candidate.info.driver = fmt::format("{} {} (Vulkan {}.{})", driver.driverName, driver.driverInfo,
                                      VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version));
  candidate.pipeline_key =
      fmt::format("{:04x}-{:04x}-{:08x}-{}", properties.properties.vendorID, properties.properties.deviceID,
                  properties.properties.driverVersion, uuid_text(properties.properties.pipelineCacheUUID));
  const VkPhysicalDeviceLimits& limits = properties.properties.limits;
  candidate.limits = limits;
  candidate.info.group_threads = at_most_int(limits.maxComputeWorkGroupInvocations);
  candidate.info.group_width = at_most_int(limits.maxComputeWorkGroupSize[0]);
  candidate.info.group_height = at_most_int(limits.maxComputeWorkGroupSize[1]);
  candidate.info.shared_bytes = at_most_int(limits.maxComputeSharedMemorySize);
  candidate.info.subgroup_threads = at_most_int(subgroups.subgroupSize);
  candidate.maximum_allocation = maintenance.maxMemoryAllocationSize;
  candidate.float_modes = float_modes(floats);
  if (version < VK_API_VERSION_1_2) candidate.lacks = "Vulkan 1.2";
}

void read_memory(const VulkanInstanceFunctions& vk, VulkanCandidate& candidate) {
  VkPhysicalDeviceMemoryProperties2 memory{};
  memory.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
  vk.GetPhysicalDeviceMemoryProperties2(candidate.handle, &memory);
  candidate.memory = memory.memoryProperties;
  for (uint32_t i = 0; i < candidate.memory.memoryHeapCount; ++i) {
    const VkMemoryHeap& heap = candidate.memory.memoryHeaps[i];
    if ((heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0) {
      candidate.info.memory_bytes = std::max(candidate.info.memory_bytes, static_cast<int64_t>(heap.size));
    }
  }
}

void read_extensions(const VulkanInstanceFunctions& vk, VulkanCandidate& candidate) {
  uint32_t count = 0;
  vk.EnumerateDeviceExtensionProperties(candidate.handle, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  vk.EnumerateDeviceExtensionProperties(candidate.handle, nullptr, &count, extensions.data());
  extensions.resize(count);
  for (const VkExtensionProperties& extension : extensions) {
    if (std::strcmp(extension.extensionName, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME) == 0) {
      candidate.has_memory_budget = true;
    }
    if (std::strcmp(extension.extensionName, VK_EXT_PCI_BUS_INFO_EXTENSION_NAME) == 0) candidate.has_bus_info = true;
  }
}

/// A family that computes and does not draw is preferred: it does not wait for a desktop.
void choose_queue_families(const VulkanInstanceFunctions& vk, VulkanCandidate& candidate) {
  uint32_t count = 0;
  vk.GetPhysicalDeviceQueueFamilyProperties(candidate.handle, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vk.GetPhysicalDeviceQueueFamilyProperties(candidate.handle, &count, families.data());
  constexpr VkQueueFlags only_copies = VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT | VK_QUEUE_PROTECTED_BIT;
  bool chosen_draws = true;
  for (uint32_t i = 0; i < count; ++i) {
    const VkQueueFlags flags = families[i].queueFlags;
    if ((flags & VK_QUEUE_TRANSFER_BIT) != 0 && (flags & ~only_copies) == 0 && families[i].queueCount > 0 &&
        !candidate.copy_family) {
      candidate.copy_family = i;
    }
    if ((flags & VK_QUEUE_COMPUTE_BIT) == 0 || families[i].queueCount == 0) continue;
    const bool draws = (flags & VK_QUEUE_GRAPHICS_BIT) != 0;
    if (candidate.queue_count != 0 && (draws || !chosen_draws)) continue;
    candidate.queue_family = i;
    candidate.queue_count = families[i].queueCount;
    chosen_draws = draws;
  }
}

void read_features(const VulkanInstanceFunctions& vk, VulkanCandidate& candidate) {
  VkPhysicalDeviceVulkan11Features features11{};
  features11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  VkPhysicalDeviceVulkan12Features features12{};
  features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  features12.pNext = &features11;
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &features12;
  vk.GetPhysicalDeviceFeatures2(candidate.handle, &features);
  const auto need = [&candidate](Need what, VkBool32 there) {
    if (there == VK_FALSE) candidate.info.lacks |= what;
  };
  need(needs_int64, features.features.shaderInt64);
  need(needs_double, features.features.shaderFloat64);
  need(needs_storage16, features11.storageBuffer16BitAccess);
  need(needs_storage8, features12.storageBuffer8BitAccess);
  if (features12.bufferDeviceAddress == VK_FALSE) {
    candidate.lacks = "bufferDeviceAddress";
  } else if (features12.timelineSemaphore == VK_FALSE) {
    candidate.lacks = "timelineSemaphore";
  } else if (features12.scalarBlockLayout == VK_FALSE) {
    candidate.lacks = "scalarBlockLayout";
  } else if (candidate.queue_count == 0) {
    candidate.lacks = "a queue that computes";
  } else if (candidate.limits.maxPushConstantsSize < kMaximumArgumentBytes) {
    candidate.lacks = fmt::format("{} bytes of push constants", kMaximumArgumentBytes);
  }
}

}  // namespace

Result<std::vector<VulkanCandidate>> find_vulkan_candidates(const VulkanInstance& instance) {
  const VulkanInstanceFunctions& vk = instance.call();
  uint32_t count = 0;
  VkResult result = vk.EnumeratePhysicalDevices(instance.handle(), &count, nullptr);
  std::vector<VkPhysicalDevice> handles(count);
  if (result >= 0 && count > 0) result = vk.EnumeratePhysicalDevices(instance.handle(), &count, handles.data());
  if (result < 0) return vulkan_failure("vkEnumeratePhysicalDevices", result);
  if (count == 0) return Status(StatusCode::unknown_device, "vulkan: no driver has a device");
  handles.resize(count);

  std::vector<VulkanCandidate> candidates(count);
  for (size_t i = 0; i < count; ++i) {
    VulkanCandidate& candidate = candidates[i];
    candidate.handle = handles[i];
    candidate.info.backend = Backend::vulkan;
    candidate.info.index = static_cast<int>(i);
    candidate.info.id = fmt::format("vulkan:{}", i);
    read_extensions(vk, candidate);
    read_properties(vk, candidate);
    read_memory(vk, candidate);
    choose_queue_families(vk, candidate);
    if (candidate.lacks.empty()) read_features(vk, candidate);
  }
  return candidates;
}

}  // namespace acuity
