// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA2 on a GPU: what is prepared of a reference.
#ifndef ACUITY_METRICS_SSIMULACRA2_GPU_REFERENCE_H
#define ACUITY_METRICS_SSIMULACRA2_GPU_REFERENCE_H

#include <memory>
#include <utility>
#include <vector>

#include "device/pool.h"
#include "engine/metric.h"
#include "metrics/ssimulacra2/gpu_samples.h"
#include "metrics/ssimulacra2/pooling.h"

namespace acuity::ssimulacra2 {

/// All that depends on the reference alone: at every scale XYB, and of each channel the blurred planes mu1 and s11.
class ReferencePlanes {
 public:
  /// Room for them. Null where the planes have more elements than kernels can number.
  static Result<std::unique_ptr<ReferencePlanes>> create(const Metric::Setup& setup);
  /// After a failure the queue of the samples may still have work on them.
  Status make(const Metric::Setup& setup, Samples& samples, const InputRows& reference);

  /// Planes of `rows` rows that are `stride` floats apart; of the blurred ones row y lies four rows lower, as
  /// prepared_kernels.h wants it.
  struct Scale {
    Size size;
    int stride = 0;
    int rows = 0;
    size_t xyb = 0, blurred = 0;  // offsets

    size_t plane_floats() const { return static_cast<size_t>(rows) * static_cast<size_t>(stride); }
  };
  const Scale& scale(size_t s) const { return scales_[s]; }
  template <typename T>
  DeviceArray<T> array(size_t offset) const {
    return {memory_->address() + offset};
  }
  /// Tells it from all others.
  uint64_t number() const { return memory_.number(); }
  size_t bytes() const { return memory_->size(); }

 private:
  explicit ReferencePlanes(const Metric::Setup& setup);
  Status make_pixels(Queue& queue, size_t s, const Samples::Place& from, int band, int band_rows) const;

  std::vector<Scale> scales_;
  PooledMemory memory_;
};

/// The reference's samples stay on the device, and its planes where somebody made them: pictures that are not cut into
/// bands are scored without.
class PreparedPicture final : public PreparedReference {
 public:
  PreparedPicture(InputRows rows, std::unique_ptr<ReferencePlanes> planes)
      : rows_(std::move(rows)), planes_(std::move(planes)) {}
  const InputRows& rows() const { return rows_; }
  const ReferencePlanes* planes() const { return planes_.get(); }
  size_t bytes() const override { return bytes_of(rows_.input) + (planes_ ? planes_->bytes() : 0); }

 private:
  InputRows rows_;
  std::unique_ptr<ReferencePlanes> planes_;
};

/// A reference whose samples stay on the device.
Result<InputRows> keep_samples(const Metric::Setup& setup, Queue& queue, const InputRows& reference);

}  // namespace acuity::ssimulacra2

#endif
