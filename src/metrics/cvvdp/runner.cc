// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/runner.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>

#include "base/try.h"
#include "metrics/cvvdp/base.h"

namespace acuity::cvvdp {
namespace {

constexpr int kRowsAtATime = 32;  // of a scale that is made

int tile_rows(Size size) { return (size.height + kTileHeight - 1) / kTileHeight; }

}  // namespace

Result<Pyramid> Pyramid::create(const std::vector<Scale>& scales) {
  Pyramid pyramid;
  size_t bytes = 0;
  for (size_t s = 1; s < scales.size(); ++s) {
    bytes += kStillChannels * Plane::cost(scales[s].size);
  }
  Result<Arena> arena = Arena::create(bytes);
  if (!arena.ok()) return arena.status();
  pyramid.arena_ = std::move(*arena);
  for (size_t s = 1; s < scales.size(); ++s) {
    pyramid.scales_.emplace_back(pyramid.arena_, scales[s].size, kStillChannels);
  }
  return pyramid;
}

Runner::Runner(const Threads& threads, std::vector<Scale> scales) : threads_(threads), scales_(std::move(scales)) {
  for (size_t s = 0; s + 1 < scales_.size(); ++s) {
    tiles_.emplace_back(tile_count(scales_[s].size.width, scales_[s].size.height));
  }
}

size_t Runner::bytes() const {
  size_t bytes = heat_ ? heat_->bytes() : 0;
  for (const std::vector<TileSums>& tiles : tiles_) bytes += tiles.size() * sizeof(TileSums);
  const int width = scales_[0].size.width;
  const size_t scratch = std::max(Reducer::scratch_floats(width), Comparer::scratch_floats(width));
  return bytes + static_cast<size_t>(threads_.count()) * scratch * sizeof(float);
}

// Calls work(i, scratch) for each i below count. Threads take whichever is next.
void Runner::share(int count, size_t scratch_floats, const std::function<void(int, float*)>& work) const {
  std::atomic<int> next = 0;
  threads_.run([&](int) {
    int i = next++;
    if (i >= count) return;
    std::vector<float> scratch(scratch_floats + kAlignment / sizeof(float));
    void* first = scratch.data();
    size_t bytes = scratch.size() * sizeof(float);
    float* aligned = static_cast<float*>(std::align(kAlignment, scratch_floats * sizeof(float), first, bytes));
    for (; i < count; i = next++) work(i, aligned);
  });
}

void Runner::build(const ChannelReader& picture, const Pyramid& pyramid) const {
  for (size_t s = 0; s + 1 < scales_.size(); ++s) {
    const ChannelReader& from = s == 0 ? picture : pyramid[s];
    const Size size = scales_[s].size;
    const int rows = scales_[s + 1].size.height;
    share((rows + kRowsAtATime - 1) / kRowsAtATime, Reducer::scratch_floats(size.width), [&](int i, float* scratch) {
      Reducer(from, size, pyramid[s + 1], i * kRowsAtATime, scratch).advance(std::min((i + 1) * kRowsAtATime, rows));
    });
  }
}

Differences Runner::compare(const Sides& sides) {
  struct Band {
    size_t subband;
    int begin, end;  // rows of tiles
  };
  const size_t base = scales_.size() - 1;
  std::vector<Subband> subbands;
  std::vector<Band> bands;
  for (size_t s = 0; s < base; ++s) {
    Subband& subband = subbands.emplace_back(subband_of(scales_, s, kStillChannels));
    subband.reference = s == 0 ? sides.reference : &(*sides.reference_pyramid)[s];
    subband.distorted = s == 0 ? sides.distorted : &(*sides.distorted_pyramid)[s];
    subband.next_reference = &(*sides.reference_pyramid)[s + 1];
    subband.heat = heat_ ? &(*heat_)[s] : nullptr;
    subband.next_distorted = &(*sides.distorted_pyramid)[s + 1];
    // Each band sees some rows that its neighbours see as well, so one thread does best with a single one.
    const int rows = tile_rows(subband.size), parts = threads_.count() == 1 ? 1 : 2 * threads_.count();
    const int step = (rows + parts - 1) / parts;
    for (int begin = 0; begin < rows; begin += step) bands.push_back({s, begin, std::min(begin + step, rows)});
  }
  share(static_cast<int>(bands.size()), Comparer::scratch_floats(scales_[0].size.width), [&](int i, float* scratch) {
    const Band& band = bands[static_cast<size_t>(i)];
    const size_t across = tile_count(scales_[band.subband].size.width, 1);
    const Subband& subband = subbands[band.subband];
    Comparer(subband, band.begin, band.end, scratch,
             tiles_[band.subband].data() + static_cast<size_t>(band.begin) * across)
        .advance(subband.size.height);
  });

  Differences differences;
  for (size_t s = 0; s < base; ++s) {
    differences.subbands.push_back(differences_of(tiles_[s], scales_[s].size, kStillChannels));
  }
  const auto last_scale = [&](const ChannelReader* first, const Pyramid& pyramid) {
    return base == 0 ? first : &pyramid[base];
  };
  const Base last{
      {last_scale(sides.reference, *sides.reference_pyramid), last_scale(sides.distorted, *sides.distorted_pyramid)},
      scales_[base],
      kStillChannels,
      heat_ ? &(*heat_)[base] : nullptr};
  differences.subbands.push_back(last.differences());
  return differences;
}

Status Runner::keep_map() {
  ACUITY_TRY_ASSIGN(heat_, Heat::create(scales_));
  return {};
}

DifferenceMap Runner::map() const { return heat_->map(); }

}  // namespace acuity::cvvdp
