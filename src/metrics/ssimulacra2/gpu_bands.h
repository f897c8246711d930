// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA2 on a GPU, in bands of rows: a band of a scale is worked on while the next comes up, and the column
// filter's state stays on the device from band to band.
#ifndef ACUITY_METRICS_SSIMULACRA2_GPU_BANDS_H
#define ACUITY_METRICS_SSIMULACRA2_GPU_BANDS_H

#include <array>
#include <memory>
#include <vector>

#include "metrics/ssimulacra2/gpu_pixels.h"
#include "metrics/ssimulacra2/gpu_reference.h"
#include "metrics/ssimulacra2/scale.h"

namespace acuity::ssimulacra2 {

class Bands {
 public:
  /// For pairs, or against a reference that has been prepared.
  enum class Kind { pairs, prepared };
  static Result<std::unique_ptr<Bands>> create(const Metric::Setup& setup, Kind kind);

  /// The errors of every scale. `kept` is null for pairs.
  Result<std::vector<ScaleErrors>> run(PixelBands& pixels, const std::array<const Rows*, 2>& pictures,
                                       const KeptReference* kept);

  size_t bytes() const { return memory_->size() + results_->size(); }

 private:
  static constexpr int kLinearSlots = 2;  // bands of linear light that a scale may be behind the one that makes them

  // One scale's place on the device.
  struct ScalePlan {
    Size size;
    int stride = 0;    // floats a row of XYB and blurred planes
    int xyb_ring = 0;  // rows of them
    int ring = 0;
    int band_rows = 0;
    bool banded = false;  // worked on band by band, as the scale before makes its rows; else once they are all there
    size_t tiles = 0;     // index of its first tile
    size_t xyb = 0, blurred = 0, state = 0;  // offsets
    size_t linear = 0;  // offset of what the scale before makes, a band in each slot; the first scale has none
    int flights = 1;    // bands whose rows are filtered at once
    // Bands go from queue to queue: pixels are made, rows filtered (each flight on a queue of its own), columns
    // filtered. With one flight all three are the same.
    std::vector<std::unique_ptr<Queue>> queues;
    std::unique_ptr<Event> made;      // pixels
    std::unique_ptr<Event> filtered;  // by rows
    std::vector<std::unique_ptr<Event>>
        finished;  // so that rows of the rings may be overwritten; one more than flights
    std::array<std::unique_ptr<Event>, kLinearSlots> used;  // linear light, to be overwritten
    std::unique_ptr<Event> done;                            // all of it

    Queue& pixels() const { return *queues.front(); }
    Queue& columns() const { return *queues.back(); }
    Queue& rows(int band) const { return *queues[flights == 1 ? 0 : static_cast<size_t>(1 + band % flights)]; }
    Event& finished_of(int band) const { return *finished[static_cast<size_t>(band) % finished.size()]; }
    size_t plane_floats(int rows_held) const { return static_cast<size_t>(rows_held) * static_cast<size_t>(stride); }
    int linear_plane() const { return band_rows * size.width; }
  };

  Bands(const Metric::Setup& setup, Kind kind);
  Status allocate();
  Status create_queues(ScalePlan& plan);
  Status run_band(PixelBands& pixels, size_t s, int band);
  Status make_smaller_pixels(size_t s, int band, int y, int y_end);
  Status filter_rows(const ScalePlan& plan, size_t s, int band, int y, int y_end);
  Status filter_columns(const ScalePlan& plan, size_t s, int y, int y_end);
  PixelTarget target(size_t s, int picture, int y) const;
  size_t xyb_of(const ScalePlan& plan, int picture) const;
  size_t linear_of(const ScalePlan& plan, int band) const;

  template <typename T>
  DeviceArray<T> array(size_t offset) const {
    return {memory_->address() + offset};
  }

  const Metric::Setup& setup_;
  const int pictures_;  // of each pair that pass through: both, or the distorted one
  const int planes_;    // of a channel to be blurred
  const KeptReference* kept_ = nullptr;
  std::unique_ptr<DeviceMemory> memory_;
  std::unique_ptr<PinnedMemory> results_;
  size_t tile_total_ = 0;
  size_t tiles_ = 0;              // offset
  std::vector<ScalePlan> plans_;  // their queues go before the memory, and wait for what is in flight on them
};

}  // namespace acuity::ssimulacra2

#endif
