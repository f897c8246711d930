// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/row_scheduler.h"

#include <algorithm>
#include <future>

#include <fmt/format.h>

#include "base/try.h"
#include "cli/heatmaps.h"
#include "cli/meaning_plan.h"
#include "cli/video.h"
#include "schedule/work.h"

namespace acuity::cli {
namespace {

constexpr int kMostSeconds = 1 << 20;
constexpr std::chrono::milliseconds kLongWait = std::chrono::hours(1);
constexpr int64_t kVideoBytes = int64_t{256} << 20;  // what frames in flight need, about

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t comma = std::min(list.find(',', begin), list.size());
    parts.emplace_back(trimmed(std::string_view(list).substr(begin, comma - begin)));
    begin = comma + 1;
  }
  return parts;
}

bool any_of_frames(const std::vector<MetricChoice>& metrics) {
  return std::any_of(metrics.begin(), metrics.end(),
                     [](const MetricChoice& metric) { return find_metric(metric.name)->is_frame_metric; });
}

Status check_metrics_of_rows(const std::vector<MetricChoice>& metrics) {
  for (const MetricChoice& metric : metrics) ACUITY_TRY(refuse_heatmaps(metric.options));
  return {};
}

template <typename TrySubmit>
Status until_submitted(const TrySubmit& try_submit) {
  while (true) {
    const Result<bool> submitted = try_submit();
    if (!submitted.ok() || *submitted) return submitted.status();
  }
}

void fill(PairResult pair, const std::vector<MetricChoice>& metrics, TaskResult& result) {
  result.status = pair.status.ok() ? pair.cut_short : pair.status;
  result.warnings = std::move(pair.warnings);
  result.reference.decode_ms = pair.reference_facts.decode_ms;
  result.distorted.decode_ms = pair.distorted_facts.decode_ms;
  if (!result.status.ok()) return;
  result.width = pair.width;
  result.height = pair.height;
  result.assumptions = assumptions(pair);
  for (size_t i = 0; i < pair.scores.size(); ++i) {
    result.scores.push_back(std::move(pair.scores[i].score));
    result.scores.back().metric = metrics[i].name;
  }
}

void score_frames(const RowPlan& plan, const std::string& reference, const std::string& distorted,
                  const std::vector<MetricChoice>& metrics, const WorkPlace& place, TaskResult& result) {
  ScoreJob job = plan.job;
  job.reference = reference;
  job.distorted = {distorted};
  job.metrics = metrics;
  if (plan.raw_video || place.are_videos) {
    Result<std::vector<MetricChoice>> of_videos = metrics_for_videos(metrics);
    if (!of_videos.ok()) {
      result.status = of_videos.status();
      return;
    }
    job.metrics = std::move(*of_videos);
  }
  job.meaning.frames = any_of_frames(job.metrics);
  job = on_device(std::move(job), place);
  fill(score_video(job, plan.video, distorted, [](int64_t, const std::optional<FrameTotal>&) {}), job.metrics, result);
}

}  // namespace

const std::vector<Option>& row_options() {
  static const std::vector<Option> table = {
      metric_option(),
      {.name = "--devices",
       .value = "NAME,...",
       .help = "where to compute: auto (every usable GPU, and the CPU), or names such as cuda:0,cuda:1,cpu; never "
               "changes a score",
       .default_value = "auto",
       .words = {"auto", "cpu", "cuda", "hip", "vulkan"},
       .suggest = Suggest::words},
      {.name = "--threads",
       .value = "N",
       .help = "how many threads read, decode and score; never changes a score",
       .default_value = "one per core"},
      memory_limit_option(),
      memory_option(),
      vram_cap_option(),
      {.name = "--timeout",
       .value = "SECONDS",
       .help = "a row whose files take longer to read, or whose pictures or video take longer to score, fails",
       .default_value = "no limit"},
  };
  return table;
}

Result<std::vector<MetricChoice>> plan_metrics_of_row(const std::string& list) {
  std::vector<std::string> given_twice;
  std::vector<MetricChoice> metrics;
  ACUITY_TRY_ASSIGN(metrics, plan_metrics({list}, given_twice));
  ACUITY_TRY(check_metrics_of_rows(metrics));
  return metrics;
}

Result<RowPlan> plan_rows(const Request& request) {
  RowPlan plan;
  ACUITY_TRY_ASSIGN(plan.job.metrics, plan_metrics(request, plan.warnings));
  ACUITY_TRY(check_metrics_of_rows(plan.job.metrics));
  ACUITY_TRY_ASSIGN(plan.job.geometry, plan_geometry(request));
  ACUITY_TRY_ASSIGN(plan.job.meaning, plan_meaning(request));
  Machine machine;
  ACUITY_TRY_ASSIGN(machine, plan_machine(request));
  plan.job.memory = machine.memory;
  plan.job.vram_cap_bytes = machine.vram_cap_bytes;
  FilePlan files;
  ACUITY_TRY_ASSIGN(files, read_file_options(request));
  plan.job.limits = files.limits;
  plan.job.reference_frame = files.reference_frame;
  plan.job.distorted_frame = files.distorted_frame;
  if (request.has("--fps")) ACUITY_TRY_ASSIGN(plan.job.rate, parse_rate(request.value("--fps")));
  ACUITY_TRY_ASSIGN(plan.video, plan_video(request));
  plan.asks_for_video = asks_for_video(request);
  plan.raw_video = request.has("--size");

  SchedulerOptions& scheduler = plan.scheduler;
  scheduler.devices = split(request.value("--devices"));
  const bool on_gpu = plan.video.decode_reference_on_gpu || plan.video.decode_distorted_on_gpu;
  if (on_gpu && !request.has("--devices")) scheduler.devices = {"cuda"};
  scheduler.memory = machine.memory;
  scheduler.vram_cap_bytes = machine.vram_cap_bytes;
  scheduler.threads = machine.threads;
  scheduler.limits = files.limits;
  scheduler.memory_limit_bytes = machine.memory_limit_bytes;
  if (request.has("--timeout")) {
    int seconds = 0;
    ACUITY_TRY_ASSIGN(seconds, parse_whole(request.value("--timeout"), "--timeout", 1, kMostSeconds));
    scheduler.timeout_ms = int64_t{seconds} * 1000;
  }
  return plan;
}

const Option& outputs_option() {
  static const Option option{.name = "--outputs",
                             .value = "WHICH",
                             .help = "write the value of each metric, or all its outputs as well",
                             .default_value = "headline",
                             .words = {"headline", "all"},
                             .suggest = Suggest::words};
  return option;
}

Result<bool> plan_outputs(const Request& request) {
  const std::string outputs = request.value("--outputs");
  if (outputs == "headline" || outputs == "all") return outputs == "all";
  return Status(StatusCode::usage, fmt::format("invalid value '{}' for --outputs: expected headline or all", outputs));
}

std::string options_that_change_scores(const Request& request) {
  std::string text;
  for (const auto* table : {&frame_options(), &geometry_options(), &pairing_options(), &stream_options(),
                            &sample_options(), &comparison_options()}) {
    for (const Option& option : *table) {
      if (!request.has(option.name)) continue;
      text += fmt::format("{}{}", text.empty() ? "" : " ", option.name);
      if (!option.value.empty()) text += fmt::format(" {}", request.value(option.name));
    }
  }
  return text;
}

PairRules rules_of(const ScoreJob& job) {
  return {.meaning = job.meaning,
          .crop_reference = job.geometry.crop_reference,
          .crop_distorted = job.geometry.crop_distorted,
          .scale_reference = job.geometry.scale_reference,
          .scaler = job.geometry.scaler};
}

Work video_work(const VideoPlan& video, const Scheduler& scheduler) {
  Work work;
  work.host_bytes = kVideoBytes;
  const bool decoded_on_gpu = video.decode_reference_on_gpu || video.decode_distorted_on_gpu;
  for (const std::string& device : scheduler.devices()) {
    if (decoded_on_gpu && device.starts_with("cuda")) work.devices.push_back(device);
  }
  return work;
}

std::vector<std::string> left_devices(const TaskResult& result) {
  std::vector<std::string> list;
  if (!result.status.ok()) return list;
  const auto told = [](const std::string& device, const std::string& mode) {
    return mode.empty() ? device : fmt::format("{} ({})", device, mode);
  };
  for (const Attempt& attempt : result.attempts) {
    const bool same = attempt.device == result.device;
    list.push_back(fmt::format("{} could not score it, so {} did: {}",
                               same ? told(attempt.device, attempt.memory_mode) : attempt.device,
                               same ? told(result.device, result.memory_mode) : result.device, attempt.why.message()));
  }
  return list;
}

ScoreJob on_device(ScoreJob job, const WorkPlace& place) {
  job.device = place.device;
  job.threads = place.threads;
  job.is_given_up = place.is_given_up;
  job.opening = {};
  if (place.device != "cpu") {
    const auto open = [device = place.device] { return OpenedDevice{open_device(device), {}}; };
    job.opening = std::async(std::launch::deferred, open).share();
  }
  return job;
}

Result<std::unique_ptr<RowScheduler>> RowScheduler::create(RowPlan plan, bool ordered) {
  plan.scheduler.ordered = ordered;
  Result<Scheduler> scheduler = create_scheduler(plan.scheduler, rules_of(plan.job));
  if (!scheduler.ok()) return scheduler.status();
  return std::unique_ptr<RowScheduler>(new RowScheduler(std::move(plan), std::move(*scheduler)));
}

Status RowScheduler::submit(const std::string& reference, const std::string& distorted, const Metrics& metrics) {
  return until_submitted([&] { return try_submit(reference, distorted, metrics, kLongWait); });
}

Result<bool> RowScheduler::try_submit(const std::string& reference, const std::string& distorted,
                                      const Metrics& metrics, std::chrono::milliseconds most) {
  Work work = video_work(plan_->video, scheduler_);
  work.name = fmt::format("{} and {}", reference, distorted);
  work.for_pictures = plan_->asks_for_video || any_of_frames(*metrics);
  work.run = [plan = plan_, reference, distorted, metrics](const WorkPlace& place, TaskResult& result) {
    score_frames(*plan, reference, distorted, *metrics, place, result);
  };
  if (plan_->raw_video) return try_submit_work(scheduler_, work, most);
  Task task;
  task.reference = TaskPicture::file(reference);
  task.distorted = TaskPicture::file(distorted);
  task.reference.frame = plan_->job.reference_frame;
  task.distorted.frame = plan_->job.distorted_frame;
  for (const MetricChoice& metric : *metrics) task.metrics.emplace_back(metric.name, metric.options);
  return try_submit_files(scheduler_, task, work, most);
}

Status RowScheduler::submit_failure(const Status& why) {
  return until_submitted([&] { return try_submit_failure(why, kLongWait); });
}

Result<bool> RowScheduler::try_submit_failure(const Status& why, std::chrono::milliseconds most) {
  Work work;
  work.run = [why](const WorkPlace&, TaskResult& result) { result.status = why; };
  return try_submit_work(scheduler_, work, most);
}

}  // namespace acuity::cli
