// SPDX-License-Identifier: BSD-2-Clause-Patent
// Many pairs in one call must come out as each of them alone.
#include <cmath>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "acuity/plan.h"
#include "acuity/scorer.h"
#include "engine/metric.h"
#include "support/layouts.h"
#include "support/scoring.h"
#include "support/vulkan_validation.h"
#include "support/slow_machine.h"

namespace acuity {
namespace {

using tests::Sheet;

// Different pictures, so that one pair's score given to another would show.
struct Pairs {
  Pairs(int count, int width, int height) {
    for (int i = 0; i < 2 * count; ++i) {
      sheets.push_back(std::make_unique<Sheet>(tests::Layout{}, width, height, Channels::rgb, [i](int c, int x, int y) {
        const double wave = 0.5 + 0.3 * std::sin(0.2 * x + 0.1 * y * (c + 1) + i / 2);
        return i % 2 == 0 ? wave : std::floor(wave * (i + 8)) / (i + 8);
      }));
    }
    for (size_t i = 0; i < sheets.size(); i += 2) views.push_back({sheets[i]->view, sheets[i + 1]->view});
  }
  std::vector<std::unique_ptr<Sheet>> sheets;
  std::vector<InputPair> views;
};

void expect_as_alone(const ScorerOptions& options, const Pairs& pairs, int width, int height) {
  Result<Scorer> alone = Scorer::create(options, width, height), together = Scorer::create(options, width, height);
  ASSERT_TRUE(alone.ok() && together.ok()) << together.status().message();
  std::vector<Score> expected;
  for (const InputPair& pair : pairs.views) {
    expected.push_back(tests::checked(tests::only(alone->score(pair.reference, pair.distorted))));
  }
  for (int round = 0; round < 2; ++round) {
    const Result<std::vector<Result<std::vector<Score>>>> scores = together->score_many(pairs.views);
    ASSERT_TRUE(scores.ok()) << scores.status().message();
    ASSERT_EQ(scores->size(), pairs.views.size());
    for (size_t i = 0; i < pairs.views.size(); ++i) {
      const Result<Score> found = tests::only((*scores)[i]);
      ASSERT_TRUE(found.ok()) << found.status().message();
      tests::expect_same(*found, expected[i], options.metrics[0].metric + " of pair " + std::to_string(i));
      EXPECT_EQ(found->provenance.device, expected[i].provenance.device);
    }
  }
}

TEST(ScoreMany, IsScoringAloneOnTheCpu) {
  const Pairs pairs(7, 70, 41);
  for (const MetricInfo& metric : metrics()) {
    if (metric.is_frame_metric) continue;
    for (const int threads : {1, 2, 8}) {
      expect_as_alone({.metrics = {metric.name}, .device = "cpu", .threads = threads}, pairs, 70, 41);
    }
  }
}

TEST(ScoreMany, IsScoringAloneOnAGpu) {
  const Pairs pairs(11, 70, 41);
  for (const MetricEntry& entry : registry()) {
    if (!entry.on_gpu || tests::is_left_out_on_gpu(entry.info.name)) continue;
    expect_as_alone({.metrics = {entry.info.name}, .device = "vulkan"}, pairs, 70, 41);
  }
}

// A device with memory for one pair, and that in strips.
TEST(ScoreMany, ACappedGpuScoresInStrips) {
  constexpr int kWidth = 180, kHeight = 300;
  for (const MetricEntry& entry : registry()) {
    if (!entry.on_gpu || tests::is_left_out_on_gpu(entry.info.name)) continue;
    const Pairs pairs(2, kWidth, kHeight);  // on the device while they are there
    ScorerOptions options{.metrics = {entry.info.name}, .device = "vulkan", .memory = MemoryMode::strip(64)};
    options.vram_cap_bytes = plan_memory(options, kWidth, kHeight)->pair.device;
    options.memory = MemoryMode::full();
    const bool fits = plan_memory(options, kWidth, kHeight)->pair.device <= options.vram_cap_bytes;
    options.memory = MemoryMode::automatic();
    Result<Scorer> capped = Scorer::create(options, kWidth, kHeight);
    ASSERT_TRUE(capped.ok()) << capped.status().message();
    Result<Scorer> alone = Scorer::create({.metrics = options.metrics, .device = "cpu"}, kWidth, kHeight);
    const auto scores = capped->score_many(pairs.views);
    ASSERT_TRUE(scores.ok() && alone.ok());
    for (size_t i = 0; i < pairs.views.size(); ++i) {
      const Score found = tests::checked(tests::only((*scores)[i]));
      tests::expect_same(found,
                         tests::checked(tests::only(alone->score(pairs.views[i].reference, pairs.views[i].distorted))),
                         entry.info.name);
      EXPECT_EQ(found.provenance.memory_mode.substr(0, 5), fits ? "full" : "strip") << entry.info.name;
    }
    options.vram_cap_bytes = 1000;
    const Status refused = Scorer::create(options, kWidth, kHeight).status();
    EXPECT_EQ(refused.code(), StatusCode::too_big) << refused.message();
    EXPECT_NE(refused.message().find(" are available"), std::string::npos) << refused.message();
  }
}

TEST(ScoreMany, LargePicturesToo) {
  const Pairs pairs(2, 1040, 1030);
  expect_as_alone({.metrics = {"mse"}, .device = "cpu"}, pairs, 1040, 1030);
  expect_as_alone({.metrics = {"mse"}, .device = "vulkan"}, pairs, 1040, 1030);
}

TEST(ScoreMany, ABadPairFailsAlone) {
  Pairs pairs(4, 70, 41);
  const Pairs other(1, 30, 30);
  pairs.views[2].distorted = other.views[0].distorted;
  Result<Scorer> scorer = Scorer::create({.metrics = {"psnr"}, .threads = 3}, 70, 41);
  ASSERT_TRUE(scorer.ok());
  const Result<std::vector<Result<std::vector<Score>>>> scores = scorer->score_many(pairs.views);
  ASSERT_TRUE(scores.ok());
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ((*scores)[i].ok(), i != 2);
  EXPECT_EQ((*scores)[2].status().code(), StatusCode::input);
  EXPECT_EQ(scorer->score_many({})->size(), 0u);
}

TEST(ScoreMany, ToldOnceWhatCameBefore) {
  const Pairs pairs(5, 70, 41);
  Result<Scorer> scorer = Scorer::create({.metrics = {"mse"}, .device = "cpu", .threads = 2}, 70, 41);
  ASSERT_TRUE(scorer.ok());
  const Result<std::vector<Result<std::vector<Score>>>> scores = scorer->score_many(pairs.views);
  ASSERT_TRUE(scores.ok());
  int told = 0;
  for (const auto& score : *scores) told += static_cast<int>(score->front().provenance.timing_ms.size()) - 1;
  EXPECT_LE(told, 1);
}

}  // namespace
}  // namespace acuity
