// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scores of a Scheduler are those of a plain Scorer, in order, whatever the order, window, devices and number of
// threads; and how a program submits and fetches them.
#include "schedule/scheduler_test.h"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <set>
#include <thread>

#include <sys/stat.h>

#include "schedule/state.h"
#include "schedule/work.h"

namespace acuity {
namespace {

using namespace tests;

TEST_F(SchedulerTest, RowsAreThoseOfAPlainScorerInTheOrderOfSubmission) {
  const auto rows = shuffled(2);
  for (const int threads : {1, 2, 5}) {
    for (const int window : {1, 7, 256}) {
      Scheduler scheduler = scheduler_of(on_cpu({.threads = threads, .window = window}));
      const std::vector<TaskResult> results = run(scheduler, tasks(rows));
      ASSERT_EQ(results.size(), rows.size());
      for (size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(results[i].index, static_cast<int64_t>(i));
        expect_right(results[i], rows[i].first, rows[i].second);
      }
    }
  }
}

TEST_F(SchedulerTest, UnorderedResultsAreTheSame) {
  const auto rows = shuffled();
  Scheduler scheduler = scheduler_of(on_cpu({.threads = 3, .ordered = false}));
  std::set<int64_t> seen;
  for (const TaskResult& result : run(scheduler, tasks(rows))) {
    EXPECT_TRUE(seen.insert(result.index).second);
    const auto [r, d] = rows[static_cast<size_t>(result.index)];
    expect_right(result, r, d);
  }
  EXPECT_EQ(seen.size(), rows.size());
}

TEST_F(SchedulerTest, FlushWaitsAndPollReturnsWhatIsThere) {
  Scheduler scheduler = scheduler_of(on_cpu({.threads = 2}));
  EXPECT_FALSE(scheduler.poll());
  EXPECT_FALSE(scheduler.wait_any());
  scheduler.flush();
  for (int d = 0; d < kDistorted; ++d) ASSERT_TRUE(scheduler.submit(task(0, d)).ok());
  scheduler.flush();
  for (int d = 0; d < kDistorted; ++d) {
    const std::optional<TaskResult> result = scheduler.poll();
    ASSERT_TRUE(result);
    expect_right(*result, 0, d);
  }
  EXPECT_FALSE(scheduler.poll());
}

TEST_F(SchedulerTest, SeveralThreadsMaySubmitAndWait) {
  Scheduler scheduler = scheduler_of(on_cpu({.threads = 2, .window = 2, .ordered = false}));
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int r = 0; r < kReferences; ++r) {
    threads.emplace_back([&, r] {
      for (int d = 0; d < kDistorted; ++d) {
        EXPECT_TRUE(scheduler.submit(task(r, d)).ok());
        if (const auto result = scheduler.wait_any()) right += result->status.ok() ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  while (const auto result = scheduler.wait_any()) right += result->status.ok() ? 1 : 0;
  EXPECT_EQ(right, kReferences * kDistorted);
}

TEST_F(SchedulerTest, TasksMayHaveMetricsOfTheirOwn) {
  Scheduler scheduler = scheduler_of(on_cpu({.threads = 2}));
  std::vector<Task> all;
  for (int i = 0; i < 12; ++i) {
    all.push_back(task(0, i % kDistorted));
    if (i % 3 == 1) all.back().metrics = {"mse", {"iwssim", {{"weights", "none"}}}};
    if (i % 3 == 2) all.back().metrics = {"no such metric"};
  }
  const std::vector<TaskResult> results = run(scheduler, std::move(all));
  for (int i = 0; i < 12; ++i) {
    const TaskResult& result = results[static_cast<size_t>(i)];
    if (i % 3 == 0) expect_right(result, 0, i % kDistorted);
    if (i % 3 == 1) {
      ASSERT_TRUE(result.status.ok()) << result.status.message();
      ASSERT_EQ(result.scores.size(), 2u);
      EXPECT_EQ(result.scores[0].value, plain_score(reference(0), distorted(0, i % kDistorted), "mse"));
      EXPECT_EQ(result.scores[1].metric, "iwssim");
    }
    if (i % 3 == 2) {
      EXPECT_EQ(result.status.code(), StatusCode::usage);
    }
  }
}

TEST_F(SchedulerTest, AfterCancelEveryTaskHasAResult) {
  Scheduler scheduler = scheduler_of(on_cpu({.threads = 2, .window = 64}));
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(scheduler.submit(task(i % kReferences, i % kDistorted)).ok());
  scheduler.cancel();
  EXPECT_EQ(scheduler.submit(task(0, 0)).code(), StatusCode::cancelled);
  int count = 0;
  while (const auto result = scheduler.wait_any()) {
    EXPECT_EQ(result->index, count);
    if (result->status.ok()) {
      expect_right(*result, count % kReferences, count % kDistorted);
    } else {
      EXPECT_EQ(result->status.code(), StatusCode::cancelled);
    }
    ++count;
  }
  EXPECT_EQ(count, 40);
}

// A program that must look at something else in between is not kept for longer than it allows, even by a row that
// hangs.
TEST_F(SchedulerTest, SubmittingAndWaitingEndInTime) {
  Scheduler scheduler = scheduler_of(on_cpu({.threads = 1, .window = 1}));
  std::promise<void> goes_on;
  Work work;
  work.run = [hangs = goes_on.get_future().share()](const WorkPlace&, TaskResult&) { hangs.wait(); };
  ASSERT_TRUE(submit_work(scheduler, work).ok());
  constexpr std::chrono::milliseconds kShort(20), kLong(std::chrono::hours(1));
  Result<bool> submitted = true;
  int64_t count = 1;
  while ((submitted = scheduler.try_submit(task(0, 0), kShort)).ok() && *submitted) ++count;
  ASSERT_TRUE(submitted.ok());
  EXPECT_LE(count, 3);
  EXPECT_EQ(scheduler.statistics().submitted, count) << "what was not accepted is not counted";
  EXPECT_FALSE(*try_submit_work(scheduler, work, kShort));
  EXPECT_FALSE(scheduler.wait_any(kShort));
  EXPECT_FALSE(scheduler.is_drained());
  goes_on.set_value();
  for (int64_t i = 0; i < count; ++i) EXPECT_EQ(scheduler.wait_any(kLong)->index, i);
  EXPECT_TRUE(scheduler.is_drained());
  EXPECT_FALSE(scheduler.wait_any(std::chrono::milliseconds::max())) << "there is nothing to wait for";
  EXPECT_TRUE(*scheduler.try_submit(task(0, 1), std::chrono::milliseconds::max()));
  expect_right(*scheduler.wait_any(kLong), 0, 1);
  scheduler.cancel();
  EXPECT_EQ(scheduler.try_submit(task(0, 0), kLong).status().code(), StatusCode::cancelled);
}

TEST_F(SchedulerTest, RunAllEndsWhenTheCallerWantsItTo) {
  Scheduler scheduler = scheduler_of(on_cpu({.threads = 2, .window = 4}));
  int submitted = 0, returned = 0;
  const Status status = scheduler.run_all(
      [&]() -> std::optional<Task> {
        if (submitted == 1000) return std::nullopt;
        return task(0, submitted++ % kDistorted);
      },
      [&](const TaskResult&) { return ++returned == 5 ? Status(StatusCode::input, "enough") : Status(); });
  EXPECT_EQ(status.message(), "enough");
  EXPECT_EQ(returned, submitted);
  EXPECT_LT(submitted, 1000);
}

TEST_F(SchedulerTest, ASchedulerMayGoWithTasksInIt) {
  Scheduler scheduler = scheduler_of(on_cpu({.threads = 2}));
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(scheduler.submit(task(i % kReferences, i % kDistorted)).ok());
  Scheduler other = std::move(scheduler);
  EXPECT_EQ(scheduler.submit(task(0, 0)).code(), StatusCode::usage);
  EXPECT_FALSE(scheduler.wait_any());
}

TEST_F(SchedulerTest, OptionsThatMakeNoSenseAreRefused) {
  EXPECT_EQ(Scheduler::create({.metrics = {"nonsense"}}).status().code(), StatusCode::usage);
  EXPECT_EQ(Scheduler::create({.devices = {"tpu"}}).status().code(), StatusCode::unknown_device);
  EXPECT_EQ(Scheduler::create({.devices = {}}).status().code(), StatusCode::usage);
  EXPECT_EQ(Scheduler::create({.window = 0}).status().code(), StatusCode::usage);
  EXPECT_EQ(Scheduler::create({.threads = -1}).status().code(), StatusCode::usage);
}

// A named pipe that nobody writes to is a decoder that hangs. The row fails alone, and threads come in for those that
// hang.
TEST_F(SchedulerTest, ARowThatHangsFailsAlone) {
  const std::string pipes[] = {folder->path("pipe0"), folder->path("pipe1")};
  std::weak_ptr<Scheduler::State> state;  // which threads that are left behind hold
  {
    Scheduler scheduler = scheduler_of(on_cpu({.threads = 2, .timeout_ms = 4000}));
    state = scheduler.state().weak_from_this();
    std::vector<Task> all{task(0, 0)};
    for (const std::string& pipe : pipes) {
      ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
      all.push_back(task_of(reference(0), pipe));
      all.back().id = "hangs";
    }
    all.push_back(task(0, 1));
    const std::vector<TaskResult> results = run(scheduler, std::move(all));
    expect_right(results[0], 0, 0);
    for (const size_t i : {1, 2}) {
      EXPECT_TRUE(results[i].timed_out);
      EXPECT_EQ(results[i].id, "hangs");
      EXPECT_EQ(results[i].status.code(), StatusCode::cancelled);
      EXPECT_NE(results[i].status.message().find("4000 ms"), std::string::npos);
    }
    expect_right(results[3], 0, 1);
    EXPECT_EQ(scheduler.statistics().failures[0].kind, "timeout");
  }
  // Threads that were left behind end with what they waited for.
  for (const std::string& pipe : pipes) write_file(pipe, {});
  for (int i = 0; i < 60'000 && !state.expired(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(state.expired());
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // they are destroying it
}

TEST_F(SchedulerTest, WorksGoThroughTheSameQueues) {
  Scheduler scheduler = scheduler_of(on_cpu({.threads = 2}));
  std::atomic<int> running = 0, most = 0;
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(scheduler.submit(task(0, i)).ok());
    Work work;
    work.id = std::to_string(i);
    work.fields = {"video"};
    work.host_bytes = 1000;
    work.run = [&, i](const WorkPlace& place, TaskResult& result) {
      most = std::max(most.load(), ++running);
      EXPECT_EQ(place.device, "cpu");
      EXPECT_EQ(place.threads, 2);
      result.width = 10 + i;
      if (i == 3) result.status = Status(StatusCode::input, "a bad video");
      --running;
    };
    ASSERT_TRUE(submit_work(scheduler, std::move(work)).ok());
  }
  for (int i = 0; i < 12; ++i) {
    const auto result = scheduler.wait_any();
    ASSERT_TRUE(result);
    EXPECT_EQ(result->index, i);
    if (i % 2 == 0) {
      expect_right(*result, 0, i / 2);
      continue;
    }
    EXPECT_EQ(result->id, std::to_string(i / 2));
    EXPECT_EQ(result->fields, std::vector<std::string>{"video"});
    EXPECT_EQ(result->status.ok(), i / 2 != 3);
    EXPECT_EQ(result->width, 10 + i / 2);
    EXPECT_EQ(result->device, "cpu");
  }
  EXPECT_EQ(most, 1) << "one at a time on a device";
}

// Of a limit of this size a part is kept for what was freed, so that a work never has all of it.
TEST_F(SchedulerTest, AWorkRunsWhateverTheLimit) {
  const int64_t limit = int64_t{200} << 20;
  Scheduler scheduler = scheduler_of(on_cpu({.memory_limit_bytes = limit, .threads = 2}));
  for (const int64_t bytes : {limit, 2 * limit}) {
    Work work;
    work.host_bytes = bytes;
    work.run = [](const WorkPlace&, TaskResult& result) { result.width = 10; };
    ASSERT_TRUE(submit_work(scheduler, work).ok());
    const auto result = scheduler.wait_any();
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->status.ok()) << result->status.message();
    EXPECT_EQ(result->width, 10);
  }
}

// A large row has all threads if there are no others, and one if there are; it makes no difference to its score.
TEST_F(SchedulerTest, LargeRowsHaveAllThreads) {
  const std::string large = write_file(folder->path("wide.ppm"), drawn(1, 1200, 1000));
  const std::string other = write_file(folder->path("wide2.ppm"), drawn(2, 1200, 1000));
  const double right = plain_score(large, other, "mse");
  Scheduler scheduler = scheduler_of(on_cpu({.metrics = {"mse"}, .threads = 4}));
  for (const size_t count : {1, 6}) {
    const std::vector<TaskResult> results = run(scheduler, std::vector<Task>(count, task_of(large, other)));
    for (const TaskResult& result : results) {
      ASSERT_TRUE(result.status.ok()) << result.status.message();
      EXPECT_EQ(result.scores[0].value, right);
    }
    if (count == 1) {
      EXPECT_EQ(results[0].scores[0].provenance.threads, 4);
    }
  }
}

// A real device, in software: scores are the CPU's, whichever does a row.
TEST_F(SchedulerTest, RowsOfADeviceAreThoseOfTheCpu) {
  std::vector<std::vector<double>> values;
  for (const std::vector<std::string>& devices :
       std::vector<std::vector<std::string>>{{"cpu"}, {"vulkan"}, {"vulkan", "cpu"}}) {
    SchedulerOptions options = on_cpu({.metrics = {"mse", "psnr"}, .threads = 2});
    options.devices = devices;
    Scheduler scheduler = scheduler_of(options);
    std::vector<double>& all = values.emplace_back();
    for (const TaskResult& result : run(scheduler, tasks(shuffled()))) {
      ASSERT_TRUE(result.status.ok()) << result.status.message();
      if (devices.size() == 1) {
        EXPECT_TRUE(result.device.starts_with(devices[0])) << result.device;
      }
      for (const Score& score : result.scores) all.push_back(score.value);
    }
    EXPECT_EQ(scheduler.statistics().upload_ms > 0, devices[0] != "cpu");
  }
  EXPECT_EQ(values[1], values[0]);
  EXPECT_EQ(values[2], values[0]);
}

TEST_F(SchedulerTest, StatisticsAddUp) {
  Scheduler scheduler = scheduler_of(on_cpu({.metrics = {"ssimulacra2", "mse"}, .threads = 2}));
  double read_ms = 0, decode_ms = 0;
  const std::vector<TaskResult> results = run(scheduler, tasks(shuffled()));
  for (const TaskResult& result : results) {
    read_ms += result.reference.read_ms + result.distorted.read_ms;
    decode_ms += result.reference.decode_ms + result.distorted.decode_ms;
    EXPECT_EQ(result.reference.format, "PNM");
    EXPECT_EQ(result.distorted.format, "PNM");
    EXPECT_FALSE(result.assumptions.empty());
    EXPECT_GT(result.wall_ms, 0);
  }
  const SchedulerStatistics statistics = scheduler.statistics();
  const auto count = static_cast<int64_t>(results.size());
  EXPECT_EQ(statistics.submitted, count);
  EXPECT_EQ(statistics.finished, count);
  EXPECT_EQ(statistics.failed, 0);
  EXPECT_NEAR(statistics.read_ms, read_ms, 1e-6);
  EXPECT_NEAR(statistics.decode_ms, decode_ms, 1e-6);
  ASSERT_EQ(statistics.metrics.size(), 2u);
  EXPECT_EQ(statistics.metrics[0].name, "mse");
  EXPECT_EQ(statistics.metrics[1].name, "ssimulacra2");
  ASSERT_EQ(statistics.devices.size(), 1u);
  EXPECT_EQ(statistics.devices[0].device, "cpu");
  EXPECT_EQ(statistics.devices[0].tasks, count);
  EXPECT_EQ(scheduler.devices(), std::vector<std::string>{"cpu"});
}

}  // namespace
}  // namespace acuity
