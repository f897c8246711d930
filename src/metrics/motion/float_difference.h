// SPDX-License-Identifier: BSD-2-Clause-Patent
// How much two frames differ once both are blurred, in floats.
#ifndef ACUITY_METRICS_MOTION_FLOAT_DIFFERENCE_H
#define ACUITY_METRICS_MOTION_FLOAT_DIFFERENCE_H

#include <array>
#include <cstddef>
#include <vector>

#include "acuity/frame.h"
#include "acuity/status.h"
#include "base/memory.h"

namespace acuity::motion {

/// In the order of the rows or columns they belong to.
using Taps = std::array<float, 5>;

class FloatDifference {
 public:
  /// For planes up to that width, at least 3 pixels. `add_half_size` adds the difference of the blurred planes at half
  /// their size.
  static Result<FloatDifference> create(int width, const Taps& taps, bool add_half_size);

  size_t bytes() const { return memory_.size(); }

  /// The mean absolute difference, in 8-bit steps.
  float mean(const FrameView& before, const FrameView& now, int plane);

 private:
  // One of the two frames: rows of samples, and the last two blurred ones.
  struct Side {
    std::array<float*, 5> rows{};
    std::array<float*, 2> blurred{};
  };

  Taps taps_{};
  bool add_half_size_ = false;
  Arena memory_;
  std::array<Side, 2> sides_;
  float* down_ = nullptr;  // a row blurred downwards
  float* sums_ = nullptr;
  float* half_sums_ = nullptr;
};

}  // namespace acuity::motion

#endif
