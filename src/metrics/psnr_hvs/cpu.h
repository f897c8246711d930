// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_METRICS_PSNR_HVS_CPU_H
#define ACUITY_METRICS_PSNR_HVS_CPU_H

#include <array>
#include <cstddef>
#include <cstdint>

#include "acuity/frame.h"
#include "acuity/status.h"
#include "base/memory.h"

namespace acuity::psnr_hvs {

inline constexpr int kBlock = 8;  // side of a block
inline constexpr int kStep = 7;   // from block to block
inline constexpr int kCoefficients = kBlock * kBlock;

/// Of each coefficient, row by row.
struct Weights {
  std::array<float, kCoefficients> visibility;
  std::array<float, kCoefficients> masking;
};
Weights weights_of_plane(int plane);

/// How many blocks there are in a row or column of that length.
inline int blocks_along(int side) { return (side - kBlock) / kStep + 1; }

/// What a sum of squared errors of so many blocks comes to; the peak is 1.
float mean_of(float sum, int blocks, int depth);

/// A sum whose last terms are still to be added: squares of some blocks side by side, one after the other.
struct OpenSum {
  float total = 0;
  int terms = 0;             // all there are
  int added = 0;             // of these
  float* squares = nullptr;  // those of a coefficient of all the blocks together
};

class VisibleError {
 public:
  /// For planes up to that width.
  static Result<VisibleError> create(int width);
  size_t bytes() const { return memory_.size(); }

  /// The mean of the squared errors that can be seen; the peak is 1. The plane is at least a block wide and high.
  float mean(const FrameView& reference, const FrameView& distorted, int plane);

 private:
  using Rows = std::array<int32_t*, kBlock>;

  Arena memory_;
  std::array<Rows, 2> rings_{};  // rows of both frames
  int32_t* scratch_ = nullptr;
  float* squares_ = nullptr;
};

}  // namespace acuity::psnr_hvs

#endif
