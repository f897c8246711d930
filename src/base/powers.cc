// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "base/powers.h"

#include <cmath>
#include <limits>

namespace acuity {
namespace {

// A number of about 106 bits: the sum of two doubles, the second below half a unit in the last place of the first.
struct Pair {
  double high = 0;
  double low = 0;
};

Pair add(double a, double b) {
  const double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

Pair add(const Pair& a, const Pair& b) {
  const Pair sum = add(a.high, b.high);
  return add(sum.high, sum.low + (a.low + b.low));
}

Pair multiply(const Pair& a, const Pair& b) {
  const double product = a.high * b.high;
  return add(product, std::fma(a.high, b.high, -product) + (a.high * b.low + a.low * b.high));
}

Pair divide(const Pair& a, const Pair& b) {
  const double quotient = a.high / b.high;
  const Pair product = multiply({quotient, 0}, b);
  return add(quotient, ((a.high - product.high) - product.low + a.low) / b.high);
}

// The natural logarithm of a number between 1/2 and 2, correctly rounded but for about one argument in 2^50.
double rounded_log(double x) {
  // As in exact_log2, with twice the precision; |t| <= 1/3.
  const Pair t = divide(add(x, -1), add(x, 1)), t2 = multiply(t, t);
  Pair series;
  for (int k = 67; k >= 1; k -= 2) series = add(multiply(series, t2), divide({1, 0}, {static_cast<double>(k), 0}));
  const Pair half = multiply(t, series);
  return 2 * (half.high + half.low);
}

}  // namespace

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

double libm_log10(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // in [0.5, 1)
  if (exponent > 0) {                          // numbers from 1 on have a mantissa from 1 on
    mantissa *= 2;
    --exponent;
  }
  // log10(2) in two parts, the first short enough for its product with an exponent to be exact.
  constexpr double kLog2High = 3.01029995663611771306e-01, kLog2Low = 3.69423907715893078616e-13;
  constexpr double kOneOverLn10 = 4.34294481903251816668e-01;
  return (exponent * kLog2Low + kOneOverLn10 * rounded_log(mantissa)) + exponent * kLog2High;
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
