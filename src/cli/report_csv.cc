// SPDX-License-Identifier: BSD-2-Clause-Patent
// CSV, quoted by RFC 4180 with plain line feeds: a row for each pair and metric, or one row with the error of a pair
// that failed. Of videos there is a row for each frame and pool, and one for a value of all frames that is no
// pool, with four columns more.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/console.h"
#include "cli/pools.h"
#include "cli/report.h"
#include "cli/text.h"

namespace acuity::cli {
namespace {

class CsvReport : public Report {
 public:
  CsvReport(Console& console, bool video) : console_(console), video_(video) {}

  void begin() override {
    console_.print(fmt::format("reference,distorted,width,height,metric,value,better,version,error{},warnings\n",
                               video_ ? ",frame,reference_pts,distorted_pts,pool" : ""));
  }

  void add(const PairResult& pair, const std::vector<std::string>& explanation) override {
    const std::string files = csv_field(pair.reference) + "," + csv_field(pair.distorted);
    const std::string warnings = csv_field(fmt::format("{}", fmt::join(pair.warnings, "; ")));
    std::string text;
    if (!pair.status.ok()) {
      text = fmt::format("{},,,,,,,{}{},{}\n", files, csv_field(pair.status.message()), video_ ? ",,,," : "", warnings);
    }
    for (const MetricScore& entry : pair.scores) {
      const auto row = [&](const std::string& value, const std::string& rest) {
        text += fmt::format("{},{},{},{},{},{},{},{}\n", files, pair.width, pair.height, csv_field(entry.label), value,
                            name_of(entry.metric->better), csv_field(entry.score.provenance.metric_version), rest);
      };
      if (pair.video) {
        add_frames(*pair.video, entry, warnings, row);
      } else {
        row(exact_number(entry.score.value), "," + warnings);
      }
    }
    console_.print(text);
    for (const std::string& line : explanation) console_.note(line);
  }

  void end(const std::vector<std::string>&, bool) override {}

 private:
  static std::string field(const std::optional<double>& value) { return value ? exact_number(*value) : ""; }

  // Warnings stand beside the pools: they are of all frames, and would make the rows of those long.
  template <typename Row>
  static void add_frames(const VideoFacts& video, const MetricScore& entry, const std::string& warnings,
                         const Row& row) {
    for (size_t i = 0; i < video.frames.size(); ++i) {
      const FramePair& frame = video.frames[i];
      row(exact_number(entry.series[0][i]),
          fmt::format(",{},{},{},,", frame.index, field(frame.reference_time), field(frame.distorted_time)));
    }
    for (const Pool& pool : pools(entry.series[0])) {
      row(field(pool.value), fmt::format(",,,,{},{}", pool.name, warnings));
    }
    if (const std::optional<double> value = entry.value_of_all()) row(field(value), ",,,,all," + warnings);
  }

  Console& console_;
  bool video_;
};

}  // namespace

std::unique_ptr<Report> csv_report(Console& console, bool video) { return std::make_unique<CsvReport>(console, video); }

}  // namespace acuity::cli
