// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/vulkan/commands.h"

namespace acuity {

void write_command(const VulkanContext& context, VkCommandBuffer commands, const VulkanCommand& command) {
  const VulkanDeviceFunctions& vk = context.call();
  switch (command.kind) {
    case VulkanCommand::Kind::upload:
    case VulkanCommand::Kind::download:
      vk.CmdCopyBuffer(commands, command.from, command.to, 1, &command.region);
      break;
    case VulkanCommand::Kind::clear:
      vk.CmdFillBuffer(commands, command.to, command.region.dstOffset, command.region.size, 0);
      break;
    case VulkanCommand::Kind::launch:
      vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, command.pipeline);
      vk.CmdPushConstants(commands, context.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                          static_cast<uint32_t>(command.arguments.size()), command.arguments.data());
      vk.CmdDispatch(commands, command.groups_x, command.groups_y, 1);
      break;
  }
}

void write_barrier(const VulkanContext& context, VkCommandBuffer commands, const VulkanKinds& done, bool computes) {
  VkPipelineStageFlags before = 0;
  VkPipelineStageFlags after = VK_PIPELINE_STAGE_TRANSFER_BIT;
  VkMemoryBarrier barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  if (computes) {
    after |= VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    barrier.dstAccessMask |= VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
  }
  if (done.launches) {
    before |= VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    barrier.srcAccessMask |= VK_ACCESS_SHADER_WRITE_BIT;
  }
  if (done.copies) {
    before |= VK_PIPELINE_STAGE_TRANSFER_BIT;
    barrier.srcAccessMask |= VK_ACCESS_TRANSFER_WRITE_BIT;
  }
  if (done.host_reads) {
    after |= VK_PIPELINE_STAGE_HOST_BIT;
    barrier.dstAccessMask |= VK_ACCESS_HOST_READ_BIT;
  }
  context.call().CmdPipelineBarrier(commands, before, after, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

}  // namespace acuity
