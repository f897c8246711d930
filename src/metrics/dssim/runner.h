// SPDX-License-Identifier: BSD-2-Clause-Patent
// What differs between devices: getting from pixels to the similarity of each scale. metric.cc does the rest.
#ifndef ACUITY_METRICS_DSSIM_RUNNER_H
#define ACUITY_METRICS_DSSIM_RUNNER_H

#include <memory>
#include <vector>

#include "acuity/score.h"
#include "acuity/status.h"
#include "engine/metric.h"
#include "metrics/dssim/scale.h"

namespace acuity::dssim {

/// What a run found, one a scale.
struct Similarities {
  std::vector<double> scales;
  std::vector<DifferenceMap> errors;  // 1 - SSIM; empty unless the metric was set up to make maps
};

/// A reference, as it is or as prepare() of a runner of the same kind left it.
struct ReferencePicture {
  const Picture* picture = nullptr;  // one of the two
  const PreparedReference* prepared = nullptr;
};

class Runner {
 public:
  virtual ~Runner() = default;
  virtual size_t working_bytes() const = 0;

  /// What depends on the reference alone.
  virtual Result<std::shared_ptr<const PreparedReference>> prepare(const Picture& reference) = 0;

  virtual Result<Similarities> run(const ReferencePicture& reference, const Picture& distorted) = 0;
};

Result<std::unique_ptr<Runner>> create_cpu_runner(const Metric::Setup& setup);
Result<std::unique_ptr<Runner>> create_gpu_runner(const Metric::Setup& setup);

}  // namespace acuity::dssim

#endif
