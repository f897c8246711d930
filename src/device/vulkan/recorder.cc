// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/vulkan/recorder.h"

#include <algorithm>

#include "device/vulkan/queue.h"

namespace acuity {

size_t VulkanRecorder::join(VulkanQueue& queue) {
  const auto known = std::find(queues_.begin(), queues_.end(), &queue);
  if (known != queues_.end()) return static_cast<size_t>(known - queues_.begin());
  queues_.push_back(&queue);
  counts_.push_back(0);
  return queues_.size() - 1;
}

void VulkanRecorder::release_queues() {
  for (VulkanQueue* queue : queues_) queue->leave_recorder();
}

void VulkanRecorder::add(size_t queue, Past& past, const VulkanCommand& command) {
  ++past.position.step;
  past.commands.resize(counts_.size());
  past.commands[queue] = ++counts_[queue];
  commands_.push_back({past.position, commands_.size(), command});
}

void VulkanRecorder::wait_outside(Past& past, const VulkanEvent& event) {
  auto known = std::find(outside_.begin(), outside_.end(), &event);
  if (known == outside_.end()) known = outside_.insert(known, &event);
  past.position.waits = std::max(past.position.waits, static_cast<int>(known - outside_.begin()) + 1);
}

void VulkanRecorder::join_pasts(Past& past, const Past& other) {
  past.position.step = std::max(past.position.step, other.position.step);
  past.position.waits = std::max(past.position.waits, other.position.waits);
  past.commands.resize(std::max(past.commands.size(), other.commands.size()));
  for (size_t i = 0; i < other.commands.size(); ++i) past.commands[i] = std::max(past.commands[i], other.commands[i]);
}

const std::vector<VulkanRecorder::Placed>& VulkanRecorder::commands() {
  std::sort(commands_.begin(), commands_.end(), [](const Placed& a, const Placed& b) {
    return a.position != b.position ? a.position < b.position : a.number < b.number;
  });
  return commands_;
}

}  // namespace acuity
