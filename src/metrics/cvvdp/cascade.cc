// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/cascade.h"

#include <algorithm>

#include "base/try.h"
#include "metrics/cvvdp/base.h"

namespace acuity::cvvdp {
namespace {

// A comparison is at most four rows behind those that are there, and no more than kRowsAtATime are added at once, of
// later scales two more than half as many.
constexpr int kRing = Cascade::kRowsAtATime + 6;

}  // namespace

Result<std::unique_ptr<Cascade>> Cascade::create(const std::vector<Scale>& scales, int channels) {
  auto cascade = std::make_unique<Cascade>();
  cascade->scales_ = scales;
  cascade->channels_ = channels;
  const size_t base = scales.size() - 1;
  const auto ring_of = [&](size_t s) {
    return s == base ? scales[s].size.height : std::min(kRing, scales[s].size.height);
  };
  size_t bytes = 0;
  for (size_t s = 0; s <= base; ++s) {
    const int width = scales[s].size.width;
    bytes += 2 * static_cast<size_t>(channels) * Plane::cost(scales[s].size, ring_of(s));
    if (s == base) continue;
    bytes +=
        2 * Arena::cost<float>(Reducer::scratch_floats(width)) + Arena::cost<float>(Comparer::scratch_floats(width));
  }
  ACUITY_TRY_ASSIGN(cascade->arena_, Arena::create(bytes));
  Arena& arena = cascade->arena_;
  cascade->levels_.resize(scales.size());
  for (size_t s = 0; s <= base; ++s) {
    Level& level = cascade->levels_[s];
    for (PlaneReader& side : level.sides) side = PlaneReader(arena, scales[s].size, channels, ring_of(s));
    if (s == base) continue;
    const int width = scales[s].size.width;
    for (float*& scratch : level.reduce_scratch) scratch = arena.take<float>(Reducer::scratch_floats(width));
    level.compare_scratch = arena.take<float>(Comparer::scratch_floats(width));
    std::fill_n(level.compare_scratch, Comparer::scratch_floats(width), 0.0f);
    level.tiles.resize(tile_count(width, scales[s].size.height));
    level.subband = subband_of(scales, s, channels);
    const auto& next = cascade->levels_[s + 1].sides;
    level.subband.reference = &level.sides[0];
    level.subband.distorted = &level.sides[1];
    level.subband.next_reference = &next[0];
    level.subband.next_distorted = &next[1];
  }
  return cascade;
}

size_t Cascade::bytes() const {
  size_t bytes = arena_.size();
  for (const Level& level : levels_) bytes += sizeof(Level) + level.tiles.size() * sizeof(TileSums);
  return bytes;
}

void Cascade::begin(const Heat* heat) {
  const size_t base = levels_.size() - 1;
  for (size_t s = 0; s < base; ++s) {
    Level& level = levels_[s];
    level.subband.heat = heat == nullptr ? nullptr : &(*heat)[s];
    const int tile_rows = (scales_[s].size.height + kTileHeight - 1) / kTileHeight;
    level.comparer.emplace(level.subband, 0, tile_rows, level.compare_scratch, level.tiles.data());
    for (size_t side = 0; side < 2; ++side) {
      level.reducers[side].emplace(level.sides[side], scales_[s].size, levels_[s + 1].sides[side], 0,
                                   level.reduce_scratch[side]);
    }
  }
  base_heat_ = heat == nullptr ? nullptr : &(*heat)[base];
}

std::array<float*, kChannels> Cascade::rows(Role role, int y) const {
  std::array<float*, kChannels> rows{};
  const PlaneReader& side = levels_[0].sides[static_cast<size_t>(role)];
  for (size_t c = 0; c < side.planes().size(); ++c) rows[c] = side.planes()[c].row(y);
  return rows;
}

void Cascade::advance(int rows) {
  levels_[0].rows = rows;
  for (size_t s = 0; s + 1 < levels_.size(); ++s) {
    Level& level = levels_[s];
    levels_[s + 1].rows = level.reducers[0]->makeable(level.rows);
    for (std::optional<Reducer>& reducer : level.reducers) reducer->advance(levels_[s + 1].rows);
    level.comparer->advance(level.comparer->readable(levels_[s + 1].rows));
  }
}

Differences Cascade::differences() const {
  Differences differences;
  differences.channels = channels_;
  const size_t base = levels_.size() - 1;
  for (size_t s = 0; s < base; ++s) {
    differences.subbands.push_back(differences_of(levels_[s].tiles, scales_[s].size, channels_));
  }
  const auto& sides = levels_[base].sides;
  differences.subbands.push_back(Base{{&sides[0], &sides[1]}, scales_[base], channels_, base_heat_}.differences());
  return differences;
}

}  // namespace acuity::cvvdp
