// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/auto_device.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "device/open_devices.h"
#include "engine/requests.h"

namespace acuity {
namespace {

constexpr const char* kSomeGpu = "a GPU";

// The fastest option of the CPU, or of the GPUs, that is possible: one that is slower than another is.
const PlaceOption* fastest(const Placement& placement, bool on_cpu) {
  const PlaceOption* best = nullptr;
  for (const PlaceOption& option : placement.options) {
    if ((option.device == "cpu") != on_cpu || option.total_ms == 0 || option.rows_that_fit == 0) continue;
    if (best == nullptr || option.total_ms < best->total_ms) best = &option;
  }
  return best;
}

// "cuda:0 needs 12 MiB of memory, but 5 MiB are free", of the narrowest strip; empty if memory is not what is missing.
std::string memory_trouble(const Placement& placement) {
  std::string trouble;
  for (const PlaceOption& option : placement.options) {
    if (option.device == "cpu" || option.rows_that_fit > 0) continue;
    const bool is_short = option.left_because.starts_with("needs ");
    trouble = is_short ? fmt::format("{} {}", option.device, option.left_because) : option.left_because;
  }
  return trouble;
}

class Choosing {
 public:
  Choosing(std::span<const CostedMetric> metrics, const ExpectedWork& work, const Measurements& measured)
      : work_(work), measured_(measured), cpu_(state_of_cpu(work.threads)) {
    rows_.metrics.assign(metrics.begin(), metrics.end());
    rows_.width = work.width;
    rows_.height = work.height;
    rows_.rows = std::max<int64_t>(work.pairs, 1);
    rows_.rows_at_once = true;
    rows_.one_device = true;
    rows_.want_map = work.want_map;
    rows_.strip_rows = work.strip_rows;
    rows_.strips_allowed = work.strips_allowed;
  }

  DeviceChoice operator()() {
    for (const CostedMetric& metric : rows_.metrics) {
      if (!metric.on_gpu) return on_cpu(fmt::format("{} has no GPU version", metric.name));
      if (rows_.want_map && !metric.map_on_gpu) {
        return on_cpu(fmt::format("{} makes difference maps on the CPU only", metric.name));
      }
    }
    const std::vector<DeviceState> remembered = remembered_gpus();
    Placement guess = place(remembered);
    if (guess.best()->device != "cpu" && work_.plan_on_gpu) {
      rows_.plan = [this](std::optional<Backend> gpu, int strip_rows) {
        return gpu ? work_.plan_on_gpu(*gpu, strip_rows) : Result<MemoryPlan>(MemoryPlan());
      };
      guess = place(remembered);
    }
    return guess.best()->device == "cpu" ? on_cpu(why_cpu(guess)) : choose_among(list_devices());
  }

 private:
  // The GPUs that were here when something was measured, or one of which nothing is known.
  std::vector<DeviceState> remembered_gpus() const {
    std::vector<DeviceState> states;
    for (const auto& [key, device] : measured_.devices()) {
      if (device.id == "cpu" || device.is_software) continue;
      states.push_back({.id = device.id,
                        .key = key,
                        .name = device.name,
                        .is_open = is_device_open(device.id),
                        .free_bytes = available_on(device.id, device.memory_bytes > 0 ? device.memory_bytes : -1)});
    }
    if (states.empty()) states.push_back({.id = kSomeGpu, .key = "", .free_bytes = available_on(kSomeGpu, -1)});
    return states;
  }

  int64_t available_on(const std::string& id, int64_t total) const {
    return most_available_bytes(id, total, work_.vram_cap);
  }

  Placement place(std::vector<DeviceState> states) const {
    states.push_back(cpu_);
    return place_rows(rows_, states, measured_);
  }

  DeviceChoice choose_among(const DeviceList& list) const {
    std::vector<DeviceState> states;
    for (const DeviceInfo& info : list.devices) {
      states.push_back(state_of(info));
      states.back().is_open = is_device_open(info.id);
      states.back().free_bytes = available_on(info.id, info.memory_bytes);
    }
    std::string trouble = "but no usable one was found";
    while (true) {
      Placement placement = place(states);
      const std::string best = placement.best()->device;
      if (best == "cpu") {
        const bool is_compared = fastest(placement, false) != nullptr || !memory_trouble(placement).empty();
        return on_cpu(is_compared ? why_cpu(placement) : fmt::format("a GPU might {} sooner, {}", task(), trouble));
      }
      DeviceState& state =
          *std::find_if(states.begin(), states.end(), [&](const DeviceState& one) { return one.id == best; });
      Result<std::shared_ptr<Device>> device = open_device(best);
      if (!device.ok()) {
        trouble = fmt::format("but cannot be used: {}", device.status().message());
        state.unusable = device.status().message();
        continue;
      }
      // It can be asked now, and others may use it.
      state.free_bytes = available_on(best, state.free_bytes);
      placement = place(states);
      if (placement.best()->device == best) {
        return {*device, fmt::format("auto chose {}: {}", best, compared(placement))};
      }
    }
  }

  std::string task() const { return rows_.rows == 1 ? "score the pair" : fmt::format("score {} pairs", rows_.rows); }

  std::string why_cpu(const Placement& placement) const {
    const std::string trouble = memory_trouble(placement);
    return fastest(placement, false) == nullptr && !trouble.empty() ? trouble : compared(placement);
  }

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

  const ExpectedWork& work_;
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
