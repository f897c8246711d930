// SPDX-License-Identifier: BSD-2-Clause-Patent
// What differs between devices: getting from pixels to the errors of each scale. metric.cc does the rest.
#ifndef ACUITY_METRICS_SSIMULACRA2_RUNNER_H
#define ACUITY_METRICS_SSIMULACRA2_RUNNER_H

#include <memory>
#include <vector>

#include "acuity/score.h"
#include "acuity/status.h"
#include "colour/rows.h"
#include "device/device.h"
#include "engine/metric.h"
#include "metrics/ssimulacra2/pooling.h"

namespace acuity::ssimulacra2 {

class Runner {
 public:
  virtual ~Runner() = default;
  virtual size_t working_bytes() const = 0;

  /// Keeps what depends on the reference alone, until forget().
  virtual Status prepare(const Rows& reference) = 0;
  virtual void forget() = 0;

  /// The errors of every scale; against the prepared reference where `reference` is null.
  virtual Result<std::vector<ScaleErrors>> run(const Rows* reference, const Rows& distorted) = 0;

  /// The difference map of the pair run just before.
  virtual Result<DifferenceMap> map(const Rows* reference, const Rows& distorted,
                                    const std::vector<ScaleErrors>& errors) = 0;
};

Result<std::unique_ptr<Runner>> create_cpu_runner(const Metric::Setup& setup);
Result<std::unique_ptr<Runner>> create_gpu_runner(const Metric::Setup& setup);
/// For pictures that need not be cut into bands.
Result<std::unique_ptr<Runner>> create_small_gpu_runner(const Metric::Setup& setup);

inline Status no_map_on_gpus() {
  return Status(StatusCode::device, "difference maps are made on the CPU only; ask for the device cpu");
}

}  // namespace acuity::ssimulacra2

#endif
