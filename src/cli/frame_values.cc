// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/frame_values.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "cli/pools.h"

namespace acuity::cli {

void add_frame(MetricScore& entry, Score score, double& convert_ms) {
  std::vector<NamedValue> times = std::move(entry.score.provenance.timing_ms);
  for (const NamedValue& time : score.provenance.timing_ms) {
    if (time.name == "convert") {
      convert_ms += time.value;
      continue;
    }
    const auto known =
        std::find_if(times.begin(), times.end(), [&](const NamedValue& one) { return one.name == time.name; });
    if (known == times.end()) {
      times.push_back(time);
    } else {
      known->value += time.value;
    }
  }
  // Of pictures, what is true of all frames.
  std::vector<std::string>& before = entry.score.provenance.warnings;
  if (!entry.series.empty()) {
    std::erase_if(score.provenance.warnings, [&](const std::string& warning) {
      return std::find(before.begin(), before.end(), warning) == before.end();
    });
  }
  entry.series.resize(score.outputs.size() + 1);
  entry.series[0].push_back(score.value);
  for (size_t i = 0; i < score.outputs.size(); ++i) entry.series[i + 1].push_back(score.outputs[i].value);
  entry.score = std::move(score);
  entry.score.provenance.timing_ms = std::move(times);
}

void add_warnings_of_metrics(PairResult& result, const std::string& files) {
  for (const MetricScore& entry : result.scores) {
    for (const std::string& warning : entry.score.provenance.warnings) {
      std::string text = fmt::format("{}: {}", files, warning);
      if (std::find(result.warnings.begin(), result.warnings.end(), text) != result.warnings.end()) continue;
      result.warnings.push_back(std::move(text));
    }
  }
}

Status keep_common_frames(PairResult& result) {
  size_t frames = result.video->frames.size();
  for (const MetricScore& entry : result.scores) frames = std::min(frames, entry.series[0].size());
  result.video->frames.resize(frames);
  for (MetricScore& entry : result.scores) {
    if (entry.series[0].size() > frames && !entry.aggregates.empty()) return result.cut_short;
    for (std::vector<double>& values : entry.series) values.resize(frames);
  }
  return frames == 0 ? result.cut_short : Status();
}

void pool_frames(PairResult& result) {
  for (MetricScore& entry : result.scores) {
    const std::optional<double> of_all = entry.value_of_all();
    entry.score.value = of_all ? *of_all : mean(entry.series[0]);
    for (size_t i = 0; i < entry.score.outputs.size(); ++i) entry.score.outputs[i].value = mean(entry.series[i + 1]);
  }
}

}  // namespace acuity::cli
