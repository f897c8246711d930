// SPDX-License-Identifier: BSD-2-Clause-Patent
// Work in order: commands are collected, and submitted when somebody waits for them or enough have come together.
#ifndef ACUITY_DEVICE_VULKAN_QUEUE_H
#define ACUITY_DEVICE_VULKAN_QUEUE_H

#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "device/vulkan/commands.h"
#include "device/vulkan/recorder.h"

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
  VulkanPoint point;  // where it was last signalled outside of recorded work
  bool is_recorded = false;
  std::weak_ptr<VulkanRecorder> recorder{};  // of that recorded work, while it is being recorded
  VulkanRecorder::Past past{};               // in it
};

/// Recorded commands, and the events they wait for before they begin.
struct VulkanRecordedBatch {
  VkCommandBuffer commands = VK_NULL_HANDLE;
  std::vector<const VulkanEvent*> waits;
};

class VulkanQueue final : public Queue {
 public:
  static Result<std::unique_ptr<VulkanQueue>> create(std::shared_ptr<VulkanContext> context,
                                                     VulkanDriverQueue& driver_queue);
  VulkanQueue(std::shared_ptr<VulkanContext> context, VulkanDriverQueue& driver_queue)
      : context_(std::move(context)), driver_queue_(&driver_queue) {}
  ~VulkanQueue() override;

  Status upload(DeviceMemory& to, size_t offset, const PinnedMemory& from, size_t from_offset, size_t bytes) override;
  Status download(PinnedMemory& to, size_t to_offset, const DeviceMemory& from, size_t offset, size_t bytes) override;
  Status clear(DeviceMemory& memory, size_t offset, size_t bytes) override;
  Status launch(const KernelInfo& kernel, int groups_x, int groups_y, const ArgumentBlock& arguments) override;
  Status signal(Event& event) override;
  Status wait_for(const Event& event) override;
  Status wait_for_outside(const Event& event) override;
  Status wait() override;
  Status flush() override;

  /// From now on what is submitted is kept back until flush() or wait(): a submission costs the processor more than
  /// what it copies costs the device.
  void keep_back() { keeps_back_ = true; }

  /// From now on commands go to the recorder, until leave_recorder().
  void join_recorder(std::shared_ptr<VulkanRecorder> recorder, VulkanRecorder::Past past);
  void leave_recorder() { recorder_.reset(); }
  bool is_recording() const { return recorder_ != nullptr; }
  const VulkanRecorder::Past& past() const { return past_; }

  /// Recorded work is done on one queue of the driver, which should not have that of many others to do.
  Status settle();
  Status replay(std::span<const VulkanRecordedBatch> batches);
  /// The last submission.
  VulkanPoint submitted() const { return {driver_queue_, timeline_, submitted_ + kept_back_.size()}; }

 private:
  /// Commands in flight, and what they wait for.
  struct Batch {
    VkCommandBuffer commands = VK_NULL_HANDLE;  // of this queue; null while recorded ones are in flight
    uint64_t value = 0;                         // on the timeline
    std::vector<VulkanPoint> waits{};
  };

  Status open();
  Status begin();
  Status give(const VulkanCommand& command);
  Status submit();
  Status hand_over(std::span<const Batch> batches, uint64_t raises = 1);
  Status move_to(VulkanDriverQueue& driver_queue);
  Status retire();
  bool needs_waiting_for(const VulkanPoint& point) const;
  Result<VkCommandBuffer> idle_commands();

  std::shared_ptr<VulkanContext> context_;
  VulkanDriverQueue* driver_queue_;
  bool is_settled_ = false;
  bool has_waited_ = false;  // since the last submission, for another queue that shares the driver's
  VkCommandPool pool_ = VK_NULL_HANDLE;
  std::shared_ptr<VulkanTimeline> timeline_;
  uint64_t submitted_ = 0;
  bool keeps_back_ = false;
  std::vector<Batch> kept_back_;  // each raises the timeline by one
  std::deque<Batch> in_flight_;
  std::vector<VkCommandBuffer> idle_;
  Batch next_;
  int next_commands_ = 0;

  std::shared_ptr<VulkanRecorder> recorder_;
  size_t number_ = 0;  // in it
  VulkanRecorder::Past past_;
};

}  // namespace acuity

#endif
