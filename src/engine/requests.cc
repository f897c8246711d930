// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/requests.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/try.h"
#include "device/open_devices.h"
#include "device/pool.h"
#include "engine/validate.h"

namespace acuity {
namespace {

constexpr int64_t kMostPixelsOnGpu = int64_t{1} << 29;  // samples are numbered in 31 bits
constexpr int64_t kMostFramePixelsOnGpu = int64_t{1} << 27;
constexpr const char* kCapVariable = "ACUITY_VRAM_CAP_BYTES";

Result<RequestedMetric> find_requested(const MetricRequest& request, bool want_map) {
  RequestedMetric metric;
  for (const MetricEntry& entry : registry()) {
    if (entry.info.name == request.metric) metric.entry = &entry;
  }
  if (metric.entry == nullptr && find_metric(request.metric) != nullptr) {
    return Status(StatusCode::usage, fmt::format("{} works on frames of video; use FrameScorer", request.metric));
  }
  if (metric.entry == nullptr) {
    return Status(StatusCode::usage,
                  fmt::format("unknown metric '{}'; metrics() lists the metrics of this build", request.metric));
  }
  if (want_map && !metric.entry->info.has_map) {
    return Status(StatusCode::usage, fmt::format("{} has no difference map", request.metric));
  }
  ACUITY_TRY_ASSIGN(metric.options, OptionValues::parse(metric.entry->info, request.options));
  return metric;
}

Status check_gpu_pixels(int width, int height, int64_t most) {
  if (int64_t{width} * height <= most) return {};
  return Status(
      StatusCode::too_big,
      fmt::format("{}x{} pixels are more than the {} that GPUs can number; use the device cpu", width, height, most));
}

}  // namespace

Result<std::vector<RequestedMetric>> find_requested_metrics(const ScorerOptions& options, int width, int height) {
  if (options.threads < 0) {
    return Status(StatusCode::usage,
                  fmt::format("invalid number of threads {}: expected 0, for one per core, or more", options.threads));
  }
  const bool strip = options.memory.kind == MemoryMode::Kind::strip;
  if (strip ? options.memory.rows < 1 : options.memory.rows != 0) {
    return Status(StatusCode::usage, fmt::format("invalid number of rows {} for the memory mode: expected at least 1 "
                                                 "for strips, and 0 for other modes",
                                                 options.memory.rows));
  }
  if (options.metrics.empty())
    return Status(StatusCode::usage, "no metric is given; metrics() lists the metrics of this build");
  std::vector<RequestedMetric> metrics;
  for (const MetricRequest& request : options.metrics) {
    ACUITY_TRY_ASSIGN(metrics.emplace_back(), find_requested(request, options.want_map));
  }
  for (const RequestedMetric& metric : metrics) {
    ACUITY_TRY(validate_size(metric.entry->info, metric.options, width, height));
  }
  return metrics;
}

Status check_gpu_can(std::span<const RequestedMetric> metrics, bool want_map) {
  for (const RequestedMetric& metric : metrics) {
    const MetricEntry& entry = *metric.entry;
    if (!entry.on_gpu) {
      return Status(StatusCode::device,
                    fmt::format("{} runs on the CPU only; use the device cpu or auto", entry.info.name));
    }
    if (want_map && !entry.map_on_gpu) {
      return Status(
          StatusCode::device,
          fmt::format("{}'s difference maps are made on the CPU only; use the device cpu or auto", entry.info.name));
    }
  }
  return {};
}

Status check_gpu_size(int width, int height) { return check_gpu_pixels(width, height, kMostPixelsOnGpu); }
Status check_gpu_frame_size(int width, int height) { return check_gpu_pixels(width, height, kMostFramePixelsOnGpu); }

Result<std::optional<int64_t>> vram_cap(int64_t vram_cap_bytes) {
  if (vram_cap_bytes < 0) {
    return Status(StatusCode::usage,
                  fmt::format("invalid vram_cap_bytes {}: expected 0, for no cap, or more", vram_cap_bytes));
  }
  if (vram_cap_bytes > 0) return std::optional(vram_cap_bytes);
  const char* value = std::getenv(kCapVariable);
  if (value == nullptr) return std::optional<int64_t>();
  const std::string_view text = value;
  int64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc() || end != text.data() + text.size() || bytes < 1) {
    return Status(StatusCode::usage,
                  fmt::format("invalid value '{}' of {}: expected a number of bytes", text, kCapVariable));
  }
  return std::optional(bytes);
}

Result<int64_t> available_bytes(const DevicePool& pool, std::optional<int64_t> cap) {
  int64_t available = 0;
  ACUITY_TRY_ASSIGN(available, pool.device().free_bytes());
  available += static_cast<int64_t>(pool.unused_bytes());
  if (cap) available = std::min(available, *cap - static_cast<int64_t>(pool.held_bytes()));
  return available;
}

int64_t most_available_bytes(std::string_view id, int64_t total, std::optional<int64_t> cap) {
  if (const std::shared_ptr<Device> device = device_if_open(id)) {
    const Result<int64_t> available = available_bytes(*DevicePool::of(device), cap);
    if (available.ok()) return std::max<int64_t>(*available, 0);
    // It was lost, and would be opened anew.
  }
  if (!cap) return total;
  return total < 0 ? *cap : std::min(total, *cap);
}

}  // namespace acuity
