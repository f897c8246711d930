// SPDX-License-Identifier: BSD-2-Clause-Patent
// References of several sizes, distorted pictures of each, and what a plain Scorer makes of the pairs.
#ifndef ACUITY_TESTS_SCHEDULE_SCHEDULER_TEST_H
#define ACUITY_TESTS_SCHEDULE_SCHEDULER_TEST_H

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "acuity/schedule.h"
#include "schedule/pictures.h"

namespace acuity::tests {

inline constexpr int kReferences = 5, kDistorted = 8;

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

inline SchedulerOptions on_cpu(SchedulerOptions options = {}) {
  if (options.metrics.empty()) options.metrics = {"ssimulacra2"};
  options.devices = {"cpu"};
  if (options.memory_limit_bytes == 0) options.memory_limit_bytes = int64_t{256} << 20;
  return options;
}

}  // namespace acuity::tests

#endif
