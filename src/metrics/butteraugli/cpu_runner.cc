// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CPU's way through both scales; cpu.cc does one cell of one.
#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "base/try.h"
#include "metrics/butteraugli/runner.h"
#include "metrics/butteraugli/scale.h"

namespace acuity::butteraugli {
namespace {

// Rows worked on together where the caller does not say: enough to look at each row held seldom, few enough to stay in
// the cache.
constexpr int kBatch = 8;

// Cells do over again what lies around them: as much as if each were this much longer and wider.
constexpr int kSurroundings = 50;
constexpr int kSmallestCell = 4 * kTileWidth;

// Vectors are read whole, up to 16 floats beyond the end of a row.
size_t plane_stride(Size size) { return round_up(static_cast<size_t>(size.width), 16); }
size_t plane_floats(Size size) { return plane_stride(size) * static_cast<size_t>(size.height) + 16; }

Prepared take_planes(Arena& arena, Size size) {
  Prepared planes;
  planes.stride = plane_stride(size);
  for (float*& plane : planes.plane) plane = arena.take<float>(plane_floats(size));
  return planes;
}

class CpuRunner final : public Runner {
 public:
  static Result<std::unique_ptr<Runner>> create(const Metric::Setup& setup, const Parameters& parameters, float p) {
    std::unique_ptr<CpuRunner> runner(new CpuRunner(setup, parameters, p));
    const Size full = runner->sizes_[0];
    const size_t half_pixels = static_cast<size_t>(half(full).width) * static_cast<size_t>(half(full).height);
    const size_t scratch = runner->worker_count_ * runner->worker_bytes();
    ACUITY_TRY_ASSIGN(runner->arena_, Arena::create(Arena::cost<TileNorms>(tile_count(full.width, full.height)) +
                                                    Arena::cost<float>(half_pixels) + Arena::cost<std::byte>(scratch)));
    runner->tiles_ = runner->arena_.take<TileNorms>(tile_count(full.width, full.height));
    runner->half_map_ = runner->arena_.take<float>(half_pixels);
    runner->scratch_ = runner->arena_.take<std::byte>(scratch);
    return std::unique_ptr<Runner>(std::move(runner));
  }

  size_t working_bytes() const override { return arena_.size() + held_map_.capacity() * sizeof(float); }

  Result<std::shared_ptr<const PreparedReference>> prepare(const Light& reference) override {
    size_t bytes = 0;
    for (const Size size : sizes_) bytes += kPreparedPlanes * Arena::cost<float>(plane_floats(size));
    const auto prepared = std::make_shared<PreparedScales>();
    ACUITY_TRY_ASSIGN(prepared->arena, Arena::create(bytes));
    prepared->scales.resize(sizes_.size());
    for (size_t i = 0; i < sizes_.size(); ++i) {
      prepared->scales[i] = take_planes(prepared->arena, sizes_[i]);
      Scale scale = scale_at(i);
      scale.readers[0].light = reference;
      scale.prepare = &prepared->scales[i];
      run_scale(scale);
    }
    return std::shared_ptr<const PreparedReference>(prepared);
  }

  // The half resolution first: the full one adds its map to its own, row by row.
  Result<Norms> run(const Light& reference, const Light& distorted, const MapRequest& map) override {
    if (map.hold) held_map_.resize(static_cast<size_t>(sizes_[0].width) * static_cast<size_t>(sizes_[0].height));
    for (size_t i = sizes_.size(); i-- > 0;) {
      Scale scale = scale_at(i);
      scale.readers[0].light = reference;
      if (reference.prepared != nullptr) {
        scale.readers[0].prepared = &static_cast<const PreparedScales*>(reference.prepared)->scales[i];
      }
      scale.readers[1].light = distorted;
      if (i == 0) {
        scale.half_map = sizes_.size() > 1 ? half_map_ : nullptr;
        scale.map.at_least = map.at_least_held ? held_map_.data() : nullptr;
        scale.map.to = map.hold ? held_map_.data() : map.to;
      } else {
        scale.own_map = half_map_;
      }
      run_scale(scale);
    }
    return pool_tiles({tiles_, tile_count(sizes_[0].width, sizes_[0].height)}, sizes_[0], p_);
  }

 private:
  struct PreparedScales final : PreparedReference {
    Arena arena;
    std::vector<Prepared> scales;
    size_t bytes() const override { return arena.size(); }
  };

  CpuRunner(const Metric::Setup& setup, const Parameters& parameters, float p)
      : threads_(setup.threads),
        parameters_(parameters),
        p_(p),
        batch_(setup.strip_rows > 0 ? std::min(setup.strip_rows, kLargestBatch) : kBatch) {
    sizes_.push_back({setup.width, setup.height});
    if (large_enough(half(sizes_[0]))) sizes_.push_back(half(sizes_[0]));
    worker_count_ = std::min(static_cast<size_t>(threads_->count()), cells_of(sizes_[0]).size());
  }

  size_t worker_bytes() const { return round_up(scratch_bytes(batch_), kAlignment); }

  Scale scale_at(size_t i) const {
    Scale scale;
    scale.size = sizes_[i];
    scale.halved = i > 0;
    scale.parameters = parameters_;
    scale.p = p_;
    scale.tiles = tiles_;
    return scale;
  }

  // The cut by which all threads together should be done first.
  std::vector<Cell> cells_of(Size size) const {
    const int threads = threads_->count();
    const auto time_of = [&](int across, int bands) {
      const double rounds = (across * bands + threads - 1) / threads;
      return rounds * (size.width / across + kSurroundings) * (size.height / bands + kSurroundings);
    };
    const int fewest = (size.width + kCellColumns - 1) / kCellColumns;
    int best_across = fewest, best_bands = 1;
    for (int across = fewest; across <= std::max(fewest, std::min(size.width / kSmallestCell, fewest + threads));
         ++across) {
      for (int bands = 1; bands <= std::max(1, std::min(size.height / kSmallestCell, threads)); ++bands) {
        if (time_of(across, bands) < time_of(best_across, best_bands)) {
          best_across = across;
          best_bands = bands;
        }
      }
    }
    const std::vector<int> x = cut(size.width, best_across, kTileWidth);
    const std::vector<int> y = cut(size.height, best_bands, kTileHeight);
    std::vector<Cell> cells;
    for (size_t j = 1; j < y.size(); ++j) {
      for (size_t i = 1; i < x.size(); ++i) cells.push_back({x[i - 1], x[i], y[j - 1], y[j]});
    }
    return cells;
  }

  // Where `parts` parts of a length, in whole units and of like size, begin and end.
  static std::vector<int> cut(int length, int parts, int unit) {
    std::vector<int> ends{0};
    const int units = (length + unit - 1) / unit;
    for (int i = 1; i <= parts; ++i) ends.push_back(std::min(length, units * i / parts * unit));
    return ends;
  }

  void run_scale(const Scale& scale) {
    const std::vector<Cell> cells = cells_of(scale.size);
    std::atomic<size_t> next = 0;
    threads_->run([&](int worker) {
      const auto own = static_cast<size_t>(worker);
      if (own >= worker_count_) return;
      for (size_t i = next++; i < cells.size(); i = next++) {
        run_cell(scale, cells[i], batch_, scratch_ + own * worker_bytes());
      }
    });
  }

  const Threads* threads_;
  Parameters parameters_;
  float p_;
  int batch_;
  std::vector<Size> sizes_;  // the full resolution, and the half where there is one
  size_t worker_count_ = 0;
  Arena arena_;
  TileNorms* tiles_ = nullptr;
  float* half_map_ = nullptr;
  std::byte* scratch_ = nullptr;
  std::vector<float> held_map_;  // the map of the run before, where asked for
};

}  // namespace

Result<std::unique_ptr<Runner>> create_cpu_runner(const Metric::Setup& setup, const Parameters& parameters, float p) {
  return CpuRunner::create(setup, parameters, p);
}

}  // namespace acuity::butteraugli
