// SPDX-License-Identifier: BSD-2-Clause-Patent
// JSON, schema acuity-score/1: see docs/json.md. Written by hand because numbers must have 17 significant digits.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "acuity/version.h"
#include "cli/console.h"
#include "cli/lists.h"
#include "cli/pools.h"
#include "cli/report.h"
#include "cli/text.h"

namespace acuity::cli {
namespace {

std::string strings(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& item : list) text += fmt::format("{}{}", text.empty() ? "" : ",", json_string(item));
  return "[" + text + "]";
}

std::string numbers(const std::vector<NamedValue>& list) {
  std::string text;
  for (const NamedValue& item : list) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", json_string(item.name), exact_number(item.value));
  }
  return "{" + text + "}";
}

// Numbers as such, words in quotes.
std::string options(const std::vector<OptionValue>& list) {
  std::string text;
  for (const OptionValue& item : list) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", json_string(item.name),
                        parse_number(item.value, item.name).ok() ? item.value : json_string(item.value));
  }
  return "{" + text + "}";
}

std::string number(const std::optional<double>& value) { return value ? exact_number(*value) : "null"; }

// The names of the values a frame has: that of the metric for its value, then those of its other outputs.
std::vector<std::string> value_names(const MetricScore& entry) {
  std::vector<std::string> names{json_string(entry.metric->name)};
  for (const NamedValue& output : entry.score.outputs) names.push_back(json_string(output.name));
  return names;
}

std::string frames_and_pools(const VideoFacts& video, const MetricScore& entry) {
  const std::vector<std::string> names = value_names(entry);
  std::string frames;
  for (size_t i = 0; i < video.frames.size(); ++i) {
    const FramePair& frame = video.frames[i];
    std::string values;
    for (size_t v = 0; v < names.size(); ++v) {
      values += fmt::format("{}{}:{}", v == 0 ? "" : ",", names[v], exact_number(entry.series[v][i]));
    }
    frames += fmt::format("{}{{\"index\":{},\"reference_pts\":{},\"distorted_pts\":{},\"values\":{{{}}}}}",
                          i == 0 ? "" : ",\n", frame.index, number(frame.reference_time), number(frame.distorted_time),
                          values);
  }
  std::string pooled;
  for (size_t v = 0; v < names.size(); ++v) {
    std::string list;
    for (const Pool& pool : pools(entry.series[v])) {
      list += fmt::format("{}\"{}\":{}", list.empty() ? "" : ",", pool.name, number(pool.value));
    }
    pooled += fmt::format("{}{}:{{{}}}", v == 0 ? "" : ",", names[v], list);
  }
  return fmt::format(",\"frames\":[{}],\"pools\":{{{}}}{}", frames, pooled,
                     entry.aggregates.empty() ? "" : ",\"aggregates\":" + numbers(entry.aggregates));
}

std::string stream_object(const StreamFacts& stream) {
  const bool timed = stream.rate.denominator != 0;
  return fmt::format("{{\"frames\":{},\"rate\":{}}}", stream.frames ? fmt::format("{}", *stream.frames) : "null",
                     timed ? fmt::format("\"{}/{}\"", stream.rate.numerator, stream.rate.denominator) : "null");
}

std::string video_object(const VideoFacts& video) {
  return fmt::format(",\"video\":{{\"reference\":{},\"distorted\":{},\"scored\":{}}}", stream_object(video.reference),
                     stream_object(video.distorted), video.frames.size());
}

std::string metrics_object(const PairResult& pair) {
  std::string text;
  for (const MetricScore& entry : pair.scores) {
    const Provenance& how = entry.score.provenance;
    text += fmt::format(
        "{}{}:{{\"value\":{},\"better\":\"{}\",\"version\":{},\"device\":{},\"options\":{},\"outputs\":{}{}}}",
        text.empty() ? "" : ",", json_string(entry.label), exact_number(entry.score.value),
        name_of(entry.metric->better), json_string(how.metric_version), json_string(how.device),
        options(how.metric_options), numbers(entry.score.outputs),
        pair.video ? frames_and_pools(*pair.video, entry) : "");
  }
  return "{" + text + "}";
}

// Those of all metrics, each once.
std::string devices_of(const PairResult& pair) {
  std::vector<std::string> devices;
  for (const MetricScore& entry : pair.scores) {
    const std::string& device = entry.score.provenance.device;
    if (std::find(devices.begin(), devices.end(), device) == devices.end()) devices.push_back(device);
  }
  return fmt::format("{}", fmt::join(devices, "; "));
}

std::string result_object(const PairResult& pair) {
  const std::string files =
      fmt::format("\"reference\":{},\"distorted\":{}", json_string(pair.reference), json_string(pair.distorted));
  if (!pair.status.ok()) {
    return fmt::format("{{{},\"error\":{},\"warnings\":{}}}", files, json_string(pair.status.message()),
                       strings(pair.warnings));
  }
  return fmt::format(
      "{{{},\"width\":{},\"height\":{}{},\"metrics\":{},\"device\":{},\"assumptions\":{},\"timing_ms\":{},"
      "\"warnings\":{},\"complete\":{}}}",
      files, pair.width, pair.height, pair.video ? video_object(*pair.video) : "", metrics_object(pair),
      json_string(devices_of(pair)), strings(assumptions(pair)), numbers(timings(pair)), strings(pair.warnings),
      pair.cut_short.ok());
}

class JsonReport : public Report {
 public:
  explicit JsonReport(Console& console) : console_(console) {}

  void begin() override {
    console_.print(
        fmt::format("{{\"schema\":\"acuity-score/1\",\"acuity\":{},\"results\":[", json_string(acuity_version())));
  }

  void add(const PairResult& pair, const std::vector<std::string>& explanation) override {
    console_.print(fmt::format("{}\n{}", first_ ? "" : ",", result_object(pair)));
    first_ = false;
    for (const std::string& line : explanation) console_.note(line);
  }

  void end(const std::vector<std::string>& warnings, bool complete) override {
    console_.print(fmt::format("\n],\"warnings\":{},\"complete\":{}}}\n", strings(warnings), complete));
  }

 private:
  Console& console_;
  bool first_ = true;
};

}  // namespace

std::unique_ptr<Report> json_report(Console& console) { return std::make_unique<JsonReport>(console); }

}  // namespace acuity::cli
