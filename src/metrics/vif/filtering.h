// SPDX-License-Identifier: BSD-2-Clause-Patent
// Windows of whole numbers, on vectors. Include after lang/cpu.h.
//
// Products are of signed 16 bits, two of them added into 32. Samples of 16 bits without a sign are stored less 32768,
// which the weights' sum of 65536 turns into 2^31 of a result; sums are right modulo 2^32, and the true ones fit. A
// moment of 32 bits is filtered as two of 16: its upper and its lower half.
#if defined(ACUITY_METRICS_VIF_FILTERING_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ACUITY_METRICS_VIF_FILTERING_H
#undef ACUITY_METRICS_VIF_FILTERING_H
#else
#define ACUITY_METRICS_VIF_FILTERING_H
#endif

#include <type_traits>
#include <utility>

#include "metrics/vif/filters.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::vif {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;

using HalfTag = hn::Repartition<int16_t, WholeTag>;
using HalfVector = hn::Vec<HalfTag>;
using NaturalTag = hn::Repartition<uint32_t, WholeTag>;
using NaturalVector = hn::Vec<NaturalTag>;

constexpr int kHalves = 2 * kLanes;
constexpr int32_t kSignBit = INT32_MIN;

template <int... kIndex, class Step>
HWY_INLINE void unroll(std::integer_sequence<int, kIndex...>, const Step& step) {
  (step(std::integral_constant<int, kIndex>()), ...);
}
/// step(0), step(1) .. step(kCount - 1), each known when compiling.
template <int kCount, class Step>
HWY_INLINE void unroll(const Step& step) {
  unroll(std::make_integer_sequence<int, kCount>(), step);
}

/// 32-bit sums of pairs of products; how they lie in the two vectors is the processor's affair until value().
struct PairSums {
  WholeVector a, b;
  PairSums() = default;
  HWY_INLINE explicit PairSums(WholeVector start) : a(start), b(hn::Zero(WholeTag())) {}
  HWY_INLINE WholeVector value() const { return hn::RearrangeToOddPlusEven(a, b); }
};

template <int kScale, int kPair, int kResult>
HWY_INLINE void add_pair(HalfVector pair, PairSums& sums) {
  unroll<2>([&](auto part) HWY_ATTR {
    constexpr PairWeights kPairWeights = pair_weights(kScale, kPair, kResult, part);
    if constexpr (!kPairWeights.none()) {
      const HalfVector weights = hn::BitCast(HalfTag(), hn::Set(WholeTag(), kPairWeights.packed()));
      sums.a = hn::ReorderWidenMulAccumulate(WholeTag(), pair, weights, sums.a, sums.b);
    }
  });
}

HWY_INLINE WholeVector as_whole(HalfVector v) { return hn::BitCast(WholeTag(), v); }
HWY_INLINE HalfVector as_halves(WholeVector v) { return hn::BitCast(HalfTag(), v); }
HWY_INLINE WholeVector shift_down(WholeVector v, int bits) {
  return hn::BitCast(WholeTag(), hn::ShiftRightSame(hn::BitCast(NaturalTag(), v), bits));
}

/// Results of columns at even places and of those at odd ones, in 32 bits.
template <int kRows>
struct Columns {
  WholeVector even[kRows], odd[kRows];
};

/// Filters down: `rows(i)` is what row i of the window holds; results are as many rows, or with kStep 2 every other.
template <int kScale, int kRows, int kStep, class Rows>
HWY_INLINE void filter_down(const Rows& rows, int32_t start, Columns<kRows>& results) {
  PairSums even[kRows], odd[kRows];
  unroll<kRows>([&](auto r) HWY_ATTR { even[r] = odd[r] = PairSums(hn::Set(WholeTag(), start)); });
  unroll<kRows / 2 + kPairs[kScale] - 1>([&](auto i) HWY_ATTR {
    const HalfVector upper = rows(2 * i), lower = rows(2 * i + 1);
    const HalfVector even_pair = hn::OddEven(as_halves(hn::ShiftLeft<16>(as_whole(lower))), upper);
    const HalfVector odd_pair = hn::OddEven(lower, as_halves(hn::ShiftRight<16>(as_whole(upper))));
    unroll<kRows>([&](auto r) HWY_ATTR {
      constexpr int kPair = i - r / 2;
      if constexpr (r % kStep == 0 && kPair >= 0 && kPair < kPairs[kScale]) {
        add_pair<kScale, kPair, r % 2>(even_pair, even[r]);
        add_pair<kScale, kPair, r % 2>(odd_pair, odd[r]);
      }
    });
  });
  unroll<kRows>([&](auto r) HWY_ATTR {
    results.even[r] = even[r].value();
    results.odd[r] = odd[r].value();
  });
}

/// By how many bits filtered values are cut, rounded.
struct Shifts {
  int mean = 0;
  int square = 0;
};
constexpr Shifts shifts_of(int scale, int depth) {
  return scale == 0 ? Shifts{depth, 2 * (depth - 8)} : Shifts{16, 16};
}
constexpr int32_t half_of(int bits) { return bits == 0 ? 0 : 1 << (bits - 1); }

HWY_INLINE HalfVector load_samples(const uint8_t* from) {
  return hn::PromoteTo(HalfTag(), hn::LoadU(hn::Rebind<uint8_t, HalfTag>(), from));
}
HWY_INLINE HalfVector load_samples(const uint16_t* from) {
  return hn::BitCast(HalfTag(), hn::LoadU(hn::Repartition<uint16_t, WholeTag>(), from));
}
HWY_INLINE HalfVector less_middle(HalfVector v) { return hn::Xor(v, hn::Set(HalfTag(), INT16_MIN)); }
template <typename Sample>
HWY_INLINE HalfVector signed_samples(const Sample* from) {
  if constexpr (sizeof(Sample) == 1) {
    return load_samples(from);
  } else {
    return less_middle(load_samples(from));
  }
}

/// What 16-bit samples without a sign come to is kept in the lower half of a sum of products.
HWY_INLINE HalfVector upper_product(HalfVector a, HalfVector b) {
  const hn::RebindToUnsigned<HalfTag> d;
  return less_middle(hn::BitCast(HalfTag(), hn::MulHigh(hn::BitCast(d, a), hn::BitCast(d, b))));
}
HWY_INLINE HalfVector lower_product(HalfVector a, HalfVector b) { return less_middle(hn::Mul(a, b)); }

/// Every kStep-th row of means goes to `to`, `stride` apart.
template <int kScale, int kRows, int kStep, typename Sample>
HWY_INLINE void filter_mean_down(const Sample* const* rows, int x, int shift, int16_t* to, size_t stride) {
  Columns<kRows> sums;
  const int32_t offset = sizeof(Sample) == 1 ? 0 : kSignBit;
  filter_down<kScale, kRows, kStep>([&](int i) HWY_ATTR { return signed_samples(rows[i] + x); },
                                    offset + half_of(shift), sums);
  unroll<kRows>([&](auto r) HWY_ATTR {
    if constexpr (r % kStep == 0) {
      const HalfVector odd = as_halves(hn::ShiftLeftSame(sums.odd[r], 16 - shift));
      hn::StoreU(less_middle(hn::OddEven(odd, as_halves(shift_down(sums.even[r], shift)))), HalfTag(),
                 to + static_cast<size_t>(r) * stride);
    }
  });
}

/// Moments of second order: upper halves of rows to `to`, `stride` apart, lower halves `half_stride` behind them.
template <int kScale, int kRows, typename Sample>
HWY_INLINE void filter_product_down(const Sample* const* a, const Sample* const* b, int x, int shift, int16_t* to,
                                    size_t half_stride, size_t stride) {
  Columns<kRows> sums;
  const auto lower = [&](int i) HWY_ATTR { return lower_product(load_samples(a[i] + x), load_samples(b[i] + x)); };
  filter_down<kScale, kRows, 1>(lower, kSignBit + half_of(shift), sums);
  if constexpr (sizeof(Sample) == 2) {
    const auto upper = [&](int i) HWY_ATTR { return upper_product(load_samples(a[i] + x), load_samples(b[i] + x)); };
    Columns<kRows> tops;
    filter_down<kScale, kRows, 1>(upper, kSignBit, tops);
    const auto join = [&](WholeVector top, WholeVector bottom)
                          HWY_ATTR { return hn::Add(hn::ShiftLeftSame(top, 16 - shift), shift_down(bottom, shift)); };
    unroll<kRows>([&](auto r) HWY_ATTR {
      sums.even[r] = join(tops.even[r], sums.even[r]);
      sums.odd[r] = join(tops.odd[r], sums.odd[r]);
    });
  }
  unroll<kRows>([&](auto r) HWY_ATTR {
    int16_t* const row = to + static_cast<size_t>(r) * stride;
    const WholeVector even = sums.even[r], odd = sums.odd[r];
    hn::StoreU(less_middle(hn::OddEven(as_halves(odd), as_halves(hn::ShiftRight<16>(even)))), HalfTag(), row);
    hn::StoreU(less_middle(hn::OddEven(as_halves(hn::ShiftLeft<16>(odd)), as_halves(even))), HalfTag(),
               row + half_stride);
  });
}

/// The eight moments of kRows rows from column x on, `units` apart: both means, then upper and lower halves of the
/// squares of the reference, those of the distorted picture, and the products.
template <int kScale, int kRows, typename Sample>
HWY_INLINE void filter_moments_down(const Sample* const* reference, const Sample* const* distorted, int x,
                                    const Shifts& shifts, int16_t* to, size_t units) {
  filter_mean_down<kScale, kRows, 1>(reference, x, shifts.mean, to, 8 * units);
  filter_mean_down<kScale, kRows, 1>(distorted, x, shifts.mean, to + units, 8 * units);
  filter_product_down<kScale, kRows>(reference, reference, x, shifts.square, to + 2 * units, units, 8 * units);
  filter_product_down<kScale, kRows>(distorted, distorted, x, shifts.square, to + 4 * units, units, 8 * units);
  filter_product_down<kScale, kRows>(reference, distorted, x, shifts.square, to + 6 * units, units, 8 * units);
}

/// Filters across: results at the places x, x + 2 .. and x + 1, x + 3 ..
template <int kScale>
HWY_INLINE void filter_across(const int16_t* row, int x, int32_t start, NaturalVector& even, NaturalVector& odd) {
  PairSums evens(hn::Set(WholeTag(), start)), odds(hn::Set(WholeTag(), start));
  unroll<kPairs[kScale]>([&](auto i) HWY_ATTR {
    const HalfVector pair = hn::LoadU(HalfTag(), row + x + 2 * i - kReach[kScale]);
    add_pair<kScale, i, 0>(pair, evens);
    add_pair<kScale, i, 1>(pair, odds);
  });
  even = hn::BitCast(NaturalTag(), evens.value());
  odd = hn::BitCast(NaturalTag(), odds.value());
}

/// Filters a row of means across and keeps the samples at even places: `count` of them and up to a vector more.
template <int kScale>
HWY_INLINE void halve_row(const int16_t* row, int count, uint16_t* to) {
  for (int x = 0; x < count; x += kLanes) {
    PairSums sums(hn::Set(WholeTag(), kSignBit + 32768));
    unroll<kPairs[kScale]>([&](auto i) HWY_ATTR {
      add_pair<kScale, i, 0>(hn::LoadU(HalfTag(), row + 2 * x + 2 * i - kReach[kScale]), sums);
    });
    const hn::Rebind<uint16_t, WholeTag> d;
    hn::StoreU(hn::DemoteTo(d, shift_down(sums.value(), 16)), d, to + x);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::vif
HWY_AFTER_NAMESPACE();

#endif
