// SPDX-License-Identifier: BSD-2-Clause-Patent
// Quotients and roots of ordinary numbers (docs/dialect.md), without a branch, for devices that promise no more than a
// reciprocal root that is 2 units in the last place off. No device of CI uses them, so tests/lang/ordinary_test.cc
// tries every digit on the host.

// `near` is about 1 / sqrt(abs(b)). Two steps of Newton's make the reciprocal right, except that of a number whose
// digits are all ones: it is the float behind a power of two, before which they may stop. With the right reciprocal one
// step makes the quotient right.
FUNCTION real quotient_from_root(real a, real b, real near) {
  real reciprocal = b < real(0.0f) ? -near * near : near * near;
  reciprocal = fma(reciprocal, fma(-b, reciprocal, real(1.0f)), reciprocal);
  reciprocal = fma(reciprocal, fma(-b, reciprocal, real(1.0f)), reciprocal);
  const whole all_ones = (bits_of(b) & 0x7FFFFF) == 0x7FFFFF ? 1 : 0;
  reciprocal = from_bits(bits_of(reciprocal) | all_ones);
  const real quotient = a * reciprocal;
  return fma(reciprocal, fma(-b, quotient, a), quotient);
}

// `near` is about 1 / sqrt(a). A root and half its reciprocal get nearer to both in each of two steps; a third rounds
// the root rightly.
FUNCTION real root_from_root(real a, real near) {
  real root = a * near;
  real half_reciprocal = real(0.5f) * near;
  UNROLL for (int i = 0; i < 2; ++i) {
    const real error = fma(-root, half_reciprocal, real(0.5f));
    root = fma(root, error, root);
    half_reciprocal = fma(half_reciprocal, error, half_reciprocal);
  }
  return fma(fma(-root, root, a), half_reciprocal, root);
}
