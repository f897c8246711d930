// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernel dialect on the CPU: `real` is as many floats as the vector registers of the target hold, and every
// operation on it rounds as IEEE 754 says, so that all targets give the same bits.
//
// Include it after <hwy/foreach_target.h>; it is compiled once for each target. A metric's math.h and lang/exact.h are
// then included inside namespace acuity::HWY_NAMESPACE.
#if defined(ACUITY_LANG_CPU_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ACUITY_LANG_CPU_H
#undef ACUITY_LANG_CPU_H
#else
#define ACUITY_LANG_CPU_H
#endif

#include <cstdint>

#include <hwy/highway.h>

// How the dialect spells a function and an out-parameter.
#undef FUNCTION
#define FUNCTION HWY_INLINE HWY_MAYBE_UNUSED
#undef INOUT
#define INOUT(type) type&
#undef UNROLL
#define UNROLL HWY_UNROLL(16)

HWY_BEFORE_NAMESPACE();
namespace acuity {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using RealTag = hn::ScalableTag<float>;
using WholeTag = hn::ScalableTag<int32_t>;
using RealVector = hn::Vec<RealTag>;
using WholeVector = hn::Vec<WholeTag>;

inline constexpr int kLanes = static_cast<int>(HWY_LANES(float));

/// One float a lane.
struct real {
  RealVector v;
  real() = default;
  HWY_INLINE real(RealVector vector) : v(vector) {}               // NOLINT(google-explicit-constructor)
  HWY_INLINE real(float value) : v(hn::Set(RealTag(), value)) {}  // NOLINT(google-explicit-constructor)
};

/// One 32-bit integer a lane.
struct whole {
  WholeVector v;
  whole() = default;
  HWY_INLINE whole(WholeVector vector) : v(vector) {}                 // NOLINT(google-explicit-constructor)
  HWY_INLINE whole(int32_t value) : v(hn::Set(WholeTag(), value)) {}  // NOLINT(google-explicit-constructor)
};

/// One truth value a lane.
struct truth {
  hn::Mask<RealTag> m;
};

FUNCTION real operator+(real a, real b) { return hn::Add(a.v, b.v); }
FUNCTION real operator-(real a, real b) { return hn::Sub(a.v, b.v); }
FUNCTION real operator*(real a, real b) { return hn::Mul(a.v, b.v); }
FUNCTION real operator/(real a, real b) { return hn::Div(a.v, b.v); }
FUNCTION real divide(real a, real b) { return a / b; }  // GLSL's own division may be inexact
FUNCTION real divide_ordinary(real a, real b) { return a / b; }
FUNCTION real operator-(real a) { return hn::Neg(a.v); }
FUNCTION real& operator+=(real& a, real b) { return a = a + b; }

FUNCTION truth operator<(real a, real b) { return {hn::Lt(a.v, b.v)}; }
FUNCTION truth operator>(real a, real b) { return {hn::Gt(a.v, b.v)}; }
FUNCTION truth operator<=(real a, real b) { return {hn::Le(a.v, b.v)}; }
FUNCTION truth operator>=(real a, real b) { return {hn::Ge(a.v, b.v)}; }
FUNCTION truth operator==(real a, real b) { return {hn::Eq(a.v, b.v)}; }
FUNCTION truth operator==(whole a, whole b) { return {hn::RebindMask(RealTag(), hn::Eq(a.v, b.v))}; }

FUNCTION whole operator+(whole a, whole b) { return hn::Add(a.v, b.v); }
FUNCTION whole operator-(whole a, whole b) { return hn::Sub(a.v, b.v); }
FUNCTION whole operator*(whole a, whole b) { return hn::Mul(a.v, b.v); }
FUNCTION whole operator&(whole a, whole b) { return hn::And(a.v, b.v); }
FUNCTION whole operator|(whole a, whole b) { return hn::Or(a.v, b.v); }

/// Arithmetic shift right and shift left by a constant.
template <int bits>
FUNCTION whole shift_right_by(whole a) {
  return hn::ShiftRight<bits>(a.v);
}
template <int bits>
FUNCTION whole shift_left_by(whole a) {
  return hn::ShiftLeft<bits>(a.v);
}
// In GLSL and CUDA these are plain shifts, so the dialect spells them as macros.
#undef SHIFT_RIGHT
#define SHIFT_RIGHT(value, bits) shift_right_by<bits>(value)
#undef SHIFT_LEFT
#define SHIFT_LEFT(value, bits) shift_left_by<bits>(value)

FUNCTION real select(truth t, real yes, real no) { return hn::IfThenElse(t.m, yes.v, no.v); }
FUNCTION whole select(truth t, whole yes, whole no) {
  return hn::IfThenElse(hn::RebindMask(WholeTag(), t.m), yes.v, no.v);
}
/// In no lane is it false.
FUNCTION bool all(truth t) { return hn::AllTrue(RealTag(), t.m); }
FUNCTION real min(real a, real b) { return hn::Min(a.v, b.v); }
FUNCTION real max(real a, real b) { return hn::Max(a.v, b.v); }
FUNCTION real abs(real a) { return hn::Abs(a.v); }
FUNCTION real sqrt(real a) { return hn::Sqrt(a.v); }
FUNCTION real sqrt_ordinary(real a) { return sqrt(a); }

FUNCTION whole bits_of(real a) { return hn::BitCast(WholeTag(), a.v); }
FUNCTION real from_bits(whole a) { return hn::BitCast(RealTag(), a.v); }
/// Exact below 2^24 in magnitude.
FUNCTION real to_real(whole a) { return hn::ConvertTo(RealTag(), a.v); }
/// Towards zero.
FUNCTION whole to_whole(real a) { return hn::ConvertTo(WholeTag(), a.v); }

#if HWY_NATIVE_FMA
FUNCTION real fma(real a, real b, real c) { return hn::MulAdd(a.v, b.v, c.v); }
#else
// A product of two floats is exact in double. Its sum with the third is rounded to odd (the sticky bit goes into the
// last place), after which rounding to float gives what a single rounding would.
template <class DoubleVector>
FUNCTION DoubleVector add_round_to_odd(DoubleVector a, DoubleVector b) {
  const hn::DFromV<DoubleVector> dd;
  const hn::RebindToSigned<decltype(dd)> di;
  const auto sum = hn::Add(a, b);
  const auto b_part = hn::Sub(sum, a);
  const auto error = hn::Add(hn::Sub(a, hn::Sub(sum, b_part)), hn::Sub(b, b_part));
  // Not so where the error is the NaN that infinite operands leave: the sum is right already.
  const auto inexact = hn::Gt(hn::Abs(error), hn::Zero(dd));
  // Where the sum was rounded away from zero, step back towards zero; then make it odd.
  const auto one = hn::Set(di, 1);
  const auto bits = hn::BitCast(di, sum);
  const auto away = hn::ShiftRight<63>(hn::BitCast(hn::RebindToUnsigned<decltype(dd)>(), hn::Xor(sum, error)));
  const auto odd = hn::Or(hn::Sub(bits, hn::BitCast(di, away)), one);
  return hn::IfThenElse(inexact, hn::BitCast(dd, odd), sum);
}

FUNCTION real fma(real a, real b, real c) {
  const RealTag d;
  const hn::Half<RealTag> half;
  const hn::Rebind<double, hn::Half<RealTag> > dd;
  const auto lower = [](RealVector v) { return hn::LowerHalf(hn::Half<RealTag>(), v); };
  const auto upper = [](RealVector v) { return hn::UpperHalf(hn::Half<RealTag>(), v); };
  const auto product_lower = hn::Mul(hn::PromoteTo(dd, lower(a.v)), hn::PromoteTo(dd, lower(b.v)));
  const auto product_upper = hn::Mul(hn::PromoteTo(dd, upper(a.v)), hn::PromoteTo(dd, upper(b.v)));
  const auto sum_lower = add_round_to_odd(product_lower, hn::PromoteTo(dd, lower(c.v)));
  const auto sum_upper = add_round_to_odd(product_upper, hn::PromoteTo(dd, upper(c.v)));
  return hn::Combine(d, hn::DemoteTo(half, sum_upper), hn::DemoteTo(half, sum_lower));
}
#endif

FUNCTION real load(const float* from) { return hn::Load(RealTag(), from); }
FUNCTION real load_unaligned(const float* from) { return hn::LoadU(RealTag(), from); }
FUNCTION void store(real value, float* to) { hn::Store(value.v, RealTag(), to); }
FUNCTION void store_unaligned(real value, float* to) { hn::StoreU(value.v, RealTag(), to); }

}  // namespace HWY_NAMESPACE
}  // namespace acuity
HWY_AFTER_NAMESPACE();

#endif
