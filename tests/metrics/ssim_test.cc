// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "lang/host.h"
#include "support/features.h"

namespace acuity::tests {
namespace {

using namespace kernel_dialect;
#include "sums/ordered_wide_sums.h"

// As the kernel: run by run, and term by term where the sum may leave its unit.
double sum_by_growth(const std::vector<double>& terms, size_t run, int& plain) {
  double sum = 0;
  for (size_t begin = 0; begin < terms.size(); begin += run) {
    const size_t end = std::min(begin + run, terms.size()), middle = begin + (end - begin) / 3;
    WideGrowth first = no_wide_growth(), second = no_wide_growth();
    const bool has_units = wide_sum_has_units(sum);
    for (size_t i = begin; i < end && has_units; ++i) {
      add_wide_term(i < middle ? first : second, terms[i], wide_units_scale(sum));
    }
    const WideGrowth growth = then_wide_growth(limited_wide(first), limited_wide(second));
    const int64_t units = units_of_wide_sum(sum);
    if (has_units && wide_growth_is_plain(true, units, growth)) {
      sum = wide_sum_of_units(sum, wide_units_after(units, growth));
      ++plain;
      continue;
    }
    for (size_t i = begin; i < end; ++i) sum += terms[i];
  }
  return sum;
}

// Terms of both signs and all magnitudes, many of them in the middle between two units.
TEST(OrderedWideSums, AreThoseOfAPlainLoop) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<double> terms(2000);
    for (double& term : terms) {
      const uint64_t bits = round % 3 == 0 ? random() % 4 : random() % (uint64_t{1} << 53);
      const int exponent = -static_cast<int>(random() % static_cast<uint64_t>(round % 60 + 1)) - round % 40;
      term = std::ldexp(static_cast<double>(bits), exponent);
      if (round % 5 != 0 && random() % 8 == 0) term = -term;
    }
    terms[0] = round % 2 == 0 ? 1e5 : -1e5;
    double expected = 0;
    for (const double term : terms) expected += term;
    int plain = 0;
    for (const size_t run : {1, 7, 16, 30}) EXPECT_EQ(sum_by_growth(terms, run, plain), expected) << round;
    EXPECT_GT(plain, 0);
  }
}

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
