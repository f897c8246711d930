// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the arithmetic of math.h is given by the host, alike on every device.
#ifndef ACUITY_METRICS_BUTTERAUGLI_PARAMETERS_H
#define ACUITY_METRICS_BUTTERAUGLI_PARAMETERS_H

#include <vector>

namespace acuity::butteraugli {

/// Smaller pictures, and halves, are not looked at.
inline constexpr int kMinimumSide = 8;

struct Size {
  int width = 0;
  int height = 0;
};

/// Each side halved, rounded up.
inline Size half(Size size) { return {(size.width + 1) / 2, (size.height + 1) / 2}; }
inline bool large_enough(Size size) { return size.width >= kMinimumSide && size.height >= kMinimumSide; }

/// Weights of a difference: of itself, and of what lies beyond a range on one side.
struct Weights {
  float symmetric = 0;
  float one_sided = 0;
};

/// The weights that depend on options; all others are in math.h.
struct Parameters {
  Weights malta_ultra_x, malta_ultra_y, malta_high_x, malta_high_y;  // of malta_input
  Weights pixel_high_x, pixel_high_y;                                // of high_difference
  float xmul = 1;
};
Parameters make_parameters(float hf_asymmetry, float xmul);

/// The blurs of math.h that are cut at the edges.
enum class Blur { low, middle, high, mask };
/// What BLUR_*_EDGE multiplies the sum at `position` of a row or column of `size` samples by.
float blur_edge_scale(Blur blur, int position, int size);

}  // namespace acuity::butteraugli

#endif
