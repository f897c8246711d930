// SPDX-License-Identifier: BSD-2-Clause-Patent
// What memory scoring needs, asked once for each size, and the devices of a scheduler.
#ifndef ACUITY_SCHEDULE_PLANS_H
#define ACUITY_SCHEDULE_PLANS_H

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "acuity/plan.h"
#include "device/device.h"
#include "device/pool.h"
#include "engine/measurements.h"
#include "schedule/row.h"

namespace acuity {

/// A device of a scheduler.
struct Place {
  std::string id;                      // "cpu", "cuda:0"
  std::shared_ptr<Device> device{};    // null: the CPU
  std::shared_ptr<DevicePool> pool{};  // of that
  bool is_cpu() const { return device == nullptr; }
  std::optional<Backend> gpu() const { return device ? std::optional(device->info().backend) : std::nullopt; }
};

/// What "auto" may use: the devices of each card, software left out. Of a card that several backends list, the fastest
/// comes first if all of them were measured at the same, else the order is that of the list. Of each card the first is
/// used that can be opened.
std::vector<std::vector<DeviceInfo>> cards_of(const DeviceList& list, const Measurements& measured);

/// "auto" or names, opened. A card that several of them show is used once, through the first.
Result<std::vector<Place>> open_places(const std::vector<std::string>& names);

/// Half of the memory that is free.
int64_t default_memory_limit();

class Plans {
 public:
  explicit Plans(const SchedulerOptions& options) : options_(options) {}

  /// In strips of so many rows; 0: full. No backend: on the CPU.
  Result<MemoryPlan> plan(const MetricSet& metrics, int width, int height, std::optional<Backend> gpu, int strip_rows,
                          int threads);

  /// The rows that the caller chose; 0: full, or automatic.
  int chosen_rows() const { return options_.memory.kind == MemoryMode::Kind::strip ? options_.memory.rows : 0; }
  bool is_automatic() const { return options_.memory.kind == MemoryMode::Kind::automatic; }
  /// The largest strip, smaller than `rows`, that needs at most so many bytes of the device, or of the host for the
  /// CPU; 0: none does, or the caller chose the mode.
  Result<int> smaller_strip(const MetricSet& metrics, int width, int height, std::optional<Backend> gpu, int rows,
                            int threads, int64_t available);

 private:
  using Key = std::tuple<std::string, int, int, std::optional<Backend>, int, int>;
  const SchedulerOptions& options_;
  std::mutex mutex_;
  std::map<Key, MemoryPlan> known_;
};

}  // namespace acuity

#endif
