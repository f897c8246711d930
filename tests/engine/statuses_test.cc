// SPDX-License-Identifier: BSD-2-Clause-Patent
// What objects answer that were moved from, or called in the wrong order.
#include <utility>

#include <gtest/gtest.h>

#include "acuity/frame_scorer.h"
#include "acuity/scorer.h"
#include "base/guard.h"
#include "support/layouts.h"

namespace acuity {
namespace {

TEST(Statuses, AScorerThatWasMovedFromSaysSo) {
  Result<Scorer> created = Scorer::create({.metrics = {"mse"}, .device = "cpu"}, 8, 8);
  ASSERT_TRUE(created.ok());
  const Scorer kept = std::move(*created);
  Scorer& moved = *created;
  const tests::Sheet sheet({}, 8, 8, Channels::rgb, [](int, int, int) { return 0.5; });
  const InputPair pairs[] = {{sheet.view, sheet.view}};
  for (const Status& status :
       {moved.prepare(sheet.view).status(), moved.start(sheet.view, sheet.view).status(),
        moved.start(Reference(), sheet.view).status(), moved.score(sheet.view, sheet.view).status(),
        moved.score(Reference(), sheet.view).status(), moved.score_many(pairs).status()}) {
    EXPECT_EQ(status.code(), StatusCode::usage);
    EXPECT_EQ(status.message(), "this Scorer was moved from; use the one it was moved to");
  }
  EXPECT_TRUE(moved.metrics().empty());
  ASSERT_EQ(kept.metrics().size(), 1u);
  EXPECT_EQ(kept.metrics()[0]->name, "mse");
}

TEST(Statuses, AFrameScorerThatWasMovedFromSaysSo) {
  Result<FrameScorer> created =
      FrameScorer::create({.metrics = {{"motion"}}, .format = FrameFormat{{.width = 16, .height = 16}}});
  ASSERT_TRUE(created.ok()) << created.status().message();
  const FrameScorer kept = std::move(*created);
  FrameScorer& moved = *created;
  for (const Status& status : {moved.push(FrameView{}, FrameView{}), moved.push_neighbour(FrameView{}, FrameView{}),
                               moved.finish().status(), moved.score_at(0).status()}) {
    EXPECT_EQ(status.code(), StatusCode::usage);
    EXPECT_EQ(status.message(), "this FrameScorer was moved from; use the one it was moved to");
  }
  moved.cancel();
  EXPECT_TRUE(moved.output_names(0).empty());
  EXPECT_EQ(moved.frames_before() + moved.frames_after(), 0);
}

TEST(Statuses, WhatIsThrownBecomesAStatus) {
  EXPECT_EQ(guarded<Status>([]() -> Status { throw std::bad_alloc(); }).code(), StatusCode::out_of_memory);
  const Status other = guarded<Status>([]() -> Status { throw std::runtime_error("odd"); });
  EXPECT_EQ(other.code(), StatusCode::internal);
  EXPECT_EQ(other.message(), "scoring failed: odd");
  EXPECT_EQ(*guarded<Result<int>>([]() -> Result<int> { return 7; }), 7);
}

TEST(Statuses, DevicesThatAreNotThereAreUnknown) {
  for (const char* id : {"tpu", "vulkan:99", "cuda:x"}) {
    EXPECT_EQ(Scorer::create({.metrics = {"mse"}, .device = id}, 8, 8).status().code(), StatusCode::unknown_device)
        << id;
  }
}

}  // namespace
}  // namespace acuity
