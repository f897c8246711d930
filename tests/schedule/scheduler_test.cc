// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scores of a Scheduler are those of a plain Scorer, in order, whatever the order, window, memory and number of
// threads.
#include "acuity/schedule.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <random>
#include <set>
#include <thread>

#include <sys/stat.h>

#include "media/scale.h"
#include "schedule/pictures.h"
#include "schedule/state.h"
#include "schedule/work.h"

namespace acuity {
namespace {

using tests::drawn;
using tests::Folder;
using tests::plain_score;
using tests::run;
using tests::scheduler_of;
using tests::task_of;
using tests::write_file;

constexpr int kReferences = 5, kDistorted = 8;

class SchedulerTest : public testing::Test {
 protected:
  // One size for each reference.
  static void SetUpTestSuite() {
    folder = new Folder;
    for (int r = 0; r < kReferences; ++r) {
      write_file(reference(r), drawn(r, width(r), 64));
      for (int d = 0; d < kDistorted; ++d) {
        write_file(distorted(r, d), drawn(100 * r + d + 10, width(r), 64));
        expected[r][d] = plain_score(reference(r), distorted(r, d), "ssimulacra2");
      }
    }
  }
  static void TearDownTestSuite() {
    delete folder;
    folder = nullptr;
  }

  static int width(int r) { return 64 + 16 * (r % 3); }
  static std::string reference(int r) { return folder->path("r" + std::to_string(r) + ".ppm"); }
  static std::string distorted(int r, int d) {
    return folder->path("r" + std::to_string(r) + "d" + std::to_string(d) + ".ppm");
  }
  static Task task(int r, int d) {
    Task task = task_of(reference(r), distorted(r, d));
    task.id = std::to_string(r) + "/" + std::to_string(d);
    task.fields = {"field", task.id};
    return task;
  }
  static std::vector<std::pair<int, int>> shuffled(int times = 1) {
    std::vector<std::pair<int, int>> rows;
    for (int i = 0; i < times; ++i) {
      for (int r = 0; r < kReferences; ++r) {
        for (int d = 0; d < kDistorted; ++d) rows.emplace_back(r, d);
      }
    }
    std::shuffle(rows.begin(), rows.end(), std::mt19937(5));
    return rows;
  }
  static std::vector<Task> tasks(const std::vector<std::pair<int, int>>& rows) {
    std::vector<Task> all;
    for (const auto& [r, d] : rows) all.push_back(task(r, d));
    return all;
  }
  static void expect_right(const TaskResult& result, int r, int d) {
    ASSERT_TRUE(result.status.ok()) << result.status.message();
    ASSERT_EQ(result.scores.size(), 1u);
    EXPECT_EQ(result.scores[0].value, expected[r][d]);
    EXPECT_EQ(result.id, std::to_string(r) + "/" + std::to_string(d));
    EXPECT_EQ(result.fields, (std::vector<std::string>{"field", result.id}));
    EXPECT_EQ(result.width, width(r));
    EXPECT_EQ(result.height, 64);
    EXPECT_EQ(result.device, "cpu");
    EXPECT_EQ(result.memory_mode, "full");
  }

  static inline Folder* folder = nullptr;
  static inline double expected[kReferences][kDistorted] = {};
};

SchedulerOptions on_cpu(SchedulerOptions options = {}) {
  if (options.metrics.empty()) options.metrics = {"ssimulacra2"};
  options.devices = {"cpu"};
  if (options.memory_limit_bytes == 0) options.memory_limit_bytes = int64_t{256} << 20;
  return options;
}

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

// Each reference is decoded and prepared once, whatever the order of its rows.
TEST_F(SchedulerTest, ReferencesAreRecognisedByTheirContent) {
  const std::string copy = write_file(folder->path("copy.ppm"), drawn(0, width(0), 64));
  for (const int threads : {1, 3}) {
    Scheduler scheduler = scheduler_of(on_cpu({.threads = threads}));
    auto rows = shuffled();
    std::vector<Task> all = tasks(rows);
    for (int d = 0; d < kDistorted; ++d) {
      all.push_back(task(0, d));
      all.back().reference = TaskPicture::file(copy);
      rows.emplace_back(0, d);
    }
    const std::vector<TaskResult> results = run(scheduler, std::move(all));
    int64_t cached = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      expect_right(results[i], rows[i].first, rows[i].second);
      cached += results[i].reference_was_cached ? 1 : 0;
    }
    const SchedulerStatistics statistics = scheduler.statistics();
    EXPECT_EQ(statistics.references_decoded, kReferences);
    EXPECT_EQ(statistics.references_found, cached);
    EXPECT_EQ(cached, static_cast<int64_t>(rows.size()) - kReferences);
    EXPECT_EQ(statistics.references_prepared, kReferences);
  }
}

TEST_F(SchedulerTest, SmallReferencesAreNotPrepared) {
  Scheduler scheduler = scheduler_of(on_cpu({.threads = 2, .keep = Keep::small}));
  const auto rows = shuffled();
  const std::vector<TaskResult> results = run(scheduler, tasks(rows));
  for (size_t i = 0; i < rows.size(); ++i) expect_right(results[i], rows[i].first, rows[i].second);
  EXPECT_EQ(scheduler.statistics().references_prepared, 0);
}

TEST_F(SchedulerTest, TheMemoryLimitIsKept) {
  const auto rows = shuffled(3);
  // What one row needs by itself.
  Scheduler alone = scheduler_of(on_cpu({.threads = 1, .window = 1}));
  int64_t largest = 0;
  for (const TaskResult& result : run(alone, tasks(shuffled()))) largest = std::max(largest, result.peak_bytes);
  ASSERT_GT(largest, 0);
  for (const int64_t limit : {largest, largest * 3 / 2, largest * 3}) {
    Scheduler scheduler = scheduler_of(on_cpu({.memory_limit_bytes = limit, .threads = 4}));
    const std::vector<TaskResult> results = run(scheduler, tasks(rows));
    for (size_t i = 0; i < rows.size(); ++i) expect_right(results[i], rows[i].first, rows[i].second);
    const SchedulerStatistics statistics = scheduler.statistics();
    EXPECT_LE(statistics.peak_host_bytes, limit);
    EXPECT_EQ(statistics.memory_limit_bytes, limit);
  }
}

TEST_F(SchedulerTest, ARowThatNeedsMoreThanTheLimitIsRefusedAlone) {
  const std::string large = write_file(folder->path("large.ppm"), drawn(1, 900, 900));
  const std::string other = write_file(folder->path("large2.ppm"), drawn(2, 900, 900));
  Scheduler scheduler = scheduler_of(on_cpu({.memory_limit_bytes = 4'000'000, .threads = 2}));
  std::vector<Task> all{task(0, 0), task_of(large, other), task(0, 1)};
  const std::vector<TaskResult> results = run(scheduler, std::move(all));
  expect_right(results[0], 0, 0);
  EXPECT_EQ(results[1].status.code(), StatusCode::too_big);
  EXPECT_NE(results[1].status.message().find("the limit for all tasks is 4000000"), std::string::npos)
      << results[1].status.message();
  EXPECT_TRUE(results[1].scores.empty());
  expect_right(results[2], 0, 1);
  EXPECT_LE(scheduler.statistics().peak_host_bytes, 4'000'000);
}

TEST_F(SchedulerTest, BadFilesFailAlone) {
  std::vector<uint8_t> file = drawn(3, 64, 64);
  file.resize(file.size() / 2);
  const std::string truncated = write_file(folder->path("truncated.ppm"), file);
  const std::string empty = write_file(folder->path("empty.ppm"), {});
  const std::string absent = folder->path("absent.ppm");
  const std::string text = write_file(folder->path("text.ppm"), {'h', 'e', 'l', 'l', 'o'});
  for (const int threads : {1, 3}) {
    Scheduler scheduler = scheduler_of(on_cpu({.threads = threads}));
    std::vector<Task> all;
    for (const std::string& bad : {truncated, empty, absent, text}) {
      all.push_back(task_of(reference(0), bad));
      all.push_back(task_of(bad, distorted(0, 1)));
      all.push_back(task_of(bad, distorted(0, 2)));
      all.push_back(task(0, 3));
    }
    all.push_back(task_of(reference(0), distorted(1, 0)));  // another size
    const std::vector<TaskResult> results = run(scheduler, std::move(all));
    for (size_t i = 0; i < 16; ++i) {
      const std::string bad = std::vector{truncated, empty, absent, text}[i / 4];
      if (i % 4 == 3) {
        expect_right(results[i], 0, 3);
        continue;
      }
      EXPECT_EQ(results[i].status.code(), StatusCode::input);
      EXPECT_NE(results[i].status.message().find(bad), std::string::npos) << results[i].status.message();
      EXPECT_TRUE(results[i].scores.empty());
    }
    EXPECT_EQ(results[16].status.code(), StatusCode::input);
    EXPECT_NE(results[16].status.message().find("80x64"), std::string::npos) << results[16].status.message();
    const SchedulerStatistics statistics = scheduler.statistics();
    EXPECT_EQ(statistics.submitted, 17);
    EXPECT_EQ(statistics.finished, 17);
    EXPECT_EQ(statistics.failed, 13);
    ASSERT_EQ(statistics.failures.size(), 1u);
    EXPECT_EQ(statistics.failures[0].kind, "input");
    EXPECT_EQ(statistics.failures[0].tasks, 13);
  }
}

// What a file holds when it is read counts, even if a reference of that name was decoded before.
TEST_F(SchedulerTest, AReferenceThatChangesIsReadAnew) {
  const std::string changing = folder->path("changing.ppm");
  Scheduler scheduler = scheduler_of(on_cpu({.threads = 2}));
  for (const int content : {1, 4, 1, 4}) {
    write_file(changing, drawn(content, width(content), 64));
    const double right = plain_score(changing, distorted(content, 0), "ssimulacra2");
    for (const TaskResult& result : run(scheduler, {task_of(changing, distorted(content, 0))})) {
      ASSERT_TRUE(result.status.ok()) << result.status.message();
      EXPECT_EQ(result.scores[0].value, right);
    }
  }
  EXPECT_EQ(scheduler.statistics().references_decoded, 2);
}

// A file that has been the same for a while is not read again until it changes.
TEST_F(SchedulerTest, AReferenceThatIsUnchangedIsNotReadAnew) {
  const std::string settled = write_file(folder->path("settled.ppm"), drawn(0, width(0), 64));
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  Scheduler scheduler = scheduler_of(on_cpu({.threads = 1, .window = 1}));
  const auto read_ms = [&](int content) {
    const std::vector<TaskResult> results = run(scheduler, {task_of(settled, distorted(content, 1))});
    EXPECT_TRUE(results[0].status.ok()) << results[0].status.message();
    EXPECT_EQ(results[0].scores[0].value, expected[content][1]);
    return results[0].reference.read_ms;
  };
  EXPECT_GT(read_ms(0), 0);
  EXPECT_EQ(read_ms(0), 0);
  EXPECT_EQ(read_ms(0), 0);
  write_file(settled, drawn(3, width(3), 64));
  EXPECT_GT(read_ms(3), 0);
}

TEST_F(SchedulerTest, BytesAndPixelsAreTasksToo) {
  const auto bytes = std::make_shared<std::vector<uint8_t>>(drawn(0, width(0), 64));
  const Result<Picture> picture = read_picture(distorted(0, 4));
  ASSERT_TRUE(picture.ok());
  std::vector<Task> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(task(0, 4));
    if (i % 2 == 1) all.back().reference = TaskPicture::encoded("in memory", *bytes, bytes);
    if (i >= 2) all.back().distorted = TaskPicture::pixels("pixels", Input(picture->view, picture->pixels));
  }
  const Result<Picture> original = read_picture(reference(0));
  const Input pixels(original->view, original->pixels);
  for (int i = 0; i < 3; ++i) {
    all.push_back(task(0, 4));
    all.back().reference = TaskPicture::pixels("original", pixels);
    if (i > 0) all.back().distorted = TaskPicture::pixels("pixels", Input(picture->view, picture->pixels));
  }
  Scheduler scheduler = scheduler_of(on_cpu({.threads = 2}));
  for (const TaskResult& result : run(scheduler, std::move(all))) expect_right(result, 0, 4);
  EXPECT_EQ(scheduler.statistics().references_decoded, 2);
}

// Whatever is there under its name.
TEST_F(SchedulerTest, AnEmptyFileInMemoryIsNotReadFromDisk) {
  Scheduler scheduler = scheduler_of(on_cpu({.threads = 1}));
  std::vector<Task> all{task(0, 0), task(0, 0), task(0, 0)};
  all[0].reference = TaskPicture::encoded(reference(0), {}, nullptr);
  all[1].distorted = TaskPicture::encoded(distorted(0, 0), {}, nullptr);
  const std::vector<TaskResult> results = run(scheduler, std::move(all));
  for (const size_t i : {0, 1}) {
    EXPECT_EQ(results[i].status.code(), StatusCode::input);
    EXPECT_NE(results[i].status.message().find("r0"), std::string::npos) << results[i].status.message();
  }
  expect_right(results[2], 0, 0);
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

// Both sides cropped, and one brought to the size of the other, as the functions of src/media do it.
TEST_F(SchedulerTest, PicturesAreCroppedAndScaled) {
  const auto plain = [&](const Picture& a, const Picture& b) {
    Result<Scorer> scorer = Scorer::create({.metrics = {"ssimulacra2"}, .device = "cpu"}, a.view.width, a.view.height);
    return scorer->score(a.view, b.view)->front().value;
  };
  PairRules crops;
  crops.crop_reference = Crop{40, 30, 3, 5};
  crops.crop_distorted = Crop{40, 30, 7, 1};
  Result<Scheduler> cropping = create_scheduler(on_cpu({.threads = 2}), crops);
  ASSERT_TRUE(cropping.ok());
  for (const TaskResult& result : run(*cropping, {task(0, 0), task(0, 1), task(1, 2)})) {
    ASSERT_TRUE(result.status.ok()) << result.status.message();
    const int r = result.id[0] - '0', d = result.id[2] - '0';
    Picture a = *read_picture(reference(r)), b = *read_picture(distorted(r, d));
    ASSERT_TRUE(crop_picture(a, *crops.crop_reference, "").ok());
    ASSERT_TRUE(crop_picture(b, *crops.crop_distorted, "").ok());
    EXPECT_EQ(result.scores[0].value, plain(a, b));
    EXPECT_EQ(result.width, 40);
    EXPECT_EQ(result.reference.changed.size(), 1u);
    EXPECT_EQ(result.distorted.changed.size(), 1u);
  }
  for (const bool scale_reference : {true, false}) {
    PairRules scales;
    scales.scale_reference = scale_reference;
    Result<Scheduler> scaling = create_scheduler(on_cpu({.threads = 2}), scales);
    ASSERT_TRUE(scaling.ok());
    std::vector<Task> all{task_of(reference(0), distorted(1, 3)), task_of(reference(0), distorted(2, 3)), task(0, 4)};
    const std::vector<TaskResult> results = run(*scaling, std::move(all));
    for (int i = 0; i < 2; ++i) {
      const TaskResult& result = results[static_cast<size_t>(i)];
      ASSERT_TRUE(result.status.ok()) << result.status.message();
      Picture a = *read_picture(reference(0)), b = *read_picture(distorted(i + 1, 3));
      const ImageView& size = scale_reference ? b.view : a.view;
      Picture& changed = scale_reference ? a : b;
      changed = *scaled(changed, size.width, size.height, Scaler::bicubic, Threads(1), "");
      EXPECT_EQ(result.scores[0].value, plain(a, b));
      EXPECT_EQ((scale_reference ? result.reference : result.distorted).changed.size(), 1u);
    }
    expect_right(results[2], 0, 4);
    EXPECT_EQ(scaling->statistics().references_decoded, 1);
  }
}

// What the options say of the samples counts for the cached reference as well.
TEST_F(SchedulerTest, ColoursOfTheOptionsCount) {
  PairRules rules;
  rules.meaning.reference.colour = rules.meaning.distorted.colour = Colour{.transfer = Transfer::linear};
  Result<Scheduler> scheduler = create_scheduler(on_cpu({.threads = 2}), rules);
  ASSERT_TRUE(scheduler.ok());
  for (const TaskResult& result : run(*scheduler, {task(0, 0), task(0, 1)})) {
    ASSERT_TRUE(result.status.ok()) << result.status.message();
    Picture a = *read_picture(reference(0)), b = *read_picture(distorted(0, result.id[2] - '0'));
    a.view.colour.transfer = b.view.colour.transfer = Transfer::linear;
    Result<Scorer> scorer = Scorer::create({.metrics = {"ssimulacra2"}, .device = "cpu"}, a.view.width, a.view.height);
    EXPECT_EQ(result.scores[0].value, scorer->score(a.view, b.view)->front().value);
    EXPECT_NE(result.scores[0].value, expected[0][result.id[2] - '0']);
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
