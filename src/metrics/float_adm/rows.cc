// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_adm/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/float_adm/rows.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::float_adm {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

#include "lang/exact.h"

constexpr float kLow[4] = {0.482962913144690f, 0.836516303737469f, 0.224143868041857f, -0.129409522550921f};
constexpr float kHigh[4] = {-0.129409522550921f, -0.224143868041857f, 0.836516303737469f, -0.482962913144690f};
constexpr float kCosineOfOneDegreeSquared = 0.9996954135095479f;

HWY_INLINE real filter(const float (&taps)[4], real a, real b, real c, real d) {
  return real(taps[0]) * a + real(taps[1]) * b + real(taps[2]) * c + real(taps[3]) * d;
}

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
      lows[i] = filter(kLow, a, b, c, d);
      highs[i] = filter(kHigh, a, b, c, d);
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
  HWY_INLINE real operator()(const float (&taps)[4]) const { return filter(taps, a, b, c, d); }
};

void FilterColumns(FilteredRow low, FilteredRow high, int begin, int end, float* approximation, const Bands& details) {
  for (int x = begin; x < end; x += kLanes) {
    const Columns of_low(low, x);
    if (approximation != nullptr) store(of_low(kLow), approximation + x);
    if (details[0] == nullptr) continue;
    const Columns of_high(high, x);
    store(of_high(kLow), details[0] + x);
    store(of_low(kHigh), details[1] + x);
    store(of_high(kHigh), details[2] + x);
  }
}

struct InfluenceSums {
  real around, own;
  HWY_INLINE InfluenceSums() : around(0.0f), own(0.0f) {}
  HWY_INLINE void add(real weighed) {
    around += real(0.0333333351f) * weighed;
    own += real(0.0666666701f) * weighed;
  }
  HWY_INLINE void store_to(Influence to, int x) const {
    store(around, to.around + x);
    store(own, to.own + x);
  }
};

// What is left of details o in details t: all of t where that is weaker, and where it only became stronger, up to the
// gain.
HWY_INLINE real restore(real o, real t, truth same, real gain) {
  const real ratio = min(max(divide(t, o + real(1e-30f)), real(0.0f)), real(1.0f));
  const real part = ratio * o;
  const real stronger = part * gain;
  const real up = select(part > real(0.0f), min(stronger, t), part);
  return select(same, select(part < real(0.0f), max(stronger, t), up), part);
}

void Decouple(const Bands& reference, const Bands& distorted, int begin, int end, const DecoupleRule& rule,
              const Bands& restored, const Bands& added, Influence by_restored, Influence by_added) {
  for (int x = begin; x < end; x += kLanes) {
    const real oh = load(reference[0] + x), ov = load(reference[1] + x);
    const real th = load(distorted[0] + x), tv = load(distorted[1] + x);
    const real dot = oh * th + ov * tv;
    const real limit = real(kCosineOfOneDegreeSquared) * (oh * oh + ov * ov) * (th * th + tv * tv);
    const truth same{hn::And((dot >= real(0.0f)).m, (dot * dot >= limit).m)};
    InfluenceSums from_restored, from_added;
    for (size_t b = 0; b < kBands; ++b) {
      const real t = load(distorted[b] + x);
      const real left = restore(load(reference[b] + x), t, same, real(rule.gain));
      const real weighed_left = abs(left * real(rule.factors[b]));
      const real weighed_come = abs((t - left) * real(rule.factors[b]));
      store(weighed_left, restored[b] + x);
      store(weighed_come, added[b] + x);
      from_restored.add(weighed_left);
      from_added.add(weighed_come);
    }
    from_restored.store_to(by_restored, x);
    from_added.store_to(by_added, x);
  }
}

void Spread(Influence influence, int begin, int end, float* sums, float* own) {
  for (int x = begin; x < end; x += kLanes) {
    const real sides = load_unaligned(influence.around + x - 1) + load_unaligned(influence.around + x + 1);
    store(sides + load(influence.around + x), sums + x);
    store(sides + load(influence.own + x), own + x);
  }
}

HWY_INLINE real power_of(real x, float exponent) { return exponent == 3.0f ? x * x * x : power(x, real(exponent)); }

void WeighedPowers(const float* details, int left, int right, float factor, float exponent, float* powers) {
  for (int x = left; x < right; x += kLanes) {
    const real weighed = abs(real(factor) * load_unaligned(details + x));
    store(power_of(weighed, exponent), powers + (x - left));
  }
}

void MaskedPowers(const Bands& details, const Mask& mask, int left, int right, float exponent, const Bands& powers) {
  for (int x = left; x < right; x += kLanes) {
    real threshold(0.0f);
    if (mask.own != nullptr) {
      threshold = load_unaligned(mask.above + x) + load_unaligned(mask.below + x) + load_unaligned(mask.own + x);
    }
    for (size_t b = 0; b < kBands; ++b) {
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
HWY_EXPORT(Spread);
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

void filter_columns(FilteredRow low, FilteredRow high, int begin, int end, float* approximation, const Bands& details) {
  HWY_DYNAMIC_DISPATCH(FilterColumns)(low, high, begin, end, approximation, details);
}

void decouple(const Bands& reference, const Bands& distorted, int begin, int end, const DecoupleRule& rule,
              const Bands& restored, const Bands& added, Influence by_restored, Influence by_added) {
  HWY_DYNAMIC_DISPATCH(Decouple)
  (reference, distorted, begin, end, rule, restored, added, by_restored, by_added);
}

void spread(Influence influence, int begin, int end, float* sums, float* own) {
  HWY_DYNAMIC_DISPATCH(Spread)(influence, begin, end, sums, own);
}

void weighed_powers(const float* details, int left, int right, float factor, float exponent, float* powers) {
  HWY_DYNAMIC_DISPATCH(WeighedPowers)(details, left, right, factor, exponent, powers);
}

void masked_powers(const Bands& details, const Mask& mask, int left, int right, float exponent, const Bands& powers) {
  HWY_DYNAMIC_DISPATCH(MaskedPowers)(details, mask, left, right, exponent, powers);
}

}  // namespace acuity::float_adm
#endif
