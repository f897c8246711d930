// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/job_plan.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/names.h"
#include "base/try.h"
#include "engine/metric.h"
#include "lang/targets.h"

namespace acuity::cli {
namespace {

constexpr int kMostThreads = 1024;
constexpr int kMostMib = 1 << 30;

// 0: the option was not given.
Result<int64_t> parse_mib(const Request& request, const std::string& option) {
  if (!request.has(option)) return int64_t{0};
  int mib = 0;
  ACUITY_TRY_ASSIGN(mib, parse_whole(request.value(option), option, 1, kMostMib));
  return int64_t{mib} << 20;
}

}  // namespace

Option metric_option() {
  return {.name = "--metric",
          .letter = "-m",
          .value = "NAME,...",
          .help =
              "what to compute, each as NAME or with options of its own as NAME:OPTION=VALUE:...; 'acuity metrics' "
              "lists names and options",
          .default_value = "ssimulacra2",
          .suggest = Suggest::metrics,
          .repeats = true};
}

Option memory_option() {
  return {.name = "--memory",
          .value = "MODE",
          .help = "how much of a picture is processed at once; never changes a score",
          .default_value = "auto",
          .words = {"auto", "full", "strip:ROWS"},
          .suggest = Suggest::words};
}

Option vram_cap_option() {
  return {.name = "--vram-cap",
          .value = "MIB",
          .help = "the most memory to use on a GPU, in MiB",
          .default_value = "all that is free"};
}

Option memory_limit_option() {
  return {.name = "--memory-limit",
          .value = "MIB",
          .help = "the most memory of the host to use for pictures and scoring, in MiB",
          .default_value = "half of what is free"};
}

Result<std::vector<MetricChoice>> plan_metrics(const std::vector<std::string>& lists,
                                               std::vector<std::string>& warnings) {
  Result<MetricList> list = parse_metrics(lists, metrics());
  if (!list.ok()) return list.status();
  if (!list->repeated.empty()) {
    warnings.push_back(fmt::format("each metric is computed once; given twice: {}", fmt::join(list->repeated, ", ")));
  }
  for (const MetricChoice& metric : list->metrics) ACUITY_TRY(check_options_of(metric.name, metric.options));
  return std::move(list->metrics);
}

Result<std::vector<MetricChoice>> plan_metrics(const Request& request, std::vector<std::string>& warnings) {
  std::vector<std::string> lists = request.values("--metric");
  if (lists.empty()) lists.push_back(request.value("--metric"));
  return plan_metrics(lists, warnings);
}

Result<std::vector<MetricChoice>> metrics_for_videos(std::vector<MetricChoice> metrics) {
  for (MetricChoice& metric : metrics) {
    if (metric.name != "cvvdp") continue;
    for (const OptionValue& option : metric.options) {
      if (!same_name(option.name, "grey")) continue;
      return Status(StatusCode::usage, "the option grey of cvvdp is for pictures; leave it out for videos");
    }
    metric.name = "cvvdp_video";
  }
  return metrics;
}

Result<Machine> plan_machine(const Request& request) {
  Machine machine;
  ACUITY_TRY_ASSIGN(machine.memory, parse_memory(request.value("--memory")));
  ACUITY_TRY_ASSIGN(machine.vram_cap_bytes, parse_mib(request, "--vram-cap"));
  ACUITY_TRY_ASSIGN(machine.memory_limit_bytes, parse_mib(request, "--memory-limit"));
  if (request.has("--threads")) {
    ACUITY_TRY_ASSIGN(machine.threads, parse_whole(request.value("--threads"), "--threads", 1, kMostThreads));
  }
  ACUITY_TRY(prepare_cpu());
  return machine;
}

std::optional<std::string> too_small(const MetricChoice& metric, int width, int height) {
  const int minimum = find_metric(metric.name)->minimum_side;
  if (std::min(width, height) >= minimum) return {};
  return fmt::format("{} of {}x{} pixels does not measure the difference: {} needs at least {} pixels on each side",
                     metric.label, width, height, metric.name, minimum);
}

Status check_strips(const Request& request, const Machine& machine, const std::vector<MetricChoice>& metrics) {
  const auto of_frames = std::find_if(metrics.begin(), metrics.end(), [](const MetricChoice& metric) {
    return find_metric(metric.name)->is_frame_metric;
  });
  if (of_frames == metrics.end() || machine.memory.kind != MemoryMode::Kind::strip) return {};
  return Status(StatusCode::usage,
                fmt::format("--memory {} does not work with {}, which needs whole frames; use auto or full",
                            request.value("--memory"), of_frames->label));
}

}  // namespace acuity::cli
