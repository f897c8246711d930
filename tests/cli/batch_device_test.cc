// SPDX-License-Identifier: BSD-2-Clause-Patent
// What commands over lists say of a GPU that is lost on the way, on a stand-in for CUDA's driver.
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/command.h"
#include "cli/slow_cpu_cache.h"

namespace acuity::test {
namespace {

constexpr int kSide = 300, kRows = 24;

std::string picture(const std::string& name, unsigned seed) {
  std::string ppm = fmt::format("P6\n{0} {0}\n255\n", kSide);
  for (unsigned i = 0; i < kSide * kSide * 3; ++i) ppm += static_cast<char>((i * (seed + 7) >> 3) & 255);
  write_file(scratch(name), ppm);
  return scratch(name);
}

// Lost after some rows, on a machine whose CPU is so slow that all of them go to the GPU first.
Surroundings lost_gpu(const std::string& input = {}) {
  return {.environment = {"ACUITY_CUDA_DRIVER=" FAKE_DRIVER, "ACUITY_FAKE_DRIVER=cuLaunchKernel 40 700",
                          slow_cpu_cache({"ssimulacra2"})},
          .input = input};
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(BatchOnALostDevice, TheSummarySaysWhyRowsLeftIt) {
  const std::string reference = picture("lost_r.ppm", 1), distorted = picture("lost_d.ppm", 2);
  const std::string list = scratch("lost.csv"), out = scratch("lost_out.csv");
  std::filesystem::remove(out);
  std::string rows = "reference,distorted\n";
  for (int i = 0; i < kRows; ++i) rows += fmt::format("{},{}\n", reference, distorted);
  write_file(list, rows);
  const Outcome outcome = acuity({"batch", list, "--devices", "cuda:0,cpu", "-o", out}, lost_gpu());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, fmt::format("{} rows scored", kRows))) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, " s (lost)")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "not on cuda:0")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, ", the first because: ")) << outcome.err;
}

TEST(ServeOnALostDevice, AnswersSayWhyRowsLeftIt) {
  const std::string reference = picture("lost_r.ppm", 1), distorted = picture("lost_d.ppm", 2);
  std::string rows;
  for (int i = 0; i < kRows; ++i) {
    rows += fmt::format("{{\"id\":{},\"reference\":\"{}\",\"distorted\":\"{}\"}}\n", i, reference, distorted);
  }
  const Outcome outcome = acuity({"serve", "--devices", "cuda:0,cpu"}, lost_gpu(rows));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "\"device\":\"cpu\",\"warnings\":[\"cuda:0 could not score it, so cpu did: "))
      << outcome.out;
  EXPECT_FALSE(contains(outcome.out, "\"error\"")) << outcome.out;
}

}  // namespace
}  // namespace acuity::test
