// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/vulkan/copy_queue.h"

#include "base/try.h"

namespace acuity {

Result<std::unique_ptr<Queue>> VulkanCopyQueue::create(const std::shared_ptr<VulkanContext>& context,
                                                       VulkanDriverQueue& copies) {
  std::unique_ptr<VulkanQueue> copying, working;
  ACUITY_TRY_ASSIGN(copying, VulkanQueue::create(context, copies));
  copying->keep_back();
  ACUITY_TRY_ASSIGN(working, VulkanQueue::create(context, context->next_queue()));
  return std::unique_ptr<Queue>(new VulkanCopyQueue(std::move(copying), std::move(working)));
}

Status VulkanCopyQueue::go_to(VulkanQueue& queue) {
  if (&queue == current_) return Status();
  ACUITY_TRY(current_->signal(before_));
  ACUITY_TRY(current_->flush());
  ACUITY_TRY(queue.wait_for(before_));
  current_ = &queue;
  return Status();
}

Status VulkanCopyQueue::upload(DeviceMemory& to, size_t offset, const PinnedMemory& from, size_t from_offset,
                               size_t bytes) {
  ACUITY_TRY(go_to(*copies_));
  return copies_->upload(to, offset, from, from_offset, bytes);
}

Status VulkanCopyQueue::download(PinnedMemory& to, size_t to_offset, const DeviceMemory& from, size_t offset,
                                 size_t bytes) {
  ACUITY_TRY(go_to(*copies_));
  return copies_->download(to, to_offset, from, offset, bytes);
}

Status VulkanCopyQueue::clear(DeviceMemory& memory, size_t offset, size_t bytes) {
  ACUITY_TRY(go_to(*work_));
  return work_->clear(memory, offset, bytes);
}

Status VulkanCopyQueue::launch(const KernelInfo& kernel, int groups_x, int groups_y, const ArgumentBlock& arguments) {
  ACUITY_TRY(go_to(*work_));
  return work_->launch(kernel, groups_x, groups_y, arguments);
}

}  // namespace acuity
