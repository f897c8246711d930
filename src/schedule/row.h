// SPDX-License-Identifier: BSD-2-Clause-Patent
// A task inside a scheduler, from when it is submitted until its result is delivered.
#ifndef ACUITY_SCHEDULE_ROW_H
#define ACUITY_SCHEDULE_ROW_H

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "acuity/schedule.h"
#include "engine/chooser.h"
#include "schedule/ledger.h"
#include "schedule/work.h"

namespace acuity {

class CachedReference;

using Clock = std::chrono::steady_clock;

inline double milliseconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - begin).count();
}

inline std::string timeout_text(int64_t timeout_ms) {
  return "not done within the time limit of " + std::to_string(timeout_ms) +
         " ms; raise the limit, or leave out the pair";
}

/// Metrics that are computed together. Rows with equal ones share it.
struct MetricSet {
  std::vector<MetricRequest> requests;
  std::string key;  // tells it from others
  Status on_gpu;    // why they cannot be computed on a GPU
  std::vector<CostedMetric> costs;
};

/// A place and memory mode that a row has tried.
struct Tried {
  size_t place = 0;
  bool strip = false;
};

inline bool is_in_memory(const TaskPicture& picture) { return picture.is_encoded || !picture.bytes.empty(); }

/// As Input's constructor, which has no picture if there is no memory for it.
inline Input input_of(const ImageView& view, const std::shared_ptr<const void>& owner) {
  Input input(view, owner);
  if (!input.has_picture()) throw std::bad_alloc();
  return input;
}

/// The stages of a row that the time limit counts for. Whoever watches the time may give up a row in one of them, never
/// between them; the row's thread then goes on without anybody waiting for it.
class Stages {
 public:
  void begin() {
    int64_t none = kNone;
    began_ns_.compare_exchange_strong(none, Clock::now().time_since_epoch().count());
  }
  void end() {
    int64_t began = began_ns_;
    while (began != kGivenUp && !began_ns_.compare_exchange_weak(began, kNone)) {
    }
  }
  /// A stage is running that began before then.
  bool is_late(int64_t before_ns) const { return is_late(began_ns_, before_ns); }
  /// If one is.
  bool give_up(int64_t before_ns) {
    int64_t began = began_ns_;
    return is_late(began, before_ns) && began_ns_.compare_exchange_strong(began, kGivenUp);
  }
  bool is_given_up() const { return began_ns_ == kGivenUp; }

 private:
  static constexpr int64_t kNone = 0, kGivenUp = -1;
  static bool is_late(int64_t began_ns, int64_t before_ns) {
    return began_ns != kNone && began_ns != kGivenUp && began_ns < before_ns;
  }
  std::atomic<int64_t> began_ns_ = kNone;
};

struct Row {
  // Set by submit() and never changed: whoever watches the time may read them.
  int64_t index = 0;
  Task task;
  Work work;  // instead of the task, or beside it: for files that turn out to be videos
  std::shared_ptr<const MetricSet> metrics;
  std::string reference_name;  // tells references apart before they are read

  // For whoever watches the time as well.
  std::atomic<bool> is_work = false;  // the work is what it does
  Stages stages;
  std::atomic<bool> is_at_reference = false;  // it reads or decodes its reference
  std::atomic<bool> is_running_work = false;  // it has one of the window's places for works
  std::atomic<int64_t> counted_bytes = 0;     // what it holds of the memory, about
  void count_bytes() { counted_bytes = held.bytes() + scoring.bytes(); }

  /// True for the first caller only, who delivers the result.
  bool claim_delivery() { return !is_delivered.exchange(true); }
  std::atomic<bool> is_delivered = false;

  // Used by whoever has the row at the moment.
  TaskResult result;
  bool are_videos = false;
  bool shares_reference = false;       // others that waited with it have the same
  int64_t needs_bytes = 0;             // once known; 0: not yet
  bool has_decoded_reference = false;  // for itself and for others; it may then have had to wait for more memory
  Held held;                           // its files and pictures
  Held scoring;                        // what scoring it uses
  std::shared_ptr<CachedReference> cached;
  Picture scaled_reference;     // if it was scaled for this row
  int64_t distorted_asked = 0;  // what decoding asked for when it was tried with less
  Colour reference_colour;
  ImageView distorted;
  std::shared_ptr<const void> distorted_owner;
  Input distorted_input;  // given as pixels
  std::vector<Tried> tried;
  Clock::time_point began{};     // reading
  Clock::time_point queued{};    // since when it waits where it is
  double expected_ns = 0;        // on the device that has it
  std::optional<double> gpu_ms;  // of a GPU, which rows in flight share

  int64_t pixels() const { return int64_t{result.width} * result.height; }
  bool has_tried(size_t place) const { return has_tried(place, false) || has_tried(place, true); }
  bool has_tried(size_t place, bool strip) const {
    return std::any_of(tried.begin(), tried.end(),
                       [&](const Tried& one) { return one.place == place && one.strip == strip; });
  }
  /// A new Input each time, so that what a device has of it goes with the attempt.
  Input new_input() const {
    return distorted_input.has_picture() ? distorted_input : input_of(distorted, distorted_owner);
  }
  void drop_pictures() {
    cached.reset();
    scaled_reference = Picture();
    distorted_owner.reset();
    distorted_input = Input();
  }
};
using RowPointer = std::shared_ptr<Row>;

}  // namespace acuity

#endif
