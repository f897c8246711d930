// SPDX-License-Identifier: BSD-2-Clause-Patent
// A task inside a scheduler, from when it is submitted until its result is delivered.
#ifndef ACUITY_SCHEDULE_ROW_H
#define ACUITY_SCHEDULE_ROW_H

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
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

struct Row {
  // Set by submit() and never changed: whoever watches the time may read them.
  int64_t index = 0;
  Task task;
  Work work;  // if work.run is set, instead of the task
  std::shared_ptr<const MetricSet> metrics;

  /// When the stage that the time limit counts for began; 0 while the row waits.
  std::atomic<int64_t> stage_began_ns = 0;
  void begin_stage() { stage_began_ns = Clock::now().time_since_epoch().count(); }
  void end_stage() { stage_began_ns = 0; }

  /// True for the first caller only, who delivers the result.
  bool claim_delivery() { return !is_delivered.exchange(true); }
  std::atomic<bool> is_delivered = false;

  // Used by whoever has the row at the moment.
  TaskResult result;
  bool shares_reference = false;  // others that waited with it have the same
  int64_t needs_bytes = 0;        // once known; 0: not yet
  Held held;                      // its files and pictures
  Held scoring;                   // what scoring it uses
  std::shared_ptr<CachedReference> cached;
  Picture scaled_reference;     // if it was scaled for this row
  int64_t distorted_asked = 0;  // what decoding asked for when it was tried with less
  Colour reference_colour;
  ImageView distorted;
  std::shared_ptr<const void> distorted_owner;
  Input distorted_input;  // given as pixels
  std::vector<Tried> tried;
  Clock::time_point began{};   // reading
  Clock::time_point queued{};  // since when it waits where it is
  double expected_ns = 0;      // on the device that has it

  bool is_work() const { return static_cast<bool>(work.run); }
  int64_t pixels() const { return int64_t{result.width} * result.height; }
  bool has_tried(size_t place) const { return has_tried(place, false) || has_tried(place, true); }
  bool has_tried(size_t place, bool strip) const {
    return std::any_of(tried.begin(), tried.end(),
                       [&](const Tried& one) { return one.place == place && one.strip == strip; });
  }
  /// A new Input each time, so that what a device has of it goes with the attempt.
  Input new_input() const {
    return distorted_input.has_picture() ? distorted_input : Input(distorted, distorted_owner);
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
