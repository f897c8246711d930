// SPDX-License-Identifier: BSD-2-Clause-Patent
// Cube root, logarithm, exponential and power in the kernel dialect, made of operations that IEEE 754 rounds alike
// everywhere: every target gives the same bits. Include it once for each target, inside the namespace of the dialect.
//
//              domain                error      at the ends
//   cube_root  x >= 0, finite        0.501 ulp  0 for 0
//   log_2      x >= 0, finite        0.501 ulp  -infinity for 0
//   exp_2      any x                 0.65 ulp   infinity from 128 on; 0 below -126, where results would be subnormal
//   power      x >= 0, x, y finite   0.65 ulp   as exp_2; x^0 = 1; 0^y = 0 or infinity by the sign of y
//   exp_2_minus_1  |x| <= 0.5        1 ulp      0 for 0
//
// tests/lang/exact_test.cc holds them to these bounds. Other arguments, NaN among them, give unspecified results.
// Subnormal arguments count with their full value even on devices that flush them: they are taken apart as integers.

// x = mantissa * 2^exponent with sqrt(1/2) <= mantissa < sqrt(2), for x > 0.
FUNCTION void split_exponent(real x, INOUT(real) mantissa, INOUT(whole) exponent) {
  const truth subnormal = x < real(1.17549435e-38f);
  // A subnormal number is a multiple of 2^-149 by its bits as an integer.
  const whole bits = select(subnormal, bits_of(to_real(bits_of(x))), bits_of(x));
  const whole above_sqrt_half = SHIFT_RIGHT(bits - whole(0x3F3504F3), 23);
  mantissa = from_bits(bits - SHIFT_LEFT(above_sqrt_half, 23));
  exponent = select(subnormal, above_sqrt_half - whole(149), above_sqrt_half);
}

// Told by the bits, because a device that flushes subnormal numbers takes them for zero when it compares.
FUNCTION truth is_zero(real x) { return (bits_of(x) & whole(0x7FFFFFFF)) == whole(0); }

FUNCTION real cube_root(real x) {
  const truth subnormal = x < real(1.17549435e-38f);
  const whole bits = select(subnormal, bits_of(to_real(bits_of(x)) * real(2.0f)), bits_of(x));
  // x = m * 2^(3 third) with 1 <= m < 8; 171 / 512 is a third for all the numbers that occur.
  const whole third = SHIFT_RIGHT((SHIFT_RIGHT(bits, 23) - whole(1)) * whole(171), 9) - whole(42);
  const real m = from_bits(bits - SHIFT_LEFT(third * whole(3), 23));
  // m^(-1/3): a cubic within 1.7 %, then a step that cubes its error and one that squares it.
  real z = fma(fma(fma(real(-0.00254891859f), m, real(0.0458948873f)), m, real(-0.297208488f)), m, real(1.23702037f));
  real error = fma(-(m * z), z * z, real(1.0f));
  z = fma(z * error, fma(error, real(0.222222222f), real(0.333333333f)), z);
  error = fma(-(m * z), z * z, real(1.0f));
  z = fma(z * error, real(0.333333333f), z);
  // m * z^2 is the root to within 2 ulp. What its cube leaves of m, computed exactly enough, makes it right.
  const real z2 = z * z;
  const real root = m * z2;
  const real square = root * root;
  const real square_low = fma(root, root, -square);
  const real rest = fma(-square_low, root, fma(-square, root, m));
  const real corrected = fma(rest * z2, real(0.333333333f), root);
  const whole scale = SHIFT_LEFT(select(subnormal, third - whole(50), third), 23);
  return select(is_zero(x), real(0.0f), from_bits(bits_of(corrected) + scale));
}

// log2(x) = high + low to about 2^-36 of itself, for x > 0.
FUNCTION void log_2_pair(real x, INOUT(real) high, INOUT(real) low) {
  real m;
  whole exponent;
  split_exponent(x, m, exponent);
  // s = (m - 1) / (m + 1) as s + s_low.
  const real below = m - real(1.0f);
  const real above = m + real(1.0f);
  const real above_low = m - (above - real(1.0f));
  const real reciprocal = divide(real(1.0f), above);
  const real s = below * reciprocal;
  const real s_low = fma(-s, above_low, fma(-s, above, below)) * reciprocal;
  // log2(m) = s * (C0 + w * (C1 + w * T(w))) with w = s^2, C0 = 2 / ln 2 and C1 = C0 / 3; each step as a pair.
  const real w = s * s;
  const real w_low = fma(s, s, -w) + (s + s) * s_low;
  const real tail = w * fma(fma(real(0.337862164f), w, real(0.411847949f)), w, real(0.57708019f));
  const real u = real(0.961796701f) + tail;
  const real u_low = (tail - (u - real(0.961796701f))) + real(-7.02846181e-09f);
  const real v = w * u;
  const real v_low = fma(w, u_low, fma(w_low, u, fma(w, u, -v)));
  const real g = real(2.88539004f) + v;
  const real g_low = (v - (g - real(2.88539004f))) + (v_low + real(3.85192607e-08f));
  const real product = s * g;
  const real product_low = fma(s, g_low, fma(s_low, g, fma(s, g, -product)));
  // The exponent is either zero or the larger of the two.
  const real whole_part = to_real(exponent);
  const real sum = whole_part + product;
  const real sum_low = (product - (sum - whole_part)) + product_low;
  high = sum + sum_low;
  low = sum_low - (high - sum);
}

// (2^r - 1 - r ln 2) / r^2 for |r| <= 0.5.
FUNCTION real exp_2_tail(real r) {
  real p = fma(real(1.53120272e-05f), r, real(0.000154669644f));
  p = fma(p, r, real(0.00133334473f));
  p = fma(p, r, real(0.00961803738f));
  p = fma(p, r, real(0.0555041097f));
  return fma(p, r, real(0.240226507f));
}

// 2^(high + low) for |low| no larger than the rounding error of high.
FUNCTION real exp_2_pair(real high, real low) {
  // Adding and taking away 1.5 * 2^23 rounds to whole numbers.
  const real limited = max(min(high, real(160.0f)), real(-160.0f));
  const real nearest = (limited + real(12582912.0f)) - real(12582912.0f);
  const real r = limited - nearest;
  // 2^r = 1 + r ln 2 + r^2 tail, the two leading terms as pairs.
  const real linear = r * real(0.693147182f);
  const real linear_low = fma(r, real(-1.90465421e-09f), fma(r, real(0.693147182f), -linear));
  const real curved = r * r * exp_2_tail(r);
  const real one = real(1.0f) + linear;
  const real one_low = (linear - (one - real(1.0f))) + linear_low;
  // 2^low = 1 + low ln 2, a factor of all the rest.
  const real rest = fma(low * real(0.693147182f), one + curved, one_low);
  const real result = one + (curved + rest);
  const real scaled = from_bits(bits_of(result) + SHIFT_LEFT(to_whole(nearest), 23));
  const truth too_small = (high + real(126.0f)) + low < real(0.0f);
  const truth too_large = (high - real(128.0f)) + low >= real(0.0f);
  return select(too_small, real(0.0f), select(too_large, from_bits(whole(0x7F800000)), scaled));
}

// 2^(high + low) - 1 for |high| <= 0.5 and |low| no larger than the rounding error of high; nothing cancels near zero.
FUNCTION real exp_2_minus_1(real high, real low) {
  const real linear = high * real(0.693147182f);
  const real linear_low = fma(high, real(-1.90465421e-09f), fma(high, real(0.693147182f), -linear));
  const real curved = high * high * exp_2_tail(high);
  return linear + (curved + fma(low * real(0.693147182f), real(1.0f) + linear, linear_low));
}

FUNCTION real log_2(real x) {
  real high;
  real low;
  log_2_pair(x, high, low);
  return select(is_zero(x), -from_bits(whole(0x7F800000)), high);
}

FUNCTION real exp_2(real x) { return exp_2_pair(x, real(0.0f)); }

FUNCTION real power(real x, real y) {
  real log_high;
  real log_low;
  log_2_pair(x, log_high, log_low);
  const real product = y * log_high;
  const real product_low = fma(y, log_low, fma(y, log_high, -product));
  // Far outside the range the low part may be no number; there it does not matter.
  const real result = exp_2_pair(product, select(abs(product) < real(256.0f), product_low, real(0.0f)));
  const real of_zero = select(y < real(0.0f), from_bits(whole(0x7F800000)), real(0.0f));
  return select(y == real(0.0f), real(1.0f), select(is_zero(x), of_zero, result));
}
