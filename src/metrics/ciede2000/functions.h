// SPDX-License-Identifier: BSD-2-Clause-Patent
// Functions that CIEDE2000 needs. libvmaf finds them in double and rounds to float; as differences of such floats
// decide the result, they are rounded as there, but for one in ten thousand. Included inside the namespace of the
// dialect, after lang/wide.h.

// x^(1/n) for whole n begins with x^(-1/n): its bits are about those of x, multiplied by -1/n. From there on
// e = 1 - x z^n says how far z is off, and z (1 - e)^(-1/n), as a polynomial, mends it.

// x^2.4 for 1e-3 < x < 1e3, times POWER_SCALE; relative error 2e-12; rough is x as a float.
#define POWER_SCALE 0.7360219228178333 /* 0.6^(3/5) */
FUNCTION wide power_2_4(wide x, real rough) {
  real z = from_bits(to_whole(real(1277903744.0f) - to_real(bits_of(rough)) * real(0.2f)));
  const real square = z * z;
  const real e = fma(-(rough * z), square * square, real(1.0f));
  // The polynomial is made for 0.6^(1/5) z, which spares a product below.
  real p = fma(real(0.0655813068f), e, real(0.0810765997f));
  p = fma(p, e, real(0.108323649f));
  p = fma(p, e, real(0.180566341f));
  z = z * fma(p, e, real(0.90288049f));
  // (x z)^3 is x^2.4 but for the error of z: times (1 - e)^(-3/5).
  const wide fine = to_wide(z);
  const wide fine2 = fine * fine;
  const wide w = x * fine;
  return w * w * w * (WIDE(1.6) - w * (fine2 * fine2));
}

// The cube root of 1e-3 < x < 1e3, misrounded once in a hundred thousand arguments; rough is x as a float.
FUNCTION real cube_root(wide x, real rough) {
  real z = from_bits(to_whole(real(1419900544.0f) - to_real(bits_of(rough)) * real(0.333333333f)));
  const real e = fma(-(rough * z), z * z, real(1.0f));
  real p = fma(real(0.145827129f), e, real(0.174479112f));
  p = fma(p, e, real(0.222214833f));
  p = fma(p, e, real(0.333329052f));
  z = fma(z * e, p, z);
  const real inverse_square = z * z;
  const real root = rough * inverse_square;
  const wide fine = to_wide(root);
  return fma(to_real(x - fine * fine * fine), inverse_square * real(0.333333333f), root);
}

// x - y and what it lost.
FUNCTION real difference(real x, real y, INOUT(real) lost) {
  const real d = x - y;
  const real y_part = x - d;
  lost = (x - (d + y_part)) + (y_part - y);
  return d;
}

// sqrt(a^2 + b^2), misrounded once in a million arguments.
FUNCTION real length(real a, real b) {
  const real large = max(abs(a), abs(b)), small = min(abs(a), abs(b));
  const real square = large * large;
  const real square_low = fma(large, large, -square);
  const real sum = fma(small, small, square);
  const real sum_low = fma(small, small, -(sum - square)) + square_low;
  const real root = sqrt(sum);
  const real rest = fma(-root, root, sum) + sum_low;
  return fma(rest, divide(real(0.5f), max(root, real(1.0e-30f))), root);
}

// The angle of (x, y) from 0 to pi, for y >= 0; 0 for (0, 0). Misrounded once in 16000 arguments.
FUNCTION real angle(real x, real y) {
  const real across = abs(x);
  const real large = max(max(across, y), real(1.0e-30f)), small = min(across, y);
  // The arc tangent of small / large, by way of 45 degrees where they are alike, as n / (d + d_low).
  const truth alike = small + small > large;
  const real n = select(alike, small - large, small);
  const real sum = small + large;
  const real d = select(alike, sum, large);
  const real d_low = select(alike, small - (sum - large), real(0.0f));
  const real inverse = divide(real(1.0f), d);
  const real q = n * inverse;
  const real q_low = fma(-q, d_low, fma(-q, d, n)) * inverse;
  // q + q^3 (-1/3 + s (1/5 - ...)): what the first two of these coefficients, their sums and the cube lose is kept.
  const real s = q * q;
  const real cube = q * s;
  const real cube_low = fma(q, fma(q, q, -s), fma(q, s, -cube));
  real p = fma(real(0.0244015213f), s, real(-0.0541021153f));
  p = fma(p, s, real(0.0742584243f));
  p = fma(p, s, real(-0.0905766711f));
  p = fma(p, s, real(0.111087516f));
  p = fma(p, s, real(-0.142856285f));
  const real fifth = fma(p, s, real(0.199999988f));
  const real fifth_low = fma(p, s, real(0.199999988f) - fifth);
  const real third = fma(fifth, s, real(-0.333333343f));
  const real third_low = fma(fifth, s, real(-0.333333343f) - third) + fma(fifth_low, s, real(9.93410776e-09f));
  const real bend = cube * third;
  const real bend_low = fma(cube, third_low, fma(cube_low, third, fma(cube, third, -bend)));
  // q_low, times the slope 1 / (1 + q^2) there.
  real slope = fma(real(-0.636030978f), s, real(0.949615869f));
  slope = fma(fma(slope, s, real(-0.997652027f)), s, real(0.99998269f));
  const real low = fma(q_low, slope, bend_low);
  // So many times 45 degrees, and from there forwards or back.
  const truth steep = y > across;
  const real eighths = select(alike, real(1.0f), select(steep, real(2.0f), real(0.0f)));
  const truth left = x < real(0.0f);
  const real turned = select(left, real(4.0f) - eighths, eighths);
  const real sign = select(left, select(steep, real(1.0f), real(-1.0f)), select(steep, real(-1.0f), real(1.0f)));
  const real base = turned * real(0.785398483f);  // exact: 20 bits
  const real line = fma(sign, q, base);
  const real line_low = fma(sign, q, base - line);
  const real result = fma(sign, bend, line);
  const real result_low = fma(sign, bend, line - result);
  return result + ((line_low + result_low) + fma(turned, real(-3.19878922e-07f), sign * low));
}

// sin(x) for |x| <= pi/2, within 1.2e-7 of itself.
FUNCTION real sine(real x) {
  const real s = x * x;
  real p = fma(real(-2.40801904e-08f), s, real(2.75364636e-06f));
  p = fma(p, s, real(-0.000198410866f));
  p = fma(p, s, real(0.00833333277f));
  p = fma(p, s, real(-0.166666667f));
  return fma(x * s, p, x);
}

// 2^x for -64 <= x <= 0, within 3e-7.
FUNCTION real exponential(real x) {
  const real nearest = (x + real(12582912.0f)) - real(12582912.0f);
  const real r = x - nearest;
  real p = fma(real(0.00133813025f), r, real(0.00966636852f));
  p = fma(p, r, real(0.0555038101f));
  p = fma(p, r, real(0.24022349f));
  p = fma(p, r, real(0.693147181f));
  p = fma(p, r, real(1.0f));
  return from_bits(bits_of(p) + SHIFT_LEFT(to_whole(nearest), 23));
}

// Sine and cosine for 0 <= x < 16, within 8e-8.
FUNCTION void sine_and_cosine(real x, INOUT(real) sine_of, INOUT(real) cosine_of) {
  const whole quarter = to_whole(fma(x, real(0.636619772f), real(0.5f)));
  const real count = to_real(quarter);
  const real r = fma(count, real(4.37113900e-08f), fma(count, real(-1.57079637f), x));
  const real s = r * r;
  real p = fma(real(2.72468687e-06f), s, real(-0.00019840063f));
  p = fma(p, s, real(0.00833333183f));
  p = fma(p, s, real(-0.166666667f));
  const real sine_r = fma(r * s, p, r);
  p = fma(real(2.44604322e-05f), s, real(-0.00138875631f));
  p = fma(p, s, real(0.0416666502f));
  p = fma(p, s, real(-0.5f));
  const real cosine_r = fma(s, p, real(1.0f));
  const truth even = (quarter & whole(1)) == whole(0);
  const real a = select(even, sine_r, cosine_r), b = select(even, cosine_r, sine_r);
  sine_of = select((quarter & whole(2)) == whole(0), a, -a);
  cosine_of = select(((quarter + whole(1)) & whole(2)) == whole(0), b, -b);
}
