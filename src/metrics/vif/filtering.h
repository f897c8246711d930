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

#include "lang/pairs.h"
#include "metrics/vif/filters.h"
#include "metrics/vif/unroll.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::vif {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;

using HalfTag = ShortTag;
using HalfVector = Short;
using NaturalTag = hn::Repartition<uint32_t, WholeTag>;
using NaturalVector = hn::Vec<NaturalTag>;

constexpr int kHalves = 2 * kLanes;
constexpr int32_t kSignBit = INT32_MIN;

HWY_INLINE void add_products(HalfVector pair, HalfVector weights, PairSums& sums) {
#if HWY_TARGET == HWY_AVX3_DL
  // Highway's headers do not ask the compiler for this instruction, though processors of this target have it.
  asm("vpdpwssd %2, %1, %0" : "+v"(sums.first.raw) : "v"(pair.raw), "v"(weights.raw));
#else
  sums.add(pair, weights);
#if HWY_ARCH_X86
  asm("" : "+v"(sums.first.raw));  // or compilers add in another order, for which registers do not suffice
#endif
#endif
}

template <int kScale, int kPair, int kResult>
HWY_INLINE void add_pair(HalfVector pair, PairSums& sums) {
  unroll<2>([&](auto part) INLINED {
    if constexpr (!pair_weights(kScale, kPair, kResult, part).none()) {
      const int32_t packed = kPackedWeights.of[kScale][kPair][kResult][part];
      add_products(pair, hn::BitCast(HalfTag(), hn::Set(WholeTag(), packed)), sums);
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

/// Pairs of samples in columns at even places and at odd ones, of two rows one below the other.
HWY_INLINE HalfVector even_pairs(HalfVector upper, HalfVector lower) {
  return hn::OddEven(as_halves(hn::ShiftLeft<16>(as_whole(lower))), upper);
}
HWY_INLINE HalfVector odd_pairs(HalfVector upper, HalfVector lower) {
  return hn::OddEven(lower, as_halves(hn::ShiftRight<16>(as_whole(upper))));
}

/// Pairs of rows that kRows results are made of.
template <int kScale, int kRows>
inline constexpr int kRowPairs = kRows / 2 + kPairs[kScale] - 1;

/// Filters down: `pairs(i, odd)` are those of rows 2 i and 2 i + 1 of the window. With kStep 2 every other result is
/// left out.
template <int kScale, int kRows, int kStep, class Pairs>
HWY_INLINE void filter_down(const Pairs& pairs, int32_t start, Columns<kRows>& results) {
  PairSums even[kRows], odd[kRows];
  unroll<kRows>([&](auto r) INLINED { even[r] = odd[r] = PairSums(start); });
  unroll<kRowPairs<kScale, kRows>>([&](auto i) INLINED {
    const HalfVector even_pair = pairs(i, false), odd_pair = pairs(i, true);
    unroll<kRows>([&](auto r) INLINED {
      constexpr int kPair = i - r / 2;
      if constexpr (r % kStep == 0 && kPair >= 0 && kPair < kPairs[kScale]) {
        add_pair<kScale, kPair, r % 2>(even_pair, even[r]);
        add_pair<kScale, kPair, r % 2>(odd_pair, odd[r]);
      }
    });
  });
  unroll<kRows>([&](auto r) INLINED {
    results.even[r] = even[r].sum();
    results.odd[r] = odd[r].sum();
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
HWY_INLINE HalfVector signed_samples(HalfVector samples) {
  return sizeof(Sample) == 1 ? samples : less_middle(samples);
}

/// Where pairs of rows are kept while they are filtered in several ways: vectors of even and odd places in turn.
HWY_INLINE HalfVector load_pairs(const int16_t* pairs, int i, bool odd) {
  return hn::Load(HalfTag(), pairs + (2 * i + (odd ? 1 : 0)) * kHalves);
}
template <int kCount, typename Sample>
HWY_INLINE void store_pairs(const Sample* const* rows, int x, int16_t* pairs) {
  for (int i = 0; i < kCount; ++i) {
    const HalfVector upper = load_samples(rows[2 * i] + x), lower = load_samples(rows[2 * i + 1] + x);
    hn::Store(even_pairs(upper, lower), HalfTag(), pairs + 2 * i * kHalves);
    hn::Store(odd_pairs(upper, lower), HalfTag(), pairs + (2 * i + 1) * kHalves);
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
HWY_NOINLINE void filter_mean_down(const int16_t* pairs, int shift, int16_t* to, size_t stride) {
  Columns<kRows> sums;
  const int32_t offset = sizeof(Sample) == 1 ? 0 : kSignBit;
  filter_down<kScale, kRows, kStep>([&](int i, bool odd)
                                        INLINED { return signed_samples<Sample>(load_pairs(pairs, i, odd)); },
                                    offset + half_of(shift), sums);
  unroll<kRows>([&](auto r) INLINED {
    if constexpr (r % kStep == 0) {
      const HalfVector odd = as_halves(hn::ShiftLeftSame(sums.odd[r], 16 - shift));
      hn::StoreU(less_middle(hn::OddEven(odd, as_halves(shift_down(sums.even[r], shift)))), HalfTag(),
                 to + static_cast<size_t>(r) * stride);
    }
  });
}

/// Moments of second order: upper halves of rows to `to`, `stride` apart, lower halves `half_stride` behind them.
template <int kScale, int kRows, typename Sample>
HWY_NOINLINE void filter_product_down(const int16_t* a, const int16_t* b, int shift, int16_t* to, size_t half_stride,
                                      size_t stride) {
  Columns<kRows> sums;
  const auto lower = [&](int i, bool odd)
                         INLINED { return lower_product(load_pairs(a, i, odd), load_pairs(b, i, odd)); };
  filter_down<kScale, kRows, 1>(lower, kSignBit + half_of(shift), sums);
  if constexpr (sizeof(Sample) == 2) {
    const auto upper = [&](int i, bool odd)
                           INLINED { return upper_product(load_pairs(a, i, odd), load_pairs(b, i, odd)); };
    Columns<kRows> tops;
    filter_down<kScale, kRows, 1>(upper, kSignBit, tops);
    const auto join = [&](WholeVector top, WholeVector bottom)
                          HWY_ATTR { return hn::Add(hn::ShiftLeftSame(top, 16 - shift), shift_down(bottom, shift)); };
    unroll<kRows>([&](auto r) INLINED {
      sums.even[r] = join(tops.even[r], sums.even[r]);
      sums.odd[r] = join(tops.odd[r], sums.odd[r]);
    });
  }
  unroll<kRows>([&](auto r) INLINED {
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
                                    const Shifts& shifts, int16_t* pairs, int16_t* to, size_t units) {
  constexpr int kCount = kRowPairs<kScale, kRows>;
  int16_t* const a = pairs;
  int16_t* const b = pairs + 2 * kCount * kHalves;
  store_pairs<kCount>(reference, x, a);
  store_pairs<kCount>(distorted, x, b);
  filter_mean_down<kScale, kRows, 1, Sample>(a, shifts.mean, to, 8 * units);
  filter_mean_down<kScale, kRows, 1, Sample>(b, shifts.mean, to + units, 8 * units);
  filter_product_down<kScale, kRows, Sample>(a, a, shifts.square, to + 2 * units, units, 8 * units);
  filter_product_down<kScale, kRows, Sample>(b, b, shifts.square, to + 4 * units, units, 8 * units);
  filter_product_down<kScale, kRows, Sample>(a, b, shifts.square, to + 6 * units, units, 8 * units);
}

/// Filters kRows rows across, which lie `units` apart: results at the places x, x + 2 .. and x + 1, x + 3 .. Several
/// rows share the loads of the weights, which cost as much as the products.
template <int kScale, int kRows>
HWY_INLINE void filter_across(const int16_t* rows, size_t units, int x, const int32_t (&starts)[kRows],
                              NaturalVector (*results)[2]) {
  PairSums sums[kRows][2];
  unroll<kRows>([&](auto r) INLINED { sums[r][0] = sums[r][1] = PairSums(starts[r]); });
  unroll<kPairs[kScale]>([&](auto i) INLINED {
    unroll<kRows>([&](auto r) INLINED {
      const HalfVector pairs = hn::LoadU(HalfTag(), rows + r * units + x + 2 * i - kReach[kScale]);
      add_pair<kScale, i, 0>(pairs, sums[r][0]);
      add_pair<kScale, i, 1>(pairs, sums[r][1]);
    });
  });
  unroll<kRows>([&](auto r) INLINED {
    results[r][0] = hn::BitCast(NaturalTag(), sums[r][0].sum());
    results[r][1] = hn::BitCast(NaturalTag(), sums[r][1].sum());
  });
}

/// Filters a row of means across and keeps the samples at even places: `count` of them and up to a vector more.
template <int kScale>
HWY_INLINE void halve_row(const int16_t* row, int count, uint16_t* to) {
  for (int x = 0; x < count; x += kLanes) {
    PairSums sums(kSignBit + 32768);
    unroll<kPairs[kScale]>([&](auto i) INLINED {
      add_pair<kScale, i, 0>(hn::LoadU(HalfTag(), row + 2 * x + 2 * i - kReach[kScale]), sums);
    });
    const hn::Rebind<uint16_t, WholeTag> d;
    hn::StoreU(hn::DemoteTo(d, shift_down(sums.sum(), 16)), d, to + x);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::vif
HWY_AFTER_NAMESPACE();

#endif
