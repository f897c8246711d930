// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/butteraugli/parameters.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "metrics/butteraugli/blurs.h"

namespace acuity::butteraugli {
namespace {

// The weights of malta_input for a subband. `length` figures are those of libjxl: a factor for the number of samples in
// a line, and the norm that malta_input divides by.
Weights malta_weights(double symmetric, double one_sided, double norm, double length_factor) {
  constexpr double kSymmetric = 0.5;
  constexpr double kOneSided = 0.33f;
  constexpr double kLength = 2 * 3.75 + 1;
  return {static_cast<float>(length_factor * std::sqrt(kSymmetric * symmetric) / kLength * norm),
          static_cast<float>(length_factor * std::sqrt(kOneSided * one_sided) / kLength * norm)};
}

// Four fifths of a weight, which is rounded to float first. Not inlined: GCC 12 would vectorise two of these next to
// each other, and leave that rounding out.
[[gnu::noinline]] float four_fifths(double weight) { return static_cast<float>(static_cast<float>(weight) * 0.8); }

#define WEIGHT_OF_TAP(AT, i, weight) weight,
constexpr float kLow[] = {BLUR_LOW_EACH(WEIGHT_OF_TAP, )};
constexpr float kMiddle[] = {BLUR_MIDDLE_EACH(WEIGHT_OF_TAP, )};
constexpr float kHigh[] = {BLUR_HIGH_EACH(WEIGHT_OF_TAP, )};
constexpr float kMask[] = {BLUR_MASK_EACH(WEIGHT_OF_TAP, )};

std::span<const float> weights_of(Blur blur) {
  switch (blur) {
    case Blur::low:
      return kLow;
    case Blur::middle:
      return kMiddle;
    case Blur::high:
      return kHigh;
    case Blur::mask:
      return kMask;
  }
  return {};
}

}  // namespace

Parameters make_parameters(float hf_asymmetry, float xmul) {
  constexpr double kNineSamples = 0.39905817637;
  constexpr double kFiveSamples = 0.611612573796;
  const double ultra = hf_asymmetry;
  const double high = std::sqrt(hf_asymmetry);
  const auto pixel = [&](double weight) {
    return Weights{four_fifths(weight * hf_asymmetry), four_fifths(weight / hf_asymmetry)};
  };
  Parameters parameters;
  parameters.malta_ultra_x = malta_weights(173.5 * ultra, 173.5 / ultra, 5.0, kNineSamples);
  parameters.malta_ultra_y = malta_weights(1.10039032555 * ultra, 1.10039032555 / ultra, 71.7800275169, kNineSamples);
  parameters.malta_high_x = malta_weights(6923.99476109 * high, 6923.99476109 / high, 8051.15833247, kFiveSamples);
  parameters.malta_high_y = malta_weights(18.7237414387 * high, 18.7237414387 / high, 4498534.45232, kFiveSamples);
  parameters.pixel_high_x = pixel(400.0);
  parameters.pixel_high_y = pixel(1.50815703118);
  parameters.xmul = xmul;
  return parameters;
}

float blur_edge_scale(Blur blur, int position, int size) {
  const std::span<const float> weights = weights_of(blur);
  const int radius = static_cast<int>(weights.size()) / 2;
  float sum = 0;
  for (int i = std::max(-radius, -position); i <= std::min(radius, size - 1 - position); ++i) {
    sum += weights[static_cast<size_t>(i + radius)];
  }
  return 1.0f / sum;
}

}  // namespace acuity::butteraugli
