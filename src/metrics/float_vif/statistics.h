// SPDX-License-Identifier: BSD-2-Clause-Patent
// From the moments of a window to the information its pixel holds, on vectors. Include after lang/cpu.h.
#if defined(ACUITY_METRICS_FLOAT_VIF_STATISTICS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ACUITY_METRICS_FLOAT_VIF_STATISTICS_H
#undef ACUITY_METRICS_FLOAT_VIF_STATISTICS_H
#else
#define ACUITY_METRICS_FLOAT_VIF_STATISTICS_H
#endif

#include "metrics/float_vif/cpu.h"
#include "metrics/vif/unroll.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::float_vif {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;

// log2 as libvmaf has it, in place: the exponent, and a polynomial of the mantissa less 1 without a constant term.
// Several are worked on step by step together, because each step must wait for the one before.
template <int kCount>
HWY_INLINE void take_rough_logs(real (&x)[kCount]) {
  constexpr float kPolynomial[] = {-0.012671635276421, 0.064841182402670, -0.157048836463065, 0.257167726303123,
                                   -0.353800560300520, 0.480131410397451, -0.721314327952201, 1.442694803896991};
  real rest[kCount], sum[kCount];
  UNROLL for (int i = 0; i < kCount; ++i) {
    const whole bits = bits_of(x[i]);
    rest[i] = from_bits((bits & whole(0x7fffff)) | whole(0x3f800000)) - real(1.0f);
    x[i] = to_real((shift_right_by<23>(bits) & whole(255)) - whole(127));
    sum[i] = real(kPolynomial[0]);
  }
  UNROLL for (int step = 1; step < 8; ++step) {
    UNROLL for (int i = 0; i < kCount; ++i) sum[i] = sum[i] * rest[i] + real(kPolynomial[step]);
  }
  UNROLL for (int i = 0; i < kCount; ++i) x[i] = x[i] + sum[i] * rest[i];
}

// 1 + the result of `step`, as float; it is computed in double as libvmaf's types have it.
template <class Step>
HWY_INLINE real one_plus(real a, real b, const Step& step) {
  const hn::Half<RealTag> half;
  const hn::Rebind<double, hn::Half<RealTag>> d;
  const auto part = [&](hn::Vec<hn::Half<RealTag>> x, hn::Vec<hn::Half<RealTag>> y) INLINED {
    return hn::DemoteTo(half, hn::Add(hn::Set(d, 1.0), step(d, hn::PromoteTo(d, x), hn::PromoteTo(d, y))));
  };
  return hn::Combine(RealTag(), part(hn::UpperHalf(half, a.v), hn::UpperHalf(half, b.v)),
                     part(hn::LowerHalf(half, a.v), hn::LowerHalf(half, b.v)));
}

// What becomes of the reference's signal on its way to the distorted picture.
struct Channel {
  real variance1, variance2, covariance;
  real gain, rest;
};

HWY_INLINE Channel channel_of(real mean1, real mean2, real square1, real square2, real product, float gain_limit) {
  const real zero(0.0f), epsilon(1.0e-10f);
  Channel c;
  c.variance1 = max(square1 - mean1 * mean1, zero);
  c.variance2 = max(square2 - mean2 * mean2, zero);
  c.covariance = product - mean1 * mean2;
  c.gain = c.covariance / (c.variance1 + epsilon);
  c.rest = c.variance2 - c.gain * c.covariance;
  const truth flat1 = c.variance1 < epsilon, flat2 = c.variance2 < epsilon;
  c.gain = select(flat1, zero, c.gain);
  c.rest = select(flat1, c.variance2, c.rest);
  c.variance1 = select(flat1, zero, c.variance1);
  c.gain = select(flat2, zero, c.gain);
  c.rest = select(flat2, zero, c.rest);
  const truth opposed = c.gain < zero;
  c.rest = max(select(opposed, c.variance2, c.rest), epsilon);
  c.gain = min(select(opposed, zero, c.gain), real(gain_limit));
  return c;
}

/// From means, means of squares and of products of both pictures, for several columns: adds what they contain to the
/// numerator and the denominator, column after column.
template <int kCount>
HWY_INLINE void add_pixels(const real (&moments)[5][kCount], const Noise& noise, real& numerator, real& denominator) {
  Channel c[kCount];
  truth quiet[kCount];
  bool all_quiet = true;
  UNROLL for (int i = 0; i < kCount; ++i) {
    c[i] = channel_of(moments[0][i], moments[1][i], moments[2][i], moments[3][i], moments[4][i], noise.gain_limit);
    quiet[i] = c[i].variance1 < real(noise.quiet);
    all_quiet = all_quiet && hn::AllTrue(RealTag(), quiet[i].m);
  }
  real logs[2 * kCount];
  if (!all_quiet) {
    UNROLL for (int i = 0; i < kCount; ++i) {
      const real signal = c[i].gain * c[i].gain * c[i].variance1;
      logs[i] = one_plus(signal, c[i].rest, [&](auto d, auto a, auto b) INLINED {
        return hn::Div(a, hn::Add(b, hn::Set(d, noise.variance)));
      });
      logs[kCount + i] = one_plus(c[i].variance1, c[i].variance1, [&](auto d, auto a, auto) INLINED {
        if (noise.inverse != 0) return hn::Mul(a, hn::Set(d, noise.inverse));
        return hn::Div(a, hn::Set(d, noise.variance));
      });
    }
    take_rough_logs(logs);
  } else {
    UNROLL for (int i = 0; i < 2 * kCount; ++i) logs[i] = real(0.0f);  // not looked at
  }
  UNROLL for (int i = 0; i < kCount; ++i) {
    const real busy = select(c[i].covariance < real(0.0f), real(0.0f), logs[i]);
    numerator += select(quiet[i], real(1.0f) - c[i].variance2 * real(noise.flat_factor), busy);
    denominator += select(quiet[i], real(1.0f), logs[kCount + i]);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::float_vif
HWY_AFTER_NAMESPACE();

#endif
