// SPDX-License-Identifier: BSD-2-Clause-Patent
// The arithmetic of SSIMULACRA2 for one pixel, in the kernel dialect. The figures are those of libjxl
// (lib/jxl/cms/opsin_params.h, tools/ssimulacra2.cc), the operation order of the colour transform too.

// Cube root plus an addend, by four steps of Newton's method on x^(-1/3), as the reference approximates it (within 6
// ulp).
FUNCTION real opsin_cube_root_plus(real x, real addend) {
  // An exponent divided by minus three makes the first guess. Zero must not: its guess is zero.
  const whole bits = bits_of(x);
  const whole guess = whole(0x54800000) - SHIFT_RIGHT(bits, 23) * whole(0x002AAAAA);
  real r = from_bits(select(bits == whole(0), whole(0), guess));
  const real third = x * real(0.333333343f);
  for (int step = 0; step < 3; ++step) {
    const real r2 = r * r;
    r = fma(-third, r2 * r2, r * real(1.33333337f));
  }
  const real r2 = r * r;
  r = fma(real(0.333333343f), fma(-x, r2 * r2, r), r);
  return fma(r * r, x, addend);
}

// Linear-light BT.709, white at 1, to XYB shifted and scaled so that all three are positive and span about 0..1.
FUNCTION void positive_xyb(real red, real green, real blue, INOUT(real) out_x, INOUT(real) out_y, INOUT(real) out_b) {
  const real bias = real(0.0037930732552754493f);
  const real minus_root_of_bias = real(-0.155954197f);
  const real l = fma(real(0.30f), red, fma(real(0.621999979f), green, fma(real(0.078f), blue, bias)));
  const real m = fma(real(0.23f), red, fma(real(0.691999972f), green, fma(real(0.078f), blue, bias)));
  const real s =
      fma(real(0.24342268924547819f), red, fma(real(0.20476744424496821f), green, fma(real(0.551809847f), blue, bias)));
  const real root_l = opsin_cube_root_plus(max(l, real(0.0f)), minus_root_of_bias);
  const real root_m = opsin_cube_root_plus(max(m, real(0.0f)), minus_root_of_bias);
  const real root_s = opsin_cube_root_plus(max(s, real(0.0f)), minus_root_of_bias);
  const real y = real(0.5f) * (root_l + root_m);
  out_x = real(0.5f) * (root_l - root_m) * real(14.0f) + real(0.42f);
  out_y = y + real(0.01f);
  out_b = (root_s - y) + real(0.55f);
}

// The mean of 2 x 2, in the reference's order of additions; the last column and row stand for what lies beyond them.
FUNCTION real mean_of_quad(real a, real b, real c, real d) { return (((a + b) + c) + d) * real(0.25f); }

// 1 - SSIM without the luminance denominator, at least 0.
FUNCTION real ssim_error(real mu1, real mu2, real s11, real s22, real s12) {
  const real c2 = real(0.0009f);
  const real difference = mu1 - mu2;
  const real luminance = real(1.0f) - difference * difference;
  const real numerator = real(2.0f) * (s12 - mu1 * mu2) + c2;
  const real denominator = ((s11 - mu1 * mu1) + (s22 - mu2 * mu2)) + c2;
  return max(real(1.0f) - divide(luminance * numerator, denominator), real(0.0f));
}

// How much stronger (positive: ringing) or weaker (negative: blur) the distorted picture departs from its surroundings.
FUNCTION real edge_error(real image1, real mu1, real image2, real mu2) {
  const real edge1 = abs(image1 - mu1);
  const real edge2 = abs(image2 - mu2);
  return divide(edge2 - edge1, real(1.0f) + edge1);
}

FUNCTION real fourth_power(real x) {
  const real x2 = x * x;
  return x2 * x2;
}
