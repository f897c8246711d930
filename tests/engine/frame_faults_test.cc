// SPDX-License-Identifier: BSD-2-Clause-Patent
// A device that fails in the middle of a video, on a stand-in for CUDA's driver. Its kernels do nothing, so that what
// it measures is known and tells its frames from those of the CPU.
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "acuity/frame_scorer.h"
#include "device/fake_driver_test.h"
#include "engine/chooser.h"
#include "engine/measurements.h"
#include "support/slow_machine.h"
#include "support/synthetic_video.h"

namespace acuity {
namespace {

constexpr int kFrames = 7;

struct Case {
  std::vector<FrameMetricRequest> metrics;
  tests::SyntheticClip reference, distorted;  // the reference of one, and the distorted frames of the other
  size_t step = 1;                            // one call in so many fails in its turn
};

// psnr looks at a frame, motion at numbers of frames before and after it, and cambi at a frame again, with more work.
const Case& features() {
  static const tests::SyntheticClip clip = tests::synthetic_clip("synth_400x304_7f_8bit_420");
  static const Case its{{{"psnr_yuv"}, {"motion", {{"motion_five_frame_window", "true"}}}, {"cambi"}}, clip, clip};
  return its;
}

// The first frames wait on the device for those that follow them, and the videos have different sizes.
const Case& frames_that_look_ahead() {
  static const Case its{
      {{"cvvdp_video", {{"padding", "symmetric"}, {"full_screen", "bilinear"}, {"resolution", "90x70"}}}},
      tests::synthetic_clip("synth_400x304_7f_8bit_420"),
      tests::synthetic_clip("synth_320x240_7f_8bit_444"),
      5};
  return its;
}

struct Outcome {
  Status status;  // the first that was not ok
  std::vector<FrameValues> delivered;
  std::vector<FrameScore> scores;  // of finish(), or what there is where that fails
  size_t calls_before_frames = 0;
};

class FrameFaultsTest : public FakeDriverTest {
 protected:
  void SetUp() override { load("ACUITY_CUDA_DRIVER", FAKE_DRIVER); }

  void begin_anew(int failing_call, int failure) {
    reset();
    fake->free_bytes = size_t{1} << 30;
    fake->failing_call = failing_call;
    fake->failure = failure;
  }

  // Whatever was measured before, the CPU is the slower one, so that "auto" chooses the GPU.
  static void make_cpu_slow(const Case& its) {
    const FrameShape& shape = its.reference.reference[0].format;
    Measurements slow;
    for (const FrameMetricRequest& metric : its.metrics) {
      slow.set({measured_cpu_key(), metric.metric, {}, size_class(1.0 * shape.width * shape.height)}, {1e6, 1});
    }
    process_measurements().put(slow);
  }

  Outcome run(const Case& its, const std::string& device, bool owned = true) {
    make_cpu_slow(its);
    Outcome outcome;
    FrameScorerOptions options;
    options.metrics = its.metrics;
    options.format = FrameFormat{its.reference.reference[0].format};
    options.distorted_format = FrameFormat{its.distorted.distorted[0].format};
    options.format.rate = options.distorted_format->rate = {10, 1};
    options.device = device;
    options.expected_frames = 1'000'000;
    options.threads = 1;
    options.frames_in_flight = 3;
    options.on_scores = [&](const FrameValues& values) { outcome.delivered.push_back(values); };
    Result<FrameScorer> created = FrameScorer::create(options);
    if (!created.ok()) {
      outcome.status = created.status();
      return outcome;
    }
    FrameScorer scorer = std::move(*created);
    outcome.calls_before_frames = fake->calls.size();
    for (size_t i = 0; i < kFrames && outcome.status.ok(); ++i) {
      outcome.status = scorer.push(view(its.reference.reference[i], owned), view(its.distorted.distorted[i], owned));
    }
    Result<std::vector<FrameScore>> scores = scorer.finish();
    if (outcome.status.ok()) outcome.status = scores.status();
    if (!scores.ok() && !outcome.delivered.empty()) scores = scorer.scores_so_far();
    if (scores.ok()) outcome.scores = std::move(*scores);
    return outcome;
  }

  static FrameView view(const tests::OwnedFrame& frame, bool owned) {
    FrameView view = frame.view();
    static const auto owner = std::make_shared<int>(0);  // the clip outlives all
    if (owned) view.owner = owner;
    return view;
  }

  // What was delivered is what is returned in the end.
  static void expect_consistent(const Outcome& outcome) {
    for (size_t i = 0; i < outcome.delivered.size(); ++i) {
      EXPECT_EQ(outcome.delivered[i].number, static_cast<int64_t>(i));
      for (size_t m = 0; m < outcome.scores.size(); ++m) {
        for (size_t o = 0; o < outcome.scores[m].outputs.size(); ++o) {
          ASSERT_EQ(outcome.scores[m].outputs[o].values.size(), outcome.delivered.size());
          EXPECT_EQ(outcome.scores[m].outputs[o].values[i], outcome.delivered[i].outputs[m][o]);
        }
      }
    }
  }

  // Failures that nobody needs to be told.
  static bool is_silent(const std::string& call) {
    for (const char* word : {"Free", "Unload", "Destroy", "Release", "PopCurrent", "PushCurrent", "HostRegister",
                             "HostUnregister", "StreamSynchronize"}) {
      if (contains(call, word)) return true;
    }
    return false;
  }

  void expect_no_frame_lost(const Case& its);
};

void FrameFaultsTest::expect_no_frame_lost(const Case& its) {
  const Outcome on_cpu = run(its, "cpu");
  ASSERT_TRUE(on_cpu.status.ok()) << on_cpu.status.message();
  ASSERT_EQ(on_cpu.delivered.size(), size_t{kFrames});
  for (const std::string device : {"cuda", "auto"}) {
    begin_anew(-1, 0);
    const Outcome whole = run(its, device);
    ASSERT_TRUE(whole.status.ok()) << whole.status.message();
    ASSERT_TRUE(whole.scores[0].provenance.device.starts_with("cuda:0 (")) << whole.scores[0].provenance.device;
    ASSERT_NE(whole.delivered[4].outputs, on_cpu.delivered[4].outputs) << "they cannot be told apart";
    const std::vector<std::string> calls = fake->calls;
    std::set<size_t> lengths;  // of what the device scored
    for (const int failure : {1, 2, 700}) {
      for (size_t call = whole.calls_before_frames; call < calls.size(); call += its.step) {
        if (failure < 700 && call % 4 != static_cast<size_t>(failure)) continue;  // to save time
        if (tests::kSlowMachine && its.step == 1 && call % 5 != static_cast<size_t>(failure) % 5) continue;
        begin_anew(static_cast<int>(call), failure);
        const Outcome found = run(its, device, call % 3 == 0);
        const std::string place = fmt::format("{} {} of call {}, {}", device, failure, call, calls[call]);
        expect_consistent(found);
        size_t of_device = 0;
        while (of_device < found.delivered.size() &&
               found.delivered[of_device].outputs == whole.delivered[of_device].outputs) {
          ++of_device;
        }
        for (size_t i = of_device; i < found.delivered.size(); ++i) {
          EXPECT_EQ(found.delivered[i].outputs, on_cpu.delivered[i].outputs) << place << ", frame " << i;
        }
        if (device == "auto") {
          EXPECT_TRUE(found.status.ok()) << place << ": " << found.status.message();
          EXPECT_EQ(found.delivered.size(), size_t{kFrames}) << place;
        } else {
          EXPECT_EQ(of_device, found.delivered.size()) << place;
          EXPECT_EQ(found.status.ok(), found.delivered.size() == kFrames) << place << ": " << found.status.message();
        }
        const bool failed = device == "auto" ? of_device < kFrames : !found.status.ok();
        EXPECT_TRUE(failed || is_silent(calls[call])) << place;
        if (!failed) continue;
        lengths.insert(of_device);
        if (device == "auto") {
          const std::string& device_name = found.scores[0].provenance.device;
          EXPECT_TRUE(contains(device_name, "cuda:0 (") && contains(device_name, " and cpu (")) << device_name;
          EXPECT_TRUE(contains(found.scores[0].provenance.assumptions.back(),
                               fmt::format("cuda:0 failed, and the CPU went on from frame {}: ", of_device)))
              << found.scores[0].provenance.assumptions.back();
        } else {
          EXPECT_TRUE(contains(found.status.message(), "frame ")) << found.status.message();
          // Page-locked memory is the host's.
          const std::set<StatusCode> codes{StatusCode::device, StatusCode::device_lost, StatusCode::device_memory,
                                           StatusCode::out_of_memory};
          EXPECT_TRUE(codes.contains(found.status.code())) << place << ": " << found.status.message();
        }
      }
    }
    EXPECT_GE(lengths.size(), 4u) << "failures came too early or too late";
  }
}

TEST_F(FrameFaultsTest, ADeviceThatFailsNeverCostsAFrame) { expect_no_frame_lost(features()); }
TEST_F(FrameFaultsTest, NorOneThatWaitsForOthers) { expect_no_frame_lost(frames_that_look_ahead()); }

}  // namespace
}  // namespace acuity
