// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/vulkan/queue.h"

#include "device/vulkan/memory.h"

namespace acuity {
namespace {

// Enough to make the cost of a submission small, few enough that the device starts early.
constexpr int kCommandsInSubmission = 32;

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
  VkSemaphoreWaitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
  info.semaphoreCount = 1;
  info.pSemaphores = &semaphore_;
  info.pValues = &value;
  return context_->check(context_->call().WaitSemaphores(context_->handle(), &info, UINT64_MAX), "vkWaitSemaphores");
}

Result<std::unique_ptr<Queue>> VulkanQueue::create(std::shared_ptr<VulkanContext> context) {
  auto queue = std::make_unique<VulkanQueue>(std::move(context));
  if (Status status = queue->open(); !status.ok()) return status;
  return std::unique_ptr<Queue>(std::move(queue));
}

Status VulkanQueue::open() {
  Result<std::shared_ptr<VulkanTimeline>> timeline = VulkanTimeline::create(context_);
  if (!timeline.ok()) return timeline.status();
  timeline_ = std::move(timeline).value();
  VkCommandPoolCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  info.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT | VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  info.queueFamilyIndex = context_->candidate().queue_family;
  const VkResult created = context_->call().CreateCommandPool(context_->handle(), &info, nullptr, &pool_);
  return context_->check(created, "vkCreateCommandPool");
}

/// What was submitted is waited for; what was only recorded is dropped, because nobody asked for its result.
VulkanQueue::~VulkanQueue() {
  if (submitted_ > 0) static_cast<void>(timeline_->wait(submitted_));
  context_->call().DestroyCommandPool(context_->handle(), pool_, nullptr);
}

Result<VkCommandBuffer> VulkanQueue::idle_commands() {
  if (!in_flight_.empty()) {
    const Result<uint64_t> done = timeline_->value();
    if (!done.ok()) return done.status();
    if (done.value() >= in_flight_.front().value) {
      const VkCommandBuffer commands = in_flight_.front().commands;
      in_flight_.pop_front();
      return commands;
    }
  }
  VkCommandBufferAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  info.commandPool = pool_;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  const VkResult allocated = context_->call().AllocateCommandBuffers(context_->handle(), &info, &commands);
  if (Status status = context_->check(allocated, "vkAllocateCommandBuffers"); !status.ok()) return status;
  return commands;
}

/// Makes sure that commands are being recorded.
Status VulkanQueue::begin() {
  if (recording_.commands != VK_NULL_HANDLE) return Status();
  const Result<VkCommandBuffer> commands = idle_commands();
  if (!commands.ok()) return commands.status();
  VkCommandBufferBeginInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  recording_.commands = commands.value();
  return context_->check(context_->call().BeginCommandBuffer(recording_.commands, &info), "vkBeginCommandBuffer");
}

/// Each command sees what those before it wrote.
Status VulkanQueue::finish_command(bool host_reads) {
  VkMemoryBarrier barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT |
                          VK_ACCESS_TRANSFER_WRITE_BIT;
  constexpr VkPipelineStageFlags work = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
  VkPipelineStageFlags after = work;
  if (host_reads) {
    barrier.dstAccessMask |= VK_ACCESS_HOST_READ_BIT;
    after |= VK_PIPELINE_STAGE_HOST_BIT;
  }
  context_->call().CmdPipelineBarrier(recording_.commands, work, after, 0, 1, &barrier, 0, nullptr, 0, nullptr);
  return ++recorded_ < kCommandsInSubmission ? Status() : submit();
}

Status VulkanQueue::copy(VkBuffer to, size_t to_offset, VkBuffer from, size_t from_offset, size_t bytes,
                         bool host_reads) {
  if (Status status = begin(); !status.ok()) return status;
  const VkBufferCopy region{from_offset, to_offset, bytes};
  context_->call().CmdCopyBuffer(recording_.commands, from, to, 1, &region);
  return finish_command(host_reads);
}

Status VulkanQueue::upload(DeviceMemory& to, size_t offset, const PinnedMemory& from, size_t from_offset,
                           size_t bytes) {
  return copy(buffer_of(to), offset, buffer_of(from), from_offset, bytes, false);
}

Status VulkanQueue::download(PinnedMemory& to, size_t to_offset, const DeviceMemory& from, size_t offset,
                             size_t bytes) {
  return copy(buffer_of(to), to_offset, buffer_of(from), offset, bytes, true);
}

Status VulkanQueue::clear(DeviceMemory& memory, size_t offset, size_t bytes) {
  if (Status status = begin(); !status.ok()) return status;
  context_->call().CmdFillBuffer(recording_.commands, buffer_of(memory), offset, bytes, 0);
  return finish_command(false);
}

Status VulkanQueue::launch(const KernelInfo& kernel, int groups_x, int groups_y, const ArgumentBlock& arguments) {
  if (Status status = begin(); !status.ok()) return status;
  const Result<VkPipeline> pipeline = context_->pipeline(kernel);
  if (!pipeline.ok()) return pipeline.status();
  const VulkanDeviceFunctions& vk = context_->call();
  vk.CmdBindPipeline(recording_.commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.value());
  vk.CmdPushConstants(recording_.commands, context_->layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                      static_cast<uint32_t>(arguments.size()), arguments.data());
  vk.CmdDispatch(recording_.commands, static_cast<uint32_t>(groups_x), static_cast<uint32_t>(groups_y), 1);
  return finish_command(false);
}

/// Hands what was recorded to the device.
Status VulkanQueue::submit() {
  if (recording_.commands == VK_NULL_HANDLE) return Status();
  const VulkanDeviceFunctions& vk = context_->call();
  if (Status status = context_->check(vk.EndCommandBuffer(recording_.commands), "vkEndCommandBuffer"); !status.ok()) {
    return status;
  }
  std::vector<VkSemaphore> semaphores;
  std::vector<uint64_t> values;
  for (const VulkanPoint& point : recording_.waits) {
    semaphores.push_back(point.timeline->handle());
    values.push_back(point.value);
  }
  const std::vector<VkPipelineStageFlags> stages(semaphores.size(), VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
  recording_.value = submitted_ + 1;
  const VkSemaphore own = timeline_->handle();

  VkTimelineSemaphoreSubmitInfo timeline{};
  timeline.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
  timeline.waitSemaphoreValueCount = static_cast<uint32_t>(values.size());
  timeline.pWaitSemaphoreValues = values.data();
  timeline.signalSemaphoreValueCount = 1;
  timeline.pSignalSemaphoreValues = &recording_.value;
  VkSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.pNext = &timeline;
  info.waitSemaphoreCount = static_cast<uint32_t>(semaphores.size());
  info.pWaitSemaphores = semaphores.data();
  info.pWaitDstStageMask = stages.data();
  info.commandBufferCount = 1;
  info.pCommandBuffers = &recording_.commands;
  info.signalSemaphoreCount = 1;
  info.pSignalSemaphores = &own;
  VkResult result = VK_SUCCESS;
  {
    const std::lock_guard lock(driver_queue_.mutex);
    result = vk.QueueSubmit(driver_queue_.handle, 1, &info, VK_NULL_HANDLE);
  }
  if (result >= 0) {
    submitted_ = recording_.value;
    in_flight_.push_back(std::move(recording_));
    recording_ = Batch();
    recorded_ = 0;
  }
  return context_->check(result, "vkQueueSubmit");
}

Status VulkanQueue::signal(Event& event) {
  if (Status status = submit(); !status.ok()) return status;
  static_cast<VulkanEvent&>(event).point = {&driver_queue_, timeline_, submitted_};
  return Status();
}

Status VulkanQueue::wait_for(const Event& event) {
  const VulkanPoint& point = static_cast<const VulkanEvent&>(event).point;
  // What one queue of the driver was given earlier is done earlier: the barriers see to that. A semaphore would cost
  // time, and lavapipe of Mesa 22.3 touches it once more after the work that waited is done, when it may be gone.
  if (point.driver_queue == &driver_queue_ || point.value == 0) return Status();
  if (recorded_ > 0) {
    if (Status status = submit(); !status.ok()) return status;
  }
  if (Status status = begin(); !status.ok()) return status;
  recording_.waits.push_back(point);
  return Status();
}

Status VulkanQueue::wait() {
  if (Status status = submit(); !status.ok()) return status;
  if (submitted_ > 0) return timeline_->wait(submitted_);
  return context_->check(VK_SUCCESS, "");
}

}  // namespace acuity
