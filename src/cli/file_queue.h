// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scores several files against one, through the scheduler: pictures as its tasks, videos as its works.
#ifndef ACUITY_CLI_FILE_QUEUE_H
#define ACUITY_CLI_FILE_QUEUE_H

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "acuity/schedule.h"
#include "cli/pairs.h"
#include "cli/video_plan.h"
#include "schedule/work.h"

namespace acuity::cli {

class FileQueue {
 public:
  /// `video`: the files are videos. A failure is one that no file can be scored after.
  static Result<std::shared_ptr<FileQueue>> create(const ScoreJob& job, const std::optional<VideoPlan>& video);

  struct Calls {
    std::function<bool()> goes_on;  // asked often; once it says no, no file is begun any more
    std::function<void(const std::string&)> progress;
    std::function<void(PairResult)> done;  // in the order of the files
  };
  Status run(const Calls& calls);

 private:
  explicit FileQueue(const ScoreJob& job, const std::optional<VideoPlan>& video) : job_(job), video_(video) {}

  Status read_reference();
  Result<std::vector<std::string>> devices();
  Result<bool> submit(size_t file);
  void score_video_there(size_t file, const WorkPlace& place, TaskResult& result);
  std::optional<PairResult> result_of(TaskResult result);
  std::string told(size_t done) const;

  ScoreJob job_;
  std::optional<VideoPlan> video_;
  TaskPicture reference_;
  std::string device_reason_;  // why auto chose the CPU; empty if it did not
  mutable std::mutex mutex_;
  std::string frames_;                             // how far the last video that said so has come
  std::vector<std::optional<PairResult>> videos_;  // by file, of those that are scored and not yet delivered
  std::optional<Scheduler> scheduler_;             // last: its threads use the rest
};

}  // namespace acuity::cli

#endif
