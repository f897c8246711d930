// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "acuity/frame_scorer.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "acuity/scorer.h"
#include "engine/feature.h"
#include "engine/frame_metric.h"
#include "support/synthetic_video.h"

namespace acuity {
namespace {

const tests::SyntheticClip& clip() {
  static const tests::SyntheticClip drawn = tests::synthetic_clip("synth_96x64_30f_8bit_420");
  return drawn;
}

FrameScorerOptions options(std::vector<FrameMetricRequest> metrics, int threads = 2) {
  return {.metrics = std::move(metrics),
          .format = FrameFormat{{.width = 96, .height = 64}},
          .device = "cpu",
          .threads = threads};
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
      const int after = static_cast<int>(i) - static_cast<int>(k);
      near = near || (scored[k] && after >= -scorer->frames_before() && after <= scorer->frames_after());
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
       std::vector<std::array<size_t, 3>>{{0, 30, 2}, {11, 13, 1}, {20, 30, 1}, {0, 30, 25}, {3, 30, 7}, {1, 30, 9}}) {
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
  EXPECT_EQ(message(options({})), "no metric is given; metrics() lists the metrics of this build");
  EXPECT_EQ(message(options({{"mse"}})), "unknown frame metric 'mse'; metrics() lists the metrics of this build");
  EXPECT_EQ(message(options({{"psnr_yuv", {{"x", "1"}}}})).find("psnr_yuv has no option 'x'"), 0u);
  EXPECT_EQ(message(options({kPsnr}, -1)), "invalid number of threads -1: expected 0, for one per core, or more");
  FrameScorerOptions deep = options({kPsnr});
  deep.format.depth = 17;
  EXPECT_EQ(message(deep), "invalid depth of 17 bits per sample: expected 8 to 16");
  FrameScorerOptions slow = options({kPsnr});
  slow.format.rate = {0, 1};
  EXPECT_EQ(message(slow), "invalid frame rate 0/1: expected a number above 0, or 0/0 if it is unknown");
  FrameScorerOptions unequal = options({kPsnr});
  unequal.distorted_format = unequal.format;
  unequal.distorted_format->full_range = true;
  EXPECT_TRUE(FrameScorer::create(unequal).ok()) << "they may mean something else";
  unequal.distorted_format->height = 66;
  EXPECT_EQ(message(unequal),
            "the reference has 96x64 samples of 8 bits, the distorted video 96x66 of 8 bits or another subsampling; "
            "convert one of them first");
  FrameScorerOptions resized = options({{"cvvdp_video", {{"full_screen", "bilinear"}}}});
  resized.format.rate = {30, 1};
  for (const auto& [width, height] : {std::pair(0, 0), {-5, 64}, {96, -1}, {1 << 21, 64}, {1, 64}}) {
    resized.distorted_format = resized.format;
    resized.distorted_format->width = width;
    resized.distorted_format->height = height;
    EXPECT_EQ(FrameScorer::create(resized).status().code(), StatusCode::input) << width << "x" << height;
  }
  EXPECT_EQ(Scorer::create({.metrics = {"motion"}}, 64, 64).status().message(),
            "motion works on frames of video; use FrameScorer");
}

TEST(FrameScorer, EndsOnce) {
  Result<FrameScorer> empty = FrameScorer::create(options({kPsnr}));
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty->finish().status().message(), "no frame was pushed, so there is nothing to score");
  Result<FrameScorer> scorer = FrameScorer::create(options({kPsnr}));
  ASSERT_TRUE(scorer.ok());
  const FrameView frame = clip().reference[0].view();
  EXPECT_TRUE(scorer->push(frame, frame).ok());
  EXPECT_TRUE(scorer->finish().ok());
  EXPECT_EQ(scorer->push(frame, frame).code(), StatusCode::usage);
  EXPECT_EQ(scorer->finish().status().code(), StatusCode::usage);
}

Status push(FrameScorer& scorer, size_t frame, std::optional<int64_t> number = {}) {
  return scorer.push(clip().reference[frame].view(), clip().distorted[frame].view(), number);
}

TEST(FrameScorer, DeliversEachFrameInOrderLongBeforeTheEnd) {
  for (const int threads : {1, 2, 4}) {
    std::vector<FrameValues> delivered;
    FrameScorerOptions how = options({kPsnr, kMotion, {"vmaf"}}, threads);
    const std::thread::id here = std::this_thread::get_id();
    how.on_scores = [&](const FrameValues& frame) {
      EXPECT_EQ(std::this_thread::get_id(), here);
      delivered.push_back(frame);
    };
    Result<FrameScorer> scorer = FrameScorer::create(how);
    ASSERT_TRUE(scorer.ok()) << scorer.status().message();
    EXPECT_EQ(scorer->frames_after(), 2);
    for (size_t i = 0; i < 20; ++i) {
      ASSERT_TRUE(push(*scorer, i, 1000 + 10 * static_cast<int64_t>(i)).ok());
      // Those that may pass a slow one, and those that wait for frames to come.
      EXPECT_GE(delivered.size() + static_cast<size_t>(threads == 1 ? 0 : 2 * (threads + 1)) + 2, i + 1);
    }
    EXPECT_LT(delivered.size(), 20u);
    const Result<std::vector<FrameScore>> scores = scorer->finish();
    ASSERT_TRUE(scores.ok()) << scores.status().message();
    ASSERT_EQ(delivered.size(), 20u);
    for (size_t i = 0; i < 20; ++i) {
      EXPECT_EQ(delivered[i].number, 1000 + 10 * static_cast<int64_t>(i));
      for (size_t m = 0; m < 3; ++m) {
        const FrameScore& score = (*scores)[m];
        ASSERT_EQ(delivered[i].outputs[m].size(), score.outputs.size());
        EXPECT_EQ(delivered[i].values[m], score.outputs[score.headline].values[i]);
        for (size_t o = 0; o < score.outputs.size(); ++o) {
          EXPECT_EQ(delivered[i].outputs[m][o], score.outputs[o].values[i]);
          EXPECT_EQ(scorer->output_names(m)[o], score.outputs[o].name);
        }
      }
    }
    EXPECT_TRUE(scorer->output_names(3).empty());
  }
}

TEST(FrameScorer, AnswersForAFrameOnceThoseItDependsOnAreThere) {
  Result<FrameScorer> scorer = FrameScorer::create(options({kFloatMotion}, 3));
  ASSERT_TRUE(scorer.ok());
  ASSERT_TRUE(push(*scorer, 0).ok());
  EXPECT_EQ(scorer->score_at(0).status().message(),
            "the values of frame 0 depend on frames after it, up to 1 of them; push them, or call finish()");
  ASSERT_TRUE(scorer->push_neighbour(clip().reference[1].view(), clip().distorted[1].view()).ok());
  ASSERT_TRUE(push(*scorer, 2).ok());
  const Result<FrameValues> first = scorer->score_at(0);
  ASSERT_TRUE(first.ok()) << first.status().message();
  EXPECT_EQ(scorer->score_at(1).status().message(), "frame 1 was not pushed to be scored");
  EXPECT_EQ(scorer->score_at(3).status().code(), StatusCode::usage);
  const Result<std::vector<FrameScore>> scores = scorer->finish();
  ASSERT_TRUE(scores.ok());
  EXPECT_EQ(scorer->score_at(0)->outputs, first->outputs);
  EXPECT_EQ(scorer->score_at(2)->values[0], (*scores)[0].outputs[1].values[1]);
}

TEST(FrameScorer, NumbersOfFramesIncreaseAndAreInMessages) {
  Result<FrameScorer> scorer = FrameScorer::create(options({kPsnr}));
  ASSERT_TRUE(scorer.ok());
  ASSERT_TRUE(push(*scorer, 0, 7).ok());
  EXPECT_EQ(push(*scorer, 1, 7).message(), "frame 7 was pushed after frame 7; numbers of frames must increase");
  EXPECT_EQ(push(*scorer, 1, -1).message(), "invalid frame number -1: expected 0 or more");
  FrameView wrong = clip().reference[0].view();
  wrong.width = 94;
  EXPECT_EQ(scorer->push(wrong, wrong, 12).message().find("the reference frame 12 has 94x64"), 0u);
  EXPECT_TRUE(push(*scorer, 1).ok()) << "a frame that was refused has not been pushed";
  EXPECT_TRUE(scorer->score_at(8).ok());
}

TEST(FrameScorer, CanBeCancelled) {
  for (const int threads : {1, 3}) {
    std::atomic<int64_t> delivered = 0;
    FrameScorerOptions how = options({{"vmaf"}}, threads);
    how.on_scores = [&](const FrameValues&) { ++delivered; };
    Result<FrameScorer> scorer = FrameScorer::create(how);
    ASSERT_TRUE(scorer.ok());
    std::thread other([&] {
      while (delivered < 5) std::this_thread::yield();
      scorer->cancel();
    });
    Status status;
    for (size_t i = 0; status.ok() && i < 1000000; ++i) status = push(*scorer, i % 30);
    other.join();
    EXPECT_EQ(status.code(), StatusCode::cancelled);
    EXPECT_EQ(push(*scorer, 0).code(), StatusCode::cancelled);
    EXPECT_TRUE(scorer->score_at(3).ok()) << "what was delivered stays";
    EXPECT_EQ(scorer->finish().status().code(), StatusCode::cancelled);
  }
}

TEST(FrameScorer, WhatTheCallbackThrowsBecomesAStatus) {
  FrameScorerOptions how = options({kPsnr}, 1);
  how.on_scores = [](const FrameValues&) { throw std::runtime_error("full disk"); };
  Result<FrameScorer> scorer = FrameScorer::create(how);
  ASSERT_TRUE(scorer.ok());
  EXPECT_EQ(push(*scorer, 0).message(), "scoring failed: full disk");
}

TEST(FrameScorer, SaysWhereFeaturesRun) {
  FrameScorerOptions how = options({kPsnr});
  how.device = "tpu";
  EXPECT_EQ(FrameScorer::create(how).status().code(), StatusCode::unknown_device);
  how.device = "auto";
  const std::vector<FrameScore> chosen = score(how, std::vector<bool>(3, true));
  ASSERT_EQ(chosen.size(), 1u);
  EXPECT_TRUE(chosen[0].provenance.device.starts_with("cpu (")) << chosen[0].provenance.device;
  EXPECT_TRUE(chosen[0].provenance.assumptions.back().starts_with(
      "device: auto chose the CPU: it is expected to score the pair in "));
  // Those that have no GPU version yet.
  for (const FeatureEntry& feature : features()) {
    if (feature.on_gpu) continue;
    const std::string& name = feature.info.name;
    how.metrics = {kPsnr, {name}};
    how.format.width = how.format.height = 320;
    how.device = "vulkan";
    EXPECT_EQ(FrameScorer::create(how).status().message(), name + " runs on the CPU only; use the device cpu or auto");
    EXPECT_EQ(FrameScorer::create(how).status().code(), StatusCode::device);
    how.device = "auto";
    Result<FrameScorer> scorer = FrameScorer::create(how);
    ASSERT_TRUE(scorer.ok()) << scorer.status().message();
    const tests::OwnedFrame frame = tests::SyntheticVideo(320, 320, 8, Subsampling::yuv420).reference(0);
    ASSERT_TRUE(scorer->push(frame.view(), frame.view()).ok());
    const Result<std::vector<FrameScore>> scores = scorer->finish();
    ASSERT_TRUE(scores.ok()) << scores.status().message();
    EXPECT_EQ((*scores)[1].provenance.assumptions.back(),
              "device: auto chose the CPU: " + name + " has no GPU version");
  }
}

// What the command does not even read.
// What lists state is what is accepted.
TEST(FrameScorer, TheSmallestFramesAreAsStated) {
  const auto accepts = [](const std::string& metric, int width, int height, bool subsampled = true) {
    FrameScorerOptions how = options({{metric}}, 1);
    how.format.width = width;
    how.format.height = height;
    how.format.rate = {25, 1};
    how.format.subsampling = subsampled ? Subsampling::yuv420 : Subsampling::yuv444;
    return FrameScorer::create(how).ok();
  };
  for (const MetricInfo& metric : metrics()) {
    if (!metric.is_frame_metric || !metric.minimum_says.empty()) continue;
    const int side = metric.minimum_side;
    EXPECT_TRUE(accepts(metric.name, side, side, false)) << metric.name << " of " << side << "x" << side;
    EXPECT_FALSE(accepts(metric.name, side - 1, side - 1, false))
        << metric.name << " of less than " << side << "x" << side;
  }
  EXPECT_TRUE(accepts("psnr_hvs", 8, 8, false) && accepts("psnr_hvs", 16, 16));
  EXPECT_FALSE(accepts("psnr_hvs", 7, 8, false) || accepts("psnr_hvs", 15, 16));
  EXPECT_TRUE(accepts("cambi", 216, 10));
  EXPECT_TRUE(accepts("cambi", 10, 216));
  EXPECT_FALSE(accepts("cambi", 215, 215));
  EXPECT_TRUE(accepts("speed_temporal", 80, 80));
  EXPECT_FALSE(accepts("speed_temporal", 400, 79));
  EXPECT_TRUE(accepts("speed_chroma", 160, 160));
  EXPECT_FALSE(accepts("speed_chroma", 159, 400));
}

TEST(FrameScorer, PlanesThatNoMetricLooksAtMayHoldAnything) {
  constexpr int kSide = 320;
  const tests::SyntheticVideo video(kSide, kSide, 10, Subsampling::yuv420);
  for (const FrameMetricEntry& metric : frame_metrics()) {
    FrameScorerOptions how = options({{metric.info.name}});
    how.format = {};
    how.format.width = how.format.height = kSide;
    how.format.depth = 10;
    how.format.rate = {25, 1};
    how.device = "cpu";
    std::vector<std::vector<double>> found;
    for (const bool damaged : {false, true}) {
      Result<FrameScorer> scorer = FrameScorer::create(how);
      ASSERT_TRUE(scorer.ok()) << scorer.status().message();
      const std::array<PlaneSet, 2> planes = scorer->planes();
      for (int i = 0; i < 3; ++i) {
        std::array<tests::OwnedFrame, 2> frames{video.reference(i), video.distorted(i)};
        for (size_t side = 0; side < 2; ++side) {
          for (size_t p = 0; p < 3; ++p) {
            if (damaged && !planes[side][p])
              std::fill(frames[side].planes[p].begin(), frames[side].planes[p].end(), 0xF1);
          }
        }
        const Status pushed = scorer->push(frames[0].view(), frames[1].view());
        ASSERT_TRUE(pushed.ok()) << metric.info.name << ": " << pushed.message();
      }
      const Result<std::vector<FrameScore>> scores = scorer->finish();
      ASSERT_TRUE(scores.ok()) << metric.info.name << ": " << scores.status().message();
      std::vector<double>& values = found.emplace_back();
      for (const FrameOutput& output : (*scores)[0].outputs) {
        values.insert(values.end(), output.values.begin(), output.values.end());
      }
    }
    EXPECT_EQ(found[0], found[1]) << metric.info.name;
  }
  EXPECT_EQ(FrameScorer::create(options({{"vmaf"}}))->planes()[0], (PlaneSet{true, false, false}));
}

// lavapipe: several frames in flight, neighbours between them, and another feature on the CPU.
TEST(FrameScorer, ADeviceGivesTheSameValues) {
  std::vector<bool> scored(30, true);
  for (size_t i = 0; i < 30; i += 3) scored[i] = false;
  const std::vector<FrameScore> expected = score(options({kPsnr}), scored);
  FrameScorerOptions how = options({kPsnr});
  how.device = "vulkan";
  const std::vector<FrameScore> found = score(how, scored);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].provenance.device.starts_with("vulkan:0 (")) << found[0].provenance.device;
  ASSERT_EQ(found[0].outputs.size(), expected[0].outputs.size());
  for (size_t o = 0; o < 3; ++o) EXPECT_EQ(found[0].outputs[o].values, expected[0].outputs[o].values);
  ASSERT_EQ(found[0].aggregates.size(), 3u);
  EXPECT_EQ(found[0].aggregates[0].value, expected[0].aggregates[0].value);
}

}  // namespace
}  // namespace acuity
