// SPDX-License-Identifier: BSD-2-Clause-Patent
// A prepared reference of SSIMULACRA2 on a GPU: all that depends on it alone, whole planes of every scale. These are
// XYB and, blurred already, mu1 and s11 of each channel.
#ifndef ACUITY_METRICS_SSIMULACRA2_GPU_REFERENCE_H
#define ACUITY_METRICS_SSIMULACRA2_GPU_REFERENCE_H

#include <memory>
#include <vector>

#include "metrics/ssimulacra2/gpu_pixels.h"

namespace acuity::ssimulacra2 {

inline constexpr int kKeptPlanes = 2;  // blurred ones of a channel

class KeptReference {
 public:
  static Result<std::unique_ptr<KeptReference>> create(const Metric::Setup& setup);

  /// Done when it returns.
  Status prepare(PixelBands& pixels, const Rows& reference);

  struct Scale {
    Size size;
    int stride = 0;  // floats a row
    int rows = 0;    // of every plane; of the blurred ones row y lies kAhead rows lower
    uint64_t xyb = 0, blurred = 0;
  };
  const Scale& scale(size_t s) const { return scales_[s]; }
  size_t bytes() const { return memory_->size(); }

 private:
  explicit KeptReference(const Metric::Setup& setup);
  Status allocate();
  PixelTarget target(size_t s) const;

  const Metric::Setup& setup_;
  std::vector<Scale> scales_;
  std::unique_ptr<DeviceMemory> memory_;
  std::unique_ptr<Queue> queue_;  // goes before the memory, and waits for what is in flight on it
};

}  // namespace acuity::ssimulacra2

#endif
