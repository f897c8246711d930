// SPDX-License-Identifier: BSD-2-Clause-Patent
// What 'score' is to do, and what comes of each pair.
#ifndef ACUITY_CLI_PAIRS_H
#define ACUITY_CLI_PAIRS_H

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "acuity/picture.h"
#include "acuity/score.h"
#include "acuity/scorer.h"
#include "acuity/status.h"
#include "cli/geometry.h"
#include "cli/lists.h"
#include "cli/timeline.h"
#include "device/device.h"
#include "media/meaning.h"
#include "media/video.h"

namespace acuity::cli {

/// What is known of a file without its pixels.
struct FileFacts {
  std::string format;
  std::vector<std::string> found;
  std::vector<std::string> assumed;
  double decode_ms = 0;
  std::vector<std::string> changed{};  // how it was cropped and scaled; part of what was found
  Span read{};
};

struct ReadAhead;

struct OpenedDevice {
  Result<std::shared_ptr<Device>> device = Status();
  Span span{};
};

/// What is to be done.
struct ScoreJob {
  std::string reference;
  std::vector<std::string> distorted;
  std::vector<MetricChoice> metrics;
  std::optional<FrameRate> rate;  // --fps
  Geometry geometry;
  std::string device = "auto";
  std::shared_future<OpenedDevice> opening;  // while or since a GPU that was named is opened; kept open for all pairs
  MemoryMode memory;
  int64_t vram_cap_bytes = 0;      // 0: not given
  int64_t memory_limit_bytes = 0;  // of several files; 0: not given
  int frames_in_flight = 0;        // 0: as many as keep a device busy
  int threads = 0;
  bool want_map = false;
  bool want_map_context = false;  // MetricScore::map_context
  MeaningOptions meaning;
  PictureLimits limits;
  std::optional<int64_t> reference_frame;  // which picture of a file that holds several
  std::optional<int64_t> distorted_frame;
  std::shared_ptr<ReadAhead> ahead;                          // null: nothing is
  bool ends_process = false;                                 // what a GPU holds after it is left to the system
  std::function<bool()> is_given_up = [] { return false; };  // of a video: nobody waits for it any more
};

struct MetricScore {
  const MetricInfo* metric = nullptr;
  std::string label;                        // the metric's name, and the options that differ from the defaults
  Score score;                              // of a video: the means
  std::vector<std::vector<double>> series;  // of a video: for the value and each output, that of each frame
  std::vector<NamedValue> aggregates{};     // of a video: what there is one of for all frames together
  std::vector<float> map_context{};         // what the metric's own tools show behind its map, from 0 to 1

  /// Of a video: the metric's own value of all frames together, where it is not their mean.
  std::optional<double> value_of_all() const {
    for (const NamedValue& aggregate : aggregates) {
      if (aggregate.name == metric->name) return aggregate.value;
    }
    return {};
  }
};

struct FramePair {
  int64_t index = 0;  // of the reference's frame
  std::optional<double> reference_time;
  std::optional<double> distorted_time;
};

struct StreamFacts {
  std::optional<int64_t> frames;  // all of the stream, where known
  FrameRate rate;
};

/// What is known of a pair of videos beyond their scores.
struct VideoFacts {
  StreamFacts reference;
  StreamFacts distorted;
  std::vector<FramePair> frames;  // those scored
  double convert_ms = 0;
};

/// What came of one distorted picture.
struct PairResult {
  std::string reference;
  std::string distorted;
  Status status;  // where it is not ok, nothing below counts
  int width = 0;
  int height = 0;
  std::vector<MetricScore> scores;  // in the order of ScoreJob::metrics
  FileFacts reference_facts;
  FileFacts distorted_facts;
  double prepare_ms = 0;    // what was computed from the reference alone, in advance
  std::vector<Span> spans;  // besides reading
  std::vector<std::string> warnings;
  std::optional<VideoFacts> video;  // none: pictures
  Status cut_short;                 // why the scores are of a part only, where they are
};

/// Everything that was taken for granted, one sentence each, with the side or the metric it concerns in front.
std::vector<std::string> assumptions(const PairResult& pair);

/// When what began and ended, in that order.
std::vector<Span> timeline(const PairResult& pair);

/// Milliseconds by stage.
std::vector<NamedValue> timings(const PairResult& pair);

/// What a message calls a file.
std::string shown(const std::string& path);
/// The library speaks of the reference and the distorted picture; people know them by their files.
Status naming_files(const Status& status, const std::string& files);
bool finite(const Score& score);
/// Without metrics.
ScorerOptions scorer_options(const ScoreJob& job, int64_t pairs);

}  // namespace acuity::cli

#endif
