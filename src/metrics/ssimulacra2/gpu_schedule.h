// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA2 on a GPU, in steps: each a diagonal of cells (kernels.h), of every scale as soon as the one above it has
// made its light.
#ifndef ACUITY_METRICS_SSIMULACRA2_GPU_SCHEDULE_H
#define ACUITY_METRICS_SSIMULACRA2_GPU_SCHEDULE_H

#include <array>
#include <memory>
#include <vector>

#include "device/recordings.h"
#include "device/workspace.h"
#include "metrics/ssimulacra2/gpu_reference.h"
#include "metrics/ssimulacra2/gpu_samples.h"
#include "metrics/ssimulacra2/pooling.h"
#include "metrics/ssimulacra2/scale.h"

namespace acuity::ssimulacra2 {

class Schedule {
 public:
  enum class Kind {
    pairs,    ///< both pictures are sent
    samples,  ///< the reference's samples are on the device
    planes,   ///< all that was prepared of it is
  };
  static Result<std::unique_ptr<Schedule>> create(const Metric::Setup& setup, Kind kind);

  /// The errors of every scale.
  Result<std::vector<ScaleErrors>> run(Samples& samples, const InputRows& reference, const InputRows& distorted);
  /// For Kind::planes.
  Result<std::vector<ScaleErrors>> run(Samples& samples, const ReferencePlanes& reference, const InputRows& distorted);

  size_t bytes() const { return workspace_.bytes(); }

 private:
  static constexpr size_t kEventsKept = 8;  // of the latest steps; who asks for an older one waits for a later one
  using Events = std::array<Event*, kEventsKept>;
  static Event& event_of(const Events& events, int step) { return *events[static_cast<size_t>(step) % kEventsKept]; }

  // Bands that are held besides the last rows of another.
  struct Rings {
    int xyb = 1, blurred = 1;
  };
  struct Shape;

  // One scale's place on the device, and how far it has been worked on.
  struct ScalePlan {
    Size size;
    int stride = 0;  // floats a row of XYB and blurred planes
    int band_rows = 0, bands = 1;
    int cell_columns = 0, cells = 1;
    Rings rings;
    int light_bands = 0;  // of what the scale before makes; the first scale has none
    size_t tiles = 0;     // index of its first tile
    size_t xyb = 0, blurred = 0, state = 0, row_state = 0, light = 0;  // offsets
    int made_steps = 0;                                                // whose pixels have been asked for

    // Schedule go from queue to queue: pixels are made, rows filtered, columns filtered. Small scales have one for all.
    // Bands that are one cell take turns on several queues for the rows.
    std::vector<Queue*> queues;
    Events made{}, filtered{}, finished{};  // pixels, rows, columns of a step
    Event* done = nullptr;                  // all of it

    Queue& pixels() const { return *queues.front(); }
    Queue& rows(int step) const {
      return several_queues() ? *queues[1 + static_cast<size_t>(step) % (queues.size() - 2)] : *queues.front();
    }
    Queue& columns() const { return *queues.back(); }
    bool several_queues() const { return queues.size() > 1; }
    int steps() const { return bands + cells - 1; }
    int first_cell(int step) const { return std::max(0, step - bands + 1); }
    int cells_of(int step) const { return std::min(step, cells - 1) + 1 - first_cell(step); }
    int ring_of(int its_bands) const;
    int xyb_ring() const;
    int ring() const;
    int light_ring() const { return light_bands * band_rows; }
    size_t plane_floats(int rows_held) const { return static_cast<size_t>(rows_held) * static_cast<size_t>(stride); }
  };

  Schedule(const Metric::Setup& setup, Kind kind, const Shape& shape);
  ScalePlan plan_of(Size size, const Shape& shape) const;
  Status allocate();
  Status create_queues(ScalePlan& plan);
  Result<std::vector<ScaleErrors>> run(Samples& samples, const Samples::Pictures& pictures);
  Status submit(Samples& samples);
  Status make_bands(Samples& samples, int band);
  Status run_step(Samples& samples, size_t s);
  Status make_pixels(size_t s, const Samples::Places& from, int step);
  Status filter_step(size_t s, int step);
  Status filter_rows(size_t s, int step);
  Status filter_columns(size_t s, int step);
  static int last_step_above(const ScalePlan& above, const ScalePlan& plan, int step);
  static int last_step_below(const ScalePlan& plan, const ScalePlan& below, int light_bands, int step);
  static int light_bands_of(const ScalePlan& above, const ScalePlan& plan);

  template <typename T>
  DeviceArray<T> array(size_t offset) const {
    return workspace_.array<T>(offset);
  }

  // What recorded work depends on besides the schedule.
  struct Key {
    Samples::Key samples;
    uint64_t reference = 0;  // the number of its planes
    bool operator==(const Key&) const = default;
  };

  const Metric::Setup& setup_;
  const size_t pictures_;  // that are made into XYB: both, or the distorted one
  const size_t planes_;    // of a channel, that are blurred
  const int bands_at_once_;
  int pixel_ring_ = 0;  // rows of pixels on the device, where they are made before they are read
  size_t tile_total_ = 0;
  size_t tiles_ = 0;  // offset
  std::vector<ScalePlan> plans_;
  Events arrived_{};        // bands of pixels that are made
  Event* begun_ = nullptr;  // all of it
  bool recording_ = false;
  Workspace workspace_;
  const ReferencePlanes* reference_ = nullptr;  // of the call being made, for Kind::planes
  Recordings<Key> recordings_;                  // before the queues go
};

}  // namespace acuity::ssimulacra2

#endif
