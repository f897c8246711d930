// SPDX-License-Identifier: BSD-2-Clause-Patent
// CIEDE2000 of one pixel, as libvmaf computes it: L, a, b, chroma and hue are floats, which it finds in double. The
// difference of two colours is the small difference of such floats, so each of them must be rounded as it does. What
// only weighs the differences is computed in float, which is off by a few last places: few_colours.h has the pixels for
// which that matters. Included after functions.h.

// Linear light times POWER_SCALE of x = (c + 0.055) / 1.055, with c one of R', G', B'. libvmaf leaves the straight part
// of sRGB's curve at 10/255, where the two do not meet. Dark colours keep together: mostly one of the two is enough.
FUNCTION wide linear_light(wide x, real rough) {
  const wide power = power_2_4(x, rough);
  if (all(rough > real(0.09f))) return power;
  // POWER_SCALE 1.055 / 12.92 and POWER_SCALE 0.055 / 12.92.
  const wide straight = x * WIDE(0.060100861344645054) - WIDE(0.0031332202596734394);
  return select(x > WIDE(0.0893039680327107), power, straight);  // (10 / 255 + 0.055) / 1.055
}

FUNCTION real lightness(wide x) {
  const real rough = to_real(x);
  const real root = cube_root(x, rough);
  const truth curved = rough > real(0.00885645207f);  // 216 / 24389
  if (all(curved)) return root;
  return select(curved, root, to_real(x * WIDE(7.787037037037037) + WIDE(0.13793103448275862)));
}

// scale (x - y), rounded once.
FUNCTION real scaled_difference(real scale, real x, real y) {
  real lost;
  const real d = difference(x, y, lost);
  return fma(scale, d, scale * lost);
}

// Linear light of Y', Cb and Cr in steps of 8 bit, of video range by BT.709 with libvmaf's factors. Samples times
// factors are (c + 0.055) / 1.055 for R', G' and B'; those factors are 1 / (219 x 1.055), 1.28033 / (224 x 1.055), and
// so on. Red has no Cb in it, and blue no Cr.
FUNCTION wide linear_red(real luma, real cr) {
  wide fine = to_wide(luma) * WIDE(0.004328161180722371) + WIDE(-0.7105938422632573);
  real rough = fma(luma, real(0.00432816101f), real(-0.71059382f));
  fine = fine + to_wide(cr) * WIDE(0.005417780974949221);
  rough = fma(cr, real(0.00541778095f), rough);
  return linear_light(fine, rough);
}
FUNCTION wide linear_green(real luma, real cb, real cr) {
  wide fine = to_wide(luma) * WIDE(0.004328161180722371) + WIDE(0.30537907581392615);
  real rough = fma(luma, real(0.00432816101f), real(0.305379063f));
  fine = fine + to_wide(cb) * WIDE(-0.0009090216655382532);
  rough = fma(cb, real(-0.000909021648f), rough);
  fine = fine + to_wide(cr) * WIDE(-0.0016104857819905212);
  rough = fma(cr, real(-0.00161048584f), rough);
  return linear_light(fine, rough);
}
FUNCTION wide linear_blue(real luma, real cb) {
  wide fine = to_wide(luma) * WIDE(0.004328161180722371) + WIDE(-1.1697136797717202);
  real rough = fma(luma, real(0.00432816101f), real(-1.16971374f));
  fine = fine + to_wide(cb) * WIDE(0.009004654705484089);
  rough = fma(cb, real(0.00900465436f), rough);
  return linear_light(fine, rough);
}

// L, a and b of linear light; the factors are those of sRGB to XYZ, by the white of D65 and by POWER_SCALE.
FUNCTION void find_lab(wide red, wide green, wide blue, INOUT(real) l, INOUT(real) a, INOUT(real) b) {
  const real fx =
      lightness(red * WIDE(0.589588391635212) + green * WIDE(0.5111393216956296) + blue * WIDE(0.2579274693456963));
  const real fy =
      lightness(red * WIDE(0.2889490717768462) + green * WIDE(0.97164518218409) + blue * WIDE(0.0980609287156016));
  const real fz =
      lightness(red * WIDE(0.024125067672877077) + green * WIDE(0.14872924487509376) + blue * WIDE(1.185800870128567));
  l = fma(real(116.0f), fy, real(-16.0f));
  a = scaled_difference(real(500.0f), fx, fy);
  b = scaled_difference(real(200.0f), fy, fz);
}

// From 0 to 2 pi; rounded to float before and after it is turned round.
FUNCTION real hue_of(real a, real b) {
  const real upper = angle(a, abs(b));
  const real lower = real(6.28318548f) - upper;
  const real lost = (real(6.28318548f) - lower) - upper;
  return select(b < real(0.0f), lower + (lost + real(-1.74845553e-07f)), upper);
}

// 25^7
#define CHROMA_MIDDLE WIDE(6103515625.0)
#define CHROMA_MIDDLE_ROUGH real(6103515625.0f)

// 1 - sqrt(c^7 / (c^7 + 25^7)) as stretch + stretch_low.
FUNCTION void find_stretch(real chroma, INOUT(real) stretch, INOUT(real) stretch_low) {
  const wide c = to_wide(chroma);
  const wide c2 = c * c;
  const wide c7 = c2 * c2 * (c2 * c);
  const wide sum = c7 + CHROMA_MIDDLE;
  const real rough = to_real(c7), rough_sum = to_real(sum);
  const real root = sqrt(divide(rough, rough_sum));
  const wide fine = to_wide(root);
  const real rest = to_real(c7 - fine * fine * sum);
  stretch = real(1.0f) - root;
  const real lost = (real(1.0f) - stretch) - root;
  stretch_low = lost - rest * divide(real(0.5f), max(root * rough_sum, real(1.0f)));
}

// a + a/2 (stretch + stretch_low), rounded once.
FUNCTION real stretched(real a, real stretch, real stretch_low) {
  const real half_a = a * real(0.5f);
  const real product = half_a * stretch;
  const real product_low = fma(half_a, stretch_low, fma(half_a, stretch, -product));
  const real sum = a + product;
  return sum + ((product - (sum - a)) + product_low);
}

// How much hue weighs.
FUNCTION real hue_weight(real hue) {
  real s;
  real c;
  sine_and_cosine(hue, s, c);
  const real c2 = c * c;
  const real cosine_twice = fma(real(2.0f), c2, real(-1.0f));
  const real cosine_thrice = c * fma(real(4.0f), c2, real(-3.0f));
  const real sine_thrice = s * fma(real(4.0f), c2, real(-1.0f));
  const real cosine_four = fma(real(2.0f) * cosine_twice, cosine_twice, real(-1.0f));
  const real sine_four = real(4.0f) * (s * c) * cosine_twice;
  // 1 - 0.17 cos(h - 30) + 0.24 cos(2h) + 0.32 cos(3h + 6) - 0.20 cos(4h - 63), in degrees.
  const real first = fma(real(-0.147224319f), c, fma(real(-0.085f), s, real(1.0f)));
  const real second = fma(real(0.24f), cosine_twice, real(0.318247007f) * cosine_thrice);
  const real third = fma(real(-0.0334491082f), sine_thrice, real(-0.0907981f) * cosine_four);
  return fma(real(-0.178201305f), sine_four, (first + second) + third);
}

// How much differences of chroma and of hue go together: only around the blues.
FUNCTION real rotation(real chroma, real hue) {
  // Degrees are rounded to float before 275 are taken away.
  const real product = hue * real(57.2957802f);
  const real degrees = product + fma(hue, real(-6.68802545e-07f), fma(hue, real(57.2957802f), -product));
  const real from_blue = (degrees - real(275.0f)) * real(0.04f);
  const real square = from_blue * from_blue;
  const truth far = square > real(20.0f);
  if (all(far)) return real(0.0f);
  const real turn = real(1.04719755f) * exponential(max(square * real(-1.44269504f), real(-64.0f)));
  const real c2 = chroma * chroma;
  const real c7 = c2 * c2 * (c2 * chroma);
  return select(far, real(0.0f), real(-2.0f) * sqrt(divide(c7, c7 + CHROMA_MIDDLE_ROUGH)) * sine(turn));
}

// Spreads a evenly over greys and pure colours. `least_chroma`: the lesser one of the two colours before that.
FUNCTION void widen(INOUT(real) a1, real b1, INOUT(real) a2, real b2, INOUT(real) least_chroma) {
  const real c1 = length(a1, b1), c2 = length(a2, b2);
  real stretch;
  real stretch_low;
  find_stretch((c1 + c2) * real(0.5f), stretch, stretch_low);
  a1 = stretched(a1, stretch, stretch_low);
  a2 = stretched(a2, stretch, stretch_low);
  least_chroma = min(c1, c2);
}

FUNCTION real colour_difference(real l1, real l2, real chroma1, real chroma2, real hue1, real hue2, real least_chroma) {
  const real one_half = real(0.5f);
  const real chroma = (chroma1 + chroma2) * one_half;
  // The shorter way round. The float next to pi lies above it, and libvmaf compares with pi in double.
  const real turn = hue2 - hue1;
  const truth across_zero = abs(turn) >= real(3.14159274f);
  const real back = select(turn > real(0.0f), real(-1.0f), real(1.0f));
  const real round = fma(back, real(-1.74845553e-07f), fma(back, real(6.28318548f), turn));  // rounded once
  const real shorter = select(across_zero, round, turn);
  const real half_turn = select(least_chroma == real(0.0f), real(0.0f), shorter) * one_half;
  const real sum = hue1 + hue2;
  const real hue = select(across_zero, sum + real(6.28318548f), sum) * one_half;

  const real from_middle = (l1 + l2) * one_half - real(50.0f);
  const real square = from_middle * from_middle;
  const real weight_l = fma(real(0.015f), divide(square, sqrt(real(20.0f) + square)), real(1.0f));
  const real about = fma(real(0.0450000018f), chroma, real(1.0f));
  const real lost = fma(real(0.0450000018f), chroma, real(1.0f) - about);
  const real weight_c = about + fma(real(-1.78813934e-09f), chroma, lost);
  const real weight_h = fma(real(0.015f) * chroma, hue_weight(hue), real(1.0f));

  const real by_l = divide(l2 - l1, real(0.65f) * weight_l);
  const real by_c = divide(chroma2 - chroma1, weight_c);
  const real by_h = divide(one_half * sqrt(chroma1 * chroma2) * sine(half_turn), weight_h);
  const real together = rotation(chroma, hue) * by_c * by_h;
  return sqrt(fma(by_l, by_l, fma(by_c, by_c, fma(by_h, by_h, together))));
}
