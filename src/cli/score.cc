// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/try.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/lists.h"
#include "cli/map_file.h"
#include "cli/pairs.h"
#include "cli/report.h"
#include "cli/request.h"
#include "cli/text.h"
#include "cli/video.h"
#include "device/device.h"
#include "lang/targets.h"
#include "media/output_file.h"

namespace acuity::cli {
namespace {

constexpr int kMostThreads = 1024;

struct Plan {
  ScoreJob job;
  MapPlan maps;
  std::optional<VideoPlan> video;
  std::optional<double> limit;
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
    return usage("no pictures are given: name the original and what to compare with it");
  }
  job.distorted = request.values("--distorted");
  job.distorted.insert(job.distorted.end(), files.begin(), files.end());
  if (job.distorted.empty()) {
    return usage(fmt::format("only one picture is given ({}): name what to compare with it", job.reference));
  }
  const auto from_stdin = std::count(job.distorted.begin(), job.distorted.end(), "-") + (job.reference == "-" ? 1 : 0);
  if (from_stdin > 1) return usage("standard input (-) can stand for one picture only");
  if (from_stdin == 1 && isatty(STDIN_FILENO) == 1) {
    return usage("standard input (-) is a terminal; redirect a picture into it");
  }
  return {};
}

Status plan_metrics(const Request& request, Plan& plan) {
  std::vector<std::string> lists = request.values("--metric");
  if (lists.empty()) lists.push_back(request.value("--metric"));
  Result<MetricList> list = parse_metrics(lists, metrics());
  if (!list.ok()) return list.status();
  plan.job.metrics = list->metrics;
  if (!list->repeated.empty()) {
    plan.warnings.push_back(
        fmt::format("each metric is computed once; named again: {}", fmt::join(list->repeated, ", ")));
  }
  return {};
}

// All files that are read: no output may take the place of one.
std::vector<std::string> inputs_of(const ScoreJob& job) {
  std::vector<std::string> files = job.distorted;
  files.push_back(job.reference);
  for (const MetricChoice& metric : job.metrics) {
    for (const OptionValue& option : metric.options) files.push_back(option.value);  // a model, for instance
  }
  return files;
}

Status plan_machine(const Request& request, ScoreJob& job) {
  job.device = request.value("--device");
  if (job.device != "auto" && job.device != "cpu") {
    // Opened here, so that a device that cannot be used is reported once, before any picture is read.
    Result<std::shared_ptr<Device>> device = open_device(job.device);
    if (!device.ok()) return device.status();
    job.opened_device = std::move(*device);
  }
  const Result<MemoryMode> memory = parse_memory(request.value("--memory"));
  if (!memory.ok()) return memory.status();
  job.memory = *memory;
  if (request.has("--threads")) {
    const Result<int> threads = parse_whole(request.value("--threads"), "--threads", 1, kMostThreads);
    if (!threads.ok()) return threads.status();
    job.threads = *threads;
  }
  return prepare_cpu();
}

// Last of all, for it may have to wait for the first byte of standard input.
Status plan_streams(const Request& request, Plan& plan) {
  const ScoreJob& job = plan.job;
  const bool any_of_frames = std::any_of(job.metrics.begin(), job.metrics.end(),
                                         [](const MetricChoice& metric) { return find_metric(metric.name)->frames; });
  if (!any_of_frames && !asks_for_video(request) && !is_video(job.reference) &&
      std::none_of(job.distorted.begin(), job.distorted.end(), is_video)) {
    return {};
  }
  Result<VideoPlan> video = plan_video(request);
  if (!video.ok()) return video.status();
  std::error_code error;
  if (job.distorted.size() > 1 && (job.reference == "-" || std::filesystem::is_fifo(job.reference, error))) {
    return usage("a reference video that several are compared with is read several times: give a file, not a pipe");
  }
  plan.video = std::move(*video);
  return {};
}

Result<Plan> make_plan(const Request& request) {
  Plan plan;
  if (Status files = plan_files(request, plan.job); !files.ok()) return files;
  if (Status metrics = plan_metrics(request, plan); !metrics.ok()) return metrics;
  ACUITY_TRY_ASSIGN(plan.job.geometry, plan_geometry(request));
  ACUITY_TRY_ASSIGN(plan.maps, plan_maps(request, plan.job.distorted, plan.job.metrics, inputs_of(plan.job)));
  plan.job.want_map = !plan.maps.pattern.empty();
  if (Status machine = plan_machine(request, plan.job); !machine.ok()) return machine;
  if (request.has("--plain") + request.has("--json") + request.has("--csv") > 1) {
    return usage("only one of --plain, --json and --csv is possible");
  }
  if (request.has("--fail-under")) {
    const Result<double> limit = parse_number(request.value("--fail-under"), "--fail-under");
    if (!limit.ok()) return limit.status();
    plan.limit = *limit;
  }
  plan.explain = request.has("--explain");
  if (Status streams = plan_streams(request, plan); !streams.ok()) return streams;
  return plan;
}

std::unique_ptr<Report> make_report(const Request& request, bool video, Console& console) {
  if (request.has("--json")) return json_report(console);
  if (request.has("--csv")) return csv_report(console, video);
  return plain_report(console);
}

// The rule of --fail-under: the first metric decides, in its own direction.
bool is_worse(const MetricScore& entry, double limit) {
  return entry.metric->better == Better::higher ? entry.score.value < limit : entry.score.value > limit;
}

class Run {
 public:
  Run(Plan plan, Report& report, Console& console) : plan_(std::move(plan)), report_(report), console_(console) {}

  int operator()() {
    report_.begin();
    for (const std::string& warning : plan_.warnings) console_.warn(warning);
    if (plan_.video) {
      score_videos();
    } else {
      score_pictures();
    }
    report_.end(plan_.warnings);
    return failure_ != kExitOk ? failure_ : below_limit_ ? kExitBelowLimit : kExitOk;
  }

 private:
  void score_pictures() {
    PairScorer scorer(plan_.job);
    if (!scorer.status().ok()) fail(scorer.status());
    const std::vector<std::string>& files = plan_.job.distorted;
    for (size_t i = 0; i < files.size() && !console_.lost(); i += scorer.batch()) {
      console_.progress(i, files.size());
      const size_t count = std::min(scorer.batch(), files.size() - i);
      std::vector<PairResult> pairs = scorer.score(std::span(files).subspan(i, count));
      for (PairResult& pair : pairs) finish(pair, scorer.status().ok());
    }
  }

  void score_videos() {
    for (const std::string& file : plan_.job.distorted) {
      if (console_.lost()) return;
      const Stopwatch watch;
      PairResult pair = score_video(plan_.job, *plan_.video, file, [&](int64_t done, std::optional<int64_t> total) {
        const double rate = static_cast<double>(done) * 1000 / std::max(watch.milliseconds(), 1.0);
        std::string text = fmt::format("{} frames, {:.1f} a second", done, rate);
        if (total && done > 0) {
          text = fmt::format("{} of {} frames, {:.1f} a second, {:.0f} s left", done, *total, rate,
                             static_cast<double>(*total - done) / rate);
        }
        console_.progress(text);
      });
      finish(pair, true);
    }
  }

  void finish(PairResult& pair, bool reference_is_good) {
    std::vector<std::string> lines;
    if (pair.status.ok() && plan_.explain) lines = explanation(pair);
    if (pair.status.ok() && plan_.job.want_map) {
      for (const MetricScore& entry : pair.scores) {
        const std::string path = map_path(plan_.maps.pattern, pair.distorted, entry.label);
        const Result<std::string> map = write_map(path, *entry.metric, entry.score.map, plan_.maps.colours);
        if (map.ok() && plan_.explain) lines.push_back(*map);
        if (!map.ok()) fail(map.status());  // the scores are as good without it
      }
    }
    for (const std::string& warning : pair.warnings) {
      console_.warn(warning);
      plan_.warnings.push_back(warning);
    }
    if (!pair.cut_short.ok()) {
      fail(pair.cut_short);
      plan_.warnings.push_back(fmt::format("scored up to there: {}", pair.cut_short.message()));
    }
    // A bad reference has been told already, once for all pairs.
    if (!pair.status.ok() && reference_is_good) fail(pair.status);
    report_.add(pair, pair.status.ok() ? lines : std::vector<std::string>());
    if (pair.status.ok() && plan_.limit && is_worse(pair.scores.front(), *plan_.limit)) {
      below_limit_ = true;
      console_.note(fmt::format("acuity: {}: {} is {}, worse than the limit of {}", pair.distorted,
                                pair.scores.front().label, short_number(pair.scores.front().score.value),
                                short_number(*plan_.limit)));
    }
  }

  void fail(const Status& status) {
    console_.complain(status.message());
    if (failure_ == kExitOk) failure_ = exit_code(status.code());
  }

  Plan plan_;
  Report& report_;
  Console& console_;
  int failure_ = kExitOk;
  bool below_limit_ = false;
};

}  // namespace

int run_score(const Request& request, Console& console) {
  Result<Plan> plan = make_plan(request);
  if (!plan.ok()) {
    console.complain(plan.status().message());
    return exit_code(plan.status().code());
  }
  const std::unique_ptr<Report> report = make_report(request, plan->video.has_value(), console);
  return Run(std::move(*plan), *report, console)();
}

}  // namespace acuity::cli
