// SPDX-License-Identifier: BSD-2-Clause-Patent
// Colour, in the kernel dialect: include it after lang/exact.h. colour/steps.cc does it on the CPU,
// device/pixels/convert_kernels.h on GPUs.
#include "colour/curves.h"

// Equal samples of different depths, and of floats, must give equal light. What they have in common is the quotient of
// the sample and the largest one, rounded to float. Where that is a number of 255ths, whether it was divided or
// multiplied by a reciprocal, this is the number; otherwise -1.
FUNCTION real byte_of(real quotient) {
  const real code = (quotient * real(255.0f) + real(12582912.0f)) - real(12582912.0f);
  const real apart = abs(code * real(0.00392156886f) - quotient);
  const real near = select(apart <= quotient * real(2.38418579e-7f), code, real(-1.0f));
  return select(quotient <= real(1.0f), near, real(-1.0f));
}

// The quotient as the references have it for 8-bit pictures: their reciprocal rounds otherwise than a division.
FUNCTION real fraction_of(real quotient) {
  const real code = byte_of(quotient);
  return select(code >= real(0.0f), code * real(0.00392156886f), quotient);
}

// half_step: half the distance of floats of that size. A code divided by the last one is no more than that from its
// float, and what the float lacks of it, times the last code, is exact.
FUNCTION real place_among(real encoded, real half_step, real last, real first, real otherwise) {
  const real code = (encoded * last + real(12582912.0f)) - real(12582912.0f);
  return select(abs(fma(-last, encoded, code)) <= last * half_step, first + code, otherwise);
}

// Where a float sample that is the quotient of a code of 8, 10, 12 or 16 bits has its light in the table of floats
// (colour/samples.h), which has those of 16, of 12 and of 10 bits one after the other; -1 for all other samples.
FUNCTION real code_place(real encoded) {
  const real half_step = from_bits(bits_of(encoded) & whole(0x7F800000)) * real(5.96046448e-8f);
  real place = place_among(encoded, half_step, real(1023.0f), real(69632.0f), real(-1.0f));
  place = place_among(encoded, half_step, real(4095.0f), real(65536.0f), place);
  place = place_among(encoded, half_step, real(65535.0f), real(0.0f), place);
  const real code = byte_of(encoded);
  place = select(code >= real(0.0f), code * real(257.0f), place);
  return select(encoded >= real(0.0f), select(encoded <= real(1.0f), place, real(-1.0f)), real(-1.0f));
}

FUNCTION real with_sign_of(real sign, real magnitude) { return select(sign < real(0.0f), -magnitude, magnitude); }

// IEC 61966-2-1, relative error within 5e-7.
FUNCTION real srgb_light(real encoded) {
  const real x = abs(encoded);
  const real curved = power(divide(x + real(0.055f), real(1.055f)), real(2.4f));
  return with_sign_of(encoded, select(x <= real(0.04045f), x * real(0.0773993805f), curved));
}

// The same with constants that leave no step, and no bend, where its two parts meet.
FUNCTION real srgb_light_smooth(real encoded) {
  const real x = abs(encoded);
  const real curved = power(divide(x + real(0.0550107189f), real(1.05501072f)), real(2.4f));
  return with_sign_of(encoded, select(x <= real(0.0392933707f), x * real(0.0773993805f), curved));
}

// What libjxl computes for it: a quotient of polynomials, within 3e-7, in its operation order.
FUNCTION real srgb_light_of_libjxl(real encoded) {
  const real x = abs(encoded);
  real numerator = real(8.210152774e-01f);
  numerator = fma(numerator, x, real(7.961564959e-01f));
  numerator = fma(numerator, x, real(1.624820318e-01f));
  numerator = fma(numerator, x, real(1.043637593e-02f));
  numerator = fma(numerator, x, real(2.200248328e-04f));
  real denominator = real(6.521209011e-03f);
  denominator = fma(denominator, x, real(-5.512498495e-02f));
  denominator = fma(denominator, x, real(4.987528350e-01f));
  denominator = fma(denominator, x, real(1.076976492e+00f));
  denominator = fma(denominator, x, real(2.631846970e-01f));
  return with_sign_of(encoded, select(x <= real(0.04045f), x * real(0.0773993805f), divide(numerator, denominator)));
}

// SMPTE ST 2084 as a part of 10000 nit, relative error within 2e-6. Its two constants c2 - c3 and 1 - c1 are equal, and
// with what the inner power lacks to one nothing cancels in the quotient.
FUNCTION real pq_light(real encoded) {
  real log_high;
  real log_low;
  log_2_pair(min(max(encoded, real(0.0f)), real(1.0f)), log_high, log_low);
  const real product = log_high * real(0.0126833133f);
  const real product_low = fma(log_low, real(0.0126833133f), fma(log_high, real(0.0126833133f), -product));
  const real lack = exp_2_minus_1(max(product, real(-0.5f)), product_low);  // beyond -0.5 the light is zero anyway
  const real quotient = divide(max(real(0.1640625f) + lack, real(0.0f)), fma(real(-18.6875f), lack, real(0.1640625f)));
  return power(quotient, real(6.27739477f));
}

// The HLG curve of BT.2100 to scene light, relative error within 1e-6.
FUNCTION real hlg_scene(real encoded) {
  const real x = max(encoded, real(0.0f));
  const real curved =
      fma(exp_2(fma(x, real(8.06728554f), real(-4.51695967f))), real(0.0833333358f), real(0.0237224102f));
  return select(x <= real(0.5f), x * x * real(0.333333343f), curved);
}

FUNCTION real light_of_sample(int curve, real a, real encoded) {
  if (curve == CURVE_SRGB || curve == CURVE_SRGB_SINGLE) return srgb_light(encoded);
  if (curve == CURVE_SRGB_LIBJXL) return srgb_light_of_libjxl(encoded);
  if (curve == CURVE_SRGB_SMOOTH) return srgb_light_smooth(encoded);
  if (curve == CURVE_POWER) return with_sign_of(encoded, power(abs(encoded), a));
  if (curve == CURVE_PQ) return pq_light(encoded) * a;
  if (curve == CURVE_HLG) return hlg_scene(encoded);
  return encoded * a;
}

// Light to sRGB codes, 0 .. 255: IEC 61966-2-1 with a relative error within 3e-7, odd for negative light.
FUNCTION real srgb_code(real linear) {
  const real x = abs(linear);
  const real curved = fma(power(x, real(0.416666667f)), real(269.025f), real(-14.025f));
  return with_sign_of(linear, select(x <= real(0.00313080495f), x * real(3294.6f), curved));
}

FUNCTION real weighted_sum(real weight1, real weight2, real weight3, real red, real green, real blue) {
  return fma(weight3, blue, fma(weight2, green, weight1 * red));
}

// The parameters of what mixes channels.
struct Mixing {
  real hlg_red;  // how much each channel adds to the luminance of a pixel
  real hlg_green;
  real hlg_blue;
  real hlg_exponent;
  real hlg_scale;
  real red_red;  // rows of the matrix
  real red_green;
  real red_blue;
  real green_red;
  real green_green;
  real green_blue;
  real blue_red;
  real blue_green;
  real blue_blue;
};

FUNCTION void mix(int steps, Mixing by, INOUT(real) red, INOUT(real) green, INOUT(real) blue) {
  if ((steps & STEP_SHOW_HLG) != 0) {
    // What a display makes of scene light: the brightness of a pixel sets the gain of all its channels.
    const real luminance = weighted_sum(by.hlg_red, by.hlg_green, by.hlg_blue, red, green, blue);
    const real gain =
        select(luminance >= real(1.17549435e-38f), power(luminance, by.hlg_exponent) * by.hlg_scale, real(0.0f));
    red = gain * red;
    green = gain * green;
    blue = gain * blue;
  }
  if ((steps & STEP_MATRIX) != 0) {
    const real r = red;
    const real g = green;
    const real b = blue;
    red = weighted_sum(by.red_red, by.red_green, by.red_blue, r, g, b);
    green = weighted_sum(by.green_red, by.green_green, by.green_blue, r, g, b);
    blue = weighted_sum(by.blue_red, by.blue_green, by.blue_blue, r, g, b);
  }
  if ((steps & STEP_CODES) != 0) {
    red = srgb_code(red);
    green = srgb_code(green);
    blue = srgb_code(blue);
  }
}
