// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/auto_device.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "acuity/scorer.h"
#include "support/layouts.h"

namespace acuity {
namespace {

std::array<const MetricEntry*, 1> entry(std::string_view name) {
  return {&*std::find_if(registry().begin(), registry().end(),
                         [&](const MetricEntry& one) { return one.info.name == name; })};
}

bool is_there(bool software) {
  const DeviceList list = list_devices();
  return std::any_of(list.devices.begin(), list.devices.end(),
                     [&](const DeviceInfo& info) { return info.is_software == software; });
}

TEST(AutoDevice, ExpectationsGrowWithTheWork) {
  const MetricEntry& metric = *entry("ssimulacra2")[0];
  const ExpectedWork pair{.pairs = 1, .width = 512, .height = 512, .threads = 1};
  ExpectedWork many = pair, larger = pair, shared = pair;
  many.pairs = 1000;
  larger.width = larger.height = 8192;
  shared.threads = 16;
  EXPECT_GT(expected_cpu_ms(metric.cpu_ns, many), expected_cpu_ms(metric.cpu_ns, pair));
  EXPECT_GT(expected_cpu_ms(metric.cpu_ns, larger), expected_cpu_ms(metric.cpu_ns, pair));
  EXPECT_LT(expected_cpu_ms(metric.cpu_ns, shared), expected_cpu_ms(metric.cpu_ns, pair));
  EXPECT_LT(expected_cpu_ms(metric.cpu_ns, pair), expected_gpu_ms(1, pair)) << "opening takes longer than one pair";
  EXPECT_GT(expected_cpu_ms(metric.cpu_ns, many), expected_gpu_ms(1, many));
  EXPECT_LT(expected_cpu_ms(entry("mse")[0]->cpu_ns, pair), expected_cpu_ms(metric.cpu_ns, pair));
  EXPECT_GT(expected_gpu_ms(2, pair), expected_gpu_ms(1, pair));
}

TEST(AutoDevice, LittleWorkStaysOnTheCpu) {
  const DeviceChoice choice =
      choose_device(entry("ssimulacra2"), {.pairs = 1, .width = 512, .height = 512, .threads = 2});
  EXPECT_EQ(choice.device, nullptr);
  EXPECT_TRUE(choice.reason.starts_with("auto chose the CPU: it is expected to score the pair in ")) << choice.reason;
}

// On a machine with a GPU it goes there; on one with none, or with one made of software, it does not.
TEST(AutoDevice, MuchWorkGoesToARealGpuAlone) {
  const DeviceChoice choice =
      choose_device(entry("ssimulacra2"), {.pairs = 100000, .width = 4096, .height = 4096, .threads = 2});
  EXPECT_EQ(choice.device != nullptr, is_there(false)) << choice.reason;
  if (choice.device) {
    EXPECT_FALSE(choice.device->info().is_software);
  } else {
    EXPECT_NE(choice.reason.find("no usable one was found"), std::string::npos) << choice.reason;
  }
}

TEST(AutoDevice, MapsAndMetricsWithoutKernelsStayOnTheCpu) {
  const ExpectedWork work{.pairs = 100000, .width = 4096, .height = 4096, .threads = 2, .want_map = true};
  EXPECT_EQ(choose_device(entry("ssimulacra2"), work).reason,
            "auto chose the CPU: ssimulacra2 makes difference maps on the CPU only");
  MetricEntry without = *entry("ssimulacra2")[0];
  without.on_gpu = false;
  const std::array<const MetricEntry*, 2> both{entry("mse")[0], &without};
  EXPECT_EQ(choose_device(both, {.pairs = 100000, .width = 4096, .height = 4096, .threads = 2}).reason,
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

TEST(AutoDevice, LavapipeIsSoftware) { EXPECT_TRUE(is_there(true)) << "lavapipe is needed for these tests"; }

}  // namespace
}  // namespace acuity
