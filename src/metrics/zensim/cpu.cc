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

inline constexpr int kMomentRows = 42 + kReach + 1;  // of a strip, and those that mirror the last ones
inline constexpr int kGroupRows = 48;                // the 42 rows of a strip's windows, in whole vectors
inline constexpr int kCellColumns = 128;             // CELL_COLUMNS of math.h
inline constexpr int kChunkColumns = 16;             // that go from the rows to the columns at a time
inline constexpr int kCarriedRows = 2 * kReach;      // of a strip that the next one looks at as well
inline constexpr int kMoments = 5;                   // the last one only for features with weights
inline constexpr int kMostLanes = 16;
inline constexpr int kTurnedAhead = 12;                 // columns
inline constexpr int kTurnedRing = 32, kRestRing = 16;  // columns, powers of two
inline constexpr int kSlots = 8, kSlotLanes = 32;
inline constexpr int kPixelsTogether = 512;  // of a row that become planes at a time; all of one that is mirrored

// What the pixels of a channel's strip come to; see the end of math.h.
struct Slots {
  float sums[kSlots][kSums][kSlotLanes];
  float high[kSums * kSlots * kSlotLanes];  // by sum, slot and lane
  float low[kSums * kSlots * kSlotLanes];
  float maxima[kSlots][kMaxima][kSlotLanes];
  float row_high[kSums * kSlots], row_low[kSums * kSlots];
};

// What all of a strip's rows need while their windows go along. Vectors of one column of kLanes rows are "turned".
struct StripScratch {
  alignas(64) float samples[2][kGroupRows * kTurnedRing];  // turned
  alignas(64) float rest[kGroupRows * kRestRing];          // turned
  alignas(64) float means[kGroupRows * kRestRing];         // turned
  alignas(64) float sums[kMoments][kGroupRows];
  alignas(64) float moments[kMoments][kMomentRows * kChunkColumns];
  alignas(64) Slots slots;
};

// Behind it: windows along the rows that the next strip looks at as well, of each channel, chunk and moment.
inline constexpr size_t kCarriedOfMoment = size_t{kCarriedRows} * kChunkColumns;
inline constexpr size_t kCarriedOfChunk = kMoments * kCarriedOfMoment;
inline size_t carried_floats(int width) {
  return static_cast<size_t>((width + kChunkColumns - 1) / kChunkColumns) * kCarriedOfChunk;
}
inline float* carried_of(std::byte* scratch) {
  return reinterpret_cast<float*>(scratch + round_up(sizeof(StripScratch), kAlignment));
}

}  // namespace acuity::zensim
#endif

HWY_BEFORE_NAMESPACE();
namespace acuity::zensim {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

// Of numbers that are not negative: the upper half of the product with (2^32 + 2) / 3.
HWY_INLINE whole third_of_natural(whole value) {
  const WholeTag d;
  const hn::RepartitionToWide<WholeTag> wide;
  const WholeVector factor = hn::Set(d, 0x55555556);
  const auto odd = hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, value.v)));
  const auto thirds_of_even = hn::BitCast(d, hn::ShiftRight<32>(hn::MulEven(value.v, factor)));
  return hn::OddEven(hn::BitCast(d, hn::MulEven(odd, factor)), thirds_of_even);
}
#undef THIRD_OF
#define THIRD_OF(bits) third_of_natural(bits)
#undef MINUS_PRODUCT
#if HWY_NATIVE_FMA
#define MINUS_PRODUCT(sum, a, b) real(hn::NegMulAdd((a).v, (b).v, (sum).v))
#endif

#include "lang/exact.h"
#include "metrics/zensim/math.h"

static_assert(ALL_SUMS == kSums && MAXIMA == kMaxima && CELL_COLUMNS == kCellColumns && SLOTS == kSlots &&
              LANES == kSlotLanes && WINDOW_RADIUS == kReach);

// Linear light of one vector on its way to planes: what cones absorb, and its cube roots after the first of two steps.
struct Roots {
  real light[3], root[3];

  HWY_INLINE Roots(const float* red, const float* green, const float* blue) {
    absorbed_of(load_unaligned(red), load_unaligned(green), load_unaligned(blue), light[0], light[1], light[2]);
    UNROLL
    for (int cone = 0; cone < 3; ++cone) root[cone] = cube_root_guess(light[cone]);
    step();
  }
  HWY_INLINE void step() {
    UNROLL
    for (int cone = 0; cone < 3; ++cone) root[cone] = cube_root_step(light[cone], root[cone]);
  }
};

// Linear light to planes. The second step of a vector follows the first one of the next, for which it need not wait:
// divisions take most of the time. The rows are read two vectors beyond their end, and the planes overwritten one.
void ConvertRow(const float* red, const float* green, const float* blue, int count, float* x, float* y, float* b) {
  Roots here(red, green, blue);
  for (int i = 0; i < count; i += kLanes) {
    const Roots next(red + i + kLanes, green + i + kLanes, blue + i + kLanes);
    here.step();
    real to_x, to_y, to_b;
    planes_of_roots(here.root[0], here.root[1], here.root[2], to_x, to_y, to_b);
    store_unaligned(to_x, x + i);
    store_unaligned(to_y, y + i);
    store_unaligned(to_b, b + i);
    here = next;
  }
}

// The same of pictures in absolute luminance; `nits` is what 1 stands for.
void ConvertNits(const float* red, const float* green, const float* blue, int count, float nits, float* x, float* y,
                 float* b) {
  for (int i = 0; i < count; i += kLanes) {
    real to_x, to_y, to_b;
    planes_of_nits(load_unaligned(red + i) * real(nits), load_unaligned(green + i) * real(nits),
                   load_unaligned(blue + i) * real(nits), to_x, to_y, to_b);
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

// The windows along kLanes rows, which go on by four columns at a time.
template <bool weighted>
class RowWindows {
 public:
  // Of rows first_row + group .. of the strip; group is a multiple of kLanes.
  HWY_INLINE RowWindows(const Strip& strip, size_t c, int first_row, int group, StripScratch& scratch)
      : a_rows_(strip.reference.row(c, first_row + group)),
        b_rows_(strip.distorted.row(c, first_row + group)),
        a_stride_(strip.reference.stride),
        b_stride_(strip.distorted.stride),
        width_(strip.width),
        group_(group),
        moments_(&scratch.moments[0][(first_row + group) * kChunkColumns]),
        scratch_(scratch) {}

  // At the first column.
  HWY_INLINE void begin() const {
    for (int x = -8; x < kTurnedAhead; x += 4) turn(x);
    real mean1(0.0f), mean2(0.0f), squares(0.0f), product(0.0f);
    for (int i = -kReach; i <= kReach; ++i) {
      const real p = sample_a(i), q = sample_b(i);
      mean1 = mean1 + p;
      mean2 = mean2 + q;
      squares = squares_begin(squares, p, q);
      product = product_begin(product, p, q);
    }
    if constexpr (weighted) {
      for (int x = 0; x <= kReach; ++x) step_rest(x, mean1);
      for (int x = 1; x <= kReach; ++x) store(load(rest(x)), rest(-x));
      real active(0.0f);
      for (int i = -kReach; i <= kReach; ++i) active = active + load(rest(i));
      store(active, sum(4));
    }
    store(mean1, sum(0));
    store(mean2, sum(1));
    store(squares, sum(2));
    store(product, sum(3));
  }

  // Columns x .. x + 3 of the moments.
  HWY_INLINE void step(int x) const {
    turn(x + kTurnedAhead);
    real mean1 = load(sum(0)), mean2 = load(sum(1)), squares = load(sum(2)), product = load(sum(3));
    real of_a[4], of_b[4], of_squares[4], of_product[4];
    if constexpr (weighted) {
      real active = load(sum(4));
      real of_active[4];
      for (int k = 0; k < 4; ++k) {
        step_rest(x + k + kReach + 1, mean1);
        of_a[k] = load(mean(x + k));
        of_active[k] = window_mean(active);
        active = window_step(active, load(rest(x + k + kReach + 1)), load(rest(x + k - kReach)));
      }
      store(active, sum(4));
      put(4, x, of_active);
    }
    for (int k = 0; k < 4; ++k) {
      const real gained_a = sample_a(x + k + kReach + 1), lost_a = sample_a(x + k - kReach);
      const real gained_b = sample_b(x + k + kReach + 1), lost_b = sample_b(x + k - kReach);
      of_b[k] = window_mean(mean2);
      of_squares[k] = window_mean(squares);
      of_product[k] = window_mean(product);
      if constexpr (!weighted) {
        of_a[k] = window_mean(mean1);
        mean1 = window_step(mean1, gained_a, lost_a);
      }
      mean2 = window_step(mean2, gained_b, lost_b);
      squares = squares_step(squares, gained_a, gained_b, lost_a, lost_b);
      product = product_step(product, gained_a, gained_b, lost_a, lost_b);
    }
    store(mean1, sum(0));
    store(mean2, sum(1));
    store(squares, sum(2));
    store(product, sum(3));
    put(0, x, of_a);
    put(1, x, of_b);
    put(2, x, of_squares);
    put(3, x, of_product);
  }

 private:
  HWY_INLINE float* sample(size_t picture, int x) const {
    return scratch_.samples[picture] + group_ * kTurnedRing + (x & (kTurnedRing - 1)) * kLanes;
  }
  HWY_INLINE real sample_a(int x) const { return load(sample(0, x)); }
  HWY_INLINE real sample_b(int x) const { return load(sample(1, x)); }
  HWY_INLINE float* rest(int x) const { return scratch_.rest + group_ * kRestRing + (x & (kRestRing - 1)) * kLanes; }
  HWY_INLINE float* mean(int x) const { return scratch_.means + group_ * kRestRing + (x & (kRestRing - 1)) * kLanes; }
  HWY_INLINE float* sum(size_t moment) const { return scratch_.sums[moment] + group_; }

  HWY_INLINE void turn(int x) const {
    load_columns(a_rows_ + x, a_stride_, sample(0, x));
    load_columns(b_rows_ + x, b_stride_, sample(1, x));
  }
  // What column x of the reference differs from its window along the row, which goes on; mirrored behind the last.
  HWY_INLINE void step_rest(int x, real& sum) const {
    if (HWY_UNLIKELY(x >= width_)) return store(load(rest(2 * (width_ - 1) - x)), rest(x));
    const real m = window_mean(sum);
    store(m, mean(x));
    store(abs(sample_a(x) - m), rest(x));
    sum = window_step(sum, sample_a(x + kReach + 1), sample_a(x - kReach));
  }
  HWY_INLINE void put(size_t moment, int x, const real* columns) const {
    store_columns(columns[0], columns[1], columns[2], columns[3],
                  moments_ + moment * kMomentRows * kChunkColumns + (x & (kChunkColumns - 1)), kChunkColumns);
  }

  const float *a_rows_, *b_rows_;
  size_t a_stride_, b_stride_;
  int width_, group_;
  float* moments_;
  StripScratch& scratch_;
};

// Where the pixels of some columns are added up.
struct SlotPlace {
  Slots& slots;
  int lane;      // of the first column
  int valid;     // columns that the picture has
  bool closes;   // these are the last ones of a cell, and the rows the last ones of a slot
  real counted;  // 1 for columns that the mean offset counts, otherwise 0
};

// Calls add(sums) with the sums first .. first + count - 1 of a slot, and keeps what it makes of them.
template <int first, int count, typename Add>
HWY_INLINE void add_to_sums(const SlotPlace& place, int slot, const Add& add) {
  real sums[count];
  for (int i = 0; i < count; ++i) sums[i] = load(place.slots.sums[slot][first + i] + place.lane);
  add(sums);
  if (HWY_UNLIKELY(place.valid < kLanes)) {
    const auto inside = hn::FirstN(RealTag(), static_cast<size_t>(place.valid));
    for (int i = 0; i < count; ++i) {
      sums[i] = hn::IfThenElse(inside, sums[i].v, load(place.slots.sums[slot][first + i] + place.lane).v);
    }
  }
  for (int i = 0; i < count; ++i) {
    if (place.closes) {
      const int at = ((first + i) * kSlots + slot) * kSlotLanes + place.lane;
      real high = load(place.slots.high + at), low = load(place.slots.low + at);
      add_to_pair(sums[i], high, low);
      store(high, place.slots.high + at);
      store(low, place.slots.low + at);
      sums[i] = real(0.0f);
    }
    store(sums[i], place.slots.sums[slot][first + i] + place.lane);
  }
}

// kLanes columns of a channel down the strip.
template <bool weighted, bool with_map>
class Columns {
 public:
  HWY_INLINE Columns(const Strip& strip, size_t c, int x, StripScratch& scratch)
      : strip_(strip), c_(c), x_(x), moments_(scratch.moments[0] + x % kChunkColumns) {
    for (int m = 0; m < kWindows; ++m) {
      sums_[m] = real(0.0f);
      for (int i = -kReach; i <= kReach; ++i) sums_[m] = sums_[m] + at(m, std::abs(i));
    }
    for (int n = 0; n < strip.above; ++n) step(n);
  }

  // Rows row .. row + count - 1 of the strip, which belong to one slot.
  template <int count>
  HWY_INLINE void add_rows(int row, const SlotPlace& place) {
    const int slot = row / SLOT_ROWS;
    real a[count], b[count], loss[count], rest1[count], rest2[count], change[count], busy[count], calm[count];
    UNROLL
    for (int k = 0; k < count; ++k) {
      const int n = strip_.above + row + k;
      a[k] = load(strip_.reference.row(c_, n) + x_);
      b[k] = load(strip_.distorted.row(c_, n) + x_);
      const real m1 = window_mean(sums_[0]), m2 = window_mean(sums_[1]);
      loss[k] = structure_loss(m1, m2, window_mean(sums_[2]), window_mean(sums_[3]));
      rest1[k] = a[k] - m1;
      rest2[k] = b[k] - m2;
      change[k] = edge_change(rest1[k], rest2[k]);
      if constexpr (weighted) {
        busy[k] = busyness(window_mean(sums_[4]));
        calm[k] = divide_ordinary(real(1.0f), busy[k]);
      }
      step(n);
    }
    auto& of_slot = place.slots.maxima[slot];
    real maxima[MAXIMA];
    for (int i = 0; i < MAXIMA; ++i) maxima[i] = load(of_slot[i] + place.lane);
    add_to_sums<0, 4>(place, slot, [&](real* sums) HWY_ATTR {
      UNROLL
      for (int k = 0; k < count; ++k) ADD_LOSS(sums, maxima, loss[k])
    });
    add_to_sums<4, 8>(place, slot, [&](real* sums) HWY_ATTR {
      UNROLL
      for (int k = 0; k < count; ++k) ADD_CHANGE(sums, 0, maxima, change[k])
    });
    add_to_sums<12, 6>(place, slot, [&](real* sums) HWY_ATTR {
      UNROLL
      for (int k = 0; k < count; ++k) ADD_RESTS(sums, 0, a[k], b[k], rest1[k], rest2[k], place.counted)
    });
    if constexpr (weighted) {
      add_to_sums<18, 6>(place, slot, [&](real* sums) HWY_ATTR {
        UNROLL
        for (int k = 0; k < count; ++k) ADD_WEIGHTED(sums, 0, calm[k], loss[k], change[k], a[k], b[k])
      });
      add_to_sums<24, 6>(place, slot, [&](real* sums) HWY_ATTR {
        UNROLL
        for (int k = 0; k < count; ++k) ADD_WEIGHTED(sums, 0, busy[k], loss[k], change[k], a[k], b[k])
      });
    }
    for (int i = 0; i < MAXIMA; ++i) {
      if (HWY_UNLIKELY(place.valid < kLanes)) {
        const auto inside = hn::FirstN(RealTag(), static_cast<size_t>(place.valid));
        maxima[i] = hn::IfThenElse(inside, maxima[i].v, load(of_slot[i] + place.lane).v);
      }
      store(maxima[i], of_slot[i] + place.lane);
    }
    if constexpr (with_map) {
      for (int k = 0; k < count; ++k) {
        const std::array<float, kMapTerms>& by = (*strip_.map_weights)[c_];
        alignas(64) float values[kLanes];
        store(map_value(loss[k], rest1[k], rest2[k], a[k], b[k], by[0], by[1], by[2], by[3], by[4]), values);
        float* to = strip_.map + static_cast<ptrdiff_t>(row + k) * strip_.width + x_;
        for (int i = 0; i < std::min(place.valid, kLanes); ++i) to[i] = c_ == 0 ? values[i] : to[i] + values[i];
      }
    }
  }

 private:
  static constexpr int kWindows = weighted ? 5 : 4;

  HWY_INLINE real at(int moment, int row) const {
    return load(moments_ + (moment * kMomentRows + row) * kChunkColumns);
  }
  // From row n to the next.
  HWY_INLINE void step(int n) {
    const int gained = n + kReach + 1, lost = std::abs(n - kReach);
    for (int m = 0; m < kWindows; ++m) sums_[m] = window_step(sums_[m], at(m, gained), at(m, lost));
  }

  const Strip& strip_;
  size_t c_;
  int x_;
  const float* moments_;
  real sums_[kWindows];
};

// Columns x .. x + kLanes - 1 of a channel.
template <bool weighted, bool with_map>
HWY_INLINE void sum_columns(const Strip& strip, size_t c, int x, StripScratch& scratch) {
  const auto is_counted = hn::FirstN(RealTag(), static_cast<size_t>(std::clamp(strip.counted - x, 0, kLanes)));
  // Columns whose number modulo 32 is the same share a sum until the cell ends.
  SlotPlace place{.slots = scratch.slots,
                  .lane = x % kSlotLanes,
                  .valid = std::min(strip.width - x, kLanes),
                  .closes = x % kCellColumns >= kCellColumns - kSlotLanes || x + kSlotLanes >= strip.width,
                  .counted = hn::IfThenElse(is_counted, real(1.0f).v, real(0.0f).v)};
  Columns<weighted, with_map> columns(strip, c, x, scratch);
  int row = 0;
  for (; row + SLOT_ROWS <= strip.count; row += SLOT_ROWS) columns.template add_rows<SLOT_ROWS>(row, place);
  for (const bool closes = place.closes; row < strip.count; ++row) {
    place.closes = closes && row + 1 == strip.count;
    columns.template add_rows<1>(row, place);
  }
}

// Adds the pairs of all columns by halves, then those of the slots from the top down.
HWY_INLINE void close_strip(Slots& slots, int wanted, StripSums& sums) {
  // kLanes rows at a time, each those of one sum and slot.
  for (int row = 0; row < wanted * kSlots; row += kLanes) {
    alignas(64) float high[kSlotLanes * kMostLanes], low[kSlotLanes * kMostLanes];
    for (int i = 0; i < kSlotLanes; i += 4) {
      load_columns(slots.high + row * kSlotLanes + i, kSlotLanes, high + i * kLanes);
      load_columns(slots.low + row * kSlotLanes + i, kSlotLanes, low + i * kLanes);
    }
    for (int half = kSlotLanes / 2; half >= 1; half /= 2) {
      for (int i = 0; i < half; ++i) {
        real h = load(high + i * kLanes), l = load(low + i * kLanes);
        add_pairs(load(high + (half + i) * kLanes), load(low + (half + i) * kLanes), h, l);
        store(h, high + i * kLanes);
        store(l, low + i * kLanes);
      }
    }
    store(load(high), slots.row_high + row);
    store(load(low), slots.row_low + row);
  }
  for (int i = 0; i < wanted; ++i) {
    float high = slots.row_high[i * kSlots], low = slots.row_low[i * kSlots];
    for (int slot = 1; slot < kSlots; ++slot) {
      real h(high), l(low);
      add_pairs(real(slots.row_high[i * kSlots + slot]), real(slots.row_low[i * kSlots + slot]), h, l);
      high = hn::GetLane(h.v);
      low = hn::GetLane(l.v);
    }
    sums.high[static_cast<size_t>(i)] = high;
    sums.low[static_cast<size_t>(i)] = low;
  }
  for (size_t i = 0; i < kMaxima; ++i) {
    real most(0.0f);
    for (const auto& slot : slots.maxima) {
      for (int lane = 0; lane < kSlotLanes; lane += kLanes) most = max(most, load(slot[i] + lane));
    }
    sums.maxima[i] = hn::GetLane(hn::MaxOfLanes(RealTag(), most.v));
  }
}

// One channel of a strip.
template <bool weighted>
HWY_INLINE void sum_channel(const Strip& strip, size_t c, float* carried, StripScratch& scratch) {
  constexpr int kWanted = weighted ? ALL_SUMS : BASIC_SUMS;
  constexpr size_t kWantedMoments = weighted ? 5 : 4;
  const int first = strip.continues ? kCarriedRows : 0;
  const int next_first = strip.above + kStripRows - kReach;
  // The plain sums are 0 already: whatever closes a cell leaves them so.
  constexpr size_t kPairs = size_t{kWanted} * kSlots * kSlotLanes;
  std::memset(scratch.slots.high, 0, kPairs * sizeof(float));
  std::memset(scratch.slots.low, 0, kPairs * sizeof(float));
  std::memset(scratch.slots.maxima, 0, sizeof(scratch.slots.maxima));
  const int group_end = strip.rows - first;
  const auto windows = [&](int group) HWY_ATTR { return RowWindows<weighted>(strip, c, first, group, scratch); };
  for (int group = 0; group < group_end; group += kLanes) windows(group).begin();
  for (int begin = 0; begin < strip.width; begin += kChunkColumns, carried += kCarriedOfChunk) {
    const int end = std::min(begin + kChunkColumns, strip.width);
    for (int x = begin; x < end; x += 4) {
      for (int group = 0; group < group_end; group += kLanes) windows(group).step(x);
    }
    for (size_t i = 0; i < kWantedMoments; ++i) {
      float* const kept = carried + i * kCarriedOfMoment;
      if (strip.continues) std::memcpy(scratch.moments[i], kept, kCarriedOfMoment * sizeof(float));
      if (strip.count == kStripRows) {
        std::memcpy(kept, scratch.moments[i] + next_first * kChunkColumns, kCarriedOfMoment * sizeof(float));
      }
      for (int row = 0; row <= kReach && strip.rows < kMomentRows - kReach - 1; ++row) {
        std::memcpy(scratch.moments[i] + (strip.rows + row) * kChunkColumns,
                    scratch.moments[i] + std::max(strip.rows - 2 - row, 0) * kChunkColumns,
                    kChunkColumns * sizeof(float));
      }
    }
    for (int x = begin; x < end; x += kLanes) {
      const auto sum = strip.map != nullptr ? sum_columns<weighted, true> : sum_columns<weighted, false>;
      sum(strip, c, x, scratch);
    }
  }
  *strip.sums[c] = {};
  close_strip(scratch.slots, kWanted, *strip.sums[c]);
}

void SumStrip(const Strip& strip, std::byte* memory) {
  StripScratch& scratch = *reinterpret_cast<StripScratch*>(memory);
  for (size_t c = 0; c < kChannels; ++c) {
    float* const carried = carried_of(memory) + c * carried_floats(strip.width);
    const auto sum = strip.weighted ? sum_channel<true> : sum_channel<false>;
    sum(strip, c, carried, scratch);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::zensim
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::zensim {
namespace {

HWY_EXPORT(ConvertRow);
HWY_EXPORT(ConvertNits);
HWY_EXPORT(ComposeRow);
HWY_EXPORT(HalveRow);
HWY_EXPORT(SumStrip);

void mirror_ends(float* row, int width) {
  for (int i = 1; i <= kReach + 1; ++i) {
    row[-i] = row[i];
    row[width - 1 + i] = row[width - 1 - i];
  }
}

// Of some pixels' samples, and those beside them that vectors reach.
constexpr size_t kSampleFloats = kPixelsTogether + 2 * kMostLanes;

size_t strip_bytes(const Layout& layout) {
  const size_t carried = kChannels * carried_floats(layout.sizes[0].width) * sizeof(float);
  return round_up(sizeof(StripScratch), kAlignment) + round_up(carried, kAlignment);
}

}  // namespace

size_t plane_stride(int width) {
  // An odd number of cache lines, so that rows do not all lie in the same part of the cache.
  const size_t lines = (static_cast<size_t>(width) + 2 * kRowMargin + 15) / 16;
  return 16 * (lines | 1);
}

size_t plane_floats(int width, int rows) { return plane_stride(width) * static_cast<size_t>(rows + kRowsBehind); }

size_t scratch_bytes(const Layout& layout) { return strip_bytes(layout) + 5 * kSampleFloats * sizeof(float); }

void make_row(const Picture& picture, const Layout& layout, int y, const Planes& to, int to_row, std::byte* scratch) {
  const int source_width = layout.picture.width, width = layout.mirrored.width;
  const int source_y = mirrored_place(y, layout.picture.height);
  float* const red = reinterpret_cast<float*>(scratch + strip_bytes(layout));
  float* const colours[3] = {red, red + kSampleFloats, red + 2 * kSampleFloats};
  float* const alpha = red + 3 * kSampleFloats;
  float* const grey = red + 4 * kSampleFloats;
  const int channels = picture.alpha != nullptr ? 4 : 3;
  for (int begin = 0; begin < source_width; begin += kPixelsTogether) {
    const int end = std::min(begin + kPixelsTogether, source_width);
    picture.rows->read(source_y, begin, end, colours[0], colours[1], colours[2]);
    if (picture.alpha != nullptr) read_alpha(*picture.alpha, source_y, begin, end, alpha);
    const int count = end == source_width ? width - begin : end - begin;
    for (int c = 0; c < channels; ++c) {
      float* samples = red + static_cast<size_t>(c) * kSampleFloats;
      for (int x = end - begin; x < count; ++x) samples[x] = samples[mirrored_place(x, source_width)];
      std::fill(samples + count, samples + kSampleFloats, 0.0f);
    }
    if (picture.alpha != nullptr) {
      for (int x = 0; x < count; ++x) grey[x] = pattern()[pattern_place(begin + x, y)];
      std::fill(grey + count, grey + kSampleFloats, 0.0f);
      for (float* colour : colours) HWY_DYNAMIC_DISPATCH(ComposeRow)(alpha, grey, count, colour);
    }
    float* const planes[3] = {to.row(0, to_row) + begin, to.row(1, to_row) + begin, to.row(2, to_row) + begin};
    if (picture.nits == 0) {
      HWY_DYNAMIC_DISPATCH(ConvertRow)(colours[0], colours[1], colours[2], count, planes[0], planes[1], planes[2]);
    } else {
      HWY_DYNAMIC_DISPATCH(ConvertNits)
      (colours[0], colours[1], colours[2], count, picture.nits, planes[0], planes[1], planes[2]);
    }
  }
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
