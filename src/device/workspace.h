// SPDX-License-Identifier: BSD-2-Clause-Patent
// What every metric needs on a device to work on one pair of pictures: memory cut into arrays, queues, events, and a
// place for results on the host.
#ifndef ACUITY_DEVICE_WORKSPACE_H
#define ACUITY_DEVICE_WORKSPACE_H

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/device.h"
#include "device/pool.h"

namespace acuity {

/// How many groups of `of` it takes for `count`.
constexpr int groups(int count, int of) { return (count + of - 1) / of; }

/// Arrays of floats one behind the other in a piece of memory; each begins where every kernel can read it.
class MemoryLayout {
 public:
  /// Where the next array begins, in bytes.
  size_t place(size_t floats);
  size_t bytes() const { return bytes_; }
  size_t largest_array() const { return largest_array_; }

 private:
  size_t bytes_ = 0;
  size_t largest_array_ = 0;  // in floats
};

/// Its queues go before the memory that is worked on, and wait for what is in flight.
class Workspace {
 public:
  explicit Workspace(std::shared_ptr<DevicePool> pool) : pool_(std::move(pool)) {}
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  Device& device() const { return pool_->device(); }
  const std::shared_ptr<DevicePool>& pool() const { return pool_; }

  /// `use` names the metric; workspaces of the same use may find in their memory what others left there. Kernels number
  /// the elements of an array in 31 bits: a layout with a larger one is refused.
  Status allocate(const MemoryLayout& layout, size_t result_bytes, const std::string& use);
  Status prepare(std::initializer_list<KernelInfo> kernels) const;

  // Queues and events live as long as the workspace.
  Result<Queue*> create_queue();
  Result<Event*> create_event();
  template <typename Events>
  Status create_events(Events& events) {
    for (Event*& event : events) {
      Result<Event*> created = create_event();
      if (!created.ok()) return created.status();
      event = *created;
    }
    return {};
  }

  DeviceMemory& memory() const { return *memory_; }
  template <typename T>
  DeviceArray<T> array(size_t offset) const {
    return {memory_->address() + offset};
  }
  /// Sends numbers to a place in the memory and waits until they are there.
  Status send(Queue& queue, size_t offset, const std::vector<float>& numbers);

  /// The host's side of the last array of the layout, which holds `result_bytes`.
  PinnedMemory& results() const { return *results_; }
  Status fetch_results(Queue& queue, size_t offset) {
    return queue.download(*results_, 0, *memory_, offset, results_->size());
  }

  size_t bytes() const { return memory_->size() + results_->size(); }

 private:
  std::shared_ptr<DevicePool> pool_;
  PooledMemory memory_;
  std::unique_ptr<PinnedMemory> results_;
  std::vector<std::unique_ptr<Event>> events_;
  std::vector<std::unique_ptr<Queue>> queues_;
};

}  // namespace acuity

#endif
