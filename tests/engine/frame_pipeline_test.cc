// SPDX-License-Identifier: BSD-2-Clause-Patent
// Features made up for the purpose: how frames reach them, on however many threads, and what comes back.
#include "engine/frame_pipeline.h"

#include <atomic>
#include <cstring>
#include <functional>
#include <numeric>

#include <gtest/gtest.h>

namespace acuity {
namespace {

constexpr int kWidth = 6, kHeight = 4;

using Measure = std::function<Status(const FrameWindow&, std::span<double>)>;

class MadeUp : public Feature {
 public:
  MadeUp(int history, Measure measure) : history_(history), measure_(std::move(measure)) {}
  const std::vector<FeatureOutput>& outputs() const override { return outputs_; }
  int history() const override { return history_; }
  Result<std::unique_ptr<FeatureWorker>> create_worker() const override {
    ++workers;
    return std::unique_ptr<FeatureWorker>(std::make_unique<Worker>(measure_));
  }
  // Each value becomes the smaller of itself and the next, as motion2 does.
  void conclude(FeatureSeries& series) const override {
    if (history_ == 0) return;
    for (size_t i = 0; i + 1 < series[0].size(); ++i) series[0][i] = std::min(series[0][i], series[0][i + 1]);
  }
  std::vector<NamedValue> aggregates(const FeatureSeries& series) const override {
    return {{"sum", std::accumulate(series[0].begin(), series[0].end(), 0.0)}};
  }
  mutable std::atomic<int> workers = 0;

 private:
  class Worker : public FeatureWorker {
   public:
    explicit Worker(Measure measure) : measure_(std::move(measure)) {}
    size_t bytes() const override { return 100; }
    Status measure(const FrameWindow& window, std::span<double> values) override { return measure_(window, values); }

   private:
    Measure measure_;
  };
  int history_;
  Measure measure_;
  std::vector<FeatureOutput> outputs_{{"output"}};
};

double first_sample(const FrameView& frame) {
  uint16_t sample = 0;
  std::memcpy(&sample, frame.planes[0], frame.depth > 8 ? 2 : 1);
  return sample;
}

// The frame's own sample, a hundred times that of the one before and ten thousand times the one before that.
Status look_back(const FrameWindow& window, std::span<double> values) {
  values[0] = 0;
  double weight = 1;
  for (const FrameView* frame : window.reference) {
    if (frame != nullptr) values[0] += weight * first_sample(*frame);
    weight *= 100;
  }
  return {};
}

Status own_sample(const FrameWindow& window, std::span<double> values) {
  values[0] = first_sample(*window.distorted[0]);
  return {};
}

FrameView format(int depth) {
  FrameView view;
  view.width = kWidth;
  view.height = kHeight;
  view.depth = depth;
  view.subsampling = Subsampling::grey;
  return view;
}

std::shared_ptr<std::vector<uint16_t>> samples(int value) {
  return std::make_shared<std::vector<uint16_t>>(kWidth * kHeight, static_cast<uint16_t>(value));
}

FrameView view_of(const std::vector<uint16_t>& samples, int depth) {
  FrameView view = format(depth);
  view.planes[0] = reinterpret_cast<const std::byte*>(samples.data());
  view.row_strides[0] = kWidth * 2;
  return view;
}

std::vector<PipelineFeature> two_features(int depth, int wide_depth) {
  std::vector<PipelineFeature> list;
  list.push_back({std::make_unique<MadeUp>(2, look_back), depth, "look_back"});
  list.push_back({std::make_unique<MadeUp>(0, own_sample), wide_depth, "own_sample"});
  return list;
}

// Frames hold 1, 2, 3, ...; those in `scored` are scored and the rest are neighbours.
std::vector<FeatureResult> run(int threads, const std::vector<bool>& scored, bool owned, int depth = 8,
                               int wide_depth = 8) {
  FramePipeline pipeline(format(depth), two_features(depth, wide_depth), threads);
  for (size_t i = 0; i < scored.size(); ++i) {
    auto memory = samples(static_cast<int>(i) + 1);
    FrameView view = view_of(*memory, depth);
    if (owned) view.owner = memory;
    EXPECT_TRUE(pipeline.push(view, view, scored[i]).ok());
    // Without an owner the caller may do as it likes with the samples.
    if (!owned) memory->assign(memory->size(), 77);
  }
  Result<std::vector<FeatureResult>> results = pipeline.finish();
  EXPECT_TRUE(results.ok()) << results.status().message();
  return results.ok() ? std::move(*results) : std::vector<FeatureResult>();
}

TEST(FramePipeline, ResultsDoNotDependOnThreadsOrOwners) {
  const std::vector<bool> all(23, true);
  const std::vector<FeatureResult> expected = run(1, all, true);
  ASSERT_EQ(expected.size(), 2u);
  EXPECT_EQ(expected[0].series[0][0], 1);
  EXPECT_EQ(expected[0].series[0][5], 6 + 100 * 5 + 10000 * 4);
  EXPECT_EQ(expected[1].series[0][22], 23);
  EXPECT_EQ(expected[1].aggregates[0].value, 23 * 24 / 2);
  for (const int threads : {1, 2, 3, 8}) {
    for (const bool owned : {true, false}) {
      const std::vector<FeatureResult> results = run(threads, all, owned);
      EXPECT_EQ(results[0].series, expected[0].series) << threads << owned;
      EXPECT_EQ(results[1].series, expected[1].series) << threads << owned;
    }
  }
}

TEST(FramePipeline, NeighboursAreSeenButNotScored) {
  std::vector<bool> scored(12, false);
  scored[3] = scored[7] = true;
  for (const int threads : {1, 3}) {
    const std::vector<FeatureResult> results = run(threads, scored, false);
    EXPECT_EQ(results[0].series[0], (std::vector<double>{4 + 300 + 20000, 8 + 700 + 60000}));
    EXPECT_EQ(results[1].series[0], (std::vector<double>{4, 8}));
    EXPECT_EQ(results[1].aggregates[0].value, 12);
  }
}

TEST(FramePipeline, SamplesAreWidenedForThoseThatAsk) {
  for (const int threads : {1, 2}) {
    const std::vector<FeatureResult> results = run(threads, std::vector<bool>(5, true), false, 8, 10);
    EXPECT_EQ(results[0].series[0][4], 5 + 100 * 4 + 10000 * 3);
    EXPECT_EQ(results[1].series[0], (std::vector<double>{4, 8, 12, 16, 20}));
  }
}

TEST(FramePipeline, FramesInFlightAreBounded) {
  std::vector<PipelineFeature> features = two_features(8, 8);
  FramePipeline pipeline(format(8), std::move(features), 2);
  std::vector<std::weak_ptr<std::vector<uint16_t>>> alive;
  for (int i = 0; i < 50; ++i) {
    auto memory = samples(i);
    alive.push_back(memory);
    FrameView view = view_of(*memory, 8);
    view.owner = memory;
    memory.reset();
    ASSERT_TRUE(pipeline.push(view, view, true).ok());
    view.owner.reset();
    // In work, looked back at by those, and by the next.
    EXPECT_LE(std::count_if(alive.begin(), alive.end(), [](const auto& frame) { return !frame.expired(); }), 3 + 2 + 2);
  }
  EXPECT_TRUE(pipeline.finish().ok());
}

TEST(FramePipeline, EachThreadHasOneWorkerAtMost) {
  auto feature = std::make_unique<MadeUp>(0, own_sample);
  const MadeUp& counted = *feature;
  std::vector<PipelineFeature> features;
  features.push_back({std::move(feature), 8, "own_sample"});
  FramePipeline pipeline(format(8), std::move(features), 3);
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(pipeline.push(view_of(*samples(i), 8), view_of(*samples(i), 8), true).ok());
  const Result<std::vector<FeatureResult>> results = pipeline.finish();
  ASSERT_TRUE(results.ok());
  EXPECT_LE(counted.workers, 3);
  EXPECT_EQ((*results)[0].worker_bytes, static_cast<size_t>(counted.workers) * 100);
}

TEST(FramePipeline, TheFirstFailureIsReportedWhateverTheThreads) {
  for (const int threads : {1, 2, 4}) {
    std::vector<PipelineFeature> features;
    features.push_back({std::make_unique<MadeUp>(0, own_sample), 8, "good"});
    features.push_back({std::make_unique<MadeUp>(0,
                                                 [](const FrameWindow& window, std::span<double> values) -> Status {
                                                   if (window.index >= 3) return Status(StatusCode::input, "too late");
                                                   return own_sample(window, values);
                                                 }),
                        8, "bad"});
    FramePipeline pipeline(format(8), std::move(features), threads);
    for (int i = 0; i < 9; ++i) (void)pipeline.push(view_of(*samples(i), 8), view_of(*samples(i), 8), true);
    const Result<std::vector<FeatureResult>> results = pipeline.finish();
    EXPECT_EQ(results.status().message(), "frame 3: bad: too late");
  }
}

TEST(FramePipeline, ThrownExceptionsBecomeFailures) {
  std::vector<PipelineFeature> features;
  features.push_back(
      {std::make_unique<MadeUp>(0, [](const FrameWindow&, std::span<double>) -> Status { throw std::bad_alloc(); }), 8,
       "bad"});
  FramePipeline pipeline(format(8), std::move(features), 2);
  (void)pipeline.push(view_of(*samples(1), 8), view_of(*samples(1), 8), true);
  EXPECT_EQ(pipeline.finish().status().code(), StatusCode::out_of_memory);
}

TEST(FramePipeline, FramesThatDoNotFitAreRefused) {
  FramePipeline pipeline(format(10), two_features(10, 10), 2);
  const auto fits = samples(1023), above = samples(1024);
  EXPECT_EQ(pipeline.push(view_of(*fits, 8), view_of(*fits, 10), true).code(), StatusCode::input);
  FrameView none = view_of(*fits, 10);
  none.planes[0] = nullptr;
  EXPECT_EQ(pipeline.push(view_of(*fits, 10), none, true).code(), StatusCode::usage);
  EXPECT_TRUE(pipeline.push(view_of(*fits, 10), view_of(*fits, 10), true).ok());
  (void)pipeline.push(view_of(*fits, 10), view_of(*above, 10), true);
  EXPECT_EQ(pipeline.finish().status().message(),
            "frame 1: the distorted has a sample above 1023, the most that 10 bits hold");
}

TEST(FramePipeline, CanBeLeftInTheMiddle) {
  FramePipeline pipeline(format(8), two_features(8, 8), 3);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(pipeline.push(view_of(*samples(i), 8), view_of(*samples(i), 8), true).ok());
}

}  // namespace
}  // namespace acuity
