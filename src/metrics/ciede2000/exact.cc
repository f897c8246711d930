// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which numbers are floats is libvmaf's choice; all else is computed in double. The functions are made of + - * / and
// sqrt, so that they give the same bits everywhere.
#include "metrics/ciede2000/exact.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/library_power.h"
#include "base/powers.h"

namespace acuity::ciede2000 {
namespace {

constexpr double kPi = std::numbers::pi;

double square(double x) { return x * x; }

// For |x| < 100, within 1e-15.
double cosine(double x) {
  constexpr double kQuarterLow = 6.123233995736766e-17;  // what pi / 2 is more than the double next to it
  const double quarters = std::floor(x / (kPi / 2) + 0.5);
  const double r = x - quarters * (kPi / 2) - quarters * kQuarterLow;
  double even = 1, odd = 1;
  for (int k = 20; k >= 2; k -= 2) {
    even = 1 - even * r * r / (k * (k - 1));
    odd = 1 - odd * r * r / (k * (k + 1));
  }
  const int quarter = static_cast<int>(quarters) & 3;
  const double magnitude = quarter % 2 == 0 ? even : odd * r;
  return quarter == 1 || quarter == 2 ? -magnitude : magnitude;
}

double sine(double x) { return cosine(x - kPi / 2); }

// The angle of (x, y), from -pi to pi.
double angle(double y, double x) {
  const double large = std::max(std::abs(x), std::abs(y)), small = std::min(std::abs(x), std::abs(y));
  double tangent = small / large;
  for (int halved = 0; halved < 2; ++halved) tangent /= 1 + std::sqrt(1 + tangent * tangent);
  double series = 0;
  for (int k = 25; k >= 3; k -= 2) series = (1.0 / k - series) * tangent * tangent;
  double result = 4 * (tangent - tangent * series);
  if (std::abs(y) > std::abs(x)) result = kPi / 2 - result;
  if (x < 0) result = kPi - result;
  return y < 0 ? -result : result;
}

struct Lab {
  float l, a, b;
};

double linear_light(double c) {
  return c > 10.0 / 255.0 ? exact_power((c + 0.055) * (1.0 / 1.055), 2.4) : c * (1.0 / 12.92);
}

double lightness(double x) {
  const double result = x > 216.0 / 24389.0 ? exact_power(x, 1.0 / 3.0) : (24389.0 / 27.0 * x + 16.0) * (1.0 / 116.0);
  return static_cast<double>(static_cast<float>(result));
}

Lab lab_of(const Codes& codes, int depth) {
  const double step = 1 << (depth - 8);
  const double luma = (static_cast<double>(codes[0]) - 16.0 * step) * (1.0 / (219.0 * step));
  const double cb = (static_cast<double>(codes[1]) - 128.0 * step) * (1.0 / (224.0 * step));
  const double cr = (static_cast<double>(codes[2]) - 128.0 * step) * (1.0 / (224.0 * step));
  const double r = linear_light(luma + 1.28033 * cr);
  const double g = linear_light(luma - 0.21482 * cb - 0.38059 * cr);
  const double b = linear_light(luma + 2.12798 * cb);
  const double x = lightness((r * 0.4124564390896921 + g * 0.357576077643909 + b * 0.18043748326639894) / 0.95047);
  const double y = lightness(r * 0.21267285140562248 + g * 0.715152155287818 + b * 0.07217499330655958);
  const double z = lightness((r * 0.019333895582329317 + g * 0.119192025881303 + b * 0.9503040785363677) / 1.08883);
  return {static_cast<float>(116.0 * y - 16.0), static_cast<float>(500.0 * (x - y)),
          static_cast<float>(200.0 * (y - z))};
}

float length(float a, float b) {
  return static_cast<float>(std::sqrt(square(static_cast<double>(a)) + square(static_cast<double>(b))));
}

float stretched(float a, float chroma) {
  const double c = static_cast<double>(chroma), c7 = square(square(c)) * square(c) * c;
  const double stretch = 1 - std::sqrt(c7 / (c7 + 6103515625.0));
  return static_cast<float>(static_cast<double>(a) + static_cast<double>(a / 2) * stretch);
}

float hue_of(float a, float b) {
  if (a == 0 && b == 0) return 0;
  const auto hue = static_cast<float>(angle(static_cast<double>(b), static_cast<double>(a)));
  return hue < 0 ? static_cast<float>(static_cast<double>(hue) + 2 * kPi) : hue;
}

float hue_weight(float hue) {
  const auto h = static_cast<double>(hue);
  return static_cast<float>(1.0 - 0.17 * cosine(h - kPi / 6) + 0.24 * cosine(2 * h) + 0.32 * cosine(3 * h + kPi / 30) -
                            0.20 * cosine(4 * h - 7 * kPi / 20));
}

float rotation(float chroma, float hue) {
  const auto in_degrees = static_cast<float>(static_cast<double>(hue) * (180.0 / kPi));
  const auto degrees = static_cast<float>((static_cast<double>(in_degrees) - 275.0) * (1.0 / 25.0));
  const float c7 = library_power(chroma, 7), middle = 6103515625.0f;
  const auto turn = static_cast<float>(60.0 * exact_exp(-static_cast<double>(degrees * degrees)));
  const auto radians = static_cast<float>(static_cast<double>(turn) * (kPi / 180.0));
  return static_cast<float>(-2.0 * std::sqrt(static_cast<double>(c7 / (c7 + middle))) *
                            sine(static_cast<double>(radians)));
}

}  // namespace

float exact_difference(const Codes& reference, const Codes& distorted, int depth) {
  const Lab p = lab_of(reference, depth), q = lab_of(distorted, depth);
  const float plain1 = length(p.a, p.b), plain2 = length(q.a, q.b), mean_plain = (plain1 + plain2) / 2;
  const float a1 = stretched(p.a, mean_plain), a2 = stretched(q.a, mean_plain);
  const float chroma1 = length(a1, p.b), chroma2 = length(a2, q.b), chroma = (chroma1 + chroma2) / 2;
  const float hue1 = hue_of(a1, p.b), hue2 = hue_of(a2, q.b);

  const bool across_zero = static_cast<double>(std::abs(hue1 - hue2)) > kPi;
  double turn = static_cast<double>(hue2 - hue1), hue_sum = static_cast<double>(hue1 + hue2);
  if (across_zero) {
    turn += turn > 0 ? -2 * kPi : 2 * kPi;
    hue_sum += 2 * kPi;
  }
  const float shorter = plain1 == 0 || plain2 == 0 ? 0 : static_cast<float>(turn);
  const auto hue = static_cast<float>(hue_sum / 2);

  const double from_middle = square(static_cast<double>((p.l + q.l) / 2 - 50));
  const auto weight_l = static_cast<float>(1.0 + 0.015 * from_middle / std::sqrt(20 + from_middle));
  const auto weight_c = static_cast<float>(1.0 + 0.045 * static_cast<double>(chroma));
  const auto weight_h =
      static_cast<float>(1.0 + 0.015 * static_cast<double>(chroma) * static_cast<double>(hue_weight(hue)));
  const auto along_hue = static_cast<float>(2.0 * std::sqrt(static_cast<double>(chroma1 * chroma2)) *
                                            sine(static_cast<double>(shorter) / 2));

  const float by_l = (q.l - p.l) / (0.65f * weight_l);
  const float by_c = (chroma2 - chroma1) / weight_c;
  const float by_h = along_hue / (4 * weight_h);
  const float together = rotation(chroma, hue) * by_c * by_h;
  return static_cast<float>(std::sqrt(square(static_cast<double>(by_l)) + square(static_cast<double>(by_c)) +
                                      square(static_cast<double>(by_h)) + static_cast<double>(together)));
}

}  // namespace acuity::ciede2000
