// SPDX-License-Identifier: BSD-2-Clause-Patent
// What would run where, without doing it.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "acuity/capability.h"
#include "base/threads.h"
#include "base/try.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/pair_list.h"
#include "cli/plan_report.h"
#include "cli/request.h"
#include "cli/row_scheduler.h"
#include "device/device.h"
#include "device/one_card.h"
#include "engine/first_guesses.h"
#include "engine/plan.h"
#include "engine/requests.h"
#include "lang/targets.h"
#include "media/picture_size.h"
#include "media/video.h"
#include "schedule/plans.h"

namespace acuity::cli {
namespace {

constexpr size_t kMostReasons = 10;

// Rows by their metrics, as in -m, and the size of their references.
class Rows {
 public:
  Rows(const PictureLimits& limits, std::optional<int64_t> frame) : limits_(limits), frame_(frame) {}

  void add(const PairRow& row) {
    // A list may have millions of references: their names are not kept.
    const size_t name = std::hash<std::string>()(row.reference);
    const auto [known, is_new] = sizes_.try_emplace(name, PictureSize());
    if (is_new) known->second = size_of(row.reference);
    if (known->second.width == 0) {
      ++unplanned_;
      return;
    }
    Group& group = groups_[{row.metrics, known->second.width, known->second.height}];
    ++group.rows;
    if (group.references.insert(name).second) ++group.decoded[known->second.format];
    ++group.decoded[format_of_distorted(row.distorted, known->second.format)];
  }

  struct Group {
    int64_t rows = 0;
    std::unordered_set<size_t> references;
    std::map<std::string, int64_t> decoded;  // pictures, by format
  };
  using Key = std::tuple<std::string, int, int>;
  const std::map<Key, Group>& groups() const { return groups_; }
  int64_t unplanned() const { return unplanned_; }
  const std::vector<std::string>& reasons() const { return reasons_; }

 private:
  // Nothing of a file that cannot be read.
  PictureSize size_of(const std::string& path) {
    const Result<PictureSize> size = picture_size(path, limits_, frame_);
    if (size.ok()) return *size;
    if (reasons_.size() < kMostReasons) {
      reasons_.push_back(is_video(path) ? fmt::format("'{}' is a video; only pictures are planned", path)
                                        : size.status().message());
    }
    return {};
  }

  // Only one file of each name extension is looked at: a list may have millions. What cannot be read counts as the
  // reference's format.
  const std::string& format_of_distorted(const std::string& path, const std::string& of_reference) {
    const auto [known, is_new] = formats_.try_emplace(std::filesystem::path(path).extension().string());
    if (is_new) known->second = format_of_file(path);
    return known->second.empty() ? of_reference : known->second;
  }

  const PictureLimits& limits_;
  const std::optional<int64_t> frame_;  // of the references
  std::unordered_map<size_t, PictureSize> sizes_;
  std::map<std::string, std::string> formats_;  // by extension
  std::map<Key, Group> groups_;
  int64_t unplanned_ = 0;
  std::vector<std::string> reasons_;
};

// The CPU and every GPU, or those that are named.
Result<std::vector<DeviceState>> devices_of(const SchedulerOptions& options) {
  std::vector<DeviceState> states;
  std::vector<std::shared_ptr<Device>> opened;  // so that what is free there can be asked
  std::optional<int64_t> cap;
  ACUITY_TRY_ASSIGN(cap, vram_cap(options.vram_cap_bytes));
  const DeviceList list = list_devices();
  const auto add_cpu = [&] {
    states.push_back(state_of_cpu(Threads(options.threads).count()));
    states.back().free_bytes = options.memory_limit_bytes > 0 ? options.memory_limit_bytes : default_memory_limit();
  };
  const auto add = [&](const DeviceInfo& info, bool is_named, const std::string& unusable = {}) {
    DeviceState state = state_of(info);
    state.is_named = is_named;
    state.unusable = unusable;
    state.free_bytes = most_available_bytes(info.id, info.memory_bytes, cap);
    states.push_back(std::move(state));
  };
  const auto open = [&](const std::string& id) {
    Result<std::shared_ptr<Device>> device = open_device(id);
    if (device.ok()) opened.push_back(*device);
    return device.status();
  };
  const auto is_listed = [&](const std::string& id) {
    return std::any_of(states.begin(), states.end(), [&](const DeviceState& state) { return state.id == id; });
  };
  // The device through which the card is used already; empty if there is none.
  const auto used_through = [&](const DeviceInfo& info) -> std::string {
    for (const std::shared_ptr<Device>& device : opened) {
      if (device->info().id == info.id || show_one_card(device->info(), info)) return device->info().id;
    }
    return "";
  };
  const auto same_card = [](const std::string& used) { return fmt::format("it is the same card as {}", used); };
  for (const std::string& name : options.devices) {
    if (name == "auto") {
      for (const std::vector<DeviceInfo>& card : cards_of(list, process_measurements().now())) {
        std::string used;
        for (const DeviceInfo& info : card) used = used.empty() ? used_through(info) : used;
        for (const DeviceInfo& info : card) {
          if (is_listed(info.id)) continue;
          const Status usable = used.empty() ? open(info.id) : Status();
          add(info, false, used.empty() ? usable.message() : same_card(used));
          if (used.empty() && usable.ok()) used = info.id;
        }
      }
      for (const DeviceInfo& info : list.devices) {
        if (info.is_software && !is_listed(info.id)) add(info, false);
      }
    }
    if (name == "auto" || name == "cpu") {
      if (!is_listed("cpu")) add_cpu();
      continue;
    }
    const auto found = std::find_if(list.devices.begin(), list.devices.end(), [&](const DeviceInfo& info) {
      return info.id == name || (info.index == 0 && backend_name(info.backend) == name);
    });
    const std::string used = found == list.devices.end() ? "" : used_through(*found);
    const Status usable = open(name);
    if (found == list.devices.end()) {
      return usable.ok() ? Status(StatusCode::unknown_device, fmt::format("there is no device {}", name)) : usable;
    }
    ACUITY_TRY(usable);
    if (!is_listed(found->id)) add(*found, true, used.empty() ? "" : same_card(used));
  }
  return states;
}

struct Decoding {
  double ns = 0;  // of one thread
  bool measured = true;
};

Decoding decoding_of(const Rows::Group& group, double pixels, const Measurements& measured) {
  Decoding all;
  for (const auto& [format, pictures] : group.decoded) {
    const std::optional<double> ns =
        measured.row_ns(measured_cpu_key(), format, {.kind = RowMode::Kind::decode}, pixels);
    all.ns += static_cast<double>(pictures) * ns.value_or(guesses::kDecodeNs * pixels);
    all.measured = all.measured && ns;
  }
  return all;
}

Result<PlannedGroup> plan_group(const SchedulerOptions& options, const std::vector<MetricChoice>& metrics, int width,
                                int height, const Rows::Group& group, std::span<const DeviceState> devices,
                                const Measurements& measured) {
  PlannedGroup planned{.width = width,
                       .height = height,
                       .metrics = {},
                       .rows = group.rows,
                       .references = static_cast<int64_t>(group.references.size())};
  ScorerOptions scorer{.memory = options.memory, .threads = options.threads};
  for (const MetricChoice& metric : metrics) {
    if (find_metric(metric.name)->is_frame_metric) {
      return Status(StatusCode::input,
                    fmt::format("{} compares frames; only metrics of pictures are planned", metric.label));
    }
    planned.metrics.push_back(metric.label);
    scorer.metrics.emplace_back(metric.name, metric.options);
  }
  std::vector<RequestedMetric> requested;
  ACUITY_TRY_ASSIGN(requested, find_requested_metrics(scorer, width, height));
  RowsToPlace rows;
  rows.metrics = costed(requested);
  rows.width = width;
  rows.height = height;
  rows.rows = group.rows;
  rows.rows_per_reference = static_cast<double>(group.rows) / static_cast<double>(group.references.size());
  rows.rows_at_once = true;
  rows.strip_rows = options.memory.rows;
  rows.strips_allowed = options.memory.kind == MemoryMode::Kind::automatic;
  rows.plan = [&](std::optional<Backend> gpu, int strip_rows) {
    return plan_memory({.metrics = requested,
                        .width = width,
                        .height = height,
                        .strip_rows = strip_rows,
                        .threads = Threads(options.threads).count(),
                        .gpu = gpu});
  };
  const Decoding decoding = decoding_of(group, static_cast<double>(width) * height, measured);
  rows.decode_ns = decoding.ns / static_cast<double>(group.rows);
  rows.decode_threads = planned.decode_threads = Threads(options.threads).count();
  planned.decode_is_measured = decoding.measured;
  planned.placement = place_rows(rows, devices, measured);
  return planned;
}

// The metrics of a row that has its own, or those of -m.
Result<std::vector<MetricChoice>> metrics_of(const std::string& text, const RowPlan& plan) {
  return text.empty() ? Result<std::vector<MetricChoice>>(plan.job.metrics) : plan_metrics_of_row(text);
}

// Before any file is looked at.
Status check_metrics(const std::string& list, const ListSummary& summary) {
  for (const auto& [text, line] : summary.metrics) {
    const Status found = plan_metrics_of_row(text).status();
    if (!found.ok()) return Status(StatusCode::input, fmt::format("{}, line {}: {}", list, line, found.message()));
  }
  return {};
}

Result<PlanReport> make_report(const Request& request, Console& console) {
  RowPlan plan;
  ACUITY_TRY_ASSIGN(plan, plan_rows(request));
  PairLists lists;
  ACUITY_TRY_ASSIGN(lists, PairLists::plan(request));
  std::optional<ListSummary> summary;
  ACUITY_TRY_ASSIGN(summary, lists.survey());
  if (summary) ACUITY_TRY(check_metrics(lists.path(), *summary));
  std::unique_ptr<PairList> list;
  ACUITY_TRY_ASSIGN(list, lists.open(summary ? std::optional(summary->columns) : std::nullopt));
  for (const std::string& warning : plan.warnings) console.warn(warning);
  for (const std::string& warning : list->warnings()) console.warn(warning);
  if (plan.job.geometry.crop_reference || plan.job.geometry.scale_reference.value_or(false)) {
    console.warn("the plan is for references in the size that they have; --crop and --scale ref change it");
  }
  Rows rows(plan.job.limits, plan.job.reference_frame);
  PairRow row;
  for (int64_t count = 0;; ++count) {
    bool is_there = false;
    ACUITY_TRY_ASSIGN(is_there, list->next(row));
    if (!is_there) break;
    if (count % 1000 == 0) console.progress(fmt::format("{} rows", count));
    rows.add(row);
  }
  if (rows.groups().empty() && rows.unplanned() == 0) return Status(StatusCode::input, list->name() + " has no rows");

  std::vector<DeviceState> devices;
  ACUITY_TRY_ASSIGN(devices, devices_of(plan.scheduler));
  PlanReport report{.groups = {}, .unplanned = rows.unplanned(), .reasons = rows.reasons()};
  const Measurements measured = process_measurements().now();
  for (const auto& [key, group] : rows.groups()) {
    const auto& [text, width, height] = key;
    std::vector<MetricChoice> metrics;
    ACUITY_TRY_ASSIGN(metrics, metrics_of(text, plan));
    Result<PlannedGroup> planned = plan_group(plan.scheduler, metrics, width, height, group, devices, measured);
    if (planned.ok()) {
      report.groups.push_back(std::move(*planned));
    } else {
      report.unplanned += group.rows;
      const std::string why = planned.status().message();
      // One for all sizes is enough.
      if (std::find(report.reasons.begin(), report.reasons.end(), why) == report.reasons.end()) {
        report.reasons.push_back(why);
      }
    }
  }
  return report;
}

}  // namespace

int run_plan(const Request& request, Console& console) {
  if (const Status loaded = load_capabilities(capability_path()); !loaded.ok()) console.warn(loaded.message());
  Status status = prepare_cpu();
  if (status.ok()) {
    const Result<PlanReport> report = make_report(request, console);
    status = report.status();
    if (report.ok()) {
      request.has("--json") ? print_plan_json(*report, console) : print_plan(*report, console);
      return report->groups.empty() ? kExitInput : kExitOk;
    }
  }
  console.complain(status.message());
  return exit_code(status.code());
}

}  // namespace acuity::cli
