// SPDX-License-Identifier: BSD-2-Clause-Patent
// A Vulkan layer for tests: it shows a device as less than it is. ACUITY_LIMITED_DEVICE has the words for what it
// lacks:
//   hardware  it claims to be a GPU, not software
//   groups    groups have at most 256 threads
//   shared    and 16 KiB of shared memory, the least that Vulkan allows
//   double    it has no double precision
//   integers  it has no integers of 64 bits
//   memory    its memory is that of a card: 1 GiB that the processor does not see, 16 MiB that it does (BAR), and the
//             processor's own, as NVIDIA's driver lists them
//   keeps     its pipeline caches have 100 bytes for each pipeline, and ignore the data they are created with
//   refuses   its pipeline caches cannot be created with data
#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>

#include "device/vulkan_layer.h"

namespace {

bool is_set(std::string_view word) {
  const char* words = std::getenv("ACUITY_LIMITED_DEVICE");
  return words != nullptr && std::string_view(words).find(word) != std::string_view::npos;
}

struct Devices {
  std::mutex mutex{};
  std::map<VkDevice, PFN_vkGetDeviceProcAddr> below{};
  size_t pipelines = 0;  // of the last cache
};
Devices devices;

template <typename Function>
Function below(VkDevice device, const char* name) {
  const std::lock_guard lock(devices.mutex);
  return reinterpret_cast<Function>(devices.below.at(device)(device, name));
}

constexpr VkMemoryPropertyFlags kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkMemoryPropertyFlags kVisible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr std::array<VkMemoryType, 5> kTypes = {
    {{0, 1}, {kLocal, 0}, {kVisible, 1}, {kVisible | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 1}, {kLocal | kVisible, 2}}};
constexpr std::array<VkMemoryHeap, 3> kHeaps = {{{VkDeviceSize{1} << 30, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT},
                                                 {VkDeviceSize{4} << 30, 0},
                                                 {VkDeviceSize{16} << 20, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}}};

/// What was allocated of the memory of a card.
struct Allocations {
  struct One {
    uint32_t type;
    VkDeviceSize bytes;
  };
  std::mutex mutex{};
  std::map<VkDeviceMemory, One> live{};

  VkDeviceSize used(uint32_t heap) const {
    VkDeviceSize sum = 0;
    for (const auto& [memory, one] : live) sum += kTypes[one.type].heapIndex == heap ? one.bytes : 0;
    return sum;
  }
};
Allocations allocations;

PFN_vkGetPhysicalDeviceProperties2 get_properties_below = nullptr;
PFN_vkGetPhysicalDeviceFeatures2 get_features_below = nullptr;
PFN_vkGetPhysicalDeviceMemoryProperties2 get_memory_below = nullptr;

/// Later the loader would give this layer's own functions.
VKAPI_ATTR VkResult VKAPI_CALL create_limited_instance(const VkInstanceCreateInfo* info,
                                                       const VkAllocationCallbacks* allocator, VkInstance* instance) {
  const VkResult result = create_instance(info, allocator, instance);
  if (result < 0) return result;
  get_properties_below = reinterpret_cast<PFN_vkGetPhysicalDeviceProperties2>(
      next_instance_address(*instance, "vkGetPhysicalDeviceProperties2"));
  get_features_below = reinterpret_cast<PFN_vkGetPhysicalDeviceFeatures2>(
      next_instance_address(*instance, "vkGetPhysicalDeviceFeatures2"));
  get_memory_below = reinterpret_cast<PFN_vkGetPhysicalDeviceMemoryProperties2>(
      next_instance_address(*instance, "vkGetPhysicalDeviceMemoryProperties2"));
  return result;
}

VKAPI_ATTR void VKAPI_CALL get_memory(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties2* memory) {
  get_memory_below(device, memory);
  if (!is_set("memory")) return;
  VkPhysicalDeviceMemoryProperties& properties = memory->memoryProperties;
  properties.memoryTypeCount = kTypes.size();
  std::copy(kTypes.begin(), kTypes.end(), properties.memoryTypes);
  properties.memoryHeapCount = kHeaps.size();
  std::copy(kHeaps.begin(), kHeaps.end(), properties.memoryHeaps);
  const std::lock_guard lock(allocations.mutex);
  for (auto* next = static_cast<VkBaseOutStructure*>(memory->pNext); next != nullptr; next = next->pNext) {
    if (next->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT) continue;
    auto* budget = reinterpret_cast<VkPhysicalDeviceMemoryBudgetPropertiesEXT*>(next);
    for (uint32_t i = 0; i < kHeaps.size(); ++i) {
      budget->heapBudget[i] = kHeaps[i].size;
      budget->heapUsage[i] = allocations.used(i);
    }
  }
}

VKAPI_ATTR void VKAPI_CALL get_requirements(VkDevice device, VkBuffer buffer, VkMemoryRequirements* requirements) {
  below<PFN_vkGetBufferMemoryRequirements>(device, "vkGetBufferMemoryRequirements")(device, buffer, requirements);
  if (is_set("memory")) requirements->memoryTypeBits = (1u << kTypes.size()) - 1;
}

VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo* info,
                                        const VkAllocationCallbacks* allocator, VkDeviceMemory* memory) {
  const auto allocate_below = below<PFN_vkAllocateMemory>(device, "vkAllocateMemory");
  if (!is_set("memory")) return allocate_below(device, info, allocator, memory);
  const std::lock_guard lock(allocations.mutex);
  const uint32_t heap = kTypes[info->memoryTypeIndex].heapIndex;
  if (allocations.used(heap) + info->allocationSize > kHeaps[heap].size) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  VkMemoryAllocateInfo changed = *info;
  changed.memoryTypeIndex = 0;
  const VkResult result = allocate_below(device, &changed, allocator, memory);
  if (result >= 0) allocations.live[*memory] = {info->memoryTypeIndex, info->allocationSize};
  return result;
}

VKAPI_ATTR void VKAPI_CALL release(VkDevice device, VkDeviceMemory memory, const VkAllocationCallbacks* allocator) {
  const std::lock_guard lock(allocations.mutex);
  allocations.live.erase(memory);
  below<PFN_vkFreeMemory>(device, "vkFreeMemory")(device, memory, allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL map_memory(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset,
                                          VkDeviceSize bytes, VkMemoryMapFlags flags, void** data) {
  {
    const std::lock_guard lock(allocations.mutex);
    const auto found = allocations.live.find(memory);
    if (found != allocations.live.end() && (kTypes[found->second.type].propertyFlags & kVisible) == 0) {
      return VK_ERROR_MEMORY_MAP_FAILED;
    }
  }
  return below<PFN_vkMapMemory>(device, "vkMapMemory")(device, memory, offset, bytes, flags, data);
}

VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice device, VkPhysicalDeviceProperties2* properties) {
  get_properties_below(device, properties);
  VkPhysicalDeviceLimits& limits = properties->properties.limits;
  if (is_set("hardware")) properties->properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
  if (is_set("shared")) limits.maxComputeSharedMemorySize = 16384;
  if (!is_set("groups")) return;
  limits.maxComputeWorkGroupInvocations = 256;
  limits.maxComputeWorkGroupSize[0] = limits.maxComputeWorkGroupSize[1] = 256;
}

VKAPI_ATTR void VKAPI_CALL get_features(VkPhysicalDevice device, VkPhysicalDeviceFeatures2* features) {
  get_features_below(device, features);
  if (is_set("double")) features->features.shaderFloat64 = VK_FALSE;
  if (is_set("integers")) features->features.shaderInt64 = VK_FALSE;
}

VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* allocator, VkDevice* device) {
  VkResult result = VK_SUCCESS;
  const PFN_vkGetDeviceProcAddr address = create_device_below(physical, info, allocator, device, result);
  const std::lock_guard lock(devices.mutex);
  if (result >= 0) devices.below[*device] = address;
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL create_cache(VkDevice device, const VkPipelineCacheCreateInfo* info,
                                            const VkAllocationCallbacks* allocator, VkPipelineCache* cache) {
  if (is_set("refuses") && info->initialDataSize > 0) return VK_ERROR_INITIALIZATION_FAILED;
  devices.pipelines = 0;
  VkPipelineCacheCreateInfo changed = *info;
  if (is_set("keeps")) changed.initialDataSize = 0;
  return below<PFN_vkCreatePipelineCache>(device, "vkCreatePipelineCache")(device, &changed, allocator, cache);
}

VKAPI_ATTR VkResult VKAPI_CALL get_cache(VkDevice device, VkPipelineCache cache, size_t* size, void* data) {
  if (!is_set("keeps")) {
    return below<PFN_vkGetPipelineCacheData>(device, "vkGetPipelineCacheData")(device, cache, size, data);
  }
  *size = sizeof(VkPipelineCacheHeaderVersionOne) + 100 * devices.pipelines;
  if (data != nullptr) std::fill_n(static_cast<unsigned char*>(data), *size, static_cast<unsigned char>(1));
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL create_pipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                                const VkComputePipelineCreateInfo* infos,
                                                const VkAllocationCallbacks* allocator, VkPipeline* pipelines) {
  devices.pipelines += count;
  return below<PFN_vkCreateComputePipelines>(device, "vkCreateComputePipelines")(device, cache, count, infos, allocator,
                                                                                 pipelines);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_address(VkDevice device, const char* name);

PFN_vkVoidFunction find_device_function(const char* name) {
  const std::array<NamedFunction, 9> functions = {{{"vkGetDeviceProcAddr", as_void(get_device_address)},
                                                   {"vkGetBufferMemoryRequirements", as_void(get_requirements)},
                                                   {"vkAllocateMemory", as_void(allocate)},
                                                   {"vkFreeMemory", as_void(release)},
                                                   {"vkMapMemory", as_void(map_memory)},
                                                   {"vkCreateDevice", as_void(create_device)},
                                                   {"vkCreatePipelineCache", as_void(create_cache)},
                                                   {"vkGetPipelineCacheData", as_void(get_cache)},
                                                   {"vkCreateComputePipelines", as_void(create_pipelines)}}};
  return find_function(functions, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_address(VkDevice device, const char* name) {
  const PFN_vkVoidFunction own = find_device_function(name);
  return own != nullptr ? own : below<PFN_vkVoidFunction>(device, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_address(VkInstance instance, const char* name) {
  const std::array<NamedFunction, 5> functions = {{{"vkGetInstanceProcAddr", as_void(get_instance_address)},
                                                   {"vkGetPhysicalDeviceMemoryProperties2", as_void(get_memory)},
                                                   {"vkCreateInstance", as_void(create_limited_instance)},
                                                   {"vkGetPhysicalDeviceProperties2", as_void(get_properties)},
                                                   {"vkGetPhysicalDeviceFeatures2", as_void(get_features)}}};
  if (const PFN_vkVoidFunction own = find_function(functions, name); own != nullptr) return own;
  if (const PFN_vkVoidFunction own = find_device_function(name); own != nullptr) return own;
  return next_instance_address == nullptr ? nullptr : next_instance_address(instance, name);
}

}  // namespace

extern "C" [[gnu::visibility("default")]] VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* version) {
  version->loaderLayerInterfaceVersion = 2;
  version->pfnGetInstanceProcAddr = get_instance_address;
  version->pfnGetDeviceProcAddr = get_device_address;
  version->pfnGetPhysicalDeviceProcAddr = nullptr;
  return VK_SUCCESS;
}
