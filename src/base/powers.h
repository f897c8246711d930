// SPDX-License-Identifier: BSD-2-Clause-Patent
// Powers and logarithms in double whose last bit does not depend on the C library or the processor: made of + - * /
// alone.
#ifndef ACUITY_BASE_POWERS_H
#define ACUITY_BASE_POWERS_H

namespace acuity {

/// log2(x) for x > 0, within 4e-16 of the exact value or of its 1e-16th part, whichever is larger.
double exact_log2(double x);

/// 2^x, relative error within 1e-15; 0 below -1070, infinity from 1024.
double exact_exp2(double x);

/// Natural exponential and logarithm, by way of the two above.
inline double exact_exp(double x) { return exact_exp2(x * 1.4426950408889634074); }
inline double exact_log(double x) { return exact_log2(x) * 0.69314718055994530942; }
inline double exact_log10(double x) { return exact_log2(x) * 0.30102999566398119521; }

/// log10(x) for x > 0 as C libraries on all but old systems round it, for values that must equal those of programs
/// which call theirs: the sum of the powers of two's and of the mantissa's, both rounded. Where a library's natural
/// logarithm is not correctly rounded, about once in ten thousand arguments, the last bit differs.
double libm_log10(double x);

/// x^y for x > 0, and for x = 0 with y > 0. Relative error within 1e-15 * (1 + |y log2 x|).
double exact_power(double x, double y);

}  // namespace acuity

#endif
