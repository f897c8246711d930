// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CPU's way through all scales; cpu.cc does one.
#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "base/memory.h"
#include "base/try.h"
#include "metrics/dssim/runner.h"

namespace acuity::dssim {
namespace {

// A cell works out eight rows more than it has, so the fewer the better, but every thread should have several to do.
constexpr int kCellsOfThread = 4;

int whole_tiles(int count, int side) { return (count + side - 1) / side * side; }

int cells_across(Size size) { return (size.width + kCellColumns - 1) / kCellColumns; }

size_t plane_stride(Size size) { return round_up(static_cast<size_t>(size.width) + 2 * kRowMargin, kRowMargin); }
size_t plane_floats(Size size) { return plane_stride(size) * static_cast<size_t>(size.height); }
size_t planes_cost(Size size, size_t count) { return count * Arena::cost<float>(plane_floats(size)); }

Planes take_planes(Arena& arena, Size size, size_t count) {
  Planes planes;
  planes.stride = plane_stride(size);
  for (size_t c = 0; c < count; ++c) planes.channel[c] = arena.take<float>(plane_floats(size)) + kRowMargin;
  return planes;
}

// The light of all scales but the first, of one picture. Scales take turns in two sets of planes.
class Pyramid {
 public:
  Status lay_out(const std::vector<Size>& sizes, bool has_alpha) {
    const size_t planes = has_alpha ? 4 : 3;
    if (planes <= planes_) return {};
    size_t bytes = 0;
    for (size_t s = 1; s < std::min<size_t>(sizes.size(), 3); ++s) bytes += planes_cost(sizes[s], planes);
    ACUITY_TRY_ASSIGN(arena_, Arena::create(bytes));
    for (size_t s = 1; s < std::min<size_t>(sizes.size(), 3); ++s)
      light_[s % 2] = take_planes(arena_, sizes[s], planes);
    planes_ = planes;
    return {};
  }

  // Null for the first scale, and for those that the picture does not have.
  const Planes* light(const std::vector<Size>& sizes, size_t s) {
    if (s == 0 || s >= sizes.size()) return nullptr;
    light_[s % 2].stride = plane_stride(sizes[s]);
    return &light_[s % 2];
  }

  size_t bytes() const { return arena_.size(); }

 private:
  Arena arena_;
  size_t planes_ = 0;
  std::array<Planes, 2> light_;
};

class CpuRunner final : public Runner {
 public:
  static Result<std::unique_ptr<Runner>> create(const Metric::Setup& setup) {
    std::unique_ptr<CpuRunner> runner(new CpuRunner(setup));
    ACUITY_TRY(runner->lay_out());
    return std::unique_ptr<Runner>(std::move(runner));
  }

  size_t working_bytes() const override { return arena_.size() + pyramids_[0].bytes() + pyramids_[1].bytes(); }

  Result<std::shared_ptr<const PreparedReference>> prepare(const Picture& reference) override {
    size_t bytes = 0;
    for (const Size size : sizes_) bytes += planes_cost(size, 3);
    const auto prepared = std::make_shared<Prepared>();
    ACUITY_TRY_ASSIGN(prepared->arena, Arena::create(bytes));
    // The distorted picture's pyramid is free until there is one.
    Pyramid& pyramid = pyramids_[1];
    ACUITY_TRY(pyramid.lay_out(sizes_, reference.alpha != nullptr));
    for (size_t s = 0; s < sizes_.size(); ++s) {
      prepared->scales.push_back(take_planes(prepared->arena, sizes_[s], 3));
      const ScaleReader reader = reader_of(reference, pyramid, s);
      const Planes* next = pyramid.light(sizes_, s + 1);
      for_each_cell(sizes_[s], [&](const Cell& cell, std::byte* scratch) {
        prepare_cell(reader, sizes_[s], cell, prepared->scales[s], next, scratch);
      });
    }
    return std::shared_ptr<const PreparedReference>(prepared);
  }

  Result<Similarities> run(const ReferencePicture& reference, const Picture& distorted) override {
    const Picture* const picture = reference.picture;
    // Who scores only against a prepared reference never needs its planes.
    if (picture != nullptr) ACUITY_TRY(pyramids_[0].lay_out(sizes_, picture->alpha != nullptr));
    ACUITY_TRY(pyramids_[1].lay_out(sizes_, distorted.alpha != nullptr));
    Similarities found;
    for (size_t s = 0; s < sizes_.size(); ++s) {
      Scale scale;
      scale.size = sizes_[s];
      if (picture == nullptr) {
        scale.readers[0].prepared = &static_cast<const Prepared*>(reference.prepared)->scales[s];
      } else {
        scale.readers[0] = reader_of(*picture, pyramids_[0], s);
        scale.next[0] = pyramids_[0].light(sizes_, s + 1);
      }
      scale.readers[1] = reader_of(distorted, pyramids_[1], s);
      scale.next[1] = pyramids_[1].light(sizes_, s + 1);
      scale.errors = errors_;
      scale.errors_stride = plane_stride(sizes_[s]);
      scale.tiles = tiles_;
      found.scales.push_back(similarity_of(scale, s));
      if (setup_.want_map) found.errors.push_back(map_of(scale));
    }
    return found;
  }

 private:
  struct Prepared final : PreparedReference {
    Arena arena;
    std::vector<Planes> scales;
    size_t bytes() const override { return arena.size(); }
  };

  explicit CpuRunner(const Metric::Setup& setup) : setup_(setup), sizes_(scale_sizes(setup.width, setup.height)) {}

  Status lay_out() {
    const auto workers = static_cast<size_t>(worker_count());
    const size_t tiles = tile_count(setup_.width, setup_.height);
    ACUITY_TRY_ASSIGN(arena_, Arena::create(Arena::cost<float>(plane_floats(sizes_[0])) + Arena::cost<float>(tiles) +
                                            Arena::cost<std::byte>(workers * round_up(scratch_bytes(), kAlignment))));
    errors_ = arena_.take<float>(plane_floats(sizes_[0]));
    tiles_ = arena_.take<float>(tiles);
    scratch_ = arena_.take<std::byte>(workers * round_up(scratch_bytes(), kAlignment));
    return {};
  }

  ScaleReader reader_of(const Picture& picture, Pyramid& pyramid, size_t s) {
    ScaleReader reader;
    reader.picture = s == 0 ? &picture : nullptr;
    reader.light = pyramid.light(sizes_, s);
    reader.has_alpha = picture.alpha != nullptr;
    return reader;
  }

  // First the mean of the errors, then how far they are from what it makes expect.
  double similarity_of(const Scale& scale, size_t s) {
    const size_t tiles = tile_count(scale.size.width, scale.size.height);
    for_each_cell(scale.size, [&](const Cell& cell, std::byte* scratch) { score_cell(scale, cell, scratch); });
    const float expected = expected_error(add_tiles({tiles_, tiles}), scale.size, s);
    for_each_cell(scale.size, [&](const Cell& cell, std::byte*) { sum_deviations(scale, cell, expected); });
    return scale_similarity(add_tiles({tiles_, tiles}), scale.size);
  }

  static DifferenceMap map_of(const Scale& scale) {
    DifferenceMap map{scale.size.width, scale.size.height, {}};
    map.values.reserve(static_cast<size_t>(map.width) * static_cast<size_t>(map.height));
    for (int y = 0; y < map.height; ++y) {
      const float* row = scale.errors + static_cast<size_t>(y) * scale.errors_stride;
      map.values.insert(map.values.end(), row, row + map.width);
    }
    return map;
  }

  // No scale has more cells than the first can have.
  int worker_count() const {
    const int cells = cells_across(sizes_[0]) * (whole_tiles(sizes_[0].height, kTileHeight) / kTileHeight);
    return std::min(setup_.threads->count(), cells);
  }

  // Calls work(cell, scratch) for all cells of a scale. They are whole tiles, so their cut changes no sum.
  template <typename Work>
  void for_each_cell(Size size, Work work) const {
    const int across = cells_across(size);
    const int columns = whole_tiles((size.width + across - 1) / across, kTileWidth);
    int rows = setup_.strip_rows;
    if (rows == 0) rows = size.height / std::max(kCellsOfThread * setup_.threads->count() / across, 1);
    rows = whole_tiles(std::clamp(rows, 1, size.height), kTileHeight);
    const int cells = across * ((size.height + rows - 1) / rows);
    std::atomic<int> next = 0;
    setup_.threads->run([&](int worker) {
      if (worker >= worker_count()) return;
      std::byte* scratch = scratch_ + static_cast<size_t>(worker) * round_up(scratch_bytes(), kAlignment);
      for (int i = next++; i < cells; i = next++) {
        const int x = i % across * columns;
        const int y = i / across * rows;
        work({x, std::min(x + columns, size.width), y, std::min(y + rows, size.height)}, scratch);
      }
    });
  }

  Metric::Setup setup_;
  std::vector<Size> sizes_;
  Arena arena_;
  float* errors_ = nullptr;
  float* tiles_ = nullptr;
  std::byte* scratch_ = nullptr;
  std::array<Pyramid, 2> pyramids_;  // reference, distorted
};

}  // namespace

Result<std::unique_ptr<Runner>> create_cpu_runner(const Metric::Setup& setup) { return CpuRunner::create(setup); }

}  // namespace acuity::dssim
