// SPDX-License-Identifier: BSD-2-Clause-Patent
// Butteraugli's arithmetic for one pixel, in the kernel dialect: cpu.cc includes it with vectors, kernels.h with
// floats. The definition is libjxl's butteraugli as its tool runs it, compiled for AVX2. The order of operations
// written here IS Acuity's definition: every device gives the same bits. blurs.h and malta.h hold the filters.
//
// Where a stage takes a small difference of large numbers (opsin, the blurs, the low-frequency difference) each
// operation is libjxl's, rounding included, because that rounding shows in the scores of smooth pictures: a product and
// a sum are one fma only where libjxl's AVX2 code fuses them. The stages after them, whose rounding does not show, are
// written for speed.

// ---------------------------------------------------------------------------------------------------------------------
// Half resolution: the mean of 2 x 2 in linear light. Samples outside the picture are 0, and `factor` makes up for
// them: 0.25, twice that in the last column of an odd width, and twice again in the last row of an odd height.
FUNCTION real halve(real upper_left, real upper_right, real lower_left, real lower_right, real factor) {
  return (((upper_left + upper_right) + lower_left) + lower_right) * factor;
}

// ---------------------------------------------------------------------------------------------------------------------
// Opsin dynamics: linear light in, XYB (butteraugli's own, not that of JPEG XL) out.

// The blur of sigma 1.2, along rows first and then along columns. Outside the picture it is mirrored, the edge
// repeated: sample -1 is sample 0, -2 is 1.
FUNCTION real blur_opsin(real before2, real before1, real centre, real after1, real after2) {
  const real inner = fma(before1 + after1, real(0.242667601f), centre * real(0.343406469f));
  return fma(before2 + after2, real(0.0856291726f), inner);
}

// libjxl's log2: a rational function of the mantissa, good to 2e-6, which scores contain.
FUNCTION real approximate_log_2(real x) {
  const whole bits = bits_of(x);
  const whole exponent = SHIFT_RIGHT(bits - whole(0x3F2AAAAB), 23);
  const real m = from_bits(bits - SHIFT_LEFT(exponent, 23)) - real(1.0f);
  const real above = fma(fma(real(0.742458761f), m, real(1.42871606f)), m, real(-1.85038334e-06f));
  const real below = fma(fma(real(0.174093425f), m, real(1.00967181f)), m, real(0.990328133f));
  return divide_ordinary(above, below) + to_real(exponent);
}

// The slope of the eye's response at the brightness around a pixel.
FUNCTION real opsin_sensitivity(real absorbed) {
  const real response = fma(real(13.3396273f), approximate_log_2(absorbed + real(9.97106361f)), real(-23.1604633f));
  return max(divide_ordinary(response, absorbed), real(0.0001f));
}

FUNCTION real absorb_long(real r, real g, real b) {
  return fma(real(0.299565494f), r, fma(real(0.633730888f), g, fma(real(0.0777056143f), b, real(1.75574839f))));
}
FUNCTION real absorb_medium(real r, real g, real b) {
  return fma(real(0.221586913f), r, fma(real(0.693913877f), g, fma(real(0.0987313613f), b, real(1.75574839f))));
}
FUNCTION real absorb_short(real r, real g, real b) {
  return fma(real(0.0199999996f), r, fma(real(0.0199999996f), g, fma(real(0.204801291f), b, real(12.2264547f))));
}

// `nits` is the luminance of 1.0; soft_* is the pixel of the picture blurred by blur_opsin.
FUNCTION void opsin_dynamics(real red, real green, real blue, real soft_red, real soft_green, real soft_blue, real nits,
                             INOUT(real) x, INOUT(real) y, INOUT(real) b) {
  const real r0 = soft_red * nits;
  const real g0 = soft_green * nits;
  const real b0 = soft_blue * nits;
  const real r1 = red * nits;
  const real g1 = green * nits;
  const real b1 = blue * nits;
  const real floor_01 = real(1.75574839f);
  const real floor_2 = real(12.2264547f);
  const real cone0 = max(absorb_long(r1, g1, b1) * opsin_sensitivity(max(absorb_long(r0, g0, b0), floor_01)), floor_01);
  const real cone1 =
      max(absorb_medium(r1, g1, b1) * opsin_sensitivity(max(absorb_medium(r0, g0, b0), floor_01)), floor_01);
  const real cone2 = max(absorb_short(r1, g1, b1) * opsin_sensitivity(max(absorb_short(r0, g0, b0), floor_2)), floor_2);
  x = cone0 - cone1;
  y = cone0 + cone1;
  b = cone2;
}

// ---------------------------------------------------------------------------------------------------------------------
// Frequency subbands of one picture. Only X and Y have high (HF) and ultra-high (UHF) ones.

// The low subband as it is compared. The middle subband begins as XYB minus the blurred XYB.
FUNCTION void low_values(INOUT(real) x, INOUT(real) y, INOUT(real) b) {
  b = fma(real(-0.362267047f), y, b) * real(49.8798447f);
  x = x * real(33.8328362f);
  y = y * real(14.4582682f);
}

// Values nearer to zero than `range` become zero, others move towards it.
FUNCTION real remove_around_zero(real x, real range) {
  return select(x > range, x - range, select(x < -range, x + range, real(0.0f)));
}
// Values nearer to zero than `range` are doubled, others move away from it.
FUNCTION real amplify_around_zero(real x, real range) {
  return select(x > range, x + range, select(x < -range, x - range, x + x));
}
// What lies beyond `limit` counts less.
FUNCTION real soften_beyond(real x, real limit) {
  const real above = fma(x - limit, real(0.724216163f), limit);
  const real below = fma(x + limit, real(0.724216163f), -limit);
  return select(x < -limit, below, select(x >= limit, above, x));
}

// `middle` is the subband before the blur, `soft` after it: the middle subband that remains and the high one that
// leaves it.
FUNCTION void split_middle(real middle_x, real middle_y, real soft_x, real soft_y, INOUT(real) kept_x,
                           INOUT(real) kept_y, INOUT(real) high_x, INOUT(real) high_y) {
  kept_x = remove_around_zero(soft_x, real(0.289999992f));
  kept_y = amplify_around_zero(soft_y, real(0.100000001f));
  high_y = middle_y - soft_y;
  // Red against green counts less where brightness changes.
  const real suppression = divide_ordinary(real(46.0f), fma(high_y, high_y, real(46.0f)));
  high_x = fma(suppression, real(0.346979439f), real(0.653020561f)) * (middle_x - soft_x);
}

// The same for the high and the ultra-high subband.
FUNCTION void split_high_x(real high, real soft, INOUT(real) kept, INOUT(real) ultra) {
  kept = remove_around_zero(soft, real(1.5f));
  ultra = remove_around_zero(high - soft, real(0.0399999991f));
}
FUNCTION void split_high_y(real high, real soft, INOUT(real) kept, INOUT(real) ultra) {
  const real softened = soften_beyond(soft, real(28.4691811f));
  ultra = soften_beyond(high - softened, real(5.19175291f)) * real(2.69313765f);
  kept = amplify_around_zero(softened * real(2.15499997f), real(0.131999999f));
}

// How busy the picture is at a pixel: what the mask is blurred from.
FUNCTION real activity(real high_x, real high_y, real ultra_x, real ultra_y) {
  const real x = (ultra_x + high_x) * real(2.5f);
  const real y = fma(ultra_y, real(0.400000006f), high_y * real(0.400000006f));
  const real both = sqrt_ordinary(max(fma(x, x, y * y), real(1e-20f)));  // less does not show beside 78
  return sqrt_ordinary(fma(real(6.19424057f), both, real(78.1125107f))) - real(8.83812809f);
}

// ---------------------------------------------------------------------------------------------------------------------
// Comparing the subbands of the reference (a) and the distorted picture (b).

// What the line sums of malta.h are taken of, 0 outside the picture. `symmetric` weighs the difference, `one_sided`
// what b lacks of 0.55 a or has beyond 1.05 a; both are divided by `norm` and the size of the signal. Dividends too
// small to be ordinary have quotients whose squares are 0.
FUNCTION real malta_input(real a, real b, real symmetric, real one_sided, real norm) {
  const real low = fma(real(0.550000012f), a, -b);
  const real high = fma(real(1.04999995f), a, -b);
  const real beyond = max(min(low, high), min(max(low, high), real(0.0f)));
  const real size = fma(real(0.5f), abs(a) + abs(b), norm);
  return divide_ordinary(fma(one_sided, beyond, symmetric * (a - b)), size);
}

FUNCTION real squared(real x) { return x * x; }

// Differences of the low subbands.
FUNCTION real low_difference(real x, real y, real b, real xmul) {
  return fma(squared(b), real(0.7036466f), fma(squared(y), real(0.844626963f), squared(x) * real(29.2353802f) * xmul));
}

// Pixelwise differences of the other subbands. Of the middle ones, by their squares ...
FUNCTION real middle_difference(real x, real y, real b, real xmul) {
  return fma(squared(b), real(16.2176037f), fma(squared(x) * real(2150.0f), xmul, squared(y) * real(10.6195431f)));
}
// ... of the high ones of a channel, by the square and the square of what b lacks of 0.4 a or has beyond a ...
FUNCTION real high_difference(real a, real b, real symmetric, real one_sided) {
  const real low = fma(real(0.400000006f), a, -b);
  const real difference = a - b;
  const real beyond = max(min(low, difference), min(max(low, difference), real(0.0f)));
  return fma(squared(beyond), one_sided, squared(difference) * symmetric);
}
// ... and of all.
FUNCTION real pixel_difference(real middle, real high_x, real high_y, real xmul) {
  return fma(high_x, xmul, high_y) + middle;
}

// Norms and, for the middle subbands, weights of malta_input. Those of the other subbands depend on the asymmetry asked
// for.
#define ULTRA_X_NORM real(5.0f)
#define ULTRA_Y_NORM real(71.7800293f)
#define HIGH_X_NORM real(8051.1582f)
#define HIGH_Y_NORM real(4498534.5f)
#define MIDDLE_X_NORM real(1009002.69f)
#define MIDDLE_Y_NORM real(130262056.0f)
#define MIDDLE_X_SYMMETRIC real(4662043.5f)
#define MIDDLE_X_ONE_SIDED real(3787462.0f)
#define MIDDLE_Y_SYMMETRIC real(40359140.0f)
#define MIDDLE_Y_ONE_SIDED real(32787922.0f)

// The mask of the reference: the three smallest of a pixel of the blurred activity, twice that value twice, and its
// eight neighbours at distance 3. Neighbours outside the picture are left out; so is any value of ERODED_NOTHING.
#define ERODED_NOTHING 3.0e38f
FUNCTION void erode(real value, INOUT(real) smallest, INOUT(real) second, INOUT(real) third) {
  const real above_smallest = max(value, smallest);
  smallest = min(value, smallest);
  const real above_second = max(above_smallest, second);
  second = min(above_smallest, second);
  third = min(above_second, third);
}
FUNCTION real eroded(real smallest, real second, real third) {
  return fma(real(0.25f), third, fma(real(0.300000012f), second, real(0.449999988f) * smallest));
}

// What the mask makes of differences, those of the low subbands (dc) and all others (ac).
FUNCTION void mask_gains(real mask, INOUT(real) dc_gain, INOUT(real) ac_gain) {
  const real scale = real(0.0709222406f);
  const real dc_mask = divide_ordinary(real(0.505054533f), fma(real(3.87449408f), mask, real(0.200255781f)));
  const real ac_mask = divide_ordinary(real(2.54859447f), fma(real(0.45193693f), mask, real(0.829591751f)));
  dc_gain = squared(fma(scale, dc_mask, scale));
  ac_gain = squared(fma(scale, ac_mask, scale));
}

// A pixel of the map of one resolution. `dc` is the difference of the low subbands; `ac` is the pixelwise difference,
// then xmul times the line sums of X, then those of Y, each added in the order ultra-high, high, middle: fma(line sums,
// xmul, ac) for X and ac + line sums for Y. `activity_difference` is that of the blurred activities.
FUNCTION real masked_difference(real dc_gain, real ac_gain, real dc, real ac, real activity_difference) {
  const real all_ac = fma(squared(activity_difference), real(10.0f), ac);
  return sqrt(fma(dc, dc_gain, all_ac * ac_gain));
}

// A pixel of the final map, where there is a half resolution.
FUNCTION real both_resolutions(real full, real halved) { return fma(full, real(0.850000024f), real(0.5f) * halved); }

// ---------------------------------------------------------------------------------------------------------------------
// Norms. Twelfth powers leave the range of floats, so the values of a tile are divided by the power of two below the
// tile's largest value, which is exact, and the host multiplies it back in.

// What to multiply the values of a tile by. 2^127 where there is nothing but zeros.
FUNCTION real tile_scale(real largest) { return from_bits(whole(0x7F000000) - (bits_of(largest) & whole(0x7F800000))); }

// What the norms 3, 6 and 12 sum up: by the reduction contract of tiles.h, over the scaled values of a tile.
FUNCTION void norm_terms(real scaled, INOUT(real) third, INOUT(real) sixth, INOUT(real) twelfth) {
  third = scaled * scaled * scaled;
  sixth = third * third;
  twelfth = sixth * sixth;
}
// The same for the norms p, 2p and 4p where p is asked for; lang/exact.h must be included before.
FUNCTION void power_norm_terms(real scaled, real p, INOUT(real) once, INOUT(real) twice, INOUT(real) four_times) {
  once = power(scaled, p);
  twice = once * once;
  four_times = twice * twice;
}
