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

class Runner {
 public:
  virtual ~Runner() = default;
  virtual size_t working_bytes() const = 0;

  /// What depends on the reference alone.
  virtual Result<std::shared_ptr<const PreparedReference>> prepare(const Picture& reference) = 0;

  /// The sums, valid until the next run.
  virtual Result<const PictureSums*> run(const ReferencePicture& reference, const Picture& distorted) = 0;
};

/// weighted: whether features with weights are wanted.
Result<std::unique_ptr<Runner>> create_cpu_runner(const Metric::Setup& setup, const Layout& layout, bool weighted);
Result<std::unique_ptr<Runner>> create_gpu_runner(const Metric::Setup& setup, const Layout& layout, bool weighted);

}  // namespace acuity::zensim

#endif
