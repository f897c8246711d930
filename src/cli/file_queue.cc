// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/file_queue.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <utility>

#include <fmt/format.h>

#include "base/threads.h"
#include "base/try.h"
#include "cli/console.h"
#include "cli/row_scheduler.h"
#include "cli/video.h"
#include "engine/auto_device.h"
#include "engine/requests.h"
#include "media/decoder.h"
#include "media/file.h"
#include "media/picture_size.h"
#include "schedule/work.h"

namespace acuity::cli {
namespace {

// How often an interrupt is looked for, and progress is told.
constexpr std::chrono::milliseconds kLook{100};

FileFacts facts_of(PictureFacts& facts) {
  return {std::move(facts.format),         std::move(facts.found),   std::move(facts.assumed),
          facts.read_ms + facts.decode_ms, std::move(facts.changed), {}};
}

}  // namespace

Result<std::shared_ptr<FileQueue>> FileQueue::create(const ScoreJob& job, const std::optional<VideoPlan>& video) {
  std::shared_ptr<FileQueue> queue(new FileQueue(job, video));
  if (!video) ACUITY_TRY(queue->read_reference());
  SchedulerOptions options;
  ACUITY_TRY_ASSIGN(options.devices, queue->devices());
  options.memory_limit_bytes = job.memory_limit_bytes;
  options.vram_cap_bytes = job.vram_cap_bytes;
  options.threads = job.threads;
  options.limits = job.limits;
  options.memory = job.memory;
  options.want_map = job.want_map;
  Result<Scheduler> scheduler = create_scheduler(options, rules_of(job));
  if (!scheduler.ok()) return scheduler.status();
  queue->scheduler_ = std::move(*scheduler);
  queue->videos_.resize(job.distorted.size());
  return queue;
}

// What comes through a pipe comes once.
Status FileQueue::read_reference() {
  reference_ = TaskPicture::file(job_.reference);
  reference_.frame = job_.reference_frame;
  std::error_code error;
  if (std::filesystem::is_regular_file(job_.reference, error)) return {};
  File file;
  ACUITY_TRY_ASSIGN(file, open_file(job_.reference));
  FileBytes bytes;
  ACUITY_TRY_ASSIGN(bytes, read_picture_file(file.get(), shown(job_.reference), job_.limits));
  reference_ = TaskPicture::encoded(shown(job_.reference), bytes.bytes, bytes.memory);
  reference_.frame = job_.reference_frame;
  return {};
}

// With auto, all that there are, unless the CPU alone is done before a GPU is opened.
Result<std::vector<std::string>> FileQueue::devices() {
  if (job_.device != "auto" || video_) return std::vector<std::string>{job_.device};
  if (reference_.is_encoded) return std::vector<std::string>{"cpu"};  // a pipe does not tell its size in advance
  const Result<PictureSize> size = picture_size(job_.reference, job_.limits, job_.reference_frame);
  if (!size.ok()) return std::vector<std::string>{"cpu"};  // each row tells why
  ScorerOptions options;
  for (const MetricChoice& metric : job_.metrics) options.metrics.emplace_back(metric.name, metric.options);
  const Result<std::vector<RequestedMetric>> metrics = find_requested_metrics(options, size->width, size->height);
  if (!metrics.ok()) return std::vector<std::string>{"cpu"};  // each row tells why
  const DeviceChoice choice = choose_device(costed(*metrics),
                                            {.pairs = static_cast<int64_t>(job_.distorted.size()),
                                             .width = size->width,
                                             .height = size->height,
                                             .threads = Threads(job_.threads).count(),
                                             .want_map = job_.want_map},
                                            process_measurements().now());
  if (choice.device) return std::vector<std::string>{"auto"};
  device_reason_ = "device: " + choice.reason;
  return std::vector<std::string>{"cpu"};
}

Status FileQueue::run(const Calls& calls) {
  const size_t files = job_.distorted.size();
  // Maps are large, and take longer to write than to compute.
  const size_t most = job_.want_map ? 2 * static_cast<size_t>(Threads(job_.threads).count()) : files;
  size_t begun = 0, done = 0;
  bool stopped = false;
  while (true) {
    if (!stopped && !calls.goes_on()) {
      stopped = true;
      scheduler_->cancel();
    }
    while (!stopped && begun < files && begun - done < most) {
      bool has_room = false;
      ACUITY_TRY_ASSIGN(has_room, submit(begun));
      if (!has_room) break;
      ++begun;
    }
    calls.progress(told(done));
    std::optional<TaskResult> result = scheduler_->wait_any(kLook);
    if (result) {
      ++done;
      std::optional<PairResult> pair = result_of(std::move(*result));
      if (pair) calls.done(std::move(*pair));
    } else if ((stopped || begun == files) && scheduler_->is_drained()) {
      return {};
    }
  }
}

Result<bool> FileQueue::submit(size_t file) {
  constexpr std::chrono::milliseconds kAtOnce{0};
  const std::string& path = job_.distorted[file];
  if (video_) {
    Work work = video_work(*video_, *scheduler_);
    work.name = fmt::format("{} and {}", shown(job_.reference), shown(path));
    work.run = [this, file](const WorkPlace& place, TaskResult& result) { score_video_there(file, place, result); };
    return try_submit_work(*scheduler_, work, kAtOnce);
  }
  Task task;
  task.reference = reference_;
  task.distorted = TaskPicture::file(path);
  task.distorted.frame = job_.distorted_frame;
  for (const MetricChoice& metric : job_.metrics) task.metrics.emplace_back(metric.name, metric.options);
  return scheduler_->try_submit(task, kAtOnce);
}

// By a thread of the scheduler.
void FileQueue::score_video_there(size_t file, const WorkPlace& place, TaskResult& result) {
  if (interrupted()) {
    result.status = Status(StatusCode::cancelled, "interrupted");
    return;
  }
  const FrameCount count;
  const auto progress = [&](int64_t frames, const std::optional<FrameTotal>& total) {
    const std::lock_guard lock(mutex_);
    frames_ = count.told(frames, total);
  };
  PairResult pair = score_video(on_device(job_, place), *video_, job_.distorted[file], progress);
  result.status = pair.status.ok() ? pair.cut_short : pair.status;  // another device may do all of it
  for (const MetricScore& entry : pair.scores) result.scores.push_back(entry.score);
  const std::lock_guard lock(mutex_);
  videos_[file] = std::move(pair);
}

// None for a file that was not begun.
std::optional<PairResult> FileQueue::result_of(TaskResult result) {
  const auto file = static_cast<size_t>(result.index);
  PairResult pair;
  if (video_) {
    const std::lock_guard lock(mutex_);
    if (!videos_[file]) return {};
    pair = std::move(*std::exchange(videos_[file], std::nullopt));
  } else {
    // What failed after an interrupt may have waited for a pipe.
    if (result.status.code() == StatusCode::cancelled || (!result.status.ok() && interrupted())) return {};
    pair.reference = job_.reference;
    pair.distorted = job_.distorted[file];
    pair.status = result.status;
    pair.width = result.width;
    pair.height = result.height;
    pair.reference_facts = facts_of(result.reference);
    pair.distorted_facts = facts_of(result.distorted);
    pair.prepare_ms = result.prepare_ms;
    pair.warnings = std::move(result.warnings);
    for (size_t m = 0; m < result.scores.size(); ++m) {
      const MetricChoice& metric = job_.metrics[m];
      if (!device_reason_.empty()) result.scores[m].provenance.assumptions.push_back(device_reason_);
      pair.scores.push_back({find_metric(metric.name), metric.label, std::move(result.scores[m]), {}});
    }
  }
  for (std::string& warning : left_devices(result)) pair.warnings.push_back(std::move(warning));
  return pair;
}

std::string FileQueue::told(size_t done) const {
  std::string text = fmt::format("{} of {} {}", done, job_.distorted.size(), video_ ? "videos" : "pictures");
  const std::lock_guard lock(mutex_);
  return frames_.empty() ? text : text + ": " + frames_;
}

}  // namespace acuity::cli
