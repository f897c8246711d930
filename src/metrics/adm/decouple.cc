// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/adm/decouple.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/adm/decouple.cc"
#include <hwy/foreach_target.h>

#include "metrics/adm/lanes.h"

#ifndef ACUITY_METRICS_ADM_DECOUPLE_ONCE
#define ACUITY_METRICS_ADM_DECOUPLE_ONCE
namespace acuity::adm {

constexpr float kCosineOfOneDegreeSquared = 0.9996954135095479f;

// Whether two directions differ by less than a degree. How it is rounded is part of the definition.
template <typename T>
bool has_same_direction(T oh, T ov, T th, T tv) {
  const auto scaled = [](int64_t value) { return static_cast<double>(static_cast<float>(value)) / 4096.0; };
  const double dot = scaled(int64_t{oh} * th + int64_t{ov} * tv);
  const double o_square = scaled(int64_t{oh} * oh + int64_t{ov} * ov);
  const double t_square = scaled(int64_t{th} * th + int64_t{tv} * tv);
  return dot >= 0 && dot * dot >= static_cast<double>(kCosineOfOneDegreeSquared) * o_square * t_square;
}

// Weighed details beyond this have more influence on their own place than 16 bits hold.
constexpr int16_t kLargeWeighed = 15359;

inline int wrapped(int value) { return static_cast<int16_t>(value); }

// The influence of one part of the details in columns from begin to end, each computed as the rule says.
inline void weigh_last_columns(const Subbands<int16_t>& parts, int begin, int end, const DecoupleRule& rule,
                               Influence to) {
  for (int x = begin; x < end; ++x) {
    const bool saturates = x < rule.saturated_columns, is_wide = x < rule.wide_columns;
    int around_sum = 0, centre_sum = 0;
    for (size_t b = 0; b < kSubbands; ++b) {
      const int product = parts[b][x] * static_cast<int>(rule.factors[b]);
      const int weighed = b < 2 ? (product + 16384) >> 15 : (product + 65535) >> 17;
      const int size = std::abs(saturates ? std::clamp(weighed, -32768, 32767) : wrapped(weighed));
      const int around = (4369 * size + 2048) >> 12, centre = (8738 * size + 2048) >> 12;
      around_sum += saturates ? std::min(around, 32767) : wrapped(around);
      centre_sum += is_wide ? centre : wrapped(centre);
    }
    to.around[x] = around_sum;
    to.centre[x] = centre_sum - around_sum;
  }
}

}  // namespace acuity::adm
#endif

HWY_BEFORE_NAMESPACE();
namespace acuity::adm {
namespace HWY_NAMESPACE {

// The lower halves of the one in even lanes, those of the other in odd ones.
HWY_INLINE Unsigned interleave(Wide even, Wide odd) {
  const UnsignedTag d;
  return hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
}

// ---- Directions ----

// Compares (o.t)^2 with c o^2 t^2 in float; `margin` is how far they must be apart, in parts of the latter, for that to
// be sure. All lanes of `unsure` are false otherwise.
struct Directions {
  hn::Mask<FloatTag> same;
  hn::Mask<FloatTag> unsure;
};
HWY_INLINE Directions compare_directions(Float dot, Float o_square, Float t_square, float margin) {
  const FloatTag d;
  const Float bound = hn::Mul(hn::Mul(hn::Set(d, kCosineOfOneDegreeSquared), o_square), t_square);
  const Float above = hn::Sub(hn::Mul(dot, dot), bound);
  const auto zero = hn::Zero(d);
  return {hn::And(hn::Ge(dot, zero), hn::Ge(above, zero)), hn::Lt(hn::Abs(above), hn::Mul(bound, hn::Set(d, margin)))};
}

template <typename T>
HWY_NOINLINE void compare_exactly(const Subbands<T>& reference, const Subbands<T>& distorted, int x, int count,
                                  T* same) {
  for (int i = x; i < x + count; ++i) {
    const bool is = has_same_direction(reference[0][i], reference[1][i], distorted[0][i], distorted[1][i]);
    same[i - x] = is ? -1 : 0;
  }
}

// -1 where horizontal and vertical details have the same direction, 0 elsewhere.
HWY_INLINE Short same_direction(const Subbands<int16_t>& reference, const Subbands<int16_t>& distorted, int x) {
  const ShortTag d;
  const LongTag dl;
  const FloatTag df;
  const Short oh = hn::Load(d, reference[0] + x), ov = hn::Load(d, reference[1] + x);
  const Short th = hn::Load(d, distorted[0] + x), tv = hn::Load(d, distorted[1] + x);
  const auto compare = [&](Short o, Short t) {
    const auto product = [&](Short a, Short b) { return hn::ConvertTo(df, multiply_pairs(a, b)); };
    return compare_directions(product(o, t), product(o, o), product(t, t), 0x1p-20f);
  };
  const Directions lower = compare(hn::InterleaveLower(d, oh, ov), hn::InterleaveLower(d, th, tv));
  const Directions upper = compare(hn::InterleaveUpper(d, oh, ov), hn::InterleaveUpper(d, th, tv));
  if (HWY_UNLIKELY(!hn::AllFalse(df, hn::Or(lower.unsure, upper.unsure)))) {
    alignas(64) int16_t exact[kShorts];
    compare_exactly(reference, distorted, x, kShorts, exact);
    return hn::Load(d, exact);
  }
  const auto vector = [&](const Directions& directions) {
    return hn::BitCast(dl, hn::VecFromMask(df, directions.same));
  };
  return pack(vector(lower), vector(upper));
}

HWY_INLINE Long same_direction(const Subbands<int32_t>& reference, const Subbands<int32_t>& distorted, int x) {
  const LongTag d;
  const FloatTag df;
  const auto load = [&](const int32_t* row) { return hn::ConvertTo(df, hn::Load(d, row + x)); };
  const Float oh = load(reference[0]), ov = load(reference[1]), th = load(distorted[0]), tv = load(distorted[1]);
  const auto product = [](Float ah, Float av, Float bh, Float bv) { return hn::Add(hn::Mul(ah, bh), hn::Mul(av, bv)); };
  const Directions directions =
      compare_directions(product(oh, ov, th, tv), product(oh, ov, oh, ov), product(th, tv, th, tv), 0x1p-18f);
  if (HWY_UNLIKELY(!hn::AllFalse(df, directions.unsure))) {
    alignas(64) int32_t exact[kLongs];
    compare_exactly(reference, distorted, x, kLongs, exact);
    return hn::Load(d, exact);
  }
  return hn::BitCast(d, hn::VecFromMask(df, directions.same));
}

// ---- Decoupling ----

// How far details may grow, of 16 or 32 bit. They are so small that 100 times as much, cut off where the type ends, is
// still more than there can be of others.
template <class V>
struct Gain {
  using D = hn::DFromV<V>;
  using T = hn::TFromD<D>;
  static constexpr T kMost = std::numeric_limits<T>::max();
  double value;
  bool is_whole;
  V whole, most;

  HWY_INLINE explicit Gain(double gain)
      : value(gain),
        is_whole(gain == std::floor(gain)),
        whole(hn::Set(D(), static_cast<T>(gain))),
        most(hn::Set(D(), static_cast<T>(kMost / static_cast<T>(gain)))) {}
  /// Products in the first `rounded` lanes are rounded, the others have their fractions cut off.
  HWY_INLINE V operator()(V details, int rounded) const {
    return HWY_LIKELY(is_whole) ? hn::Mul(hn::Min(hn::Max(details, hn::Neg(most)), most), whole)
                                : fraction(details, rounded);
  }

 private:
  HWY_NOINLINE V fraction(V details, int rounded) const {
    constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
    alignas(64) T lanes[kLanes];
    hn::Store(details, D(), lanes);
    for (int i = 0; i < kLanes; ++i) {
      const double product = std::clamp(static_cast<double>(lanes[i]) * value, -double{kMost}, double{kMost});
      lanes[i] = static_cast<T>(i < rounded ? std::nearbyint(product) : product);
    }
    return hn::Load(D(), lanes);
  }
};

// 2^30 / x without its fraction, for x from 16385 to 32768.
HWY_INLINE Unsigned reciprocal(Unsigned x) {
  const LongTag d;
  const FloatTag df;
  const Long divisor = to_signed(x);
  const Float ratio = hn::Div(hn::Set(df, 0x1p30f), hn::ConvertTo(df, divisor));
  // Its last bits count whole numbers after that addition.
  const Long nearest = hn::Sub(hn::BitCast(d, hn::Add(ratio, hn::Set(df, 0x1p23f))), hn::Set(d, 0x4B000000));
  const Long rest = hn::Sub(hn::Set(d, 1 << 30), hn::Mul(nearest, divisor));
  return to_unsigned(hn::Add(nearest, hn::ShiftRight<31>(rest)));  // one less where that is too much
}

// What is left of details o in details t, by the reference's arithmetic: a quotient of 15 bit after a divisor of 15
// bit, and the product with that. Up to 16384 both are exact enough for t itself to come out.
HWY_INLINE Long restore(Long o, Long t, Long same, const Gain<Long>& gain, int rounded) {
  const LongTag d;
  const UnsignedTag du;
  const FloatTag df;
  const Long sign = hn::ShiftRight<31>(o);
  const Long size = hn::Abs(o);
  const Long along = hn::Max(hn::Sub(hn::Xor(t, sign), sign), hn::Zero(d));

  // How many bits there are beyond 15; without its second highest bit, the number cannot be rounded up to one more.
  const Unsigned usize = to_unsigned(size);
  const Long top = to_signed(hn::AndNot(hn::ShiftRight<1>(usize), usize));
  const Long exponent = hn::Sub(hn::ShiftRight<23>(hn::BitCast(d, hn::ConvertTo(df, top))), hn::Set(d, 127 + 14));
  const Unsigned beyond = to_unsigned(hn::Max(exponent, hn::Zero(d)));
  const Unsigned twice = hn::Add(usize, usize);
  const Unsigned divisor = hn::ShiftRight<1>(hn::Add(hn::Shr(twice, beyond), hn::Set(du, 1)));

  const Unsigned inverse = reciprocal(divisor);
  const Unsigned dividend = hn::Min(to_unsigned(along), twice);  // more gives 1 all the same
  const auto quotient = [](Unsigned a, Unsigned b, Wide bits) {
    return hn::ShiftRight<1>(hn::Add(hn::Shr(hn::MulEven(a, b), bits), hn::Set(WideTag(), 1)));
  };
  const Wide bits = to_wide(hn::Add(beyond, hn::Set(du, 14)));
  const Unsigned ratio =
      hn::Min(interleave(quotient(inverse, dividend, hn::And(bits, hn::Set(WideTag(), 0xFFFFFFFF))),
                         quotient(odd_lanes(inverse), odd_lanes(dividend), hn::ShiftRight<32>(bits))),
              hn::Set(du, 32768));

  const Unsigned upper = hn::Mul(ratio, hn::ShiftRight<16>(usize));
  const Unsigned lower = hn::Mul(ratio, hn::And(usize, hn::Set(du, 0xFFFF)));
  const Unsigned rounding = to_unsigned(hn::Add(hn::Set(d, 16384), sign));
  const Long scaled = to_signed(hn::Add(hn::Add(upper, upper), hn::ShiftRight<15>(hn::Add(lower, rounding))));
  Long result = hn::IfThenElse(hn::Gt(size, hn::Set(d, 16384)), scaled, hn::Min(along, size));
  result = hn::IfThenElse(hn::MaskFromVec(same), hn::Min(gain(result, rounded), along), result);
  return hn::Sub(hn::Xor(result, sign), sign);
}

HWY_NOINLINE Short restore_large(Short o, Short t, Short same, const Gain<Long>& gain, int rounded) {
  const LongTag d;
  const HalfShortTag half;
  const auto lower = [&](Short v) { return hn::PromoteTo(d, hn::LowerHalf(half, v)); };
  const auto upper = [&](Short v) { return hn::PromoteTo(d, hn::UpperHalf(half, v)); };
  return hn::Combine(ShortTag(), hn::DemoteTo(half, restore(upper(o), upper(t), upper(same), gain, rounded - kLongs)),
                     hn::DemoteTo(half, restore(lower(o), lower(t), lower(same), gain, rounded)));
}

// ---- Contrast sensitivity ----

// Sums over the subbands of what details add to thresholds, and how much more to that at their own place.
struct InfluenceSums {
  Long around, more;
  HWY_INLINE explicit InfluenceSums(int from) : around(hn::Set(LongTag(), from)), more(hn::Zero(LongTag())) {}
  HWY_INLINE void store(Influence to, int x) const {
    hn::Store(around, LongTag(), to.around + x);
    hn::Store(more, LongTag(), to.centre + x);
  }
};

// A factor without a sign, for multiplication with numbers that have one: 65536 too small where its highest bit is set.
struct ShortFactor {
  Short low, missing;
  HWY_INLINE explicit ShortFactor(uint32_t factor)
      : low(hn::Set(ShortTag(), static_cast<int16_t>(factor))),
        missing(hn::Set(ShortTag(), factor >= 0x8000 ? int16_t{-1} : int16_t{0})) {}

  // (x * factor + 2^14) / 2^15, or the most that 16 bits hold.
  HWY_INLINE Short straight(Short x) const {
    const Short once = hn::And(x, missing);
    return hn::SaturatedAdd(once, hn::Add(once, hn::MulFixedPoint15(x, low)));
  }
  // (x * factor + 65535) / 2^17: the upper half is one more where anything is in the lower.
  HWY_INLINE Short diagonal(Short x) const {
    const ShortTag d;
    const Short upper = hn::Add(hn::MulHigh(x, low), hn::And(x, missing));
    const Short nothing = hn::VecFromMask(d, hn::Eq(hn::Mul(x, low), hn::Zero(d)));
    return hn::ShiftRight<1>(hn::Add(hn::Add(upper, hn::Set(d, 1)), nothing));
  }
};

// Of weighed 16-bit details: (4369 |x| + 2048) / 2^12 to each neighbour, or the most that 16 bits hold, and what is
// missing to (8738 |x| + 2048) / 2^12 at their own place, which has no sign.
struct ShortInfluence {
  Short negative, around, more;
  HWY_INLINE explicit ShortInfluence(Short x) {
    const ShortTag d;
    negative = hn::Min(x, hn::Neg(x));  // for so it has 16 bit at all times
    around = hn::SaturatedSub(hn::MulFixedPoint15(negative, hn::Set(d, -8 * 273)), negative);
    more = hn::Sub(hn::Sub(hn::MulFixedPoint15(negative, hn::Set(d, -8 * 546)), negative), hn::Add(around, negative));
  }
};

struct ShortFactors {
  ShortFactor straight, diagonal;
};

// Returns whether any is so large that it makes a difference to be among the last columns.
HWY_INLINE bool store_influence(const std::array<Short, kSubbands>& details, const ShortFactors& factors, Influence to,
                                int x) {
  const ShortTag d;
  const LongTag dl;
  const HalfShortTag half;
  const hn::RebindToUnsigned<ShortTag> du;
  const hn::RebindToUnsigned<HalfShortTag> uhalf;
  const ShortInfluence h(factors.straight.straight(details[0])), v(factors.straight.straight(details[1])),
      diagonal(factors.diagonal.diagonal(details[2]));
  InfluenceSums lower(0), upper(0);
  const auto add = [&](const ShortInfluence& influence) {
    const Short around = influence.around;
    const auto more = hn::BitCast(du, influence.more);
    lower.around = hn::Add(lower.around, hn::PromoteTo(dl, hn::LowerHalf(half, around)));
    upper.around = hn::Add(upper.around, hn::PromoteTo(dl, hn::UpperHalf(half, around)));
    lower.more = hn::Add(lower.more, hn::PromoteTo(dl, hn::LowerHalf(uhalf, more)));
    upper.more = hn::Add(upper.more, hn::PromoteTo(dl, hn::UpperHalf(uhalf, more)));
  };
  add(h);
  add(v);
  add(diagonal);
  lower.store(to, x);
  upper.store(to, x + kLongs);
  const Short largest = hn::Min(hn::Min(h.negative, v.negative), diagonal.negative);
  return !hn::AllFalse(d, hn::Lt(largest, hn::Set(d, -kLargeWeighed)));
}

// Details times a factor of 2^-32, times 2^4: rounded as their sign says, and then without it.
HWY_INLINE Unsigned weigh(Long details, Unsigned factor) {
  const LongTag d;
  const WideTag dw;
  const Unsigned size = to_unsigned(hn::Abs(details));
  const Wide rounding = to_wide(to_unsigned(hn::Add(hn::Set(d, 1 << 27), hn::ShiftRight<31>(details))));
  const Wide even = hn::Add(hn::MulEven(size, factor), hn::And(rounding, hn::Set(dw, 0xFFFFFFFF)));
  const Wide odd = hn::Add(hn::MulEven(odd_lanes(size), factor), hn::ShiftRight<32>(rounding));
  const UnsignedTag du;
  return hn::OddEven(hn::BitCast(du, hn::ShiftLeft<32 - 28>(odd)), hn::BitCast(du, hn::ShiftRight<28>(even)));
}

// x times a factor of 2^-32, rounded.
HWY_INLINE Long fraction(Unsigned x, Unsigned odd_x, uint32_t factor) {
  const UnsignedTag du;
  const WideTag dw;
  const Wide half = hn::Set(dw, uint64_t{1} << 31);
  const Unsigned factors = hn::Set(du, factor);
  const Wide even = hn::Add(hn::MulEven(x, factors), half);
  const Wide odd = hn::Add(hn::MulEven(odd_x, factors), half);
  return to_signed(hn::OddEven(hn::BitCast(du, odd), hn::BitCast(du, hn::ShiftRight<32>(even))));
}

HWY_INLINE void add_influence(Unsigned weighed, InfluenceSums& sums) {
  const Unsigned odd = odd_lanes(weighed);
  const Long around = fraction(weighed, odd, 143165577);
  sums.around = hn::Add(sums.around, around);
  sums.more = hn::Add(sums.more, hn::Sub(fraction(weighed, odd, 286331153), around));
}

// ---- Rows ----

void DecoupleShort(const Subbands<int16_t>& reference, const Subbands<int16_t>& distorted, int begin, int end,
                   const DecoupleRule& rule, const Subbands<int16_t>& restored, const Subbands<int16_t>& added,
                   Influence by_restored, Influence by_added) {
  const ShortTag d;
  const auto zero = hn::Zero(d);
  const ShortFactors factors{ShortFactor(rule.factors[0]), ShortFactor(rule.factors[2])};
  const Gain<Short> gain(rule.gain);
  const Gain<Long> long_gain(rule.gain);
  const int first_exception = std::min(rule.saturated_columns, rule.wide_columns);
  for (int x = begin; x < end; x += kShorts) {
    std::array<Short, kSubbands> left, come;
    const int rounded = rule.rounded_columns - x;
    Short same = zero;
    if (rule.gain != 1) same = same_direction(reference, distorted, x);
    HWY_UNROLL(3)
    for (size_t b = 0; b < kSubbands; ++b) {
      const Short o = hn::Load(d, reference[b] + x), t = hn::Load(d, distorted[b] + x);
      if (HWY_UNLIKELY(!hn::AllFalse(d, hn::Gt(hn::Abs(o), hn::Set(d, 16384))))) {
        left[b] = restore_large(o, t, same_direction(reference, distorted, x), long_gain, rounded);
      } else {
        Short most = o;
        if (rule.gain != 1) most = hn::IfVecThenElse(same, gain(o, rounded), o);
        left[b] = hn::Min(hn::Max(t, hn::Min(most, zero)), hn::Max(most, zero));
      }
      come[b] = hn::Sub(t, left[b]);
      hn::Store(left[b], d, restored[b] + x);
      hn::Store(come[b], d, added[b] + x);
    }
    const bool added_is_large = store_influence(come, factors, by_added, x);
    const bool restored_is_large = by_restored.around != nullptr && store_influence(left, factors, by_restored, x);
    if (HWY_LIKELY(x + kShorts <= first_exception)) continue;
    const int from = std::max(x, first_exception), to = std::min(x + kShorts, end);
    if (added_is_large) weigh_last_columns(added, from, to, rule, by_added);
    if (restored_is_large) weigh_last_columns(restored, from, to, rule, by_restored);
  }
}

void DecoupleLong(const Subbands<int32_t>& reference, const Subbands<int32_t>& distorted, int begin, int end,
                  const DecoupleRule& rule, const Subbands<uint32_t>& restored, const Subbands<uint32_t>& added,
                  Influence by_restored, Influence by_added) {
  const LongTag d;
  const UnsignedTag du;
  const Gain<Long> gain(rule.gain);
  for (int x = begin; x < end; x += kLongs) {
    const Long same = same_direction(reference, distorted, x);
    // The reference takes 1 from what each subband adds, for its half of 2^32 became a negative number.
    InfluenceSums from_restored(-kSubbands), from_added(-kSubbands);
    HWY_UNROLL(3)
    for (size_t b = 0; b < kSubbands; ++b) {
      const Unsigned factor = hn::Set(du, rule.factors[b]);
      const Long t = hn::Load(d, distorted[b] + x);
      const Long left = restore(hn::Load(d, reference[b] + x), t, same, gain, 0);
      const Unsigned weighed_left = weigh(left, factor), weighed_come = weigh(hn::Sub(t, left), factor);
      hn::Store(weighed_left, du, restored[b] + x);
      hn::Store(weighed_come, du, added[b] + x);
      add_influence(weighed_come, from_added);
      if (by_restored.around != nullptr) add_influence(weighed_left, from_restored);
    }
    from_added.store(by_added, x);
    if (by_restored.around != nullptr) from_restored.store(by_restored, x);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::adm
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::adm {

HWY_EXPORT(DecoupleShort);
HWY_EXPORT(DecoupleLong);

void decouple_short(const Subbands<int16_t>& reference, const Subbands<int16_t>& distorted, int begin, int end,
                    const DecoupleRule& rule, const Subbands<int16_t>& restored, const Subbands<int16_t>& added,
                    Influence by_restored, Influence by_added) {
  HWY_DYNAMIC_DISPATCH(DecoupleShort)
  (reference, distorted, begin, end, rule, restored, added, by_restored, by_added);
}

void decouple_long(const Subbands<int32_t>& reference, const Subbands<int32_t>& distorted, int begin, int end,
                   const DecoupleRule& rule, const Subbands<uint32_t>& restored, const Subbands<uint32_t>& added,
                   Influence by_restored, Influence by_added) {
  HWY_DYNAMIC_DISPATCH(DecoupleLong)
  (reference, distorted, begin, end, rule, restored, added, by_restored, by_added);
}

}  // namespace acuity::adm
#endif
