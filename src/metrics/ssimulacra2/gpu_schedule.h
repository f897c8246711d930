// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA2 on a GPU, in steps: each a diagonal of tiles (kernels.h), of every scale as soon as the one above it has
// made its light.
#ifndef ACUITY_METRICS_SSIMULACRA2_GPU_SCHEDULE_H
#define ACUITY_METRICS_SSIMULACRA2_GPU_SCHEDULE_H

#include <array>
#include <memory>
#include <vector>

#include "device/workspace.h"
#include "metrics/ssimulacra2/gpu_samples.h"
#include "metrics/ssimulacra2/pooling.h"
#include "metrics/ssimulacra2/scale.h"

namespace acuity::ssimulacra2 {

class Schedule {
 public:
  /// For pairs, or for pictures against a reference whose samples are kept on the device.
  enum class Kind { pairs, prepared };
  static Result<std::unique_ptr<Schedule>> create(const Metric::Setup& setup, Kind kind);

  /// The errors of every scale.
  Result<std::vector<ScaleErrors>> run(Samples& samples, const InputRows& reference, const InputRows& distorted);

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
    int block_columns = 0, blocks = 1;
    Rings rings;
    int light_bands = 0;  // of what the scale before makes; the first scale has none
    size_t tiles = 0;     // index of its first tile
    size_t xyb = 0, blurred = 0, state = 0, row_state = 0, light = 0;  // offsets
    int made_steps = 0;                                                // whose pixels have been asked for

    // Schedule go from queue to queue: pixels are made, rows filtered, columns filtered. Small scales have one for all.
    // Bands that are one block take turns on several queues for the rows.
    std::vector<Queue*> queues;
    Events made{}, filtered{}, finished{};  // pixels, rows, columns of a step
    Event* done = nullptr;                  // all of it

    Queue& pixels() const { return *queues.front(); }
    Queue& rows(int step) const {
      return several_queues() ? *queues[1 + static_cast<size_t>(step) % (queues.size() - 2)] : *queues.front();
    }
    Queue& columns() const { return *queues.back(); }
    bool several_queues() const { return queues.size() > 1; }
    int steps() const { return bands + blocks - 1; }
    int first_block(int step) const { return std::max(0, step - bands + 1); }
    int blocks_of(int step) const { return std::min(step, blocks - 1) + 1 - first_block(step); }
    int ring_of(int its_bands) const;
    int xyb_ring() const;
    int ring() const;
    int light_ring() const { return light_bands * band_rows; }
    size_t plane_floats(int rows_held) const { return static_cast<size_t>(rows_held) * static_cast<size_t>(stride); }
  };

  Schedule(const Metric::Setup& setup, const Shape& shape);
  ScalePlan plan_of(Size size, const Shape& shape) const;
  Status allocate();
  Status create_queues(ScalePlan& plan);
  Status repeat_or_give(Samples& samples);
  Status give(Samples& samples);
  Status make_bands(Samples& samples, int band);
  Status run_step(Samples& samples, size_t s);
  Status make_pixels(size_t s, const Samples::Places& from, int step);
  Status filter_step(const ScalePlan& plan, int step);
  static int last_step_above(const ScalePlan& above, const ScalePlan& plan, int step);
  static int last_step_below(const ScalePlan& plan, const ScalePlan& below, int light_bands, int step);
  static int light_bands_of(const ScalePlan& above, const ScalePlan& plan);

  template <typename T>
  DeviceArray<T> array(size_t offset) const {
    return workspace_.array<T>(offset);
  }

  // The work of calls with pictures in certain places, once there has been one.
  struct Repeated {
    Samples::Places places;
    std::unique_ptr<Recording> recording;  // from the second on
  };

  const Metric::Setup& setup_;
  const int bands_at_once_;
  int pixel_ring_ = 0;  // rows of pixels on the device, where they are made before they are read
  size_t tile_total_ = 0;
  size_t tiles_ = 0;  // offset
  std::vector<ScalePlan> plans_;
  Events arrived_{};        // bands of pixels that are made
  Event* begun_ = nullptr;  // all of it
  bool recording_ = false;
  Workspace workspace_;
  std::vector<Repeated> repeated_;  // the latest first; before the queues go
};

}  // namespace acuity::ssimulacra2

#endif
