// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <array>
#include <cstring>

#include "base/memory.h"
#include "metrics/butteraugli/rings.h"
#include "metrics/butteraugli/scale.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/butteraugli/cpu.cc"
#include <hwy/foreach_target.h>

#include <hwy/cache_control.h>

#include "lang/cpu.h"
#include "lang/neighbours.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::butteraugli {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

#include "lang/exact.h"
#include "metrics/butteraugli/math.h"
#include "metrics/butteraugli/blurs.h"
#include "metrics/butteraugli/malta.h"

#include "metrics/butteraugli/filters.h"
#include "metrics/butteraugli/subbands.h"
#include "metrics/butteraugli/mask.h"

// From the subbands of two pictures to the map.
class Comparison {
 public:
  // activity: that of the distorted picture, blurred.
  Comparison(const Scale& scale, const Frame& frame, const Mask& mask, const Ring& activity, PairRings& rings)
      : scale_(scale), frame_(frame), mask_(mask), activity_(activity), rings_(rings) {}

  // One row, as split last.
  void compare_low(int y, const Subbands& a, const Subbands& b);
  void compare_middle(int y, const Subbands& a, const Subbands& b);
  void compare_high(int y, const Subbands& a, const Subbands& b);

  // Rows up to `limit`, exclusive.
  void add_columns_of_three(int limit);
  void add_lines(int limit);
  void make_map(int limit);

 private:
  void finish_row(int y, float* row);
  TileNorms pool_tile(const float* const (&rows)[kTileHeight], int count, int x) const;
  void pool_tiles_above(int y);

  const Scale& scale_;
  const Frame& frame_;
  const Mask& mask_;
  const Ring& activity_;
  PairRings& rings_;
  // The first row that each stage has still to make.
  int triples_done_ = frame_.cell.y_begin - kReachMalta + 1;
  int lines_done_ = frame_.cell.y_begin;
  int map_done_ = frame_.cell.y_begin;
};

void Comparison::compare_low(int y, const Subbands& a, const Subbands& b) {
  if (!frame_.has_row(y)) return;
  const Columns own = frame_.columns(kReachMap);
  const real xmul = real(scale_.parameters.xmul);
  float* out = rings_.low_difference.row(y);
  for (int x = own.begin; x < own.end; x += kLanes) {
    const auto difference = [&](size_t c) HWY_ATTR { return load_unaligned(a.low(c) + x) - load(b.low(c) + x); };
    store(low_difference(difference(0), difference(1), difference(2), xmul), out + x);
  }
}

void Comparison::compare_middle(int y, const Subbands& a, const Subbands& b) {
  float* const malta[2] = {rings_.malta_middle[0].row(y), rings_.malta_middle[1].row(y)};
  if (!frame_.has_row(y)) {
    for (float* row : malta) fill_row(row, 0.0f);
    return;
  }
  const Columns columns = frame_.columns(kReachMalta);
  const real xmul = real(scale_.parameters.xmul);
  float* difference = rings_.middle_difference.row(y);
  for (int x = columns.begin; x < columns.end; x += kLanes) {
    const real a_x = load_unaligned(a.middle(0) + x), a_y = load_unaligned(a.middle(1) + x);
    const real b_x = load(b.middle(0) + x), b_y = load(b.middle(1) + x);
    const real b_difference = load_unaligned(a.middle(2) + x) - load(b.middle(2) + x);
    store(middle_difference(a_x - b_x, a_y - b_y, b_difference, xmul), difference + x);
    store(malta_input(a_x, b_x, MIDDLE_X_SYMMETRIC, MIDDLE_X_ONE_SIDED, MIDDLE_X_NORM), malta[0] + x);
    store(malta_input(a_y, b_y, MIDDLE_Y_SYMMETRIC, MIDDLE_Y_ONE_SIDED, MIDDLE_Y_NORM), malta[1] + x);
  }
  for (float* row : malta) frame_.close_row(row, 0.0f);
}

void Comparison::compare_high(int y, const Subbands& a, const Subbands& b) {
  float *malta_high[2], *malta_ultra[2], *rows_of_three[2];
  for (size_t c = 0; c < 2; ++c) {
    malta_high[c] = rings_.malta_high[c].row(y);
    malta_ultra[c] = rings_.malta_ultra[c].row(y);
    rows_of_three[c] = rings_.rows_of_three[c].row(y);
  }
  if (!frame_.has_row(y)) {
    for (size_t c = 0; c < 2; ++c) {
      for (float* row : {malta_high[c], malta_ultra[c], rows_of_three[c]}) fill_row(row, 0.0f);
    }
    return;
  }
  const Columns columns = frame_.columns(kReachMalta);
  const Parameters& p = scale_.parameters;
  const Weights high_weights[2] = {p.malta_high_x, p.malta_high_y};
  const Weights ultra_weights[2] = {p.malta_ultra_x, p.malta_ultra_y};
  const Weights pixel_weights[2] = {p.pixel_high_x, p.pixel_high_y};
  const float* middle = rings_.middle_difference.row(y);
  float* out = rings_.difference.row(y);
  for (int x = columns.begin; x < columns.end; x += kLanes) {
    real subband[2];
    for (size_t c = 0; c < 2; ++c) {
      const real a_high = load_unaligned(a.high(c) + x), b_high = load(b.high(c) + x);
      const real a_ultra = load_unaligned(a.ultra(c) + x), b_ultra = load(b.ultra(c) + x);
      store(malta_input(a_high, b_high, real(high_weights[c].symmetric), real(high_weights[c].one_sided),
                        c == 0 ? HIGH_X_NORM : HIGH_Y_NORM),
            malta_high[c] + x);
      store(malta_input(a_ultra, b_ultra, real(ultra_weights[c].symmetric), real(ultra_weights[c].one_sided),
                        c == 0 ? ULTRA_X_NORM : ULTRA_Y_NORM),
            malta_ultra[c] + x);
      subband[c] = high_difference(a_high, b_high, real(pixel_weights[c].symmetric), real(pixel_weights[c].one_sided));
    }
    store(pixel_difference(load(middle + x), subband[0], subband[1], real(p.xmul)), out + x);
  }
  for (size_t c = 0; c < 2; ++c) {
    frame_.close_row(malta_high[c], 0.0f);
    frame_.close_row(malta_ultra[c], 0.0f);
    // These sums reach over the edges of the picture.
    for (int x = kMargin - 16; x < kMargin + frame_.width() + kReachMalta; x += kLanes) {
      const Neighbours at(malta_ultra[c] + x);
      store(three(at(-1), at(0), at(1)), rows_of_three[c] + x);
    }
  }
}

void Comparison::add_columns_of_three(int limit) {
  for (int y = triples_done_; y < limit; ++y) {
    for (size_t c = 0; c < 2; ++c) {
      const float* above = rings_.malta_ultra[c].row(y - 1);
      const float* here = rings_.malta_ultra[c].row(y);
      const float* below = rings_.malta_ultra[c].row(y + 1);
      float* out = rings_.columns_of_three[c].row(y);
      for (int x = kMargin - 16; x < kMargin + frame_.width() + 1; x += kLanes) {
        store(three(load(above + x), load(here + x), load(below + x)), out + x);
      }
    }
  }
  triples_done_ = std::max(triples_done_, limit);
}

// Each plane by itself, so that the rows it looks at stay in the nearest cache.
void Comparison::add_lines(int limit) {
  const Columns own = frame_.columns(kReachMap);
  const real xmul = real(scale_.parameters.xmul);
  for (int y = lines_done_; y < limit; ++y) {
    float* sum = rings_.difference.row(y);
    for (size_t c = 0; c < 2; ++c) {
      const auto add = [&](real lines, int x) HWY_ATTR {
        const real before = load(sum + x);
        store(c == 0 ? fma(lines, xmul, before) : before + lines, sum + x);
      };
      const NineRows ultra(rings_.malta_ultra[c], y), rows_of_three(rings_.rows_of_three[c], y),
          columns_of_three(rings_.columns_of_three[c], y);
      for (int x = own.begin; x < own.end; x += kLanes) {
#define ULTRA_AT(dx, dy) ultra.at(x, dx, dy)
#define ROW_AT(dx, dy) rows_of_three.at(x, dx, dy)
#define COLUMN_AT(dx, dy) columns_of_three.at(x, dx, dy)
        real lines;
        MALTA_NINE(ULTRA_AT, ROW_AT, COLUMN_AT, lines)
        add(lines, x);
      }
      for (const Ring* ring : {&rings_.malta_high[c], &rings_.malta_middle[c]}) {
        const NineRows subband(*ring, y);
        for (int x = own.begin; x < own.end; x += kLanes) {
#define SUBBAND_AT(dx, dy) subband.at(x, dx, dy)
          real lines;
          MALTA_FIVE(SUBBAND_AT, lines)
          add(lines, x);
        }
      }
    }
  }
  lines_done_ = std::max(lines_done_, limit);
}

void Comparison::make_map(int limit) {
  for (int y = map_done_; y < limit; ++y) {
    const float* activity = activity_.row(y);
    const float* low = rings_.low_difference.row(y);
    const float* others = rings_.difference.row(y);
    float* out = rings_.map.row(y);
    mask_.for_row(y, [&](int x, real reference_activity, real dc_gain, real ac_gain) HWY_ATTR {
      const real activity_difference = reference_activity - load(activity + x);
      store(masked_difference(dc_gain, ac_gain, load(low + x), load(others + x), activity_difference), out + x);
    });
    finish_row(y, out + kMargin);
  }
  map_done_ = std::max(map_done_, limit);
}

// What becomes of a row of the map.
void Comparison::finish_row(int y, float* row) {
  const Cell& cell = frame_.cell;
  const int columns = frame_.width();
  const size_t at = static_cast<size_t>(y) * static_cast<size_t>(scale_.size.width) + static_cast<size_t>(cell.x_begin);
  if (scale_.own_map != nullptr) {
    std::copy_n(row, columns, scale_.own_map + at);
    return;
  }
  if (scale_.half_map != nullptr) {
    const size_t half_width = static_cast<size_t>(half(scale_.size).width);
    const float* half_row = scale_.half_map + static_cast<size_t>(y / 2) * half_width + cell.x_begin / 2;
    alignas(64) float halved[kCellColumns + 16];
    for (int x = 0; x < columns; ++x) halved[x] = half_row[x / 2];
    for (int x = 0; x < columns; x += kLanes) store(both_resolutions(load(row + x), load(halved + x)), row + x);
  }
  if (scale_.map.at_least != nullptr) {
    for (int x = 0; x < columns; ++x) row[x] = std::max(row[x], scale_.map.at_least[at + static_cast<size_t>(x)]);
  }
  if (scale_.map.to != nullptr) std::copy_n(row, columns, scale_.map.to + at);
  std::fill(row + columns, row + round_up(static_cast<size_t>(columns), kTileWidth), 0.0f);
  if (y % kTileHeight == kTileHeight - 1 || y == scale_.size.height - 1) pool_tiles_above(y);
}

// The row of tiles whose last row is y.
void Comparison::pool_tiles_above(int y) {
  const int across = (scale_.size.width + kTileWidth - 1) / kTileWidth;
  TileNorms* tiles = scale_.tiles + static_cast<ptrdiff_t>(y / kTileHeight) * across + frame_.cell.x_begin / kTileWidth;
  const int first = y / kTileHeight * kTileHeight;
  const float* rows[kTileHeight];
  for (int i = 0; i <= y - first; ++i) rows[i] = rings_.map.row(first + i) + kMargin;
  for (int x = 0; x < frame_.width(); x += kTileWidth) *tiles++ = pool_tile(rows, y - first + 1, x);
}

TileNorms Comparison::pool_tile(const float* const (&rows)[kTileHeight], int count, int x_begin) const {
  real largest = real(0.0f);
  for (int y = 0; y < count; ++y) {
    for (int x = 0; x < kTileWidth; x += kLanes) largest = max(largest, load(rows[y] + x_begin + x));
  }
  TileNorms tile;
  tile.largest = hn::GetLane(hn::MaxOfLanes(RealTag(), largest.v));
  const real scale = tile_scale(real(tile.largest));
  alignas(64) float columns[6][kTileWidth] = {};
  for (int x = 0; x < kTileWidth; x += kLanes) {
    real sum[6] = {real(0.0f), real(0.0f), real(0.0f), real(0.0f), real(0.0f), real(0.0f)};
    for (int y = 0; y < count; ++y) {
      const real scaled = load(rows[y] + x_begin + x) * scale;
      real terms[3];
      norm_terms(scaled, terms[0], terms[1], terms[2]);
      for (int i = 0; i < 3; ++i) sum[i] = sum[i] + terms[i];
      if (scale_.p > 0) {
        power_norm_terms(scaled, real(scale_.p), terms[0], terms[1], terms[2]);
        for (int i = 0; i < 3; ++i) sum[3 + i] = sum[3 + i] + terms[i];
      }
    }
    for (int i = 0; i < 6; ++i) store(sum[i], columns[i] + x);
  }
  for (size_t i = 0; i < 3; ++i) {
    tile.sums[i] = sum_tile_columns(columns[i]);
    tile.power_sums[i] = sum_tile_columns(columns[3 + i]);
  }
  return tile;
}

// How far a stage of this reach can get when light has been read up to row `light`.
constexpr int behind(int light, int reach) { return light - (kReachLight - reach); }

void run_cell(const Scale& scale, const Cell& cell, int batch, std::byte* scratch) {
  // Filters look left of the picture, where nothing is ever written. Elsewhere what was left there is looked at in
  // columns that come to nothing.
  if (cell.x_begin == 0) std::memset(scratch, 0, scratch_bytes(batch));
  std::array<PictureRings, 2> pictures;
  PairRings pair;
  float* next = reinterpret_cast<float*>(scratch);
  const auto take = [&next](Ring& ring, int capacity) {
    ring.start(next, capacity);
    next += static_cast<ptrdiff_t>(capacity) * kStride;
  };
  for (PictureRings& rings : pictures) visit_rings(rings, batch, take);
  visit_rings(pair, batch, take);

  const Frame frame(scale.size, cell);
  Subbands a(scale, scale.readers[0], frame, pictures[0]), b(scale, scale.readers[1], frame, pictures[1]);
  Mask mask(frame, a, pictures[0].blurred_activity, batch);
  Comparison comparison(scale, frame, mask, pictures[1].blurred_activity, pair);
  const bool both = scale.prepare == nullptr;
  const auto each = [&](auto step) {
    step(a);
    if (both) step(b);
  };
  // Calls step(y) for the rows that a stage can make in this batch.
  const auto rows = [&](int reach, int& done, int light, auto step) {
    const int limit = behind(light, reach);
    for (; done < limit; ++done) step(done);
  };
  int low = cell.y_begin - kReachLow, middle = cell.y_begin - kReachMiddle, high = cell.y_begin - kReachHigh;
  const int end = cell.y_end + kReachLight;
  for (int light = cell.y_begin - kReachLight; light < end;) {
    light = std::min(light + batch, end);
    each([&](Subbands& subbands) {
      if (subbands.is_prepared()) return;
      subbands.read_light(light);
      subbands.make_xyb(behind(light, kReachXyb));
      subbands.blur_low(behind(light, kReachLow));
    });
    rows(kReachLow, low, light, [&](int y) {
      each([&](Subbands& subbands) { subbands.split_low(y); });
      if (both) comparison.compare_low(y, a, b);
    });
    each([&](Subbands& subbands) { subbands.blur_middle(behind(light, kReachMiddle)); });
    rows(kReachMiddle, middle, light, [&](int y) {
      each([&](Subbands& subbands) { subbands.split_middle_subband(y); });
      if (both) comparison.compare_middle(y, a, b);
    });
    each([&](Subbands& subbands) { subbands.blur_high(behind(light, kReachHigh)); });
    rows(kReachHigh, high, light, [&](int y) {
      each([&](Subbands& subbands) { subbands.split_high_subband(y); });
      if (both) comparison.compare_high(y, a, b);
    });
    each([&](Subbands& subbands) { subbands.blur_activity(behind(light, kReachBlurredActivity)); });
    mask.close_activity(behind(light, kReachBlurredActivity));
    if (!both) {
      mask.prepare_gains(behind(light, kReachMap));
      continue;
    }
    comparison.add_columns_of_three(std::min(behind(light, kReachHigh) - 1, cell.y_end + kReachMalta - 1));
    comparison.add_lines(std::min(behind(light, kReachHigh) - kReachMalta, cell.y_end));
    comparison.make_map(behind(light, kReachMap));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::butteraugli
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::butteraugli {

HWY_EXPORT(run_cell);

size_t scratch_bytes(int batch) {
  PictureRings picture;
  PairRings pair;
  size_t rows = 0;
  visit_rings(picture, batch, [&](Ring&, int capacity) { rows += 2 * static_cast<size_t>(capacity); });
  visit_rings(pair, batch, [&](Ring&, int capacity) { rows += static_cast<size_t>(capacity); });
  return rows * kStride * sizeof(float);
}

void run_cell(const Scale& scale, const Cell& cell, int batch, std::byte* scratch) {
  HWY_DYNAMIC_DISPATCH(run_cell)(scale, cell, batch, scratch);
}

}  // namespace acuity::butteraugli
#endif
