// SPDX-License-Identifier: BSD-2-Clause-Patent
// Planes made larger or smaller before a feature looks at them, with libvmaf's arithmetic.
#ifndef ACUITY_FRAMES_FRAME_SCALING_H
#define ACUITY_FRAMES_FRAME_SCALING_H

#include <span>
#include <string>
#include <vector>

namespace acuity {

inline constexpr int kMostScalingTaps = 9;

/// Which samples, each with a weight, make one of a scaled side: `count` for each place.
struct ScalingTaps {
  int count = 1;
  std::vector<int> places;
  std::vector<float> weights;

  size_t bytes() const { return places.size() * sizeof(int) + weights.size() * sizeof(float); }
};

/// `method` is nearest, bilinear, bicubic or lanczos4.
ScalingTaps scaling_taps(const std::string& method, int from, int to);

/// The samples `needed` of row y: `rows` are those that lines.places tells for it, all of the same method.
void scale_row(const float* const* rows, const ScalingTaps& lines, int y, const ScalingTaps& columns,
               std::span<const int> needed, float* out);

}  // namespace acuity

#endif
