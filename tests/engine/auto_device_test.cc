// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/auto_device.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "acuity/frame_scorer.h"
#include "acuity/plan.h"
#include "acuity/scorer.h"
#include "device/fake_driver_test.h"
#include "engine/requests.h"
#include "support/layouts.h"

namespace acuity {
namespace {

CostedMetric metric(std::string_view name) {
  return costed(*std::find_if(registry().begin(), registry().end(),
                              [&](const MetricEntry& one) { return one.info.name == name; }));
}

bool is_there(bool software) {
  const DeviceList list = list_devices();
  return std::any_of(list.devices.begin(), list.devices.end(),
                     [&](const DeviceInfo& info) { return info.is_software == software; });
}

TEST(AutoDevice, LittleWorkStaysOnTheCpu) {
  const std::array metrics{metric("ssimulacra2")};
  const DeviceChoice choice = choose_device(metrics, {.pairs = 1, .width = 512, .height = 512, .threads = 2}, {});
  EXPECT_EQ(choice.device, nullptr);
  EXPECT_EQ(choice.reason,
            "auto chose the CPU: it is expected to score the pair in 2.8 ms (guessed), and a GPU in 401 ms (guessed) "
            "with the time to open it");
}

// On a machine with a GPU it goes there; on one with none, or with one made of software, it does not.
TEST(AutoDevice, MuchWorkGoesToARealGpuAlone) {
  const std::array metrics{metric("ssimulacra2")};
  const DeviceChoice choice =
      choose_device(metrics, {.pairs = 100000, .width = 4096, .height = 4096, .threads = 2}, {});
  EXPECT_EQ(choice.device != nullptr, is_there(false)) << choice.reason;
  if (choice.device) {
    EXPECT_FALSE(choice.device->info().is_software);
  } else {
    EXPECT_EQ(choice.reason, "auto chose the CPU: a GPU might score 100000 pairs sooner, but no usable one was found");
  }
}

// The same work, by what was measured: no driver is loaded for it.
TEST(AutoDevice, MeasurementsCount) {
  const std::array metrics{metric("ssimulacra2")};
  Measurements measured;
  measured.note_device("cuda 1 a", {.id = "cuda:0", .name = "slow", .driver = "a", .uuid = "1", .cold_ms = 50});
  measured.note("cuda 1 a", "ssimulacra2", {}, 4096 * 4096, 80);
  const ExpectedWork work{.pairs = 100000, .width = 4096, .height = 4096, .threads = 2};
  EXPECT_EQ(choose_device(metrics, work, measured).reason,
            "auto chose the CPU: it is expected to score 100000 pairs in 4.9 h (guessed), and cuda:0 in 37.3 h "
            "(measured) with the time to open it");
  measured.note(measured_cpu_key(), "ssimulacra2", {}, 4096 * 4096, 40);
  EXPECT_EQ(choose_device(metrics, work, measured).reason,
            "auto chose the CPU: it is expected to score 100000 pairs in 9.3 h (measured), and cuda:0 in 37.3 h "
            "(measured) with the time to open it");
}

TEST(AutoDevice, MapsAndMetricsWithoutKernelsStayOnTheCpu) {
  const std::array metrics{metric("mse"), metric("ssimulacra2")};
  const ExpectedWork work{.pairs = 100000, .width = 4096, .height = 4096, .threads = 2, .want_map = true};
  EXPECT_EQ(choose_device(std::array{metric("ssimulacra2")}, work, {}).reason,
            "auto chose the CPU: ssimulacra2 makes difference maps on the CPU only");
  std::array both = metrics;
  both[1].on_gpu = false;
  EXPECT_EQ(choose_device(both, {.pairs = 100000, .width = 4096, .height = 4096, .threads = 2}, {}).reason,
            "auto chose the CPU: ssimulacra2 has no GPU version");
}

TEST(AutoDevice, IsToldInTheResult) {
  const tests::Sheet sheet({}, 16, 16, Channels::rgb, [](int, int x, int y) { return x * y / 256.0; });
  Result<Scorer> scorer = Scorer::create({.metrics = {"mse"}, .expected_pairs = 3}, 16, 16);
  ASSERT_TRUE(scorer.ok());
  const Result<std::vector<Score>> score = scorer->score(sheet.view, sheet.view);
  ASSERT_TRUE(score.ok());
  const std::vector<std::string>& told = score->front().provenance.assumptions;
  EXPECT_TRUE(std::any_of(told.begin(), told.end(), [](const std::string& fact) {
    return fact.starts_with("device: auto chose the CPU: it is expected to score 3 pairs in ");
  }));
}

// A process learns by itself, and keeps that to itself.
TEST(AutoDevice, ScoresAreNoted) {
  const tests::Sheet sheet({}, 64, 64, Channels::rgb, [](int, int x, int y) { return x * y / 4096.0; });
  const auto figure = [](const RowMode& mode) {
    return process_measurements().now().row_ns(measured_cpu_key(), "psnr", mode, 64 * 64);
  };
  ASSERT_FALSE(figure({}));
  Result<Scorer> scorer = Scorer::create({.metrics = {"psnr"}, .device = "cpu", .threads = 1}, 64, 64);
  ASSERT_TRUE(scorer.ok());
  ASSERT_TRUE(scorer->score(sheet.view, sheet.view).ok());
  EXPECT_TRUE(figure({}));
  EXPECT_FALSE(figure({.kind = RowMode::Kind::prepare}));
  const Result<Reference> reference = scorer->prepare(sheet.view);
  ASSERT_TRUE(reference.ok());
  EXPECT_TRUE(figure({.kind = RowMode::Kind::prepare}));
  ASSERT_TRUE(scorer->score(*reference, sheet.view).ok());
  EXPECT_TRUE(figure({.kind = RowMode::Kind::prepared}));
  EXPECT_FALSE(figure({.strip = true}));
}

// On a stand-in for CUDA's driver with two GPUs of 8 GiB, of which tests state how much is free.
class AutoDeviceMemory : public FakeDriverTest {
 protected:
  void SetUp() override {
    load("ACUITY_CUDA_DRIVER", FAKE_DRIVER);
    unsetenv(kCap);
  }
  void TearDown() override {
    unsetenv(kCap);
    FakeDriverTest::TearDown();
  }

  static int64_t needs(const MemoryMode& mode) {
    return must(plan_memory({.metrics = {"ssimulacra2"}, .device = "cuda", .memory = mode}, kSide, kSide)).pair.device;
  }

  // Work that a GPU is expected to do sooner.
  static Score score(const MemoryMode& mode = {}) {
    const tests::Sheet sheet({}, kSide, kSide, Channels::rgb, [](int, int x, int y) { return (x ^ y) / 2048.0; });
    Scorer scorer =
        must(Scorer::create({.metrics = {"ssimulacra2"}, .expected_pairs = 1'000'000, .memory = mode}, kSide, kSide));
    return must(scorer.score(sheet.view, sheet.view)).front();
  }
  static std::string reason(const Score& score) {
    for (const std::string& fact : score.provenance.assumptions) {
      if (fact.starts_with("device: ")) return fact;
    }
    return "";
  }

  static constexpr const char* kCap = "ACUITY_VRAM_CAP_BYTES";
  static constexpr int kSide = 1100;
};

TEST_F(AutoDeviceMemory, WhatIsFreeIsAskedOfAnOpenDevice) {
  fake->free_bytes = 5000;
  EXPECT_EQ(most_available_bytes("cuda:0", 8000, {}), 8000);
  EXPECT_EQ(most_available_bytes("cuda:0", 8000, 6000), 6000);
  EXPECT_EQ(most_available_bytes("a GPU", -1, {}), -1);
  EXPECT_EQ(most_available_bytes("a GPU", -1, 6000), 6000);
  EXPECT_TRUE(fake->calls.empty()) << "nothing was opened for it";
  fake->free_bytes = 50'000'000;
  const std::shared_ptr<Device> device = must(open_device("cuda:0"));
  fake->free_bytes = fake->bytes["memory"] + 5000;
  EXPECT_EQ(most_available_bytes("cuda:0", 8000, {}), 5000);
  EXPECT_EQ(most_available_bytes("cuda:0", 8000, 3000), 3000);
  EXPECT_EQ(most_available_bytes("cuda:1", 8000, {}), 8000);
}

TEST_F(AutoDeviceMemory, AGpuWithTooLittleFreeMemoryIsNotChosen) {
  const int64_t full = needs(MemoryMode::full()), strip = needs(MemoryMode::strip(16));
  ASSERT_LT(strip, full);
  fake->free_bytes = static_cast<size_t>(full) + (8 << 20);
  Score scored = score();
  EXPECT_TRUE(scored.provenance.device.starts_with("cuda:0")) << reason(scored);
  EXPECT_EQ(scored.provenance.memory_mode, "full");

  fake->free_bytes = static_cast<size_t>(strip + full) / 2;
  scored = score();
  EXPECT_TRUE(scored.provenance.device.starts_with("cuda:0")) << reason(scored);
  EXPECT_TRUE(scored.provenance.memory_mode.starts_with("strip ")) << scored.provenance.memory_mode;
  scored = score(MemoryMode::full());
  EXPECT_TRUE(scored.provenance.device.starts_with("cpu"));
  EXPECT_TRUE(reason(scored).starts_with("device: auto chose the CPU: cuda:1 needs ")) << reason(scored);

  fake->free_bytes = static_cast<size_t>(strip) / 2;
  scored = score();
  EXPECT_TRUE(scored.provenance.device.starts_with("cpu"));
  EXPECT_TRUE(reason(scored).starts_with("device: auto chose the CPU: cuda:1 needs ")) << reason(scored);
  EXPECT_TRUE(contains(reason(scored), " MiB of memory, but ")) << reason(scored);
}

TEST_F(AutoDeviceMemory, TheCapCountsBeforeAnythingIsOpened) {
  fake->free_bytes = size_t{1} << 30;
  setenv(kCap, "1000000", 1);
  const std::string why = reason(score());
  EXPECT_TRUE(contains(why, " needs ")) << why;  // a GPU, or one that another test has measured
  EXPECT_TRUE(why.ends_with(" MiB of memory, but 1 MiB are free")) << why;
  EXPECT_TRUE(fake->calls.empty()) << "no driver is loaded for that";
  setenv(kCap, "1 MB", 1);
  EXPECT_EQ(Scorer::create({.metrics = {"mse"}}, 64, 64).status().code(), StatusCode::usage);
}

TEST_F(AutoDeviceMemory, FramesArePlannedToo) {
  FrameScorerOptions options;
  options.metrics = {{"float_motion"}};
  options.expected_frames = 1'000'000;
  options.threads = 1;
  constexpr int kHalf = 512;
  options.format.width = options.format.height = 2 * kHalf;
  const auto frame = [&](uint8_t value) {
    static std::array<std::vector<std::byte>, 2> samples;
    std::vector<std::byte>& mine = samples[value % 2];
    mine.assign(6 * kHalf * kHalf, std::byte{value});
    FrameView view{options.format};
    for (size_t plane = 0; plane < 3; ++plane) {
      view.planes[plane] = mine.data() + (plane == 0 ? 0 : (3 + plane) * kHalf * kHalf);
      view.row_strides[plane] = plane == 0 ? 2 * kHalf : kHalf;
    }
    return view;
  };
  for (const auto& [cap, device] : {std::pair("1000000000", "cuda:0"), {"100000", "cpu"}}) {
    fake->free_bytes = size_t{1} << 30;
    setenv(kCap, cap, 1);
    FrameScorer scorer = must(FrameScorer::create(options));
    ASSERT_TRUE(scorer.push(frame(100), frame(101)).ok());
    const Result<std::vector<FrameScore>> scores = scorer.finish();
    ASSERT_TRUE(scores.ok()) << scores.status().message();
    const Provenance& found = scores->front().provenance;
    EXPECT_TRUE(found.device.starts_with(device)) << testing::PrintToString(found.assumptions);
  }
}

TEST(AutoDevice, LavapipeIsSoftware) { EXPECT_TRUE(is_there(true)) << "lavapipe is needed for these tests"; }

}  // namespace
}  // namespace acuity
