// SPDX-License-Identifier: BSD-2-Clause-Patent
// From the moments of a window to the information its pixel holds, on vectors. Include after lang/cpu.h.
#if defined(ACUITY_METRICS_FLOAT_VIF_STATISTICS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ACUITY_METRICS_FLOAT_VIF_STATISTICS_H
#undef ACUITY_METRICS_FLOAT_VIF_STATISTICS_H
#else
#define ACUITY_METRICS_FLOAT_VIF_STATISTICS_H
#endif

#include "metrics/float_vif/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::float_vif {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;

// log2 as libvmaf has it: the exponent, and a polynomial of the mantissa less 1 without a constant term.
HWY_INLINE real rough_log2(real x) {
  constexpr float kPolynomial[] = {-0.012671635276421, 0.064841182402670, -0.157048836463065, 0.257167726303123,
                                   -0.353800560300520, 0.480131410397451, -0.721314327952201, 1.442694803896991};
  const whole bits = bits_of(x);
  const whole exponent = (shift_right_by<23>(bits) & whole(255)) - whole(127);
  const real rest = from_bits((bits & whole(0x7fffff)) | whole(0x3f800000)) - real(1.0f);
  real sum(kPolynomial[0]);
  UNROLL for (int i = 1; i < 8; ++i) sum = sum * rest + real(kPolynomial[i]);
  return to_real(exponent) + sum * rest;
}

// 1 + a / (b + c), with c and the arithmetic in double, as float.
HWY_INLINE real one_plus_ratio(real a, real b, double c) {
  const RealTag d;
  const hn::Half<RealTag> half;
  const hn::Rebind<double, hn::Half<RealTag>> wide;
  const auto part = [&](hn::Vec<hn::Half<RealTag>> numerator, hn::Vec<hn::Half<RealTag>> denominator) HWY_ATTR {
    const auto sum = hn::Add(hn::PromoteTo(wide, denominator), hn::Set(wide, c));
    const auto ratio = hn::Div(hn::PromoteTo(wide, numerator), sum);
    return hn::DemoteTo(half, hn::Add(hn::Set(wide, 1.0), ratio));
  };
  return hn::Combine(d, part(hn::UpperHalf(half, a.v), hn::UpperHalf(half, b.v)),
                     part(hn::LowerHalf(half, a.v), hn::LowerHalf(half, b.v)));
}

/// Means, means of squares and of products of both pictures, to numerator and denominator.
HWY_INLINE void measure_pixels(real mean1, real mean2, real square1, real square2, real product, const Noise& noise,
                               real (&information)[2]) {
  const real zero(0.0f), epsilon(1.0e-10f);
  real variance1 = max(square1 - mean1 * mean1, zero);
  const real variance2 = max(square2 - mean2 * mean2, zero);
  const real covariance = product - mean1 * mean2;

  real gain = covariance / (variance1 + epsilon);
  real rest = variance2 - gain * covariance;
  const truth flat1 = variance1 < epsilon, flat2 = variance2 < epsilon;
  gain = select(flat1, zero, gain);
  rest = select(flat1, variance2, rest);
  variance1 = select(flat1, zero, variance1);
  gain = select(flat2, zero, gain);
  rest = select(flat2, zero, rest);
  const truth opposed = gain < zero;
  rest = max(select(opposed, variance2, rest), epsilon);
  gain = min(select(opposed, zero, gain), real(noise.gain_limit));

  const real signal = gain * gain * variance1;
  const real numerator = rough_log2(one_plus_ratio(signal, rest, noise.variance));
  const real denominator = rough_log2(one_plus_ratio(variance1, zero, noise.variance));
  const truth quiet = variance1 < real(noise.quiet);
  const real lost = real(1.0f) - variance2 * real(noise.flat_factor);
  information[0] = select(quiet, lost, select(covariance < zero, zero, numerator));
  information[1] = select(quiet, real(1.0f), denominator);
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::float_vif
HWY_AFTER_NAMESPACE();

#endif
