// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <fmt/format.h>

#include "base/try.h"
#include "device/backends.h"
#include "device/probe.h"
#include "device/vulkan/copy_queue.h"
#include "device/vulkan/memory.h"
#include "device/vulkan/queue.h"
#include "device/vulkan/recording.h"

namespace acuity {
namespace {

class VulkanDevice final : public Device {
 public:
  explicit VulkanDevice(std::shared_ptr<VulkanContext> context) : context_(std::move(context)) {
    info_ = context_->candidate().info;
    info_.replays_few_faster = true;  // a replay is one vkQueueSubmit, of which each costs as much as some launches
  }

  Result<int64_t> free_bytes() const override { return context_->free_bytes(); }
  Result<std::unique_ptr<DeviceMemory>> allocate(size_t bytes) override {
    return VulkanDeviceMemory::create(context_, bytes);
  }
  Result<std::unique_ptr<PinnedMemory>> allocate_pinned(size_t bytes) override {
    return VulkanPinnedMemory::create(context_, bytes);
  }
  Result<std::unique_ptr<Queue>> create_queue() override {
    std::unique_ptr<Queue> queue;
    ACUITY_TRY_ASSIGN(queue, VulkanQueue::create(context_, context_->next_queue()));
    return queue;
  }
  Result<std::unique_ptr<Queue>> create_copy_queue() override {
    VulkanDriverQueue* copies = context_->copy_queue();
    return copies == nullptr ? create_queue() : VulkanCopyQueue::create(context_, *copies);
  }
  Result<std::unique_ptr<Event>> create_event() override { return std::unique_ptr<Event>(new VulkanEvent); }
  Status prepare(const KernelInfo& kernel) override { return context_->pipeline(kernel).status(); }
  Result<std::unique_ptr<Recording>> record(Queue& queue, const std::function<Status()>& work) override {
    auto* recorded = dynamic_cast<VulkanQueue*>(&queue);
    if (recorded == nullptr) return std::unique_ptr<Recording>();  // one for copies
    return record_commands(context_, *recorded, work);
  }

 private:
  std::shared_ptr<VulkanContext> context_;
};

/// Chooses the target whose kernels the device computes exactly.
Status choose_target(VulkanContext& context, Device& device) {
  Result<ProbeReport> report = probe_device(device);
  if (!report.ok()) return report.status();
  if (report->acceptable()) return Status();
  std::string trouble = report->first_mistake();
  if (context.candidate().has(needs_double)) {
    context.use_target("spirv_emulated_fma");
    report = probe_device(device);
    if (!report.ok()) return report.status();
    if (report->acceptable()) return Status();
    trouble += "; and in double precision " + report->first_mistake();
  } else {
    trouble += "; and it has no double precision to make up for it";
  }
  const DeviceInfo& info = device.info();
  return Status(StatusCode::device, fmt::format("{} ({}, {}) computes wrongly and is not used: {}", info.id, info.name,
                                                info.driver, trouble));
}

std::string what_it_lacks(const VulkanCandidate& candidate) {
  return fmt::format("{} ({}) lacks {}", candidate.info.id, candidate.info.name, candidate.lacks);
}

}  // namespace

DeviceList list_vulkan_devices() {
  DeviceList list;
  const Result<std::shared_ptr<VulkanInstance>> instance = VulkanInstance::get();
  const Result<std::vector<VulkanCandidate>> candidates =
      instance.ok() ? find_vulkan_candidates(*instance.value()) : instance.status();
  if (!candidates.ok()) {
    list.troubles.push_back({Backend::vulkan, candidates.status().message()});
    return list;
  }
  for (const VulkanCandidate& candidate : candidates.value()) {
    if (candidate.lacks.empty()) {
      list.devices.push_back(candidate.info);
    } else {
      list.troubles.push_back({Backend::vulkan, what_it_lacks(candidate)});
    }
  }
  return list;
}

Result<std::shared_ptr<Device>> open_vulkan_device(int index) {
  Result<std::shared_ptr<VulkanInstance>> instance = VulkanInstance::get();
  if (!instance.ok()) return instance.status();
  const Result<std::vector<VulkanCandidate>> candidates = find_vulkan_candidates(*instance.value());
  if (!candidates.ok()) return candidates.status();
  const size_t count = candidates->size();
  if (index < 0 || static_cast<size_t>(index) >= count) {
    return Status(StatusCode::unknown_device,
                  fmt::format("vulkan: there is no device {}: expected 0 to {}", index, count - 1));
  }
  const VulkanCandidate& candidate = candidates.value()[static_cast<size_t>(index)];
  if (!candidate.lacks.empty()) return Status(StatusCode::device, "vulkan: " + what_it_lacks(candidate));
  Result<std::shared_ptr<VulkanContext>> context = VulkanContext::open(std::move(instance).value(), candidate);
  if (!context.ok()) return context.status();
  auto device = std::make_shared<VulkanDevice>(context.value());
  if (Status status = choose_target(*context.value(), *device); !status.ok()) return status;
  return std::shared_ptr<Device>(std::move(device));
}

}  // namespace acuity
