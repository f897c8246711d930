// SPDX-License-Identifier: BSD-2-Clause-Patent
// The filters of the anti-noise ratio: their rows, and which rows follow each other. Sums are libvmaf's: of each row,
// then of the rows.

FUNCTION real weigh_3(real side, real middle, real a, real b, real c) {
  return ((real(0.0f) + side * a) + middle * b) + side * c;
}
FUNCTION real weigh_5(real outer, real inner, real middle, real a, real b, real c, real d, real e) {
  return ((((real(0.0f) + outer * a) + inner * b) + middle * c) + inner * d) + outer * e;
}

// For the reference: (1 2 1) / 4, both ways.
#define SMOOTH_OUTER(a, b, c) weigh_3(real(0.0625f), real(0.125f), a, b, c)
#define SMOOTH_MIDDLE(a, b, c) weigh_3(real(0.125f), real(0.25f), a, b, c)
FUNCTION real sum_of_3(real a, real b, real c) { return ((real(0.0f) + a) + b) + c; }

// For the distorted frame, in 1/571: 2 7 12 7 2, 7 31 52 31 7, 12 52 127 52 12 and back.
#define BLUR_OUTER(a, b, c, d, e) weigh_5(real(0.0035026269f), real(0.0122591946f), real(0.0210157614f), a, b, c, d, e)
#define BLUR_INNER(a, b, c, d, e) weigh_5(real(0.0122591946f), real(0.0542907193f), real(0.0910682976f), a, b, c, d, e)
#define BLUR_MIDDLE(a, b, c, d, e) weigh_5(real(0.0210157614f), real(0.0910682976f), real(0.222416818f), a, b, c, d, e)
FUNCTION real sum_of_5(real a, real b, real c, real d, real e) { return ((((real(0.0f) + a) + b) + c) + d) + e; }
