// SPDX-License-Identifier: BSD-2-Clause-Patent
// JSON, schema acuity-score/1: see docs/json.md. Written by hand because numbers must have 17 significant digits.
#include <fmt/format.h>

#include "acuity/version.h"
#include "cli/console.h"
#include "cli/lists.h"
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

std::string metrics_object(const std::vector<MetricScore>& scores) {
  std::string text;
  for (const MetricScore& entry : scores) {
    text += fmt::format("{}{}:{{\"value\":{},\"better\":\"{}\",\"version\":{},\"options\":{},\"outputs\":{}}}",
                        text.empty() ? "" : ",", json_string(entry.label), exact_number(entry.score.value),
                        entry.metric->better == Better::higher ? "higher" : "lower",
                        json_string(entry.score.provenance.metric_version),
                        options(entry.score.provenance.metric_options), numbers(entry.score.outputs));
  }
  return "{" + text + "}";
}

std::string result_object(const PairResult& pair) {
  const std::string files =
      fmt::format("\"reference\":{},\"distorted\":{}", json_string(pair.reference), json_string(pair.distorted));
  if (!pair.status.ok()) return fmt::format("{{{},\"error\":{}}}", files, json_string(pair.status.message()));
  return fmt::format(
      "{{{},\"width\":{},\"height\":{},\"metrics\":{},\"device\":{},\"assumptions\":{},\"timing_ms\":{}}}", files,
      pair.width, pair.height, metrics_object(pair.scores), json_string(pair.scores.front().score.provenance.device),
      strings(assumptions(pair)), numbers(timings(pair)));
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

  void end(const std::vector<std::string>& warnings) override {
    console_.print(fmt::format("\n],\"warnings\":{}}}\n", strings(warnings)));
  }

 private:
  Console& console_;
  bool first_ = true;
};

}  // namespace

std::unique_ptr<Report> json_report(Console& console) { return std::make_unique<JsonReport>(console); }

}  // namespace acuity::cli
