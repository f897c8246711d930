// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the Vulkan layers for tests share: how a layer finds the one below it. Each is a library of its own.
#ifndef ACUITY_TESTS_DEVICE_VULKAN_LAYER_H
#define ACUITY_TESTS_DEVICE_VULKAN_LAYER_H

#include <vulkan/vk_layer.h>

#include <cstring>
#include <span>

inline PFN_vkGetInstanceProcAddr next_instance_address = nullptr;
inline VkInstance the_instance = VK_NULL_HANDLE;

/// The loader's entry in the list of structures; null if there is none.
template <typename Link>
Link* find_link(const void* list, VkStructureType type) {
  auto* link = static_cast<Link*>(const_cast<void*>(list));
  while (link != nullptr && (link->sType != type || link->function != VK_LAYER_LINK_INFO)) {
    link = static_cast<Link*>(const_cast<void*>(link->pNext));
  }
  return link;
}

inline VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info,
                                                      const VkAllocationCallbacks* allocator, VkInstance* instance) {
  auto* link = find_link<VkLayerInstanceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
  if (link == nullptr) return VK_ERROR_INITIALIZATION_FAILED;
  next_instance_address = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  const auto create = reinterpret_cast<PFN_vkCreateInstance>(next_instance_address(VK_NULL_HANDLE, "vkCreateInstance"));
  const VkResult result = create(info, allocator, instance);
  if (result >= 0) the_instance = *instance;
  return result;
}

/// Where functions of a new device are, below this layer; null if the loader did not say.
inline PFN_vkGetDeviceProcAddr create_device_below(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                                   const VkAllocationCallbacks* allocator, VkDevice* device,
                                                   VkResult& result) {
  result = VK_ERROR_INITIALIZATION_FAILED;
  auto* link = find_link<VkLayerDeviceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
  if (link == nullptr) return nullptr;
  const PFN_vkGetInstanceProcAddr instance_address = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  const PFN_vkGetDeviceProcAddr device_address = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  const auto create = reinterpret_cast<PFN_vkCreateDevice>(instance_address(the_instance, "vkCreateDevice"));
  result = create(physical, info, allocator, device);
  return device_address;
}

struct NamedFunction {
  const char* name;
  PFN_vkVoidFunction function;
};

template <typename Function>
PFN_vkVoidFunction as_void(Function function) {
  return reinterpret_cast<PFN_vkVoidFunction>(function);
}

inline PFN_vkVoidFunction find_function(std::span<const NamedFunction> functions, const char* name) {
  for (const NamedFunction& one : functions) {
    if (std::strcmp(one.name, name) == 0) return one.function;
  }
  return nullptr;
}

#endif
