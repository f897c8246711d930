// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "base/powers.h"

#include <cmath>
#include <limits>

namespace acuity {

double exact_log2(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // in [0.5, 1)
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  // log(m) = 2 (t + t^3 / 3 + t^5 / 5 + ...), |t| <= 0.172.
  const double t = (mantissa - 1) / (mantissa + 1);
  const double t2 = t * t;
  double series = 0;
  for (int k = 23; k >= 3; k -= 2) series = (series + 1.0 / k) * t2;
  constexpr double kTwoOverLn2 = 2.8853900817779268147;
  return exponent + kTwoOverLn2 * (t + t * series);
}

double exact_exp2(double x) {
  if (x >= 1024) return std::numeric_limits<double>::infinity();
  if (x < -1070) return 0;
  const double whole = std::floor(x + 0.5);
  const double z = (x - whole) * 0.69314718055994530942;  // |z| <= 0.347
  double series = 1;
  for (int k = 16; k >= 1; --k) series = 1 + series * z / k;
  return std::ldexp(series, static_cast<int>(whole));
}

double exact_power(double x, double y) {
  if (x == 0) return 0;
  return exact_exp2(y * exact_log2(x));
}

}  // namespace acuity
