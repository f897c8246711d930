// SPDX-License-Identifier: BSD-2-Clause-Patent
// What --device auto comes to. It can cost time, never change a score.
#ifndef ACUITY_ENGINE_AUTO_DEVICE_H
#define ACUITY_ENGINE_AUTO_DEVICE_H

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "device/device.h"
#include "engine/chooser.h"
#include "engine/measurements.h"

namespace acuity {

/// What is to be done, as far as it is known in advance.
struct ExpectedWork {
  int64_t pairs = 1;
  int width = 0;
  int height = 0;
  int threads = 1;
  bool want_map = false;
  std::optional<int64_t> vram_cap{};  // as vram_cap() returns it
  // The following as in RowsToPlace. Only the memory of GPUs is planned, and only if one would be faster.
  int strip_rows = 0;
  bool strips_allowed = true;
  std::function<Result<MemoryPlan>(Backend backend, int strip_rows)> plan_on_gpu{};
};

struct DeviceChoice {
  std::shared_ptr<Device> device;  // null: the CPU
  std::string reason;              // begins "auto chose "
};

/// Where the work is expected to be done sooner. Drivers are not even loaded for work that the CPU does faster than
/// that, by what was measured or guessed. A GPU whose free memory is too small even for strips is not chosen.
DeviceChoice choose_device(std::span<const CostedMetric> metrics, const ExpectedWork& work,
                           const Measurements& measured);

}  // namespace acuity

#endif
