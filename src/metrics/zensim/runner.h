// SPDX-License-Identifier: BSD-2-Clause-Patent
// What differs between devices: getting from pixels to the sums of each strip. metric.cc does the rest.
#ifndef ACUITY_METRICS_ZENSIM_RUNNER_H
#define ACUITY_METRICS_ZENSIM_RUNNER_H

#include <memory>

#include "acuity/status.h"
#include "engine/metric.h"
#include "metrics/zensim/cpu.h"
#include "metrics/zensim/pooling.h"

namespace acuity::zensim {

/// A reference, as it is or as prepare() of a runner of the same kind left it.
struct ReferencePicture {
  const Picture* picture = nullptr;  // one of the two
  const PreparedReference* prepared = nullptr;
};

using PictureSums = std::array<ScaleSums, kScales>;

/// What is to be computed besides the 228 features and the offsets.
struct Wanted {
  bool weighted = false;            // features with weights
  const MapWeights* map = nullptr;  // maps; outlives the runner
  bool luma = false;                // the reference's Y plane, for a map with masking
};

/// The maps of the scales, each in the scale's size, and the reference's Y plane in that of the first.
struct Maps {
  std::array<std::vector<float>, kScales> scales;
  std::vector<float> luma;
};

class Runner {
 public:
  virtual ~Runner() = default;
  virtual size_t working_bytes() const = 0;

  /// What depends on the reference alone.
  virtual Result<std::shared_ptr<const PreparedReference>> prepare(const Picture& reference) = 0;

  /// The sums, valid until the next run.
  virtual Result<const PictureSums*> run(const ReferencePicture& reference, const Picture& distorted) = 0;

  /// Of the last run; empty if none are wanted.
  virtual const Maps& maps() const = 0;
};

Result<std::unique_ptr<Runner>> create_cpu_runner(const Metric::Setup& setup, const Layout& layout,
                                                  const Wanted& wanted);
Result<std::unique_ptr<Runner>> create_gpu_runner(const Metric::Setup& setup, const Layout& layout,
                                                  const Wanted& wanted);

}  // namespace acuity::zensim

#endif
