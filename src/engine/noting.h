// SPDX-License-Identifier: BSD-2-Clause-Patent
// Adds what scores took to process_measurements().
#ifndef ACUITY_ENGINE_NOTING_H
#define ACUITY_ENGINE_NOTING_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "acuity/scorer.h"
#include "device/device.h"
#include "engine/measurements.h"

namespace acuity {

/// Each returns the key by which figures of the device are kept.
std::string note_cpu();
std::string note_gpu(const DeviceInfo& device, double cold_ms);

/// A row that was scored, or a reference that was prepared.
struct NotedRow {
  RowMode mode{};
  double pixels = 0;
  double threads = 1;         // of the CPU, for this row alone
  double rows_in_flight = 1;  // on a GPU, which worked on all of them in the same time
  std::span<const double> metrics_ms{};
  double together_ms = 0;  // of all metrics: on a GPU they run side by side, and each has its share of this
};
void note_row(const std::string& device, std::span<const MetricInfo* const> metrics, const NotedRow& row);

/// A picture that one thread decoded.
void note_decode(std::string_view format, double pixels, double milliseconds);

/// Frames that a feature was measured in on the CPU, with the time of all threads together.
void note_frames(const std::string& feature, double pixels, int64_t frames, double milliseconds);

}  // namespace acuity

#endif
