// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIM of two pictures whose rows come one after the other, and the same pictures at half the size for the scale below.
#ifndef ACUITY_METRICS_FLOAT_SSIM_SCALE_H
#define ACUITY_METRICS_FLOAT_SSIM_SCALE_H

#include <array>
#include <cstddef>

#include "base/memory.h"
#include "metrics/float_ssim/rows.h"
#include "metrics/float_ssim/sums.h"

namespace acuity::float_ssim {

class Scale {
 public:
  /// Both sides have at least kWindow samples.
  Scale(int width, int height, Arena& arena);
  static size_t bytes(int width);

  /// Forgets the rows before.
  void begin();
  /// The next row of either picture, padded.
  void push(const float* reference, const float* distorted);
  /// After the last row.
  Similarity similarity() const;

 private:
  static constexpr int kRing = kTogether + kWindow - 1;
  float* line(int moment, int y) const { return lines_ + static_cast<size_t>(moment * kRing + y % kRing) * stride_; }

  int width_, height_;
  size_t stride_;
  float* lines_;    // means along the last rows
  float* scratch_;  // three rows
  ColumnSums columns_{};
  int rows_ = 0, compared_ = 0;
  Sums sums_{};
};

/// Halves a picture as its rows come.
class Halver {
 public:
  Halver(int width, int height, Arena& arena);
  static size_t bytes(int width);
  static int half(int side) { return side / 2 + side % 2; }

  void begin();
  void push(const float* row);
  /// Whether rows pushed so far make another; if so, makes it.
  bool pull(float* out);

 private:
  static constexpr int kReach = 4;   // rows above and below
  static constexpr int kInWork = 6;  // halved rows that a row is part of, and one that is finished
  HalvedRow halved(int y) const;
  void add(int y);

  int width_, height_;
  size_t stride_;
  float *even_, *odd_;
  float* sums_;  // of kInWork rows, and of one that is thrown away
  int rows_ = 0, made_ = 0;
};

}  // namespace acuity::float_ssim

#endif
