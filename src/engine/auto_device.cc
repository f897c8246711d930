// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/auto_device.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "device/open_devices.h"

namespace acuity {
namespace {

constexpr const char* kSomeGpu = "a GPU";

// The GPUs that were here when something was measured, or one of which nothing is known.
std::vector<DeviceState> remembered_gpus(const Measurements& measured) {
  std::vector<DeviceState> states;
  for (const auto& [key, device] : measured.devices()) {
    if (device.id == "cpu" || device.is_software) continue;
    states.push_back({.id = device.id, .key = key, .name = device.name, .is_open = is_device_open(device.id)});
  }
  if (states.empty()) states.push_back({.id = kSomeGpu, .key = ""});
  return states;
}

// The fastest option of the CPU, or of the GPUs.
const PlaceOption* fastest(const Placement& placement, bool on_cpu) {
  const PlaceOption* best = nullptr;
  for (const PlaceOption& option : placement.options) {
    if ((option.device == "cpu") != on_cpu || option.total_ms == 0) continue;
    if (best == nullptr || option.total_ms < best->total_ms) best = &option;
  }
  return best;
}

class Choosing {
 public:
  Choosing(std::span<const CostedMetric> metrics, const ExpectedWork& work, const Measurements& measured)
      : measured_(measured), cpu_(state_of_cpu(work.threads)) {
    rows_.metrics.assign(metrics.begin(), metrics.end());
    rows_.width = work.width;
    rows_.height = work.height;
    rows_.rows = std::max<int64_t>(work.pairs, 1);
    rows_.rows_at_once = true;
    rows_.one_device = true;
    rows_.want_map = work.want_map;
  }

  DeviceChoice operator()() const {
    for (const CostedMetric& metric : rows_.metrics) {
      if (!metric.on_gpu) return on_cpu(fmt::format("{} has no GPU version", metric.name));
      if (rows_.want_map && !metric.map_on_gpu) {
        return on_cpu(fmt::format("{} makes difference maps on the CPU only", metric.name));
      }
    }
    const Placement guess = place(remembered_gpus(measured_));
    if (guess.best()->device == "cpu") return on_cpu(compared(guess));
    return choose_among(list_devices());
  }

 private:
  Placement place(std::vector<DeviceState> states) const {
    states.push_back(cpu_);
    return place_rows(rows_, states, measured_);
  }

  DeviceChoice choose_among(const DeviceList& list) const {
    std::vector<DeviceState> states;
    for (const DeviceInfo& info : list.devices) {
      states.push_back(state_of(info));
      states.back().is_open = is_device_open(info.id);
    }
    const std::string sooner = "a GPU might " + task();
    std::string trouble = "but no usable one was found";
    while (true) {
      const Placement placement = place(states);
      const std::string& best = placement.best()->device;
      if (best == "cpu") {
        const PlaceOption* gpu = fastest(placement, false);
        return on_cpu(gpu == nullptr ? fmt::format("{} sooner, {}", sooner, trouble) : compared(placement));
      }
      Result<std::shared_ptr<Device>> device = open_device(best);
      if (device.ok()) return {*device, fmt::format("auto chose {}: {}", best, compared(placement))};
      trouble = fmt::format("but cannot be used: {}", device.status().message());
      std::find_if(states.begin(), states.end(), [&](const DeviceState& state) { return state.id == best; })->unusable =
          device.status().message();
    }
  }

  std::string task() const { return rows_.rows == 1 ? "score the pair" : fmt::format("score {} pairs", rows_.rows); }

  // "it is expected to score the pair in 5 ms (measured), and cuda:0 in 410 ms (guessed) with the time to open it"
  std::string compared(const Placement& placement) const {
    const PlaceOption& best = *placement.best();
    const bool cpu_is_best = best.device == "cpu";
    const PlaceOption* other = fastest(placement, !cpu_is_best);
    std::string text = fmt::format("it is expected to {} in {}", task(), time_text(best));
    if (other != nullptr) {
      text += fmt::format(", and {} in {}", other->device == "cpu" ? "the CPU" : other->device, time_text(*other));
      if (other->cold_ms > 0) text += " with the time to open it";
    }
    return text;
  }

  static DeviceChoice on_cpu(const std::string& why) { return {nullptr, "auto chose the CPU: " + why}; }

  const Measurements& measured_;
  DeviceState cpu_;
  RowsToPlace rows_;
};

}  // namespace

DeviceChoice choose_device(std::span<const CostedMetric> metrics, const ExpectedWork& work,
                           const Measurements& measured) {
  return Choosing(metrics, work, measured)();
}

}  // namespace acuity
