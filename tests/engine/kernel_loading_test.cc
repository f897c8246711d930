// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which kernels are loaded, by how many threads, and what is said of one that is refused: on a stand-in for CUDA's
// driver.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "acuity/frame_scorer.h"
#include "acuity/input.h"
#include "acuity/scorer.h"
#include "base/threads.h"
#include "device/device.h"
#include "device/fake_driver_test.h"
#include "engine/metric.h"
#include "engine/plan.h"

namespace acuity {
namespace {

constexpr const char* kLoad = "cuModuleLoadDataEx";
constexpr int kSide = 512;

class KernelLoadingTest : public FakeDriverTest {
 protected:
  void SetUp() override {
    load("ACUITY_CUDA_DRIVER", FAKE_DRIVER);
    fake->free_bytes = size_t{1} << 30;
  }

  static ScorerOptions options_of(const std::vector<std::string>& metrics) {
    ScorerOptions options;
    options.device = "cuda";
    for (const std::string& metric : metrics) options.metrics.emplace_back(metric);
    return options;
  }

  static Input picture() {
    static const std::vector<unsigned char> samples(size_t{3} * kSide * kSide);
    return interleaved_view(samples.data(), kSide, kSide, Channels::rgb, SampleType::u8);
  }

  /// The files of all kernels that a pair runs.
  static size_t files_of(const ScorerOptions& options) {
    const std::vector<RequestedMetric> metrics = must(find_requested_metrics(options, kSide, kSide));
    const WorkPlan plan =
        must(plan_work({.metrics = metrics, .width = kSide, .height = kSide, .threads = 1, .gpu = Backend::cuda}));
    std::set<const KernelFile*> files;
    for (const KernelInfo& kernel : plan.kernels_of_pair) files.insert(kernel.file);
    return files.size();
  }

  /// From now on a thread that loads waits for another to do so.
  void expect_two_threads() {
    if (Threads(0).count() < 2) GTEST_SKIP() << "this process may use one core only";
    fake->on_call = [this](const std::string& call) {
      if (!call.starts_with(kLoad)) return;
      std::unique_lock lock(mutex_);
      loading_.insert(std::this_thread::get_id());
      changed_.notify_all();
      EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(60), [this] { return loading_.size() > 1; }));
    };
  }

  static std::vector<std::string> unused(const FakeDriver& fake) {
    std::vector<std::string> names;
    std::set_difference(fake.found.begin(), fake.found.end(), fake.launched.begin(), fake.launched.end(),
                        std::back_inserter(names));
    return names;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::thread::id> loading_;
};

TEST_F(KernelLoadingTest, FilesOfSeveralMetricsAreLoadedSideBySideAndOnce) {
  const auto device = must(open_device("cuda"));
  const ScorerOptions options = options_of({"ssimulacra2", "butteraugli", "dssim", "iwssim", "msssim"});
  const size_t files = files_of(options);
  const int before = calls_of(kLoad);
  expect_two_threads();
  ASSERT_TRUE(Scorer::create(options, kSide, kSide).ok());
  EXPECT_EQ(static_cast<size_t>(calls_of(kLoad) - before), files);
  ASSERT_TRUE(Scorer::create(options, kSide, kSide).ok());
  EXPECT_EQ(static_cast<size_t>(calls_of(kLoad) - before), files) << "another Scorer uses what is loaded";
}

TEST_F(KernelLoadingTest, FilesOfFeaturesAreLoadedSideBySide) {
  const auto device = must(open_device("cuda"));
  FrameScorerOptions options;
  options.device = "cuda";
  options.metrics.push_back({"vmaf"});
  options.format.width = options.format.height = kSide;
  options.format.rate = {25, 1};
  expect_two_threads();
  const Status status = FrameScorer::create(options).status();
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_F(KernelLoadingTest, AllThatAPairNeedsIsLoadedBeforeAndNothingElse) {
  for (const MetricEntry& entry : registry()) {
    if (!entry.on_gpu) continue;
    fake->found.clear();
    fake->launched.clear();
    Scorer scorer = must(Scorer::create(options_of({entry.info.name}), kSide, kSide));
    const std::set<std::string> loaded = fake->found;
    fake->launched.clear();
    // Kernels that do nothing may leave what is no score.
    (void)scorer.score(picture(), picture());
    EXPECT_EQ(fake->found, loaded) << entry.info.name << " loads kernels late";
    std::vector<std::string> extra = unused(*fake);
    std::erase(extra, "probe");
    EXPECT_EQ(extra, std::vector<std::string>()) << entry.info.name;

    const Reference reference = must(scorer.prepare(picture()));
    const std::set<std::string> loaded_for_reference = fake->found;
    (void)scorer.score(reference, picture());
    EXPECT_EQ(fake->found, loaded_for_reference) << entry.info.name << " loads kernels late for a reference";
  }
}

TEST_F(KernelLoadingTest, ALoadThatFailsIsTold) {
  for (const auto& [failure, code, words] :
       {std::tuple(1, StatusCode::device, "CUDA_ERROR_INVALID_VALUE (1)"),
        std::tuple(2, StatusCode::device_memory, "CUDA_ERROR_OUT_OF_MEMORY (2)")}) {
    const auto device = must(open_device("cuda"));
    fake->failing_function = kLoad;
    fake->failure = failure;
    const Status status = Scorer::create(options_of({"mse"}), kSide, kSide).status();
    EXPECT_EQ(status.code(), code);
    EXPECT_TRUE(contains(status.message(), fmt::format("cuModuleLoadDataEx failed with {}", words)))
        << status.message();
    EXPECT_TRUE(contains(status.message(), "(loading mse_kernels for sm_")) << status.message();

    fake->failing_function = kLoad;
    const Status one_of_many = Scorer::create(options_of({"ssimulacra2", "dssim"}), kSide, kSide).status();
    EXPECT_EQ(one_of_many.code(), code);
    EXPECT_TRUE(contains(one_of_many.message(), words)) << one_of_many.message();
    EXPECT_TRUE(Scorer::create(options_of({"ssimulacra2", "dssim", "mse"}), kSide, kSide).ok()) << "it is tried again";
  }
}

}  // namespace
}  // namespace acuity
