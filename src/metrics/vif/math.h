// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a pixel adds to the totals of a scale, in the kernel dialect, one pixel at a time. metrics/vif/statistics.h and
// logarithm.h have the same for the CPU, where several vectors of pixels are worked on step by step; vif_test and
// cross_backend hold both together.

#define VIF_NOISE 131072  // the variance of the eye's noise, 2, as all variances in units of 1/65536

// (a * b + 2^31) >> 32.
FUNCTION natural rounded_upper_product(natural a, natural b) {
  return to_natural((multiply_64(a, b) + natural64(2147483648UL)) >> 32);
}

// 2048 (log2(v) + 127), rounded, of a number from 2^17 on; all but the 16 upper bits of a number are ignored.
FUNCTION whole scaled_log(whole v) {
  const whole bits = bits_of(to_real(v & ~(v >> 16)));
  const whole quarter = (bits >> 21) & 3;
  const real factor = quarter < 2 ? (quarter == 0 ? real(0.890625f) : real(0.7265625f))
                                  : (quarter == 2 ? real(0.6171875f) : real(0.53515625f));
  const whole offset =
      quarter < 2 ? (quarter == 0 ? -1259677760 : -1254749768) : (quarter == 2 ? -1250800779 : -1247348889);
  const real r = fma(from_bits((bits & 8388352) | 1065353216), factor, real(-1.0f));
  real sum = fma(real(4896874.5f), r, real(-6116408.5f));
  sum = fma(sum, r, real(8067955.5f));
  sum = fma(sum, r, real(-12101993.0f));
  sum = fma(sum, r, real(24204406.0f));
  sum = fma(sum, r, real(12582912.0f));
  return ((bits_of(sum) + offset) >> 13) + ((bits >> 23) << 11);
}

struct PixelTotals {
  whole numerator_log;
  whole denominator_log;
  whole flat_variance;
  whole is_flat;  // 1 or 0
};

// Of the variances of both pictures around a pixel and their covariance. The gain by which the reference shows in the
// distorted picture is in double as libvmaf has it: its last bits decide logarithms.
FUNCTION PixelTotals totals_of_pixel(whole reference, whole distorted, whole product, wide gain_limit) {
  PixelTotals totals;
  const whole other = max(distorted, 0);
  if (reference < VIF_NOISE) {
    totals.numerator_log = 0;
    totals.denominator_log = 0;
    totals.flat_variance = other;
    totals.is_flat = 1;
    return totals;
  }
  const wide variance = to_wide(reference);
  const wide covariance = to_wide(other > 0 ? max(product, 0) : 0);
  const wide gain = divide(covariance, variance + WIDE(6.5536e-06));
  const whole rest = max(to_whole(to_wide(other) - gain * covariance), 0) + VIF_NOISE;
  const wide limited = min(gain, gain_limit);
  const whole signal = to_whole(limited * limited * variance);
  totals.numerator_log = scaled_log(rest + signal) - scaled_log(rest);
  totals.denominator_log = scaled_log(reference + VIF_NOISE) - 2048 * (127 + 17);
  totals.flat_variance = 0;
  totals.is_flat = 0;
  return totals;
}
