// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/pools.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace acuity::cli {
namespace {

std::optional<double> harmonic_mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) {
    if (value <= -1) return {};
    sum += 1 / (value + 1);
  }
  return static_cast<double>(values.size()) / sum - 1;
}

double percentile(std::span<const double> sorted, int percent) {
  const double place = static_cast<double>(sorted.size() - 1) * percent / 100;
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - static_cast<double>(below));
}

double deviation(std::span<const double> values) {
  const double centre = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

}  // namespace

double mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::vector<Pool> pools(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<Pool> list = {{"mean", mean(values)},
                            {"harmonic_mean", harmonic_mean(values)},
                            {"min", sorted.front()},
                            {"max", sorted.back()}};
  for (const int percent : {1, 5, 10, 25, 50, 75, 90, 95, 99}) {
    list.push_back({fmt::format("p{}", percent), percentile(sorted, percent)});
  }
  list.push_back({"std", deviation(values)});
  return list;
}

}  // namespace acuity::cli
