// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a caller asked for, checked.
#ifndef ACUITY_ENGINE_REQUESTS_H
#define ACUITY_ENGINE_REQUESTS_H

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/metric.h"

namespace acuity {

/// A metric that was asked for.
struct RequestedMetric {
  const MetricEntry* entry = nullptr;
  OptionValues options;
};

/// The metrics of the options, all of which can score pictures of that size.
Result<std::vector<RequestedMetric>> find_requested_metrics(const ScorerOptions& options, int width, int height);

/// Whether all of them run on GPUs.
Status check_gpu_can(std::span<const RequestedMetric> metrics, bool want_map);

/// More pixels than GPUs can number are refused; of frames, whose features make many planes, fewer are possible.
Status check_gpu_size(int width, int height);
Status check_gpu_frame_size(int width, int height);

/// The most memory to use on a device: the option vram_cap_bytes, or if that is 0 the environment; nothing if neither
/// is given.
Result<std::optional<int64_t>> vram_cap(int64_t vram_cap_bytes);
/// What is free on a device, and under the cap.
Result<int64_t> available_bytes(const DevicePool& pool, std::optional<int64_t> cap);
/// The same of a device that may not be open, with `total` bytes of memory in all; -1: unknown. If this process has it
/// open, the driver is asked. If not, nobody can ask what is free without opening it, which takes a good part of a
/// second; all of its memory is an upper bound then.
int64_t most_available_bytes(std::string_view id, int64_t total, std::optional<int64_t> cap);

}  // namespace acuity

#endif
