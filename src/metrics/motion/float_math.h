// SPDX-License-Identifier: BSD-2-Clause-Patent
// The blur of float_motion, in the kernel dialect: products are added from one end to the other.

FUNCTION real weighted(real outer, real inner, real middle, real a, real b, real c, real d, real e) {
  return (((outer * a + inner * b) + middle * c) + inner * d) + outer * e;
}
