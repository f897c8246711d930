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

#include "metrics/float_vif/math.h"

// log2 as libvmaf has it, in place. Several are worked on step by step together, because each step must wait for the
// one before.
template <int kCount>
HWY_INLINE void take_rough_logs(real (&x)[kCount]) {
  real rest[kCount], sum[kCount];
  UNROLL for (int i = 0; i < kCount; ++i) {
    const whole bits = bits_of(x[i]);
    rest[i] = mantissa_less_1(bits);
    x[i] = exponent_of(bits);
    sum[i] = real(log_coefficient(0));
  }
  UNROLL for (int step = 1; step < 8; ++step) {
    UNROLL for (int i = 0; i < kCount; ++i) sum[i] = sum[i] * rest[i] + real(log_coefficient(step));
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
