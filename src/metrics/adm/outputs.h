// SPDX-License-Identifier: BSD-2-Clause-Patent
// What libvmaf's features "adm" and "float_adm" have in common: most options, and how the numbers of the scales become
// outputs.
#ifndef ACUITY_METRICS_ADM_OUTPUTS_H
#define ACUITY_METRICS_ADM_OUTPUTS_H

#include <array>
#include <span>
#include <string>
#include <vector>

#include "engine/feature.h"
#include "metrics/adm/csf.h"
#include "metrics/adm/scales.h"

namespace acuity::adm {

/// The options both features have, except for the display's height, whose alias differs.
std::vector<MetricOption> common_options();

Viewing viewing_of(const OptionValues& options);

/// The numbers of one scale: details that were kept, those of the reference, and those that were added.
struct ScaleNumbers {
  float kept = 0;
  float reference = 0;
  float added = 0;
};

/// How outputs are made of them.
struct Combination {
  double kept_weight = 0.5;  // of what was kept, beside what was added, in "adm3"
  double least = 0;          // "adm3" is at least this
  bool harmonic = false;     // "adm3" is the harmonic mean of "adm2" and "aim"
  int skipped_scale = -1;    // this one is left out of "aim"
  bool added_up_to_1 = false;
};
Combination combination_of(const OptionValues& options);

/// adm2, aim, adm3, the ratio of each scale, and, for debugging, the sums they are made of.
std::vector<FeatureOutput> output_list(const MetricInfo& info, const OptionValues& options, bool integer);

/// Fills in the outputs of that list for a picture of this size.
void combine(const std::array<ScaleNumbers, kScales>& scales, int width, int height, const Combination& combination,
             std::span<double> values);

}  // namespace acuity::adm

#endif
