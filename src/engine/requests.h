// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a caller asked for, checked.
#ifndef ACUITY_ENGINE_REQUESTS_H
#define ACUITY_ENGINE_REQUESTS_H

#include <cstdint>
#include <optional>
#include <span>
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

/// The most memory to use on a device: the option, or else the environment; nothing where neither is given.
Result<std::optional<int64_t>> vram_cap(const ScorerOptions& options);

}  // namespace acuity

#endif
