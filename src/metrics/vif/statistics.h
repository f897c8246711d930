// SPDX-License-Identifier: BSD-2-Clause-Patent
// From the moments of a window to what its pixel adds to a scale's totals, on vectors. Include after
// metrics/vif/filtering.h.
#if defined(ACUITY_METRICS_VIF_STATISTICS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ACUITY_METRICS_VIF_STATISTICS_H
#undef ACUITY_METRICS_VIF_STATISTICS_H
#else
#define ACUITY_METRICS_VIF_STATISTICS_H
#endif

#include "metrics/vif/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::vif {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;

using WholeMask = hn::Mask<WholeTag>;

constexpr int32_t kNoise = 2 << 16;  // the variance of the eye's noise, as all variances in units of 1/65536

/// (a * b + 2^31) >> 32.
HWY_INLINE NaturalVector rounded_upper_product(NaturalVector a, NaturalVector b) {
  const hn::Repartition<uint64_t, WholeTag> d;
  const auto half = hn::Set(d, uint64_t{1} << 31);
  const auto odd_lanes = [&](NaturalVector v)
                             HWY_ATTR { return hn::BitCast(NaturalTag(), hn::ShiftRight<32>(hn::BitCast(d, v))); };
  const auto even = hn::Add(hn::MulEven(a, b), half);
  const auto odd = hn::Add(hn::MulEven(odd_lanes(a), odd_lanes(b)), half);
  return hn::OddEven(hn::BitCast(NaturalTag(), odd), hn::BitCast(NaturalTag(), hn::ShiftRight<32>(even)));
}

/// log2 in units of 1/2048 of numbers from 2^17 on, of which the 16 upper bits count. It is 2048 * 127 too large.
HWY_INLINE WholeVector scaled_log(WholeVector v, const int32_t* table) {
  // Bits that do not count are cleared where they could round the float up: at least the one below those that do.
  const WholeVector kept = hn::AndNot(hn::ShiftRight<16>(v), v);
  const WholeVector bits = hn::BitCast(WholeTag(), hn::ConvertTo(RealTag(), kept));
  const WholeVector mantissa = hn::And(hn::ShiftRight<8>(bits), hn::Set(WholeTag(), 32767));
  const WholeVector exponent = hn::ShiftRight<23>(bits);
  // The table is of mantissas times 2^15.
  return hn::Add(hn::GatherIndex(WholeTag(), table, mantissa),
                 hn::ShiftLeft<11>(hn::Sub(exponent, hn::Set(WholeTag(), 15))));
}

struct LaneTotals {
  using Wide = hn::Repartition<uint64_t, WholeTag>;
  WholeVector numerator_logs, denominator_logs, flat_pixels;
  hn::Vec<Wide> flat_variance;
  HWY_INLINE LaneTotals()
      : numerator_logs(hn::Zero(WholeTag())),
        denominator_logs(hn::Zero(WholeTag())),
        flat_pixels(hn::Zero(WholeTag())),
        flat_variance(hn::Zero(Wide())) {}
};

// The gain by which the reference shows in the distorted picture, and what the distorted one has besides, in double as
// libvmaf does it: their last bits decide logarithms.
struct Channel {
  WholeVector noise;   // sv^2 + the eye's noise
  WholeVector signal;  // g^2 s1^2
};

template <class Half>
HWY_INLINE void channel_of_half(Half reference, Half distorted, Half product, double gain_limit, Half& rest,
                                Half& signal) {
  const hn::DFromV<Half> whole;
  const hn::Rebind<double, decltype(whole)> d;
  const auto variance = hn::PromoteTo(d, reference);
  const auto covariance = hn::PromoteTo(d, product);
  const auto gain = hn::Div(covariance, hn::Add(variance, hn::Set(d, 65536 * 1.0e-10)));
  rest = hn::DemoteTo(whole, hn::Sub(hn::PromoteTo(d, distorted), hn::Mul(gain, covariance)));
  const auto limited = hn::Min(gain, hn::Set(d, gain_limit));
  signal = hn::DemoteTo(whole, hn::Mul(hn::Mul(limited, limited), variance));
}

HWY_INLINE Channel channel_of(WholeVector reference, WholeVector distorted, WholeVector product, double gain_limit) {
  const WholeTag d;
  const hn::Half<WholeTag> half;
  auto rest_low = hn::Zero(half), rest_high = rest_low, signal_low = rest_low, signal_high = rest_low;
  channel_of_half(hn::LowerHalf(half, reference), hn::LowerHalf(half, distorted), hn::LowerHalf(half, product),
                  gain_limit, rest_low, signal_low);
  channel_of_half(hn::UpperHalf(half, reference), hn::UpperHalf(half, distorted), hn::UpperHalf(half, product),
                  gain_limit, rest_high, signal_high);
  const WholeVector rest = hn::Max(hn::Combine(d, rest_high, rest_low), hn::Zero(d));
  return {hn::Add(rest, hn::Set(d, kNoise)), hn::Combine(d, signal_high, signal_low)};
}

/// Variances of both pictures and their covariance, of pixels that count where `valid` is set.
HWY_INLINE void add_pixels(WholeVector reference, WholeVector distorted, WholeVector product, WholeMask valid,
                           double gain_limit, const int32_t* table, LaneTotals& totals) {
  const WholeTag d;
  const WholeVector zero = hn::Zero(d), noise = hn::Set(d, kNoise);
  distorted = hn::Max(distorted, zero);
  const WholeMask flat = hn::And(valid, hn::Lt(reference, noise));
  const WholeMask busy = hn::AndNot(flat, valid);
  if (!hn::AllFalse(d, flat)) {
    const LaneTotals::Wide wide;
    const auto variance = hn::BitCast(wide, hn::IfThenElseZero(flat, distorted));
    const auto low = hn::And(variance, hn::Set(wide, 0xffffffff)), high = hn::ShiftRight<32>(variance);
    totals.flat_variance = hn::Add(totals.flat_variance, hn::Add(low, high));
    totals.flat_pixels = hn::Sub(totals.flat_pixels, hn::VecFromMask(d, flat));
  }
  if (hn::AllFalse(d, busy)) return;
  const WholeVector offset = hn::Set(d, 2048 * (127 + 17));
  const WholeVector log = hn::Sub(scaled_log(hn::Add(reference, noise), table), offset);
  totals.denominator_logs = hn::Add(totals.denominator_logs, hn::IfThenElseZero(busy, log));
  const WholeMask related = hn::And(busy, hn::And(hn::Gt(product, zero), hn::Gt(distorted, zero)));
  // Lanes that do not count must not divide or overflow.
  const Channel channel = channel_of(hn::IfThenElse(related, reference, noise), distorted,
                                     hn::IfThenElseZero(related, product), gain_limit);
  const WholeVector gain =
      hn::Sub(scaled_log(hn::Add(channel.noise, channel.signal), table), scaled_log(channel.noise, table));
  totals.numerator_logs = hn::Add(totals.numerator_logs, hn::IfThenElseZero(related, gain));
}

/// Adds the pixels from `begin` to `end` of a row, whose eight moments lie `units` apart; both are multiples of kHalves
/// except that `end` may be the width.
template <int kScale>
HWY_INLINE void measure_row(const int16_t* moments, size_t units, int begin, int end, int width, double gain_limit,
                            Totals& totals) {
  const WholeTag d;
  const int32_t* const table = log_table();
  LaneTotals lanes;
  for (int x = begin; x < end; x += kHalves) {
    NaturalVector m[8][2];
    unroll<8>([&](auto i) HWY_ATTR {
      constexpr bool kRounded = i >= 2 && i % 2 == 1;
      filter_across<kScale>(moments + i * units, x, kSignBit + (kRounded ? 32768 : 0), m[i][0], m[i][1]);
    });
    unroll<2>([&](auto odd) HWY_ATTR {
      const auto variance = [&](int upper, NaturalVector a, NaturalVector b) HWY_ATTR {
        const NaturalVector moment = hn::Add(m[upper][odd], hn::ShiftRight<16>(m[upper + 1][odd]));
        return hn::BitCast(d, hn::Sub(moment, rounded_upper_product(a, b)));
      };
      const NaturalVector a = m[0][odd], b = m[1][odd];
      const WholeMask valid = hn::Lt(hn::Iota(d, 0), hn::Set(d, (width - x - odd + 1) / 2));
      add_pixels(variance(2, a, a), variance(4, b, b), variance(6, a, b), valid, gain_limit, table, lanes);
    });
  }
  const auto sum = [&](WholeVector v) HWY_ATTR { return hn::GetLane(hn::SumOfLanes(d, v)); };
  totals.numerator_logs += sum(lanes.numerator_logs);
  totals.denominator_logs += sum(lanes.denominator_logs);
  totals.flat_pixels += sum(lanes.flat_pixels);
  const LaneTotals::Wide wide;
  totals.flat_variance += static_cast<int64_t>(hn::GetLane(hn::SumOfLanes(wide, lanes.flat_variance)));
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::vif
HWY_AFTER_NAMESPACE();

#endif
