// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CPU's way through all scales; cpu.cc does one.
#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <utility>

#include "base/memory.h"
#include "base/try.h"
#include "metrics/ssimulacra2/runner.h"
#include "metrics/ssimulacra2/scale.h"

namespace acuity::ssimulacra2 {
namespace {

// Rows worked on together where the caller does not say: enough to make the hand-over between bands cheap, few enough
// to stay in the cache.
constexpr int kBandRows = 32;

// Vectors are written whole, up to 16 floats beyond the end of a row, and read whole, up to 64 beyond the end of the
// last.
constexpr size_t kRowPadding = 16;
constexpr size_t kPlanePadding = 64;

size_t plane_stride(Size size) { return round_up(static_cast<size_t>(size.width) + kRowPadding, 16); }
size_t plane_floats(Size size) { return plane_stride(size) * static_cast<size_t>(size.height) + kPlanePadding; }
size_t planes_cost(Size size) { return kChannels * Arena::cost<float>(plane_floats(size)); }

Planes take_planes(Arena& arena, Size size) {
  Planes planes;
  planes.stride = plane_stride(size);
  for (float*& channel : planes.channel) channel = arena.take<float>(plane_floats(size));
  return planes;
}

// The two pixels of a scale around a place in the picture, and the share of the second.
struct Around {
  size_t first, second;
  float share;
};

std::vector<Around> around(int length, int scale_length, int scale) {
  const int step = 1 << scale;
  std::vector<Around> places(static_cast<size_t>(length));
  for (int i = 0; i < length; ++i) {
    const int twice = 2 * i + 1 - step;  // from the middle of the first pixel to that of this one, in halves
    const int first = twice < 0 ? -1 : twice / (2 * step);
    places[static_cast<size_t>(i)] = {static_cast<size_t>(std::max(first, 0)),
                                      static_cast<size_t>(std::min(first + 1, scale_length - 1)),
                                      static_cast<float>(twice - 2 * step * first) / static_cast<float>(2 * step)};
  }
  return places;
}

// Adds the map of a scale to that of the picture. Between the middles of its pixels it runs straight: blocks would show
// edges where there are none. What a pixel adds in all is the same.
void add_enlarged(const std::vector<float>& scale_map, Size size, int scale, DifferenceMap& whole) {
  const std::vector<Around> columns = around(whole.width, size.width, scale);
  const std::vector<Around> rows = around(whole.height, size.height, scale);
  const auto width = static_cast<size_t>(size.width);
  std::vector<float> mixed(width);
  float* to = whole.values.data();
  for (const Around& row : rows) {
    const float* first = scale_map.data() + row.first * width;
    const float* second = scale_map.data() + row.second * width;
    for (size_t x = 0; x < width; ++x) mixed[x] = first[x] + row.share * (second[x] - first[x]);
    for (const Around& column : columns) {
      *to++ += mixed[column.first] + column.share * (mixed[column.second] - mixed[column.first]);
    }
  }
}

class CpuRunner final : public Runner {
 public:
  static Result<std::unique_ptr<Runner>> create(const Metric::Setup& setup) {
    std::unique_ptr<CpuRunner> runner(new CpuRunner(setup));
    Result<Arena> arena = Arena::create(runner->arena_bytes());
    if (!arena.ok()) return arena.status();
    runner->arena_ = std::move(*arena);
    runner->lay_out();
    return std::unique_ptr<Runner>(std::move(runner));
  }

  size_t working_bytes() const override { return arena_.size() + pair_arena_.size(); }

  Result<std::shared_ptr<const PreparedReference>> prepare(const InputRows& reference) override {
    size_t bytes = 0;
    for (const Size size : sizes_) bytes += planes_cost(size);
    const auto prepared = std::make_shared<Prepared>();
    ACUITY_TRY_ASSIGN(prepared->arena, Arena::create(bytes));
    for (size_t s = 0; s < sizes_.size(); ++s) {
      prepared->xyb.push_back(take_planes(prepared->arena, sizes_[s]));
      const ScaleReader reader{.rows = s == 0 ? &reference.rows : nullptr, .linear = linear(s, 1), .xyb = nullptr};
      const Planes* next = linear(s + 1, 1);
      std::atomic<int> next_row = 0;
      setup_.threads->run([&](int) {
        for (int y = next_row.fetch_add(kBandRows); y < sizes_[s].height; y = next_row.fetch_add(kBandRows)) {
          prepare_rows(reader, sizes_[s].width, sizes_[s].height, y, std::min(y + kBandRows, sizes_[s].height),
                       prepared->xyb[s], next);
        }
      });
    }
    return std::shared_ptr<const PreparedReference>(prepared);
  }

  Result<std::vector<ScaleErrors>> run(const ReferencePicture& reference, const InputRows& distorted) override {
    // Who scores only against a prepared reference never needs these planes.
    if (reference.rows != nullptr && pair_arena_.size() == 0) {
      Result<Arena> arena = Arena::create(linear_bytes());
      if (!arena.ok()) return arena.status();
      pair_arena_ = std::move(*arena);
      lay_out_linear(pair_arena_, 0);
    }
    std::vector<ScaleErrors> errors;
    for (size_t s = 0; s < sizes_.size(); ++s) {
      run_scale(s, reference, distorted, nullptr, nullptr);
      errors.push_back(pool_tiles({tiles_, tile_count(sizes_[s].width, sizes_[s].height)}, sizes_[s]));
    }
    return errors;
  }

  // A second pass, now that the norms are known which each pixel's error is a share of.
  Result<DifferenceMap> map(const ReferencePicture& reference, const InputRows& distorted,
                            const std::vector<ScaleErrors>& errors) override {
    DifferenceMap whole{setup_.width, setup_.height, {}};
    whole.values.assign(static_cast<size_t>(setup_.width) * static_cast<size_t>(setup_.height), 0.0f);
    std::vector<float> scale_map;
    for (size_t s = 0; s < sizes_.size(); ++s) {
      const MapWeights weights = map_weights(errors, static_cast<int>(s));
      scale_map.resize(static_cast<size_t>(sizes_[s].width) * static_cast<size_t>(sizes_[s].height));
      run_scale(s, reference, distorted, &weights, scale_map.data());
      add_enlarged(scale_map, sizes_[s], static_cast<int>(s), whole);
    }
    return whole;
  }

 private:
  struct Prepared final : PreparedReference {
    Arena arena;
    std::vector<Planes> xyb;  // for each scale
    size_t bytes() const override { return arena.size(); }
  };

  explicit CpuRunner(const Metric::Setup& setup)
      : setup_(setup),
        sizes_(scale_sizes(setup.width, setup.height)),
        band_rows_(setup.strip_rows > 0 ? setup.strip_rows : kBandRows) {
    band_rows_ = std::min(band_rows_, setup.height + kAhead);
    band_rows_ += band_rows_ % 2;  // the next scale is made from pairs of rows
  }

  size_t cell_count() const { return static_cast<size_t>((setup_.width + kCellColumns - 1) / kCellColumns); }
  size_t band_count() const { return static_cast<size_t>((setup_.height + kAhead + band_rows_ - 1) / band_rows_); }
  size_t worker_count() const { return std::min(static_cast<size_t>(setup_.threads->count()), band_count()); }
  size_t worker_bytes() const { return round_up(scratch_bytes(band_rows_), kAlignment); }

  size_t arena_bytes() const {
    size_t bytes = Arena::cost<CellState>(cell_count()) +
                   Arena::cost<TileSums>(tile_count(setup_.width, setup_.height)) +
                   Arena::cost<std::atomic<int>>(band_count() + 1) + worker_count() * worker_bytes();
    return bytes + linear_bytes();
  }

  // Scales take turns in two sets of planes.
  size_t linear_bytes() const {
    size_t bytes = 0;
    for (size_t s = 1; s < std::min<size_t>(sizes_.size(), 3); ++s) bytes += planes_cost(sizes_[s]);
    return bytes;
  }
  void lay_out_linear(Arena& arena, size_t image) {
    for (size_t s = 1; s < std::min<size_t>(sizes_.size(), 3); ++s) {
      linear_[s % 2][image] = take_planes(arena, sizes_[s]);
    }
  }

  void lay_out() {
    cells_ = arena_.take<CellState>(cell_count());
    tiles_ = arena_.take<TileSums>(tile_count(setup_.width, setup_.height));
    counters_ = arena_.take<std::atomic<int>>(band_count() + 1);
    scratch_ = arena_.take<std::byte>(worker_count() * worker_bytes());
    lay_out_linear(arena_, 1);
  }

  // The linear light of scale s, of the reference (0) or the distorted picture (1). Scales take turns in two sets of
  // planes.
  Planes* linear(size_t s, size_t image) {
    if (s == 0 || s >= sizes_.size()) return nullptr;
    linear_[s % 2][image].stride = plane_stride(sizes_[s]);
    return &linear_[s % 2][image];
  }

  void run_scale(size_t s, const ReferencePicture& reference, const InputRows& distorted, const MapWeights* weights,
                 float* map) {
    Scale scale;
    scale.width = sizes_[s].width;
    scale.height = sizes_[s].height;
    scale.band_rows = band_rows_;
    if (reference.prepared != nullptr) {
      scale.readers[0].xyb = &static_cast<const Prepared*>(reference.prepared)->xyb[s];
    } else {
      scale.readers[0] = {.rows = s == 0 ? &reference.rows->rows : nullptr, .linear = linear(s, 0), .xyb = nullptr};
      scale.next[0] = linear(s + 1, 0);
    }
    scale.readers[1] = {.rows = s == 0 ? &distorted.rows : nullptr, .linear = linear(s, 1), .xyb = nullptr};
    scale.next[1] = linear(s + 1, 1);
    scale.cells = cells_;
    scale.tiles = tiles_;
    scale.next_band = counters_;
    scale.progress = counters_ + 1;
    scale.map_weights = weights;
    scale.map = map;
    for (int i = 0; i <= scale.band_count(); ++i) std::construct_at(counters_ + i, 0);
    setup_.threads->run([&](int worker) {
      if (static_cast<size_t>(worker) < worker_count()) {
        score_scale(scale, scratch_ + static_cast<size_t>(worker) * worker_bytes());
      }
    });
  }

  Metric::Setup setup_;
  std::vector<Size> sizes_;
  int band_rows_;
  Arena arena_;
  Arena pair_arena_;
  CellState* cells_ = nullptr;
  TileSums* tiles_ = nullptr;
  std::atomic<int>* counters_ = nullptr;
  std::byte* scratch_ = nullptr;
  std::array<std::array<Planes, 2>, 2> linear_;
};

}  // namespace

Result<std::unique_ptr<Runner>> create_cpu_runner(const Metric::Setup& setup) { return CpuRunner::create(setup); }

}  // namespace acuity::ssimulacra2
