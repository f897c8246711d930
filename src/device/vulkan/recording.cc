// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/vulkan/recording.h"

#include <utility>
#include <vector>

#include "base/try.h"

namespace acuity {
namespace {

/// Lets go of the queues, whichever way the work ends.
class RecorderGuard {
 public:
  explicit RecorderGuard(VulkanRecorder& recorder) : recorder_(recorder) {}
  ~RecorderGuard() { recorder_.release_queues(); }
  RecorderGuard(const RecorderGuard&) = delete;
  RecorderGuard& operator=(const RecorderGuard&) = delete;

 private:
  VulkanRecorder& recorder_;
};

class VulkanRecording final : public Recording {
 public:
  VulkanRecording(std::shared_ptr<VulkanContext> context, VulkanQueue& queue)
      : context_(std::move(context)), queue_(queue) {}
  ~VulkanRecording() override {
    if (last_.value > 0) static_cast<void>(last_.timeline->wait(last_.value));
    context_->call().DestroyCommandPool(context_->handle(), pool_, nullptr);
  }

  /// One command buffer for what comes between two waits for the outside.
  Status write(VulkanRecorder& recorder) {
    VkCommandPoolCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    info.queueFamilyIndex = context_->candidate().queue_family;
    const VkResult created = context_->call().CreateCommandPool(context_->handle(), &info, nullptr, &pool_);
    ACUITY_TRY(context_->check(created, "vkCreateCommandPool"));

    const std::vector<VulkanRecorder::Placed>& commands = recorder.commands();
    size_t waited = 0;  // events
    const auto add_waits = [&](VulkanRecordedBatch& batch, size_t until) {
      for (; waited < until; ++waited) batch.waits.push_back(recorder.outside()[waited]);
    };
    VulkanKinds kinds;  // in this step so far, be it in several batches
    for (size_t i = 0; i < commands.size();) {
      VulkanRecordedBatch& batch = batches_.emplace_back();
      add_waits(batch, static_cast<size_t>(commands[i].position.waits));
      ACUITY_TRY(begin(batch.commands));
      do {
        write_command(*context_, batch.commands, commands[i].command);
        kinds.add(commands[i].command.kind);
        const int step = commands[i++].position.step;
        if (i < commands.size() && commands[i].position.step == step) continue;
        write_barrier(*context_, batch.commands, std::exchange(kinds, VulkanKinds()), true);
      } while (i < commands.size() && static_cast<size_t>(commands[i].position.waits) <= waited);
      ACUITY_TRY(context_->check(context_->call().EndCommandBuffer(batch.commands), "vkEndCommandBuffer"));
    }
    if (batches_.empty() || waited < recorder.outside().size()) {
      add_waits(batches_.emplace_back(), recorder.outside().size());
    }
    return {};
  }

  Status replay() override {
    const Status status = queue_.replay(batches_);
    last_ = queue_.submitted();  // the work may be in flight even if something was found wrong after it was submitted
    return status;
  }

 private:
  Status begin(VkCommandBuffer& commands) {
    const VulkanDeviceFunctions& vk = context_->call();
    VkCommandBufferAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    info.commandPool = pool_;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    const VkResult allocated = vk.AllocateCommandBuffers(context_->handle(), &info, &commands);
    ACUITY_TRY(context_->check(allocated, "vkAllocateCommandBuffers"));
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;  // it may be replayed while it is in flight
    return context_->check(vk.BeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
  }

  std::shared_ptr<VulkanContext> context_;
  VulkanQueue& queue_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  std::vector<VulkanRecordedBatch> batches_;
  VulkanPoint last_;  // replay
};

}  // namespace

Result<std::unique_ptr<Recording>> record_commands(const std::shared_ptr<VulkanContext>& context, VulkanQueue& queue,
                                                   const std::function<Status()>& work) {
  if (queue.is_recording()) return Status(StatusCode::internal, "vulkan: this queue's work is being recorded already");
  const auto recorder = std::make_shared<VulkanRecorder>();
  {
    const RecorderGuard guard(*recorder);
    queue.join_recorder(recorder, {});
    ACUITY_TRY(work());
    if (!recorder->is_complete(queue.past())) {
      return Status(StatusCode::internal,
                    "vulkan: the recording ended without waiting for the work of one of its queues");
    }
  }
  ACUITY_TRY(queue.settle());
  auto recording = std::make_unique<VulkanRecording>(context, queue);
  const Status written = recording->write(*recorder);
  if (written.code() == StatusCode::out_of_memory || written.code() == StatusCode::device_memory) {
    return std::unique_ptr<Recording>();
  }
  ACUITY_TRY(written);
  return std::unique_ptr<Recording>(std::move(recording));
}

}  // namespace acuity
