// SPDX-License-Identifier: BSD-2-Clause-Patent
// The arithmetic of float_adm, in the kernel dialect. Include after lang/exact.h.

FUNCTION real filter_low(real a, real b, real c, real d) {
  return ((real(0.482962906f) * a + real(0.836516321f) * b) + real(0.224143863f) * c) + real(-0.129409522f) * d;
}
FUNCTION real filter_high(real a, real b, real c, real d) {
  return ((real(-0.129409522f) * a + real(-0.224143863f) * b) + real(0.836516321f) * c) + real(-0.482962906f) * d;
}

// Whether details have about the same direction in both pictures: less than a degree apart.
FUNCTION real angle_limit(real oh, real ov, real th, real tv) {
  return real(0.999695420f) * (oh * oh + ov * ov) * (th * th + tv * tv);
}

// As libvmaf divides, by a step of Newton's method. See reciprocals.h.
FUNCTION real refined_reciprocal(real x, real first) { return first + first * (real(1.0f) - x * first); }

// What is left of details o in details t, from their ratio: all of t where that is weaker.
FUNCTION real part_left(real o, real ratio) { return min(max(ratio, real(0.0f)), real(1.0f)) * o; }

FUNCTION real power_of(real x, float exponent) {
  if (exponent == 3.0f) return x * x * x;
  return power(x, real(exponent));
}
