// SPDX-License-Identifier: BSD-2-Clause-Patent
// CSV for tables and plots: a row for each frame, or for each pair of pictures, and a column for each output of each
// metric. Pairs may differ in what outputs there are, so everything is printed at the end. The first row of a pair has
// its warnings.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/console.h"
#include "cli/report.h"
#include "cli/text.h"

namespace acuity::cli {
namespace {

struct Row {
  std::string before;  // the columns in front of the values
  std::vector<std::string> values{};
  std::string after{};
};

class WideCsvReport : public Report {
 public:
  explicit WideCsvReport(Console& console) : console_(console) {}
  void begin() override {}

  void add(const PairResult& pair, const std::vector<std::string>& explanation) override {
    const std::string files = csv_field(pair.reference) + "," + csv_field(pair.distorted);
    const std::string warnings = csv_field(fmt::format("{}", fmt::join(pair.warnings, "; ")));
    const size_t first = rows_.size();
    for (size_t i = 0; pair.video && i < pair.video->frames.size(); ++i) {
      const FramePair& frame = pair.video->frames[i];
      rows_.push_back(
          {fmt::format("{},{},{},{}", files, frame.index, field(frame.reference_time), field(frame.distorted_time)),
           {},
           i == 0 ? ",," + warnings : ",,"});
    }
    if (!pair.video) {
      rows_.push_back({files + ",,,", {}, fmt::format(",{},{}", csv_field(pair.status.message()), warnings)});
    }
    for (const MetricScore& entry : pair.scores) {
      put(entry.label, first, [&](size_t frame) { return pair.video ? entry.series[0][frame] : entry.score.value; });
      for (size_t i = 0; i < entry.score.outputs.size(); ++i) {
        const NamedValue& output = entry.score.outputs[i];
        put(entry.label + "." + output.name, first,
            [&](size_t frame) { return pair.video ? entry.series[i + 1][frame] : output.value; });
      }
    }
    for (const std::string& line : explanation) console_.note(line);
  }

  void end(const std::vector<std::string>&, bool) override {
    std::string text = "reference,distorted,frame,reference_pts,distorted_pts";
    for (const std::string& column : columns_) text += fmt::format(",{}", csv_field(column));
    text += ",error,warnings\n";
    for (Row& row : rows_) {
      row.values.resize(columns_.size());
      text += row.before;
      for (const std::string& value : row.values) text += fmt::format(",{}", value);
      text += row.after + "\n";
    }
    console_.print(text);
  }

 private:
  static std::string field(const std::optional<double>& value) { return value ? exact_number(*value) : ""; }

  // Fills in a column from row `first` on.
  template <typename ValueOf>
  void put(const std::string& name, size_t first, const ValueOf& value_of) {
    const auto found = std::find(columns_.begin(), columns_.end(), name);
    const auto column = static_cast<size_t>(found - columns_.begin());
    if (found == columns_.end()) columns_.push_back(name);
    for (size_t i = first; i < rows_.size(); ++i) {
      rows_[i].values.resize(columns_.size());
      rows_[i].values[column] = exact_number(value_of(i - first));
    }
  }

  Console& console_;
  std::vector<std::string> columns_;
  std::vector<Row> rows_;
};

}  // namespace

std::unique_ptr<Report> wide_csv_report(Console& console) { return std::make_unique<WideCsvReport>(console); }

}  // namespace acuity::cli
