// SPDX-License-Identifier: BSD-2-Clause-Patent
// Work in order: commands are recorded, and submitted when somebody waits for them or enough have come together.
#ifndef ACUITY_DEVICE_VULKAN_QUEUE_H
#define ACUITY_DEVICE_VULKAN_QUEUE_H

#include <deque>
#include <memory>
#include <vector>

#include "device/vulkan/context.h"

namespace acuity {

/// A timeline semaphore: it counts the submissions of one queue that are done.
class VulkanTimeline {
 public:
  static Result<std::shared_ptr<VulkanTimeline>> create(std::shared_ptr<VulkanContext> context);
  explicit VulkanTimeline(std::shared_ptr<VulkanContext> context) : context_(std::move(context)) {}
  ~VulkanTimeline();
  VulkanTimeline(const VulkanTimeline&) = delete;
  VulkanTimeline& operator=(const VulkanTimeline&) = delete;

  VkSemaphore handle() const { return semaphore_; }
  Result<uint64_t> value() const;
  Status wait(uint64_t value) const;

 private:
  std::shared_ptr<VulkanContext> context_;
  VkSemaphore semaphore_ = VK_NULL_HANDLE;
};

/// A number on a queue's timeline.
struct VulkanPoint {
  const VulkanDriverQueue* driver_queue = nullptr;
  std::shared_ptr<VulkanTimeline> timeline;
  uint64_t value = 0;
};

class VulkanEvent final : public Event {
 public:
  VulkanPoint point;
};

class VulkanQueue final : public Queue {
 public:
  static Result<std::unique_ptr<Queue>> create(std::shared_ptr<VulkanContext> context);
  explicit VulkanQueue(std::shared_ptr<VulkanContext> context)
      : context_(std::move(context)), driver_queue_(context_->next_queue()) {}
  ~VulkanQueue() override;

  Status upload(DeviceMemory& to, size_t offset, const PinnedMemory& from, size_t from_offset, size_t bytes) override;
  Status download(PinnedMemory& to, size_t to_offset, const DeviceMemory& from, size_t offset, size_t bytes) override;
  Status clear(DeviceMemory& memory, size_t offset, size_t bytes) override;
  Status launch(const KernelInfo& kernel, int groups_x, int groups_y, const ArgumentBlock& arguments) override;
  Status signal(Event& event) override;
  Status wait_for(const Event& event) override;
  Status wait_for_outside(const Event& event) override { return wait_for(event); }
  Status wait() override;

 private:
  /// Commands on their way, and what they waited for.
  struct Batch {
    VkCommandBuffer commands = VK_NULL_HANDLE;
    uint64_t value = 0;
    std::vector<VulkanPoint> waits;
  };

  Status open();
  Status begin();
  Status copy(VkBuffer to, size_t to_offset, VkBuffer from, size_t from_offset, size_t bytes, bool host_reads);
  Status finish_command(bool host_reads);
  Status submit();
  Result<VkCommandBuffer> idle_commands();

  std::shared_ptr<VulkanContext> context_;
  VulkanDriverQueue& driver_queue_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  std::shared_ptr<VulkanTimeline> timeline_;
  uint64_t submitted_ = 0;
  std::deque<Batch> in_flight_;
  Batch recording_;
  int recorded_ = 0;
};

}  // namespace acuity

#endif
