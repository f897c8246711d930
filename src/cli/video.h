// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scores the frames of one video against those of another, all metrics in one pass.
#ifndef ACUITY_CLI_VIDEO_H
#define ACUITY_CLI_VIDEO_H

#include <functional>

#include "cli/pairs.h"
#include "cli/progress.h"
#include "cli/video_plan.h"

namespace acuity::cli {

/// Called before each frame that is scored: how many there were, and how many there will be where that is known.
using FrameProgress = std::function<void(int64_t done, const std::optional<FrameTotal>& total)>;

PairResult score_video(const ScoreJob& job, const VideoPlan& plan, const std::string& distorted,
                       const FrameProgress& progress);

}  // namespace acuity::cli

#endif
