// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CPU's way through all scales: the pyramids, then the reference's statistics, then the comparison.
#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/try.h"
#include "metrics/iwssim/cpu.h"
#include "metrics/iwssim/runner.h"

namespace acuity::iwssim {
namespace {

using Pyramid = std::array<Plane, kScales>;
using Statistics = std::array<Information, kWeightedScales>;

// Rows of a level, and rows of tiles, that a thread takes at a time: few enough to keep all threads busy to the end,
// enough to make what neighbours both compute a small part.
constexpr int kRowsAtATime = 32;
constexpr int kTileRowsAtATime = 4;

int tile_rows(Size size) { return (size.height + kTileHeight - 1) / kTileHeight; }
size_t tiles_of(Size size) { return tile_count(size.width, size.height); }

size_t pyramid_bytes(const std::array<Size, kScales>& sizes) {
  size_t bytes = 0;
  for (const Size size : sizes) bytes += Plane::cost(size);
  return bytes;
}

// A pyramid in memory of its own.
struct OwnedPyramid {
  Arena arena;
  Pyramid planes;

  static Result<OwnedPyramid> create(const std::array<Size, kScales>& sizes) {
    Result<Arena> arena = Arena::create(pyramid_bytes(sizes));
    if (!arena.ok()) return arena.status();
    OwnedPyramid pyramid{std::move(*arena), {}};
    for (size_t s = 0; s < kScales; ++s) pyramid.planes[s] = Plane::take(pyramid.arena, sizes[s]);
    return pyramid;
  }
};

// What is the same for all pictures of a size: where the parents of a scale's columns and rows lie.
struct ParentTables {
  std::vector<int32_t> column_firsts;
  std::vector<float> column_fractions;
  std::vector<ParentPlace> rows;

  ParentTables() = default;
  ParentTables(Size size, Size parent) : rows(parent_places(size.height, parent.height)) {
    for (const ParentPlace& place : parent_places(size.width, parent.width)) {
      column_firsts.push_back(place.first);
      column_fractions.push_back(place.fraction);
    }
    column_firsts.resize(column_firsts.size() + Plane::kBehind, parent.width - 1);
    column_fractions.resize(column_fractions.size() + Plane::kBehind, 0.0f);
  }
  size_t bytes() const {
    return column_firsts.size() * (sizeof(int32_t) + sizeof(float)) + rows.size() * sizeof(ParentPlace);
  }
};

class CpuRunner final : public Runner {
 public:
  static Result<std::unique_ptr<Runner>> create(const Metric::Setup& setup, Kind kind, Size size) {
    std::unique_ptr<CpuRunner> runner(new CpuRunner(setup, kind, size));
    Result<OwnedPyramid> distorted = OwnedPyramid::create(runner->sizes_);
    if (!distorted.ok()) return distorted.status();
    runner->distorted_ = std::move(*distorted);
    return std::unique_ptr<Runner>(std::move(runner));
  }

  size_t working_bytes() const override {
    size_t bytes = distorted_.arena.size() + products_.size() * sizeof(TileProducts) + tiles_.size() * sizeof(TileSums);
    if (pair_) bytes += pair_->arena.size();
    for (const ParentTables& tables : parents_) bytes += tables.bytes();
    return bytes;
  }

  Result<std::shared_ptr<const PreparedReference>> prepare(const InputLuma& reference) override {
    const auto prepared = std::make_shared<Prepared>();
    ACUITY_TRY_ASSIGN(prepared->pyramid, OwnedPyramid::create(sizes_));
    build(reference.luma, prepared->pyramid.planes);
    prepared->statistics = statistics_of(prepared->pyramid.planes);
    return std::shared_ptr<const PreparedReference>(prepared);
  }

  Result<std::array<ScaleSums, kScales>> run(const ReferencePicture& reference, const InputLuma& distorted) override {
    if (reference.prepared != nullptr) {
      const auto* prepared = static_cast<const Prepared*>(reference.prepared);
      statistics_ = prepared->statistics;
      compared_ = &prepared->pyramid.planes;
    } else {
      // Who scores only against a prepared reference never needs this pyramid.
      if (!pair_) ACUITY_TRY_ASSIGN(pair_, OwnedPyramid::create(sizes_));
      build(reference.luma->luma, pair_->planes);
      statistics_ = statistics_of(pair_->planes);
      compared_ = &pair_->planes;
    }
    build(distorted.luma, distorted_.planes);
    std::array<ScaleSums, kScales> sums;
    for (int s = 0; s < kScales; ++s) {
      compare(s, nullptr);
      sums[index(s)] = add_tiles(std::span(tiles_).first(tiles_of(loss_size(sizes_[index(s)]))));
    }
    return sums;
  }

  Status loss_map(int scale, float* map) override {
    compare(scale, map);
    return {};
  }

 private:
  struct Prepared final : PreparedReference {
    OwnedPyramid pyramid;
    Statistics statistics{};
    size_t bytes() const override { return pyramid.arena.size(); }
  };

  CpuRunner(const Metric::Setup& setup, Kind kind, Size size)
      : threads_(*setup.threads),
        kind_(kind),
        sizes_(scale_sizes(size.width, size.height)),
        tile_rows_at_a_time_(setup.strip_rows > 0 ? (setup.strip_rows + kTileHeight - 1) / kTileHeight
                                                  : kTileRowsAtATime),
        tiles_(tiles_of(loss_size(size))) {
    if (kind != Kind::information) return;
    products_.resize(tiles_of(neighbourhood_size(size)));
    for (int s = 0; s < kWeightedScales; ++s) {
      if (has_parent(s)) parents_[index(s)] = ParentTables(sizes_[index(s)], sizes_[index(s) + 1]);
    }
  }

  static size_t index(int scale) { return static_cast<size_t>(scale); }

  // Calls work(cell, scratch) for each cell, which may be a whole band. Threads take whichever is next.
  void share(int cells, size_t scratch_floats, const std::function<void(int, float*)>& work) const {
    std::atomic<int> next = 0;
    threads_.run([&](int) {
      int cell = next++;
      if (cell >= cells) return;
      std::vector<float> scratch(scratch_floats + kAlignment / sizeof(float));
      void* first = scratch.data();
      size_t bytes = scratch.size() * sizeof(float);
      float* aligned = static_cast<float*>(std::align(kAlignment, scratch_floats * sizeof(float), first, bytes));
      for (; cell < cells; cell = next++) work(cell, aligned);
    });
  }
  void share_rows(int rows, size_t scratch_floats, const std::function<void(int, int, float*)>& work) const {
    share((rows + kRowsAtATime - 1) / kRowsAtATime, scratch_floats, [&](int band, float* scratch) {
      work(band * kRowsAtATime, std::min((band + 1) * kRowsAtATime, rows), scratch);
    });
  }

  void build(const LumaRows& luma, const Pyramid& pyramid) const {
    const int width = sizes_[0].width;
    share_rows(sizes_[0].height, luma.scratch_floats(), [&](int begin, int end, float* scratch) {
      for (int y = begin; y < end; ++y) {
        float* row = pyramid[0].row(y);
        luma.read(y, scratch, row);
        if (kind_ == Kind::classic) {
          row[width] = row[width - 1];
        } else {
          reflect_ends(row, width);
        }
      }
    });
    const size_t scratch_floats = pyramid_scratch_floats(width);
    for (size_t s = 0; s + 1 < kScales; ++s) {
      share_rows(sizes_[s + 1].height, scratch_floats, [&](int begin, int end, float* scratch) {
        if (kind_ == Kind::classic) {
          halve_rows(pyramid[s], begin, end, pyramid[s + 1]);
        } else {
          reduce_rows(pyramid[s], begin, end, pyramid[s + 1], scratch);
        }
      });
    }
    if (kind_ == Kind::classic) return;
    for (size_t s = 0; s + 1 < kScales; ++s) {
      share_rows(sizes_[s].height, scratch_floats, [&](int begin, int end, float* scratch) {
        subtract_expanded(pyramid[s], begin, end, pyramid[s + 1], scratch);
      });
    }
  }

  Parent parent_in(const Pyramid& pyramid, int scale) const {
    if (kind_ != Kind::information || !has_parent(scale)) return {};
    const ParentTables& tables = parents_[index(scale)];
    return {&pyramid[index(scale) + 1], tables.rows, tables.column_firsts.data(), tables.column_fractions.data()};
  }

  Statistics statistics_of(const Pyramid& reference) {
    Statistics statistics;
    if (kind_ != Kind::information) return statistics;
    for (int s = 0; s < kWeightedScales; ++s) {
      const Size places = neighbourhood_size(sizes_[index(s)]);
      const Parent parent = parent_in(reference, s);
      const size_t across = tile_count(places.width, 1);
      share(tile_rows(places), 0, [&](int row, float*) {
        sum_products(reference[index(s)], parent, row, products_.data() + static_cast<size_t>(row) * across);
      });
      statistics[index(s)] = information_of(std::span(products_).first(tiles_of(places)), s, sizes_[index(s)]);
    }
    return statistics;
  }

  void compare(int scale, float* map) {
    const Size losses = loss_size(sizes_[index(scale)]);
    const bool last = scale + 1 == kScales;
    Comparison comparison;
    comparison.reference = &(*compared_)[index(scale)];
    comparison.distorted = &distorted_.planes[index(scale)];
    comparison.subband = kind_ != Kind::classic && !last;
    comparison.with_luminance = last;
    comparison.middle = middle_of(kind_);
    if (kind_ == Kind::information && !last) comparison.information = &statistics_[index(scale)];
    comparison.parent = parent_in(*compared_, scale);
    comparison.tiles = tiles_.data();
    comparison.map = map;
    const int cells = cell_count(sizes_[index(scale)]);
    const int bands = (tile_rows(losses) + tile_rows_at_a_time_ - 1) / tile_rows_at_a_time_;
    share(cells * bands, comparison_scratch_floats(), [&](int cell, float* scratch) {
      const int begin = cell / cells * tile_rows_at_a_time_;
      compare_cell(comparison, cell % cells, begin, std::min(begin + tile_rows_at_a_time_, tile_rows(losses)), scratch);
    });
  }

  const Threads& threads_;
  Kind kind_;
  std::array<Size, kScales> sizes_;
  int tile_rows_at_a_time_;
  std::vector<TileSums> tiles_;
  std::vector<TileProducts> products_;
  std::array<ParentTables, kWeightedScales> parents_;
  OwnedPyramid distorted_;
  std::optional<OwnedPyramid> pair_;   // of references
  Statistics statistics_{};            // of the pair compared last
  const Pyramid* compared_ = nullptr;  // its reference
};

}  // namespace

Result<std::unique_ptr<Runner>> create_cpu_runner(const Metric::Setup& setup, Kind kind, Size size) {
  return CpuRunner::create(setup, kind, size);
}

}  // namespace acuity::iwssim
