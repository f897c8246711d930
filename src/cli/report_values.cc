// SPDX-License-Identifier: BSD-2-Clause-Patent
// Values and nothing else, for scripts. A pair that failed or was interrupted has an empty line, so that lines go with
// files.
#include <fmt/format.h>

#include "cli/console.h"
#include "cli/report.h"
#include "cli/text.h"

namespace acuity::cli {
namespace {

class ValuesReport : public Report {
 public:
  explicit ValuesReport(Console& console) : console_(console) {}
  void begin() override {}

  void add(const PairResult& pair, const std::vector<std::string>& explanation) override {
    std::string line;
    for (const MetricScore& entry : pair.scores) {
      // Nothing would tell that a mean is of a part only, as the exit code does where --shortest asked for it.
      if (pair.cut_short.code() == StatusCode::cancelled) break;
      line += fmt::format("{}{}", line.empty() ? "" : "\t", exact_number(entry.score.value));
    }
    console_.print(line + "\n");
    for (const std::string& text : explanation) console_.note(text);
  }

  void end(const std::vector<std::string>&, bool) override {}

 private:
  Console& console_;
};

}  // namespace

std::unique_ptr<Report> values_report(Console& console) { return std::make_unique<ValuesReport>(console); }

}  // namespace acuity::cli
