// SPDX-License-Identifier: BSD-2-Clause-Patent
// What --device auto comes to. It can cost time, never change a score.
#ifndef ACUITY_ENGINE_AUTO_DEVICE_H
#define ACUITY_ENGINE_AUTO_DEVICE_H

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "device/device.h"
#include "engine/metric.h"

namespace acuity {

/// What is to be done, as far as it is known in advance.
struct ExpectedWork {
  int64_t pairs = 1;
  int width = 0;
  int height = 0;
  int threads = 1;
  bool want_map = false;
};

/// Milliseconds on the CPU, where a pixel of a pair takes one thread `cpu_ns`, and on a GPU that is yet to be opened,
/// for so many metrics, roughly.
double expected_cpu_ms(double cpu_ns, const ExpectedWork& work);
double expected_gpu_ms(size_t metrics, const ExpectedWork& work);

struct DeviceChoice {
  std::shared_ptr<Device> device;  // null: the CPU
  std::string reason;              // begins "auto chose "
};

/// Where the work is expected to be done sooner. Drivers are not even loaded for work the CPU does faster than that.
DeviceChoice choose_device(std::span<const MetricEntry* const> metrics, const ExpectedWork& work);
/// The same for metrics or features that all run on both and take `cpu_ns` together.
DeviceChoice choose_device(double cpu_ns, size_t metrics, const ExpectedWork& work);

}  // namespace acuity

#endif
