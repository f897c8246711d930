// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/plan_report.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/text.h"

namespace acuity::cli {
namespace {

using json = nlohmann::ordered_json;

std::string counted(int64_t count, const char* thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string mode_of(const PlaceOption& option) {
  return fmt::format("{}{}", option.prepared ? "prepared" : "pair",
                     option.strip_rows > 0 ? fmt::format(", strip {}", option.strip_rows) : "");
}

std::string memory_of(const PlaceOption& option) {
  const auto mebibytes = [](int64_t bytes) {
    return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
  };
  if (option.memory.device == 0) return mebibytes(option.memory.host);
  return fmt::format("{} and {} of the host", mebibytes(option.memory.device), mebibytes(option.memory.host));
}

double total_ms(const PlanReport& report) {
  double sum = 0;
  for (const PlannedGroup& group : report.groups) sum += group.placement.total_ms;
  return sum;
}

bool all_measured(const PlannedGroup& group) {
  if (!group.decode_is_measured) return false;
  return std::all_of(group.placement.shares.begin(), group.placement.shares.end(),
                     [&](const PlaceShare& share) { return group.placement.options[share.option].measured; });
}

void print_group(const PlannedGroup& group, Console& console) {
  const Placement& placement = group.placement;
  console.print(fmt::format("{} of {} x {} pixels, {}, {}\n", console.bold(counted(group.rows, "row")), group.width,
                            group.height, counted(group.references, "reference"), fmt::join(group.metrics, ", ")));
  for (const PlaceShare& share : placement.shares) {
    const PlaceOption& option = placement.options[share.option];
    console.print(fmt::format("  {:<10} {:>3.0f} % of the rows  {:<20} {} per row{}, {}  memory {}\n", option.device,
                              100 * share.share, mode_of(option), time_text(share.row_ms),
                              option.cold_ms > 0 ? fmt::format(" after {}", time_text(option.cold_ms)) : "",
                              option.measured ? "measured" : "guessed", memory_of(option)));
  }
  if (placement.shares.empty()) console.print("  no device can score them\n");
  if (!placement.shares.empty()) {
    console.print(fmt::format("  decoding   {} on {}, {}\n", time_text(placement.decode_ms),
                              counted(group.decode_threads, "thread"),
                              group.decode_is_measured ? "measured" : "partly guessed"));
    console.print(fmt::format("  all in     {}, {}\n", time_text(placement.total_ms),
                              all_measured(group) ? "measured" : "partly guessed"));
  }
  for (const PlaceOption& option : placement.options) {
    if (option.left_because.empty()) continue;
    console.print(console.faint(fmt::format("  not {}, {}: {}", option.device, mode_of(option), option.left_because)) +
                  "\n");
  }
}

json memory_json(const MemoryBytes& memory) { return {{"host_bytes", memory.host}, {"device_bytes", memory.device}}; }

json option_json(const PlaceOption& option) {
  return {{"device", option.device},
          {"reference", option.prepared ? "prepared" : "pair"},
          {"strip_rows", option.strip_rows},
          {"measured", option.measured},
          {"cold_start_ms", option.cold_ms},
          {"row_ms", option.row_ms},
          {"busy_row_ms", option.busy_row_ms},
          {"prepare_ms", option.prepare_ms},
          {"alone_ms", option.total_ms},
          {"memory", memory_json(option.memory)},
          {"further_row_memory", memory_json(option.further_row)},
          {"rows_that_fit", option.rows_that_fit}};
}

json group_json(const PlannedGroup& group) {
  const Placement& placement = group.placement;
  json devices = json::array(), left = json::array();
  for (const PlaceShare& share : placement.shares) {
    json device = option_json(placement.options[share.option]);
    device["share"] = share.share;
    devices.push_back(std::move(device));
  }
  for (const PlaceOption& option : placement.options) {
    if (option.left_because.empty()) continue;
    json one = option_json(option);
    one["reason"] = option.left_because;
    left.push_back(std::move(one));
  }
  return {{"rows", group.rows},
          {"references", group.references},
          {"width", group.width},
          {"height", group.height},
          {"metrics", group.metrics},
          {"total_ms", placement.total_ms},
          {"decode_ms", placement.decode_ms},
          {"decode_measured", group.decode_is_measured},
          {"measured", !placement.shares.empty() && all_measured(group)},
          {"devices", std::move(devices)},
          {"not_used", std::move(left)}};
}

}  // namespace

void print_plan(const PlanReport& report, Console& console) {
  for (const PlannedGroup& group : report.groups) print_group(group, console);
  if (report.groups.size() > 1)
    console.print(fmt::format("All groups, one after the other: {}.\n", time_text(total_ms(report))));
  if (report.unplanned > 0) {
    console.print(fmt::format("{} cannot be planned:\n", counted(report.unplanned, "row")));
    for (const std::string& reason : report.reasons) console.print(fmt::format("  {}\n", printable(reason)));
  }
  if (!report.groups.empty())
    console.print("Times per row are for scoring. Reading files is not counted; it goes on beside the rest.\n");
}

void print_plan_json(const PlanReport& report, Console& console) {
  json groups = json::array();
  for (const PlannedGroup& group : report.groups) groups.push_back(group_json(group));
  const json document = {{"schema", "acuity-plan/1"},
                         {"total_ms", total_ms(report)},
                         {"groups", std::move(groups)},
                         {"unplanned_rows", report.unplanned},
                         {"reasons", report.reasons}};
  console.print(document.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

}  // namespace acuity::cli
