// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sums of products as libvmaf's SSIM takes them, and its factors, in the kernel dialect. There each product is rounded
// to float, the sum of them is taken in double, and that is rounded to float. Scores contain these roundings: a
// variance is the small difference of two large means.
//
// Here the sum is two floats instead of a double: `high` begins at a number larger than all the sums, so that what a
// product loses when it is added is found by two subtractions, and goes to `low`. sum_by_multiplier(a, b) is a + b.

#define SAMPLES_BEGIN real(4096.0f)
#define SQUARES_BEGIN real(1048576.0f)

FUNCTION void add_exactly(real product, INOUT(real) high, INOUT(real) low) {
  const real sum = high + product;
  low = sum_by_multiplier(low, product - sum_by_multiplier(sum, -high));
  high = sum;
}

FUNCTION real rounded_sum(real begin, real high, real low) { return (high - begin) + low; }

// libvmaf's window, which adds up to 1.000002: where the picture is flat, variances come out below zero and are cut.
#define WINDOW_SIDE 11
FUNCTION float window_weight(int k) {
  const int from_end = k < 6 ? k : 10 - k;
  return from_end == 0   ? 0.001028f
         : from_end == 1 ? 0.007599f
         : from_end == 2 ? 0.036001f
         : from_end == 3 ? 0.109361f
         : from_end == 4 ? 0.213006f
                         : 0.266012f;
}

/// The factors of a window from its means, in double as libvmaf has them, from numbers in float.
FUNCTION void find_factors(real mean_a, real mean_b, real square_a, real square_b, real product, INOUT(wide) luminance,
                           INOUT(wide) contrast, INOUT(wide) structure) {
  const real zero = real(0.0f);
  const real mean_aa = mean_a * mean_a;
  const real mean_bb = mean_b * mean_b;
  const real variance_a = max(zero, square_a - mean_aa);
  const real variance_b = max(zero, square_b - mean_bb);
  const real covariance = product - mean_a * mean_b;
  const real root = sqrt(variance_a * variance_b);
  // Where nothing varies, rounding alone makes a covariance.
  const real kept = select(root <= zero, max(zero, covariance), covariance);
  // The constants (0.01 x 255)^2, (0.03 x 255)^2 and half of it, as floats, and the same numbers as doubles.
  const real c1 = real(6.50249958f);
  const real c2 = real(58.5224953f);
  const real c3 = real(29.2612476f);
  luminance = divide(WIDE(2.0) * to_wide(mean_a) * to_wide(mean_b) + WIDE(6.50249958038330078125),
                     to_wide(mean_aa + mean_bb + c1));
  contrast = divide(WIDE(2.0) * to_wide(root) + WIDE(58.522495269775390625), to_wide(variance_a + variance_b + c2));
  structure = to_wide(divide(kept + c3, root + c3));
}

// The low-pass filter of the 9/7 wavelet before each halving: rows from its middle, each from its own middle. They were
// rounded in two dimensions, and so are not quite products of a row and a column.
#define LOW_PASS_0 real(0.363505f), real(0.160885f), real(-0.047149f), real(-0.010146f), real(0.016114f)
#define LOW_PASS_1 real(0.160885f), real(0.071207f), real(-0.020867f), real(-0.004490f), real(0.007132f)
#define LOW_PASS_2 real(-0.047149f), real(-0.020867f), real(0.006115f), real(0.001316f), real(-0.002090f)
#define LOW_PASS_3 real(-0.010146f), real(-0.004490f), real(0.001316f), real(0.000283f), real(-0.000450f)
#define LOW_PASS_4 real(0.016114f), real(0.007132f), real(-0.002090f), real(-0.000450f), real(0.000714f)

/// What a row gives to a sample of the picture at half the size: samples from four to the left to four to the right,
/// those at even distances first. `high` is less SAMPLES_BEGIN.
FUNCTION void low_pass(real w0, real w1, real w2, real w3, real w4, real l4, real l3, real l2, real l1, real middle,
                       real r1, real r2, real r3, real r4, INOUT(real) high, INOUT(real) low) {
  high = SAMPLES_BEGIN;
  low = real(0.0f);
  add_exactly(l4 * w4, high, low);
  add_exactly(l2 * w2, high, low);
  add_exactly(middle * w0, high, low);
  add_exactly(r2 * w2, high, low);
  add_exactly(r4 * w4, high, low);
  add_exactly(l3 * w3, high, low);
  add_exactly(l1 * w1, high, low);
  add_exactly(r1 * w1, high, low);
  add_exactly(r3 * w3, high, low);
  high = high - SAMPLES_BEGIN;
}
