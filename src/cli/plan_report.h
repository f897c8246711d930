// SPDX-License-Identifier: BSD-2-Clause-Patent
// Rows that are alike, where they would run, and how that is shown.
#ifndef ACUITY_CLI_PLAN_REPORT_H
#define ACUITY_CLI_PLAN_REPORT_H

#include <cstdint>
#include <string>
#include <vector>

#include "engine/chooser.h"

namespace acuity::cli {

class Console;

/// Rows of one size with the same metrics.
struct PlannedGroup {
  int width = 0;
  int height = 0;
  std::vector<std::string> metrics;  // labels
  int64_t rows = 0;
  int64_t references = 0;
  int decode_threads = 1;
  bool decode_is_measured = false;
  Placement placement{};
};

struct PlanReport {
  std::vector<PlannedGroup> groups;
  int64_t unplanned = 0;             // rows
  std::vector<std::string> reasons;  // why, of the first of them
};

void print_plan(const PlanReport& report, Console& console);
/// Schema acuity-plan/1.
void print_plan_json(const PlanReport& report, Console& console);

}  // namespace acuity::cli

#endif
