// SPDX-License-Identifier: BSD-2-Clause-Patent
// What both forms of VIF, the one in whole numbers and the one in floats, say of a frame.
#ifndef ACUITY_METRICS_VIF_SCORES_H
#define ACUITY_METRICS_VIF_SCORES_H

#include <array>
#include <span>
#include <string>
#include <vector>

#include "engine/feature.h"

namespace acuity::vif {

/// The option vif_enhn_gain_limit, and vif_skip_scale0.
MetricOption gain_limit_option();
MetricOption skip_option();

struct ScaleScore {
  float numerator = 0;
  float denominator = 1;
  double ratio = 0;
};

/// The combined value among the outputs.
inline constexpr size_t kHeadline = 4;

/// Names begin with `score_prefix` for the scales' ratios, with `prefix` for the rest.
std::vector<FeatureOutput> outputs(const std::string& score_prefix, const std::string& prefix, const MetricInfo& info,
                                   const OptionValues& options);

/// Fills the values of these outputs. Without scale 0 its values are those libvmaf gives then.
void fill_values(std::span<const ScaleScore, 4> scales, bool skip_scale0, std::span<double> values);

/// The shortest side in which the window of no scale reaches over both ends; `radius` is that of each scale's window.
int least_side(std::span<const int, 4> radius);

}  // namespace acuity::vif

#endif
