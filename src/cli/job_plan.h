// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the options of all commands that score say of the metrics and the machine.
#ifndef ACUITY_CLI_JOB_PLAN_H
#define ACUITY_CLI_JOB_PLAN_H

#include <optional>
#include <string>
#include <vector>

#include "acuity/status.h"
#include "cli/lists.h"
#include "cli/options.h"
#include "cli/request.h"

namespace acuity::cli {

/// Options that all of these commands have: --metric, --memory, --vram-cap, --memory-limit.
Option metric_option();
Option memory_option();
Option vram_cap_option();
Option memory_limit_option();

/// Metrics as in -m, with their options checked. `warnings` gets what was given twice.
Result<std::vector<MetricChoice>> plan_metrics(const std::vector<std::string>& lists,
                                               std::vector<std::string>& warnings);
/// Those of --metric, or its default.
Result<std::vector<MetricChoice>> plan_metrics(const Request& request, std::vector<std::string>& warnings);

/// The same metrics for videos: a picture of its own and a frame among others look different to the eye, so there are
/// two metrics of the name cvvdp. An error where an option is for pictures.
Result<std::vector<MetricChoice>> metrics_for_videos(std::vector<MetricChoice> metrics);

/// --memory, --vram-cap, --memory-limit and --threads.
struct Machine {
  MemoryMode memory;
  int64_t vram_cap_bytes = 0;      // 0: not given
  int64_t memory_limit_bytes = 0;  // 0: not given
  int threads = 0;                 // 0: one per core
};
Result<Machine> plan_machine(const Request& request);

/// An error where --memory asks for strips and one of the metrics needs whole frames.
Status check_strips(const Request& request, const Machine& machine, const std::vector<MetricChoice>& metrics);

/// What is said of a score of pictures that are too small for its metric; none where they are not.
std::optional<std::string> too_small(const MetricChoice& metric, int width, int height);

}  // namespace acuity::cli

#endif
