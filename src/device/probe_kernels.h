// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a device must answer before it is trusted: sums, products, quotients, roots and fused multiply-adds whose last
// bit tells a correct rounding from a nearly correct one, and a group that meets at a barrier.
#include "lang/dialect.h"

#if KERNEL_HERE(probe)
SHARED(float, passed_on, 64)

// For each of `count` triples (a, b, c): a * b + c in two roundings, fma, a / b, sqrt(a), and the fma of the group's
// thread on the other side, which it passed on.
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
  if (inside) {
    const real product = a * b;
    at(answers, 5 * i) = product + c;
    at(answers, 5 * i + 1) = fused;
    at(answers, 5 * i + 2) = divide(a, b);
    at(answers, 5 * i + 3) = sqrt(abs(a));
    at(answers, 5 * i + 4) = passed_on[local_x()];
  }
}
#endif
