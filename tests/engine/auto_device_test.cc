// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/auto_device.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "acuity/scorer.h"
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

TEST(AutoDevice, LavapipeIsSoftware) { EXPECT_TRUE(is_there(true)) << "lavapipe is needed for these tests"; }

}  // namespace
}  // namespace acuity
