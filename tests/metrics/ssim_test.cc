// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <gtest/gtest.h>

#include "support/features.h"

namespace acuity::tests {
namespace {

// The definition, with loops over all taps.
double plain_ssim(const FrameView& a, const FrameView& b) {
  constexpr int64_t kTaps[9] = {2, 9, 28, 55, 68, 55, 28, 9, 2};
  const auto sample = [](const FrameView& frame, int x, int y) -> int64_t {
    const std::byte* row = frame.planes[0] + y * frame.row_strides[0];
    return frame.depth == 8 ? reinterpret_cast<const uint8_t*>(row)[x] : reinterpret_cast<const uint16_t*>(row)[x];
  };
  const double peak = (1 << a.depth) - 1;
  double sum = 0, weights = 0;
  for (int y = 0; y < a.height; ++y) {
    for (int x = 0; x < a.width; ++x) {
      int64_t mean_a = 0, mean_b = 0, aa = 0, ab = 0, bb = 0, weight = 0;
      for (int v = std::max(0, y - 4); v <= std::min(a.height - 1, y + 4); ++v) {
        for (int u = std::max(0, x - 4); u <= std::min(a.width - 1, x + 4); ++u) {
          const int64_t tap = kTaps[v - y + 4] * kTaps[u - x + 4], p = sample(a, u, v), q = sample(b, u, v);
          mean_a += tap * p;
          mean_b += tap * q;
          aa += tap * p * p;
          ab += tap * p * q;
          bb += tap * q * q;
          weight += tap;
        }
      }
      const auto w = static_cast<double>(weight), p = static_cast<double>(mean_a), q = static_cast<double>(mean_b);
      const double c1 = peak * peak * (0.01 * 0.01) * w * w, c2 = peak * peak * (0.03 * 0.03) * w * w;
      const double covariance = static_cast<double>(ab) * w - p * q;
      const double variances = static_cast<double>(aa) * w - p * p + static_cast<double>(bb) * w - q * q;
      sum += w * (2 * p * q + c1) * (c2 + 2 * covariance) / ((p * p + q * q + c1) * (variances + c2));
      weights += w;
    }
  }
  return sum / weights;
}

TEST(Ssim, EqualsTheFork) { expect_golden("ssim", "ssim", {}, 0); }

TEST(Ssim, EqualsItsDefinitionAtAnySize) {
  for (const char* name : {"synth_1x1_1f_8bit_444", "synth_1x9_1f_8bit_444", "synth_5x3_1f_10bit_444",
                           "synth_17x8_1f_8bit_420", "synth_33x31_1f_12bit_420", "synth_64x50_1f_8bit_422"}) {
    const SyntheticClip clip = synthetic_clip(name);
    const double expected = plain_ssim(clip.reference[0].view(), clip.distorted[0].view());
    EXPECT_EQ(measure_clip("ssim", clip).frames.at("ssim").at(0), expected) << name;
  }
}

TEST(Ssim, OfIdenticalFramesIsOne) {
  SyntheticClip clip = synthetic_clip("synth_64x50_2f_8bit_420");
  clip.distorted = clip.reference;
  EXPECT_NEAR(measure_clip("ssim", clip).frames.at("ssim").at(1), 1, 1e-15);
}

TEST(Ssim, IsTheSameOnAllTargets) {
  expect_same_on_all_targets("ssim", "synth_45x27_2f_8bit_420");
  expect_same_on_all_targets("ssim", "synth_322x182_1f_10bit_422");
  expect_same_on_all_targets("ssim", "synth_33x31_1f_16bit_444");
}

TEST(Ssim, RefusesOtherDepths) { expect_refused("ssim", {.width = 64, .height = 64, .depth = 9}, "8, 10, 12, 16"); }

}  // namespace
}  // namespace acuity::tests
