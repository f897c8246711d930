// SPDX-License-Identifier: BSD-2-Clause-Patent
// The part of scoring a pair of videos that metrics of frames have in it.
#ifndef ACUITY_CLI_FRAME_SCORES_H
#define ACUITY_CLI_FRAME_SCORES_H

#include <optional>

#include "acuity/frame_scorer.h"
#include "cli/pairs.h"
#include "media/video.h"

namespace acuity::cli {

/// A stream that takes part: what messages call it, and what its frames are.
struct FrameSide {
  std::string name;
  const VideoFormat* format = nullptr;
};

class FrameScores {
 public:
  /// Does nothing where no metric of the job is one of frames.
  Status begin(const ScoreJob& job, const FrameSide& reference, const FrameSide& distorted);
  bool any() const { return scorer_.has_value(); }

  /// `scored`: otherwise a neighbour of frames that are.
  Status push(std::shared_ptr<const VideoFrame> reference, std::shared_ptr<const VideoFrame> distorted, bool scored);
  /// Fills in those of `scores`, which are in the order of the job, that are of frames.
  Status finish(std::vector<MetricScore>& scores);

 private:
  FrameSide reference_, distorted_;
  std::vector<size_t> places_;  // in the job
  std::optional<FrameScorer> scorer_;
};

}  // namespace acuity::cli

#endif
