// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which columns the rows of results have, and what stands in them. The columns are known before the first row, and are
// the same in every row.
#ifndef ACUITY_CLI_RESULT_ROWS_H
#define ACUITY_CLI_RESULT_ROWS_H

#include <string>
#include <vector>

#include "acuity/schedule.h"
#include "cli/lists.h"
#include "cli/pair_list.h"
#include "cli/result_file.h"

namespace acuity::cli {

class ResultRows {
 public:
  struct Options {
    bool all_outputs = false;
    bool numbered = false;        // the first column is the number of the row in the list
    std::string change_scores{};  // the options of the command that do
  };
  /// `others` are passed through. An error where a column of the list has the name of one of results.
  static Result<ResultRows> plan(const std::vector<std::string>& others, std::vector<MetricChoice> metrics,
                                 Options options);

  const std::vector<std::string>& columns() const { return columns_; }
  /// Those of every row, in the order of the columns.
  const std::vector<MetricChoice>& metrics() const { return metrics_; }
  /// The version of acuity and of each metric, and the options that change scores.
  const std::string& version() const { return version_; }

  /// The cells that a row of the list decides, at the beginning of every row.
  std::vector<ResultCell> given(const PairRow& row) const;
  /// A whole row. `metrics` are those of `result`.
  std::vector<ResultCell> cells(const PairRow& row, const std::vector<MetricChoice>& metrics,
                                const TaskResult& result) const;

  // Places among the columns.
  size_t value_column(size_t metric) const { return values_[metric]; }
  size_t version_column() const { return columns_.size() - 3; }
  size_t error_column() const { return columns_.size() - 1; }

 private:
  std::vector<MetricChoice> metrics_;
  std::vector<std::vector<std::string>> outputs_;  // of each metric; empty where only its value is written
  std::vector<std::string> columns_;
  std::vector<size_t> values_;
  Options options_;
  std::string version_;
};

/// An error in place of scores that are not finite, and warnings of pictures that are too small for a metric.
void check_scores(const PairRow& row, const std::vector<MetricChoice>& metrics, TaskResult& result);

}  // namespace acuity::cli

#endif
