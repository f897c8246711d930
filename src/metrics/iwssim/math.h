// SPDX-License-Identifier: BSD-2-Clause-Patent
// The arithmetic of IW-SSIM and MS-SSIM, in the kernel dialect. docs/metrics/iwssim.md and msssim.md have the formulas.
// Include metrics/iwssim/luma.h, metrics/iwssim/ssim_window.h and lang/exact.h before.
//
// Everything is arranged so that float suffices: pictures are compared through their difference, neighbourhoods through
// patterns that are zero where they are flat, and luma is counted from LUMA_MIDDLE. The pyramid of whole luma is exact
// on its first three levels, and flat areas are exactly flat on all of them.

// ---------------------------------------------------------------------------------------------------------------------
// The Laplacian pyramid of IW-SSIM: rows first when reducing, columns first when expanding.

// Five samples to one, 1 4 6 4 1, in units of a sixteenth.
FUNCTION real reduce_five(real a, real b, real c, real d, real e) {
  return fma(real(6.0f), c, fma(real(4.0f), b + d, a + e));
}
// What was reduced both ways, as a sample of the next level.
FUNCTION real reduced(real sum) { return sum * real(0.0078125f); }

// Samples of the level above, at even and odd places, in units of an eighth.
FUNCTION real expand_even(real before, real here, real after) { return fma(real(6.0f), here, before + after); }
FUNCTION real expand_odd(real here, real after) { return real(4.0f) * (here + after); }
// What remains of a level when the one below, expanded both ways, is taken away.
FUNCTION real subband_of(real level, real expanded) { return fma(expanded, real(-0.0078125f), level); }

// The pyramid of MS-SSIM; an odd length repeats its last sample.
FUNCTION real mean_of_four(real a, real b, real c, real d) { return ((a + b) + (c + d)) * real(0.25f); }

// ---------------------------------------------------------------------------------------------------------------------
// Loss: 1 minus similarity, so that equal pictures give exactly zero. `sum` and `difference` are the two pictures added
// and subtracted, each with its mean and variance in the window.

// The variance that mean and mean of squares leave, where the samples lie about zero.
FUNCTION real variance_about(real mean, real mean_of_squares) {
  return max(fma(-mean, mean, mean_of_squares), real(0.0f));
}

// The variance in the window, from the mean of the rows' variances and the variance of their means.
FUNCTION real variance_within(real of_rows, real of_means) { return max(of_rows + of_means, real(0.0f)); }

// 1 - (2 cov + C2) / (var1 + var2 + C2), C2 = (0.03 * 255)^2.
FUNCTION real structure_loss(real sum_variance, real difference_variance) {
  return divide(difference_variance + difference_variance, (sum_variance + difference_variance) + real(117.044998f));
}

// 1 - (2 m1 m2 + C1) / (m1^2 + m2^2 + C1), C1 = (0.01 * 255)^2.
FUNCTION real luminance_loss(real sum_mean, real difference_mean) {
  const real square = difference_mean * difference_mean;
  return divide(square, fma(real(0.5f), fma(sum_mean, sum_mean, square), real(6.50250006f)));
}

// 1 - (1 - a) (1 - b)
FUNCTION real joint_loss(real a, real b) { return fma(-a, b, a + b); }

// ---------------------------------------------------------------------------------------------------------------------
// Information weights. A neighbourhood of 3 x 3 samples is described by nine patterns, the products of three along rows
// and three along columns: number 3 * row pattern + column pattern.

#define PATTERNS 9
#define VALUES 10                               // the patterns, and the sample of the next subband at the same place
#define VALUE_PAIRS 55                          // products of two values, as numbered by PAIR
#define PAIR(p, q) ((q) * ((q) + 1) / 2 + (p))  // p <= q

// Sum, slope and bend.
FUNCTION void patterns_of_three(real a, real b, real c, INOUT(real) sum, INOUT(real) slope, INOUT(real) bend) {
  const real outer = a + c;
  sum = outer + b;
  slope = c - a;
  bend = fma(real(-2.0f), b, outer);
}

// Covariance, over the nine samples, of two neighbourhoods given by their patterns. The patterns are orthogonal, and
// all but the first are blind to the mean.
FUNCTION real neighbourhood_covariance(real a[VALUES], real b[VALUES]) {
  const real edges = fma(a[3], b[3], a[1] * b[1]);
  const real bends = fma(a[6], b[6], a[2] * b[2]);
  const real twists = fma(a[7], b[7], a[5] * b[5]);
  real sum = edges * real(0.0185185187f);
  sum = fma(bends, real(0.00617283955f), sum);
  sum = fma(a[4] * b[4], real(0.027777778f), sum);
  sum = fma(twists, real(0.00925925933f), sum);
  return fma(a[8] * b[8], real(0.00308641978f), sum);
}

// The neighbour from two rows and two columns of the next subband: between rows first.
FUNCTION real between(real a, real b, real fraction) { return fma(fraction, b - a, a); }

// How improbable the reference's values are: z C^-1 z / count, C their covariance over the whole subband.
// COEFFICIENT(i) is number i of the triangular matrix that makes them independent, row by row: row q, column p <= q, is
// PAIR(p, q).
#define IMPROBABILITY(result, z, count, COEFFICIENT) \
  result = real(0.0f);                               \
  UNROLL for (int q = 0; q < (count); ++q) ADD_IMPROBABILITY(result, z, q, COEFFICIENT)
// The share of row q.
#define ADD_IMPROBABILITY(result, z, q, COEFFICIENT)                                                   \
  {                                                                                                    \
    real independent = COEFFICIENT(PAIR(0, q)) * z[0];                                                 \
    UNROLL for (int p = 1; p <= q; ++p) independent = fma(COEFFICIENT(PAIR(p, q)), z[p], independent); \
    result = fma(independent, independent, result);                                                    \
  }

// What remains of the distorted picture when the reference, with the best gain, is taken away, and how strongly the
// reference with its noise comes through. x holds the patterns of the reference, d those of distorted - reference.
FUNCTION void channel_of(real x[VALUES], real d[VALUES], INOUT(real) residual, INOUT(real) strength) {
  const real variance = neighbourhood_covariance(x, x);
  const real covariance = neighbourhood_covariance(x, d);
  const real difference = neighbourhood_covariance(d, d);
  const truth is_flat = variance < real(1e-15f);
  const real ratio = divide(covariance, select(is_flat, real(1.0f), variance));
  const real gain = select(is_flat, real(0.0f), real(1.0f) + ratio);
  residual = select(is_flat, difference, max(fma(-ratio, covariance, difference), real(0.0f)));
  // (residual + (1 + gain^2) noise) / noise^2, noise = 0.4
  strength = fma(real(6.25f), residual, fma(real(2.5f), gain * gain, real(2.5f)));
}

// Multiplies the mantissa of x into a product and adds its exponent to a sum, so that the product never overflows.
FUNCTION void multiply_split(real x, INOUT(real) mantissas, INOUT(whole) exponents) {
  const whole bits = bits_of(x);
  mantissas = mantissas * from_bits((bits & whole(0x007FFFFF)) | whole(0x3F800000));
  exponents = exponents + SHIFT_RIGHT(bits, 23);
}

// The information that a neighbourhood carries: the sum over the eigenvalues of log2(1 + residual / noise + strength *
// improbability * eigenvalue). EIGENVALUE(i) are those of the samples' covariance; `count` of them. The limit keeps
// the product of two factors finite; no picture comes near it.
#define INFORMATION(result, residual, strength, improbability, count, EIGENVALUE)                          \
  {                                                                                                        \
    const real base = fma(real(2.5f), residual, real(1.0f));                                               \
    const real slope = min((strength) * (improbability), real(68719476736.0f));                            \
    real mantissas = real(1.0f);                                                                           \
    whole exponents = whole(-127 * (((count) + 1) / 2));                                                   \
    UNROLL for (int i = 0; i + 1 < (count); i += 2) {                                                      \
      const real pair = fma(slope, EIGENVALUE(i), base) * fma(slope, EIGENVALUE(i + 1), base);             \
      multiply_split(pair, mantissas, exponents);                                                          \
    }                                                                                                      \
    if ((count) % 2 == 1) multiply_split(fma(slope, EIGENVALUE((count) - 1), base), mantissas, exponents); \
    result = to_real(exponents) + log_2(mantissas);                                                        \
  }
