// SPDX-License-Identifier: BSD-2-Clause-Patent
// Ranges for profilers, on a stand-in for one and for CUDA's driver. Whether they are wanted is looked up once in a
// process, so each way is tried in one of its own.
#include <cstdlib>
#include <vector>

#include "acuity/frame_scorer.h"
#include "acuity/scorer.h"
#include "base/profiler_range.h"
#include "device/fake_driver_test.h"
#include "engine/fake_profiler.h"

namespace acuity {
namespace {

class ProfilerTest : public FakeDriverTest {
 protected:
  void SetUp() override {
    load("ACUITY_CUDA_DRIVER", FAKE_DRIVER);
    fake->free_bytes = size_t{1} << 30;
    library_ = dlopen(FAKE_PROFILER, RTLD_NOW | RTLD_GLOBAL);
    ASSERT_NE(library_, nullptr) << dlerror();
    counts = reinterpret_cast<FakeProfiler* (*)()>(dlsym(library_, "fake_profiler"))();
    testing::FLAGS_gtest_death_test_style = "threadsafe";
  }

  static void expect(bool right, const char* what) {
    if (right) return;
    std::fprintf(stderr, "%s\n", what);
    std::_Exit(1);
  }

  // Ends the process.
  void score_and_check(bool marked) {
    constexpr int kSide = 64, kFrames = 5;
    const FrameFormat format{{.width = kSide, .height = kSide}};
    const std::vector<std::byte> samples(size_t{kSide} * kSide * 3);
    FrameView view{format};
    view.planes = {samples.data(), samples.data(), samples.data()};
    view.row_strides = {kSide, kSide / 2, kSide / 2};
    {
      FrameScorer frames =
          must(FrameScorer::create({.metrics = {{"psnr_yuv"}, {"motion"}}, .format = format, .device = "cuda"}));
      for (int i = 0; i < kFrames; ++i) expect(frames.push(view, view).ok(), "push");
      expect(frames.finish().ok(), "finish");
      Scorer pictures = must(Scorer::create({.metrics = {"psnr", "mse"}, .device = "cuda"}, kSide, kSide));
      const ImageView picture = interleaved_view(samples.data(), kSide, kSide, Channels::rgb, SampleType::u8);
      expect(pictures.score(picture, picture).ok(), "score");
    }
    int pushed = 0;
    for (const auto& [name, count] : counts->pushes) pushed += count;
    expect(pushed == counts->pops && counts->pops_too_many == 0, "ranges do not nest");
    const auto times = [&](const char* name) { return counts->pushes[name]; };
    expect(times("readback") == (marked ? kFrames : 0), "readback");
    expect(times("psnr_y") == (marked ? kFrames : 0), "psnr_y");
    expect(times("psnr") == (marked ? 1 : 0) && times("mse") == (marked ? 1 : 0), "metrics");
    expect(times("upload") >= (marked ? kFrames : 0) && (marked || times("upload") == 0), "upload");
    std::_Exit(42);
  }

  FakeProfiler* counts = nullptr;

 private:
  void* library_ = nullptr;
};

TEST_F(ProfilerTest, SeesRangesAsNsightDoes) {
  const auto run = [this] {
    setenv("ACUITY_NVTX", "1", 1);
    setenv("NVTX_INJECTION64_PATH", FAKE_PROFILER, 1);
    score_and_check(true);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(42), "");
}

TEST_F(ProfilerTest, SeesRangesThroughTheOldLibrary) {
  const auto run = [this] {
    setenv("ACUITY_NVTX", "1", 1);
    unsetenv("NVTX_INJECTION64_PATH");
    score_and_check(true);  // it is loaded already, by the name it states
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(42), "");
}

TEST_F(ProfilerTest, SeesNothingUnlessAsked) {
  const auto run = [this] {
    unsetenv("ACUITY_NVTX");
    setenv("NVTX_INJECTION64_PATH", FAKE_PROFILER, 1);
    score_and_check(false);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(42), "");
}

TEST_F(ProfilerTest, IsNotNeeded) {
  const auto run = [this] {
    setenv("ACUITY_NVTX", "1", 1);
    setenv("NVTX_INJECTION64_PATH", "/no/such/library", 1);
    score_and_check(false);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(42), "");
}

}  // namespace
}  // namespace acuity
