// SPDX-License-Identifier: BSD-2-Clause-Patent
// Two videos opened, with what their samples mean settled, and cropped and scaled as the options want it.
#ifndef ACUITY_CLI_OPEN_PAIR_H
#define ACUITY_CLI_OPEN_PAIR_H

#include <string>
#include <vector>

#include "cli/geometry.h"
#include "cli/video_plan.h"
#include "media/meaning.h"

namespace acuity::cli {

struct OpenedPair {
  StreamPair streams;
  Colour frame_colour;                         // what pictures are converted to for frame metrics
  std::vector<std::string> reference_changes;  // how its frames were turned, cropped and scaled
  std::vector<std::string> distorted_changes;
  std::vector<std::string> warnings;
};

Result<OpenedPair> open_pair(const std::string& reference, const std::string& distorted, const VideoPlan& plan,
                             const MeaningOptions& meaning, const Geometry& geometry);

/// The same for one alone, cropped as a reference is.
Result<std::unique_ptr<FrameStream>> open_alone(const std::string& path, const VideoPlan& plan,
                                                const MeaningOptions& meaning, const Geometry& geometry);

/// What the streams are warned about themselves, and where they differ in how they are meant to be shown.
std::vector<std::string> doubts(const MeaningSide& reference, const MeaningSide& distorted);

}  // namespace acuity::cli

#endif
