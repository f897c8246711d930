// SPDX-License-Identifier: BSD-2-Clause-Patent
// What differs between devices: getting from pixels to the sums of each scale. metric.cc does the rest.
#ifndef ACUITY_METRICS_IWSSIM_RUNNER_H
#define ACUITY_METRICS_IWSSIM_RUNNER_H

#include <array>
#include <memory>

#include "acuity/score.h"
#include "acuity/status.h"
#include "engine/metric.h"
#include "metrics/iwssim/scales.h"
#include "metrics/iwssim/luma_rows.h"

namespace acuity::iwssim {

struct InputLuma {
  Input input;
  LumaRows luma;
};

/// A reference, as it is or as prepare() of a runner of the same kind left it.
struct ReferencePicture {
  const InputLuma* luma = nullptr;  // one of the two
  const PreparedReference* prepared = nullptr;
};

class Runner {
 public:
  virtual ~Runner() = default;
  virtual size_t working_bytes() const = 0;

  /// What depends on the reference alone.
  virtual Result<std::shared_ptr<const PreparedReference>> prepare(const InputLuma& reference) = 0;

  /// The sums of every scale.
  virtual Result<std::array<ScaleSums, kScales>> run(const ReferencePicture& reference, const InputLuma& distorted) = 0;

  /// What each place contributes to the sum that a scale's value is made from, over loss_size, for the pair run just
  /// before, whose reference is still there.
  virtual Status loss_map(int scale, float* map) = 0;
};

/// `size` is that of the pictures after a small one has been enlarged.
Result<std::unique_ptr<Runner>> create_cpu_runner(const Metric::Setup& setup, Kind kind, Size size);
Result<std::unique_ptr<Runner>> create_gpu_runner(const Metric::Setup& setup, Kind kind, Enlarge enlarge, Size size);

}  // namespace acuity::iwssim

#endif
