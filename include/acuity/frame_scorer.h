// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scoring videos by metrics that work on their Y'CbCr samples and may look at several frames: those of metrics() whose
// MetricInfo::frames is set.
//
//   auto scorer = acuity::FrameScorer::create({.metrics = {{"vmaf"}, {"cambi"}}, .width = 1920, .height = 1080});
//   if (!scorer.ok()) return report(scorer.status());
//   while (read(reference, distorted)) {
//     if (acuity::Status pushed = scorer->push(reference, distorted); !pushed.ok()) return report(pushed);
//   }
//   auto scores = scorer->finish();                  // one a metric: its value of every frame
//
// A FrameScorer is used by one thread at a time; it uses several inside. Different FrameScorers are independent.
#ifndef ACUITY_FRAME_SCORER_H
#define ACUITY_FRAME_SCORER_H

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "acuity/export.h"
#include "acuity/frame.h"
#include "acuity/score.h"
#include "acuity/status.h"

namespace acuity {

struct FrameMetricRequest {
  std::string metric{};  ///< a name from metrics() whose MetricInfo::frames is set
  /// Settings of that metric, by the names in MetricInfo::options; those left out have their defaults.
  std::vector<OptionValue> options{};
};

struct FrameScorerOptions {
  std::vector<FrameMetricRequest> metrics{};
  int width = 0;
  int height = 0;
  int depth = 8;
  Subsampling subsampling = Subsampling::yuv420;
  int threads = 0;  ///< 0: one for each core
};

/// A named result of every frame that was scored, in their order.
struct FrameOutput {
  std::string name;
  std::vector<double> values;
  bool internal = false;  ///< of use for looking into a metric; libvmaf prints it only where `debug` is set
};

/// What a metric says of a video.
struct FrameScore {
  std::vector<FrameOutput> outputs;
  size_t headline = 0;  ///< which of them is the metric's value
  /// What there is one of for the whole video, made of the scored frames.
  std::vector<NamedValue> aggregates;
  Provenance provenance;
};

class ACUITY_API FrameScorer {
 public:
  /// What several metrics need is measured once.
  static Result<FrameScorer> create(const FrameScorerOptions& options);
  ~FrameScorer();
  FrameScorer(FrameScorer&&) noexcept;
  FrameScorer& operator=(FrameScorer&&) noexcept;

  /// The next pair of frames. Returns at once while fewer frames than threads + 2 are in work; otherwise helps until
  /// one of them is done, so that memory does not grow with the length of a video. With one thread all is done here.
  /// Samples are read later through FrameView::owner, and are copied where there is none and that is needed.
  Status push(const FrameView& reference, const FrameView& distorted);
  /// A pair that is not itself scored, in its place among the others: metrics that look at several frames see it. The
  /// kNeighbours frames before and after each scored one are all that can matter.
  Status push_neighbour(const FrameView& reference, const FrameView& distorted);
  static constexpr int kNeighbours = 8;

  /// Waits for what is in work. One score for each metric asked for, in that order; never a value that is not finite.
  /// Nothing can be pushed afterwards.
  Result<std::vector<FrameScore>> finish();

 private:
  struct State;
  explicit FrameScorer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace acuity

#endif
