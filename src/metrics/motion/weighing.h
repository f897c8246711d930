// SPDX-License-Identifier: BSD-2-Clause-Patent
// What becomes of the motion between two frames: weighed, clipped, blended. The options are the same for whole numbers
// and for floats.
#ifndef ACUITY_METRICS_MOTION_WEIGHING_H
#define ACUITY_METRICS_MOTION_WEIGHING_H

#include <algorithm>
#include <vector>

#include "engine/feature.h"

namespace acuity::motion {

struct Weighing {
  bool force_zero = false;
  double blend_factor = 1;
  double blend_offset = 40;
  double fps_weight = 1;
  double most = 10000;

  explicit Weighing(const OptionValues& options)
      : force_zero(is_on(options, "motion_force_zero")),
        blend_factor(*options.number("motion_blend_factor")),
        blend_offset(*options.number("motion_blend_offset")),
        fps_weight(*options.number("motion_fps_weight")),
        most(*options.number("motion_max_val")) {}

  double clip(double motion) const { return std::min(motion, most); }

  /// Motion beyond the offset counts for a part only.
  double blend(double motion) const {
    return clip(motion * blend_factor + (1 - blend_factor) * std::min(blend_offset, motion));
  }
};

inline MetricOption number_option(std::string name, std::string alias, std::string help, std::string default_value,
                                  double most) {
  MetricOption option{
      .name = std::move(name), .help = std::move(help), .default_value = std::move(default_value), .minimum = 0};
  option.maximum = most;
  option.alias = std::move(alias);
  option.in_names = true;
  return option;
}

inline MetricOption named_switch(std::string name, std::string alias, std::string help) {
  MetricOption option = switch_option(std::move(name), std::move(alias), std::move(help), false);
  option.in_names = true;
  return option;
}

inline std::vector<MetricOption> weighing_options() {
  return {named_switch("motion_force_zero", "force_0", "give 0 for all frames"),
          number_option("motion_blend_factor", "mbf", "how much of the motion beyond the offset counts", "1", 1),
          number_option("motion_blend_offset", "mbo", "motion from which on the factor applies", "40", 1000),
          number_option("motion_fps_weight", "mfw", "factor of the motion, to allow for the frame rate", "1", 5),
          number_option("motion_max_val", "mmxv", "larger values are reduced to this", "10000", 10000)};
}

}  // namespace acuity::motion

#endif
