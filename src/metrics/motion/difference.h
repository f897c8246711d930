// SPDX-License-Identifier: BSD-2-Clause-Patent
// How much the light of two frames differs once both are blurred, in whole numbers.
#ifndef ACUITY_METRICS_MOTION_DIFFERENCE_H
#define ACUITY_METRICS_MOTION_DIFFERENCE_H

#include <cstddef>
#include <cstdint>

#include "acuity/frame.h"
#include "acuity/status.h"
#include "base/memory.h"

namespace acuity::motion {

inline constexpr size_t kRows = 5;  // that a blur downwards looks at

struct Scratch {
  size_t row_values = 0;
  void* differences = nullptr;  // a ring of kRows rows, of 16 or 32 bits
  void* blurred = nullptr;      // one row, likewise
};

class BlurredDifference {
 public:
  /// For frames of that width, at least 3 pixels.
  static Result<BlurredDifference> create(int width);

  size_t bytes() const { return memory_.size(); }

  /// The sum of the absolute differences in light, in 256ths of an 8-bit step.
  uint64_t sum(const FrameView& before, const FrameView& now);

 private:
  Arena memory_;
  Scratch scratch_;
};

}  // namespace acuity::motion

#endif
