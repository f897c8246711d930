// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integers of the kernel dialect on the CPU beyond `whole`: `natural` has 32 bits and no sign; `whole64` and
// `natural64` have 64 bits for each lane of a `real`. Include it after lang/cpu.h; it is compiled once for each target.
#if defined(ACUITY_LANG_INTEGERS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ACUITY_LANG_INTEGERS_H
#undef ACUITY_LANG_INTEGERS_H
#else
#define ACUITY_LANG_INTEGERS_H
#endif

#include "lang/wide.h"

HWY_BEFORE_NAMESPACE();
namespace acuity {
namespace HWY_NAMESPACE {

using NaturalTag = hn::RebindToUnsigned<WholeTag>;
using Whole64Tag = hn::Rebind<int64_t, WideTag>;
using Natural64Tag = hn::Rebind<uint64_t, WideTag>;

struct natural {
  hn::Vec<NaturalTag> v;
  natural() = default;
  HWY_INLINE natural(hn::Vec<NaturalTag> vector) : v(vector) {}            // NOLINT(google-explicit-constructor)
  HWY_INLINE natural(uint32_t value) : v(hn::Set(NaturalTag(), value)) {}  // NOLINT(google-explicit-constructor)
};

struct whole64 {
  hn::Vec<Whole64Tag> lower, upper;
  whole64() = default;
  HWY_INLINE whole64(hn::Vec<Whole64Tag> l, hn::Vec<Whole64Tag> u) : lower(l), upper(u) {}
  HWY_INLINE whole64(int64_t value) : lower(hn::Set(Whole64Tag(), value)), upper(lower) {}  // NOLINT
};

struct natural64 {
  hn::Vec<Natural64Tag> lower, upper;
  natural64() = default;
  HWY_INLINE natural64(hn::Vec<Natural64Tag> l, hn::Vec<Natural64Tag> u) : lower(l), upper(u) {}
  HWY_INLINE natural64(uint64_t value) : lower(hn::Set(Natural64Tag(), value)), upper(lower) {}  // NOLINT
};

// ---- 32 bits ----

FUNCTION natural to_natural(whole a) { return hn::BitCast(NaturalTag(), a.v); }
FUNCTION whole to_whole(natural a) { return hn::BitCast(WholeTag(), a.v); }

FUNCTION natural operator+(natural a, natural b) { return hn::Add(a.v, b.v); }
FUNCTION natural operator-(natural a, natural b) { return hn::Sub(a.v, b.v); }
FUNCTION natural operator*(natural a, natural b) { return hn::Mul(a.v, b.v); }
FUNCTION natural operator&(natural a, natural b) { return hn::And(a.v, b.v); }
FUNCTION natural operator|(natural a, natural b) { return hn::Or(a.v, b.v); }
FUNCTION natural operator^(natural a, natural b) { return hn::Xor(a.v, b.v); }
FUNCTION whole operator^(whole a, whole b) { return hn::Xor(a.v, b.v); }

template <class Mask>
FUNCTION truth truth_of(Mask mask) {
  return {hn::RebindMask(RealTag(), mask)};
}
FUNCTION truth operator==(natural a, natural b) { return truth_of(hn::Eq(a.v, b.v)); }
FUNCTION truth operator<(natural a, natural b) { return truth_of(hn::Lt(a.v, b.v)); }
FUNCTION truth operator>(natural a, natural b) { return b < a; }
FUNCTION truth operator<(whole a, whole b) { return truth_of(hn::Lt(a.v, b.v)); }
FUNCTION truth operator>(whole a, whole b) { return b < a; }
FUNCTION natural select(truth t, natural yes, natural no) {
  return hn::IfThenElse(hn::RebindMask(NaturalTag(), t.m), yes.v, no.v);
}
FUNCTION natural min(natural a, natural b) { return hn::Min(a.v, b.v); }
FUNCTION natural max(natural a, natural b) { return hn::Max(a.v, b.v); }
FUNCTION whole min(whole a, whole b) { return hn::Min(a.v, b.v); }
FUNCTION whole max(whole a, whole b) { return hn::Max(a.v, b.v); }
FUNCTION whole abs(whole a) { return hn::Abs(a.v); }

template <int bits>
FUNCTION natural shift_right_by(natural a) {
  return hn::ShiftRight<bits>(a.v);
}
template <int bits>
FUNCTION natural shift_left_by(natural a) {
  return hn::ShiftLeft<bits>(a.v);
}
/// By as many bits in all lanes, or by as many as each lane says.
FUNCTION natural shift_right(natural a, int bits) { return hn::ShiftRightSame(a.v, bits); }
FUNCTION natural shift_left(natural a, int bits) { return hn::ShiftLeftSame(a.v, bits); }
FUNCTION whole shift_right(whole a, int bits) { return hn::ShiftRightSame(a.v, bits); }
FUNCTION whole shift_left(whole a, int bits) { return hn::ShiftLeftSame(a.v, bits); }
FUNCTION natural shift_right(natural a, natural bits) { return hn::Shr(a.v, bits.v); }
FUNCTION natural shift_left(natural a, natural bits) { return hn::Shl(a.v, bits.v); }
FUNCTION whole shift_right(whole a, natural bits) { return hn::Shr(a.v, hn::BitCast(WholeTag(), bits.v)); }
FUNCTION whole shift_left(whole a, natural bits) { return to_whole(shift_left(to_natural(a), bits)); }

// ---- 64 bits ----

FUNCTION natural64 to_natural64(whole64 a) {
  return {hn::BitCast(Natural64Tag(), a.lower), hn::BitCast(Natural64Tag(), a.upper)};
}
FUNCTION whole64 to_whole64(natural64 a) {
  return {hn::BitCast(Whole64Tag(), a.lower), hn::BitCast(Whole64Tag(), a.upper)};
}
/// With the sign of a `whole`.
FUNCTION whole64 to_whole64(whole a) {
  const hn::Half<WholeTag> half;
  return {hn::PromoteTo(Whole64Tag(), hn::LowerHalf(half, a.v)), hn::PromoteTo(Whole64Tag(), hn::UpperHalf(half, a.v))};
}
FUNCTION natural64 to_natural64(natural a) {
  const hn::Half<NaturalTag> half;
  return {hn::PromoteTo(Natural64Tag(), hn::LowerHalf(half, a.v)),
          hn::PromoteTo(Natural64Tag(), hn::UpperHalf(half, a.v))};
}
FUNCTION whole64 to_whole64(natural a) { return to_whole64(to_natural64(a)); }
FUNCTION natural64 to_natural64(whole a) { return to_natural64(to_whole64(a)); }
/// The lower 32 bits.
FUNCTION natural to_natural(natural64 a) {
  const NaturalTag d;
  return hn::ConcatEven(d, hn::BitCast(d, a.upper), hn::BitCast(d, a.lower));
}
FUNCTION natural to_natural(whole64 a) { return to_natural(to_natural64(a)); }
FUNCTION whole to_whole(natural64 a) { return to_whole(to_natural(a)); }
FUNCTION whole to_whole(whole64 a) { return to_whole(to_natural(a)); }

/// Products are not cut. Numbers made wide lie in the even lanes of 32 bits.
FUNCTION natural64 multiply_64(natural a, natural b) {
  const NaturalTag d;
  const natural64 x = to_natural64(a), y = to_natural64(b);
  return {hn::MulEven(hn::BitCast(d, x.lower), hn::BitCast(d, y.lower)),
          hn::MulEven(hn::BitCast(d, x.upper), hn::BitCast(d, y.upper))};
}
FUNCTION whole64 multiply_64(whole a, whole b) {
  const WholeTag d;
  const whole64 x = to_whole64(a), y = to_whole64(b);
  return {hn::MulEven(hn::BitCast(d, x.lower), hn::BitCast(d, y.lower)),
          hn::MulEven(hn::BitCast(d, x.upper), hn::BitCast(d, y.upper))};
}

template <class Mask>
FUNCTION wide_truth wide_truth_of(Mask lower, Mask upper) {
  return {hn::RebindMask(WideTag(), lower), hn::RebindMask(WideTag(), upper)};
}
#define ACUITY_OPERATIONS_64(type)                                                                           \
  FUNCTION type operator+(type a, type b) { return {hn::Add(a.lower, b.lower), hn::Add(a.upper, b.upper)}; } \
  FUNCTION type operator-(type a, type b) { return {hn::Sub(a.lower, b.lower), hn::Sub(a.upper, b.upper)}; } \
  FUNCTION type operator&(type a, type b) { return {hn::And(a.lower, b.lower), hn::And(a.upper, b.upper)}; } \
  FUNCTION type operator|(type a, type b) { return {hn::Or(a.lower, b.lower), hn::Or(a.upper, b.upper)}; }   \
  FUNCTION type operator^(type a, type b) { return {hn::Xor(a.lower, b.lower), hn::Xor(a.upper, b.upper)}; } \
  FUNCTION wide_truth operator==(type a, type b) {                                                           \
    return wide_truth_of(hn::Eq(a.lower, b.lower), hn::Eq(a.upper, b.upper));                                \
  }                                                                                                          \
  FUNCTION wide_truth operator<(type a, type b) {                                                            \
    return wide_truth_of(hn::Lt(a.lower, b.lower), hn::Lt(a.upper, b.upper));                                \
  }                                                                                                          \
  FUNCTION wide_truth operator>(type a, type b) { return b < a; }                                            \
  FUNCTION type select(wide_truth t, type yes, type no) {                                                    \
    const hn::DFromV<decltype(yes.lower)> d;                                                                 \
    return {hn::IfThenElse(hn::RebindMask(d, t.lower), yes.lower, no.lower),                                 \
            hn::IfThenElse(hn::RebindMask(d, t.upper), yes.upper, no.upper)};                                \
  }                                                                                                          \
  FUNCTION type min(type a, type b) { return {hn::Min(a.lower, b.lower), hn::Min(a.upper, b.upper)}; }       \
  FUNCTION type max(type a, type b) { return {hn::Max(a.lower, b.lower), hn::Max(a.upper, b.upper)}; }       \
  template <int bits>                                                                                        \
  FUNCTION type shift_right_by(type a) {                                                                     \
    return {hn::ShiftRight<bits>(a.lower), hn::ShiftRight<bits>(a.upper)};                                   \
  }                                                                                                          \
  template <int bits>                                                                                        \
  FUNCTION type shift_left_by(type a) {                                                                      \
    return {hn::ShiftLeft<bits>(a.lower), hn::ShiftLeft<bits>(a.upper)};                                     \
  }                                                                                                          \
  FUNCTION type shift_right(type a, int bits) {                                                              \
    return {hn::ShiftRightSame(a.lower, bits), hn::ShiftRightSame(a.upper, bits)};                           \
  }                                                                                                          \
  FUNCTION type shift_left(type a, int bits) {                                                               \
    return {hn::ShiftLeftSame(a.lower, bits), hn::ShiftLeftSame(a.upper, bits)};                             \
  }                                                                                                          \
  FUNCTION type shift_right(type a, natural bits) {                                                          \
    const type count = to_##type(bits);                                                                      \
    return {hn::Shr(a.lower, count.lower), hn::Shr(a.upper, count.upper)};                                   \
  }                                                                                                          \
  FUNCTION type shift_left(type a, natural bits) {                                                           \
    const type count = to_##type(bits);                                                                      \
    return {hn::Shl(a.lower, count.lower), hn::Shl(a.upper, count.upper)};                                   \
  }
ACUITY_OPERATIONS_64(whole64)
ACUITY_OPERATIONS_64(natural64)
#undef ACUITY_OPERATIONS_64
FUNCTION whole64 abs(whole64 a) { return {hn::Abs(a.lower), hn::Abs(a.upper)}; }

// ---- Doubles ----

FUNCTION whole64 bits_of_wide(wide a) {
  return {hn::BitCast(Whole64Tag(), a.lower), hn::BitCast(Whole64Tag(), a.upper)};
}
FUNCTION wide wide_from_bits(whole64 a) { return {hn::BitCast(WideTag(), a.lower), hn::BitCast(WideTag(), a.upper)}; }
FUNCTION wide to_wide(whole a) {
  const hn::Half<WholeTag> half;
  return {hn::PromoteTo(WideTag(), hn::LowerHalf(half, a.v)), hn::PromoteTo(WideTag(), hn::UpperHalf(half, a.v))};
}
/// The nearest doubles.
FUNCTION wide to_wide(whole64 a) { return {hn::ConvertTo(WideTag(), a.lower), hn::ConvertTo(WideTag(), a.upper)}; }
FUNCTION wide to_wide(natural a) { return to_wide(to_whole64(a)); }
/// Towards zero.
FUNCTION whole to_whole(wide a) {
  const hn::Half<WholeTag> half;
  return hn::Combine(WholeTag(), hn::DemoteTo(half, a.upper), hn::DemoteTo(half, a.lower));
}
FUNCTION whole64 to_whole64(wide a) {
  return {hn::ConvertTo(Whole64Tag(), a.lower), hn::ConvertTo(Whole64Tag(), a.upper)};
}

FUNCTION natural load(const uint32_t* from) { return hn::Load(NaturalTag(), from); }
FUNCTION void store(natural value, uint32_t* to) { hn::Store(value.v, NaturalTag(), to); }
FUNCTION natural64 load(const uint64_t* from) {
  return {hn::Load(Natural64Tag(), from), hn::Load(Natural64Tag(), from + kLanes / 2)};
}
FUNCTION void store(natural64 value, uint64_t* to) {
  hn::Store(value.lower, Natural64Tag(), to);
  hn::Store(value.upper, Natural64Tag(), to + kLanes / 2);
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity
HWY_AFTER_NAMESPACE();

#endif
