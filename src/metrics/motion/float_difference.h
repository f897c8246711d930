// SPDX-License-Identifier: BSD-2-Clause-Patent
// Planes blurred, and how much two of them differ, in floats.
#ifndef ACUITY_METRICS_MOTION_FLOAT_DIFFERENCE_H
#define ACUITY_METRICS_MOTION_FLOAT_DIFFERENCE_H

#include <array>
#include <cstddef>

#include "acuity/frame.h"
#include "acuity/status.h"
#include "base/memory.h"

namespace acuity::motion {

/// From the outermost to the middle one; the blur is the same to both sides.
using Taps = std::array<float, 3>;

/// What a sum of differences comes to.
inline float mean_of(float sum, int width, int height) { return sum / static_cast<float>(width * height); }

/// A plane in memory that is aligned as an Arena's.
struct BlurredPlane {
  int width = 0;
  int height = 0;
  float* values = nullptr;

  /// From one row to the next.
  size_t stride() const { return round_up(static_cast<size_t>(width), 16); }
  size_t count() const { return stride() * static_cast<size_t>(height); }
  float* row(int y) const { return values + static_cast<size_t>(y) * stride(); }
};

class FloatBlur {
 public:
  /// For planes up to that width, at least 3 pixels.
  static Result<FloatBlur> create(int width, const Taps& taps);
  size_t bytes() const { return memory_.size(); }

  void blur(const FrameView& frame, int plane, const BlurredPlane& out);

 private:
  Taps taps_{};
  Arena memory_;
  std::array<float*, 5> rows_{};  // of samples
  float* down_ = nullptr;         // a row blurred downwards
};

class FloatDifference {
 public:
  /// For planes up to that width. `add_half_size` adds the difference of the planes at half their size.
  static Result<FloatDifference> create(int width, bool add_half_size);
  size_t bytes() const { return memory_.size(); }

  /// The mean absolute difference, in 8-bit steps.
  float mean(const BlurredPlane& before, const BlurredPlane& now);

 private:
  float half_size_mean(const BlurredPlane& before, const BlurredPlane& now);

  bool add_half_size_ = false;
  Arena memory_;
  float* sums_ = nullptr;
};

}  // namespace acuity::motion

#endif
