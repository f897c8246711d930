// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_METRICS_MSE_GPU_H
#define ACUITY_METRICS_MSE_GPU_H

#include <array>
#include <memory>

#include "engine/metric.h"

namespace acuity::mse {

/// The sums of sum_squared_differences, to the last bit, from a GPU. Works on one pair at a time.
class GpuSums {
 public:
  static Result<std::unique_ptr<GpuSums>> create(const Metric::Setup& setup);
  virtual ~GpuSums() = default;

  virtual size_t bytes() const = 0;
  virtual Result<std::array<double, 3>> run(const InputRows& reference, const InputRows& distorted) = 0;
  /// What is prepared of a reference: its samples, on the device.
  virtual Result<Input> keep(const InputRows& reference) = 0;
};

}  // namespace acuity::mse

#endif
