// SPDX-License-Identifier: BSD-2-Clause-Patent
// What is done to pixels between their samples and a metric's working space, as numbers alone, so that vectors of the
// CPU (here) and kernels (metrics/upload.h) can do it alike: colour/math.h, compiled for both.
#ifndef ACUITY_COLOUR_STEPS_H
#define ACUITY_COLOUR_STEPS_H

#include <array>

#include "colour/curves.h"

namespace acuity {

struct SampleSteps {
  int curve = CURVE_SCALE;
  float a = 1, b = 0;     ///< of the curve
  bool to_codes = false;  ///< light to sRGB codes, where nothing mixes channels before
};

struct PixelSteps {
  int steps = 0;  ///< STEP_... added up
  std::array<float, 3> hlg_weights{};
  float hlg_exponent = 0, hlg_scale = 0;
  std::array<float, 9> matrix{};  ///< rows
};

/// Encoded samples of one channel, in place.
void decode_samples(const SampleSteps& steps, float* samples, int count);

/// Pixels whose samples have been decoded, in place.
void mix_channels(const PixelSteps& steps, float* red, float* green, float* blue, int count);

}  // namespace acuity

#endif
