// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/zensim/cpu.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/memory.h"
#include "colour/alpha.h"
#include "metrics/zensim/pattern.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/zensim/cpu.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"
#include "lang/transpose.h"

#ifndef ACUITY_METRICS_ZENSIM_SCRATCH
#define ACUITY_METRICS_ZENSIM_SCRATCH
namespace acuity::zensim {

inline constexpr int kGroupRows = 48;                  // the 42 rows of a strip's windows, in whole vectors
inline constexpr int kCellColumns = 128;               // CELL_COLUMNS of math.h
inline constexpr int kCellStride = kCellColumns + 16;  // so that rows do not all lie in the same part of the cache
inline constexpr int kMoments = 4;
inline constexpr int kMostLanes = 16;
inline constexpr int kBefore = 8;  // columns beside a cell that are turned as well
inline constexpr int kSlots = 8, kSlotLanes = 32;

// What the pixels of a channel's strip come to; see the end of math.h.
struct Slots {
  float sums[kSlots][kSums][kSlotLanes];
  float high[kSlots][kSums][kSlotLanes];
  float low[kSlots][kSums][kSlotLanes];
  float maxima[kSlots][kMaxima][kSlotLanes];
};

struct CellScratch {
  alignas(64) float turned[2][(kCellColumns + 2 * kBefore + 4) * kMostLanes];
  alignas(64) float moments[kMoments][kGroupRows * kCellStride];
  alignas(64) float state[kGroupRows / 4][kMoments][kMostLanes];
  alignas(64) Slots slots;
};

// Behind it: the activity of a strip's rows, and of one group of rows, turned.
inline size_t activity_floats(int width) { return plane_floats(width, kGroupRows); }
inline size_t turned_floats(int width) {
  return static_cast<size_t>(width + 2 * kRowMargin) * static_cast<size_t>(kMostLanes);
}

inline float* activity_of(std::byte* scratch) {
  return reinterpret_cast<float*>(scratch + round_up(sizeof(CellScratch), kAlignment)) + kRowMargin;
}
inline float* turned_of(std::byte* scratch, int width) {
  return activity_of(scratch) - kRowMargin + round_up(activity_floats(width), kAlignment / sizeof(float));
}

}  // namespace acuity::zensim
#endif

HWY_BEFORE_NAMESPACE();
namespace acuity::zensim {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

#include "lang/exact.h"
#include "metrics/zensim/math.h"

static_assert(ALL_SUMS == kSums && MAXIMA == kMaxima && CELL_COLUMNS == kCellColumns && SLOTS == kSlots &&
              LANES == kSlotLanes && WINDOW_RADIUS == kReach);

// Linear light to planes; each may be overwritten up to a vector beyond its end.
void ConvertRow(const float* red, const float* green, const float* blue, int count, float nits, float* x, float* y,
                float* b) {
  for (int i = 0; i < count; i += kLanes) {
    const real r = load_unaligned(red + i), g = load_unaligned(green + i), bl = load_unaligned(blue + i);
    real to_x, to_y, to_b;
    if (nits == 0) {
      planes_of(r, g, bl, to_x, to_y, to_b);
    } else {
      planes_of_nits(r * real(nits), g * real(nits), bl * real(nits), to_x, to_y, to_b);
    }
    store_unaligned(to_x, x + i);
    store_unaligned(to_y, y + i);
    store_unaligned(to_b, b + i);
  }
}

void ComposeRow(const float* alpha, const float* grey, int count, float* colour) {
  for (int i = 0; i < count; i += kLanes) {
    const real a = load_unaligned(alpha + i), c = load_unaligned(colour + i), g = load_unaligned(grey + i);
    store_unaligned(over_grey(c, a, g), colour + i);
  }
}

void HalveRow(const float* above, const float* below, int width, float* to) {
  const RealTag d;
  for (int i = 0; i < width; i += kLanes) {
    RealVector left, right, below_left, below_right;
    hn::LoadInterleaved2(d, above + 2 * i, left, right);
    hn::LoadInterleaved2(d, below + 2 * i, below_left, below_right);
    store_unaligned(mean_of_four(left, right, below_left, below_right), to + i);
  }
}

// Turns columns x_begin .. x_end - 1 of kLanes rows: vector number x - x_begin is column x.
HWY_INLINE void turn(const float* rows, size_t stride, int x_begin, int x_end, float* to) {
  for (int x = x_begin; x < x_end; x += 4) load_columns(rows + x, stride, to + (x - x_begin) * kLanes);
}

// The window along rows of what a pixel differs from its window along the row: `activity` receives kLanes rows of it.
HWY_INLINE void activity_of_rows(const float* rows, size_t stride, int width, CellScratch& scratch, float* turned,
                                 float* activity, size_t activity_stride) {
  // Column x is vector number x + kRowMargin.
  float* const columns = turned + kRowMargin * kLanes;
  real sum(0.0f);
  for (int begin = 0; begin < width; begin += kCellColumns) {
    const int end = std::min(begin + kCellColumns, width);
    turn(rows, stride, begin - kBefore, end + kBefore, scratch.turned[0]);
    const float* at = scratch.turned[0] + kBefore * kLanes;
    if (begin == 0) {
      for (int i = -kReach; i <= kReach; ++i) sum = sum + load(at + i * kLanes);
    }
    for (int x = begin; x < end; ++x, at += kLanes) {
      store(abs(load(at) - window_mean(sum)), columns + x * kLanes);
      sum = window_step(sum, load(at + (kReach + 1) * kLanes), load(at - kReach * kLanes));
    }
  }
  for (int i = 1; i <= kReach + 1; ++i) {
    store(load(columns + i * kLanes), columns - i * kLanes);
    store(load(columns + (width - 1 - i) * kLanes), columns + (width - 1 + i) * kLanes);
  }
  sum = real(0.0f);
  for (int i = -kReach; i <= kReach; ++i) sum = sum + load(columns + i * kLanes);
  for (int x = 0; x < width; x += 4) {
    real mean[4];
    for (int k = 0; k < 4; ++k) {
      const float* at = columns + (x + k) * kLanes;
      mean[k] = window_mean(sum);
      sum = window_step(sum, load(at + (kReach + 1) * kLanes), load(at - kReach * kLanes));
    }
    store_columns(mean[0], mean[1], mean[2], mean[3], activity + x, activity_stride);
  }
}

// The windows along kLanes rows in one cell.
HWY_INLINE void moments_of_rows(const float* a_rows, size_t a_stride, const float* b_rows, size_t b_stride, int begin,
                                int end, int first_row, CellScratch& scratch) {
  turn(a_rows, a_stride, begin - kBefore, end + kBefore, scratch.turned[0]);
  turn(b_rows, b_stride, begin - kBefore, end + kBefore, scratch.turned[1]);
  const float* a = scratch.turned[0] + kBefore * kLanes;
  const float* b = scratch.turned[1] + kBefore * kLanes;
  auto& state = scratch.state[first_row / kLanes];
  real mean1(0.0f), mean2(0.0f), squares(0.0f), product(0.0f);
  if (begin == 0) {
    for (int i = -kReach; i <= kReach; ++i) {
      const real p = load(a + i * kLanes), q = load(b + i * kLanes);
      mean1 = mean1 + p;
      mean2 = mean2 + q;
      squares = squares_begin(squares, p, q);
      product = product_begin(product, p, q);
    }
  } else {
    mean1 = load(state[0]);
    mean2 = load(state[1]);
    squares = load(state[2]);
    product = load(state[3]);
  }
  for (int x = 0; x < end - begin; x += 4) {
    real of_a[4], of_b[4], of_squares[4], of_product[4];
    for (int k = 0; k < 4; ++k, a += kLanes, b += kLanes) {
      of_a[k] = window_mean(mean1);
      of_b[k] = window_mean(mean2);
      of_squares[k] = window_mean(squares);
      of_product[k] = window_mean(product);
      const real gained_a = load(a + (kReach + 1) * kLanes), lost_a = load(a - kReach * kLanes);
      const real gained_b = load(b + (kReach + 1) * kLanes), lost_b = load(b - kReach * kLanes);
      mean1 = window_step(mean1, gained_a, lost_a);
      mean2 = window_step(mean2, gained_b, lost_b);
      squares = squares_step(squares, gained_a, gained_b, lost_a, lost_b);
      product = product_step(product, gained_a, gained_b, lost_a, lost_b);
    }
    const int to = first_row * kCellStride + x;
    store_columns(of_a[0], of_a[1], of_a[2], of_a[3], scratch.moments[0] + to, kCellStride);
    store_columns(of_b[0], of_b[1], of_b[2], of_b[3], scratch.moments[1] + to, kCellStride);
    store_columns(of_squares[0], of_squares[1], of_squares[2], of_squares[3], scratch.moments[2] + to, kCellStride);
    store_columns(of_product[0], of_product[1], of_product[2], of_product[3], scratch.moments[3] + to, kCellStride);
  }
  store(mean1, state[0]);
  store(mean2, state[1]);
  store(squares, state[2]);
  store(product, state[3]);
}

// Which rows a window gains and loses when it goes on from row n.
struct WindowRows {
  int gained[kGroupRows], lost[kGroupRows];

  explicit WindowRows(int rows) {
    for (int n = 0; n < kGroupRows; ++n) {
      const int next = n + kReach + 1;
      gained[n] = std::clamp(next < rows ? next : 2 * (rows - 1) - next, 0, rows - 1);
      lost[n] = std::abs(n - kReach);
    }
  }
};

// A sum that goes down kLanes columns of a plane.
struct ColumnSum {
  const float* plane;
  size_t stride;
  real sum;

  HWY_INLINE ColumnSum(const float* from, size_t row_stride) : plane(from), stride(row_stride), sum(0.0f) {
    for (int i = -kReach; i <= kReach; ++i) sum = sum + load(at(std::abs(i)));
  }
  HWY_INLINE const float* at(int row) const { return plane + static_cast<size_t>(row) * stride; }
  HWY_INLINE void step(const WindowRows& rows, int n) {
    sum = window_step(sum, load(at(rows.gained[n])), load(at(rows.lost[n])));
  }
};

// kLanes columns of a cell down the strip. `valid` columns are the picture's.
template <bool weighted, bool with_map>
HWY_INLINE void sum_columns(const Strip& strip, const WindowRows& rows, size_t c, int begin, int x, int valid,
                            const float* activity, size_t activity_stride, CellScratch& scratch) {
  constexpr int kWanted = weighted ? ALL_SUMS : BASIC_SUMS;
  const RealTag d;
  const auto inside = hn::FirstN(d, static_cast<size_t>(std::clamp(valid, 0, kLanes)));
  const auto is_counted = hn::FirstN(d, static_cast<size_t>(std::clamp(strip.counted - begin - x, 0, kLanes)));
  const real counted(hn::IfThenElse(is_counted, real(1.0f).v, real(0.0f).v));
  ColumnSum mean1(scratch.moments[0] + x, kCellStride), mean2(scratch.moments[1] + x, kCellStride);
  ColumnSum squares(scratch.moments[2] + x, kCellStride), product(scratch.moments[3] + x, kCellStride);
  ColumnSum active(weighted ? activity + begin + x : scratch.moments[0] + x, weighted ? activity_stride : kCellStride);
  const auto step = [&](int n) HWY_ATTR {
    mean1.step(rows, n);
    mean2.step(rows, n);
    squares.step(rows, n);
    product.step(rows, n);
    if constexpr (weighted) active.step(rows, n);
  };
  for (int n = 0; n < strip.above; ++n) step(n);
  const int lane = x % kSlotLanes;
  for (int slot = 0; slot * SLOT_ROWS < strip.count; ++slot) {
    auto& of_slot = scratch.slots.sums[slot];
    auto& maxima_of_slot = scratch.slots.maxima[slot];
    real sums[kWanted], maxima[MAXIMA];
    for (int i = 0; i < kWanted; ++i) sums[i] = load(of_slot[i] + lane);
    for (int i = 0; i < MAXIMA; ++i) maxima[i] = load(maxima_of_slot[i] + lane);
    const int last = std::min((slot + 1) * SLOT_ROWS, strip.count);
    for (int row = slot * SLOT_ROWS; row < last; ++row) {
      const int n = strip.above + row;
      const real a = load(strip.reference.row(c, n) + begin + x);
      const real b = load(strip.distorted.row(c, n) + begin + x);
      const real m1 = window_mean(mean1.sum), m2 = window_mean(mean2.sum);
      const real loss = structure_loss(m1, m2, window_mean(squares.sum), window_mean(product.sum));
      const real rest1 = a - m1, rest2 = b - m2;
      const real change = edge_change(rest1, rest2);
      ADD_BASIC(sums, maxima, loss, change, a, b, rest1, rest2, counted)
      if constexpr (with_map) {
        const std::array<float, kMapTerms>& by = (*strip.map_weights)[c];
        const real value = map_value(loss, rest1, rest2, a, b, by[0], by[1], by[2], by[3], by[4]);
        alignas(64) float values[kLanes];
        store(value, values);
        float* to = strip.map + static_cast<ptrdiff_t>(row) * strip.width + begin + x;
        for (int i = 0; i < std::min(valid, kLanes); ++i) to[i] = c == 0 ? values[i] : to[i] + values[i];
      }
      if constexpr (weighted) {
        const real busy = busyness(window_mean(active.sum));
        const real calm = divide_ordinary(real(1.0f), busy);
        ADD_WEIGHTED(sums, 18, calm, loss, change, a, b)
        ADD_WEIGHTED(sums, 24, busy, loss, change, a, b)
      }
      step(n);
    }
    if (HWY_UNLIKELY(valid < kLanes)) {
      for (int i = 0; i < kWanted; ++i) sums[i] = hn::IfThenElse(inside, sums[i].v, load(of_slot[i] + lane).v);
      for (int i = 0; i < MAXIMA; ++i) {
        maxima[i] = hn::IfThenElse(inside, maxima[i].v, load(maxima_of_slot[i] + lane).v);
      }
    }
    for (int i = 0; i < kWanted; ++i) store(sums[i], of_slot[i] + lane);
    for (int i = 0; i < MAXIMA; ++i) store(maxima[i], maxima_of_slot[i] + lane);
  }
}

// Adds the sums of a cell to the pairs.
HWY_INLINE void close_cell(Slots& slots, int slot_count, int wanted) {
  for (int slot = 0; slot < slot_count; ++slot) {
    for (int i = 0; i < wanted; ++i) {
      for (int lane = 0; lane < kSlotLanes; lane += kLanes) {
        real high = load(slots.high[slot][i] + lane), low = load(slots.low[slot][i] + lane);
        add_to_pair(load(slots.sums[slot][i] + lane), high, low);
        store(high, slots.high[slot][i] + lane);
        store(low, slots.low[slot][i] + lane);
        store(real(0.0f), slots.sums[slot][i] + lane);
      }
    }
  }
}

// Adds the pairs of all columns by halves, then those of the slots from the top down.
HWY_INLINE void close_strip(Slots& slots, int wanted, StripSums& sums) {
  for (int i = 0; i < wanted; ++i) {
    real total_high(0.0f), total_low(0.0f);
    for (int slot = 0; slot < SLOTS; ++slot) {
      float* const highs = slots.high[slot][i];
      float* const lows = slots.low[slot][i];
      // Lanes beyond the half hold what nobody looks at.
      for (int half = LANES / 2; half >= 1; half /= 2) {
        for (int lane = 0; lane < half; lane += kLanes) {
          real high = load_unaligned(highs + lane), low = load_unaligned(lows + lane);
          add_pairs(load_unaligned(highs + half + lane), load_unaligned(lows + half + lane), high, low);
          store_unaligned(high, highs + lane);
          store_unaligned(low, lows + lane);
        }
      }
      if (slot == 0) {
        total_high = load(highs);
        total_low = load(lows);
      } else {
        add_pairs(load(highs), load(lows), total_high, total_low);
      }
    }
    sums.high[static_cast<size_t>(i)] = hn::GetLane(total_high.v);
    sums.low[static_cast<size_t>(i)] = hn::GetLane(total_low.v);
  }
  for (size_t i = 0; i < kMaxima; ++i) {
    sums.maxima[i] = 0;
    for (const auto& slot : slots.maxima) {
      sums.maxima[i] = std::max(sums.maxima[i], *std::max_element(slot[i], slot[i] + kSlotLanes));
    }
  }
}

void SumStrip(const Strip& strip, std::byte* memory) {
  CellScratch& scratch = *reinterpret_cast<CellScratch*>(memory);
  const size_t activity_stride = plane_stride(strip.width);
  float* const activity = activity_of(memory);
  float* const turned = turned_of(memory, strip.width);
  const WindowRows rows(strip.rows);
  const int wanted = strip.weighted ? ALL_SUMS : BASIC_SUMS;
  for (size_t c = 0; c < kChannels; ++c) {
    std::memset(&scratch.slots, 0, sizeof(Slots));
    if (strip.weighted) {
      for (int row = 0; row < strip.rows; row += kLanes) {
        activity_of_rows(strip.reference.row(c, row), strip.reference.stride, strip.width, scratch, turned,
                         activity + static_cast<size_t>(row) * activity_stride, activity_stride);
      }
    }
    for (int begin = 0; begin < strip.width; begin += kCellColumns) {
      const int end = std::min(begin + kCellColumns, strip.width);
      for (int row = 0; row < strip.rows; row += kLanes) {
        moments_of_rows(strip.reference.row(c, row), strip.reference.stride, strip.distorted.row(c, row),
                        strip.distorted.stride, begin, end, row, scratch);
      }
      for (int x = 0; x < end - begin; x += kLanes) {
        const auto sum = strip.map != nullptr ? (strip.weighted ? sum_columns<true, true> : sum_columns<false, true>)
                                              : (strip.weighted ? sum_columns<true, false> : sum_columns<false, false>);
        sum(strip, rows, c, begin, x, end - begin - x, activity, activity_stride, scratch);
      }
      close_cell(scratch.slots, (strip.count + SLOT_ROWS - 1) / SLOT_ROWS, wanted);
    }
    *strip.sums[c] = {};
    close_strip(scratch.slots, wanted, *strip.sums[c]);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::zensim
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::zensim {
namespace {

HWY_EXPORT(ConvertRow);
HWY_EXPORT(ComposeRow);
HWY_EXPORT(HalveRow);
HWY_EXPORT(SumStrip);

void mirror_ends(float* row, int width) {
  for (int i = 1; i <= kReach + 1; ++i) {
    row[-i] = row[i];
    row[width - 1 + i] = row[width - 1 - i];
  }
}

size_t row_floats(const Layout& layout) {
  return round_up(static_cast<size_t>(layout.mirrored.width) + kMostLanes, kAlignment / sizeof(float));
}

}  // namespace

size_t plane_stride(int width) {
  // An odd number of cache lines, so that rows do not all lie in the same part of the cache.
  const size_t lines = (static_cast<size_t>(width) + 2 * kRowMargin + 15) / 16;
  return 16 * (lines | 1);
}

size_t plane_floats(int width, int rows) { return plane_stride(width) * static_cast<size_t>(rows + kRowsBehind); }

size_t scratch_bytes(const Layout& layout) {
  const int width = layout.sizes[0].width;
  const size_t strip = round_up(sizeof(CellScratch), kAlignment) + Arena::cost<float>(activity_floats(width)) +
                       Arena::cost<float>(turned_floats(width));
  const size_t row = 5 * row_floats(layout) * sizeof(float);
  return round_up(std::max(strip, row), kAlignment);
}

void make_row(const Picture& picture, const Layout& layout, int y, const Planes& to, int to_row, std::byte* scratch) {
  const size_t plane = row_floats(layout);
  const int source_width = layout.picture.width, width = layout.mirrored.width;
  const int source_y = mirrored_place(y, layout.picture.height);
  float* const red = reinterpret_cast<float*>(scratch);
  float* const colours[3] = {red, red + plane, red + 2 * plane};
  float* const alpha = red + 3 * plane;
  picture.rows->read(source_y, 0, source_width, colours[0], colours[1], colours[2]);
  if (picture.alpha != nullptr) read_alpha(*picture.alpha, source_y, 0, source_width, alpha);
  const int channels = picture.alpha != nullptr ? 4 : 3;
  for (int c = 0; c < channels; ++c) {
    float* row = red + static_cast<size_t>(c) * plane;
    for (int x = source_width; x < width; ++x) row[x] = row[mirrored_place(x, source_width)];
    std::fill(row + width, row + plane, 0.0f);
  }
  if (picture.alpha != nullptr) {
    float* const grey = red + 4 * plane;
    for (int x = 0; x < width; ++x) grey[x] = pattern()[pattern_place(x, y)];
    std::fill(grey + width, grey + plane, 0.0f);
    for (float* colour : colours) HWY_DYNAMIC_DISPATCH(ComposeRow)(alpha, grey, width, colour);
  }
  HWY_DYNAMIC_DISPATCH(ConvertRow)
  (colours[0], colours[1], colours[2], width, picture.nits, to.row(0, to_row), to.row(1, to_row), to.row(2, to_row));
  const int padded = layout.sizes[0].width;
  for (size_t c = 0; c < kChannels; ++c) {
    float* row = to.row(c, to_row);
    for (int x = width; x < padded; ++x) row[x] = row[2 * (width - 1) - x];
    mirror_ends(row, padded);
  }
}

void halve_rows(const Planes& from, int from_row, int width, const Planes& to, int to_row) {
  for (size_t c = 0; c < kChannels; ++c) {
    float* row = to.row(c, to_row);
    HWY_DYNAMIC_DISPATCH(HalveRow)(from.row(c, from_row), from.row(c, from_row + 1), width / 2, row);
    mirror_ends(row, width / 2);
  }
}

void sum_strip(const Strip& strip, std::byte* scratch) { HWY_DYNAMIC_DISPATCH(SumStrip)(strip, scratch); }

}  // namespace acuity::zensim
#endif
