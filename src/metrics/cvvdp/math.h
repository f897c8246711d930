// SPDX-License-Identifier: BSD-2-Clause-Patent
// The arithmetic of ColorVideoVDP's pixels, in the kernel dialect. Include it after the dialect.

// Added before each power is taken.
#define POWER_OFFSET 1e-5f

// Within 2e-7 and 3e-7 of the exact values, which is far less than what the score shows; for positive x that are not
// subnormal, and for results below 2^126.
FUNCTION real quick_log_2(real x) {
  const whole exponent = SHIFT_RIGHT(bits_of(x) - whole(0x3F3504F3), 23);
  const real f = from_bits(bits_of(x) - SHIFT_LEFT(exponent, 23)) - real(1.0f);
  real p = fma(real(-0.14275974f), f, real(0.232652575f));
  p = fma(p, f, real(-0.249271825f));
  p = fma(p, f, real(0.287288874f));
  p = fma(p, f, real(-0.360225171f));
  p = fma(p, f, real(0.480916709f));
  p = fma(p, f, real(-0.721352935f));
  p = fma(p, f, real(1.44269502f));
  return fma(p, f, to_real(exponent));
}

FUNCTION real quick_exp_2(real x) {
  const real limited = max(min(x, real(126.0f)), real(-126.0f));
  // Adding and taking away 1.5 * 2^23 rounds to whole numbers.
  const real shifted = limited + real(12582912.0f);
  const real r = limited - (shifted - real(12582912.0f));
  real p = fma(real(0.00133908633f), r, real(0.00967603177f));
  p = fma(p, r, real(0.0555035695f));
  p = fma(p, r, real(0.240221068f));
  p = fma(p, r, real(0.693147182f));
  p = fma(p, r, real(1.00000012f));
  // The low bits of the shifted number are the exponent.
  return from_bits(bits_of(p) + SHIFT_LEFT(bits_of(shifted), 23));
}

// (x + e)^power, from which the caller takes away e^power.
FUNCTION real raised(real x, real power) { return quick_exp_2(power * quick_log_2(x + real(POWER_OFFSET))); }

// Samples of the scale above to one of the next.
FUNCTION real reduce_five(real a, real b, real c, real d, real e) {
  return fma(real(0.4f), c, fma(real(0.25f), b + d, real(0.05f) * (a + e)));
}

// Samples of the next scale to one of this scale: at an even place, and at an odd one.
FUNCTION real expand_even(real before, real here, real after) {
  return fma(real(0.8f), here, real(0.1f) * (before + after));
}
FUNCTION real expand_odd(real here, real after) { return real(0.5f) * (here + after); }

FUNCTION real background_of(real expanded) { return max(expanded, real(0.01f)); }
FUNCTION real contrast_of(real sample, real expanded, real reciprocal) {
  return min((sample - expanded) * reciprocal, real(1000.0f));
}

// What is seen of a difference in the presence of masking: d * p / (d + d * m + p), d being the largest difference that
// counts.
FUNCTION real seen_difference(real p, real m, real largest) {
  return divide(largest * p, fma(largest, m, largest) + p);
}

// The reference's square.
FUNCTION real offset_square(real x) { return x * (x + real(2e-5f)); }

// Its fourth power, without taking away e^4, which is too small to show, and the inverse.
FUNCTION real offset_fourth(real x) {
  const real square = (x + real(POWER_OFFSET)) * (x + real(POWER_OFFSET));
  return square * square;
}
FUNCTION real offset_fourth_root(real x) { return sqrt(sqrt(x + real(POWER_OFFSET))) - sqrt(sqrt(real(POWER_OFFSET))); }

// Light of encoded samples from 0 to 1, as a fraction of the display's range.
FUNCTION real quick_power(real x, real exponent) { return quick_exp_2(exponent * quick_log_2(x)); }
FUNCTION real srgb_light(real v) {
  const real curved = quick_power((v + real(0.055f)) * real(0.947867274f), real(2.4f));
  return select(v > real(0.04045f), curved, v * real(0.0773993805f));
}
// Of the scene.
FUNCTION real hlg_light(real v) {
  // exp((v - c) / a) as a power of 2.
  const real curved = quick_exp_2(fma(v, real(8.06728566f), real(-4.5169598f)));
  return select(v > real(0.5f), (curved + real(0.28466892f)) * real(0.0833333333f), v * v * real(0.333333333f));
}
