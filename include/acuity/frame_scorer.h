// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scores videos with frame metrics, which work on Y'CbCr samples and may look at several frames: those of metrics()
// whose MetricInfo::is_frame_metric is set.
//
//   acuity::FrameFormat format;
//   format.width = 1920;
//   format.height = 1080;
//   auto scorer = acuity::FrameScorer::create({.metrics = {{"vmaf"}, {"cambi"}}, .format = format});
//   if (!scorer.ok()) return report(scorer.status());
//   while (read(reference, distorted)) {
//     if (acuity::Status pushed = scorer->push(reference, distorted); !pushed.ok()) return report(pushed);
//   }
//   auto scores = scorer->finish();                  // one per metric: its values of every frame
//
// FrameScorerOptions::on_scores gets the values of a frame long before that: when the frames it depends on are
// measured.
//
// Only one thread at a time may use a FrameScorer, except for cancel(); it uses several inside. Different FrameScorers
// are independent.
#ifndef ACUITY_FRAME_SCORER_H
#define ACUITY_FRAME_SCORER_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "acuity/export.h"
#include "acuity/frame.h"
#include "acuity/input.h"
#include "acuity/score.h"
#include "acuity/status.h"

namespace acuity {

struct FrameMetricRequest {
  std::string metric{};  ///< a name from metrics() whose MetricInfo::is_frame_metric is set
  /// Settings of that metric, by the names in MetricInfo::options. Settings left out have their defaults.
  std::vector<OptionValue> options{};
};

/// What the metrics found in one frame.
struct FrameValues {
  int64_t number = 0;                        ///< of the frame, as it was pushed
  std::vector<double> values;                ///< one for each requested metric
  std::vector<std::vector<double>> outputs;  ///< for each metric, one for each of FrameScorer::output_names
};

/// The difference map of a frame.
struct FrameMap {
  DifferenceMap map;
  /// What the metric's own tools show behind it: the distorted frame in grey, one value from 0 to 1 for each pixel.
  std::vector<float> context;
};

struct FrameScorerOptions {
  std::vector<FrameMetricRequest> metrics{};
  FrameFormat format{};  ///< of both videos
  /// Of the distorted video, if its samples mean something else: another range, matrix, siting or colour. Size, depth
  /// and subsampling must be the same, unless all metrics scale the videos themselves (cvvdp_video with full_screen),
  /// which need the same depth only. The rate that counts is the reference's.
  std::optional<FrameFormat> distorted_format{};
  /// "cpu", a GPU as in ScorerOptions, which must have all features of the metrics, or "auto": features run on a GPU
  /// if they can and are faster there, and on the CPU if not; Provenance states which did. A GPU that fails in the
  /// middle of a video ends it with an error, and under "auto" the CPU goes on from there, with the same values, and
  /// Provenance::warnings states it.
  std::string device = "auto";
  int64_t expected_frames = 1;  ///< how many you expect to score; "auto" uses it
  int threads = 0;              ///< 0: one per core
  /// How many pairs of frames a GPU works on or waits for at once, 1 to 64; 0: as many as keep it busy, or fewer if it
  /// has no memory for so many. It never changes a score.
  int frames_in_flight = 0;
  int64_t vram_cap_bytes = 0;  ///< as in ScorerOptions
  /// Return the difference map of the last frame that is scored, on the CPU. For metrics whose MetricInfo::has_map is
  /// set.
  bool want_map = false;
  /// Called once for each scored frame, in order, as soon as its values are final: inside push(), push_neighbour(),
  /// score_at() or finish(), on the thread that called it. Must not call the FrameScorer, except for cancel().
  std::function<void(const FrameValues&)> on_scores{};
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
  std::optional<FrameMap> map{};  ///< if FrameScorerOptions::want_map is set
  Provenance provenance;
};

class ACUITY_API FrameScorer {
 public:
  /// Features that several metrics need are measured once.
  static Result<FrameScorer> create(const FrameScorerOptions& options);
  ~FrameScorer();
  FrameScorer(FrameScorer&&) noexcept;
  FrameScorer& operator=(FrameScorer&&) noexcept;

  /// Adds the next pair of frames. Returns at once while fewer than threads + 2 frames are in flight, or six times as
  /// many for cvvdp_video, which measures six at a time; then works on them until one is done, so memory does not grow
  /// with the length of the video. With one thread, all work is done in calls of push() and finish(), except for that
  /// of a GPU. Samples may be read later: FrameView::owner keeps them alive, and without
  /// one they are copied. `number` is what messages and results call the pair; numbers increase. The default is one
  /// more than the last; the first is 0.
  Status push(const FrameView& reference, const FrameView& distorted, std::optional<int64_t> number = {});
  /// Adds a pair that is not scored itself, but that metrics which look at several frames see in its place. Only
  /// frames_before() frames before and frames_after() frames after a scored one can matter to it.
  Status push_neighbour(const FrameView& reference, const FrameView& distorted, std::optional<int64_t> number = {});
  /// The same for frames that a Scorer gets as well: a GPU gets them once for both. What their samples mean is as
  /// FrameScorerOptions states; the FrameFormat of the Input is for the Scorer.
  Status push(const Input& reference, const Input& distorted, std::optional<int64_t> number = {});
  Status push_neighbour(const Input& reference, const Input& distorted, std::optional<int64_t> number = {});
  int frames_before() const;
  int frames_after() const;
  /// Which planes the metrics look at, of the reference and of the distorted video. The others may hold anything.
  std::array<PlaneSet, 2> planes() const;

  /// The names of the outputs of a requested metric, by its index among the requests; empty if there is no such index.
  /// Internal ones (FrameOutput::internal) may be left out.
  std::vector<std::string> output_names(size_t metric, bool with_internal = true) const;
  /// The values of a frame that was pushed, once frames_after() frames have followed it or finish() was called. Waits
  /// for frames in flight.
  Result<FrameValues> score_at(int64_t number);

  /// Waits for all frames. Returns one score for each requested metric, in that order; every value is finite. No frame
  /// can be pushed afterwards. Frames before one that failed have been delivered all the same.
  Result<std::vector<FrameScore>> finish();

  /// The scores of the frames delivered so far: what there is after a failure.
  Result<std::vector<FrameScore>> scores_so_far() const;

  /// May be called from any thread at any time: calls in progress and all later ones return StatusCode::cancelled soon,
  /// except score_at() of frames whose values were delivered.
  void cancel() noexcept;

 private:
  struct State;
  explicit FrameScorer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace acuity

#endif
