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
#include "sums/ordered_sums.h"

// As the kernel: run by run, and term by term where the unit of the sum changes.
float sum_by_growth(const std::vector<float>& terms, size_t run) {
  float sum = 0;
  for (size_t begin = 0; begin < terms.size(); begin += run) {
    const size_t end = std::min(begin + run, terms.size()), middle = begin + (end - begin) / 3;
    if (sum_has_units(sum)) {
      SumGrowth first = no_growth(), second = no_growth();
      for (size_t i = begin; i < end; ++i) add_term(i < middle ? first : second, terms[i], units_scale(sum));
      const int units = units_after(units_of_sum(sum), then_growth(limited(first), limited(second)));
      if (units < SUM_UNITS_END) {
        sum = sum_of_units(sum, units);
        continue;
      }
    }
    for (size_t i = begin; i < end; ++i) sum += terms[i];
  }
  return sum;
}

// Terms of all magnitudes, and ones that often lie in the middle between two units.
TEST(OrderedSums, AreThoseOfAPlainLoop) {
  std::mt19937 random(5);
  for (int round = 0; round < 400; ++round) {
    std::vector<float> terms(3000);
    const int widest = round % 40;
    for (float& term : terms) {
      const int exponent = -static_cast<int>(random() % static_cast<unsigned>(widest + 1));
      const uint32_t bits = round % 3 == 0 ? random() % 4 : random() % (1 << 24);
      term = std::ldexp(static_cast<float>(bits), exponent - round % 30);
    }
    float expected = 0;
    for (const float term : terms) expected += term;
    for (const size_t run : {1, 7, 32, 60}) EXPECT_EQ(sum_by_growth(terms, run), expected) << round;
  }
}

TEST(PsnrHvs, EqualsLibvmaf) { expect_golden("psnr_hvs", "psnr_hvs", {}, 0); }

// libvmaf leaves out the last column and row of the colour planes of such frames.
TEST(PsnrHvs, TakesOddSizes) {
  expect_values("psnr_hvs", "synth_321x181_2f_12bit_420", {}, "psnr_hvs_cb", {36.374245878086484, 35.771724688448153},
                0);
  expect_values("psnr_hvs", "synth_97x50_2f_8bit_422", {}, "psnr_hvs", {32.926209788922407, 33.027399655209173}, 0);
}

// A difference of 128 codes everywhere is one of 1024 in the first coefficient, which nothing hides; give or take one,
// for the transform rounds.
TEST(PsnrHvs, OfFlatFramesIsThatOfTheirMeans) {
  SyntheticClip clip = synthetic_clip("synth_64x64_1f_8bit_444");
  for (size_t p = 0; p < 3; ++p) {
    std::fill(clip.reference[0].planes[p].begin(), clip.reference[0].planes[p].end(), uint8_t{50});
    std::fill(clip.distorted[0].planes[p].begin(), clip.distorted[0].planes[p].end(), uint8_t{178});
  }
  const FeatureValues values = measure_clip("psnr_hvs", clip);
  EXPECT_NEAR(values.frames.at("psnr_hvs_y")[0], 20 * std::log10(255 / 128.0 / 1.6193873005), 0.009);
  EXPECT_NEAR(values.frames.at("psnr_hvs_cb")[0], 20 * std::log10(255 / 128.0 / 1.91113096927), 0.009);
  EXPECT_NEAR(values.frames.at("psnr_hvs_cr")[0], 20 * std::log10(255 / 128.0 / 2.03871978502), 0.009);
}

TEST(PsnrHvs, OfIdenticalFramesIsTheLargestThereIs) {
  SyntheticClip clip = synthetic_clip("synth_64x64_1f_10bit_420");
  clip.distorted = clip.reference;
  for (const auto& [name, frames] : measure_clip("psnr_hvs", clip).frames) EXPECT_EQ(frames[0], 200) << name;
}

// Rows of blocks that fill vectors, that do not, and a single block.
TEST(PsnrHvs, IsTheSameOnAllTargets) {
  for (const std::string clip : {"synth_322x182_2f_8bit_420", "synth_230x51_2f_10bit_422", "synth_9x8_2f_12bit_444"}) {
    expect_same_on_all_targets("psnr_hvs", clip);
  }
}

TEST(PsnrHvs, RefusesWhatItCannotRead) {
  expect_refused("psnr_hvs", {.width = 64, .height = 64, .depth = 16}, "8, 9, 10, 11, 12 bits");
  expect_refused("psnr_hvs", {.width = 64, .height = 64, .subsampling = Subsampling::grey}, "grey");
  expect_refused("psnr_hvs", {.width = 15, .height = 64}, "at least 16 x 16");
  expect_refused("psnr_hvs", {.width = 64, .height = 7, .subsampling = Subsampling::yuv444}, "at least 8 x 8");
}

}  // namespace
}  // namespace acuity::tests
