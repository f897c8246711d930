// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/sensitivity.h"

#include <algorithm>

#include "base/powers.h"

namespace acuity::cvvdp {
namespace {

constexpr double kLog2Of10 = 3.321928094887362348;
constexpr double kDarkest = 0.005,
                 kBrightest = 10000;  // of the table, in nit; the logarithms between are evenly spaced

}  // namespace

double luminance_step() { return (kTableSide - 1) / (exact_log2(kBrightest) - exact_log2(kDarkest)); }
double luminance_offset() { return -exact_log2(kDarkest) * luminance_step(); }

std::array<double, kTableSide> log_sensitivity(int channel, double frequency) {
  std::array<double, kTableSide> axis;
  std::transform(kTableFrequencies.begin(), kTableFrequencies.end(), axis.begin(), exact_log10);
  const double x = exact_log10(frequency);
  const auto below = std::count_if(axis.begin(), axis.end(), [x](double value) { return value < x; });
  const size_t i = static_cast<size_t>(std::clamp<std::ptrdiff_t>(below - 1, 0, kTableSide - 2));
  const double fraction = (x - axis[i]) / (axis[i + 1] - axis[i]);
  const SensitivityTable& table = kLogSensitivity[static_cast<size_t>(channel)];
  std::array<double, kTableSide> values;
  for (size_t l = 0; l < kTableSide; ++l) {
    const double low = static_cast<double>(table[l][i]), high = static_cast<double>(table[l][i + 1]);
    values[l] = (low + (high - low) * fraction + kSensitivityDecibels / 20) * kLog2Of10;
    // No display asks for less: this only keeps the numbers of absurd ones finite.
    values[l] = std::clamp(values[l], -60.0, 60.0);
  }
  return values;
}

double sensitivity_at(int channel, double frequency, double luminance) {
  const std::array<double, kTableSide> values = log_sensitivity(channel, frequency);
  const double place = std::clamp(exact_log2(luminance) * luminance_step() + luminance_offset(), 0.0, kTableSide - 1.0);
  const size_t j = std::min(static_cast<size_t>(place), static_cast<size_t>(kTableSide - 2));
  return exact_exp2(values[j] + (values[j + 1] - values[j]) * (place - static_cast<double>(j)));
}

}  // namespace acuity::cvvdp
