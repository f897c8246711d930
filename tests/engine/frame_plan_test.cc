// SPDX-License-Identifier: BSD-2-Clause-Patent
// Memory of frame metrics: what is planned against what a stand-in for CUDA's driver counts, and what becomes of too
// little of it.
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "acuity/frame_scorer.h"
#include "acuity/plan.h"
#include "base/try.h"
#include "device/fake_driver_test.h"
#include "engine/frame_device.h"
#include "engine/frame_memory.h"
#include "engine/frame_requests.h"
#include "engine/requests.h"

namespace acuity {
namespace {

class FramePlanTest : public FakeDriverTest {
 protected:
  void SetUp() override {
    load("ACUITY_CUDA_DRIVER", FAKE_DRIVER);
    fake->free_bytes = size_t{1} << 30;
  }
  void TearDown() override {
    unsetenv("ACUITY_VRAM_CAP_BYTES");
    FakeDriverTest::TearDown();
  }

  static FrameScorerOptions options_of(const std::vector<std::string>& metrics, const FrameShape& shape,
                                       int in_flight) {
    FrameScorerOptions options;
    options.device = "cuda";
    options.threads = 1;
    options.frames_in_flight = in_flight;
    for (const std::string& metric : metrics) options.metrics.push_back({metric});
    options.format = FrameFormat{shape};
    options.format.rate = {25, 1};
    return options;
  }

  // A video that is longer than all frames that are on the device at a time. Kernels that do nothing leave values that
  // are no numbers, which a FrameScorer would refuse.
  Status measure(const FrameScorerOptions& options) {
    const std::shared_ptr<Device> device = must(open_device("cuda"));
    fake->most_bytes["memory"] = fake->bytes["memory"];
    const FrameRequests requests = must(find_frame_requests(options));
    const std::vector<PipelineFeature> features = must(requests.list.create(setup_of(options)));
    std::vector<const Feature*> pointers;
    for (const PipelineFeature& feature : features) pointers.push_back(feature.feature.get());
    const std::optional<int64_t> cap = must(vram_cap(options.vram_cap_bytes));
    Result<std::unique_ptr<FrameDevice>> created = FrameDevice::create(
        device, shapes_of(options), pointers, 1, {.in_flight = options.frames_in_flight, .cap = cap});
    if (!created.ok()) return created.status();
    FrameDevice& there = **created;
    FrameView frame{options.format};
    const std::vector<std::byte> samples(
        static_cast<size_t>(frame.width) * static_cast<size_t>(frame.height * frame.sample_bytes()), std::byte{1});
    for (int p = 0; p < frame.planes_count(); ++p) {
      frame.planes[static_cast<size_t>(p)] = samples.data();
      frame.row_strides[static_cast<size_t>(p)] = frame.plane_width(p) * frame.sample_bytes();
    }
    FrameMemory copies(options.format);
    std::vector<std::vector<double>> numbers(features.size());
    for (int i = 0; i < 15 + there.history(); ++i) {
      while (there.is_full()) ACUITY_TRY(there.finish_oldest(numbers));
      const Input reference(must(copies.copy(frame, kAllPlanes)), options.format);
      const Input distorted(must(copies.copy(frame, kAllPlanes)), options.format);
      ACUITY_TRY(there.submit(i, reference, distorted, std::vector<bool>(features.size(), true)));
    }
    ACUITY_TRY(there.end());
    while (!there.is_idle()) ACUITY_TRY(there.finish_oldest(numbers));
    return {};
  }

  int64_t most() const { return static_cast<int64_t>(fake->most_bytes.at("memory")); }
};

TEST_F(FramePlanTest, IsWhatIsAllocated) {
  std::vector<std::vector<std::string>> requests{{"vmaf", "cambi", "psnr_yuv"}};
  for (const FrameMetricEntry& entry : frame_metrics()) requests.push_back({entry.info.name});
  for (const std::vector<std::string>& metrics : requests) {
    for (const FrameShape& shape :
         {FrameShape{400, 304, 8, Subsampling::yuv420}, FrameShape{701, 433, 10, Subsampling::yuv444}}) {
      for (const int in_flight : {1, 3, 0}) {
        const FrameScorerOptions options = options_of(metrics, shape, in_flight);
        const std::string what =
            fmt::format("{} of {}x{}, {}", fmt::join(metrics, ","), shape.width, shape.height, in_flight);
        const int64_t planned = must(plan_device_bytes(options));
        const Status measured = measure(options);
        ASSERT_TRUE(measured.ok()) << what << ": " << measured.message();
        EXPECT_GE(planned, most()) << what;
        EXPECT_LE(static_cast<double>(planned), 1.1 * static_cast<double>(most())) << what;
      }
    }
  }
}

// The contrasts that CAMBI's maps are made of come back to the host.
TEST_F(FramePlanTest, MapsAreCounted) {
  const std::string folder = ::testing::TempDir() + "planned_maps";
  FrameScorerOptions options = options_of({"cambi"}, {400, 304, 8, Subsampling::yuv420}, 3);
  const int64_t without = must(plan_device_bytes(options));
  options.metrics[0].options = {{"heatmaps_path", folder}};
  const int64_t planned = must(plan_device_bytes(options));
  EXPECT_GE(planned - without, 3 * 400 * 304 * 5);
  const Status measured = measure(options);
  ASSERT_TRUE(measured.ok()) << measured.message();
  EXPECT_GE(planned, most());
  EXPECT_LE(static_cast<double>(planned), 1.1 * static_cast<double>(most()));
  std::filesystem::remove_all(folder);
}

TEST_F(FramePlanTest, FewerFramesAreInFlightIfMemoryIsShort) {
  constexpr int64_t kStaging = 220'000;  // of a frame: the stand-in takes page-locked memory from what is free
  const FrameShape shape{400, 304};
  for (const std::string metric : {"psnr_yuv", "vmaf", "cambi", "cvvdp_video"}) {
    for (const int fitting : {1, 2, 5}) {
      const int64_t planned = must(plan_device_bytes(options_of({metric}, shape, fitting)));
      for (const bool capped : {true, false}) {
        FrameScorerOptions options = options_of({metric}, shape, 0);
        if (capped) options.vram_cap_bytes = planned;
        fake->free_bytes = capped ? size_t{1} << 30 : static_cast<size_t>(planned + kStaging);
        const Status measured = measure(options);
        ASSERT_TRUE(measured.ok()) << metric << ": " << measured.message();
        EXPECT_LE(most(), planned) << metric;
        EXPECT_GE(1.1 * static_cast<double>(most()), static_cast<double>(planned - 2 * kStaging))
            << metric << " could have used more";
      }
    }
  }
}

TEST_F(FramePlanTest, WhatDoesNotFitIsRefusedBeforeAFrameComes) {
  const FrameShape shape{400, 304};
  FrameScorerOptions options = options_of({"vmaf"}, shape, 0);
  const int64_t needed = must(plan_device_bytes(options_of({"vmaf"}, shape, 1)));
  options.vram_cap_bytes = needed - 1;
  Status refused = FrameScorer::create(options).status();
  EXPECT_EQ(refused.code(), StatusCode::too_big);
  EXPECT_EQ(refused.message(), fmt::format("frames of 400x304 samples need {} bytes of memory on cuda:0 with 1 in "
                                           "flight, but {} are available; use another device, such as cpu",
                                           needed, needed - 1));
  // A number that was asked for is not changed.
  options.frames_in_flight = 4;
  options.vram_cap_bytes = needed;
  refused = FrameScorer::create(options).status();
  EXPECT_EQ(refused.code(), StatusCode::too_big);
  EXPECT_TRUE(contains(refused.message(), "use fewer frames in flight or another device")) << refused.message();
  options.vram_cap_bytes = -1;
  EXPECT_EQ(FrameScorer::create(options).status().code(), StatusCode::usage);
}

TEST_F(FramePlanTest, TheEnvironmentHasACapToo) {
  const FrameScorerOptions options = options_of({"psnr_yuv"}, {400, 304}, 0);
  setenv("ACUITY_VRAM_CAP_BYTES", "1000", 1);
  EXPECT_EQ(FrameScorer::create(options).status().code(), StatusCode::too_big);
  setenv("ACUITY_VRAM_CAP_BYTES", "abc", 1);
  const Status refused = FrameScorer::create(options).status();
  EXPECT_EQ(refused.code(), StatusCode::usage);
  EXPECT_EQ(refused.message(), "invalid value 'abc' of ACUITY_VRAM_CAP_BYTES: expected a number of bytes");
}

// What one has is not there for another.
TEST_F(FramePlanTest, TheCapIsForAllOfTheProcess) {
  FrameScorerOptions options = options_of({"vmaf"}, {400, 304}, 2);
  options.vram_cap_bytes = must(plan_device_bytes(options));
  const Result<FrameScorer> first = FrameScorer::create(options);
  ASSERT_TRUE(first.ok()) << first.status().message();
  EXPECT_EQ(FrameScorer::create(options).status().code(), StatusCode::too_big);
}

TEST(FramePlan, IsForAGpu) {
  FrameScorerOptions options;
  options.metrics.push_back({"psnr_yuv"});
  options.format = FrameFormat{{400, 304}};
  EXPECT_EQ(plan_device_bytes(options).status().code(), StatusCode::usage);
  options.device = "cuda";
  EXPECT_GT(must(plan_device_bytes(options)), 12 * 400 * 304 * 3);
  options.format = FrameFormat{{1 << 14, (1 << 13) + 1}};
  EXPECT_EQ(plan_device_bytes(options).status().code(), StatusCode::too_big);
}

}  // namespace
}  // namespace acuity
