// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/vif/scores.h"

#include <algorithm>

#include <fmt/format.h>

#include "frames/feature_options.h"

namespace acuity::vif {

MetricOption gain_limit_option() {
  return number_option("vif_enhn_gain_limit", "egl",
                       "the limit for the gain from enhanced contrast; 1 gives enhancement no credit", "100", 1, 100);
}

MetricOption skip_option() {
  MetricOption option = switch_option("vif_skip_scale0", "ssclz", "leave out the finest scale", false);
  option.in_names = true;
  return option;
}

std::vector<FeatureOutput> outputs(const std::string& score_prefix, const std::string& prefix, const MetricInfo& info,
                                   const OptionValues& options) {
  std::vector<FeatureOutput> result;
  const auto add = [&](const std::string& name, bool debug_only) {
    result.push_back({output_name(name, info, options), debug_only});
  };
  for (int scale = 0; scale < 4; ++scale) add(fmt::format("{}vif_scale{}_score", score_prefix, scale), false);
  for (const char* name : {"vif", "vif_num", "vif_den"}) add(prefix + name, true);
  for (int scale = 0; scale < 4; ++scale) {
    add(fmt::format("{}vif_num_scale{}", prefix, scale), true);
    add(fmt::format("{}vif_den_scale{}", prefix, scale), true);
  }
  return result;
}

void fill_values(std::span<const ScaleScore, 4> scales, bool skip_scale0, std::span<double> values) {
  double numerator = 0, denominator = 0;
  for (size_t scale = 0; scale < 4; ++scale) {
    const ScaleScore& score = scales[scale];
    const bool skipped = scale == 0 && skip_scale0;
    values[scale] = skipped ? 0 : score.ratio;
    values[7 + 2 * scale] = skipped ? 0 : static_cast<double>(score.numerator);
    values[8 + 2 * scale] = skipped ? -1 : static_cast<double>(score.denominator);
    if (skipped) continue;
    numerator += static_cast<double>(score.numerator);
    denominator += static_cast<double>(score.denominator);
  }
  values[4] = denominator == 0 ? 1 : numerator / denominator;
  values[5] = numerator;
  values[6] = denominator;
}

int least_side(std::span<const int, 4> radius) {
  int least = 0;
  for (size_t scale = 0; scale < 4; ++scale) {
    // The window of a scale works on the scale before too, but that is twice as large.
    least = std::max(least, (radius[scale] + 1) << scale);
  }
  return least;
}

}  // namespace acuity::vif
