// SPDX-License-Identifier: BSD-2-Clause-Patent
// The window of SSIM and its kin, in the kernel dialect: 11 samples a side, a Gaussian of sigma 1.5 whose weights add
// up to 1, applied along rows first and along columns second, only where all of it lies in the picture. Include it
// after the dialect, like a metric's math.h.
//
// Eleven samples come as the middle one and what lies 1 to 5 places to either side of it.

// Weighted sum of pairs, outermost first.
FUNCTION real window_pairs(real p1, real p2, real p3, real p4, real p5) {
  return fma(real(0.213005543f), p1,
             fma(real(0.109360687f), p2,
                 fma(real(0.0360007733f), p3, fma(real(0.00759875821f), p4, real(0.00102838012f) * p5))));
}

// Mean of eleven samples, those at equal distance from the middle already added.
FUNCTION real window_mean(real middle, real p1, real p2, real p3, real p4, real p5) {
  return fma(real(0.266011715f), middle, window_pairs(p1, p2, p3, p4, p5));
}

// Mean of eleven samples and their variance about it, by way of the differences from the middle one: nothing is lost
// however far from zero the samples lie. a1 .. a5 lie before the middle, b1 .. b5 behind it.
FUNCTION void window_moments(real middle, real a1, real a2, real a3, real a4, real a5, real b1, real b2, real b3,
                             real b4, real b5, INOUT(real) mean, INOUT(real) variance) {
  const real c1 = a1 - middle;
  const real c2 = a2 - middle;
  const real c3 = a3 - middle;
  const real c4 = a4 - middle;
  const real c5 = a5 - middle;
  const real d1 = b1 - middle;
  const real d2 = b2 - middle;
  const real d3 = b3 - middle;
  const real d4 = b4 - middle;
  const real d5 = b5 - middle;
  const real first = window_pairs(c1 + d1, c2 + d2, c3 + d3, c4 + d4, c5 + d5);
  const real second = window_pairs(fma(d1, d1, c1 * c1), fma(d2, d2, c2 * c2), fma(d3, d3, c3 * c3),
                                   fma(d4, d4, c4 * c4), fma(d5, d5, c5 * c5));
  mean = middle + first;
  variance = fma(-first, first, second);
}
