// SPDX-License-Identifier: BSD-2-Clause-Patent
// Work of several queues put in one order, for Device::record: commands that do not depend on each other come between
// the same two barriers, and so run side by side on one queue of the driver.
#ifndef ACUITY_DEVICE_VULKAN_RECORDER_H
#define ACUITY_DEVICE_VULKAN_RECORDER_H

#include <compare>
#include <cstddef>
#include <memory>
#include <vector>

#include "device/vulkan/commands.h"

namespace acuity {

class VulkanEvent;
class VulkanQueue;

class VulkanRecorder {
 public:
  struct Position {
    int step = 0;   // a barrier lies between two steps
    int waits = 0;  // for events of the outside, of all that were met
    auto operator<=>(const Position&) const = default;
  };
  /// What lies before a point of a queue.
  struct Past {
    Position position{};
    std::vector<size_t> commands{};  // of each queue, how many
  };
  /// Commands of one step do not depend on each other. Those that wait for more come last in it, so that the others
  /// need not wait with them.
  struct Placed {
    Position position;
    size_t number;  // in which it was given
    VulkanCommand command;
  };

  /// Takes commands of this queue too; returns its number.
  size_t join(VulkanQueue& queue);
  /// Their commands are done again from now on.
  void release_queues();
  void add(size_t queue, Past& past, const VulkanCommand& command);
  /// What comes after waits for what was signalled last when it is replayed.
  void wait_outside(Past& past, const VulkanEvent& event);
  static void join_pasts(Past& past, const Past& other);

  /// Whether all that any queue was given lies before that point.
  bool is_complete(Past past) const {
    past.commands.resize(counts_.size());
    return past.commands == counts_;
  }
  /// In order; none may be added afterwards.
  const std::vector<Placed>& commands();
  /// Number i is waited for before the first command whose position has more than i waits, and so by all behind it.
  const std::vector<const VulkanEvent*>& outside() const { return outside_; }

 private:
  std::vector<VulkanQueue*> queues_;
  std::vector<size_t> counts_;  // of commands, by queue
  std::vector<Placed> commands_;
  std::vector<const VulkanEvent*> outside_;
};

}  // namespace acuity

#endif
