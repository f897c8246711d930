// SPDX-License-Identifier: BSD-2-Clause-Patent
// What differs between devices: getting from pixels to the map and its norms. metric.cc does the rest.
#ifndef ACUITY_METRICS_BUTTERAUGLI_RUNNER_H
#define ACUITY_METRICS_BUTTERAUGLI_RUNNER_H

#include <memory>

#include "acuity/status.h"
#include "engine/metric.h"
#include "metrics/butteraugli/parameters.h"
#include "metrics/butteraugli/pooling.h"

namespace acuity::butteraugli {

/// A transparent reference is looked at over two backgrounds, and prepared over both.
inline constexpr size_t kMostPrepared = 2;

/// Linear light, and the luminance of 1.0.
struct Light {
  const InputRows* rows = nullptr;              // null: that which was prepared
  const PreparedReference* prepared = nullptr;  // by a runner of the same kind
  float nits = 0;
};

/// What to do with the map beside its norms.
struct MapRequest {
  bool hold = false;           // hold it for the next run instead of writing it ...
  bool at_least_held = false;  // ... in which larger values of the map held take the place of its own
  float* to = nullptr;         // where to write it, row by row without gaps, or null
};

class Runner {
 public:
  virtual ~Runner() = default;
  virtual size_t working_bytes() const = 0;

  /// What depends on the reference alone, over one background.
  virtual Result<std::shared_ptr<const PreparedReference>> prepare(const Light& reference) = 0;

  /// The norms of the map.
  virtual Result<Norms> run(const Light& reference, const Light& distorted, const MapRequest& map) = 0;
};

/// Pictures are of setup's size, which is large_enough. `p` is 0 where no p-norm is asked for.
Result<std::unique_ptr<Runner>> create_cpu_runner(const Metric::Setup& setup, const Parameters& parameters, float p);
/// The same on setup's device.
Result<std::unique_ptr<Runner>> create_gpu_runner(const Metric::Setup& setup, const Parameters& parameters, float p);

}  // namespace acuity::butteraugli

#endif
