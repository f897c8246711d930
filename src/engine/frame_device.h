// SPDX-License-Identifier: BSD-2-Clause-Patent
// Measures features on a device: each frame is sent once for all of them and for whoever else has its Input, and
// several are in flight.
#ifndef ACUITY_ENGINE_FRAME_DEVICE_H
#define ACUITY_ENGINE_FRAME_DEVICE_H

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/task_threads.h"
#include "base/threads.h"
#include "engine/device_feature.h"
#include "engine/frame_plan.h"
#include "engine/input.h"

namespace acuity {

struct FrameDeviceLimits {
  int in_flight = 0;             // frames; 0: as many as keep a device busy, or for which it has memory
  std::optional<int64_t> cap{};  // of memory on the device, in bytes
};

/// Used by one thread.
class FrameDevice {
 public:
  /// `shapes` are those of the reference and the distorted video, of one depth. The features outlive it. `threads` copy
  /// frames that are in ordinary memory. All memory is counted before any is allocated; if the device has not enough,
  /// this is refused as too_big.
  static Result<std::unique_ptr<FrameDevice>> create(const std::shared_ptr<Device>& device,
                                                     const std::array<FrameShape, 2>& shapes,
                                                     std::vector<const Feature*> features, int threads,
                                                     const FrameDeviceLimits& limits = {});

  const DevicePool& pool() const { return *pool_; }
  /// How many frames before it some feature looks at.
  int history() const { return history_; }

  /// Sends a pair of frames that own their memory, and has those features measured that `measured` says, in the order
  /// of create(), as soon as the frames are here that they look ahead to. Not while is_full(). Where history() is not
  /// 0, every frame must come here. `index` is that of the frame in the sequence.
  Status submit(int64_t index, const Input& reference, const Input& distorted, const std::vector<bool>& measured);
  /// No frame is going to follow: those that look ahead are measured with what there is.
  Status end();
  bool is_full() const { return submitted_ - finished_ == in_flight(); }
  bool is_idle() const { return submitted_ == finished_; }

  /// The index of the first frame in flight.
  int64_t oldest() const { return slot_of(finished_).index; }
  /// Waits for it. Fills in the numbers of the features that were measured. Frames that waited for its slot take it.
  Status finish_oldest(std::vector<std::vector<double>>& numbers);

  /// Device memory of a feature's own; the first has that of the frames as well.
  size_t bytes(size_t feature) const;

 private:
  // A frame that is on the device and is not measured yet.
  struct Waiting {
    int64_t index = 0;
    std::vector<bool> measured;
  };

  struct Slot {
    int64_t index = 0;
    std::vector<bool> measured;
    std::vector<std::unique_ptr<DeviceFeatureWorker>> workers;
    PooledMemory scratch;  // of one feature after the other; none where no feature needs any
    PooledMemory results;
    std::unique_ptr<PinnedMemory> results_here;
    std::unique_ptr<Queue> queue;  // last: it waits for what is in flight
  };

  struct Pair {
    std::array<Input, 2> inputs;
    std::array<Resident*, 2> samples{};  // the inputs hold them; null where nobody reads that side
    std::array<DeviceFrame, 2> frames{};
  };

  // What a feature derives, and which slot a pair's is in. Nobody looks at a slot any more when it is its turn again.
  struct Derived {
    size_t bytes = 0;  // of a pair
    int slots = 0;
    PooledMemory memory;  // none: the feature derives nothing

    int slot_of(int64_t number) const { return static_cast<int>(number % slots); }
  };

  FrameDevice(const std::shared_ptr<Device>& device, const std::array<FrameShape, 2>& shapes,
              std::vector<const Feature*> features, int threads);
  Status send(Queue& queue, Pair& pair);
  Status wait_for(Queue& queue, const Pair& pair) const;
  const Pair& pair_of(int64_t number) const { return pairs_[static_cast<size_t>(number - first_pair_)]; }
  int64_t in_flight() const { return static_cast<int64_t>(slots_.size()); }
  Slot& slot_of(int64_t number) { return slots_[static_cast<size_t>(number) % slots_.size()]; }
  const Slot& slot_of(int64_t number) const { return slots_[static_cast<size_t>(number) % slots_.size()]; }
  Result<int> count_that_fits(const FramePlan& plan, const FrameDeviceLimits& limits) const;
  Status create_slots(size_t count);
  Status create_slot(Slot& slot);
  Status create_derived();
  Status derive(Slot& slot, const Pair& pair, int64_t number);
  Status start_ready();
  Status start(Slot& slot, int64_t number);
  int ahead_of(int64_t index, const std::vector<bool>& measured) const;
  Event& derived_event(int64_t number) const {
    return *derived_events_[static_cast<size_t>(number) % derived_events_.size()];
  }
  Status measure(Slot& slot, int64_t number, size_t feature);

  std::shared_ptr<Device> device_;
  std::shared_ptr<DevicePool> pool_;
  std::array<FrameShape, 2> shapes_;
  std::vector<const Feature*> features_;
  std::vector<size_t> result_offsets_;
  size_t result_bytes_ = 0;
  int history_ = 0;
  std::array<PlaneSet, 2> planes_{};  // that features read
  Threads threads_;
  TaskThreads tasks_;
  // Frames are numbered as they come. These are the first that has not come, has no slot yet, and is not finished.
  int64_t arrived_ = 0;
  int64_t submitted_ = 0;
  int64_t finished_ = 0;
  std::deque<Waiting> waiting_;  // from submitted_ on
  bool all_here_ = false;
  std::deque<Pair> pairs_;  // waiting or in flight, and those before them that windows may contain
  int64_t first_pair_ = 0;
  size_t pair_bytes_ = 0;
  std::vector<Derived> derived_;                        // of each feature
  std::vector<std::unique_ptr<Event>> derived_events_;  // of pairs in turn; empty where no feature derives
  std::vector<Slot> slots_;                             // last: they use all of the above
};

}  // namespace acuity

#endif
