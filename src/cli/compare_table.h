// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scores of several variants of several references: which is best, means, medians and wins, as a table for people, as
// CSV or as JSON.
#ifndef ACUITY_CLI_COMPARE_TABLE_H
#define ACUITY_CLI_COMPARE_TABLE_H

#include <optional>
#include <string>
#include <vector>

#include "acuity/schedule.h"
#include "cli/console.h"
#include "cli/lists.h"

namespace acuity::cli {

struct CompareCell {
  std::string distorted{};  // the file; empty: the variant has none for this reference
  TaskResult result{};
};

struct Comparison {
  std::vector<MetricChoice> metrics;
  std::vector<std::string> references;          // files
  std::vector<std::string> variants;            // as they were given
  std::vector<std::vector<CompareCell>> cells;  // by reference, then by variant

  std::optional<double> value(size_t reference, size_t variant, size_t metric) const;
};

/// What there is to say of a variant as a whole, over the references that all variants have a score for.
struct VariantSummary {
  std::optional<double> mean;
  std::optional<double> median;
  int64_t wins = 0;  // references for which it is best; ties count for each
};

/// How many references have a score of every variant: means, medians and wins are over those.
size_t complete_references(const Comparison& comparison, size_t metric);
std::vector<VariantSummary> summaries(const Comparison& comparison, size_t metric);

std::string compare_plain(const Comparison& comparison, const Console& console);
std::string compare_csv(const Comparison& comparison);
std::string compare_json(const Comparison& comparison);

}  // namespace acuity::cli

#endif
