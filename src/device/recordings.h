// SPDX-License-Identifier: BSD-2-Clause-Patent
// Work that is submitted again and again. Submitting that of a large picture takes the processor as long as the device
// takes for it, so the device keeps it for the next pictures in the same places.
#ifndef ACUITY_DEVICE_RECORDINGS_H
#define ACUITY_DEVICE_RECORDINGS_H

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "device/device.h"

namespace acuity {

/// How much work is submitted: that of a picture which is not cut into bands is a few launches, and some devices take
/// no longer to be given these than to replay them.
enum class Launches { few, many };
constexpr Launches launches_of(int band_rows, int height) {
  return band_rows < height ? Launches::many : Launches::few;
}

/// A Key states all that the work depends on: work with equal keys is the same. May be destroyed while a replay is in
/// flight, but not after the queues.
template <typename Key>
class Recordings {
 public:
  static bool are_worth_it(const Device& device, Launches launches) {
    return launches == Launches::many || device.info().replays_few_faster;
  }

  /// Calls submit(false), which submits the work to `queue` and others, or submit(true) to record it in the way of
  /// Device::record, or replays what was recorded. Whoever calls but once does not pay for recording: the second call
  /// with a key is recorded.
  template <typename Submit>
  Status run(Device& device, Queue& queue, const Key& key, const Submit& submit, Launches launches = Launches::many) {
    if (!are_worth_it(device, launches)) return submit(false);
    const auto known = std::find_if(known_.begin(), known_.end(), [&](const Work& work) { return work.key == key; });
    if (known == known_.end()) {
      if (known_.size() == kMost) known_.pop_back();
      known_.insert(known_.begin(), Work{key, nullptr});
      return submit(false);
    }
    std::rotate(known_.begin(), known, known + 1);
    std::unique_ptr<Recording>& recording = known_.front().recording;
    if (!recording) {
      Result<std::unique_ptr<Recording>> recorded = device.record(queue, [&] { return submit(true); });
      if (!recorded.ok()) return recorded.status();
      recording = std::move(*recorded);
    }
    return recording ? recording->replay() : submit(false);
  }

 private:
  static constexpr size_t kMost = 8;  // places that pictures are in by turns
  struct Work {
    Key key;
    std::unique_ptr<Recording> recording;  // from the second call on
  };
  std::vector<Work> known_;  // the latest first
};

}  // namespace acuity

#endif
