// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "colour/transfer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/powers.h"

namespace acuity {
namespace {

// ST 2084.
constexpr double kPqM1 = 2610.0 / 16384;
constexpr double kPqM2 = 2523.0 / 4096 * 128;
constexpr double kPqC1 = 3424.0 / 4096;
constexpr double kPqC2 = 2413.0 / 4096 * 32;
constexpr double kPqC3 = 2392.0 / 4096 * 32;
constexpr double kPqPeak = 10000;

// BT.2100; b and c make the curve and its slope continuous.
constexpr double kHlgA = 0.17883277;
constexpr double kHlgB = 1 - 4 * kHlgA;
const double kHlgC = 0.5 - kHlgA * exact_log(4 * kHlgA);

}  // namespace

std::string transfer_name(const Colour& colour) {
  switch (colour.transfer) {
    case Transfer::srgb:
      return "sRGB";
    case Transfer::linear:
      return "linear";
    case Transfer::gamma:
      return fmt::format("gamma {:.6g}", colour.gamma);
    case Transfer::bt1886:
      return "BT.1886";
    case Transfer::pq:
      return "PQ";
    case Transfer::hlg:
      break;
  }
  return "HLG";
}

double srgb_to_linear(double encoded) {
  const double x = std::abs(encoded);
  const double linear = x <= 0.04045 ? x / 12.92 : exact_power((x + 0.055) / 1.055, 2.4);
  return std::copysign(linear, encoded);
}

double srgb_to_linear_smooth(double encoded) {
  constexpr double kOffset = 0.0550107189475866, kFirst = 12.92 * 0.003041282560127521;
  const double x = std::abs(encoded);
  const double linear = x <= kFirst ? x / 12.92 : exact_power((x + kOffset) / (1 + kOffset), 2.4);
  return std::copysign(linear, encoded);
}

double linear_to_srgb(double linear) {
  const double x = std::abs(linear);
  const double encoded = x <= 0.04045 / 12.92 ? x * 12.92 : 1.055 * exact_power(x, 1 / 2.4) - 0.055;
  return std::copysign(encoded, linear);
}

float srgb_to_linear_single(float encoded) {
  const float x = std::abs(encoded);
  if (x <= 0.04045f) return encoded / 12.92f;
  const float base = (x + 0.055f) / 1.055f;
  return std::copysign(static_cast<float>(exact_power(static_cast<double>(base), static_cast<double>(2.4f))), encoded);
}

double signed_power(double x, double exponent) { return std::copysign(exact_power(std::abs(x), exponent), x); }

double pq_to_nits(double encoded) {
  const double power = exact_power(std::clamp(encoded, 0.0, 1.0), 1 / kPqM2);
  return kPqPeak * exact_power(std::max(power - kPqC1, 0.0) / (kPqC2 - kPqC3 * power), 1 / kPqM1);
}

double nits_to_pq(double nits) {
  const double power = exact_power(std::clamp(nits / kPqPeak, 0.0, 1.0), kPqM1);
  return exact_power((kPqC1 + kPqC2 * power) / (1 + kPqC3 * power), kPqM2);
}

double hlg_to_scene(double encoded) {
  const double x = std::max(encoded, 0.0);
  return x <= 0.5 ? x * x / 3 : (exact_exp((x - kHlgC) / kHlgA) + kHlgB) / 12;
}

double scene_to_hlg(double scene) {
  const double x = std::max(scene, 0.0);
  return x <= 1.0 / 12 ? std::sqrt(3 * x) : kHlgA * exact_log(12 * x - kHlgB) + kHlgC;
}

double hlg_system_gamma(double peak_nits) { return 1.2 + 0.42 * exact_log10(peak_nits / 1000); }

}  // namespace acuity
