// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "acuity/scorer.h"
#include "lang/targets.h"
#include "sums/tiles.h"
#include "support/layouts.h"
#include "support/scoring.h"

namespace acuity {
namespace {

using tests::arrangements;
using tests::Layout;
using tests::numbers;
using tests::output;
using tests::score_pair;
using tests::Sheet;

constexpr Layout kBytes{SampleType::u8, 8};

// Larger than one tile, and not a multiple of it.
constexpr int kWidth = 77, kHeight = 150;

double reference_content(int c, int x, int y) { return (x * 31 + y * 17 + c * 83) % 256 / 255.0; }
double distorted_content(int c, int x, int y) {
  const int code = (x * 31 + y * 17 + c * 83) % 256;
  return std::abs(code - (x * y + c) % 7) / 255.0;
}

TEST(Mse, KnownValues) {
  const Sheet reference(kBytes, 2, 2, Channels::rgb, [](int, int, int) { return 100 / 255.0; });
  // Red is off by 3 in one of four pixels, green by 1 everywhere.
  const Sheet distorted(kBytes, 2, 2, Channels::rgb, [](int c, int x, int y) {
    return (100 + (c == 0 && x == 1 && y == 0 ? 3 : 0) - (c == 1 ? 1 : 0)) / 255.0;
  });
  const Score mse = score_pair(reference.view, distorted.view, {.metrics = {"mse"}, .want_map = true});
  EXPECT_EQ(mse.value, (9 + 4) / 12.0);
  EXPECT_EQ(output(mse, "mse_r"), 9 / 4.0);
  EXPECT_EQ(output(mse, "mse_g"), 1);
  EXPECT_EQ(output(mse, "mse_b"), 0);
  const float third = 1.0f / 3.0f;
  EXPECT_EQ(mse.map.values, (std::vector<float>{third, 10.0f / 3.0f, third, third}));

  const Score psnr = score_pair(reference.view, distorted.view, {.metrics = {"psnr"}});
  EXPECT_NEAR(psnr.value, 10 * std::log10(65025 * 12 / 13.0), 1e-12);
  EXPECT_NEAR(output(psnr, "psnr_r"), 10 * std::log10(65025 * 4 / 9.0), 1e-12);
  EXPECT_NEAR(output(psnr, "psnr_g"), 48.13080360867910, 1e-12);
  EXPECT_EQ(output(psnr, "psnr_b"), 100);
  EXPECT_EQ(output(psnr, "mse"), mse.value);
  EXPECT_TRUE(psnr.map.values.empty());
}

TEST(Mse, BlackAgainstWhiteIsTheLargestError) {
  const Sheet black(kBytes, 40, 70, Channels::rgb, [](int, int, int) { return 0; });
  const Sheet white(kBytes, 40, 70, Channels::rgb, [](int, int, int) { return 1; });
  EXPECT_EQ(score_pair(black.view, white.view, {.metrics = {"mse"}}).value, 65025);
  EXPECT_EQ(score_pair(black.view, white.view, {.metrics = {"psnr"}}).value, 0);
}

TEST(Mse, IdenticalPictures) {
  const Sheet sheet(kBytes, kWidth, kHeight, Channels::rgb, reference_content);
  EXPECT_EQ(score_pair(sheet.view, sheet.view, {.metrics = {"mse"}}).value, find_metric("mse")->identical);
  EXPECT_EQ(score_pair(sheet.view, sheet.view, {.metrics = {"psnr"}}).value, find_metric("psnr")->identical);
}

TEST(Mse, PsnrIsNeverAboveItsCap) {
  const Sheet reference({SampleType::f32, 8}, 64, 64, Channels::rgb, reference_content);
  const Sheet distorted({SampleType::f32, 8}, 64, 64, Channels::rgb,
                        [](int c, int x, int y) { return reference_content(c, x, y) + (x + y == 0 ? 1e-6 : 0); });
  const Score psnr = score_pair(reference.view, distorted.view, {.metrics = {"psnr"}});
  EXPECT_GT(output(psnr, "mse"), 0);
  EXPECT_EQ(psnr.value, 100);
}

TEST(Mse, EqualsAPlainSum) {
  const Sheet reference(kBytes, kWidth, kHeight, Channels::rgb, reference_content);
  const Sheet distorted(kBytes, kWidth, kHeight, Channels::rgb, distorted_content);
  int64_t sum = 0;
  for (size_t i = 0; i < reference.memory.size(); ++i) {
    const int difference = std::to_integer<int>(reference.memory[i]) - std::to_integer<int>(distorted.memory[i]);
    sum += difference * difference;
  }
  const Score mse = score_pair(reference.view, distorted.view, {.metrics = {"mse"}, .want_map = true});
  EXPECT_EQ(mse.value, static_cast<double>(sum) / (3.0 * kWidth * kHeight));  // whole numbers, so no rounding
  const double mean = std::accumulate(mse.map.values.begin(), mse.map.values.end(), 0.0) / (kWidth * kHeight);
  EXPECT_NEAR(mean, mse.value, 1e-6 * mse.value);
}

TEST(Mse, ThreadsStripsTargetsAndCachingChangeNothing) {
  // Fractions, so that the order of sums would show.
  const Sheet reference({SampleType::u16, 16}, kWidth, kHeight, Channels::rgb,
                        [](int c, int x, int y) { return std::fmod(0.37 * x + 0.113 * y + 0.2 * c, 1.0); });
  const Sheet distorted({SampleType::u16, 16}, kWidth, kHeight, Channels::rgb,
                        [](int c, int x, int y) { return std::fmod(0.41 * x + 0.117 * y + 0.3 * c, 1.0); });
  for (const char* metric : {"mse", "psnr"}) {
    const std::vector<double> expected =
        numbers(score_pair(reference.view, distorted.view, {.metrics = {metric}, .threads = 1, .want_map = true}));
    for (int threads : {1, 2, 3, 8}) {
      for (const MemoryMode& memory : {MemoryMode::automatic(), MemoryMode::full(), MemoryMode::strip(1),
                                       MemoryMode::strip(50), MemoryMode::strip(64)}) {
        const ScorerOptions options{.metrics = {metric}, .memory = memory, .threads = threads, .want_map = true};
        EXPECT_EQ(numbers(score_pair(reference.view, distorted.view, options)), expected) << metric << " " << threads;
      }
    }
    for (const std::string& target : cpu_targets()) {
      ASSERT_TRUE(limit_cpu(target).ok());
      EXPECT_EQ(numbers(score_pair(reference.view, distorted.view, {.metrics = {metric}, .want_map = true})), expected)
          << target;
    }
    ASSERT_TRUE(limit_cpu("").ok());

    Result<Scorer> scorer = Scorer::create({.metrics = {metric}, .want_map = true}, kWidth, kHeight);
    Reference prepared;
    {
      const Sheet gone({SampleType::u16, 16}, kWidth, kHeight, Channels::rgb,
                       [](int c, int x, int y) { return std::fmod(0.37 * x + 0.113 * y + 0.2 * c, 1.0); });
      prepared = *scorer->prepare(gone.view);
    }
    for (int again = 0; again < 2; ++again) {
      EXPECT_EQ(numbers(tests::checked(tests::only(scorer->score(prepared, distorted.view)))), expected);
    }
  }
}

TEST(Mse, LayoutsChangeNothing) {
  for (const Channels channels : {Channels::grey, Channels::rgb, Channels::rgba}) {
    for (const Layout& type : {kBytes, Layout{SampleType::u16, 16}, Layout{SampleType::f32, 8}}) {
      const Sheet reference(type, kWidth, kHeight, channels, reference_content);
      const Sheet distorted(type, kWidth, kHeight, channels, distorted_content);
      const std::vector<double> expected = numbers(score_pair(reference.view, distorted.view, {.metrics = {"mse"}}));
      for (const Layout& layout : arrangements(type.type, type.depth)) {
        const Sheet a(layout, kWidth, kHeight, channels, reference_content);
        EXPECT_EQ(numbers(score_pair(a.view, distorted.view, {.metrics = {"mse"}})), expected) << layout.name();
      }
    }
  }
  // A byte is 257 of 65535, and nothing is lost by that.
  const Sheet a8(kBytes, kWidth, kHeight, Channels::rgb, reference_content),
      b8(kBytes, kWidth, kHeight, Channels::rgb, distorted_content);
  const Sheet a16({SampleType::u16, 16}, kWidth, kHeight, Channels::rgb, reference_content);
  EXPECT_EQ(numbers(score_pair(a16.view, b8.view, {.metrics = {"mse"}})),
            numbers(score_pair(a8.view, b8.view, {.metrics = {"mse"}})));
}

TEST(Mse, AlphaCountsTheWorseOfBlackAndWhite) {
  // Nothing to see on black; on white one is white and the other a fifth darker, up to rounding in float.
  const Sheet clear(kBytes, 8, 8, Channels::rgba, [](int, int, int) { return 0; });
  const Sheet faint(kBytes, 8, 8, Channels::rgba, [](int c, int, int) { return c == 3 ? 51 / 255.0 : 0; });
  const Score mse = score_pair(clear.view, faint.view, {.metrics = {"mse"}});
  EXPECT_NEAR(mse.value, 51.0 * 51.0, 5e-3);
  const std::vector<std::string>& assumptions = mse.provenance.assumptions;
  EXPECT_TRUE(std::any_of(assumptions.begin(), assumptions.end(),
                          [](const std::string& line) { return line.find("black") != std::string::npos; }));

  // An opaque partner is compared with the same two.
  const Sheet white(kBytes, 8, 8, Channels::rgb, [](int, int, int) { return 1; });
  EXPECT_EQ(score_pair(white.view, clear.view, {.metrics = {"mse"}}).value, 65025);
}

TEST(Tiles, TheTreeIsTheContract) {
  // In float, 2^24 + 1 + 1 depends on who is added to whom: the sum must be that of the tree.
  std::array<float, kTileWidth> columns{};
  columns[0] = 16777216;
  columns[1] = 1;
  columns[3] = 1;
  EXPECT_EQ(sum_tile_columns(columns.data()), 16777218.0f);  // 1 and 3 meet before they meet 0
  columns = {};
  columns[0] = 16777216;
  columns[16] = 1;
  columns[8] = 1;
  EXPECT_EQ(sum_tile_columns(columns.data()), 16777216.0f);  // both meet 0, one after the other
}

}  // namespace
}  // namespace acuity
