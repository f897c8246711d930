// SPDX-License-Identifier: BSD-2-Clause-Patent
// From a plane of samples to a small picture: scaled on request, blurred, every 16th sample of every 16th row, and
// the local mean taken away. Of the blur only what is kept is computed.
#ifndef ACUITY_METRICS_SPEED_SHRINK_H
#define ACUITY_METRICS_SPEED_SHRINK_H

#include <string>
#include <vector>

#include "acuity/frame.h"
#include "base/memory.h"
#include "frames/frame_scaling.h"

namespace acuity::speed {

/// What is looked at: a plane, or how it differs from another one.
struct PlaneReader {
  const FrameView* frame = nullptr;
  const FrameView* subtracted = nullptr;  // may be null
  int plane = 0;
};

struct Geometry {
  int width = 0;  // of the plane
  int height = 0;
  int scaled_width = 0;
  int scaled_height = 0;
  bool scaled = false;
  int small_width = 0;
  int small_height = 0;
};
Geometry geometry_of(int width, int height, double prescale);

/// Of the blur, of the local mean, and of the scaling; the last have none where there is no scaling.
struct ShrinkTaps {
  std::vector<float> blur, local;
  ScalingTaps columns, lines;
};
/// `method` is nearest, bilinear, bicubic or lanczos4.
ShrinkTaps shrink_taps(const Geometry& geometry, double kernel_scale, const std::string& method);

class Shrinker {
 public:
  static Result<Shrinker> create(const Geometry& geometry, ShrinkTaps taps);

  /// Floats in a row of the small picture, of which more than its width may be read.
  ptrdiff_t small_stride() const { return small_stride_; }
  void shrink(const PlaneReader& reader, float* small);
  size_t bytes() const;

 private:
  const float* read(const PlaneReader& reader, int y);
  const float* scaled_row(const PlaneReader& reader, int y, float* room);
  void subtract_local_mean(float* small);

  Geometry geometry_;
  ShrinkTaps taps_;
  std::vector<int> needed_;  // columns of the scaled plane
  ptrdiff_t stride_ = 0, small_stride_ = 0;
  Arena arena_;
  float *source_rows_ = nullptr, *subtracted_row_ = nullptr, *scaled_rows_ = nullptr, *blurred_ = nullptr,
        *means_ = nullptr;
  std::vector<int> held_;  // which row of the plane is where
};

}  // namespace acuity::speed

#endif
