// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/vulkan/queue.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/try.h"
#include "device/vulkan/memory.h"

namespace acuity {
namespace {

// Enough to make the cost of a submission small, few enough that the device starts early.
constexpr int kCommandsInSubmission = 32;

// To wake a sleeping thread takes some 50 us, half as long as the work of a small pair, and on some machines several
// milliseconds after it has slept for a few.
constexpr std::chrono::milliseconds kAwake(20);

VkBuffer buffer_of(const DeviceMemory& memory) { return static_cast<const VulkanDeviceMemory&>(memory).buffer(); }
VkBuffer buffer_of(const PinnedMemory& memory) { return static_cast<const VulkanPinnedMemory&>(memory).buffer(); }

}  // namespace

Result<std::shared_ptr<VulkanTimeline>> VulkanTimeline::create(std::shared_ptr<VulkanContext> context) {
  auto timeline = std::make_shared<VulkanTimeline>(std::move(context));
  VkSemaphoreTypeCreateInfo type{};
  type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  info.pNext = &type;
  VulkanContext& owner = *timeline->context_;
  const VkResult created = owner.call().CreateSemaphore(owner.handle(), &info, nullptr, &timeline->semaphore_);
  if (Status status = owner.check(created, "vkCreateSemaphore"); !status.ok()) return status;
  return timeline;
}

VulkanTimeline::~VulkanTimeline() { context_->call().DestroySemaphore(context_->handle(), semaphore_, nullptr); }

Result<uint64_t> VulkanTimeline::value() const {
  uint64_t value = 0;
  const VkResult asked = context_->call().GetSemaphoreCounterValue(context_->handle(), semaphore_, &value);
  if (Status status = context_->check(asked, "vkGetSemaphoreCounterValue"); !status.ok()) return status;
  return value;
}

Status VulkanTimeline::wait(uint64_t value) const {
  // A device in software needs the processor itself.
  if (!context_->candidate().info.is_software) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    for (Clock::duration waited{}; waited < kAwake;) {
      const Result<uint64_t> reached = this->value();
      if (!reached.ok() || *reached >= value) return reached.status();
      // The longer it takes the less often it is asked for: several threads that ask all the time keep each other, and
      // those who submit, out of the driver.
      const Clock::duration next = waited + std::max<Clock::duration>(waited / 16, std::chrono::microseconds(1));
      do {
        std::this_thread::yield();
        waited = Clock::now() - begin;
      } while (waited < next);
    }
  }
  VkSemaphoreWaitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
  info.semaphoreCount = 1;
  info.pSemaphores = &semaphore_;
  info.pValues = &value;
  return context_->check(context_->call().WaitSemaphores(context_->handle(), &info, UINT64_MAX), "vkWaitSemaphores");
}

Result<std::unique_ptr<VulkanQueue>> VulkanQueue::create(std::shared_ptr<VulkanContext> context,
                                                         VulkanDriverQueue& driver_queue) {
  auto queue = std::make_unique<VulkanQueue>(std::move(context), driver_queue);
  ACUITY_TRY(queue->open());
  return queue;
}

Status VulkanQueue::open() {
  ACUITY_TRY_ASSIGN(timeline_, VulkanTimeline::create(context_));
  VkCommandPoolCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  info.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT | VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  info.queueFamilyIndex = driver_queue_->family;
  const VkResult created = context_->call().CreateCommandPool(context_->handle(), &info, nullptr, &pool_);
  return context_->check(created, "vkCreateCommandPool");
}

/// What was submitted is waited for; what was only collected is dropped, because nobody asked for its result.
VulkanQueue::~VulkanQueue() {
  if (is_settled_) --driver_queue_->users;
  if (submitted_ > 0) static_cast<void>(timeline_->wait(submitted_));
  context_->call().DestroyCommandPool(context_->handle(), pool_, nullptr);
}

/// Lets go of what is done.
Status VulkanQueue::retire() {
  if (in_flight_.empty()) return Status();
  const Result<uint64_t> done = timeline_->value();
  if (!done.ok()) return done.status();
  for (; !in_flight_.empty() && in_flight_.front().value <= done.value(); in_flight_.pop_front()) {
    if (in_flight_.front().commands != VK_NULL_HANDLE) idle_.push_back(in_flight_.front().commands);
  }
  return Status();
}

Result<VkCommandBuffer> VulkanQueue::idle_commands() {
  if (idle_.empty()) ACUITY_TRY(retire());
  VkCommandBuffer commands = VK_NULL_HANDLE;
  if (!idle_.empty()) {
    commands = idle_.back();
    idle_.pop_back();
    return commands;
  }
  VkCommandBufferAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  info.commandPool = pool_;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  const VkResult allocated = context_->call().AllocateCommandBuffers(context_->handle(), &info, &commands);
  ACUITY_TRY(context_->check(allocated, "vkAllocateCommandBuffers"));
  return commands;
}

/// Makes sure that commands are being collected.
Status VulkanQueue::begin() {
  if (next_.commands != VK_NULL_HANDLE) return Status();
  VkCommandBuffer commands = VK_NULL_HANDLE;
  ACUITY_TRY_ASSIGN(commands, idle_commands());
  VkCommandBufferBeginInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  next_.commands = commands;
  return context_->check(context_->call().BeginCommandBuffer(commands, &info), "vkBeginCommandBuffer");
}

/// Each command sees what those before it wrote.
Status VulkanQueue::give(const VulkanCommand& command) {
  if (recorder_) {
    recorder_->add(number_, past_, command);
    return Status();
  }
  ACUITY_TRY(begin());
  write_command(*context_, next_.commands, command);
  VulkanKinds kinds;
  kinds.add(command.kind);
  write_barrier(*context_, next_.commands, kinds, driver_queue_->computes);
  return ++next_commands_ < kCommandsInSubmission ? Status() : submit();
}

Status VulkanQueue::upload(DeviceMemory& to, size_t offset, const PinnedMemory& from, size_t from_offset,
                           size_t bytes) {
  return give({.kind = VulkanCommand::Kind::upload,
               .to = buffer_of(to),
               .from = buffer_of(from),
               .region = {from_offset, offset, bytes}});
}

Status VulkanQueue::download(PinnedMemory& to, size_t to_offset, const DeviceMemory& from, size_t offset,
                             size_t bytes) {
  return give({.kind = VulkanCommand::Kind::download,
               .to = buffer_of(to),
               .from = buffer_of(from),
               .region = {offset, to_offset, bytes}});
}

Status VulkanQueue::clear(DeviceMemory& memory, size_t offset, size_t bytes) {
  return give({.kind = VulkanCommand::Kind::clear, .to = buffer_of(memory), .region = {0, offset, bytes}});
}

Status VulkanQueue::launch(const KernelInfo& kernel, int groups_x, int groups_y, const ArgumentBlock& arguments) {
  VkPipeline pipeline = VK_NULL_HANDLE;
  ACUITY_TRY_ASSIGN(pipeline, context_->pipeline(kernel));
  return give({.kind = VulkanCommand::Kind::launch,
               .pipeline = pipeline,
               .groups_x = static_cast<uint32_t>(groups_x),
               .groups_y = static_cast<uint32_t>(groups_y),
               .arguments = arguments});
}

/// Submits what was collected. What was waited for without a semaphore is put on the timeline by an empty submission,
/// behind what is kept back.
Status VulkanQueue::submit() {
  if (next_.commands == VK_NULL_HANDLE) {
    if (!has_waited_) return Status();
    ACUITY_TRY(flush());
    return hand_over({&next_, 1});
  }
  ACUITY_TRY(context_->check(context_->call().EndCommandBuffer(next_.commands), "vkEndCommandBuffer"));
  next_commands_ = 0;
  if (keeps_back_) {
    kept_back_.push_back(std::exchange(next_, Batch()));
    return Status();
  }
  ACUITY_TRY(hand_over({&next_, 1}));
  next_.value = submitted_;
  in_flight_.push_back(std::exchange(next_, Batch()));
  return Status();
}

Status VulkanQueue::flush() {
  if (kept_back_.empty()) return Status();
  const uint64_t before = submitted_;
  const Status status = hand_over(kept_back_, kept_back_.size());
  std::vector<Batch> batches;
  batches.swap(kept_back_);
  ACUITY_TRY(status);
  for (size_t i = 0; i < batches.size(); ++i) {
    batches[i].value = before + i + 1;
    in_flight_.push_back(std::move(batches[i]));
  }
  return Status();
}

/// The last of them raises the timeline by one, or the last `raises` do, each.
Status VulkanQueue::hand_over(std::span<const Batch> batches, uint64_t raises) {
  struct Waits {
    std::vector<VkSemaphore> semaphores{};
    std::vector<uint64_t> values{};
    std::vector<VkPipelineStageFlags> stages{};
    void add(const VulkanPoint& point) {
      semaphores.push_back(point.timeline->handle());
      values.push_back(point.value);
      stages.push_back(VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    }
  };
  std::vector<Waits> waits(batches.size());
  std::vector<VkTimelineSemaphoreSubmitInfo> timelines(batches.size());
  std::vector<VkSubmitInfo> infos(batches.size());
  std::vector<uint64_t> values(batches.size());
  const VkSemaphore own = timeline_->handle();
  for (size_t i = 0; i < batches.size(); ++i) {
    for (const VulkanPoint& point : batches[i].waits) waits[i].add(point);
    const bool signals = i + raises >= batches.size();
    values[i] = submitted_ + raises + i + 1 - batches.size();
    VkTimelineSemaphoreSubmitInfo& timeline = timelines[i];
    timeline.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
    timeline.waitSemaphoreValueCount = static_cast<uint32_t>(waits[i].values.size());
    timeline.pWaitSemaphoreValues = waits[i].values.data();
    timeline.signalSemaphoreValueCount = signals ? 1 : 0;
    timeline.pSignalSemaphoreValues = &values[i];
    VkSubmitInfo& info = infos[i];
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.pNext = &timeline;
    info.waitSemaphoreCount = static_cast<uint32_t>(waits[i].semaphores.size());
    info.pWaitSemaphores = waits[i].semaphores.data();
    info.pWaitDstStageMask = waits[i].stages.data();
    info.commandBufferCount = batches[i].commands == VK_NULL_HANDLE ? 0 : 1;
    info.pCommandBuffers = &batches[i].commands;
    info.signalSemaphoreCount = signals ? 1 : 0;
    info.pSignalSemaphores = &own;
  }
  VkResult result = VK_SUCCESS;
  {
    const std::lock_guard lock(driver_queue_->mutex);
    result = context_->call().QueueSubmit(driver_queue_->handle, static_cast<uint32_t>(infos.size()), infos.data(),
                                          VK_NULL_HANDLE);
  }
  if (result >= 0) {
    submitted_ += raises;
    has_waited_ = false;
  }
  return context_->check(result, "vkQueueSubmit");
}

Status VulkanQueue::settle() {
  if (is_settled_) return Status();
  ACUITY_TRY(submit());
  VulkanDriverQueue& chosen = context_->least_used_queue();
  if (&chosen != driver_queue_) ACUITY_TRY(move_to(chosen));
  ++chosen.users;
  is_settled_ = true;
  return Status();
}

/// All that the old one was given, by other queues too, comes before what the new one is given: nobody waited for work
/// of others there, and an event that is signalled next is a point of the new one.
Status VulkanQueue::move_to(VulkanDriverQueue& driver_queue) {
  const Batch end;
  ACUITY_TRY(hand_over({&end, 1}));
  const Batch begin{.waits = {submitted()}};
  driver_queue_ = &driver_queue;
  return hand_over({&begin, 1});
}

Status VulkanQueue::replay(std::span<const VulkanRecordedBatch> recorded) {
  if (recorder_) return Status(StatusCode::internal, "vulkan: recorded work was replayed inside other recorded work");
  ACUITY_TRY(retire());
  std::vector<Batch> batches;
  batches.reserve(recorded.size() + 1);
  // What was collected goes along, because a submission of its own takes the processor longer than a few copies the
  // device.
  const bool has_collected = next_.commands != VK_NULL_HANDLE;
  if (has_collected) {
    ACUITY_TRY(context_->check(context_->call().EndCommandBuffer(next_.commands), "vkEndCommandBuffer"));
    next_commands_ = 0;
    batches.push_back(std::exchange(next_, Batch()));
  }
  Batch kept;
  for (const VulkanRecordedBatch& one : recorded) {
    Batch& batch = batches.emplace_back();
    batch.commands = one.commands;
    for (const VulkanEvent* event : one.waits) {
      if (needs_waiting_for(event->point)) batch.waits.push_back(event->point);
    }
    kept.waits.insert(kept.waits.end(), batch.waits.begin(), batch.waits.end());
  }
  const Status status = hand_over(batches);
  // Also if the submission was followed by a finding of the validation layer.
  if (has_collected) {
    batches.front().value = submitted_;
    in_flight_.push_back(std::move(batches.front()));
  }
  kept.value = submitted_;
  in_flight_.push_back(std::move(kept));
  return status;
}

void VulkanQueue::join_recorder(std::shared_ptr<VulkanRecorder> recorder, VulkanRecorder::Past past) {
  recorder_ = std::move(recorder);
  number_ = recorder_->join(*this);
  past_ = std::move(past);
}

Status VulkanQueue::signal(Event& event) {
  auto& own = static_cast<VulkanEvent&>(event);
  own.is_recorded = recorder_ != nullptr;
  own.recorder = recorder_;
  if (recorder_) {
    own.past = past_;
    return Status();
  }
  ACUITY_TRY(submit());
  own.point = submitted();
  return Status();
}

/// What one queue of the driver was given earlier is done earlier: the barriers see to that. A semaphore would cost
/// time, and lavapipe of Mesa 22.3 touches it once more after the work that waited is done, when it may be gone.
bool VulkanQueue::needs_waiting_for(const VulkanPoint& point) const {
  return point.driver_queue != driver_queue_ && point.value != 0;
}

Status VulkanQueue::wait_for(const Event& event) {
  const auto& other = static_cast<const VulkanEvent&>(event);
  if (other.is_recorded) {
    std::shared_ptr<VulkanRecorder> recorder = other.recorder.lock();
    if (recorder == nullptr || (recorder_ && recorder_ != recorder)) {
      return Status(StatusCode::internal, "vulkan: waiting for an event that was signalled inside recorded work");
    }
    if (!recorder_) join_recorder(std::move(recorder), {});
    VulkanRecorder::join_pasts(past_, other.past);
    return Status();
  }
  if (recorder_) {
    return Status(StatusCode::internal, "vulkan: recorded work waits for an event that was signalled outside it");
  }
  if (!needs_waiting_for(other.point)) {
    has_waited_ = has_waited_ || (other.point.value != 0 && other.point.timeline != timeline_);
    return Status();
  }
  if (next_commands_ > 0) ACUITY_TRY(submit());
  ACUITY_TRY(begin());
  next_.waits.push_back(other.point);
  return Status();
}

Status VulkanQueue::wait_for_outside(const Event& event) {
  if (!recorder_)
    return Status(StatusCode::internal, "vulkan: no work is being recorded that could wait for an event outside it");
  recorder_->wait_outside(past_, static_cast<const VulkanEvent&>(event));
  return Status();
}

Status VulkanQueue::wait() {
  if (recorder_) return Status(StatusCode::internal, "vulkan: work that is being recorded cannot be waited for");
  ACUITY_TRY(submit());
  ACUITY_TRY(flush());
  if (submitted_ == 0) return context_->check(VK_SUCCESS, "");
  ACUITY_TRY(timeline_->wait(submitted_));
  context_->save_pipelines();
  return Status();
}

}  // namespace acuity
