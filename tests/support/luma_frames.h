// SPDX-License-Identifier: BSD-2-Clause-Patent
// Frames of luma for tests of features that look at nothing else.
#ifndef ACUITY_TESTS_SUPPORT_LUMA_FRAMES_H
#define ACUITY_TESTS_SUPPORT_LUMA_FRAMES_H

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/features.h"

namespace acuity::tests {

/// Luma made by a function of the place; grey, for nothing else counts.
template <class Function>
OwnedFrame draw_luma(int width, int height, int depth, const Function& code) {
  OwnedFrame frame;
  frame.format.width = width;
  frame.format.height = height;
  frame.format.depth = depth;
  frame.format.subsampling = Subsampling::grey;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int value = code(x, y);
      frame.planes[0].push_back(static_cast<uint8_t>(value & 255));
      if (depth > 8) frame.planes[0].push_back(static_cast<uint8_t>(value >> 8));
    }
  }
  return frame;
}

/// Black and white by chance, a tenth of it the other way round in the distorted frame: details as strong as can be.
/// The standard says all values of the generator.
inline SyntheticClip black_and_white_noise(int depth) {
  constexpr int kWidth = 101, kHeight = 67;
  std::minstd_rand random(1);
  const int white = (1 << depth) - 1;
  std::vector<bool> is_white;
  SyntheticClip clip;
  clip.reference.push_back(draw_luma(kWidth, kHeight, depth, [&](int, int) {
    is_white.push_back(random() % 2 != 0);
    return is_white.back() ? white : 0;
  }));
  clip.distorted.push_back(draw_luma(kWidth, kHeight, depth, [&](int x, int y) {
    return is_white[static_cast<size_t>(y * kWidth + x)] != (random() % 10 == 0) ? white : 0;
  }));
  return clip;
}

inline SyntheticClip flat_luma(int depth, int code) {
  SyntheticClip clip;
  clip.reference.push_back(draw_luma(64, 48, depth, [&](int, int) { return code; }));
  clip.distorted = clip.reference;
  return clip;
}

/// The first outputs of the feature for one frame of the synthetic video, in their order.
inline void expect_first_outputs(const std::string& name, const std::vector<OptionValue>& options,
                                 const std::string& first_output, const std::vector<double>& expected,
                                 double tolerance) {
  const SyntheticClip clip = synthetic_clip("synth_320x180_1f_8bit_420");
  const Result<std::unique_ptr<Feature>> feature = create_feature(name, clip.reference[0].format, options);
  ASSERT_TRUE(feature.ok()) << feature.status().message();
  const std::vector<FeatureOutput>& outputs = (*feature)->outputs();
  EXPECT_EQ(outputs[0].name, first_output);
  const FeatureValues values = measure_clip(name, clip, options);
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(values.frames.at(outputs[i].name)[0], expected[i], tolerance) << outputs[i].name;
  }
}

}  // namespace acuity::tests

#endif
