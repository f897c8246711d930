// SPDX-License-Identifier: BSD-2-Clause-Patent
// What differs between devices: getting from pixels to the errors of each scale. metric.cc does the rest.
#ifndef ACUITY_METRICS_SSIMULACRA2_RUNNER_H
#define ACUITY_METRICS_SSIMULACRA2_RUNNER_H

#include <memory>
#include <vector>

#include "acuity/score.h"
#include "acuity/status.h"
#include "engine/metric.h"
#include "metrics/ssimulacra2/pooling.h"

namespace acuity::ssimulacra2 {

/// A reference, as it is or as prepare() of a runner of the same kind left it.
struct ReferencePicture {
  const InputRows* rows = nullptr;  // one of the two
  const PreparedReference* prepared = nullptr;
};

class Runner {
 public:
  virtual ~Runner() = default;
  virtual size_t working_bytes() const = 0;

  /// What depends on the reference alone.
  virtual Result<std::shared_ptr<const PreparedReference>> prepare(const InputRows& reference) = 0;

  /// The errors of every scale.
  virtual Result<std::vector<ScaleErrors>> run(const ReferencePicture& reference, const InputRows& distorted) = 0;

  /// The difference map of the pair run just before.
  virtual Result<DifferenceMap> map(const ReferencePicture& reference, const InputRows& distorted,
                                    const std::vector<ScaleErrors>& errors) = 0;
};

Result<std::unique_ptr<Runner>> create_cpu_runner(const Metric::Setup& setup);
Result<std::unique_ptr<Runner>> create_gpu_runner(const Metric::Setup& setup);
/// For pictures that need not be cut into bands.
Result<std::unique_ptr<Runner>> create_small_gpu_runner(const Metric::Setup& setup);

inline Status no_map_on_gpus() {
  return Status(StatusCode::device, "difference maps are made on the CPU only; use the device cpu");
}

}  // namespace acuity::ssimulacra2

#endif
