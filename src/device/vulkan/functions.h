// SPDX-License-Identifier: BSD-2-Clause-Patent
// The functions of Vulkan this backend calls, asked of the loader at run time.
#ifndef ACUITY_DEVICE_VULKAN_FUNCTIONS_H
#define ACUITY_DEVICE_VULKAN_FUNCTIONS_H

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

namespace acuity {

#define ACUITY_VULKAN_INSTANCE_FUNCTIONS(X) \
  X(DestroyInstance)                        \
  X(EnumeratePhysicalDevices)               \
  X(EnumerateDeviceExtensionProperties)     \
  X(GetPhysicalDeviceProperties2)           \
  X(GetPhysicalDeviceFeatures2)             \
  X(GetPhysicalDeviceMemoryProperties2)     \
  X(GetPhysicalDeviceQueueFamilyProperties) \
  X(CreateDevice)                           \
  X(GetDeviceProcAddr)

#define ACUITY_VULKAN_DEVICE_FUNCTIONS(X) \
  X(DestroyDevice)                        \
  X(GetDeviceQueue)                       \
  X(CreateBuffer)                         \
  X(DestroyBuffer)                        \
  X(GetBufferMemoryRequirements)          \
  X(GetBufferDeviceAddress)               \
  X(AllocateMemory)                       \
  X(FreeMemory)                           \
  X(BindBufferMemory)                     \
  X(MapMemory)                            \
  X(CreateShaderModule)                   \
  X(DestroyShaderModule)                  \
  X(CreatePipelineLayout)                 \
  X(DestroyPipelineLayout)                \
  X(CreatePipelineCache)                  \
  X(DestroyPipelineCache)                 \
  X(GetPipelineCacheData)                 \
  X(CreateComputePipelines)               \
  X(DestroyPipeline)                      \
  X(CreateCommandPool)                    \
  X(DestroyCommandPool)                   \
  X(AllocateCommandBuffers)               \
  X(BeginCommandBuffer)                   \
  X(EndCommandBuffer)                     \
  X(CmdBindPipeline)                      \
  X(CmdPushConstants)                     \
  X(CmdDispatch)                          \
  X(CmdCopyBuffer)                        \
  X(CmdFillBuffer)                        \
  X(CmdPipelineBarrier)                   \
  X(QueueSubmit)                          \
  X(CreateSemaphore)                      \
  X(DestroySemaphore)                     \
  X(GetSemaphoreCounterValue)             \
  X(WaitSemaphores)

#define ACUITY_VULKAN_MEMBER(name) PFN_vk##name name = nullptr;
struct VulkanInstanceFunctions {
  ACUITY_VULKAN_INSTANCE_FUNCTIONS(ACUITY_VULKAN_MEMBER)
};
struct VulkanDeviceFunctions {
  ACUITY_VULKAN_DEVICE_FUNCTIONS(ACUITY_VULKAN_MEMBER)
};
#undef ACUITY_VULKAN_MEMBER

}  // namespace acuity

#endif
