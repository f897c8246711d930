// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/adm/wavelet.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/adm/wavelet.cc"
#include <hwy/foreach_target.h>

#include <hwy/cache_control.h>

#include "metrics/adm/lanes.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::adm {
namespace HWY_NAMESPACE {
constexpr int kHigh[4] = {-4240, -7345, 27411, -15826};
constexpr int kLowSum = 46342;

HWY_INLINE Short pair_of(int first, int second) {
  const uint32_t both = static_cast<uint32_t>(first & 0xFFFF) | static_cast<uint32_t>(second) << 16;
  return hn::BitCast(ShortTag(), hn::Set(LongTag(), static_cast<int32_t>(both)));
}

// One of the two filters: its taps 0 and 1, and 2 and 3.
struct Filter {
  Short first;
  Short second;
  HWY_INLINE explicit Filter(const int* taps) : first(pair_of(taps[0], taps[1])), second(pair_of(taps[2], taps[3])) {}
  HWY_INLINE Long operator()(Short pair01, Short pair23) const {
    return hn::Add(multiply_pairs(pair01, first), multiply_pairs(pair23, second));
  }
};

// Four rows as pairs, in the two halves that interleaving makes of each block of 128 bits; packing undoes that.
struct Pairs {
  Short lower01, lower23, upper01, upper23;
  HWY_INLINE Pairs(Short s0, Short s1, Short s2, Short s3) {
    const ShortTag d;
    lower01 = hn::InterleaveLower(d, s0, s1);
    lower23 = hn::InterleaveLower(d, s2, s3);
    upper01 = hn::InterleaveUpper(d, s0, s1);
    upper23 = hn::InterleaveUpper(d, s2, s3);
  }
  HWY_INLINE Long lower(const Filter& filter) const { return filter(lower01, lower23); }
  HWY_INLINE Long upper(const Filter& filter) const { return filter(upper01, upper23); }
};

HWY_INLINE Long upper_part(Long value) { return hn::ShiftRight<16>(value); }
HWY_INLINE Long lower_part(Long value) {
  return hn::ShiftRight<16>(hn::ShiftLeft<16>(hn::Xor(value, hn::Set(LongTag(), 0x8000))));
}

HWY_INLINE void store_split(Long lower, Long upper, SplitRow to, int x) {
  hn::Store(pack(upper_part(lower), upper_part(upper)), ShortTag(), to.upper + x);
  hn::Store(pack(lower_part(lower), lower_part(upper)), ShortTag(), to.lower + x);
}

// Samples counted from the middle of their range.
HWY_INLINE Short load_samples(const uint8_t* from, int /*depth*/) {
  const hn::Rebind<uint8_t, ShortTag> bytes;
  return hn::Sub(hn::PromoteTo(ShortTag(), hn::LoadU(bytes, from)), hn::Set(ShortTag(), 128));
}
HWY_INLINE Short load_samples(const uint16_t* from, int depth) {
  const auto middle = hn::Set(ShortTag(), static_cast<int16_t>(static_cast<uint16_t>(1u << (depth - 1))));
  return hn::Sub(hn::BitCast(ShortTag(), hn::LoadU(hn::RebindToUnsigned<ShortTag>(), from)), middle);
}

HWY_INLINE Short round_and_pack(Long lower, Long upper, int bits) {
  const Long half = hn::Set(LongTag(), 1 << (bits - 1));
  return pack(hn::ShiftRightSame(hn::Add(lower, half), bits), hn::ShiftRightSame(hn::Add(upper, half), bits));
}

template <class Sample>
HWY_INLINE void filter_group(const std::array<const Sample*, 4>& rows, int depth, int16_t* low, int16_t* high) {
  const Pairs pairs(load_samples(rows[0], depth), load_samples(rows[1], depth), load_samples(rows[2], depth),
                    load_samples(rows[3], depth));
  const Filter low_filter(kLow), high_filter(kHigh);
  hn::Store(round_and_pack(pairs.lower(low_filter), pairs.upper(low_filter), depth), ShortTag(), low);
  if (high == nullptr) return;
  hn::Store(round_and_pack(pairs.lower(high_filter), pairs.upper(high_filter), depth), ShortTag(), high);
}

template <class Sample>
HWY_INLINE void filter_samples_of(const SampleRows& samples, int begin, int end, int16_t* low, int16_t* high) {
  std::array<const Sample*, 4> rows;
  for (size_t i = 0; i < 4; ++i) rows[i] = reinterpret_cast<const Sample*>(samples.rows[i]);
  int x = begin;
  for (; x < end && x + kShorts <= samples.width; x += kShorts) {
    for (const std::byte* row : samples.ahead) {
      if (row != nullptr) hwy::Prefetch(reinterpret_cast<const Sample*>(row) + x);
    }
    filter_group<Sample>({rows[0] + x, rows[1] + x, rows[2] + x, rows[3] + x}, samples.depth, low + x,
                         high == nullptr ? nullptr : high + x);
  }
  if (x >= end) return;
  // Nothing may be read past the end of the picture.
  Sample last[4][kShorts] = {};
  for (size_t i = 0; i < 4; ++i) std::copy(rows[i] + x, rows[i] + samples.width, last[i]);
  filter_group<Sample>({last[0], last[1], last[2], last[3]}, samples.depth, low + x,
                       high == nullptr ? nullptr : high + x);
}

void FilterSamples(const SampleRows& samples, int begin, int end, int16_t* low, int16_t* high) {
  if (samples.depth == 8) {
    filter_samples_of<uint8_t>(samples, begin, end, low, high);
  } else {
    filter_samples_of<uint16_t>(samples, begin, end, low, high);
  }
}

void FilterRows(const std::array<const int16_t*, 4>& rows, int begin, int end, SplitRow low, SplitRow high) {
  const ShortTag d;
  const Filter low_filter(kLow), high_filter(kHigh);
  for (int x = begin; x < end; x += kShorts) {
    const Pairs pairs(hn::Load(d, rows[0] + x), hn::Load(d, rows[1] + x), hn::Load(d, rows[2] + x),
                      hn::Load(d, rows[3] + x));
    store_split(pairs.lower(low_filter), pairs.upper(low_filter), low, x);
    store_split(pairs.lower(high_filter), pairs.upper(high_filter), high, x);
  }
}

// A filter's sum over split numbers, divided by 2^16 or 2^15 and rounded: 32768 times the sum of the taps is missing in
// what the lower parts come to.
template <bool by_16_bits>
HWY_INLINE Long join(Long upper, Long lower, int taps_sum) {
  const LongTag d;
  if constexpr (by_16_bits) {
    const Long rest = hn::ShiftRight<16>(hn::Add(lower, hn::Set(d, 1 << 15)));
    return hn::Add(hn::Add(upper, hn::Set(d, taps_sum / 2)), rest);
  } else {
    const Long rest = hn::ShiftRight<15>(hn::Add(lower, hn::Set(d, 1 << 14)));
    return hn::Add(hn::Add(hn::Add(upper, upper), hn::Set(d, taps_sum)), rest);
  }
}

void FilterSplitRows(const std::array<SplitRow, 4>& rows, int begin, int end, SplitRow low, SplitRow high) {
  const ShortTag d;
  const Filter low_filter(kLow), high_filter(kHigh);
  for (int x = begin; x < end; x += kShorts) {
    const Pairs upper(hn::Load(d, rows[0].upper + x), hn::Load(d, rows[1].upper + x), hn::Load(d, rows[2].upper + x),
                      hn::Load(d, rows[3].upper + x));
    const Pairs lower(hn::Load(d, rows[0].lower + x), hn::Load(d, rows[1].lower + x), hn::Load(d, rows[2].lower + x),
                      hn::Load(d, rows[3].lower + x));
    store_split(join<true>(upper.lower(low_filter), lower.lower(low_filter), kLowSum),
                join<true>(upper.upper(low_filter), lower.upper(low_filter), kLowSum), low, x);
    store_split(join<true>(upper.lower(high_filter), lower.lower(high_filter), 0),
                join<true>(upper.upper(high_filter), lower.upper(high_filter), 0), high, x);
  }
}

// The neighbours of an output column are pairs already where they are read from the column before its own.
struct ColumnPairs {
  Short first, second;
  HWY_INLINE ColumnPairs(const int16_t* row, int column)
      : first(hn::LoadU(ShortTag(), row + 2 * column - 1)), second(hn::LoadU(ShortTag(), row + 2 * column + 1)) {}
  HWY_INLINE Long operator()(const Filter& filter) const { return filter(first, second); }
};

HWY_INLINE void store_rounded(Long value, int16_t* to) {
  const Long rounded = hn::ShiftRight<16>(hn::Add(value, hn::Set(LongTag(), 1 << 15)));
  hn::Store(hn::DemoteTo(HalfShortTag(), rounded), HalfShortTag(), to);
}

void FilterColumns(const int16_t* low, const int16_t* high, int begin, int end, int16_t* approximation,
                   const std::array<int16_t*, 3>& details) {
  const Filter low_filter(kLow), high_filter(kHigh);
  if (details[0] == nullptr) {
    for (int x = begin; x < end; x += kLongs) store_rounded(ColumnPairs(low, x)(low_filter), approximation + x);
    return;
  }
  for (int x = begin; x < end; x += kLongs) {
    const ColumnPairs from_low(low, x), from_high(high, x);
    store_rounded(from_low(low_filter), approximation + x);
    store_rounded(from_high(low_filter), details[0] + x);
    store_rounded(from_low(high_filter), details[1] + x);
    store_rounded(from_high(high_filter), details[2] + x);
  }
}

template <bool by_16_bits>
HWY_INLINE void filter_split_columns_by(SplitRow low, SplitRow high, int begin, int end, SplitRow approximation,
                                        const std::array<int32_t*, 3>& details) {
  const LongTag d;
  const HalfShortTag half;
  const Filter low_filter(kLow), high_filter(kHigh);
  for (int x = begin; x < end; x += kLongs) {
    const ColumnPairs low_upper(low.upper, x), low_lower(low.lower, x), high_upper(high.upper, x),
        high_lower(high.lower, x);
    hn::Store(join<by_16_bits>(high_upper(low_filter), high_lower(low_filter), kLowSum), d, details[0] + x);
    hn::Store(join<by_16_bits>(low_upper(high_filter), low_lower(high_filter), 0), d, details[1] + x);
    hn::Store(join<by_16_bits>(high_upper(high_filter), high_lower(high_filter), 0), d, details[2] + x);
    if (approximation.upper == nullptr) continue;
    const Long value = join<by_16_bits>(low_upper(low_filter), low_lower(low_filter), kLowSum);
    hn::Store(hn::DemoteTo(half, upper_part(value)), half, approximation.upper + x);
    hn::Store(hn::DemoteTo(half, lower_part(value)), half, approximation.lower + x);
  }
}

void FilterSplitColumns(SplitRow low, SplitRow high, bool by_16_bits, int begin, int end, SplitRow approximation,
                        const std::array<int32_t*, 3>& details) {
  if (by_16_bits) {
    filter_split_columns_by<true>(low, high, begin, end, approximation, details);
  } else {
    filter_split_columns_by<false>(low, high, begin, end, approximation, details);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::adm
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::adm {

HWY_EXPORT(FilterSamples);
HWY_EXPORT(FilterRows);
HWY_EXPORT(FilterSplitRows);
HWY_EXPORT(FilterColumns);
HWY_EXPORT(FilterSplitColumns);

void filter_samples(const SampleRows& samples, int begin, int end, int16_t* low, int16_t* high) {
  HWY_DYNAMIC_DISPATCH(FilterSamples)(samples, begin, end, low, high);
}

void filter_rows(const std::array<const int16_t*, 4>& rows, int begin, int end, SplitRow low, SplitRow high) {
  HWY_DYNAMIC_DISPATCH(FilterRows)(rows, begin, end, low, high);
}

void filter_split_rows(const std::array<SplitRow, 4>& rows, int begin, int end, SplitRow low, SplitRow high) {
  HWY_DYNAMIC_DISPATCH(FilterSplitRows)(rows, begin, end, low, high);
}

void filter_columns(const int16_t* low, const int16_t* high, int begin, int end, int16_t* approximation,
                    const std::array<int16_t*, 3>& details) {
  HWY_DYNAMIC_DISPATCH(FilterColumns)(low, high, begin, end, approximation, details);
}

void filter_split_columns(SplitRow low, SplitRow high, bool by_16_bits, int begin, int end, SplitRow approximation,
                          const std::array<int32_t*, 3>& details) {
  HWY_DYNAMIC_DISPATCH(FilterSplitColumns)(low, high, by_16_bits, begin, end, approximation, details);
}

}  // namespace acuity::adm
#endif
