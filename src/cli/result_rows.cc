// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/result_rows.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "acuity/version.h"
#include "base/names.h"
#include "base/try.h"
#include "cli/job_plan.h"
#include "cli/output_names.h"
#include "cli/pairs.h"

namespace acuity::cli {

Result<ResultRows> ResultRows::plan(const std::vector<std::string>& others, std::vector<MetricChoice> metrics,
                                    Options options) {
  ResultRows rows;
  rows.metrics_ = std::move(metrics);
  rows.options_ = std::move(options);
  if (rows.options_.numbered) rows.columns_ = {"row"};
  rows.columns_.insert(rows.columns_.end(), {"reference", "distorted"});
  rows.version_ = fmt::format("acuity {}", acuity_version());
  std::vector<std::string> results;
  const size_t before = rows.columns_.size() + others.size();
  for (const MetricChoice& metric : rows.metrics_) {
    rows.values_.push_back(before + results.size());
    results.push_back(metric.label);
    rows.version_ += fmt::format("; {} {}", metric.name, find_metric(metric.name)->version);
    std::vector<std::string> outputs;
    if (rows.options_.all_outputs) ACUITY_TRY_ASSIGN(outputs, output_names(metric));
    for (const std::string& output : outputs) results.push_back(metric.label + "." + output);
    rows.outputs_.push_back(std::move(outputs));
  }
  if (!rows.options_.change_scores.empty()) rows.version_ += fmt::format("; {}", rows.options_.change_scores);
  for (const char* name : {"device", "version", "warnings", "error"}) results.emplace_back(name);
  for (const std::string& other : others) {
    const bool clashes = std::find(results.begin(), results.end(), other) != results.end();
    if (!clashes && !(rows.options_.numbered && other == "row")) continue;
    return Status(StatusCode::input,
                  fmt::format("the list has a column '{}', which is the name of a column of results; "
                              "give it another name",
                              other));
  }
  rows.columns_.insert(rows.columns_.end(), others.begin(), others.end());
  rows.columns_.insert(rows.columns_.end(), results.begin(), results.end());
  return rows;
}

std::vector<ResultCell> ResultRows::given(const PairRow& row) const {
  std::vector<ResultCell> cells;
  if (options_.numbered) cells.push_back({ResultCell::Kind::json, fmt::format("{}", row.number), 0});
  cells.push_back(ResultCell::of(row.reference));
  cells.push_back(ResultCell::of(row.distorted));
  for (const PassedValue& value : row.others) cells.push_back(ResultCell::of(value));
  return cells;
}

std::vector<ResultCell> ResultRows::cells(const PairRow& row, const std::vector<MetricChoice>& metrics,
                                          const TaskResult& result) const {
  std::vector<ResultCell> cells = given(row);
  cells.resize(columns_.size());
  std::vector<std::string> warnings = result.warnings;
  for (size_t i = 0; i < result.scores.size(); ++i) {
    const auto place = std::find_if(metrics_.begin(), metrics_.end(),
                                    [&](const MetricChoice& metric) { return metric.label == metrics[i].label; });
    const auto metric = static_cast<size_t>(place - metrics_.begin());
    cells[values_[metric]] = ResultCell::of(result.scores[i].value);
    const std::vector<std::string>& names = outputs_[metric];
    for (const NamedValue& output : result.scores[i].outputs) {
      const auto name = std::find(names.begin(), names.end(), output.name);
      if (name == names.end()) {
        if (options_.all_outputs) warnings.push_back(fmt::format("{}.{} has no column", metrics[i].label, output.name));
        continue;
      }
      cells[values_[metric] + 1 + static_cast<size_t>(name - names.begin())] = ResultCell::of(output.value);
    }
  }
  const size_t after = columns_.size() - 4;
  // A video that failed names the one that tried.
  if (result.status.ok() && !result.device.empty()) cells[after] = ResultCell::of(result.device);
  cells[after + 1] = ResultCell::of(version_);
  if (!warnings.empty()) cells[after + 2] = ResultCell::of(fmt::format("{}", fmt::join(warnings, "; ")));
  if (!result.status.ok()) cells[after + 3] = ResultCell::of(result.status.message());
  return cells;
}

void check_scores(const PairRow& row, const std::vector<MetricChoice>& metrics, TaskResult& result) {
  if (!result.status.ok()) return;
  for (size_t i = 0; i < result.scores.size(); ++i) {
    if (!finite(result.scores[i])) {
      result.status = Status(StatusCode::internal,
                             fmt::format("{} and {}: {} gave a result that is not a finite number; please report this",
                                         row.reference, row.distorted, metrics[i].label));
      result.scores.clear();
      return;
    }
    const auto warning = too_small(metrics[i], result.width, result.height);
    if (warning) result.warnings.push_back(*warning);
  }
}

}  // namespace acuity::cli
