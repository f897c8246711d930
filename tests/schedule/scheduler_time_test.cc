// SPDX-License-Identifier: BSD-2-Clause-Patent
// Rows that hang. A named pipe that nobody writes to stands for a file that cannot be read.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "acuity/schedule.h"
#include "schedule/pictures.h"
#include "schedule/state.h"
#include "schedule/work.h"

namespace acuity {
namespace {

using tests::drawn;
using tests::run;
using tests::scheduler_of;
using tests::task_of;
using tests::write_file;

constexpr int kSide = 64;

bool eventually(const std::function<bool()>& is_so) {
  for (int i = 0; i < 30'000 && !is_so(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return is_so();
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class SchedulerTimeTest : public testing::Test {
 protected:
  void SetUp() override {
    write_file(reference_, drawn(1, kSide, kSide));
    write_file(distorted_, drawn(2, kSide, kSide));
    right_ = tests::plain_score(reference_, distorted_, "mse");
  }

  // Threads that were left behind end with what they wait for.
  void TearDown() override {
    for (const std::string& pipe : pipes_) {
      const int end = open(pipe.c_str(), O_WRONLY | O_NONBLOCK);
      if (end >= 0) close(end);
    }
    EXPECT_TRUE(eventually([&] { return state_.expired(); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // they are destroying it
  }

  std::string pipe(const std::string& name) {
    pipes_.push_back(folder_.path(name));
    EXPECT_EQ(mkfifo(pipes_.back().c_str(), 0600), 0);
    return pipes_.back();
  }

  Scheduler scheduler(const SchedulerOptions& given) {
    SchedulerOptions options = given;
    options.metrics = {"mse"};
    options.devices = {"cpu"};
    options.memory_limit_bytes = kLimit;
    Scheduler made = scheduler_of(options);
    state_ = made.state().weak_from_this();
    return made;
  }

  void expect_right(const TaskResult& result) const {
    ASSERT_TRUE(result.status.ok()) << result.status.message();
    EXPECT_EQ(result.scores[0].value, right_);
  }

  static constexpr int64_t kLimit = int64_t{64} << 20;
  tests::Folder folder_;
  const std::string reference_ = folder_.path("reference.ppm"), distorted_ = folder_.path("distorted.ppm");
  double right_ = 0;
  std::vector<std::string> pipes_;
  std::weak_ptr<Scheduler::State> state_;
};

TEST_F(SchedulerTimeTest, ManyMoreRowsThanThreadsMayHang) {
  Scheduler scheduler = this->scheduler({.threads = 4, .timeout_ms = 1500});
  std::vector<Task> tasks;
  for (int i = 0; i < 14; ++i) tasks.push_back(task_of(reference_, pipe(std::to_string(i))));
  for (int i = 0; i < 4; ++i) tasks.push_back(task_of(reference_, distorted_));
  const std::vector<TaskResult> results = run(scheduler, std::move(tasks));
  ASSERT_EQ(results.size(), 18u);
  for (size_t i = 0; i < 14; ++i) {
    EXPECT_TRUE(results[i].timed_out);
    EXPECT_TRUE(contains(results[i].status.message(), reference_ + " and " + pipes_[i])) << results[i].status.message();
  }
  for (size_t i = 14; i < 18; ++i) expect_right(results[i]);
}

// The rows of a reference that cannot be read fail after the first, until that has been read after all.
TEST_F(SchedulerTimeTest, AReferenceThatHangsIsTriedOnce) {
  constexpr int64_t kTimeout = 1000;
  const std::string hanging = pipe("hanging.ppm");
  Scheduler scheduler = this->scheduler({.threads = 2, .timeout_ms = kTimeout});
  const auto before = std::chrono::steady_clock::now();
  const std::vector<TaskResult> results = run(scheduler, std::vector<Task>(20, task_of(hanging, distorted_)));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(5 * kTimeout));
  for (const TaskResult& result : results) {
    EXPECT_TRUE(result.timed_out);
    EXPECT_TRUE(contains(result.status.message(), hanging + " and " + distorted_)) << result.status.message();
  }
  for (const TaskResult& result : run(scheduler, {task_of(reference_, distorted_)})) expect_right(result);

  std::filesystem::rename(hanging, folder_.path("pipe"));
  pipes_ = {folder_.path("pipe")};
  write_file(hanging, drawn(1, kSide, kSide));
  EXPECT_TRUE(run(scheduler, {task_of(hanging, distorted_)})[0].timed_out) << "a thread is still at it";
  close(open(pipes_[0].c_str(), O_WRONLY));
  EXPECT_TRUE(eventually([&] { return run(scheduler, {task_of(hanging, distorted_)})[0].status.ok(); }));
}

// After so many that no thread is left, whoever waits is told, and nobody waits for ever.
TEST_F(SchedulerTimeTest, WithoutAnyThreadLeftWhatWaitsFails) {
  constexpr int kThreads = 8, kHanging = 256 + kThreads, kOthers = 5;
  const std::string hanging = pipe("hanging.ppm");
  Scheduler scheduler = this->scheduler({.threads = kThreads, .window = 1000, .timeout_ms = 50});
  for (int i = 0; i < kHanging; ++i) ASSERT_TRUE(scheduler.submit(task_of(reference_, hanging)).ok());
  for (int i = 0; i < kOthers; ++i) ASSERT_TRUE(scheduler.submit(task_of(reference_, distorted_)).ok());
  for (int i = 0; i < kHanging + kOthers; ++i) {
    const std::optional<TaskResult> result = scheduler.wait_any(std::chrono::minutes(2));
    ASSERT_TRUE(result) << i;
    EXPECT_TRUE(result->timed_out);
    EXPECT_EQ(contains(result->status.message(), "264 tasks did not end"), i >= kHanging) << result->status.message();
  }
  const Status refused = scheduler.submit(task_of(reference_, distorted_));
  EXPECT_EQ(refused.code(), StatusCode::input);
  EXPECT_TRUE(contains(refused.message(), "264 tasks did not end")) << refused.message();
}

// It leaves its place and its memory to the next.
TEST_F(SchedulerTimeTest, AWorkThatHangsKeepsNothingBack) {
  std::promise<void> goes_on;
  Scheduler scheduler = this->scheduler({.threads = 2, .timeout_ms = 500});
  for (int i = 0; i < 5; ++i) {
    Work work;
    work.name = "a" + std::to_string(i) + ".y4m and b.y4m";
    work.host_bytes = kLimit;
    work.run = [i, hangs = i == 0 ? goes_on.get_future().share() : std::shared_future<void>()](const WorkPlace&,
                                                                                               TaskResult& result) {
      if (hangs.valid()) hangs.wait();
      result.width = i;
    };
    ASSERT_TRUE(submit_work(scheduler, work).ok());
  }
  for (int i = 0; i < 5; ++i) {
    const std::optional<TaskResult> result = scheduler.wait_any(std::chrono::minutes(1));
    ASSERT_TRUE(result) << i;
    EXPECT_EQ(result->status.ok(), i > 0) << result->status.message();
    EXPECT_EQ(result->width, i);
    EXPECT_EQ(contains(result->status.message(), "a0.y4m and b.y4m: not done"), i == 0) << result->status.message();
  }
  EXPECT_EQ(scheduler.statistics().host_bytes, 0);
  goes_on.set_value();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // it comes back and gives its memory back
  EXPECT_EQ(scheduler.statistics().host_bytes, 0) << "which was not counted any more";
}

// It need not hang: a work that looks whether anybody waits for it ends when its time is over, or with the scheduler.
TEST_F(SchedulerTimeTest, AWorkLearnsThatNobodyWaitsForIt) {
  for (const int64_t timeout_ms : {200, 0}) {
    std::atomic<bool> has_begun = false, has_ended = false;
    Scheduler scheduler = this->scheduler({.threads = 1, .timeout_ms = timeout_ms});
    Work work;
    work.name = "a.y4m and b.y4m";
    work.run = [&](const WorkPlace& place, TaskResult&) {
      has_begun = true;
      while (!place.is_given_up()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      has_ended = true;
    };
    ASSERT_TRUE(submit_work(scheduler, work).ok());
    ASSERT_TRUE(eventually([&] { return has_begun.load(); }));
    if (timeout_ms == 0) scheduler.cancel();
    const std::optional<TaskResult> result = scheduler.wait_any(std::chrono::minutes(1));
    ASSERT_TRUE(result);
    EXPECT_EQ(result->status.code(), StatusCode::cancelled);
    EXPECT_EQ(result->timed_out, timeout_ms > 0);
    EXPECT_TRUE(eventually([&] { return has_ended.load(); }));
  }
}

// Files that vanish, shrink or change between being submitted and being read, and one that ends while it is read.
TEST_F(SchedulerTimeTest, WhatAFileHoldsWhenItIsReadCounts) {
  const std::string ending = pipe("ending.ppm");
  const std::string vanishing = folder_.path("vanishing.ppm"), shrinking = folder_.path("shrinking.ppm"),
                    changing = folder_.path("changing.ppm");
  for (const std::string& file : {vanishing, shrinking, changing}) write_file(file, drawn(3, kSide, kSide));
  Scheduler scheduler = this->scheduler({.threads = 1});
  for (const std::string& file : {ending, vanishing, shrinking, changing, distorted_}) {
    ASSERT_TRUE(scheduler.submit(task_of(reference_, file)).ok());
  }
  // The only thread waits for the pipe, and the others have not begun.
  std::vector<uint8_t> half = drawn(3, kSide, kSide);
  half.resize(half.size() / 2);
  std::filesystem::remove(vanishing);
  std::filesystem::resize_file(shrinking, half.size());
  write_file(changing, drawn(2, kSide, kSide));
  write_file(ending, half);
  for (const std::string& file : {ending, vanishing, shrinking}) {
    const std::optional<TaskResult> result = scheduler.wait_any();
    EXPECT_EQ(result->status.code(), StatusCode::input);
    EXPECT_TRUE(contains(result->status.message(), file)) << result->status.message();
  }
  expect_right(*scheduler.wait_any());
  expect_right(*scheduler.wait_any());
}

// A thread of the scheduler sees what files are; whoever submits them does not open them.
TEST_F(SchedulerTimeTest, FilesThatAreVideosAreWorks) {
  const std::string frame(kSide * kSide * 3 / 2, 'x');
  const std::string y4m = "YUV4MPEG2 W64 H64 F25:1 C420jpeg\nFRAME\n" + frame;
  const std::string video = write_file(folder_.path("video.y4m"), {y4m.begin(), y4m.end()});
  Scheduler scheduler = this->scheduler({.threads = 2});
  const auto submit = [&](const std::string& reference, const std::string& distorted, bool for_pictures) {
    Work work;
    work.for_pictures = for_pictures;
    work.run = [](const WorkPlace& place, TaskResult& result) { result.width = place.are_videos ? 1 : 2; };
    const Result<bool> submitted =
        try_submit_files(scheduler, task_of(reference, distorted), work, std::chrono::minutes(1));
    EXPECT_TRUE(submitted.ok() && *submitted);
  };
  for (const auto& [reference, distorted, for_pictures, width] :
       {std::tuple(video, distorted_, false, 1), std::tuple(reference_, video, false, 1),
        std::tuple(reference_, distorted_, false, kSide), std::tuple(reference_, distorted_, true, 2),
        std::tuple(video, video, true, 1)}) {
    submit(reference, distorted, for_pictures);
    const std::optional<TaskResult> result = scheduler.wait_any(std::chrono::minutes(1));
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->status.ok()) << result->status.message();
    EXPECT_EQ(result->width, width);
  }
}

// A file may be made, or made anew, while a process serves rows.
TEST_F(SchedulerTimeTest, FilesMayBecomeVideosAndPictures) {
  const std::string path = folder_.path("becomes"), frame(kSide * kSide * 3 / 2, 'x');
  const std::string y4m = "YUV4MPEG2 W64 H64 F25:1 C420jpeg\nFRAME\n" + frame;
  Scheduler scheduler = this->scheduler({.threads = 1});
  const auto run = [&] {
    Work work;
    work.run = [](const WorkPlace& place, TaskResult& result) { result.width = place.are_videos ? 1 : 2; };
    const Result<bool> submitted =
        try_submit_files(scheduler, task_of(path, distorted_), work, std::chrono::minutes(1));
    EXPECT_TRUE(submitted.ok() && *submitted);
    return scheduler.wait_any(std::chrono::minutes(1)).value_or(TaskResult());
  };
  EXPECT_EQ(run().status.code(), StatusCode::input) << "there is no such file";
  write_file(path, {y4m.begin(), y4m.end()});
  EXPECT_EQ(run().width, 1);
  write_file(path, drawn(1, kSide, kSide));
  EXPECT_EQ(run().width, kSide);
}

}  // namespace
}  // namespace acuity
