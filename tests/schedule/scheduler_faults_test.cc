// SPDX-License-Identifier: BSD-2-Clause-Patent
// A GPU that runs out of memory or is lost at any moment, on a stand-in for CUDA's driver. Its kernels do nothing, but
// its results depend on the pictures (FakeDriver::results_differ): they tell rows from each other and from the CPU's.
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <sys/stat.h>

#include "acuity/plan.h"
#include "acuity/schedule.h"
#include "device/fake_driver_test.h"
#include "engine/measurements.h"
#include "schedule/pictures.h"
#include "schedule/state.h"
#include "schedule/work.h"
#include "support/slow_cpu.h"
#include "support/slow_machine.h"

namespace acuity {
namespace {

constexpr int kWidth = 200, kHeight = 180, kRows = 6;
constexpr const char* kMetric = "ssimulacra2";

class SchedulerFaultsTest : public FakeDriverTest {
 protected:
  void SetUp() override {
    load("ACUITY_CUDA_DRIVER", FAKE_DRIVER);
    for (int r = 0; r < 2; ++r) {
      tests::write_file(reference(r), tests::drawn(r, kWidth, kHeight));
      for (int d = 0; d < kRows; ++d) {
        tests::write_file(distorted(r, d), tests::drawn(10 + 10 * r + d, kWidth, kHeight));
        on_cpu_[r][d] = tests::plain_score(reference(r), distorted(r, d), kMetric);
      }
    }
  }

  std::string reference(int r) const { return folder_.path("r" + std::to_string(r) + ".ppm"); }
  std::string distorted(int r, int d) const {
    return folder_.path("r" + std::to_string(r) + "d" + std::to_string(d) + ".ppm");
  }

  void begin_anew() {
    reset();
    fake->free_bytes = size_t{1} << 30;
    fake->results_differ = true;
    // Whatever was measured before, rows begin on the GPU.
    process_measurements().put(tests::slow_cpu({kMetric}));
  }

  // What the device may make of a pair, by the memory mode: it depends on whether the reference was prepared.
  using Values = std::map<std::string, std::set<double>>;
  static Values on_gpu(const std::string& reference, const std::string& distorted, int width, int height) {
    Values values;
    const Picture a = must(read_picture(reference)), b = must(read_picture(distorted));
    for (int rows = 0; rows == 0 || rows >= 16; rows = rows == 0 ? 1024 : rows / 2) {
      if (rows > height) continue;
      const MemoryMode mode = rows == 0 ? MemoryMode::full() : MemoryMode::strip(rows);
      Scorer scorer =
          must(Scorer::create({.metrics = {kMetric}, .device = "cuda:0", .memory = mode, .threads = 1}, width, height));
      std::set<double>& both = values[rows == 0 ? "full" : "strip " + std::to_string(rows)];
      both.insert(must(scorer.score(a.view, b.view)).front().value);
      both.insert(must(scorer.score(must(scorer.prepare(a.view)), b.view)).front().value);
    }
    return values;
  }

  static SchedulerOptions options(std::vector<std::string> devices) {
    return {
        .metrics = {kMetric}, .devices = std::move(devices), .memory_limit_bytes = int64_t{512} << 20, .threads = 2};
  }

  // Two references, whose rows come in turn.
  std::vector<Task> tasks() const {
    std::vector<Task> all;
    for (int i = 0; i < 2 * kRows; ++i) all.push_back(tests::task_of(reference(i % 2), distorted(i % 2, i / 2)));
    return all;
  }

  // Two rows for each of many references.
  std::vector<Task> with_references(int count) const {
    std::vector<Task> all;
    for (int r = 0; r < count; ++r) {
      const std::string name = folder_.path("many" + std::to_string(r) + ".ppm");
      tests::write_file(name, tests::drawn(100 + r, kWidth, kHeight));
      for (int d = 0; d < 2; ++d) all.push_back(tests::task_of(name, distorted(0, d)));
    }
    return all;
  }

  // Every row is there, once and in order, with the score of the device that it names.
  void expect_right(const std::vector<TaskResult>& results) const {
    ASSERT_EQ(results.size(), size_t{2 * kRows});
    for (int i = 0; i < 2 * kRows; ++i) {
      const TaskResult& result = results[static_cast<size_t>(i)];
      EXPECT_EQ(result.index, i);
      ASSERT_TRUE(result.status.ok()) << result.status.message();
      ASSERT_EQ(result.scores.size(), 1u);
      if (result.device == "cpu") {
        EXPECT_EQ(result.scores[0].value, on_cpu_[i % 2][i / 2]);
      } else {
        const double value = result.scores[0].value;
        EXPECT_TRUE(on_gpu_[i % 2][i / 2].at(result.memory_mode).contains(value)) << i << ": " << value;
      }
      EXPECT_TRUE(result.scores[0].provenance.device.starts_with(result.device)) << result.device;
      for (const Attempt& attempt : result.attempts) EXPECT_FALSE(attempt.why.ok());
      EXPECT_LE(result.attempts.size(), 4u) << "each step once";
    }
  }

  /// What the device makes of each pair.
  void learn_gpu_scores() {
    begin_anew();
    std::set<double> all;
    size_t count = 0;
    for (int r = 0; r < 2; ++r) {
      for (int d = 0; d < kRows; ++d) {
        on_gpu_[r][d] = on_gpu(reference(r), distorted(r, d), kWidth, kHeight);
        std::set<double> its{on_cpu_[r][d]};
        for (const auto& [mode, values] : on_gpu_[r][d]) its.insert(values.begin(), values.end());
        all.insert(its.begin(), its.end());
        count += its.size();
      }
    }
    ASSERT_EQ(all.size(), count) << "rows cannot be told apart";
    begin_anew();
    Scheduler scheduler = tests::scheduler_of(options({"cuda:0"}));
    const std::vector<TaskResult> results = tests::run(scheduler, tasks());
    expect_right(results);
    for (const TaskResult& result : results) {
      EXPECT_EQ(result.device, "cuda:0");
      EXPECT_TRUE(result.attempts.empty());
    }
    calls_ = fake->calls;
  }

  tests::Folder folder_;
  double on_cpu_[2][kRows] = {};
  Values on_gpu_[2][kRows];
  std::vector<std::string> calls_;
};

TEST_F(SchedulerFaultsTest, MemoryThatRunsOutAtAnyAllocationCostsNoRow) {
  learn_gpu_scores();
  for (const char* function : {"cuMemAlloc_v2", "cuMemHostAlloc"}) {
    int count = 0;
    for (const std::string& call : calls_) count += call.starts_with(function) ? 1 : 0;
    ASSERT_GT(count, 0) << function;
    int hit = 0, attempts = 0;
    for (int before = 0; before < count; ++before) {
      SCOPED_TRACE(std::string(function) + " " + std::to_string(before));
      begin_anew();
      Result<Scheduler> scheduler = Status();
      {
        fake->failing_function = function;
        fake->calls_before_failure = before;
        fake->failure = 2;
        scheduler = Scheduler::create(options({"cuda:0", "cpu"}));
        if (!scheduler.ok()) continue;  // the device could not be opened
        const std::vector<TaskResult> results = tests::run(*scheduler, tasks());
        expect_right(results);
        for (const TaskResult& result : results) attempts += static_cast<int>(result.attempts.size());
      }
      hit += fake->failing_call == -2 ? 1 : 0;
      scheduler = Status();
      expect_nothing_left();
    }
    EXPECT_GT(hit, 0);
    if (std::string(function) == "cuMemAlloc_v2") {
      EXPECT_GT(attempts, 0);
    }
  }
}

TEST_F(SchedulerFaultsTest, ADeviceThatIsLostAtAnyCallCostsNoRow) {
  learn_gpu_scores();
  int lost = 0;
  for (size_t call = 0; call < calls_.size(); call += tests::kSlowMachine ? 7 : 1) {
    SCOPED_TRACE(call);
    begin_anew();
    fake->failing_call = static_cast<int>(call);
    fake->failure = 700;
    Result<Scheduler> scheduler = Scheduler::create(options({"cuda:0", "cpu"}));
    if (!scheduler.ok()) continue;  // it could not be opened
    const std::vector<TaskResult> results = tests::run(*scheduler, tasks());
    expect_right(results);
    for (const auto& device : scheduler->statistics().devices) lost += device.is_lost ? 1 : 0;
    scheduler = Status();
    expect_nothing_left();
  }
  EXPECT_GT(lost, 0);
}

TEST_F(SchedulerFaultsTest, WithoutAnotherDeviceTheRowsOfALostOneFail) {
  learn_gpu_scores();
  begin_anew();
  Scheduler scheduler = tests::scheduler_of(options({"cuda:0"}));
  fake->failing_function = "cuLaunchKernel";
  fake->failure = 700;
  const std::vector<TaskResult> results = tests::run(scheduler, tasks());
  ASSERT_EQ(results.size(), size_t{2 * kRows});
  for (const TaskResult& result : results) {
    EXPECT_EQ(result.status.code(), StatusCode::device_lost);
    EXPECT_TRUE(result.scores.empty());
  }
  const SchedulerStatistics statistics = scheduler.statistics();
  ASSERT_EQ(statistics.failures.size(), 1u);
  EXPECT_EQ(statistics.failures[0].kind, "device lost");
}

TEST_F(SchedulerFaultsTest, AnotherDeviceScoresWhatOneCannot) {
  learn_gpu_scores();
  begin_anew();
  Scheduler scheduler = tests::scheduler_of(options({"cuda:0", "cuda:1"}));
  EXPECT_EQ(scheduler.devices(), (std::vector<std::string>{"cuda:0", "cuda:1"}));
  fake->failing_function = "cuLaunchKernel";
  fake->failure = 1;  // an invalid argument: not for want of memory
  const std::vector<TaskResult> results = tests::run(scheduler, tasks());
  expect_right(results);
  int attempts = 0;
  for (const TaskResult& result : results) {
    for (const Attempt& attempt : result.attempts) {
      ++attempts;
      EXPECT_NE(attempt.device, result.device);
      EXPECT_EQ(attempt.why.code(), StatusCode::device);
      EXPECT_EQ(attempt.needed_bytes, 0);
    }
  }
  EXPECT_EQ(attempts, 1);
}

// Full, then a strip, then the CPU, each with the memory that it needed and that was free; and full again as soon as
// there is memory for it.
TEST_F(SchedulerFaultsTest, TheLadderIsRecordedAndForgotten) {
  learn_gpu_scores();
  begin_anew();
  // Large enough for strips to save memory.
  constexpr int kSide = 1100;
  const std::string original = tests::write_file(folder_.path("large.ppm"), tests::drawn(1, kSide, kSide));
  const std::string copy = tests::write_file(folder_.path("large2.ppm"), tests::drawn(2, kSide, kSide));
  const double on_cpu = tests::plain_score(original, copy, kMetric);
  const Values values = on_gpu(original, copy, kSide, kSide);
  begin_anew();
  const auto needs = [](const MemoryMode& mode) {
    const Result<MemoryPlan> plan =
        plan_memory({.metrics = {kMetric}, .device = "cuda", .memory = mode, .threads = 1}, kSide, kSide);
    EXPECT_TRUE(plan.ok());
    return plan->pair.device;
  };
  const int64_t full = needs(MemoryMode::full()), strip = needs(MemoryMode::strip(64));
  ASSERT_LT(strip, full);
  Scheduler scheduler = tests::scheduler_of(options({"cuda:0", "cpu"}));
  const size_t used = fake->bytes["memory"];
  const auto run_with = [&](int64_t free) {
    fake->free_bytes = used + static_cast<size_t>(free);
    std::vector<TaskResult> results = tests::run(scheduler, {tests::task_of(original, copy)});
    EXPECT_EQ(results.size(), 1u);
    EXPECT_TRUE(results[0].status.ok()) << results[0].status.message();
    return std::move(results[0]);
  };
  const TaskResult in_strips = run_with((full + strip) / 2);
  EXPECT_EQ(in_strips.device, "cuda:0");
  EXPECT_TRUE(in_strips.memory_mode.starts_with("strip ")) << in_strips.memory_mode;
  EXPECT_TRUE(values.at(in_strips.memory_mode).contains(in_strips.scores[0].value));
  ASSERT_EQ(in_strips.attempts.size(), 1u);
  EXPECT_EQ(in_strips.attempts[0].memory_mode, "full");
  EXPECT_EQ(in_strips.attempts[0].needed_bytes, full);
  EXPECT_LE(in_strips.attempts[0].free_bytes, (full + strip) / 2);
  EXPECT_EQ(in_strips.attempts[0].why.code(), StatusCode::too_big);

  const TaskResult elsewhere = run_with(1000);
  EXPECT_EQ(elsewhere.device, "cpu");
  EXPECT_EQ(elsewhere.scores[0].value, on_cpu);
  if (tests::kSlowMachine && elsewhere.attempts.empty()) {
    GTEST_SKIP() << "the stand-in for a GPU was measured to be slower than the CPU, so it was not tried";
  }
  ASSERT_FALSE(elsewhere.attempts.empty());
  for (const Attempt& attempt : elsewhere.attempts) {
    EXPECT_EQ(attempt.device, "cuda:0");
    EXPECT_GT(attempt.needed_bytes, attempt.free_bytes);
  }

  const TaskResult in_full = run_with(2 * full);
  EXPECT_EQ(in_full.device, "cuda:0");
  EXPECT_EQ(in_full.memory_mode, "full");
  EXPECT_TRUE(values.at("full").contains(in_full.scores[0].value));
  EXPECT_TRUE(in_full.attempts.empty());
}

TEST_F(SchedulerFaultsTest, ACapOnDeviceMemoryIsKept) {
  learn_gpu_scores();
  begin_anew();
  SchedulerOptions capped = options({"cuda:0", "cpu"});
  const Result<MemoryPlan> plan = plan_memory(
      {.metrics = {kMetric}, .device = "cuda", .memory = MemoryMode::full(), .threads = 1}, kWidth, kHeight);
  ASSERT_TRUE(plan.ok());
  capped.vram_cap_bytes = plan->pair.device - 1;
  Scheduler scheduler = tests::scheduler_of(capped);
  const std::vector<TaskResult> results = tests::run(scheduler, tasks());
  expect_right(results);
  for (const TaskResult& result : results) EXPECT_FALSE(result.device == "cuda:0" && result.memory_mode == "full");
  EXPECT_LE(static_cast<int64_t>(fake->most_bytes["memory"]), capped.vram_cap_bytes + (int64_t{1} << 20));
}

// Scorers leave room for references, and references that come by once do not pile up.
TEST_F(SchedulerFaultsTest, ReferencesStayWithinACap) {
  begin_anew();
  constexpr int kReferences = 60;
  SchedulerOptions capped = options({"cuda:0"});
  const MemoryPlan plan = must(plan_memory(
      {.metrics = {kMetric}, .device = "cuda", .memory = MemoryMode::full(), .threads = 1}, kWidth, kHeight));
  capped.vram_cap_bytes = 6 * plan.pair.device + 4 * plan.reference.device;
  capped.threads = 1;
  const std::vector<Task> all = with_references(kReferences);
  Scheduler scheduler = tests::scheduler_of(capped);
  const std::vector<TaskResult> results = tests::run(scheduler, all);
  ASSERT_EQ(results.size(), all.size());
  for (const TaskResult& result : results) {
    EXPECT_TRUE(result.status.ok()) << result.status.message();
    EXPECT_TRUE(result.attempts.empty());
    EXPECT_EQ(result.memory_mode, "full");
  }
  EXPECT_GE(scheduler.statistics().references_prepared, kReferences * 9 / 10);
  EXPECT_LE(static_cast<int64_t>(fake->most_bytes["memory"]), capped.vram_cap_bytes + (int64_t{1} << 20));
}

// Nor do those of metrics whose prepared references are the samples.
TEST_F(SchedulerFaultsTest, ReferencesThatAreSamplesStayWithinACap) {
  begin_anew();
  constexpr int kReferences = 60;
  SchedulerOptions capped = options({"cuda:0"});
  capped.metrics = {"mse"};
  const MemoryPlan plan = must(plan_memory({.metrics = {"mse"}, .device = "cuda", .threads = 1}, kWidth, kHeight));
  capped.vram_cap_bytes = 6 * plan.pair.device + 8 * plan.reference.device;
  capped.threads = 1;
  const std::vector<Task> all = with_references(kReferences);
  Scheduler scheduler = tests::scheduler_of(capped);
  for (const TaskResult& result : tests::run(scheduler, all)) {
    EXPECT_TRUE(result.status.ok()) << result.status.message();
    EXPECT_EQ(result.memory_mode, "full");
  }
  EXPECT_GE(scheduler.statistics().references_prepared, kReferences * 9 / 10);
}

// Not even those of pictures so large that a prepared reference needs much more than its samples.
TEST_F(SchedulerFaultsTest, AReferenceThatDoesNotFitIntoTheCapIsNotPrepared) {
  begin_anew();
  constexpr int kLargeWidth = 1200, kLargeHeight = 1000;
  SchedulerOptions capped = options({"cuda:0"});
  const MemoryPlan plan = must(plan_memory(
      {.metrics = {kMetric}, .device = "cuda", .memory = MemoryMode::full(), .threads = 1}, kLargeWidth, kLargeHeight));
  for (const bool fits : {false, true}) {
    capped.vram_cap_bytes = plan.pair.device + (fits ? 6 : 1) * plan.reference.device / 2;
    const std::string name = folder_.path("large.ppm");
    tests::write_file(name, tests::drawn(100, kLargeWidth, kLargeHeight));
    reset();
    fake->free_bytes = size_t{1} << 30;
    Scheduler scheduler = tests::scheduler_of(capped);
    const std::vector<Task> all(3, tests::task_of(name, name));
    for (const TaskResult& result : tests::run(scheduler, all)) {
      EXPECT_TRUE(result.status.ok()) << result.status.message();
      EXPECT_EQ(result.device, "cuda:0");
    }
    EXPECT_EQ(scheduler.statistics().references_prepared, fits ? 1 : 0);
    EXPECT_LE(static_cast<int64_t>(fake->most_bytes["memory"]), capped.vram_cap_bytes + (int64_t{1} << 20));
  }
}

// Rows in flight at once share the device's time.
TEST_F(SchedulerFaultsTest, TheTimeOfADeviceIsCountedOnce) {
  begin_anew();
  // The first launch waits until all rows are decoded, so that they are in flight at once.
  std::atomic<bool> is_first = true;
  fake->on_call = [&](const std::string& call) {
    if (!call.starts_with("cuLaunchKernel")) return;
    std::this_thread::sleep_for(is_first.exchange(false) ? std::chrono::milliseconds(500)
                                                         : std::chrono::milliseconds(1));
  };
  SchedulerOptions two_metrics = options({"cuda:0"});
  two_metrics.metrics = {kMetric, "psnr"};
  Scheduler scheduler = tests::scheduler_of(two_metrics);
  double rows_ms = 0;
  for (const TaskResult& result : tests::run(scheduler, tasks())) rows_ms += result.device_ms;
  const SchedulerStatistics statistics = scheduler.statistics();
  fake->on_call = nullptr;
  ASSERT_EQ(statistics.devices.size(), 1u);
  const double busy_ms = statistics.devices[0].busy_ms;
  EXPECT_GT(busy_ms, 0);
  EXPECT_LE(busy_ms, statistics.wall_ms);
  EXPECT_GT(rows_ms, statistics.wall_ms) << "no rows were in flight together";
  ASSERT_EQ(statistics.metrics.size(), 2u);
  EXPECT_NEAR(statistics.metrics[0].value + statistics.metrics[1].value, busy_ms, 1e-6);
}

// A row that is read at last after its scheduler has gone is not placed on a device that has gone as well.
TEST_F(SchedulerFaultsTest, ARowThatComesBackFindsNoDevice) {
  begin_anew();
  const std::string pipe = folder_.path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::weak_ptr<Scheduler::State> state;
  {
    SchedulerOptions limited = options({"cuda:0"});
    limited.timeout_ms = 1000;
    Scheduler scheduler = tests::scheduler_of(limited);
    state = scheduler.state().weak_from_this();
    const std::vector<TaskResult> results = tests::run(scheduler, {tests::task_of(reference(0), pipe)});
    EXPECT_TRUE(results[0].timed_out);
  }
  EXPECT_FALSE(state.expired());
  tests::write_file(pipe, tests::drawn(10, kWidth, kHeight));
  for (int i = 0; i < 60'000 && !state.expired(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(state.expired());
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the thread is destroying it
}

// A work whose device fails is repeated on another.
TEST_F(SchedulerFaultsTest, WorksGoToAnotherDevice) {
  begin_anew();
  Scheduler scheduler = tests::scheduler_of(options({"cuda:0", "cpu"}));
  Work work;
  work.run = [](const WorkPlace& place, TaskResult& result) {
    if (place.device != "cpu") result.status = Status(StatusCode::device_lost, "gone");
  };
  ASSERT_TRUE(submit_work(scheduler, work).ok());
  work.devices = {"cuda:0"};
  ASSERT_TRUE(submit_work(scheduler, work).ok());
  const auto first = scheduler.wait_any(), second = scheduler.wait_any();
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(first->status.ok());
  EXPECT_EQ(first->device, "cpu");
  ASSERT_EQ(first->attempts.size(), 1u);
  EXPECT_EQ(first->attempts[0].device, "cuda:0");
  EXPECT_EQ(second->status.message(), "gone");
}

}  // namespace
}  // namespace acuity
