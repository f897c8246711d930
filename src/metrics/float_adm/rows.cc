// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_adm/rows.h"

#include "metrics/float_adm/reciprocals.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/float_adm/rows.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::float_adm {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

#include "lang/exact.h"

#include "metrics/float_adm/math.h"

constexpr double kThirtieth = 0.0333333351, kFifteenth = 0.0666666701;

HWY_INLINE void store_apart(real first, real second, FilteredRow to, int x) {
  const RealTag d;
  store(real(hn::ConcatEven(d, second.v, first.v)), to.even + x);
  store(real(hn::ConcatOdd(d, second.v, first.v)), to.odd + x);
}

void FilterRows(const std::array<const float*, 4>& rows, int begin, int end, FilteredRow low, FilteredRow high) {
  for (int x = begin; x < end; x += 2 * kLanes) {
    real lows[2], highs[2];
    for (int i = 0; i < 2; ++i) {
      const int at = x + i * kLanes;
      const real a = load(rows[0] + at), b = load(rows[1] + at), c = load(rows[2] + at), d = load(rows[3] + at);
      lows[i] = filter_low(a, b, c, d);
      highs[i] = filter_high(a, b, c, d);
    }
    store_apart(lows[0], lows[1], low, x / 2);
    store_apart(highs[0], highs[1], high, x / 2);
  }
}

struct Columns {
  real a, b, c, d;
  HWY_INLINE Columns(FilteredRow row, int x)
      : a(load_unaligned(row.odd + x - 1)),
        b(load(row.even + x)),
        c(load(row.odd + x)),
        d(load_unaligned(row.even + x + 1)) {}
  HWY_INLINE real low() const { return filter_low(a, b, c, d); }
  HWY_INLINE real high() const { return filter_high(a, b, c, d); }
};

void FilterColumns(FilteredRow low, FilteredRow high, int begin, int end, float* approximation,
                   const Subbands& details) {
  for (int x = begin; x < end; x += kLanes) {
    const Columns of_low(low, x);
    if (approximation != nullptr) store(of_low.low(), approximation + x);
    if (details[0] == nullptr) continue;
    const Columns of_high(high, x);
    store(of_high.low(), details[0] + x);
    store(of_low.high(), details[1] + x);
    store(of_high.high(), details[2] + x);
  }
}

// libvmaf has some constants in double: what is multiplied with them becomes a float again after that.
template <class Function, class... Reals>
HWY_INLINE real in_double(Function function, Reals... arguments) {
  const RealTag d;
  const hn::Half<RealTag> half;
  const hn::Rebind<double, hn::Half<RealTag> > wide;
  const auto lower = function(hn::PromoteTo(wide, hn::LowerHalf(half, arguments.v))...);
  const auto upper = function(hn::PromoteTo(wide, hn::UpperHalf(half, arguments.v))...);
  return hn::Combine(d, hn::DemoteTo(half, upper), hn::DemoteTo(half, lower));
}

HWY_INLINE real multiply(real a, double factor) {
  return in_double([factor](auto x) { return hn::Mul(x, hn::Set(hn::DFromV<decltype(x)>(), factor)); }, a);
}

HWY_INLINE real multiply_add(real a, double factor, real sum) {
  return in_double(
      [factor](auto x, auto y) { return hn::Add(y, hn::Mul(x, hn::Set(hn::DFromV<decltype(x)>(), factor))); }, a, sum);
}

// As libvmaf divides, by a step of Newton's method. See reciprocals.h.
HWY_INLINE real reciprocal(real x) {
  const whole bits = bits_of(x);
  const whole leading = SHIFT_RIGHT(bits, 11) & whole(static_cast<int32_t>(kMantissas) - 1);
  const whole start(hn::GatherIndex(WholeTag(), kReciprocalBits.data(), leading.v));
  const real first = from_bits(start - (bits & whole(~0x7fffff)));
  return refined_reciprocal(x, first);
}

// What is left of details o in details t: all of t where that is weaker, and where it only became stronger, up to the
// gain.
HWY_INLINE real restore(real o, real t, truth same, double gain) {
  const real ratio = t * reciprocal(o + real(1e-30f));
  const real part = part_left(o, ratio);
  const real stronger = multiply(part, gain);
  const real up = select(part > real(0.0f), min(stronger, t), part);
  return select(same, select(part < real(0.0f), max(stronger, t), up), part);
}

void Decouple(const Subbands& reference, const Subbands& distorted, int begin, int end, const DecoupleRule& rule,
              const Part& restored, const Part& added) {
  for (int x = begin; x < end; x += kLanes) {
    const real oh = load(reference[0] + x), ov = load(reference[1] + x);
    const real th = load(distorted[0] + x), tv = load(distorted[1] + x);
    const real dot = oh * th + ov * tv;
    const truth same{hn::And((dot >= real(0.0f)).m, (dot * dot >= angle_limit(oh, ov, th, tv)).m)};
    for (size_t b = 0; b < kSubbands; ++b) {
      const real t = load(distorted[b] + x);
      const real left = restore(load(reference[b] + x), t, same, rule.gain);
      const real weighed_left = abs(left * real(rule.factors[b]));
      const real weighed_come = abs((t - left) * real(rule.factors[b]));
      store(weighed_left, restored.weighed[b] + x);
      store(weighed_come, added.weighed[b] + x);
      store(multiply(weighed_left, kThirtieth), restored.thirtieths[b] + x);
      store(multiply(weighed_come, kThirtieth), added.thirtieths[b] + x);
    }
  }
}

// The order of these additions is libvmaf's.
HWY_INLINE real threshold_of(const Mask& mask, size_t subband, int x) {
  const float* above = mask.above[subband] + x;
  const float* row = mask.row[subband] + x;
  const float* below = mask.below[subband] + x;
  real sum = load_unaligned(above - 1) + load_unaligned(above) + load_unaligned(above + 1) + load_unaligned(row - 1);
  sum = multiply_add(load_unaligned(mask.own[subband] + x), kFifteenth, sum) + load_unaligned(row + 1);
  return sum + load_unaligned(below - 1) + load_unaligned(below) + load_unaligned(below + 1);
}

void WeighedPowers(const float* details, int left, int right, float factor, float exponent, float* powers) {
  for (int x = left; x < right; x += kLanes) {
    const real weighed = abs(real(factor) * load_unaligned(details + x));
    store(power_of(weighed, exponent), powers + (x - left));
  }
}

void MaskedPowers(const Subbands& details, const Mask& mask, int left, int right, float exponent,
                  const Subbands& powers) {
  for (int x = left; x < right; x += kLanes) {
    real threshold(0.0f);
    if (mask.own[0] != nullptr)
      threshold = threshold_of(mask, 0, x) + threshold_of(mask, 1, x) + threshold_of(mask, 2, x);
    for (size_t b = 0; b < kSubbands; ++b) {
      const real visible = max(load_unaligned(details[b] + x) - threshold, real(0.0f));
      store(power_of(visible, exponent), powers[b] + (x - left));
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::float_adm
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::float_adm {

HWY_EXPORT(FilterRows);
HWY_EXPORT(FilterColumns);
HWY_EXPORT(Decouple);
HWY_EXPORT(WeighedPowers);
HWY_EXPORT(MaskedPowers);

void filter_rows(const std::array<const float*, 4>& rows, int begin, int end, FilteredRow low, FilteredRow high) {
  HWY_DYNAMIC_DISPATCH(FilterRows)(rows, begin, end, low, high);
}

void mirror_ends(FilteredRow row, int width) {
  const int last = (width - 1) / 2;
  row.odd[-1] = row.odd[0];
  if (width % 2 == 0) {
    row.even[last + 1] = row.odd[last];
  } else {
    row.odd[last] = row.even[last];
    row.even[last + 1] = row.odd[last - 1];
  }
}

void filter_columns(FilteredRow low, FilteredRow high, int begin, int end, float* approximation,
                    const Subbands& details) {
  HWY_DYNAMIC_DISPATCH(FilterColumns)(low, high, begin, end, approximation, details);
}

void decouple(const Subbands& reference, const Subbands& distorted, int begin, int end, const DecoupleRule& rule,
              const Part& restored, const Part& added) {
  HWY_DYNAMIC_DISPATCH(Decouple)(reference, distorted, begin, end, rule, restored, added);
}

void weighed_powers(const float* details, int left, int right, float factor, float exponent, float* powers) {
  HWY_DYNAMIC_DISPATCH(WeighedPowers)(details, left, right, factor, exponent, powers);
}

void masked_powers(const Subbands& details, const Mask& mask, int left, int right, float exponent,
                   const Subbands& powers) {
  HWY_DYNAMIC_DISPATCH(MaskedPowers)(details, mask, left, right, exponent, powers);
}

}  // namespace acuity::float_adm
#endif
