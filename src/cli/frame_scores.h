// SPDX-License-Identifier: BSD-2-Clause-Patent
// The part of scoring a pair of videos that metrics of frames have in it.
#ifndef ACUITY_CLI_FRAME_SCORES_H
#define ACUITY_CLI_FRAME_SCORES_H

#include <optional>

#include "acuity/frame_scorer.h"
#include "cli/pairs.h"
#include "media/form.h"
#include "media/video.h"

namespace acuity::cli {

/// A stream that takes part: what messages call it, and what its frames are.
struct FrameSide {
  std::string name;
  const VideoFormat* format = nullptr;
};

class FrameScores {
 public:
  /// Whether all metrics of the job scale the videos themselves, so that these may have different sizes.
  static bool resize(const ScoreJob& job);
  /// Does nothing where no metric of the job is one of frames. `colour` is what pictures are converted to.
  /// `rate`: where it is not that of the reference.
  Status begin(const ScoreJob& job, const FrameSide& reference, const FrameSide& distorted, const Colour& colour,
               const std::optional<FrameRate>& rate, int64_t expected_frames);
  bool any() const { return !groups_.empty(); }
  /// How many frames before and after a scored one must be pushed as its neighbours.
  int frames_before() const;
  int frames_after() const;
  /// Which planes of the frames as they are stored are looked at, of the reference and of the distorted video.
  std::array<PlaneSet, 2> planes() const;
  /// How the frames of either side are converted.
  const std::vector<std::string>& reference_changes() const { return reference_changes_; }
  const std::vector<std::string>& distorted_changes() const { return distorted_changes_; }

  double convert_ms() const { return convert_ms_; }

  /// `inputs` are the same frames, as metrics of pictures get them. `scored`: otherwise a neighbour of frames that are.
  Status push(const std::shared_ptr<const VideoFrame>& reference, const std::shared_ptr<const VideoFrame>& distorted,
              const InputPair& inputs, int64_t number, bool scored, const Threads& threads);
  /// Fills in those of `scores`, which are in the order of the job, that are of frames. Where a device has failed, they
  /// hold the frames scored until then, and `cut_short` says why.
  Status finish(std::vector<MetricScore>& scores, Status& cut_short);

 private:
  // Metrics that compare frames in one form. Nearly always there is one group.
  struct Group {
    FrameForm form;
    FormConverter reference, distorted;
    FrameFormat reference_format, distorted_format;  // after it
    std::vector<size_t> places;                      // in the job
    std::optional<FrameScorer> scorer;
  };
  Group& group_for(const FrameForm& form, const Colour& colour);

  FrameSide reference_, distorted_;
  std::vector<Group> groups_;
  std::vector<std::string> reference_changes_, distorted_changes_;
  double convert_ms_ = 0;
};

}  // namespace acuity::cli

#endif
