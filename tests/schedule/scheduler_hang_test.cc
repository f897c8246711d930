// SPDX-License-Identifier: BSD-2-Clause-Patent
// A GPU that does not return from a call, on a stand-in for CUDA's driver.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "acuity/schedule.h"
#include "device/device.h"
#include "device/fake_driver_test.h"
#include "engine/measurements.h"
#include "schedule/pictures.h"
#include "schedule/state.h"
#include "support/slow_cpu.h"

namespace acuity {
namespace {

constexpr int kSide = 100, kRows = 12;
constexpr int64_t kTimeoutMs = 1000;
constexpr const char* kMetric = "mse";

class SchedulerHangTest : public FakeDriverTest {
 protected:
  void SetUp() override {
    load("ACUITY_CUDA_DRIVER", FAKE_DRIVER);
    fake->free_bytes = size_t{1} << 30;
    fake->results_differ = true;
    fake->on_call = [this](const std::string& call) { before(call); };
    tests::write_file(reference_, tests::drawn(1, kSide, kSide));
    for (int d = 0; d < kRows; ++d) {
      tests::write_file(distorted(d), tests::drawn(10 + d, kSide, kSide));
      on_cpu_.push_back(tests::plain_score(reference_, distorted(d), kMetric));
    }
    // Whatever was measured before, rows begin on the GPU.
    process_measurements().put(tests::slow_cpu({kMetric}));
  }

  // Threads that were left behind end with what they wait for.
  void TearDown() override {
    end_all();
    fake->on_call = nullptr;
    FakeDriverTest::TearDown();
  }

  std::string distorted(int d) const { return folder_.path("d" + std::to_string(d) + ".ppm"); }

  // So many calls of the function hang after so many that do not.
  void hang(const std::string& function, int after, int calls) {
    const std::lock_guard lock(mutex_);
    function_ = function;
    after_ = after;
    calls_ = calls;
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    function_.clear();
    changed_.notify_all();
  }
  void end_all() {
    let_go();
    for (int i = 0; i < 60'000 && !state_.expired(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(state_.expired());
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // they are destroying it
    (void)list_devices();                                         // whose calls of the driver come after theirs
  }
  void before(const std::string& call) {
    std::unique_lock lock(mutex_);
    if (function_.empty() || !call.starts_with(function_) || after_-- > 0 || calls_-- <= 0) return;
    ++hung_;
    changed_.wait(lock, [this] { return function_.empty(); });
  }

  Scheduler scheduler(const std::vector<std::string>& devices) {
    Scheduler made = tests::scheduler_of({.metrics = {kMetric},
                                          .devices = devices,
                                          .memory_limit_bytes = int64_t{256} << 20,
                                          .threads = 2,
                                          .timeout_ms = kTimeoutMs});
    state_ = made.state().weak_from_this();
    return made;
  }
  std::vector<Task> tasks() const {
    std::vector<Task> all;
    for (int d = 0; d < kRows; ++d) all.push_back(tests::task_of(reference_, distorted(d)));
    return all;
  }

  static void expect_lost(const Scheduler& scheduler, const std::string& device) {
    bool is_lost = false;
    for (const auto& one : scheduler.statistics().devices) is_lost = is_lost || (one.device == device && one.is_lost);
    EXPECT_TRUE(is_lost) << device;
  }

  tests::Folder folder_;
  const std::string reference_ = folder_.path("reference.ppm");
  std::vector<double> on_cpu_;
  std::weak_ptr<Scheduler::State> state_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string function_;
  int after_ = 0, calls_ = 0;
  std::atomic<int> hung_ = 0;
};

// The first calls are made by the thread that starts rows, later ones by those of jobs.
TEST_F(SchedulerHangTest, ARowThatHangsFailsAloneAndTheDeviceIsGivenUp) {
  for (const char* function : {"cuMemGetInfo_v2", "cuMemAlloc_v2", "cuModuleLoadDataEx", "cuMemcpyHtoDAsync_v2",
                               "cuLaunchKernel", "cuGraphLaunch", "cuStreamSynchronize"}) {
    for (const int after : {0, 3}) {
      SCOPED_TRACE(std::string(function) + " " + std::to_string(after));
      hung_ = 0;
      {
        Scheduler scheduler = this->scheduler({"cuda:0", "cpu"});
        hang(function, after, 1000);
        const std::vector<TaskResult> results = tests::run(scheduler, tasks());
        ASSERT_EQ(results.size(), size_t{kRows});
        int timed_out = 0;
        for (int i = 0; i < kRows; ++i) {
          const TaskResult& result = results[static_cast<size_t>(i)];
          EXPECT_EQ(result.index, i);
          if (result.timed_out) {
            ++timed_out;
            EXPECT_TRUE(contains(result.status.message(), "not done within the time limit of 1000 ms"));
            EXPECT_TRUE(contains(result.status.message(), distorted(i))) << result.status.message();
            EXPECT_TRUE(result.scores.empty());
            continue;
          }
          ASSERT_TRUE(result.status.ok()) << result.status.message();
          if (result.device == "cpu") {
            EXPECT_EQ(result.scores[0].value, on_cpu_[static_cast<size_t>(i)]);
          }
        }
        if (hung_ == 0) {  // the function was not called so often
          EXPECT_EQ(timed_out, 0);
        } else {
          // One that hangs in flight, and perhaps one that hangs in being started.
          EXPECT_GE(timed_out, 1);
          EXPECT_LE(timed_out, 2);
          expect_lost(scheduler, "cuda:0");
          EXPECT_TRUE(tests::run(scheduler, tasks()).back().status.ok()) << "the other device goes on";
        }
        EXPECT_EQ(scheduler.statistics().failed, timed_out);
      }
      end_all();
      expect_nothing_left();
    }
  }
}

TEST_F(SchedulerHangTest, AnotherGpuTakesTheRows) {
  Scheduler scheduler = this->scheduler({"cuda:0", "cuda:1"});
  hang("cuStreamSynchronize", 0, 1);
  const std::vector<TaskResult> results = tests::run(scheduler, tasks());
  int timed_out = 0;
  std::string lost;
  std::set<double> values;
  for (const TaskResult& result : results) {
    timed_out += result.timed_out ? 1 : 0;
    if (result.timed_out) continue;
    ASSERT_TRUE(result.status.ok()) << result.status.message();
    EXPECT_TRUE(values.insert(result.scores[0].value).second) << "every row has its own";
    for (const Attempt& attempt : result.attempts) {
      EXPECT_EQ(attempt.why.code(), StatusCode::device_lost);
      EXPECT_TRUE(contains(attempt.why.message(), "did not finish a row within the time limit of 1000 ms"));
      EXPECT_NE(attempt.device, result.device);
    }
  }
  EXPECT_EQ(timed_out, 1);
  for (const auto& one : scheduler.statistics().devices) {
    if (one.is_lost) lost = one.device;
  }
  EXPECT_NE(lost, "");
  for (const TaskResult& result : tests::run(scheduler, tasks())) {
    ASSERT_TRUE(result.status.ok()) << result.status.message();
    EXPECT_NE(result.device, lost);
  }
}

TEST_F(SchedulerHangTest, WithoutAnotherDeviceTheRowsFail) {
  Scheduler scheduler = this->scheduler({"cuda:0"});
  hang("cuStreamSynchronize", 0, 1000);
  const std::vector<TaskResult> results = tests::run(scheduler, tasks());
  int timed_out = 0;
  for (const TaskResult& result : results) {
    timed_out += result.timed_out ? 1 : 0;
    if (!result.timed_out) {
      EXPECT_EQ(result.status.code(), StatusCode::device_lost) << result.status.message();
    }
  }
  EXPECT_GE(timed_out, 1);
  EXPECT_LE(timed_out, 2);
}

// What is cancelled while it hangs ends within the time limit as well.
TEST_F(SchedulerHangTest, ASchedulerMayGoWhileARowHangs) {
  const auto before = std::chrono::steady_clock::now();
  {
    Scheduler scheduler = this->scheduler({"cuda:0", "cpu"});
    hang("cuStreamSynchronize", 0, 1000);
    for (const Task& task : tasks()) ASSERT_TRUE(scheduler.submit(task).ok());
    for (int i = 0; i < 60'000 && hung_ == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_GT(hung_, 0);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(10 * kTimeoutMs));
  EXPECT_FALSE(state_.expired()) << "a thread was left behind";
}

// A device that answers late is not used again, and what its rows held is given back.
TEST_F(SchedulerHangTest, WhatComesBackIsNotWanted) {
  for (const char* function : {"cuMemAlloc_v2", "cuStreamSynchronize"}) {
    SCOPED_TRACE(function);
    Scheduler scheduler = this->scheduler({"cuda:0", "cpu"});
    hang(function, 0, 1000);
    tests::run(scheduler, tasks());
    let_go();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // its rows come back
    for (const TaskResult& result : tests::run(scheduler, tasks())) {
      ASSERT_TRUE(result.status.ok()) << result.status.message();
      EXPECT_EQ(result.device, "cpu");
    }
    expect_lost(scheduler, "cuda:0");
    EXPECT_EQ(scheduler.statistics().submitted, 2 * kRows);
    EXPECT_EQ(scheduler.statistics().finished, 2 * kRows);
  }
}

}  // namespace
}  // namespace acuity
