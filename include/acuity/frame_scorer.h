// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scores videos with frame metrics, which work on Y'CbCr samples and may look at several frames: those of metrics()
// whose MetricInfo::frames is set.
//
//   auto scorer = acuity::FrameScorer::create({.metrics = {{"vmaf"}, {"cambi"}}, .width = 1920, .height = 1080});
//   if (!scorer.ok()) return report(scorer.status());
//   while (read(reference, distorted)) {
//     if (acuity::Status pushed = scorer->push(reference, distorted); !pushed.ok()) return report(pushed);
//   }
//   auto scores = scorer->finish();                  // one per metric: its values of every frame
//
// Only one thread at a time may use a FrameScorer; it uses several inside. Different FrameScorers are independent.
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
  /// Settings of that metric, by the names in MetricInfo::options. Settings left out have their defaults.
  std::vector<OptionValue> options{};
};

struct FrameScorerOptions {
  std::vector<FrameMetricRequest> metrics{};
  int width = 0;
  int height = 0;
  int depth = 8;
  Subsampling subsampling = Subsampling::yuv420;
  int threads = 0;  ///< 0: one per core
};

/// A named result: one value for each scored frame, in order.
struct FrameOutput {
  std::string name;
  std::vector<double> values;
  bool internal = false;  ///< explains the metric's other outputs; libvmaf prints it only with `debug`
};

/// The result of one metric for a video.
struct FrameScore {
  std::vector<FrameOutput> outputs;
  size_t headline = 0;  ///< index of the output that is the metric's value
  /// Values of the whole video, computed from the scored frames.
  std::vector<NamedValue> aggregates;
  Provenance provenance;
};

class ACUITY_API FrameScorer {
 public:
  /// Features that several metrics need are measured once.
  static Result<FrameScorer> create(const FrameScorerOptions& options);
  ~FrameScorer();
  FrameScorer(FrameScorer&&) noexcept;
  FrameScorer& operator=(FrameScorer&&) noexcept;

  /// Adds the next pair of frames. Returns at once while fewer than threads + 2 frames are in flight; then works on
  /// them until one is done, so memory does not grow with the length of the video. With one thread, all work is done
  /// in this call. Samples may be read later: FrameView::owner keeps them alive, and without one they are copied.
  Status push(const FrameView& reference, const FrameView& distorted);
  /// Adds a pair that is not scored itself, but that metrics which look at several frames see in its place. Only the
  /// kNeighbours frames before and after each scored one can matter.
  Status push_neighbour(const FrameView& reference, const FrameView& distorted);
  static constexpr int kNeighbours = 8;

  /// Waits for all frames. Returns one score for each requested metric, in that order; every value is finite. No frame
  /// can be pushed afterwards.
  Result<std::vector<FrameScore>> finish();

 private:
  struct State;
  explicit FrameScorer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace acuity

#endif
