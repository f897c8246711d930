// SPDX-License-Identifier: BSD-2-Clause-Patent
// What features of video frames refuse, in the same words.
#ifndef ACUITY_FRAMES_FRAME_CHECKS_H
#define ACUITY_FRAMES_FRAME_CHECKS_H

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/feature.h"

namespace acuity {

inline Status check_sides(std::string_view feature, const Feature::Setup& setup, int minimum_side) {
  if (std::min(setup.format.width, setup.format.height) >= minimum_side) return {};
  return Status(StatusCode::input,
                fmt::format("{} needs frames of at least {} x {} pixels, and these are {} x {}; "
                            "scale them up or leave it out",
                            feature, minimum_side, minimum_side, setup.format.width, setup.format.height));
}

inline Status check_depth(std::string_view feature, const Feature::Setup& setup, const std::vector<int>& depths) {
  if (std::find(depths.begin(), depths.end(), setup.format.depth) != depths.end()) return {};
  return Status(StatusCode::input,
                fmt::format("{} accepts samples of {} bits, and these have {}; convert them or leave it out", feature,
                            fmt::join(depths, ", "), setup.format.depth));
}

inline Status check_chroma(std::string_view feature, const Feature::Setup& setup) {
  if (setup.format.subsampling != Subsampling::grey) return {};
  return Status(StatusCode::input,
                fmt::format("{} looks at the colour planes, and these frames are grey; leave it out", feature));
}

}  // namespace acuity

#endif
