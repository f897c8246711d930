// SPDX-License-Identifier: BSD-2-Clause-Patent
// A queue whose copies go to engines that only copy; other work it is given goes elsewhere, in order all the same.
#ifndef ACUITY_DEVICE_VULKAN_COPY_QUEUE_H
#define ACUITY_DEVICE_VULKAN_COPY_QUEUE_H

#include <memory>

#include "device/vulkan/queue.h"

namespace acuity {

class VulkanCopyQueue final : public Queue {
 public:
  /// `copies` is of the context's copy_queue().
  static Result<std::unique_ptr<Queue>> create(const std::shared_ptr<VulkanContext>& context,
                                               VulkanDriverQueue& copies);
  VulkanCopyQueue(std::unique_ptr<VulkanQueue> copies, std::unique_ptr<VulkanQueue> work)
      : copies_(std::move(copies)), work_(std::move(work)), current_(copies_.get()) {}

  Status upload(DeviceMemory& to, size_t offset, const PinnedMemory& from, size_t from_offset, size_t bytes) override;
  Status download(PinnedMemory& to, size_t to_offset, const DeviceMemory& from, size_t offset, size_t bytes) override;
  Status clear(DeviceMemory& memory, size_t offset, size_t bytes) override;
  Status launch(const KernelInfo& kernel, int groups_x, int groups_y, const ArgumentBlock& arguments) override;
  Status signal(Event& event) override { return current_->signal(event); }
  Status wait_for(const Event& event) override { return current_->wait_for(event); }
  Status wait_for_outside(const Event& event) override { return current_->wait_for_outside(event); }
  Status wait() override { return current_->wait(); }
  Status flush() override { return copies_->flush(); }

 private:
  /// What comes next goes there, after all that came before.
  Status go_to(VulkanQueue& queue);

  std::unique_ptr<VulkanQueue> copies_;
  std::unique_ptr<VulkanQueue> work_;
  VulkanQueue* current_;
  VulkanEvent before_;
};

}  // namespace acuity

#endif
