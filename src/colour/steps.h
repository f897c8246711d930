// SPDX-License-Identifier: BSD-2-Clause-Patent
// What is done to pixels between their samples and a metric's working space, as numbers alone, so that vectors of the
// CPU (here) and kernels (device/pixels/reader.h) can do it alike: colour/math.h, compiled for both.
#ifndef ACUITY_COLOUR_STEPS_H
#define ACUITY_COLOUR_STEPS_H

#include <array>

#include "colour/curves.h"

namespace acuity {

struct SampleConversion {
  int curve = CURVE_SCALE;
  float a = 1;            ///< of the curve
  bool to_codes = false;  ///< light to sRGB codes, where nothing mixes channels before
};

struct PixelConversion {
  int steps = 0;  ///< STEP_... added up
  std::array<float, 3> hlg_weights{};
  float hlg_exponent = 0, hlg_scale = 0;
  std::array<float, 9> matrix{};  ///< rows
};

/// Encoded samples of one channel, in place. Where there is a table of floats (colour/samples.h), samples that are
/// codes of some depth are looked up in it.
void decode_samples(const SampleConversion& steps, const float* table, float* samples, int count);

/// Samples divided by the largest one, in place: the quotients of 8-bit samples as the references compute them, and the
/// same for equal samples of other depths.
void settle_fractions(float* quotients, int count);

/// For quotients that are a number of 255ths that number, for others -1, in place.
void find_bytes(float* quotients, int count);

/// Pixels whose samples have been decoded, in place.
void mix_channels(const PixelConversion& steps, float* red, float* green, float* blue, int count);

}  // namespace acuity

#endif
