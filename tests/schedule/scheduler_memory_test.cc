// SPDX-License-Identifier: BSD-2-Clause-Patent
// Memory of the host that runs out in the scheduler's threads. One allocation after the other fails, each once: every
// row still has its result, which is right or says why there is none.
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "acuity/schedule.h"
#include "schedule/pictures.h"
#include "support/slow_machine.h"

namespace {

std::atomic<int64_t> before_failure = -1;  // allocations; negative: none fails
std::atomic<int64_t> allocations = 0;
thread_local bool is_spared = false;  // the thread of the test

}  // namespace

// Not inlined: g++ would find that what new returns goes to free().
[[gnu::noinline]] void* operator new(size_t bytes) {
  if (!is_spared) {
    ++allocations;
    if (before_failure >= 0 && before_failure-- == 0) throw std::bad_alloc();
  }
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace acuity {
namespace {

constexpr int kSide = 64, kRows = 4;

class SchedulerMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    is_spared = true;
    tests::write_file(reference_, tests::drawn(1, kSide, kSide));
    for (int i = 0; i < kRows; ++i) {
      distorted_.push_back(folder_.path(std::to_string(i) + ".ppm"));
      tests::write_file(distorted_.back(), tests::drawn(10 + i, kSide, kSide));
      right_.push_back(tests::plain_score(reference_, distorted_.back(), "mse"));
    }
  }

  // How many rows failed.
  int run_rows(int64_t failing) {
    Scheduler scheduler = tests::scheduler_of({.metrics = {"mse"},
                                               .devices = {"cpu"},
                                               .memory_limit_bytes = int64_t{64} << 20,
                                               .threads = 2,
                                               .timeout_ms = 600'000});
    std::vector<Task> tasks;
    for (const std::string& file : distorted_) tasks.push_back(tests::task_of(reference_, file));
    allocations = 0;
    before_failure = failing;
    const std::vector<TaskResult> results = tests::run(scheduler, std::move(tasks));
    before_failure = -1;
    EXPECT_EQ(results.size(), size_t{kRows});
    int failed = 0;
    for (size_t i = 0; i < results.size(); ++i) {
      const TaskResult& result = results[i];
      EXPECT_EQ(result.index, static_cast<int64_t>(i));
      if (result.status.ok()) {
        EXPECT_EQ(result.scores[0].value, right_[i]);
        continue;
      }
      ++failed;
      EXPECT_EQ(result.status.code(), StatusCode::out_of_memory) << result.status.message();
      EXPECT_TRUE(result.scores.empty());
    }
    return failed;
  }

  tests::Folder folder_;
  const std::string reference_ = folder_.path("reference.ppm");
  std::vector<std::string> distorted_;
  std::vector<double> right_;
};

TEST_F(SchedulerMemoryTest, NoRowIsLost) {
  ASSERT_EQ(run_rows(-1), 0);
  const int64_t all = allocations;
  ASSERT_GT(all, 50);
  int failed = 0;
  for (int64_t failing = 0; failing < all; failing += tests::kSlowMachine ? 23 : 1) {
    SCOPED_TRACE(failing);
    const int rows = run_rows(failing);
    EXPECT_LE(rows, 1);
    failed += rows;
  }
  EXPECT_GT(failed, 0);
}

}  // namespace
}  // namespace acuity
