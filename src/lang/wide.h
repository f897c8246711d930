// SPDX-License-Identifier: BSD-2-Clause-Patent
// Doubles on the CPU, for what a reference computes in double and rounds to float: `wide` has one for each lane of a
// `real`. There is no fma: not every target has one, and only + - * / and sqrt are rounded alike without it.
//
// Include it after lang/cpu.h; it is compiled once for each target.
#if defined(ACUITY_LANG_WIDE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ACUITY_LANG_WIDE_H
#undef ACUITY_LANG_WIDE_H
#else
#define ACUITY_LANG_WIDE_H
#endif

#include "lang/cpu.h"

// In GLSL a literal without a suffix is a float.
#undef WIDE
#define WIDE(literal) wide(literal)

HWY_BEFORE_NAMESPACE();
namespace acuity {
namespace HWY_NAMESPACE {

using WideTag = hn::Rebind<double, hn::Half<RealTag>>;
using WideVector = hn::Vec<WideTag>;

struct wide {
  WideVector lower, upper;
  wide() = default;
  HWY_INLINE wide(WideVector l, WideVector u) : lower(l), upper(u) {}
  HWY_INLINE wide(double value) : lower(hn::Set(WideTag(), value)), upper(lower) {}  // NOLINT
};

struct wide_truth {
  hn::Mask<WideTag> lower, upper;
};

FUNCTION wide operator+(wide a, wide b) { return {hn::Add(a.lower, b.lower), hn::Add(a.upper, b.upper)}; }
FUNCTION wide operator-(wide a, wide b) { return {hn::Sub(a.lower, b.lower), hn::Sub(a.upper, b.upper)}; }
FUNCTION wide operator*(wide a, wide b) { return {hn::Mul(a.lower, b.lower), hn::Mul(a.upper, b.upper)}; }
FUNCTION wide operator/(wide a, wide b) { return {hn::Div(a.lower, b.lower), hn::Div(a.upper, b.upper)}; }
FUNCTION wide divide(wide a, wide b) { return a / b; }
FUNCTION wide operator-(wide a) { return {hn::Neg(a.lower), hn::Neg(a.upper)}; }
FUNCTION wide sqrt(wide a) { return {hn::Sqrt(a.lower), hn::Sqrt(a.upper)}; }
FUNCTION wide abs(wide a) { return {hn::Abs(a.lower), hn::Abs(a.upper)}; }
FUNCTION wide min(wide a, wide b) { return {hn::Min(a.lower, b.lower), hn::Min(a.upper, b.upper)}; }
FUNCTION wide max(wide a, wide b) { return {hn::Max(a.lower, b.lower), hn::Max(a.upper, b.upper)}; }

FUNCTION wide_truth operator<(wide a, wide b) { return {hn::Lt(a.lower, b.lower), hn::Lt(a.upper, b.upper)}; }
FUNCTION wide_truth operator>(wide a, wide b) { return b < a; }
FUNCTION wide_truth operator<=(wide a, wide b) { return {hn::Le(a.lower, b.lower), hn::Le(a.upper, b.upper)}; }
FUNCTION wide_truth operator>=(wide a, wide b) { return b <= a; }
FUNCTION wide_truth operator==(wide a, wide b) { return {hn::Eq(a.lower, b.lower), hn::Eq(a.upper, b.upper)}; }
FUNCTION wide select(wide_truth t, wide yes, wide no) {
  return {hn::IfThenElse(t.lower, yes.lower, no.lower), hn::IfThenElse(t.upper, yes.upper, no.upper)};
}

FUNCTION wide to_wide(real a) {
  const hn::Half<RealTag> half;
  return {hn::PromoteTo(WideTag(), hn::LowerHalf(half, a.v)), hn::PromoteTo(WideTag(), hn::UpperHalf(half, a.v))};
}
/// The nearest floats.
FUNCTION real to_real(wide a) {
  const hn::Half<RealTag> half;
  return hn::Combine(RealTag(), hn::DemoteTo(half, a.upper), hn::DemoteTo(half, a.lower));
}

/// The first `count` lanes, and zero in the others.
FUNCTION wide keep_first(wide a, int count) {
  constexpr int kHalf = kLanes / 2;
  const auto keep = [](WideVector v, int lanes) {
    const int kept = lanes < 0 ? 0 : lanes > kHalf ? kHalf : lanes;
    return hn::IfThenElseZero(hn::FirstN(WideTag(), static_cast<size_t>(kept)), v);
  };
  return {keep(a.lower, count), keep(a.upper, count - kHalf)};
}

FUNCTION wide load(const double* from) { return {hn::Load(WideTag(), from), hn::Load(WideTag(), from + kLanes / 2)}; }
FUNCTION void store(wide value, double* to) {
  hn::Store(value.lower, WideTag(), to);
  hn::Store(value.upper, WideTag(), to + kLanes / 2);
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity
HWY_AFTER_NAMESPACE();

#endif
