// SPDX-License-Identifier: BSD-2-Clause-Patent
// Features made up for the purpose: how frames reach them, on however many threads, and what comes back.
#include "engine/frame_pipeline.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

#include "base/try.h"

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
  // With a history, each value becomes the smaller of itself and the next, as motion2 does.
  int numbers_after() const override { return history_ == 0 ? 0 : 1; }
  void conclude(const MeasuredWindow& window, std::span<double> values) const override {
    values[0] = window[0][0];
    if (history_ > 0 && window.has(1)) values[0] = std::min(values[0], window[1][0]);
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

FrameShape format(int depth) { return {kWidth, kHeight, depth, Subsampling::grey}; }

std::shared_ptr<std::vector<uint16_t>> samples(int value) {
  return std::make_shared<std::vector<uint16_t>>(kWidth * kHeight, static_cast<uint16_t>(value));
}

FrameView view_of(const std::vector<uint16_t>& samples, int depth) {
  FrameView view{format(depth)};
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

// What came of all frames.
struct Found {
  Status status;
  std::vector<FeatureSeries> series;
  std::vector<double> sums;
};

Found finish(FramePipeline& pipeline, size_t features) {
  Found found{pipeline.finish(), {}, {}};
  pipeline.conclude();
  for (size_t f = 0; f < features; ++f) {
    found.series.push_back(pipeline.series(f));
    found.sums.push_back(pipeline.feature(f).feature->aggregates(pipeline.series(f))[0].value);
  }
  return found;
}

// Frames hold 1, 2, 3, ...; those in `scored` are scored and the rest are neighbours.
Found run(int threads, const std::vector<bool>& scored, bool owned, int depth = 8, int wide_depth = 8) {
  FramePipeline pipeline(format(depth), two_features(depth, wide_depth), threads);
  for (size_t i = 0; i < scored.size(); ++i) {
    auto memory = samples(static_cast<int>(i) + 1);
    FrameView view = view_of(*memory, depth);
    if (owned) view.owner = memory;
    EXPECT_TRUE(pipeline.push(view, view, static_cast<int64_t>(i), scored[i]).ok());
    // Without an owner the caller may do as it likes with the samples.
    if (!owned) memory->assign(memory->size(), 77);
  }
  Found found = finish(pipeline, 2);
  EXPECT_TRUE(found.status.ok()) << found.status.message();
  return found;
}

Status push(FramePipeline& pipeline, int value) {
  return pipeline.push(view_of(*samples(value), 8), view_of(*samples(value), 8), value, true);
}

TEST(FramePipeline, ResultsDoNotDependOnThreadsOrOwners) {
  const std::vector<bool> all(23, true);
  const Found expected = run(1, all, true);
  EXPECT_EQ(expected.series[0][0][0], 1);
  EXPECT_EQ(expected.series[0][0][5], 6 + 100 * 5 + 10000 * 4);
  EXPECT_EQ(expected.series[1][0][22], 23);
  EXPECT_EQ(expected.sums[1], 23 * 24 / 2);
  for (const int threads : {1, 2, 3, 8}) {
    for (const bool owned : {true, false}) {
      const Found found = run(threads, all, owned);
      EXPECT_EQ(found.series, expected.series) << threads << owned;
    }
  }
}

TEST(FramePipeline, NeighboursAreSeenButNotScored) {
  std::vector<bool> scored(12, false);
  scored[3] = scored[7] = true;
  for (const int threads : {1, 3}) {
    const Found found = run(threads, scored, false);
    EXPECT_EQ(found.series[0][0], (std::vector<double>{4 + 300 + 20000, 8 + 700 + 60000}));
    EXPECT_EQ(found.series[1][0], (std::vector<double>{4, 8}));
    EXPECT_EQ(found.sums[1], 12);
  }
}

TEST(FramePipeline, SamplesAreWidenedForThoseThatAsk) {
  for (const int threads : {1, 2}) {
    const Found found = run(threads, std::vector<bool>(5, true), false, 8, 10);
    EXPECT_EQ(found.series[0][0][4], 5 + 100 * 4 + 10000 * 3);
    EXPECT_EQ(found.series[1][0], (std::vector<double>{4, 8, 12, 16, 20}));
  }
}

// Measures several frames at once. The first two look at frames that follow them.
class Several : public MadeUp {
 public:
  explicit Several(int together) : MadeUp(2, look_around), together_(together) {}
  int lookahead(int64_t index) const override { return index < 2 ? 2 - static_cast<int>(index) : 0; }
  int together() const override { return together_; }
  int numbers_after() const override { return 0; }
  void conclude(const MeasuredWindow& window, std::span<double> values) const override { values[0] = window[0][0]; }

 private:
  static Status look_around(const FrameWindow& window, std::span<double> values) {
    ACUITY_TRY(look_back(window, values));
    EXPECT_EQ(window.following[0].size(), window.index < 2 ? static_cast<size_t>(2 - window.index) : 0);
    double weight = 1e6;
    for (const FrameView* frame : window.following[1]) {
      if (frame != nullptr) values[0] += weight * first_sample(*frame);
      weight *= 100;
    }
    return {};
  }
  int together_;
};

TEST(FramePipeline, FramesMeasuredTogetherAndAheadGiveTheSameNumbers) {
  const auto measured = [](int together, int threads, int frames, const std::function<bool(int)>& scored) {
    std::vector<PipelineFeature> features;
    features.push_back({std::make_unique<Several>(together), 8, "several"});
    FramePipeline pipeline(format(8), std::move(features), threads);
    EXPECT_EQ(pipeline.frames_after(), 2);
    for (int i = 0; i < frames; ++i) {
      auto memory = samples(i + 1);
      EXPECT_TRUE(pipeline.push(view_of(*memory, 8), view_of(*memory, 8), i, scored(i)).ok());
      memory->assign(memory->size(), 77);
    }
    const Found found = finish(pipeline, 1);
    EXPECT_TRUE(found.status.ok()) << found.status.message();
    return found.series[0][0];
  };
  const auto all = [](int) { return true; };
  // Of a sequence that ends before, there is no more to see.
  EXPECT_EQ(measured(1, 1, 1, all), (std::vector<double>{1}));
  EXPECT_EQ(measured(1, 1, 2, all), (std::vector<double>{1 + 2e6, 2 + 100}));
  EXPECT_EQ(measured(4, 2, 3, all), (std::vector<double>{1 + 2e6 + 3e8, 2 + 100 + 3e6, 3 + 200 + 10000}));
  for (const auto& scored : {std::function<bool(int)>(all), std::function<bool(int)>([](int i) { return i % 3 == 1; }),
                             std::function<bool(int)>([](int i) { return i >= 5 && i < 9; })}) {
    for (const int frames : {3, 7, 23}) {
      const std::vector<double> expected = measured(1, 1, frames, scored);
      for (const int together : {1, 2, 4, 40}) {
        for (const int threads : {1, 2, 5}) EXPECT_EQ(measured(together, threads, frames, scored), expected);
      }
    }
  }
}

// Whoever waits for a frame does not wait for those that would have been measured with it.
TEST(FramePipeline, AFrameIsFinalBeforeThereAreEnoughToMeasureTogether) {
  for (const int threads : {1, 3}) {
    std::vector<PipelineFeature> features;
    features.push_back({std::make_unique<Several>(16), 8, "several"});
    FramePipeline pipeline(format(8), std::move(features), threads);
    ASSERT_TRUE(push(pipeline, 1).ok());
    ASSERT_TRUE(pipeline.wait_for(0).ok());
    EXPECT_EQ(pipeline.conclude(), 0u);  // it looks ahead
    ASSERT_TRUE(push(pipeline, 2).ok());
    ASSERT_TRUE(push(pipeline, 3).ok());
    ASSERT_TRUE(pipeline.wait_for(2).ok());
    EXPECT_EQ(pipeline.conclude(), 3u);
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
    ASSERT_TRUE(pipeline.push(view, view, i, true).ok());
    view.owner.reset();
    // In progress, looked back at by those, and by the next; and a window that the other thread is about to let go.
    EXPECT_LE(std::count_if(alive.begin(), alive.end(), [](const auto& frame) { return !frame.expired(); }),
              3 + 2 + 2 + 3);
  }
  EXPECT_TRUE(pipeline.finish().ok());
}

TEST(FramePipeline, EachThreadHasOneWorkerAtMost) {
  auto feature = std::make_unique<MadeUp>(0, own_sample);
  const MadeUp& counted = *feature;
  std::vector<PipelineFeature> features;
  features.push_back({std::move(feature), 8, "own_sample"});
  FramePipeline pipeline(format(8), std::move(features), 3);
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(push(pipeline, i).ok());
  ASSERT_TRUE(pipeline.finish().ok());
  EXPECT_LE(counted.workers, 3);
  EXPECT_EQ(pipeline.cost(0).bytes, static_cast<size_t>(counted.workers) * 100);
}

// A history as long as that of temporal filters.
TEST(FramePipeline, HistoryIsAsLongAsAFeatureAsks) {
  constexpr int kHistory = 40;
  const Measure add_window = [](const FrameWindow& window, std::span<double> numbers) -> Status {
    EXPECT_EQ(window.reference.size(), size_t{kHistory + 1});
    numbers[0] = 0;
    for (const FrameView* frame : window.distorted) numbers[0] += frame != nullptr ? first_sample(*frame) : 0;
    return {};
  };
  for (const int threads : {1, 4}) {
    std::vector<PipelineFeature> features;
    features.push_back({std::make_unique<MadeUp>(kHistory, add_window), 8, "add_window"});
    features.push_back({std::make_unique<MadeUp>(1, own_sample), 10, "own_sample"});
    FramePipeline pipeline(format(8), std::move(features), threads);
    EXPECT_EQ(pipeline.frames_before(), kHistory);
    EXPECT_EQ(pipeline.frames_after(), 1);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(push(pipeline, i).ok());
    const Found found = finish(pipeline, 2);
    ASSERT_TRUE(found.status.ok());
    EXPECT_EQ(found.series[0][0][3], 0 + 1 + 2 + 3);
    EXPECT_EQ(found.series[0][0][99], (kHistory + 1) * (99 + 99 - kHistory) / 2);
    EXPECT_EQ(found.series[1][0][99], 4 * 99);
  }
}

// Keeps the first sample of each reference, and compares it with that of three frames before.
class Deriving : public Feature {
 public:
  struct Kept : DerivedFrame {
    explicit Kept(const Deriving& feature, double kept) : maker(feature), sample(kept) {
      maker.most_alive = std::max(maker.most_alive.load(), ++maker.alive);
    }
    ~Kept() override { --maker.alive; }
    size_t bytes() const override { return 1000; }
    const Deriving& maker;
    double sample;
  };
  class Worker : public FeatureWorker {
   public:
    explicit Worker(const Deriving& feature) : feature_(feature) {}
    size_t bytes() const override { return 1; }
    Result<std::shared_ptr<const DerivedFrame>> derive(Role role, const FrameView& frame) override {
      EXPECT_EQ(role, Role::reference);
      ++feature_.made;
      if (first_sample(frame) == feature_.fails_at) return Status(StatusCode::input, "cannot keep it");
      return std::shared_ptr<const DerivedFrame>(std::make_shared<Kept>(feature_, first_sample(frame)));
    }
    Status measure(const FrameWindow& window, std::span<double> numbers) override {
      EXPECT_EQ(window.derived[1][0], nullptr);
      const auto sample = [&](size_t back) {
        const DerivedFrame* frame = window.derived[0][back];
        return frame == nullptr ? -1 : static_cast<const Kept*>(frame)->sample;
      };
      numbers[0] = sample(0) * 1000 + sample(3);
      return {};
    }

   private:
    const Deriving& feature_;
  };

  const std::vector<FeatureOutput>& outputs() const override { return outputs_; }
  int history() const override { return 3; }
  bool derives(Role role) const override { return role == Role::reference; }
  Result<std::unique_ptr<FeatureWorker>> create_worker() const override {
    return std::unique_ptr<FeatureWorker>(std::make_unique<Worker>(*this));
  }
  std::vector<NamedValue> aggregates(const FeatureSeries&) const override { return {{"none", 0}}; }

  mutable std::atomic<int> made = 0, alive = 0, most_alive = 0;
  double fails_at = -1;

 private:
  std::vector<FeatureOutput> outputs_{{"output"}};
};

TEST(FramePipeline, DerivedFramesAreMadeOnceSharedAndFreed) {
  for (const int threads : {1, 2, 5}) {
    auto feature = std::make_unique<Deriving>();
    const Deriving& counted = *feature;
    std::vector<PipelineFeature> features;
    features.push_back({std::move(feature), 8, "deriving"});
    features.push_back({std::make_unique<MadeUp>(20, look_back), 8, "longer"});
    FramePipeline pipeline(format(8), std::move(features), threads);
    for (int i = 0; i < 60; ++i) ASSERT_TRUE(push(pipeline, i).ok());
    const Found found = finish(pipeline, 2);
    ASSERT_TRUE(found.status.ok()) << found.status.message();
    EXPECT_EQ(found.series[0][0][2], 2000 - 1);
    EXPECT_EQ(found.series[0][0][50], 50000 + 47);
    EXPECT_EQ(counted.made, 60);
    // Of frames in flight, and of those that each other thread is about to let go: each with three before it.
    EXPECT_LE(counted.most_alive, (threads == 1 ? 1 : 2 * threads) * (1 + 3));
    EXPECT_EQ(counted.alive, 3) << "for frames that might have followed";
    EXPECT_GE(pipeline.cost(0).bytes, 4000u);
    EXPECT_LE(pipeline.cost(0).bytes, static_cast<size_t>(counted.most_alive) * 1000 + 5);
  }
}

TEST(FramePipeline, AFrameThatCannotBeDerivedFailsAndNoneAfterItIsLookedAt) {
  for (const int threads : {1, 4}) {
    auto feature = std::make_unique<Deriving>();
    feature->fails_at = 5;
    std::vector<PipelineFeature> features;
    features.push_back({std::move(feature), 8, "deriving"});
    FramePipeline pipeline(format(8), std::move(features), threads);
    for (int i = 0; i < 12; ++i) (void)push(pipeline, i);
    EXPECT_EQ(pipeline.finish().message(), "frame 5: deriving: cannot keep it");
    EXPECT_EQ(pipeline.conclude(), 5u);
    EXPECT_EQ(pipeline.series(0)[0].size(), 5u);
  }
}

TEST(FramePipeline, ValuesAreFinalAsSoonAsTheNextFrameIsMeasured) {
  FramePipeline pipeline(format(8), two_features(8, 8), 1);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(push(pipeline, i).ok());
    EXPECT_EQ(pipeline.conclude(), static_cast<size_t>(i));
  }
  EXPECT_TRUE(pipeline.wait_for(9).ok());
  EXPECT_EQ(pipeline.conclude(), 9u) << "the tenth waits for one more";
  EXPECT_TRUE(pipeline.finish().ok());
  EXPECT_EQ(pipeline.conclude(), 10u);
}

TEST(FramePipeline, WaitingForAFrameOnThreadsMakesItFinal) {
  FramePipeline pipeline(format(8), two_features(8, 8), 4);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(push(pipeline, i).ok());
  EXPECT_TRUE(pipeline.wait_for(3).ok());
  EXPECT_EQ(pipeline.conclude(), 4u);
  EXPECT_EQ(pipeline.series(1)[0], (std::vector<double>{0, 1, 2, 3}));
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
    for (int i = 0; i < 9; ++i) {
      (void)pipeline.push(view_of(*samples(i), 8), view_of(*samples(i), 8), 100 + 5 * i, true);
    }
    EXPECT_EQ(pipeline.finish().message(), "frame 115: bad: too late");
    EXPECT_EQ(pipeline.conclude(), 3u) << "what was measured before it is there";
    EXPECT_EQ(pipeline.series(1)[0], (std::vector<double>{0, 1, 2}));
  }
}

TEST(FramePipeline, ThrownExceptionsBecomeFailures) {
  std::vector<PipelineFeature> features;
  features.push_back(
      {std::make_unique<MadeUp>(0, [](const FrameWindow&, std::span<double>) -> Status { throw std::bad_alloc(); }), 8,
       "bad"});
  FramePipeline pipeline(format(8), std::move(features), 2);
  (void)push(pipeline, 1);
  EXPECT_EQ(pipeline.finish().code(), StatusCode::out_of_memory);
}

TEST(FramePipeline, FramesThatDoNotFitAreRefused) {
  FramePipeline pipeline(format(10), two_features(10, 10), 2);
  const auto fits = samples(1023), above = samples(1024);
  EXPECT_EQ(pipeline.push(view_of(*fits, 8), view_of(*fits, 10), 0, true).code(), StatusCode::input);
  FrameView none = view_of(*fits, 10);
  none.planes[0] = nullptr;
  EXPECT_EQ(pipeline.push(view_of(*fits, 10), none, 0, true).code(), StatusCode::usage);
  EXPECT_TRUE(pipeline.push(view_of(*fits, 10), view_of(*fits, 10), 0, true).ok());
  (void)pipeline.push(view_of(*fits, 10), view_of(*above, 10), 1, true);
  EXPECT_EQ(pipeline.finish().message(), "frame 1: the distorted has a sample above 1023, the maximum of 10 bits");
}

TEST(FramePipeline, CanBeLeftInTheMiddle) {
  FramePipeline pipeline(format(8), two_features(8, 8), 3);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(push(pipeline, i).ok());
}

// Frames take longer than anybody waits: whoever cancels does not wait for them all.
TEST(FramePipeline, CanBeCancelledFromAnotherThread) {
  for (const int threads : {1, 3}) {
    std::atomic<int> measured = 0;
    std::vector<PipelineFeature> features;
    features.push_back({std::make_unique<MadeUp>(0,
                                                 [&](const FrameWindow&, std::span<double> numbers) -> Status {
                                                   ++measured;
                                                   std::this_thread::sleep_for(std::chrono::milliseconds(5));
                                                   numbers[0] = 1;
                                                   return {};
                                                 }),
                        8, "slow"});
    FramePipeline pipeline(format(8), std::move(features), threads);
    std::thread other([&] {
      while (measured < 3) std::this_thread::yield();
      pipeline.cancel();
    });
    Status status;
    int pushed = 0;
    while (status.ok() && pushed < 100000) status = push(pipeline, pushed++);
    other.join();
    EXPECT_EQ(status.code(), StatusCode::cancelled);
    EXPECT_LT(pushed, 100000);
    EXPECT_EQ(push(pipeline, pushed).code(), StatusCode::cancelled);
    EXPECT_EQ(pipeline.wait_for(0).code(), StatusCode::cancelled);
    EXPECT_EQ(pipeline.finish().code(), StatusCode::cancelled);
    EXPECT_LE(pipeline.conclude(), static_cast<size_t>(measured));
  }
}

}  // namespace
}  // namespace acuity
