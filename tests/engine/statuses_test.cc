// SPDX-License-Identifier: BSD-2-Clause-Patent
// What objects answer that were moved from, or called in the wrong order.
#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "acuity/frame_scorer.h"
#include "acuity/plan.h"
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
                               moved.push(Input(), Input()), moved.push_neighbour(Input(), Input()),
                               moved.finish().status(), moved.score_at(0).status(), moved.scores_so_far().status()}) {
    EXPECT_EQ(status.code(), StatusCode::usage);
    EXPECT_EQ(status.message(), "this FrameScorer was moved from; use the one it was moved to");
  }
  moved.cancel();
  EXPECT_TRUE(moved.output_names(0).empty());
  EXPECT_EQ(moved.frames_before() + moved.frames_after(), 0);
  EXPECT_EQ(moved.planes(), (std::array<PlaneSet, 2>{}));
}

TEST(Statuses, WhatIsThrownBecomesAStatus) {
  EXPECT_EQ(guarded<Status>([]() -> Status { throw std::bad_alloc(); }).code(), StatusCode::out_of_memory);
  const Status other = guarded<Status>([]() -> Status { throw std::runtime_error("odd"); });
  EXPECT_EQ(other.code(), StatusCode::internal);
  EXPECT_EQ(other.message(), "scoring failed: odd");
  EXPECT_EQ(*guarded<Result<int>>([]() -> Result<int> { return 7; }), 7);
}

TEST(Statuses, SizesThatNoPictureHasAreRefused) {
  constexpr int kLowest = std::numeric_limits<int>::min(), kHighest = std::numeric_limits<int>::max();
  const std::byte pixel[3]{};
  for (const auto& [width, height] : {std::pair(0, 8),
                                      {8, 0},
                                      {-1, 8},
                                      {8, -8},
                                      {kLowest, kLowest},
                                      {1048577, 8},
                                      {8, 1048577},
                                      {kHighest, kHighest}}) {
    const std::string message = "a picture of " + std::to_string(width) + "x" + std::to_string(height) +
                                " pixels cannot be scored: each side must be from 1 to 1048576";
    std::vector<Status> statuses;
    for (const MetricInfo& metric : metrics()) {
      if (metric.is_frame_metric) {
        const FrameFormat format{{.width = width, .height = height}};
        statuses.push_back(FrameScorer::create({.metrics = {{metric.name}}, .format = format}).status());
        continue;
      }
      for (const char* device : {"cpu", "cuda", "auto"}) {
        statuses.push_back(Scorer::create({.metrics = {metric.name}, .device = device}, width, height).status());
      }
      for (const char* device : {"cpu", "cuda"}) {
        statuses.push_back(plan_memory({.metrics = {metric.name}, .device = device}, width, height).status());
      }
    }
    ImageView view = interleaved_view(pixel, 1, 1, Channels::rgb, SampleType::u8);
    view.width = width;
    view.height = height;
    statuses.push_back(Input::copy(view).status());
    for (const Status& status : statuses) {
      EXPECT_EQ(status.code(), StatusCode::input);
      EXPECT_EQ(status.message(), message);
    }
    Result<Scorer> scorer = Scorer::create({.metrics = {"mse"}, .device = "cpu"}, 1, 1);
    ASSERT_TRUE(scorer.ok());
    EXPECT_EQ(scorer->score(view, view).status().code(), StatusCode::input);
    EXPECT_EQ(scorer->prepare(view).status().code(), StatusCode::input);
    EXPECT_EQ(scorer
                  ->score(Input(FrameView{{.width = width, .height = height}}, {{.width = width, .height = height}}),
                          interleaved_view(pixel, 1, 1, Channels::rgb, SampleType::u8))
                  .status()
                  .code(),
              StatusCode::input);
  }
}

// Rounded up to whole pages, so many bytes are none.
TEST(Statuses, MoreMemoryThanThereAreAddressesIsNotThere) {
  constexpr size_t kMost = std::numeric_limits<size_t>::max();
  for (const size_t bytes : {kMost, kMost - 62, kMost - 100, kMost - (size_t{1} << 20)}) {
    EXPECT_EQ(HostMemory::allocate("cpu", bytes).status().code(), StatusCode::out_of_memory) << bytes;
  }
}

// Nothing is scored before it is there, nor after the end.
TEST(Statuses, CallsInTheWrongOrderSaySo) {
  const tests::Sheet sheet({}, 16, 16, Channels::grey, [](int, int, int) { return 0.5; });
  Result<Scorer> scorer = Scorer::create({.metrics = {"mse"}, .device = "cpu"}, 16, 16);
  ASSERT_TRUE(scorer.ok());
  EXPECT_EQ(scorer->score(Reference(), sheet.view).status().message(),
            "the reference has no picture; use an Input with one, or what prepare() returned");
  EXPECT_EQ(scorer->start(Reference(), sheet.view)->finish().status().code(), StatusCode::usage);
  EXPECT_EQ(Reference().bytes(), 0);

  const FrameFormat format{{.width = 16, .height = 16, .subsampling = Subsampling::grey}};
  FrameView frame{format};
  frame.planes = {sheet.view.planes[0]};
  frame.row_strides = {sheet.view.row_stride};
  Result<FrameScorer> frames = FrameScorer::create({.metrics = {{"psnr_yuv"}}, .format = format, .device = "cpu"});
  ASSERT_TRUE(frames.ok()) << frames.status().message();
  EXPECT_EQ(frames->score_at(0).status().message(), "frame 0 was not pushed to be scored");
  EXPECT_EQ(frames->push(Input(), Input(frame, format)).message(),
            "the reference Input is not a frame; make it from a FrameView");
  EXPECT_EQ(frames->push(Input(frame, format), Input(sheet.view)).message(),
            "the distorted Input is not a frame; make it from a FrameView");
  ASSERT_TRUE(frames->push_neighbour(frame, frame).ok());
  EXPECT_EQ(frames->finish().status().message(), "no frame was pushed, so there is nothing to score");
  EXPECT_EQ(frames->finish().status().message(), "finish() was called before");
  const std::string ended = "finish() was called; make another FrameScorer for more frames";
  EXPECT_EQ(frames->push(frame, frame).message(), ended);
  EXPECT_EQ(frames->push_neighbour(frame, frame).message(), ended);
  frames->cancel();
  EXPECT_EQ(frames->push(frame, frame).message(), ended);
}

// Memory of the CPU is ordinary memory, as for pixels.
TEST(Statuses, AFrameOnTheCpuIsInTheHostsMemory) {
  const FrameFormat format{{.width = 64, .height = 48}};
  const std::vector<std::byte> dark(64 * 48, std::byte{20}), bright(64 * 48, std::byte{200});
  const auto view_of = [&](const std::vector<std::byte>& samples) {
    FrameView view{format};
    view.planes = {samples.data(), samples.data(), samples.data()};
    view.row_strides = {64, 32, 32};
    return view;
  };
  const FrameView reference = view_of(dark), distorted = view_of(bright);
  const auto push = [&](const Input& a, const Input& b) -> Result<double> {
    Result<FrameScorer> scorer =
        FrameScorer::create({.metrics = {{"psnr_yuv"}}, .format = format, .device = "cpu", .threads = 1});
    const Status pushed = scorer->push(a, b);
    if (!pushed.ok()) return pushed;
    return scorer->score_at(0)->values[0];
  };
  const auto on_cpu = [&](const FrameView& view, const SurfaceLayout& layout) {
    return Input::on_device(view, format, layout, "cpu");
  };
  const Result<double> here = push({reference, format}, {distorted, format});
  const Result<double> there = push(on_cpu(reference, {}), on_cpu(distorted, {}));
  ASSERT_TRUE(there.ok()) << there.status().message();
  EXPECT_EQ(*there, *here);
  const SurfaceLayout nv12{.chroma_pairs = true};
  EXPECT_EQ(push(on_cpu(reference, nv12), on_cpu(distorted, nv12)).status().message(),
            "the reference frame 0 is in the host's memory, where samples must lie as FrameView states");
  Result<Scorer> scorer = Scorer::create({.metrics = {"psnr"}, .device = "cpu"}, 64, 48);
  EXPECT_TRUE(scorer->score(on_cpu(reference, {}), on_cpu(distorted, {})).ok());
  EXPECT_EQ(scorer->score(on_cpu(reference, nv12), on_cpu(distorted, nv12)).status().code(), StatusCode::usage);
}

TEST(Statuses, DevicesThatAreNotThereAreUnknown) {
  for (const char* id : {"tpu", "vulkan:99", "cuda:x"}) {
    EXPECT_EQ(Scorer::create({.metrics = {"mse"}, .device = id}, 8, 8).status().code(), StatusCode::unknown_device)
        << id;
    if (std::string_view(id) == "vulkan:99") continue;  // memory is planned for GPUs that are elsewhere
    EXPECT_EQ(plan_memory({.metrics = {"mse"}, .device = id}, 8, 8).status().code(), StatusCode::unknown_device) << id;
    const FrameFormat format{{.width = 64, .height = 64}};
    EXPECT_EQ(plan_device_bytes({.metrics = {{"vmaf"}}, .format = format, .device = id}).status().code(),
              StatusCode::unknown_device)
        << id;
  }
}

TEST(Statuses, FramesOfADepthThatNoneHasAreNotPlanned) {
  for (const int depth : {-1, 0, 7, 17, 40}) {
    for (const char* device : {"cpu", "cuda"}) {
      EXPECT_EQ(plan_memory({.metrics = {"mse"}, .device = device}, {.width = 64, .height = 64, .depth = depth})
                    .status()
                    .code(),
                StatusCode::usage);
    }
  }
}

}  // namespace
}  // namespace acuity
