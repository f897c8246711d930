// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a device must answer before it is trusted: sums, products, quotients, roots and fused multiply-adds whose last
// bit tells a correct rounding from a nearly correct one, a group that meets at a barrier, and threads that swap
// values.
#include "lang/dialect.h"

#if KERNEL_HERE(probe)
SHARED(float, passed_on, 64)
SHUFFLES(64)

// For each of `count` triples (a, b, c): a * b + c in two roundings, fma, a / b, sqrt(a), the fma of the group's thread
// on the other side, which it passed on, the a of the thread on the other side of 32, by swaps at all distances, and
// fma(a / b, b, c), which shows whether the quotient was rounded.
KERNEL(probe, 64, 1, f32_in triples, f32_out answers, int count) {
  const int i = global_x();
  const bool inside = i < count;
  real a = real(1.0f);
  real b = real(1.0f);
  real c = real(1.0f);
  if (inside) {
    a = at(triples, 3 * i);
    b = at(triples, 3 * i + 1);
    c = at(triples, 3 * i + 2);
  }
  const real fused = fma(a, b, c);
  passed_on[63 - local_x()] = fused;
  barrier_group();
  real swapped = a;
  UNROLL for (int distance = 16; distance >= 1; distance = distance / 2) swapped = shuffle_xor(swapped, distance);
  if (inside) {
    const real product = a * b;
    at(answers, 7 * i) = product + c;
    at(answers, 7 * i + 1) = fused;
    const real quotient = divide(a, b);
    at(answers, 7 * i + 2) = quotient;
    at(answers, 7 * i + 3) = sqrt(abs(a));
    at(answers, 7 * i + 4) = passed_on[local_x()];
    at(answers, 7 * i + 5) = swapped;
    at(answers, 7 * i + 6) = fma(quotient, b, c);
  }
}
#endif
