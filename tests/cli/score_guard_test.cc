// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/score_guard.h"

#include <string>

#include <gtest/gtest.h>

namespace acuity::cli {
namespace {

const MetricChoice kPsnr{.name = "psnr", .options = {}, .label = "psnr"};

std::string file(int number) { return "file" + std::to_string(number) + ".png"; }

// Rows come in the order in which they are finished, which must not decide whether there is a warning.
TEST(ScoreGuard, AFileCountsOnceWhereverItsRowsAre) {
  ScoreGuard in_runs(kPsnr), in_turns(kPsnr), many(kPsnr);
  for (int i = 0; i < 100; ++i) {
    in_runs.add(100, file(i / 20));
    in_turns.add(100, file(i % 5));
    many.add(100, file(i % 10));
    for (ScoreGuard* guard : {&in_runs, &in_turns, &many}) guard->add(i / 8.0, file(i));
  }
  EXPECT_TRUE(in_runs.warnings().empty());
  EXPECT_TRUE(in_turns.warnings().empty()) << in_turns.warnings()[0];
  ASSERT_EQ(many.warnings().size(), 1u);
  EXPECT_EQ(many.warnings()[0],
            "psnr is exactly 100, the value of identical pictures, in 100 of 200 rows with 10 different files; check "
            "these files");
}

TEST(ScoreGuard, MoreFilesThanAreKeptAreFound) {
  ScoreGuard guard(kPsnr);
  for (int i = 0; i < 300'000; ++i) guard.add(30 + i % 16, file(i));
  EXPECT_EQ(guard.warnings().size(), 16u);
}

}  // namespace
}  // namespace acuity::cli
