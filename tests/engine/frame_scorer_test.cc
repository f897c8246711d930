// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "acuity/frame_scorer.h"

#include <gtest/gtest.h>

#include "acuity/scorer.h"
#include "support/synthetic_video.h"

namespace acuity {
namespace {

const tests::SyntheticClip& clip() {
  static const tests::SyntheticClip drawn = tests::synthetic_clip("synth_96x64_30f_8bit_420");
  return drawn;
}

FrameScorerOptions options(std::vector<FrameMetricRequest> metrics, int threads = 2) {
  return {.metrics = std::move(metrics), .width = 96, .height = 64, .threads = threads};
}

const FrameMetricRequest kMotion{"motion", {{"motion_five_frame_window", "true"}, {"motion_moving_average", "true"}}};
const FrameMetricRequest kFloatMotion{"float_motion"}, kPsnr{"psnr_yuv", {{"enable_apsnr", "true"}}};

// Frames of which `scored` says so; those far from all of them are not even pushed.
std::vector<FrameScore> score(const FrameScorerOptions& how, const std::vector<bool>& scored) {
  Result<FrameScorer> scorer = FrameScorer::create(how);
  EXPECT_TRUE(scorer.ok()) << scorer.status().message();
  if (!scorer.ok()) return {};
  for (size_t i = 0; i < scored.size(); ++i) {
    const FrameView reference = clip().reference[i].view(), distorted = clip().distorted[i].view();
    bool near = false;
    for (size_t k = 0; k < scored.size(); ++k) {
      const size_t apart = k > i ? k - i : i - k;
      near = near || (scored[k] && apart <= FrameScorer::kNeighbours);
    }
    if (!near) continue;
    const Status pushed = scored[i] ? scorer->push(reference, distorted) : scorer->push_neighbour(reference, distorted);
    EXPECT_TRUE(pushed.ok()) << pushed.message();
  }
  Result<std::vector<FrameScore>> scores = scorer->finish();
  EXPECT_TRUE(scores.ok()) << scores.status().message();
  return scores.ok() ? std::move(*scores) : std::vector<FrameScore>();
}

TEST(FrameScorer, PartsGiveWhatTheWholeGives) {
  const std::vector<FrameScore> whole = score(options({kMotion, kFloatMotion, kPsnr}), std::vector<bool>(30, true));
  for (const auto& [first, end, every] :
       std::vector<std::array<size_t, 3>>{{0, 30, 2}, {11, 13, 1}, {20, 30, 1}, {0, 30, 25}}) {
    std::vector<bool> scored(30, false);
    for (size_t i = first; i < end; i += every) scored[i] = true;
    const std::vector<FrameScore> part = score(options({kMotion, kFloatMotion, kPsnr}, 3), scored);
    ASSERT_EQ(part.size(), whole.size());
    for (size_t m = 0; m < part.size(); ++m) {
      for (size_t o = 0; o < part[m].outputs.size(); ++o) {
        size_t next = 0;
        for (size_t i = first; i < end; i += every) {
          EXPECT_EQ(part[m].outputs[o].values.at(next++), whole[m].outputs[o].values[i])
              << part[m].outputs[o].name << " of frame " << i << " from " << first << " every " << every;
        }
      }
    }
  }
}

TEST(FrameScorer, ThreadsChangeNothing) {
  const std::vector<bool> all(30, true);
  const std::vector<FrameScore> expected = score(options({kMotion, kPsnr}, 1), all);
  for (const int threads : {2, 5}) {
    const std::vector<FrameScore> found = score(options({kMotion, kPsnr}, threads), all);
    for (size_t m = 0; m < found.size(); ++m) {
      for (size_t o = 0; o < found[m].outputs.size(); ++o) {
        EXPECT_EQ(found[m].outputs[o].values, expected[m].outputs[o].values);
      }
    }
    ASSERT_EQ(found[1].aggregates.size(), 3u);
    EXPECT_EQ(found[1].aggregates[0].value, expected[1].aggregates[0].value);
  }
}

// The second of two equal requests finds its work done.
TEST(FrameScorer, WhatIsSharedIsMeasuredOnce) {
  const std::vector<FrameScore> scores = score(options({kPsnr, kPsnr, {"psnr_yuv"}}), std::vector<bool>(5, true));
  ASSERT_EQ(scores.size(), 3u);
  EXPECT_GT(scores[0].provenance.timing_ms[0].value, 0);
  EXPECT_EQ(scores[1].provenance.timing_ms[0].value, 0);
  EXPECT_GT(scores[2].provenance.timing_ms[0].value, 0);
  EXPECT_EQ(scores[0].outputs[0].values, scores[1].outputs[0].values);
  EXPECT_EQ(scores[0].provenance.threads, 2);
  EXPECT_EQ(scores[0].provenance.metric_version.empty(), false);
}

TEST(FrameScorer, RefusesWhatMakesNoSense) {
  const auto message = [](const FrameScorerOptions& how) {
    const Result<FrameScorer> scorer = FrameScorer::create(how);
    EXPECT_EQ(scorer.status().code(), StatusCode::usage);
    return scorer.status().message();
  };
  EXPECT_EQ(message(options({})), "no metric is given; metrics() lists those there are");
  EXPECT_EQ(message(options({{"mse"}})), "there is no metric of frames 'mse'; metrics() lists those there are");
  EXPECT_EQ(message(options({{"psnr_yuv", {{"x", "1"}}}})).find("psnr_yuv has no option 'x'"), 0u);
  EXPECT_EQ(message(options({kPsnr}, -1)), "-1 threads make no sense; use 0 for one a core, or more");
  FrameScorerOptions deep = options({kPsnr});
  deep.depth = 17;
  EXPECT_EQ(message(deep), "17 bits a sample make no sense; use 8 to 16");
  EXPECT_EQ(Scorer::create({.metrics = {"motion"}}, 64, 64).status().message(),
            "motion works on frames of video; use FrameScorer");
}

TEST(FrameScorer, EndsOnce) {
  Result<FrameScorer> empty = FrameScorer::create(options({kPsnr}));
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty->finish().status().message(), "no frame was pushed, so that there is nothing to score");
  Result<FrameScorer> scorer = FrameScorer::create(options({kPsnr}));
  ASSERT_TRUE(scorer.ok());
  const FrameView frame = clip().reference[0].view();
  EXPECT_TRUE(scorer->push(frame, frame).ok());
  EXPECT_TRUE(scorer->finish().ok());
  EXPECT_EQ(scorer->push(frame, frame).code(), StatusCode::usage);
  EXPECT_EQ(scorer->finish().status().code(), StatusCode::usage);
}

}  // namespace
}  // namespace acuity
