// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/try.h"
#include "cli/capabilities.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/distogram.h"
#include "cli/exit_code.h"
#include "cli/file_queue.h"
#include "cli/limits.h"
#include "cli/lists.h"
#include "cli/heatmaps.h"
#include "cli/job_plan.h"
#include "cli/leave.h"
#include "cli/map_file.h"
#include "cli/meaning_plan.h"
#include "cli/picture_pair.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/request.h"
#include "cli/text.h"
#include "cli/video.h"
#include "device/device.h"
#include "media/file.h"
#include "media/output_file.h"

namespace acuity::cli {
namespace {

constexpr std::array<std::string_view, 5> kForms{"--plain", "--json", "--csv", "--csv-wide", "--value-only"};

struct Plan {
  ScoreJob job;
  MapPlan maps;
  std::optional<VideoPlan> video;
  std::vector<Limit> limits;
  std::optional<OutputFile> output;  // none: standard output
  std::string form;                  // an option of kForms
  bool explain = false;
  std::vector<std::string> warnings;
};

Status usage(std::string message) { return Status(StatusCode::usage, std::move(message)); }

Status plan_files(const Request& request, ScoreJob& job) {
  std::vector<std::string> files = request.arguments();
  if (request.has("--reference")) {
    job.reference = request.value("--reference");
  } else if (!files.empty()) {
    job.reference = files.front();
    files.erase(files.begin());
  } else {
    return usage("no files are given: name the original and the files to compare with it");
  }
  job.distorted = request.values("--distorted");
  job.distorted.insert(job.distorted.end(), files.begin(), files.end());
  if (job.distorted.empty()) {
    return usage(fmt::format("only one file is given ({}): name the files to compare with it", job.reference));
  }
  const auto from_stdin = std::count(job.distorted.begin(), job.distorted.end(), "-") + (job.reference == "-" ? 1 : 0);
  if (from_stdin > 1) return usage("standard input (-) can be given only once");
  if (from_stdin == 1 && isatty(STDIN_FILENO) == 1) {
    return usage("standard input (-) is a terminal; redirect a picture into it");
  }
  return {};
}

// All files that are read: no output may take the place of one.
std::vector<std::string> inputs_of(const ScoreJob& job) {
  std::vector<std::string> files = files_of_options(job.metrics);
  files.insert(files.end(), job.distorted.begin(), job.distorted.end());
  files.push_back(job.reference);
  return files;
}

// An option says in which form, or else the end of the file's name.
Status plan_output(const Request& request, Plan& plan) {
  for (const std::string_view form : kForms) {
    if (!request.has(form)) continue;
    if (!plan.form.empty()) return usage(fmt::format("give only one of {}", fmt::join(kForms, ", ")));
    plan.form = form;
  }
  const std::string path = request.value("--output");
  if (plan.form.empty()) plan.form = path.ends_with(".json") ? "--json" : path.ends_with(".csv") ? "--csv" : "--plain";
  for (const MetricChoice& metric : plan.job.metrics) {
    ACUITY_TRY(check_heatmaps(metric.options, inputs_of(plan.job)));
    if (plan.job.distorted.size() > 1) ACUITY_TRY(refuse_heatmaps(metric.options));
  }
  if (!request.has("--output")) return {};
  ACUITY_TRY_ASSIGN(plan.output, OutputFile::check(path, "-o", inputs_of(plan.job)));
  if (!plan.maps.distogram.empty() && same_place(plan.maps.distogram, path)) {
    return usage(fmt::format("-o and --distogram are both {}; name two files", path));
  }
  for (const std::string& file : plan.job.distorted) {
    for (const MetricChoice& metric : plan.job.metrics) {
      const bool same = plan.job.want_map && same_place(map_path(plan.maps.pattern, file, metric.label), path);
      if (same) return usage(fmt::format("-o and --map are both {}; name two files", path));
    }
  }
  return {};
}

// Opening a GPU takes long: pictures are read meanwhile. NVIDIA's driver creates a queue of the hardware for each
// connection and takes most of its time for that, at the end of the process again; one is enough for one pair.
void begin_opening(ScoreJob& job, bool one_pair) {
  if (job.device == "auto" || job.device == "cpu") return;
  if (one_pair) setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", /*replace=*/0);
  job.opening = std::async([name = job.device] {
    OpenedDevice opened;
    opened.span = timed("open " + name, [&] { opened.device = open_device(name); });
    return opened;
  });
}

Status plan_machine(const Request& request, ScoreJob& job) {
  job.device = request.value("--device");
  Machine machine;
  ACUITY_TRY_ASSIGN(machine, plan_machine(request));
  job.memory = machine.memory;
  job.vram_cap_bytes = machine.vram_cap_bytes;
  job.memory_limit_bytes = machine.memory_limit_bytes;
  job.threads = machine.threads;
  if (request.has("--frames-in-flight")) {
    ACUITY_TRY_ASSIGN(job.frames_in_flight,
                      parse_whole(request.value("--frames-in-flight"), "--frames-in-flight", 1, 64));
  }
  return {};
}

// Whether the files are scored frame by frame. Several pictures in a file are frames only where the other file has
// several as well; otherwise one of them is to be chosen, which whoever reads the file says.
bool any_videos(const ScoreJob& job) {
  const std::vector<std::string>& files = job.distorted;
  if (is_video(job.reference) || std::any_of(files.begin(), files.end(), is_video)) return true;
  const auto several = [&](const std::string& file) { return holds_several_pictures(file, job.limits); };
  return !job.reference_frame && !job.distorted_frame && several(job.reference) &&
         std::any_of(files.begin(), files.end(), several);
}

// Last of all, for it may have to wait for the first byte of standard input.
Status plan_streams(const Request& request, Plan& plan) {
  ScoreJob& job = plan.job;
  const bool depends = std::any_of(job.metrics.begin(), job.metrics.end(),
                                   [](const MetricChoice& metric) { return metric.name == "cvvdp"; });
  const bool videos = depends && (request.has("--size") || any_videos(job));
  if (videos) ACUITY_TRY_ASSIGN(job.metrics, metrics_for_videos(job.metrics));
  if (request.has("--fps")) ACUITY_TRY_ASSIGN(job.rate, parse_rate(request.value("--fps")));
  const bool any_of_frames = std::any_of(job.metrics.begin(), job.metrics.end(), [](const MetricChoice& metric) {
    return find_metric(metric.name)->is_frame_metric;
  });
  ACUITY_TRY(check_strips(request, {.memory = job.memory}, job.metrics));
  if (!plan.maps.distogram.empty() && !videos && !any_of_frames) {
    return usage("--distogram is for videos: pictures have no time");
  }
  job.meaning.frames = any_of_frames;
  if (request.has("--at") && !any_of_frames) {
    return usage("--at is for frame metrics, and -m has none; 'acuity metrics' shows which metrics work on Y'CbCr");
  }
  if (!any_of_frames && !asks_for_video(request) && (depends || !any_videos(job))) return {};
  Result<VideoPlan> video = plan_video(request);
  if (!video.ok()) return video.status();
  std::error_code error;
  if (job.distorted.size() > 1 && (job.reference == "-" || std::filesystem::is_fifo(job.reference, error))) {
    return usage("with several distorted videos the reference is read several times: give a file, not a pipe");
  }
  plan.video = std::move(*video);
  if (!plan.video->decode_reference_on_gpu && !plan.video->decode_distorted_on_gpu) return {};
  if (!request.has("--device")) job.device = "cuda";
  if (job.device == "cuda" || job.device.starts_with("cuda:")) return {};
  return Status(StatusCode::device,
                fmt::format("--decode cuda leaves frames on a CUDA device, but --device {} is given; "
                            "use --device cuda or --decode cpu",
                            job.device));
}

Result<Plan> make_plan(const Request& request) {
  Plan plan;
  if (Status files = plan_files(request, plan.job); !files.ok()) return files;
  ACUITY_TRY_ASSIGN(plan.job.metrics, plan_metrics(request, plan.warnings));
  ACUITY_TRY_ASSIGN(plan.job.geometry, plan_geometry(request));
  ACUITY_TRY_ASSIGN(plan.job.meaning, plan_meaning(request));
  ACUITY_TRY_ASSIGN(plan.maps, plan_maps(request, plan.job.distorted, plan.job.metrics, inputs_of(plan.job)));
  plan.job.want_map = !plan.maps.pattern.empty();
  plan.job.want_map_context = plan.maps.over_context;
  ACUITY_TRY(plan_machine(request, plan.job));
  ACUITY_TRY(plan_output(request, plan));
  ACUITY_TRY_ASSIGN(plan.limits, parse_limits(request.values("--fail-under"), plan.job.metrics));
  plan.explain = request.has("--explain");
  const Result<FilePlan> file_plan = read_file_options(request);
  if (!file_plan.ok()) return file_plan.status();
  plan.job.limits = file_plan->limits;
  plan.job.reference_frame = file_plan->reference_frame;
  plan.job.distorted_frame = file_plan->distorted_frame;
  if (Status streams = plan_streams(request, plan); !streams.ok()) return streams;
  const bool pooled =
      std::any_of(plan.limits.begin(), plan.limits.end(), [](const Limit& l) { return !l.pool.empty(); });
  if (pooled && !plan.video)
    return usage("--fail-under names a pool, but only videos have pools and these are pictures; leave the pool out");
  const bool one_pair = !plan.video && plan.job.distorted.size() == 1;
  begin_opening(plan.job, one_pair);
  if (one_pair) plan.job.ahead = read_ahead(plan.job);
  // A device that cannot be used is reported once, before any result. A single pair has only one, and is read and
  // planned for meanwhile.
  if (plan.job.opening.valid() && plan.job.distorted.size() > 1) ACUITY_TRY(plan.job.opening.get().device.status());
  return plan;
}

std::unique_ptr<Report> make_report(const Plan& plan, Console& console) {
  if (plan.form == "--json") return json_report(console);
  if (plan.form == "--csv") return csv_report(console, plan.video.has_value());
  if (plan.form == "--csv-wide") return wide_csv_report(console);
  if (plan.form == "--value-only") return values_report(console);
  return plain_report(console);
}

class Run {
 public:
  Run(Plan plan, Report& report, Console& console) : plan_(std::move(plan)), report_(report), console_(console) {}

  int operator()() {
    report_.begin();
    for (const std::string& warning : plan_.warnings) console_.warn(warning);
    one_by_one() ? score_one_by_one() : score_together();
    report_.end(plan_.warnings, complete_);
    return failure_ != kExitOk ? failure_ : below_limit_ ? kExitBelowLimit : kExitOk;
  }

 private:
  // One pair needs no scheduler, and what is shown behind a map is known only where its picture is.
  bool one_by_one() const { return plan_.job.distorted.size() == 1 || (!plan_.video && plan_.job.want_map_context); }

  void score_one_by_one() {
    const std::vector<std::string>& files = plan_.job.distorted;
    for (size_t i = 0; i < files.size() && goes_on(); ++i) {
      const std::string place =
          files.size() > 1 ? fmt::format("{} of {} {}: ", i, files.size(), plan_.video ? "videos" : "pictures") : "";
      ScoreJob job = plan_.job;
      job.distorted = {files[i]};
      job.ends_process = job.opening.valid() && i + 1 == files.size();
      const FrameCount count;
      PairResult pair = plan_.video
                            ? score_video(job, *plan_.video, files[i],
                                          [&](int64_t done, const std::optional<FrameTotal>& total) {
                                            console_.progress(place + count.told(done, total));
                                          })
                            : score_pictures(job, [&](const std::string& doing) { console_.progress(place + doing); });
      finish(pair);
    }
  }

  void score_together() {
    const Result<std::shared_ptr<FileQueue>> queue = FileQueue::create(plan_.job, plan_.video);
    Status status = queue.status();
    if (queue.ok()) {
      status = (*queue)->run({.goes_on = [&] { return goes_on(); },
                              .progress = [&](const std::string& text) { console_.progress(text); },
                              .done = [&](PairResult pair) { finish(pair); }});
      keep_until_exit(*queue);
      if (!status.ok()) fail(status);
      return;
    }
    if (!goes_on()) return;
    for (const std::string& file : plan_.job.distorted) {
      PairResult pair;
      pair.reference = plan_.job.reference;
      pair.distorted = file;
      pair.status = status;
      finish(pair);
    }
  }

  bool goes_on() {
    if (interrupted()) complete_ = false;
    return !interrupted() && !console_.lost();
  }

  void finish(PairResult& pair) {
    std::vector<std::string> lines;
    if (pair.status.ok() && plan_.explain) lines = explanation(pair);
    if (pair.status.ok() && plan_.job.want_map) {
      for (const MetricScore& entry : pair.scores) {
        const std::string path = map_path(plan_.maps.pattern, pair.distorted, entry.label);
        const Result<std::string> map =
            write_map(path, *entry.metric, entry.score.map, entry.map_context, plan_.maps.colours);
        if (map.ok() && plan_.explain) lines.push_back(*map);
        if (!map.ok()) fail(map.status());  // the scores are as good without it
      }
    }
    for (const MetricScore& entry : pair.scores) {
      if (!pair.status.ok() || plan_.maps.distogram.empty() || !entry.metric->name.starts_with("cvvdp")) continue;
      const Result<std::string> written = write_distogram(plan_.maps.distogram, plan_.maps.distogram_max, entry);
      if (written.ok() && plan_.explain) lines.push_back(*written);
      if (!written.ok()) fail(written.status());
    }
    for (const MetricScore& entry : pair.scores) {
      const auto warning =
          too_small({.name = entry.metric->name, .options = {}, .label = entry.label}, pair.width, pair.height);
      if (warning) pair.warnings.push_back(*warning);
    }
    for (const std::string& warning : pair.warnings) warn(warning);
    if (!pair.cut_short.ok()) {
      complete_ = false;
      if (!interrupted()) fail(pair.cut_short);
      pair.warnings.push_back(fmt::format("these scores cover only a part of the video: {}", pair.cut_short.message()));
      plan_.warnings.push_back(pair.warnings.back());
    }
    if (pair.status.code() == StatusCode::cancelled) complete_ = false;
    // A bad reference is told once for all pairs.
    if (!pair.status.ok() && pair.status.message() != told_) fail(pair.status);
    if (!pair.status.ok()) told_ = pair.status.message();
    report_.add(pair, pair.status.ok() ? lines : std::vector<std::string>());
    if (!pair.status.ok()) return;
    for (const std::string& broken : broken_limits(plan_.limits, pair)) {
      below_limit_ = true;
      console_.note("acuity: " + broken);
    }
  }

  // The values alone say nothing of it.
  void warn(const std::string& warning) {
    plan_.form == "--value-only" ? console_.warn(warning) : console_.warn_beside_results(warning);
    plan_.warnings.push_back(warning);
  }

  void fail(const Status& status) {
    console_.complain(status.message());
    if (failure_ == kExitOk) failure_ = exit_code(status.code());
  }

  Plan plan_;
  Report& report_;
  Console& console_;
  std::string told_;  // why the last pair that failed did
  int failure_ = kExitOk;
  bool below_limit_ = false;
  bool complete_ = true;
};

}  // namespace

int run_score(const Request& request, Console& console) {
  call_off_reading_when(interrupted);
  Result<Plan> plan = make_plan(request);
  if (!plan.ok()) {
    console.complain(plan.status().message());
    return exit_code(plan.status().code());
  }
  const Capabilities capabilities(console);
  const std::optional<OutputFile> output = plan->output;
  if (output) {
    console.collect();
    if (plan->video || plan->job.distorted.size() > 1) put_off_interrupts();
  }
  const std::unique_ptr<Report> report = make_report(*plan, console);
  const int code = Run(std::move(*plan), *report, console)();
  if (!output) return code;
  const Status written = output->write(console.collected());
  if (written.ok()) return code;
  console.complain(console.rescue(console.collected(), written).message());
  return code == kExitOk ? kExitFailed : code;
}

}  // namespace acuity::cli
