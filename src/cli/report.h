// SPDX-License-Identifier: BSD-2-Clause-Patent
// The forms in which scores are printed. Each result leaves as soon as it is known, except in wide CSV, whose columns
// are known at the end.
#ifndef ACUITY_CLI_REPORT_H
#define ACUITY_CLI_REPORT_H

#include <memory>
#include <string>
#include <vector>

#include "cli/pairs.h"

namespace acuity::cli {

class Console;

class Report {
 public:
  virtual ~Report() = default;
  virtual void begin() = 0;
  /// `explanation` is empty unless asked for.
  virtual void add(const PairResult& pair, const std::vector<std::string>& explanation) = 0;
  /// `complete`: every pair was tried, to its end.
  virtual void end(const std::vector<std::string>& warnings, bool complete) = 0;
};

std::unique_ptr<Report> plain_report(Console& console);
std::unique_ptr<Report> json_report(Console& console);
/// `video`: with the columns that videos have beyond those of pictures.
std::unique_ptr<Report> csv_report(Console& console, bool video);
/// One row a frame, or a pair of pictures; one column for each output of each metric.
std::unique_ptr<Report> wide_csv_report(Console& console);
/// The values alone: one line a pair, with tabs between metrics.
std::unique_ptr<Report> values_report(Console& console);

/// What --explain says of a pair, line by line.
std::vector<std::string> explanation(const PairResult& pair);

}  // namespace acuity::cli

#endif
