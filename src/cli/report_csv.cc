// SPDX-License-Identifier: BSD-2-Clause-Patent
// CSV, quoted by RFC 4180 with plain line feeds: a row for each pair and metric, or one row with the error of a pair
// that failed.
#include <fmt/format.h>

#include "cli/console.h"
#include "cli/report.h"
#include "cli/text.h"

namespace acuity::cli {
namespace {

class CsvReport : public Report {
 public:
  explicit CsvReport(Console& console) : console_(console) {}

  void begin() override { console_.print("reference,distorted,width,height,metric,value,better,version,error\n"); }

  void add(const PairResult& pair, const std::vector<std::string>& explanation) override {
    const std::string files = csv_field(pair.reference) + "," + csv_field(pair.distorted);
    std::string text;
    if (!pair.status.ok()) text = fmt::format("{},,,,,,,{}\n", files, csv_field(pair.status.message()));
    for (const MetricScore& entry : pair.scores) {
      text += fmt::format("{},{},{},{},{},{},{},\n", files, pair.width, pair.height, csv_field(entry.label),
                          exact_number(entry.score.value), entry.metric->better == Better::higher ? "higher" : "lower",
                          csv_field(entry.score.provenance.metric_version));
    }
    console_.print(text);
    for (const std::string& line : explanation) console_.note(line);
  }

  void end(const std::vector<std::string>&) override {}

 private:
  Console& console_;
};

}  // namespace

std::unique_ptr<Report> csv_report(Console& console) { return std::make_unique<CsvReport>(console); }

}  // namespace acuity::cli
