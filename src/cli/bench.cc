// SPDX-License-Identifier: BSD-2-Clause-Patent
// What was measured on this machine, and measuring it.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "acuity/capability.h"
#include "base/threads.h"
#include "base/try.h"
#include "cli/calibrate.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/lists.h"
#include "cli/request.h"
#include "cli/text.h"
#include "device/device.h"
#include "engine/frame_metric.h"
#include "engine/measurements.h"
#include "lang/targets.h"

namespace acuity::cli {
namespace {

// All that "auto" weighs: pictures' metrics, and what frame metrics are made of.
bool is_measured(const MetricInfo& metric) {
  return !metric.is_frame_metric || find_frame_metric(metric.name)->feature != nullptr;
}

Result<std::vector<const MetricInfo*>> chosen_metrics(const Request& request) {
  std::vector<const MetricInfo*> chosen;
  if (!request.has("--metric")) {
    for (const MetricInfo& metric : metrics()) {
      if (is_measured(metric)) chosen.push_back(&metric);
    }
    return chosen;
  }
  Result<MetricList> list = parse_metrics(request.values("--metric"), metrics());
  if (!list.ok()) return list.status();
  for (const MetricChoice& metric : list->metrics) {
    const MetricInfo* info = find_metric(metric.name);
    if (!metric.options.empty()) {
      return Status(StatusCode::usage, fmt::format("metrics are measured with their default options; give -m {} "
                                                   "without options",
                                                   info->name));
    }
    if (!is_measured(*info)) {
      return Status(StatusCode::usage, fmt::format("{} is made of features that are measured on their own; "
                                                   "'acuity metrics {}' names them",
                                                   info->name, info->name));
    }
    chosen.push_back(info);
  }
  return chosen;
}

// The CPU and all GPUs, or those that are named; software only by name, because it is never chosen otherwise.
Result<std::vector<DeviceState>> chosen_devices(const Request& request) {
  const std::vector<std::string>& names = request.values("--device");
  std::vector<DeviceState> states;
  const auto is_wanted = [&](const DeviceInfo& info) {
    if (names.empty()) return !info.is_software;
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return name == info.id || (name == backend_name(info.backend) && info.index == 0);
    });
  };
  if (names.empty() || std::find(names.begin(), names.end(), "cpu") != names.end()) {
    states.push_back(state_of_cpu(Threads(0).count()));
  }
  for (const DeviceInfo& info : list_devices().devices) {
    if (is_wanted(info)) states.push_back(state_of(info));
  }
  for (const std::string& name : names) {
    if (name == "cpu") continue;
    // For the message of a device that is not here.
    if (const Status opened = open_device(name).status(); !opened.ok()) return opened;
  }
  return states;
}

void print_device(Console& console, const Measurements& measured, const std::string& key,
                  const MeasuredDevice& device) {
  std::map<std::pair<std::string, RowMode>, std::map<int, Figure>> rows;
  std::set<int> sizes;
  for (const auto& [place, figure] : measured.figures()) {
    const auto& [its_key, metric, mode, size] = place;
    if (its_key != key) continue;
    rows[{metric, mode}][size] = figure;
    sizes.insert(size);
  }
  console.print(fmt::format("{}  {}\n", console.bold(device.id),
                            printable(device.name.empty() ? device.driver : device.name + ", " + device.driver)));
  if (device.cold_ms > 0) {
    console.print(fmt::format("  cold start {}, memory {:.1f} GiB\n", time_text(device.cold_ms),
                              static_cast<double>(device.memory_bytes) / (1 << 30)));
  }
  std::string head = fmt::format("  {:<16}{:<22}", "ns per pixel", "");
  for (const int size : sizes) head += fmt::format("{:>11}", fmt::format("{}x{}", 1 << size, 1 << size));
  console.print(console.faint(head) + "\n");
  for (const auto& [row, figures] : rows) {
    std::string line = fmt::format("  {:<16}{:<22}", printable(row.first), mode_text(row.second));
    for (const int size : sizes) {
      const auto found = figures.find(size);
      line += found == figures.end() ? fmt::format("{:>11}", "") : fmt::format("{:>11.3g}", found->second.ns);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    console.print(line + "\n");
  }
}

void print_known(Console& console, const std::string& path) {
  const Measurements measured = process_measurements().now();
  if (measured.figures().empty()) {
    console.print("Nothing has been measured on this machine yet; 'acuity bench --calibrate' measures everything.\n");
    return;
  }
  for (const auto& [key, device] : measured.devices()) print_device(console, measured, key, device);
  console.print(fmt::format("Of the CPU: the time of one thread. The file: {}\n", printable(path)));
}

Status run_calibration(const Request& request, Console& console, const std::string& path) {
  if (path.empty()) {
    return {StatusCode::usage, "neither XDG_CACHE_HOME nor HOME names a folder for what is measured; set one of them"};
  }
  Calibration calibration;
  ACUITY_TRY_ASSIGN(calibration.metrics, chosen_metrics(request));
  ACUITY_TRY_ASSIGN(calibration.devices, chosen_devices(request));
  // What decodes is the CPU, whatever scores.
  calibration.decoding =
      !request.has("--metric") && std::any_of(calibration.devices.begin(), calibration.devices.end(),
                                              [](const DeviceState& device) { return device.is_cpu; });
  calibration.progress = [&](const std::string& text) { console.progress(text); };
  calibration.stop = interrupted;
  put_off_interrupts();
  const CalibrationResult result = calibrate(calibration);
  for (const std::string& failure : result.failures) console.warn(failure);
  if (result.left_out > 0) {
    console.warn(fmt::format("{} of {} measurements were left out, because {}; -m and --device measure a part",
                             result.left_out, result.left_out + result.measured,
                             interrupted() ? "of the interrupt" : "a calibration ends within a minute"));
  }
  return save_capabilities(path);
}

}  // namespace

int run_bench(const Request& request, Console& console) {
  const std::string path = capability_path();
  Status status = prepare_cpu();
  if (status.ok()) {
    if (const Status loaded = load_capabilities(path); !loaded.ok()) console.warn(loaded.message());
    if (request.has("--calibrate")) status = run_calibration(request, console, path);
  }
  if (!status.ok()) {
    console.complain(status.message());
    return exit_code(status.code());
  }
  print_known(console, path);
  return kExitOk;
}

}  // namespace acuity::cli
