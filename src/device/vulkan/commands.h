// SPDX-License-Identifier: BSD-2-Clause-Patent
// What queues are given, and the barriers between.
#ifndef ACUITY_DEVICE_VULKAN_COMMANDS_H
#define ACUITY_DEVICE_VULKAN_COMMANDS_H

#include "device/vulkan/context.h"

namespace acuity {

struct VulkanCommand {
  enum class Kind { upload, download, clear, launch };
  Kind kind = Kind::launch;
  VkBuffer to = VK_NULL_HANDLE;  // copies and clears
  VkBuffer from = VK_NULL_HANDLE;
  VkBufferCopy region{};
  VkPipeline pipeline = VK_NULL_HANDLE;  // launches
  uint32_t groups_x = 0;
  uint32_t groups_y = 0;
  ArgumentBlock arguments{};
};

/// What kinds of commands there were since the last barrier.
struct VulkanKinds {
  void add(VulkanCommand::Kind kind) {
    launches = launches || kind == VulkanCommand::Kind::launch;
    copies = copies || kind != VulkanCommand::Kind::launch;
    host_reads = host_reads || kind == VulkanCommand::Kind::download;
  }
  bool launches = false;
  bool copies = false;
  bool host_reads = false;
};

void write_command(const VulkanContext& context, VkCommandBuffer commands, const VulkanCommand& command);

/// All that comes after sees what those of `done` wrote. `computes`: the queue is one that takes launches.
void write_barrier(const VulkanContext& context, VkCommandBuffer commands, const VulkanKinds& done, bool computes);

}  // namespace acuity

#endif
