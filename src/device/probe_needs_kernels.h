// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a device that has 64-bit integers or double precision must answer before kernels may use them. Vulkan promises
// of doubles no more than of floats, and drivers make up for what the hardware lacks.
#include "lang/dialect.h"

#if KERNEL_HERE(probe_int64)
#define NEEDS_probe_int64 ~, needs_int64
// For each of `count` pairs (a, b): the sum, the product, a shifted right by b with its sign, the lesser, the product
// of the lower halves with their signs, and a as a float.
KERNEL(probe_int64, 64, 1, i64_in pairs, i64_out answers, int count) {
  const int i = global_x();
  if (i < count) {
    const whole64 a = at(pairs, 2 * i);
    const whole64 b = at(pairs, 2 * i + 1);
    at(answers, 6 * i) = to_whole64(to_natural64(a) + to_natural64(b));
    at(answers, 6 * i + 1) = to_whole64(to_natural64(a) * to_natural64(b));
    at(answers, 6 * i + 2) = shift_right(a, to_natural(b) & 63u);
    at(answers, 6 * i + 3) = min(a, b);
    at(answers, 6 * i + 4) = multiply_64(to_whole(a), to_whole(b));
    at(answers, 6 * i + 5) = to_whole64(bits_of(to_real(a)));
  }
}
#endif

#if KERNEL_HERE(probe_double)
#define NEEDS_probe_double ~, needs_double
// For each of `count` pairs (a, b): a * b + a in two roundings, a / b, sqrt(a), a as a float, and a without its
// fraction.
KERNEL(probe_double, 64, 1, f64_in pairs, f64_out answers, int count) {
  const int i = global_x();
  if (i < count) {
    const wide a = at(pairs, 2 * i);
    const wide b = at(pairs, 2 * i + 1);
    const wide product = a * b;
    at(answers, 5 * i) = product + a;
    at(answers, 5 * i + 1) = divide(a, b);
    at(answers, 5 * i + 2) = sqrt(abs(a));
    at(answers, 5 * i + 3) = to_wide(to_real(a));
    at(answers, 5 * i + 4) = to_wide(to_whole(abs(a)));
  }
}
#endif
