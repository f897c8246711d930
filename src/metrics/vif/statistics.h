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
#include "metrics/vif/logarithm.h"

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

/// Two vectors of pixels, worked on together: variances of both pictures and their covariance.
struct Pixels {
  WholeVector reference[2], distorted[2], product[2];
};

// The gain by which the reference shows in the distorted picture, and what the distorted one has besides, in double as
// libvmaf does it: their last bits decide logarithms. `rest` is sv^2, `signal` g^2 s1^2.
HWY_INLINE void split_signal(const Pixels& pixels, double gain_limit, WholeVector (&rest)[2],
                             WholeVector (&signal)[2]) {
  const hn::Half<WholeTag> half;
  const hn::Rebind<double, hn::Half<WholeTag>> d;
  using Vector = hn::Vec<decltype(d)>;
  const auto promoted = [&](const WholeVector(&v)[2], int i) INLINED {
    return hn::PromoteTo(d, i % 2 == 0 ? hn::LowerHalf(half, v[i / 2]) : hn::UpperHalf(half, v[i / 2]));
  };
  Vector variance[4], covariance[4], gain[4], others[4];
  unroll<4>([&](auto i) INLINED {
    variance[i] = promoted(pixels.reference, i);
    covariance[i] = promoted(pixels.product, i);
    gain[i] = hn::Div(covariance[i], hn::Add(variance[i], hn::Set(d, 65536 * 1.0e-10)));
  });
  unroll<4>([&](auto i) INLINED {
    others[i] = hn::Sub(promoted(pixels.distorted, i), hn::Mul(gain[i], covariance[i]));
    const Vector limited = hn::Min(gain[i], hn::Set(d, gain_limit));
    gain[i] = hn::Mul(hn::Mul(limited, limited), variance[i]);
  });
  unroll<2>([&](auto i) INLINED {
    const auto joined = [&](const Vector(&v)[4]) INLINED {
      return hn::Combine(WholeTag(), hn::DemoteTo(half, v[2 * i + 1]), hn::DemoteTo(half, v[2 * i]));
    };
    rest[i] = hn::Max(joined(others), hn::Zero(WholeTag()));
    signal[i] = joined(gain);
  });
}

/// Adds pixels where `valid` is set.
HWY_INLINE void add_pixels(Pixels& pixels, const WholeMask (&valid)[2], double gain_limit, LaneTotals& totals) {
  const WholeTag d;
  const WholeVector zero = hn::Zero(d), noise = hn::Set(d, kNoise);
  WholeMask flat[2], busy[2];
  unroll<2>([&](auto i) INLINED {
    pixels.distorted[i] = hn::Max(pixels.distorted[i], zero);
    flat[i] = hn::And(valid[i], hn::Lt(pixels.reference[i], noise));
    busy[i] = hn::AndNot(flat[i], valid[i]);
  });
  if (!hn::AllFalse(d, hn::Or(flat[0], flat[1]))) {
    const LaneTotals::Wide wide;
    unroll<2>([&](auto i) INLINED {
      const auto variance = hn::BitCast(wide, hn::IfThenElseZero(flat[i], pixels.distorted[i]));
      const auto low = hn::And(variance, hn::Set(wide, 0xffffffff)), high = hn::ShiftRight<32>(variance);
      totals.flat_variance = hn::Add(totals.flat_variance, hn::Add(low, high));
      totals.flat_pixels = hn::Sub(totals.flat_pixels, hn::VecFromMask(d, flat[i]));
    });
    if (hn::AllFalse(d, hn::Or(busy[0], busy[1]))) return;
  }
  // Without covariance there is no signal, and both logarithms of the numerator are equal.
  unroll<2>([&](auto i) INLINED {
    const WholeMask related = hn::And(busy[i], hn::Gt(pixels.distorted[i], zero));
    pixels.product[i] = hn::IfThenElseZero(related, hn::Max(pixels.product[i], zero));
    pixels.reference[i] = hn::IfThenElse(busy[i], pixels.reference[i], noise);
  });
  WholeVector rest[2], signal[2], logs[6];
  split_signal(pixels, gain_limit, rest, signal);
  unroll<2>([&](auto i) INLINED {
    logs[i] = hn::Add(pixels.reference[i], noise);
    logs[2 + i] = hn::Add(rest[i], noise);
    logs[4 + i] = hn::Add(logs[2 + i], signal[i]);
  });
  take_scaled_logs(logs);
  unroll<2>([&](auto i) INLINED {
    const WholeVector log = hn::Sub(logs[i], hn::Set(d, kLogUnit * (127 + 17)));
    totals.denominator_logs = hn::Add(totals.denominator_logs, hn::IfThenElseZero(busy[i], log));
    totals.numerator_logs = hn::Add(totals.numerator_logs, hn::Sub(logs[4 + i], logs[2 + i]));
  });
}

/// Adds the pixels from `begin` to `end` of a row, whose eight moments lie `units` apart; both are multiples of kHalves
/// except that `end` may be the width.
template <int kScale>
HWY_NOINLINE void measure_row(const int16_t* moments, size_t units, int begin, int end, int width, double gain_limit,
                              Totals& totals) {
  const WholeTag d;
  LaneTotals lanes;
  for (int x = begin; x < end; x += kHalves) {
    NaturalVector m[8][2];
    // Lower halves are cut afterwards, rounded.
    filter_across<kScale, 4>(moments, units, x, {kSignBit, kSignBit, kSignBit, kSignBit + 32768}, m);
    filter_across<kScale, 4>(moments + 4 * units, units, x, {kSignBit, kSignBit + 32768, kSignBit, kSignBit + 32768},
                             m + 4);
    Pixels pixels;
    WholeMask valid[2];
    unroll<2>([&](auto i) INLINED {
      const auto variance = [&](int upper, NaturalVector a, NaturalVector b) INLINED {
        const NaturalVector moment = hn::Add(m[upper][i], hn::ShiftRight<16>(m[upper + 1][i]));
        return hn::BitCast(d, hn::Sub(moment, rounded_upper_product(a, b)));
      };
      pixels.reference[i] = variance(2, m[0][i], m[0][i]);
      pixels.distorted[i] = variance(4, m[1][i], m[1][i]);
      pixels.product[i] = variance(6, m[0][i], m[1][i]);
      valid[i] = hn::Lt(hn::Iota(d, 0), hn::Set(d, (width - x - i + 1) / 2));
    });
    add_pixels(pixels, valid, gain_limit, lanes);
  }
  const auto sum = [&](WholeVector v) INLINED { return hn::GetLane(hn::SumOfLanes(d, v)); };
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
