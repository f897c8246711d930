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
                fmt::format("{0} needs frames of at least {1} x {1} pixels, and these are {2} x {3}; "
                            "scale them up or leave out {0}",
                            feature, minimum_side, setup.format.width, setup.format.height));
}

inline Status check_depth(std::string_view feature, const Feature::Setup& setup, const std::vector<int>& depths) {
  if (std::find(depths.begin(), depths.end(), setup.format.depth) != depths.end()) return {};
  return Status(StatusCode::input,
                fmt::format("{0} accepts samples of {1} bits, and these have {2}; convert them or leave out {0}",
                            feature, fmt::join(depths, ", "), setup.format.depth));
}

inline Status check_chroma(std::string_view feature, const Feature::Setup& setup) {
  if (setup.format.subsampling != Subsampling::grey) return {};
  return Status(StatusCode::input,
                fmt::format("{0} looks at the colour planes, and these frames are grey; leave out {0}", feature));
}

}  // namespace acuity

#endif
