// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/auto_device.h"

#include <algorithm>

#include <fmt/format.h>

namespace acuity {
namespace {

// A driver loads and opens a device in 200 to 500 ms. The rest is a middling GPU's; docs/performance.md has an H200's.
constexpr double kOpenMs = 400;
constexpr double kPairMs = 0.5;
constexpr double kPixelNs = 0.5;

double pixels(const ExpectedWork& work) {
  return static_cast<double>(work.pairs) * static_cast<double>(work.width) * static_cast<double>(work.height);
}

std::string rough(double ms) { return ms < 1000 ? fmt::format("{:.0f} ms", ms) : fmt::format("{:.0f} s", ms / 1000); }

}  // namespace

double expected_cpu_ms(double cpu_ns, const ExpectedWork& work) { return pixels(work) * cpu_ns / work.threads / 1e6; }

double expected_gpu_ms(size_t metrics, const ExpectedWork& work) {
  const double ns = kPixelNs * static_cast<double>(metrics);
  return kOpenMs + static_cast<double>(work.pairs) * kPairMs + pixels(work) * ns / 1e6;
}

DeviceChoice choose_device(std::span<const MetricEntry* const> metrics, const ExpectedWork& work) {
  double cpu_ns = 0;
  for (const MetricEntry* metric : metrics) {
    if (!metric->on_gpu) return {nullptr, fmt::format("auto chose the CPU: {} has no GPU version", metric->info.name)};
    if (work.want_map && !metric->map_on_gpu) {
      return {nullptr, fmt::format("auto chose the CPU: {} makes difference maps on the CPU only", metric->info.name)};
    }
    cpu_ns += metric->cpu_ns;
  }
  return choose_device(cpu_ns, metrics.size(), work);
}

DeviceChoice choose_device(double cpu_ns, size_t metrics, const ExpectedWork& work) {
  const double cpu_ms = expected_cpu_ms(cpu_ns, work), gpu_ms = expected_gpu_ms(metrics, work);
  const std::string task = work.pairs == 1 ? "the pair" : fmt::format("{} pairs", work.pairs);
  if (cpu_ms <= gpu_ms) {
    return {
        nullptr,
        fmt::format("auto chose the CPU: it is expected to score {} in {}, and a GPU in {} with the time to open it",
                    task, rough(cpu_ms), rough(gpu_ms))};
  }
  const DeviceList list = list_devices();
  const auto found =
      std::find_if(list.devices.begin(), list.devices.end(), [](const DeviceInfo& info) { return !info.is_software; });
  if (found == list.devices.end()) {
    return {nullptr, fmt::format("auto chose the CPU: a GPU might score {} sooner, but no usable one was found", task)};
  }
  Result<std::shared_ptr<Device>> device = open_device(found->id);
  if (!device.ok()) {
    return {nullptr, fmt::format("auto chose the CPU: a GPU might score {} sooner, but cannot be used: {}", task,
                                 device.status().message())};
  }
  return {*device, fmt::format("auto chose {}: it is expected to score {} in {}, and the CPU in {}", found->id, task,
                               rough(gpu_ms), rough(cpu_ms))};
}

}  // namespace acuity
