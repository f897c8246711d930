// SPDX-License-Identifier: BSD-2-Clause-Patent
// Small pictures in a folder of their own, and what plain Scorers make of them.
#ifndef ACUITY_TESTS_SCHEDULE_PICTURES_H
#define ACUITY_TESTS_SCHEDULE_PICTURES_H

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "acuity/picture.h"
#include "acuity/schedule.h"
#include "acuity/scorer.h"

namespace acuity::tests {

class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "acuity.XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder for temporary files");
    path_ = pattern;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// A PPM file whose content depends on the number.
inline std::vector<uint8_t> drawn(int number, int width, int height) {
  const std::string header = "P6\n" + std::to_string(width) + " " + std::to_string(height) + "\n255\n";
  std::vector<uint8_t> file(header.begin(), header.end());
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < 3; ++c) {
        const int wave = (x * (c + 3) + y * (number % 5 + 2) + x * y / 16) % 200;
        file.push_back(static_cast<uint8_t>(20 + wave + (number * 7 + x / 8) % 13));
      }
    }
  }
  return file;
}

inline std::string write_file(const std::string& path, const std::vector<uint8_t>& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return path;
}

inline Task task_of(const std::string& reference, const std::string& distorted) {
  Task task;
  task.reference = TaskPicture::file(reference);
  task.distorted = TaskPicture::file(distorted);
  return task;
}

/// What a Scorer says of two files, without any scheduler.
inline double plain_score(const std::string& reference, const std::string& distorted, const std::string& metric) {
  const Result<Picture> a = read_picture(reference), b = read_picture(distorted);
  if (!a.ok() || !b.ok()) throw std::runtime_error("a picture cannot be read");
  Result<Scorer> scorer =
      Scorer::create({.metrics = {metric}, .device = "cpu", .threads = 1}, a->view.width, a->view.height);
  if (!scorer.ok()) throw std::runtime_error(scorer.status().message());
  const Result<std::vector<Score>> scores = scorer->score(a->view, b->view);
  if (!scores.ok()) throw std::runtime_error(scores.status().message());
  return scores->front().value;
}

inline Scheduler scheduler_of(const SchedulerOptions& options) {
  Result<Scheduler> scheduler = Scheduler::create(options);
  if (!scheduler.ok()) throw std::runtime_error(scheduler.status().message());
  return std::move(*scheduler);
}

/// All results of these tasks.
inline std::vector<TaskResult> run(Scheduler& scheduler, std::vector<Task> tasks) {
  std::vector<TaskResult> results;
  size_t next = 0;
  const Status status = scheduler.run_all(
      [&]() -> std::optional<Task> {
        if (next == tasks.size()) return std::nullopt;
        return std::move(tasks[next++]);
      },
      [&](TaskResult result) {
        results.push_back(std::move(result));
        return Status();
      });
  EXPECT_TRUE(status.ok()) << status.message();
  return results;
}

}  // namespace acuity::tests

#endif
