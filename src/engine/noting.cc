// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/noting.h"

#include <numeric>

#include "engine/chooser.h"
#include "lang/targets.h"

namespace acuity {

std::string note_cpu() {
  std::string key = measured_cpu_key();
  process_measurements().note_device(key, {.id = "cpu", .driver = cpu_target()});
  return key;
}

std::string note_gpu(const DeviceInfo& device, double cold_ms) {
  std::string key = measured_key(device);
  process_measurements().note_device(key, {.id = device.id,
                                           .name = device.name,
                                           .driver = device.driver,
                                           .uuid = device.uuid,
                                           .is_software = device.is_software,
                                           .memory_bytes = device.memory_bytes,
                                           .cold_ms = cold_ms});
  return key;
}

void note_row(const std::string& device, std::span<const MetricInfo* const> metrics, const NotedRow& row) {
  const double sum = std::accumulate(row.metrics_ms.begin(), row.metrics_ms.end(), 0.0);
  for (size_t i = 0; i < row.metrics_ms.size() && sum > 0; ++i) {
    const double ms = row.metrics_ms[i] / sum * row.together_ms;
    process_measurements().note(device, metrics[i]->name, row.mode, row.pixels,
                                ms * 1e6 * row.threads / row.rows_in_flight / row.pixels);
  }
}

void note_decode(std::string_view format, double pixels, double milliseconds) {
  process_measurements().note(note_cpu(), std::string(format), {.kind = RowMode::Kind::decode}, pixels,
                              milliseconds * 1e6 / pixels);
}

void note_frames(const std::string& feature, double pixels, int64_t frames, double milliseconds) {
  if (frames <= 0) return;
  process_measurements().note(note_cpu(), feature, {}, pixels,
                              milliseconds * 1e6 / static_cast<double>(frames) / pixels);
}

}  // namespace acuity
