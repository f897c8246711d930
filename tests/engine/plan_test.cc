// SPDX-License-Identifier: BSD-2-Clause-Patent
// Memory: what is planned against what a stand-in for CUDA's driver counts, and what becomes of too little of it.
#include <array>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "acuity/input.h"
#include "acuity/plan.h"
#include "acuity/scorer.h"
#include "device/fake_driver_test.h"
#include "engine/metric.h"
#include "support/slow_machine.h"

namespace acuity {
namespace {

struct Kind {
  SampleType type;
  Channels channels;
};

constexpr Kind kKinds[] = {{SampleType::u8, Channels::rgb},
                           {SampleType::u16, Channels::rgba},
                           {SampleType::f32, Channels::rgb},
                           {SampleType::u8, Channels::grey}};
constexpr std::pair<int, int> kSizes[] = {{176, 180}, {512, 512}, {700, 760}, {1400, 1000}};
const MemoryMode kModes[] = {MemoryMode::full(), MemoryMode::strip(64)};

std::vector<std::string> picture_metrics(bool on_gpu) {
  std::vector<std::string> names;
  for (const MetricEntry& entry : registry()) {
    if (!on_gpu || entry.on_gpu) names.push_back(entry.info.name);
  }
  return names;
}

void expect_planned(int64_t planned, int64_t counted, const std::string& what) {
  EXPECT_GE(planned, counted) << what;
  EXPECT_LE(static_cast<double>(planned), 1.1 * static_cast<double>(counted)) << what;
}

class PlanTest : public FakeDriverTest {
 protected:
  void SetUp() override { load_driver_of("cuda"); }
  void load_driver_of(const std::string& device) {
    load(device == "hip" ? "ACUITY_HIP_DRIVER" : "ACUITY_CUDA_DRIVER", FAKE_DRIVER);
    fake->free_bytes = size_t{1} << 30;
    device_ = device;
  }
  void TearDown() override {
    unsetenv("ACUITY_VRAM_CAP_BYTES");
    FakeDriverTest::TearDown();
  }

  /// Page-locked memory for two pictures, which keeps the device open. What it takes is not counted.
  HostMemory pictures(int width, int height, const Kind& kind) {
    const size_t sample = kind.type == SampleType::u8 ? 1 : kind.type == SampleType::u16 ? 2 : 4;
    const size_t bytes = static_cast<size_t>(width * height) * static_cast<size_t>(kind.channels) * sample;
    HostMemory memory = must(HostMemory::allocate(device_, 2 * bytes));
    views_[0] = interleaved_view(memory.data(), width, height, kind.channels, kind.type);
    views_[1] = interleaved_view(memory.data() + bytes, width, height, kind.channels, kind.type);
    for (const char* what : {"memory", "pinned"}) before_[what] = fake->most_bytes[what] = fake->bytes[what];
    return memory;
  }
  int64_t most(const char* what) { return static_cast<int64_t>(fake->most_bytes[what] - before_[what]); }

  /// What is planned, of a pair and of a prepared reference, is what is allocated.
  void expect_plan_holds(const std::string& metric, int width, int height, const MemoryMode& mode, const Kind& kind) {
    const std::string what = fmt::format("{} {} {}x{} strip {} type {} channels {}", metric, device_, width, height,
                                         mode.rows, static_cast<int>(kind.type), static_cast<int>(kind.channels));
    const ScorerOptions options{.metrics = {metric}, .device = device_, .memory = mode};
    const MemoryPlan plan = must(plan_memory(options, width, height, kind.type, kind.channels));
    {
      const HostMemory memory = pictures(width, height, kind);
      Scorer scorer = must(Scorer::create(options, width, height));
      ASSERT_TRUE(scorer.score(views_[0], views_[1]).ok()) << what;
      expect_planned(plan.pair.device, most("memory"), what + ", a pair on the device");
      expect_planned(plan.pair.host, most("pinned"), what + ", a pair on the host");
    }
    const HostMemory memory = pictures(width, height, kind);
    Scorer scorer = must(Scorer::create(options, width, height));
    const Reference reference = must(scorer.prepare(views_[0]));
    ASSERT_TRUE(scorer.score(reference, views_[1]).ok()) << what;
    expect_planned(plan.reference.device + plan.against_reference.device, most("memory"), what + ", prepared");
  }

  ImageView views_[2];
  std::string device_;

 private:
  std::map<std::string, size_t> before_;
};

TEST_F(PlanTest, IsWhatIsAllocatedOnADevice) {
  for (const std::string& metric : picture_metrics(true)) {
    for (const auto& [width, height] : kSizes) {
      for (const MemoryMode& mode : kModes) {
        for (const Kind& kind : kKinds) {
          // Of the larger sizes one, and that of bytes only.
          if (tests::kSlowMachine && width > 176 && (width != 700 || kind.type != SampleType::u8)) continue;
          expect_plan_holds(metric, width, height, mode, kind);
        }
      }
    }
  }
}

// Metrics may cut their work otherwise where recorded work is done in steps.
class PlanInStepsTest : public PlanTest {
 protected:
  void SetUp() override { load_driver_of("hip"); }
};

TEST_F(PlanInStepsTest, IsWhatIsAllocatedOnADevice) {
  for (const std::string& metric : picture_metrics(true)) {
    for (const MemoryMode& mode : kModes) {
      for (const Kind& kind : kKinds) {
        if (tests::kSlowMachine && kind.type != SampleType::u8) continue;
        expect_plan_holds(metric, 1400, 1000, mode, kind);
      }
    }
  }
}

TEST_F(PlanTest, IsWhatFramesOfVideoTake) {
  for (const std::string& metric : picture_metrics(true)) {
    for (const FrameFormat& format : {FrameFormat{{1400, 1000}}, FrameFormat{{1399, 700, 10, Subsampling::yuv444}},
                                      FrameFormat{{360, 200, 8, Subsampling::yuv422}}}) {
      for (const MemoryMode& mode : kModes) {
        const std::string what = fmt::format("{} frames {}x{} of {} bits, strip {}", metric, format.width,
                                             format.height, format.depth, mode.rows);
        const ScorerOptions options{.metrics = {metric}, .device = "cuda", .memory = mode};
        const MemoryPlan plan = must(plan_memory(options, format));
        // More than a frame needs.
        const HostMemory memory = pictures(format.width, format.height, {SampleType::u16, Channels::rgb});
        FrameView view{format};
        for (int plane = 0; plane < 3; ++plane) {
          view.planes[static_cast<size_t>(plane)] = memory.data();
          view.row_strides[static_cast<size_t>(plane)] = format.plane_width(plane) * format.sample_bytes();
        }
        Scorer scorer = must(Scorer::create(options, format.width, format.height));
        ASSERT_TRUE(scorer.score(Input(view, format), Input(view, format)).ok()) << what;
        expect_planned(plan.pair.device, most("memory"), what);
      }
    }
  }
}

TEST_F(PlanTest, IsWhatSeveralMetricsAllocateTogether) {
  const ScorerOptions options{.metrics = {"ssimulacra2", "butteraugli", "dssim", "iwssim", "psnr"}, .device = "cuda"};
  const MemoryPlan plan = must(plan_memory(options, 1400, 1000));
  const HostMemory memory = pictures(1400, 1000, kKinds[0]);
  Scorer scorer = must(Scorer::create(options, 1400, 1000));
  ASSERT_TRUE(scorer.score(views_[0], views_[1]).ok());
  expect_planned(plan.pair.device, most("memory"), "one pair");
  std::vector<Job> jobs;
  for (int i = 0; i < 6; ++i) jobs.push_back(must(scorer.start(views_[0], views_[1])));
  for (Job& job : jobs) ASSERT_TRUE(job.finish().ok());
  EXPECT_LE(most("memory"), plan.pair.device + plan.further_pair.device) << "two pairs";
}

TEST(Plan, IsWhatIsAllocatedOnTheCpu) {
  for (const std::string& metric : picture_metrics(false)) {
    for (const auto& [width, height] : kSizes) {
      if (tests::kSlowMachine && width > 512) continue;
      for (const MemoryMode& mode : kModes) {
        const std::string what = fmt::format("{} {}x{} strip {}", metric, width, height, mode.rows);
        const ScorerOptions options{.metrics = {metric}, .device = "cpu", .memory = mode, .threads = 2};
        const MemoryPlan plan = must(plan_memory(options, width, height));
        std::vector<std::byte> pixels(static_cast<size_t>(width * height * 3), std::byte{100});
        const ImageView view = interleaved_view(pixels.data(), width, height, Channels::rgb, SampleType::u8);
        Scorer scorer = must(Scorer::create(options, width, height));
        expect_planned(plan.pair.host, must(scorer.score(view, view)).front().provenance.working_bytes, what);
        EXPECT_EQ(plan.pair.device, 0);
        Scorer another = must(Scorer::create(options, width, height));
        EXPECT_GE(plan.small_reference.host, must(another.prepare(view, Keep::small)).bytes());
        const Reference reference = must(another.prepare(view));
        expect_planned(plan.reference.host, reference.bytes(), what + ", a reference");
        expect_planned(plan.reference.host + plan.against_reference.host,
                       must(another.score(reference, view)).front().provenance.working_bytes, what + ", prepared");
      }
    }
  }
}

#ifdef __linux__
// Schedulers plan pictures in several threads, whatever their memory limit is.
TEST(Plan, FillsNoMemory) {
  if (tests::kSlowMachine) GTEST_SKIP() << "sanitizers fill memory, and emulators count their own";
  constexpr int kSide = 3000;
  constexpr size_t kBytes = size_t{kSide} * kSide * 3;
  const auto resident_bytes = [] {
    std::ifstream facts("/proc/self/statm");
    size_t all = 0, resident = 0;
    facts >> all >> resident;
    return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  };
  void* volatile freed = std::malloc(31 << 20);  // of which the C library keeps something
  std::free(freed);
  const size_t before = resident_bytes();
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(plan_memory({.metrics = {"ssimulacra2"}, .device = "cpu", .threads = 1}, kSide, kSide).ok());
  }
  EXPECT_LT(resident_bytes(), before + kBytes / 4);
}
#endif

TEST(Plan, IsForOneDevice) {
  EXPECT_EQ(plan_memory({.metrics = {"psnr"}}, 64, 64).status().code(), StatusCode::usage);
  EXPECT_EQ(plan_memory({.metrics = {"none"}, .device = "cpu"}, 64, 64).status().code(), StatusCode::usage);
}

// Elements are numbered in 31 bits. Pictures below that are planned; nobody has the memory to score them here.
TEST(Plan, IsRefusedWhereKernelsCannotNumberTheElements) {
  std::string refusals;
  for (const std::string& metric : picture_metrics(true)) {
    const ScorerOptions full{.metrics = {metric}, .device = "cuda", .memory = MemoryMode::full()};
    const Status refused = plan_memory(full, 32768, 16385).status();
    EXPECT_EQ(refused.code(), StatusCode::too_big);
    EXPECT_EQ(refused.message(),
              "32768x16385 pixels are more than the 536870912 that GPUs can number; use the device cpu");
    const Result<MemoryPlan> planned = plan_memory(full, 16384, 16384);
    EXPECT_TRUE(planned.ok()) << planned.status().message();
    // Rows so long, or strips so high, that some arrays grow too large: refused with the number, or planned.
    for (const auto& [width, height, rows] : {std::array{32768, 16384, 0}, std::array{1 << 20, 512, 0},
                                              std::array{512, 1 << 20, 0}, std::array{16384, 16384, 16000}}) {
      const ScorerOptions options{.metrics = {metric}, .device = "cuda", .memory = {full.memory.kind, rows}};
      ScorerOptions strips = options;
      if (rows > 0) strips.memory = MemoryMode::strip(rows);
      const Status status = plan_memory(strips, width, height).status();
      if (status.ok()) continue;
      refusals += fmt::format("{} {}x{} {}; ", metric, width, height, rows);
      EXPECT_EQ(status.code(), StatusCode::too_big) << status.message();
      EXPECT_TRUE(contains(status.message(), "2147483647") || contains(status.message(), "500000")) << status.message();
    }
  }
  // All others are planned.
  EXPECT_EQ(refusals,
            "ssimulacra2 1048576x512 0; ssimulacra2 16384x16384 16000; butteraugli 1048576x512 0; "
            "iwssim 1048576x512 0; iwssim 512x1048576 0; msssim 1048576x512 0; msssim 512x1048576 0; "
            "zensim 1048576x512 0; ");
  const ScorerOptions wide{.metrics = {"ssimulacra2"}, .device = "cuda"};
  EXPECT_EQ(plan_memory(wide, 1 << 20, 512).status().message(),
            "ssimulacra2 needs an array of 8556380160 elements for pictures of this size, and a kernel can number "
            "2147483647; use smaller strips or the device cpu");
}

// Higher strips need no less, but for what passes from strip to strip, and none is higher than the picture.
TEST(Plan, StripsMeanWhatTheySay) {
  for (const bool on_gpu : {false, true}) {
    for (const std::string& metric : picture_metrics(on_gpu)) {
      const char* const device = on_gpu ? "cuda" : "cpu";
      const auto planned = [&](int rows) {
        const ScorerOptions options{
            .metrics = {metric}, .device = device, .memory = MemoryMode::strip(rows), .threads = 2};
        const MemoryBytes bytes = must(plan_memory(options, 700, 1500)).pair;
        return bytes.host + bytes.device;
      };
      int64_t before = 0;
      for (const int rows : {1, 16, 64, 200, 700, 1500}) {
        EXPECT_GE(1.05 * static_cast<double>(planned(rows)), static_cast<double>(before))
            << metric << " on " << device << ", " << rows << " rows";
        before = planned(rows);
      }
      EXPECT_EQ(planned(std::numeric_limits<int>::max()), before) << metric << " on " << device;
    }
  }
}

// Every metric, with memory for all of it, for ever smaller strips, and for none.
TEST_F(PlanTest, AutomaticTakesTheLargestStripThatFits) {
  constexpr int kWidth = 1400, kHeight = 1000;
  for (const std::string& metric : picture_metrics(true)) {
    ScorerOptions options{.metrics = {metric}, .device = "cuda"};
    const auto planned = [&](int rows) {
      ScorerOptions strips = options;
      if (rows > 0) strips.memory = MemoryMode::strip(rows);
      return must(plan_memory(strips, kWidth, kHeight)).pair.device;
    };
    const HostMemory memory = pictures(kWidth, kHeight, kKinds[0]);
    for (const int rows : {0, 256, 64, 16}) {
      options.vram_cap_bytes = planned(rows);
      const auto scores = must(Scorer::create(options, kWidth, kHeight)).score(views_[0], views_[1]);
      ASSERT_TRUE(scores.ok()) << metric << rows << scores.status().message();
      const std::string mode = scores->front().provenance.memory_mode;
      const int chosen = mode == "full" ? 0 : std::stoi(mode.substr(6));
      EXPECT_LE(planned(chosen), options.vram_cap_bytes) << metric;
      EXPECT_LE(most("memory"), options.vram_cap_bytes) << metric;
      fake->most_bytes["memory"] = fake->bytes["memory"];
      if (chosen == 0) continue;
      EXPECT_GT(planned(0), options.vram_cap_bytes) << metric;
      // A strip as high as the picture is none.
      if (2 * chosen >= kHeight) continue;
      EXPECT_GT(planned(2 * chosen), options.vram_cap_bytes) << metric << " could have taken more than " << chosen;
    }
    options.vram_cap_bytes = planned(16) / 2;
    const Status refused = Scorer::create(options, kWidth, kHeight).status();
    EXPECT_EQ(refused.code(), StatusCode::too_big) << metric;
    EXPECT_TRUE(contains(refused.message(), fmt::format("{}", options.vram_cap_bytes))) << refused.message();
  }
}

// What a Scorer leaves unused on a device that stays open counts too, and is freed if the next one has no use for it.
TEST_F(PlanTest, ScorersOneAfterTheOtherStayWithinTheCap) {
  const HostMemory small = pictures(700, 760, kKinds[0]);
  const ImageView small_views[] = {views_[0], views_[1]};
  const HostMemory large = pictures(1400, 1000, kKinds[0]);
  const Scorer another = must(Scorer::create({.metrics = {"mse"}, .device = "cuda"}, 16, 16));
  const auto held = static_cast<int64_t>(fake->bytes["memory"]);
  for (const std::string& metric : picture_metrics(true)) {
    ScorerOptions options{.metrics = {metric}, .device = "cuda"};
    options.vram_cap_bytes = must(plan_memory(options, 1400, 1000)).pair.device + held;
    ASSERT_TRUE(must(Scorer::create(options, 1400, 1000)).score(views_[0], views_[1]).ok()) << metric;
    fake->most_bytes["memory"] = fake->bytes["memory"];
    ASSERT_TRUE(must(Scorer::create(options, 700, 760)).score(small_views[0], small_views[1]).ok()) << metric;
    EXPECT_LE(static_cast<int64_t>(fake->most_bytes["memory"]), options.vram_cap_bytes) << metric;
  }
}

TEST_F(PlanTest, AutomaticKeepsSamplesWhereAllOfAReferenceDoesNotFit) {
  constexpr int kWidth = 1400, kHeight = 1000;
  for (const char* metric : {"ssimulacra2", "butteraugli", "dssim"}) {
    ScorerOptions options{.metrics = {metric}, .device = "cuda"};
    const MemoryPlan plan = must(plan_memory(options, kWidth, kHeight));
    for (const bool is_short : {true, false}) {
      options.vram_cap_bytes = plan.pair.device + (is_short ? plan.small_reference.device : plan.reference.device);
      const HostMemory memory = pictures(kWidth, kHeight, kKinds[0]);
      Scorer scorer = must(Scorer::create(options, kWidth, kHeight));
      const Reference reference = must(scorer.prepare(views_[0]));
      EXPECT_EQ(reference.bytes() < plan.reference.device / 2, is_short) << metric;
      for (int call = 0; call < 3; ++call) {
        const auto scores = scorer.score(reference, views_[1]);
        ASSERT_TRUE(scores.ok()) << metric << scores.status().message();
      }
      EXPECT_LE(most("memory"), options.vram_cap_bytes) << metric;
    }
  }
}

// Which is known only when they come.
TEST_F(PlanTest, AutomaticMakesRoomForLargerSamples) {
  constexpr int kWidth = 1400, kHeight = 1000;
  for (const std::string& metric : picture_metrics(true)) {
    ScorerOptions options{.metrics = {metric}, .device = "cuda"}, strips = options;
    strips.memory = MemoryMode::strip(64);
    options.vram_cap_bytes = must(plan_memory(strips, kWidth, kHeight, SampleType::f32)).pair.device;
    const HostMemory floats = pictures(kWidth, kHeight, {SampleType::f32, Channels::rgb});
    std::memset(floats.data(), 0, floats.size());
    const ImageView large[] = {views_[0], views_[1]};
    const HostMemory bytes = pictures(kWidth, kHeight, kKinds[0]);
    {
      Scorer scorer = must(Scorer::create(options, kWidth, kHeight));
      ASSERT_TRUE(scorer.score(views_[0], views_[1]).ok()) << metric;
      const auto scores = scorer.score(large[0], large[1]);
      ASSERT_TRUE(scores.ok()) << metric << ": " << scores.status().message();
      EXPECT_LE(most("memory"), options.vram_cap_bytes) << metric;
    }

    options.memory = MemoryMode::full();
    options.vram_cap_bytes = must(plan_memory(options, kWidth, kHeight)).pair.device;
    Scorer full = must(Scorer::create(options, kWidth, kHeight));
    EXPECT_EQ(full.score(large[0], large[1]).status().code(), StatusCode::too_big) << metric;
  }
}

TEST_F(PlanTest, AutomaticTriesNarrowerStripsWhereMemoryRunsOut) {
  const HostMemory memory = pictures(1400, 1000, kKinds[0]);
  for (const bool automatic : {true, false}) {
    for (int calls = 0; calls < 3; ++calls) {
      ScorerOptions options{.metrics = {"ssimulacra2"}, .device = "cuda"};
      if (!automatic) options.memory = MemoryMode::full();
      Result<Scorer> scorer = Scorer::create(options, 1400, 1000);
      ASSERT_TRUE(scorer.ok());
      fake->failure = 2;
      fake->calls_before_failure = calls;
      fake->failing_function = "cuMemAlloc_v2";
      const auto scores = scorer->score(views_[0], views_[1]);
      ASSERT_TRUE(fake->failing_function.empty() || calls > 0);
      if (!fake->failing_function.empty()) continue;
      ASSERT_EQ(scores.ok(), automatic) << scores.status().message();
      if (automatic) {
        EXPECT_EQ(scores->front().provenance.memory_mode, "strip 512");
      } else {
        EXPECT_EQ(scores.status().code(), StatusCode::device_memory);
      }
    }
    fake->failing_function.clear();
  }
}

TEST_F(PlanTest, FullAndStripAreTakenAtTheirWord) {
  const HostMemory memory = pictures(1400, 1000, kKinds[0]);
  ScorerOptions options{.metrics = {"ssimulacra2"}, .device = "cuda", .memory = MemoryMode::full()};
  fake->free_bytes = static_cast<size_t>(must(plan_memory(options, 1400, 1000)).pair.device) - 1;
  const Status refused = Scorer::create(options, 1400, 1000).status();
  EXPECT_EQ(refused.code(), StatusCode::too_big);
  EXPECT_TRUE(contains(refused.message(), "automatic")) << refused.message();
  options.memory = MemoryMode::strip(32);
  EXPECT_TRUE(Scorer::create(options, 1400, 1000).ok());
  options.memory = {MemoryMode::Kind::full, 32};
  EXPECT_EQ(Scorer::create(options, 1400, 1000).status().code(), StatusCode::usage);
}

TEST_F(PlanTest, NothingIsNeededWhereTheAnswerIsKnown) {
  const HostMemory memory = pictures(7, 5, kKinds[0]);
  const ScorerOptions options{.metrics = {{"butteraugli", {{"small", "libjxl"}}}}, .device = "cuda"};
  EXPECT_EQ(must(plan_memory(options, 7, 5)).further_pair.device, 0);
  const auto scores = must(Scorer::create(options, 7, 5)).score(views_[0], views_[1]);
  ASSERT_TRUE(scores.ok()) << scores.status().message();
  EXPECT_EQ(scores->front().value, 0);
}

TEST_F(PlanTest, TheEnvironmentHasACapToo) {
  const HostMemory memory = pictures(512, 512, kKinds[0]);
  const ScorerOptions options{.metrics = {"ssimulacra2"}, .device = "cuda"};
  setenv("ACUITY_VRAM_CAP_BYTES", "1000000", 1);
  EXPECT_EQ(Scorer::create(options, 512, 512).status().code(), StatusCode::too_big);
  setenv("ACUITY_VRAM_CAP_BYTES", "1 GB", 1);
  const Status refused = Scorer::create(options, 512, 512).status();
  EXPECT_EQ(refused.code(), StatusCode::usage);
  EXPECT_EQ(refused.message(), "invalid value '1 GB' of ACUITY_VRAM_CAP_BYTES: expected a number of bytes");
}

// Whatever is allocated on the way, on the device or for it, may not be there: the call says so, leaves nothing behind,
// and the next one works.
TEST_F(PlanTest, EveryAllocationMayFail) {
  const std::vector<std::pair<std::string, StatusCode>> functions{{"cuMemAlloc_v2", StatusCode::device_memory},
                                                                  {"cuMemHostAlloc", StatusCode::out_of_memory}};
  for (const auto& [width, height] : {std::pair(200, 190), std::pair(700, 760)}) {
    if (tests::kSlowMachine && width > 200) continue;
    std::vector<std::byte> pixels(static_cast<size_t>(width * height * 3), std::byte{100});
    const ImageView view = interleaved_view(pixels.data(), width, height, Channels::rgb, SampleType::u8);
    for (const char* metric : {"ssimulacra2", "butteraugli", "cvvdp", "dssim", "iwssim", "zensim", "psnr"}) {
      for (const auto& [function, code] : functions) {
        for (int calls = 0;; ++calls) {
          const HostMemory open = must(HostMemory::allocate("cuda", 1));
          fake->failure = 2;
          fake->calls_before_failure = calls;
          fake->failing_function = function;
          const auto told = [&](const Status& status) {
            EXPECT_TRUE(status.ok() || status.code() == code) << metric << ": " << status.message();
          };
          Result<Scorer> scorer = Scorer::create({.metrics = {metric}, .device = "cuda"}, width, height);
          told(scorer.status());
          if (!scorer.ok()) continue;
          told(scorer->score(view, view).status());
          const Result<Reference> reference = scorer->prepare(view);
          told(reference.status());
          if (reference.ok()) told(scorer->score(*reference, view).status());
          const std::vector<InputPair> pairs(3, {view, view});
          for (const auto& scores : must(scorer->score_many(pairs))) told(scores.status());
          const bool all_was_there = !fake->failing_function.empty();
          fake->failing_function.clear();
          EXPECT_TRUE(scorer->score(view, view).ok()) << metric << " after " << calls << " of " << function;
          if (all_was_there) break;
        }
      }
    }
  }
}

}  // namespace
}  // namespace acuity
