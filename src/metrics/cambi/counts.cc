// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cambi/counts.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/memory.h"

#ifndef ACUITY_METRICS_CAMBI_PLACES
#define ACUITY_METRICS_CAMBI_PLACES
namespace acuity::cambi {

// For a level that is 4 to 11 above the first of two blocks of 8: which bytes of each block hold the counts of the four
// levels above, and its own; then the four below, and its own.
struct Places {
  alignas(64) uint8_t bytes[8][4][16];
};
constexpr Places kPlaces = [] {
  Places places{};
  for (int level = 4; level < 12; ++level) {
    for (int lane = 0; lane < 8; ++lane) {
      const int above = lane < 4 ? level + 1 + lane : level, below = lane < 4 ? level - 1 - lane : level;
      for (int byte = 0; byte < 2; ++byte) {
        const int at = 2 * lane + byte;
        const auto place = [&](int index, int block) {
          return static_cast<uint8_t>(index / 8 == block ? 2 * (index % 8) + byte : 0x80);
        };
        places.bytes[level - 4][0][at] = place(above, 0);
        places.bytes[level - 4][1][at] = place(above, 1);
        places.bytes[level - 4][2][at] = place(below, 0);
        places.bytes[level - 4][3][at] = place(below, 1);
      }
    }
  }
  return places;
}();

}  // namespace acuity::cambi
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/cambi/counts.cc"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace acuity::cambi {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using LevelTag = hn::ScalableTag<uint16_t>;
constexpr int kStep = static_cast<int>(HWY_LANES(uint16_t));

template <class Mask>
HWY_INLINE uint32_t bits_of(Mask mask) {
  alignas(8) uint8_t bytes[8] = {};
  hn::StoreMaskBits(LevelTag(), mask, bytes);
  uint32_t bits = 0;
  std::memcpy(&bits, bytes, sizeof(bits));
  return bits;
}

// Tables are passed as copies: bytes that are stored might be those of a table elsewhere, for all the compiler knows.
template <int kBlockLog>
HWY_INLINE uint8_t* counter(const CountTable& table, int column, int level) {
  constexpr int kBlock = 1 << kBlockLog;
  return table.bytes + (((level >> kBlockLog) * table.columns + column) << kBlockLog) + (level & (kBlock - 1));
}

template <int kBlockLog>
void Move(const CountTable table, const uint16_t* entering, const uint16_t* leaving) {
  for (int x = 0; x < table.width; x += kStep) {
    const auto comes = hn::LoadU(LevelTag(), entering + x), goes = hn::LoadU(LevelTag(), leaving + x);
    for (uint32_t bits = bits_of(hn::Ne(comes, goes)); bits != 0; bits &= bits - 1) {
      const int at = x + static_cast<int>(hwy::Num0BitsBelowLS1Bit_Nonzero32(bits));
      --*counter<kBlockLog>(table, at + table.reach, leaving[at]);
      ++*counter<kBlockLog>(table, at + table.reach, entering[at]);
    }
  }
}

// The counts of two blocks of levels in the window around one column after the other.
template <int kBlockLog>
class Window {
 public:
  static constexpr int kBlock = 1 << kBlockLog, kSteps = kBlock / 2;

  explicit Window(const CountTable& table) : table_(table), across_((2 * table.reach + 1) * kBlock) {
    for (int i = 0; i < kVectors; ++i) lower_[i] = upper_[i] = hn::Zero(Wide());
  }

  HWY_INLINE void go_to(int x, int block) {
    if (block == block_ && x - x_ <= kWorthwhile) {
      while (x_ < x) advance();
      return;
    }
    x_ = x;
    block_ = block;
    lower_column_ = counter<kBlockLog>(table_, x, block * kBlock);
    upper_column_ = counter<kBlockLog>(table_, x, (block + 1) * kBlock);
    sum(lower_, lower_column_);
    sum(upper_, upper_column_);
  }

  /// By a column.
  HWY_INLINE void advance() {
    ++x_;
    slide(lower_, lower_column_);
    slide(upper_, upper_column_);
    lower_column_ += kBlock;
    upper_column_ += kBlock;
  }

  /// The count of the level so far above the lower block, and for each step the larger of those above and below it.
  HWY_INLINE uint16_t around(int level, uint16_t* neighbours, ptrdiff_t group_stride) const {
    if constexpr (kBlockLog == 3) {
      const uint8_t* places = kPlaces.bytes[level - kSteps][0];
      const auto above = hn::Or(hn::TableLookupBytesOr0(bytes_of(lower_[0]), hn::Load(Octets(), places)),
                                hn::TableLookupBytesOr0(bytes_of(upper_[0]), hn::Load(Octets(), places + 16)));
      const auto below = hn::Or(hn::TableLookupBytesOr0(bytes_of(lower_[0]), hn::Load(Octets(), places + 32)),
                                hn::TableLookupBytesOr0(bytes_of(upper_[0]), hn::Load(Octets(), places + 48)));
      const auto larger = hn::Max(hn::BitCast(Wide(), above), hn::BitCast(Wide(), below));
      hn::StoreU(hn::LowerHalf(Four(), larger), Four(), neighbours);
      return hn::ExtractLane(larger, 4);
    } else {
      HWY_ALIGN uint16_t counts[2 * kBlock];
      for (int i = 0; i < kVectors; ++i) {
        hn::Store(lower_[i], Wide(), counts + 8 * i);
        hn::Store(upper_[i], Wide(), counts + kBlock + 8 * i);
      }
      for (int s = 0; s < kSteps; s += 4, neighbours += group_stride) {
        const auto above = hn::LoadU(Four(), counts + level + s + 1);
        const auto below = hn::Reverse(Four(), hn::LoadU(Four(), counts + level - s - 4));
        hn::StoreU(hn::Max(above, below), Four(), neighbours);
      }
      return counts[level];
    }
  }

 private:
  using Wide = hn::FixedTag<uint16_t, 8>;
  using Four = hn::FixedTag<uint16_t, 4>;
  using Bytes = hn::FixedTag<uint8_t, 8>;
  using Octets = hn::FixedTag<uint8_t, 16>;
  static constexpr int kVectors = kBlock / 8;
  // Sliding by a column takes two columns of counts, starting anew the whole window.
  static constexpr int kWorthwhile = 8;

  static HWY_INLINE hn::Vec<Octets> bytes_of(hn::Vec<Wide> v) { return hn::BitCast(Octets(), v); }
  static HWY_INLINE hn::Vec<Wide> load(const uint8_t* from) { return hn::PromoteTo(Wide(), hn::LoadU(Bytes(), from)); }

  HWY_INLINE void slide(hn::Vec<Wide>* sums, const uint8_t* leaving) const {
    for (int i = 0; i < kVectors; ++i) {
      sums[i] = hn::Add(sums[i], hn::Sub(load(leaving + across_ + 8 * i), load(leaving + 8 * i)));
    }
  }

  HWY_INLINE void sum(hn::Vec<Wide>* sums, const uint8_t* column) const {
    for (int i = 0; i < kVectors; ++i) sums[i] = load(column + 8 * i);
    for (const uint8_t* end = column + across_; (column += kBlock) != end;) {
      for (int i = 0; i < kVectors; ++i) sums[i] = hn::Add(sums[i], load(column + 8 * i));
    }
  }

  const CountTable table_;
  const ptrdiff_t across_;
  int x_ = 0, block_ = -1;
  const uint8_t *lower_column_ = nullptr, *upper_column_ = nullptr;
  hn::Vec<Wide> lower_[kVectors], upper_[kVectors];
};

// For each sample with a step that can be seen: its level, how often it occurs, and how often those do that are 1, 2
// ... steps away, above or below, whichever is more: in groups of four.
template <int kBlockLog>
int Collect(const CountTable table, const uint16_t* levels, int lowest, int highest, const Collected out) {
  constexpr int kSteps = Window<kBlockLog>::kSteps;
  const LevelTag d;
  const auto first = hn::Set(d, static_cast<uint16_t>(lowest));
  const auto different = hn::Set(d, static_cast<uint16_t>(highest - lowest + 1));
  Window<kBlockLog> window(table);
  int count = 0;
  for (int x = 0; x < table.width;) {
    const uint32_t bits = bits_of(hn::Lt(hn::Sub(hn::LoadU(d, levels + x), first), different));
    if (bits == 0) {
      x += kStep;
      continue;
    }
    x += static_cast<int>(hwy::Num0BitsBelowLS1Bit_Nonzero32(bits));
    int level = levels[x];
    const int block = (level - kSteps) >> kBlockLog, block_level = block << kBlockLog;
    window.go_to(x, block);
    // As long as the block is the right one, the window moves along. Nothing beyond the row has a level.
    while (true) {
      out.levels[count] = static_cast<uint16_t>(level);
      out.counts[count] = window.around(level - block_level, out.neighbours + 4 * count, out.group_stride);
      ++count;
      level = levels[++x];
      if (level < lowest || level > highest || (level - kSteps) >> kBlockLog != block) break;
      window.advance();
    }
  }
  return count;
}

// weight * own * other / (own + other), the largest over the steps.
void Weigh(const Collected& in, int count, const Steps& steps, const float* reciprocal, float* out) {
  const LevelTag d;
  const hn::Half<LevelTag> half;
  const hn::ScalableTag<float> df;
  const hn::ScalableTag<int32_t> di;
  constexpr int kHalf = kStep / 2;
  for (int i = 0; i < count; i += kStep) {
    const auto level = hn::LoadU(d, in.levels + i), own = hn::LoadU(d, in.counts + i);
    auto largest_low = hn::Zero(df), largest_high = hn::Zero(df);
    const uint16_t* neighbours = in.neighbours + 4 * i;
    for (const Steps::Group& group : steps.groups) {
      hn::Vec<LevelTag> other[4];
      hn::LoadInterleaved4(d, neighbours, other[0], other[1], other[2], other[3]);
      neighbours += in.group_stride;
      for (int s = 0; s < 4; ++s) {
        // Out of range, or none of them: the contrast is zero.
        const auto inside = hn::Lt(hn::Sub(level, hn::Set(d, group.lowest[s])), hn::Set(d, group.count[s]));
        const auto seen = hn::IfThenElseZero(inside, other[s]);
        if (hn::AllTrue(d, hn::Eq(seen, hn::Zero(d)))) continue;
        const auto weigh = [&](auto a, auto b) {
          const auto mine = hn::PromoteTo(di, a), theirs = hn::PromoteTo(di, b);
          const auto weight = hn::Set(di, group.weights[s]);
          const auto product = hn::ConvertTo(df, hn::Mul(weight, hn::Mul(mine, theirs)));
          return hn::Mul(product, hn::GatherIndex(df, reciprocal, hn::Add(mine, theirs)));
        };
        largest_low = hn::Max(largest_low, weigh(hn::LowerHalf(half, own), hn::LowerHalf(half, seen)));
        largest_high = hn::Max(largest_high, weigh(hn::UpperHalf(half, own), hn::UpperHalf(half, seen)));
      }
    }
    hn::StoreU(largest_low, df, out + i);
    hn::StoreU(largest_high, df, out + i + kHalf);
  }
}

void MoveAny(int block_log, const CountTable& table, const uint16_t* entering, const uint16_t* leaving) {
  switch (block_log) {
    case 3:
      return Move<3>(table, entering, leaving);
    case 4:
      return Move<4>(table, entering, leaving);
    case 5:
      return Move<5>(table, entering, leaving);
    default:
      return Move<6>(table, entering, leaving);
  }
}

int Contrasts(const CountTable& table, const Steps& steps, const uint16_t* levels, const Collected& collected,
              const float* reciprocal, float* out) {
  const auto collect = [&](auto function) { return function(table, levels, steps.lowest, steps.highest, collected); };
  const int count = steps.block_log == 3   ? collect(Collect<3>)
                    : steps.block_log == 4 ? collect(Collect<4>)
                    : steps.block_log == 5 ? collect(Collect<5>)
                                           : collect(Collect<6>);
  Weigh(collected, count, steps, reciprocal, out);
  return count;
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::cambi
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::cambi {

HWY_EXPORT(MoveAny);
HWY_EXPORT(Contrasts);

Steps::Steps(const Contrast& contrast) {
  const int reach = std::max(contrast.count, 4);
  while (1 << block_log < 2 * reach) ++block_log;
  levels = {.first = contrast.first_counted, .count = contrast.counted_levels, .first_level = reach, .none = 0};
  const int blocks = (levels.count - 1) / (2 * reach) + 2;
  levels.none = blocks << block_log;
  groups.resize(static_cast<size_t>(reach) / 4);
  lowest = levels.none;
  for (int d = 0; d < contrast.count; ++d) {
    const StepRange& range = contrast.ranges[static_cast<size_t>(d)];
    const int from = std::max(range.lowest, levels.first) - levels.first + reach;
    const int to = range.highest - levels.first + reach;
    if (to < from) continue;
    Group& group = groups[static_cast<size_t>(d) / 4];
    group.weights[d % 4] = contrast.weights[static_cast<size_t>(d)];
    group.lowest[d % 4] = static_cast<uint16_t>(from);
    group.count[d % 4] = static_cast<uint16_t>(to - from + 1);
    lowest = std::min(lowest, from);
    highest = std::max(highest, to);
  }
}

Counts::Counts(const Steps& steps, int most_width, int most_reach) : steps_(steps) {
  // One block more takes the counts of what has no level.
  bytes_.resize(static_cast<size_t>(most_width + 2 * most_reach) *
                static_cast<size_t>(steps.levels.none + (1 << steps.block_log)));
  const auto room = static_cast<ptrdiff_t>(round_up(static_cast<size_t>(most_width) + kBeyond, 32));
  no_levels_.assign(static_cast<size_t>(room), static_cast<uint16_t>(steps.levels.none));
  const auto groups = static_cast<ptrdiff_t>(steps.groups.size());
  collection_.resize(static_cast<size_t>((2 + 4 * groups) * room));
  collected_ = {.levels = collection_.data(),
                .counts = collection_.data() + room,
                .neighbours = collection_.data() + 2 * room,
                .group_stride = 4 * room};
}

size_t Counts::bytes() const { return bytes_.size() + (no_levels_.size() + collection_.size()) * sizeof(uint16_t); }

void Counts::begin(int width, int reach) {
  table_ = {.bytes = bytes_.data(), .columns = width + 2 * reach, .width = width, .reach = reach};
  std::fill_n(bytes_.begin(), table_.columns * steps_.levels.none, uint8_t{0});
}

void Counts::move(const uint16_t* entering, const uint16_t* leaving) {
  const auto given = [&](const uint16_t* row) { return row != nullptr ? row : no_levels_.data(); };
  HWY_DYNAMIC_DISPATCH(MoveAny)(steps_.block_log, table_, given(entering), given(leaving));
}

int Counts::contrasts(const uint16_t* levels, float* out) {
  if (steps_.highest < steps_.lowest) return 0;
  return HWY_DYNAMIC_DISPATCH(Contrasts)(table_, steps_, levels, collected_, reciprocals(), out);
}

const float* reciprocals() {
  static const std::array<float, kMostInWindow + 1> table = [] {
    std::array<float, kMostInWindow + 1> values{};
    for (uint64_t i = 1; i < values.size(); ++i) {
      uint64_t power = 100'000'000;
      while (power / i < 100'000'000) power *= 10;
      const uint64_t digits = (2 * power + i) / (2 * i);
      values[i] = static_cast<float>(static_cast<double>(digits) / static_cast<double>(power));
    }
    return values;
  }();
  return table.data();
}

}  // namespace acuity::cambi
#endif
