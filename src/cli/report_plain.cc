// SPDX-License-Identifier: BSD-2-Clause-Patent
// Text for people.
#include <algorithm>

#include <fmt/format.h>

#include "cli/console.h"
#include "cli/pools.h"
#include "cli/report.h"
#include "cli/text.h"

namespace acuity::cli {
namespace {

// Where a metric has no anchors, what it is says at least its unit. Of pictures too small for it a value has no
// meaning.
std::string meaning_of(const MetricScore& entry, int smaller_side) {
  const bool measured = smaller_side >= entry.metric->minimum_side;
  const std::string meaning = measured ? acuity::meaning(entry.metric->name, entry.score.value) : "";
  return meaning.empty() ? entry.metric->title : meaning;
}

std::string direction(const MetricInfo& metric) {
  if (metric.better == Better::neither) return "neither higher nor lower is better";
  return fmt::format("{} is better", name_of(metric.better));
}

std::string stream_line(const std::string& side, const StreamFacts& stream) {
  return fmt::format("{:<10} {} frame{}, {}\n", side, stream.frames ? fmt::format("{}", *stream.frames) : "?",
                     stream.frames == 1 ? "" : "s", describe(stream.rate));
}

// The frames of a metric on two lines: how far they spread, and how the worst do.
std::string pool_lines(const MetricScore& entry) {
  std::string text;
  for (const Pool& pool : pools(entry.series[0])) {
    if (pool.name == "p1") text += "\n";
    text += fmt::format("{}{} {}", pool.name == "mean" || pool.name == "p1" ? "  " : ", ", pool.name,
                        pool.value ? short_number(*pool.value) : "none");
  }
  return text + "\n";
}

std::string times_of(const PairResult& pair) {
  std::string times;
  for (const NamedValue& stage : timings(pair)) {
    times += fmt::format("{}{} {:.1f} ms", times.empty() ? "" : ", ", stage.name, stage.value);
  }
  return times;
}

// What these assume matters to what the number means, so it is told unasked. Of other metrics of pictures it is only
// how samples become light.
bool is_told(const MetricInfo& metric, const std::string& assumption) {
  if (assumption.starts_with("device: ")) return false;
  if (metric.is_frame_metric) return true;
  if (metric.name == "cvvdp") return true;
  return metric.name == "zensim" && !assumption.starts_with("reference: ") && !assumption.starts_with("distorted: ");
}

class PlainReport : public Report {
 public:
  explicit PlainReport(Console& console) : console_(console) {}
  void begin() override {}

  // A failed pair is told on standard error alone.
  void add(const PairResult& pair, const std::vector<std::string>& explanation) override {
    if (!pair.status.ok()) return;
    std::string text = first_ ? "" : "\n";
    first_ = false;
    text += fmt::format("reference  {}\ndistorted  {}\nsize       {} x {}\n", printable(pair.reference),
                        printable(pair.distorted), pair.width, pair.height);
    for (const std::string& change : pair.reference_facts.changed) text += fmt::format("reference  {}\n", change);
    for (const std::string& change : pair.distorted_facts.changed) text += fmt::format("distorted  {}\n", change);
    const bool several = pair.video && pair.video->frames.size() > 1;
    const bool pictures = pair.video && pair.video->reference.frames == 1 && pair.video->distorted.frames == 1;
    if (pair.video && !pictures) {
      text += stream_line("reference", pair.video->reference) + stream_line("distorted", pair.video->distorted);
    }
    if (several) {
      const bool own = std::any_of(pair.scores.begin(), pair.scores.end(),
                                   [](const MetricScore& entry) { return entry.value_of_all().has_value(); });
      text += fmt::format("scored     {} frames; the first value of a metric is their mean{}\n",
                          pair.video->frames.size(), own ? ", of cvvdp that of all frames together" : "");
    }
    for (const MetricScore& entry : pair.scores) {
      text += fmt::format(
          "{:<12} {}  {}; {}\n", entry.label, console_.bold(fmt::format("{:>9}", short_number(entry.score.value))),
          console_.faint(direction(*entry.metric)), meaning_of(entry, std::min(pair.width, pair.height)));
      if (several) text += pool_lines(entry);
      for (const NamedValue& aggregate : entry.aggregates) {
        text += fmt::format("  {} {} of all frames together\n", aggregate.name, short_number(aggregate.value));
      }
      if (!explanation.empty()) continue;  // which has them
      for (const std::string& assumption : entry.score.provenance.assumptions) {
        if (is_told(*entry.metric, assumption)) text += fmt::format("  {}\n", printable(assumption));
      }
    }
    for (const std::string& warning : pair.warnings) text += fmt::format("warning    {}\n", printable(warning));
    if (several && explanation.empty()) text += fmt::format("time       {}\n", times_of(pair));
    for (const std::string& line : explanation) text += fmt::format("  {}\n", printable(line));
    console_.print(text);
  }

  void end(const std::vector<std::string>&, bool) override {}

 private:
  Console& console_;
  bool first_ = true;
};

}  // namespace

std::unique_ptr<Report> plain_report(Console& console) { return std::make_unique<PlainReport>(console); }

std::vector<std::string> explanation(const PairResult& pair) {
  std::vector<std::string> lines = assumptions(pair);
  for (const MetricScore& entry : pair.scores) {
    const Provenance& how = entry.score.provenance;
    lines.push_back(fmt::format("{}: version {}, by acuity {} on {}, {} thread{}, memory mode {}", entry.label,
                                how.metric_version, how.library_version, how.device, how.threads,
                                how.threads == 1 ? "" : "s", how.memory_mode));
    for (const OptionValue& option : how.metric_options) {
      lines.push_back(fmt::format("{}: option {}={}", entry.label, option.name, option.value));
    }
  }
  lines.push_back("time: " + times_of(pair));
  std::string spans;
  for (const Span& span : timeline(pair)) {
    spans +=
        fmt::format("{}{} from {:.0f} to {:.0f}", spans.empty() ? "" : ", ", span.what, span.begin_ms, span.end_ms);
  }
  if (!spans.empty()) lines.push_back("timeline, in ms since the start: " + spans);
  return lines;
}

}  // namespace acuity::cli
