// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/names.h"
#include "base/try.h"
#include "cli/batch_progress.h"
#include "cli/capabilities.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/json_row.h"
#include "cli/leave.h"
#include "cli/pair_list.h"
#include "cli/request.h"
#include "cli/result_file.h"
#include "cli/result_rows.h"
#include "cli/row_scheduler.h"
#include "cli/score_guard.h"
#include "media/output_file.h"
#include "schedule/work.h"

namespace acuity::cli {
namespace {

// Rows between the one that is written next and the one that is submitted next.
constexpr size_t kMostOutstanding = 4096;

Status usage(std::string message) { return Status(StatusCode::usage, std::move(message)); }

struct BatchPlan {
  RowPlan rows;
  PairLists lists;
  std::optional<ListSummary> survey;  // none: the list comes through a pipe
  std::string path;                   // OUT
  ResultFormat format = ResultFormat::csv;
  std::vector<MetricChoice> columns;  // the metrics of all rows
  ResultRows::Options options;
  std::map<std::string, Metrics> metrics;  // by the text of a row; "" is -m
  bool retry_failed = false;
};

Status add_metrics(BatchPlan& plan, const std::string& text, const std::vector<MetricChoice>& known,
                   std::vector<MetricChoice>& all, bool may_add) {
  std::vector<std::string> ignored;
  std::vector<MetricChoice> choices = known;
  if (!text.empty()) ACUITY_TRY_ASSIGN(choices, plan_metrics({text}, ignored));
  for (const MetricChoice& choice : choices) {
    const auto same = [&](const MetricChoice& other) { return other.label == choice.label; };
    if (std::any_of(all.begin(), all.end(), same)) continue;
    if (!may_add) {
      return usage(
          fmt::format("{} is not in -m; when the list comes through a pipe, -m must name all metrics", choice.label));
    }
    all.push_back(choice);
  }
  plan.metrics[text] = std::make_shared<const std::vector<MetricChoice>>(std::move(choices));
  return {};
}

// -m counts for rows without metrics of their own.
Result<std::vector<MetricChoice>> all_metrics(const Request& request, BatchPlan& plan) {
  std::vector<MetricChoice> all;
  const std::vector<MetricChoice>& given = plan.rows.job.metrics;
  const bool needed = !plan.survey || plan.survey->some_without_metrics || request.has("--metric");
  if (needed) ACUITY_TRY(add_metrics(plan, "", given, all, true));
  if (!plan.survey) return all;
  for (const std::string& text : plan.survey->metrics) {
    if (Status added = add_metrics(plan, text, given, all, true); !added.ok()) {
      return Status(StatusCode::input, fmt::format("the column 'metrics' of the list: {}", added.message()));
    }
  }
  return all;
}

Result<BatchPlan> make_plan(const Request& request) {
  BatchPlan plan;
  ACUITY_TRY_ASSIGN(plan.lists, PairLists::plan(request));
  if (!request.has("--output"))
    return usage("-o OUT is missing: name the file of results, ending in .csv, .tsv or .jsonl");
  plan.path = request.value("--output");
  ACUITY_TRY_ASSIGN(plan.format, result_format(plan.path));
  plan.lists.leave_out({plan.path, plan.path + ".retry"});
  if (!plan.lists.path().empty() && plan.lists.path() != "-" && same_place(plan.path, plan.lists.path())) {
    return usage(fmt::format("-o {} is the list itself; name another file", plan.path));
  }
  ACUITY_TRY_ASSIGN(plan.options.all_outputs, plan_outputs(request));
  plan.retry_failed = request.has("--retry-failed");
  ACUITY_TRY_ASSIGN(plan.rows, plan_rows(request));
  ACUITY_TRY_ASSIGN(plan.survey, plan.lists.survey());
  ACUITY_TRY_ASSIGN(plan.columns, all_metrics(request, plan));
  for (const std::string& file : files_of_options(plan.columns)) {
    if (!same_place(plan.path, file)) continue;
    return usage(fmt::format("-o {} would overwrite the input {}; name another file", plan.path, file));
  }
  ACUITY_TRY(check_strips(request, {.memory = plan.rows.job.memory}, plan.columns));
  if (plan.survey && plan.survey->rows == 0) {
    return Status(StatusCode::input, fmt::format("{}: has no rows", plan.lists.path()));
  }
  plan.options.change_scores = options_that_change_scores(request);
  plan.options.numbered = request.has("--unordered");
  if (plan.options.numbered && !plan.survey) {
    return usage("--unordered needs a list that can be read twice, to continue a run; give a file");
  }
  return plan;
}

class BatchRun {
 public:
  BatchRun(BatchPlan plan, Console& console)
      : plan_(std::move(plan)),
        console_(console),
        progress_(console, plan_.survey ? std::optional(plan_.survey->rows) : std::nullopt) {}

  int operator()() {
    for (const std::string& warning : plan_.rows.warnings) console_.warn(warning);
    const Status done = run();
    if (!done.ok() && done.code() != StatusCode::cancelled) console_.complain(done.message());
    return finish(done);
  }

 private:
  // A row that is not written yet, or one that needs no scoring.
  struct Outstanding {
    PairRow row;
    Metrics metrics{};
    std::string ready{};  // its text
  };

  Status run() {
    ACUITY_TRY_ASSIGN(list_, open_list([this] { return take_results().ok() && goes_on(); }));
    for (const std::string& warning : list_->warnings()) console_.warn(warning);
    ACUITY_TRY_ASSIGN(results_, ResultRows::plan(list_->columns(), plan_.columns, plan_.options));
    for (const MetricChoice& metric : results_.metrics()) guards_.emplace_back(metric);
    ACUITY_TRY_ASSIGN(old_, open_results(plan_.path));
    if (plan_.retry_failed) {
      ACUITY_TRY_ASSIGN(new_, open_results(old_->target() + ".retry"));
    }
    ACUITY_TRY(is_ordered() ? keep_rows() : keep_numbered_rows());
    ResultFile& file = writes();
    int64_t cut = 0;
    ACUITY_TRY_ASSIGN(cut, file.begin_writing());
    begun_ = true;
    if (cut > 0) console_.note(fmt::format("{}: cut off an incomplete row ({} bytes)", file.path(), cut));
    const Status read = plan_.retry_failed ? retry_rows() : new_rows();
    const Status drained = drain();
    ACUITY_TRY(file.finish());
    ACUITY_TRY(read);
    ACUITY_TRY(drained);
    if (interrupted()) return Status(StatusCode::cancelled, "interrupted");
    if (plan_.retry_failed) ACUITY_TRY(file.replace(old_->target()));
    return {};
  }

  Result<std::unique_ptr<ResultFile>> open_results(const std::string& path) const {
    return ResultFile::open(path, plan_.format, results_.columns());
  }

  Result<std::unique_ptr<PairList>> open_list(std::function<bool()> waiting = {}) const {
    return plan_.lists.open(plan_.survey ? std::optional(plan_.survey->columns) : std::nullopt, std::move(waiting));
  }

  // A retry keeps the order that the file has, whatever it is.
  bool is_ordered() const { return !plan_.options.numbered || plan_.retry_failed; }

  ResultFile& writes() { return plan_.retry_failed ? *new_ : *old_; }

  // What a row of the list was, as the file of results has it.
  PairRow row_of(const std::vector<std::string>& fields) const {
    const bool json = plan_.format == ResultFormat::jsonl;
    const auto text = [&](size_t place) { return json ? json_shown(fields[place]) : fields[place]; };
    PairRow row;
    size_t place = 0;
    if (plan_.options.numbered) row.number = std::strtoll(fields[place++].c_str(), nullptr, 10);
    row.reference = text(place++);
    row.distorted = text(place++);
    for (const std::string& column : list_->columns()) {
      if (same_name(column, "metrics")) {
        const Result<std::string> metrics = json ? json_metrics({column, fields[place]}) : fields[place];
        row.metrics = metrics.ok() ? *metrics : "";
      }
      row.others.push_back({fields[place++], json});
    }
    return row;
  }

  // The next row of the list must be the one in the file.
  Status match(const ResultFile& file, const std::vector<std::string>& fields, PairRow& row) {
    if (plan_.options.numbered) {
      row = row_of(fields);
      return check_version(file, fields);
    }
    bool any = false;
    ACUITY_TRY_ASSIGN(any, list_->next(row));
    if (!any) {
      return usage(fmt::format("-o {}, line {}: has more rows than {}; give the same list, or another -o", file.path(),
                               file.line(), list_->name()));
    }
    const std::vector<ResultCell> given = results_.given(row);
    for (size_t i = 0; i < given.size(); ++i) {
      const std::string expected = cell_field(given[i], plan_.format);
      if (fields[i] == expected) continue;
      return usage(
          fmt::format("-o {}, line {}: {} is '{}', but row {} of {} has '{}'; give the same list, or another -o",
                      file.path(), file.line(), results_.columns()[i], fields[i], row.number, list_->name(), expected));
    }
    return check_version(file, fields);
  }

  Status check_version(const ResultFile& file, const std::vector<std::string>& fields) const {
    const std::string version = cell_field(ResultCell::of(results_.version()), plan_.format);
    const std::string& found = fields[results_.version_column()];
    if (found == version) return {};
    return usage(
        fmt::format("-o {}, line {}: was computed by '{}', and this is '{}'; use that version and these "
                    "options, or another -o",
                    file.path(), file.line(), found, version));
  }

  bool is_failed(const std::vector<std::string>& fields) const {
    return fields[results_.error_column()] != cell_field({}, plan_.format);
  }

  void keep(const std::vector<std::string>& fields, const PairRow& row) {
    ++counts_.kept;
    if (is_failed(fields)) {
      ++counts_.kept_failed;
      return;
    }
    for (size_t i = 0; i < guards_.size(); ++i) {
      const std::string& field = fields[results_.value_column(i)];
      if (field != cell_field({}, plan_.format)) guards_[i].add(std::strtod(field.c_str(), nullptr), row.distorted);
    }
  }

  // What an earlier run wrote. An earlier --retry-failed has its own file, whose rows stand for the first ones of OUT.
  Status keep_rows() {
    std::vector<std::string> fields, before;
    PairRow row;
    for (;;) {
      bool any = false;
      ACUITY_TRY_ASSIGN(any, writes().next(fields));
      if (!any) return {};
      if (plan_.retry_failed) {
        bool in_old = false;
        ACUITY_TRY_ASSIGN(in_old, old_->next(before));
        if (!in_old || (!is_failed(before) && before != fields)) {
          return usage(fmt::format("{}: is left over from another run and does not fit {}; delete it", new_->path(),
                                   old_->path()));
        }
      }
      ACUITY_TRY(match(writes(), fields, row));
      keep(fields, row);
    }
  }

  // Rows that came in any order: which numbers are there, and that they are those of the list. One sum over all of them
  // tells, without keeping any.
  Status keep_numbered_rows() {
    kept_rows_.assign(static_cast<size_t>(plan_.survey->rows), false);
    size_t sum = 0;
    std::vector<std::string> fields;
    for (;;) {
      bool any = false;
      ACUITY_TRY_ASSIGN(any, old_->next(fields));
      if (!any) break;
      const PairRow row = row_of(fields);
      if (row.number < 1 || row.number > plan_.survey->rows || kept_rows_[static_cast<size_t>(row.number - 1)]) {
        return usage(
            fmt::format("-o {}, line {}: row {} is there twice, or not in the list; give the same list, or "
                        "another -o",
                        old_->path(), old_->line(), fields[0]));
      }
      kept_rows_[static_cast<size_t>(row.number - 1)] = true;
      ACUITY_TRY(check_version(*old_, fields));
      keep(fields, row);
      fields.resize(2 + 1 + list_->columns().size());
      sum += std::hash<std::string>()(fmt::format("{}", fmt::join(fields, "\n")));
    }
    std::unique_ptr<PairList> list;
    ACUITY_TRY_ASSIGN(list, open_list());
    PairRow row;
    for (bool any = true; any;) {
      ACUITY_TRY_ASSIGN(any, list->next(row));
      if (!any || !is_kept(row)) continue;
      fields.clear();
      for (const ResultCell& cell : results_.given(row)) fields.push_back(cell_field(cell, plan_.format));
      sum -= std::hash<std::string>()(fmt::format("{}", fmt::join(fields, "\n")));
    }
    if (sum == 0) return {};
    return usage(fmt::format("-o {}: its rows are not those of {}; give the same list, or another -o", old_->path(),
                             list->name()));
  }

  bool is_kept(const PairRow& row) const {
    const auto place = static_cast<size_t>(row.number - 1);
    return place < kept_rows_.size() && kept_rows_[place];
  }

  Status new_rows() {
    PairRow row;
    while (goes_on()) {
      bool any = false;
      ACUITY_TRY_ASSIGN(any, list_->next(row));
      if (!any) return {};
      if (!is_kept(row)) ACUITY_TRY(score(row));
    }
    return {};
  }

  Status retry_rows() {
    std::vector<std::string> fields;
    PairRow row;
    while (goes_on()) {
      bool any = false;
      ACUITY_TRY_ASSIGN(any, old_->next(fields));
      if (!any) return {};
      ACUITY_TRY(match(*old_, fields, row));
      if (is_failed(fields)) {
        ACUITY_TRY(score(row));
        continue;
      }
      keep(fields, row);
      Outstanding item{.row = row};
      ACUITY_TRY_ASSIGN(item.ready, old_->last_text());
      outstanding_.push_back(std::move(item));
      ACUITY_TRY(take_results());
    }
    return {};
  }

  bool goes_on() { return !interrupted() && written_.ok(); }

  Result<Metrics> metrics_of(const PairRow& row) {
    const auto known = plan_.metrics.find(row.metrics);
    if (known != plan_.metrics.end()) return known->second;
    std::vector<MetricChoice> all = results_.metrics();
    ACUITY_TRY(add_metrics(plan_, row.metrics, {}, all, false));
    return plan_.metrics[row.metrics];
  }

  Status score(const PairRow& row) {
    if (!scheduler_) ACUITY_TRY_ASSIGN(scheduler_, RowScheduler::create(plan_.rows, is_ordered()));
    const Result<Metrics> metrics = metrics_of(row);
    Outstanding item{.row = row};
    if (metrics.ok()) item.metrics = *metrics;
    if (is_ordered()) {
      outstanding_.push_back(std::move(item));
    } else {
      numbered_.emplace(submitted_++, std::move(item));
    }
    ACUITY_TRY(metrics.ok() ? scheduler_->submit(row.reference, row.distorted, *metrics)
                            : scheduler_->submit_failure(metrics.status()));
    return take_results();
  }

  // Writes what is there, and waits while too much is not.
  Status take_results() {
    write_ready();
    while (goes_on() && scheduler_) {
      const bool many = outstanding_.size() + numbered_.size() >= kMostOutstanding;
      std::optional<TaskResult> result = many ? scheduler_->wait_any() : scheduler_->poll();
      if (!result) break;
      take(std::move(*result));
    }
    progress_.show(counts_);
    return written_;
  }

  Status drain() {
    for (bool cancelled = false; scheduler_;) {
      if (!goes_on() && !std::exchange(cancelled, true)) scheduler_->cancel();
      std::optional<TaskResult> result = scheduler_->wait_any();
      if (!result) break;
      take(std::move(*result));
      progress_.show(counts_);
    }
    write_ready();
    return written_;
  }

  void write_ready() {
    while (!outstanding_.empty() && !outstanding_.front().ready.empty() && written_.ok()) {
      if (!cut_short_) written_ = writes().append(std::move(outstanding_.front().ready));
      outstanding_.pop_front();
    }
  }

  void take(TaskResult result) {
    Outstanding item = is_ordered() ? std::move(outstanding_.front()) : std::move(numbered_.at(result.index));
    if (is_ordered()) {
      outstanding_.pop_front();
    } else {
      numbered_.erase(result.index);
    }
    const bool cancelled = result.status.code() == StatusCode::cancelled && !result.timed_out;
    // A row that was not finished ends what is written where rows keep their order.
    cut_short_ = cut_short_ || (cancelled && is_ordered());
    if (cancelled || cut_short_ || !written_.ok()) return;
    const std::vector<MetricChoice> none;
    const std::vector<MetricChoice>& metrics = item.metrics ? *item.metrics : none;
    check_scores(item.row, metrics, result);
    if (result.status.ok()) {
      ++counts_.scored;
      guard(item, metrics, result);
    } else {
      ++counts_.failures[kind_of_failure(result)];
    }
    const std::vector<ResultCell> cells = results_.cells(item.row, metrics, result);
    written_ = writes().append(row_text(results_.columns(), cells, plan_.format));
    write_ready();
  }

  void guard(const Outstanding& item, const std::vector<MetricChoice>& metrics, const TaskResult& result) {
    for (size_t i = 0; i < metrics.size(); ++i) {
      for (size_t k = 0; k < guards_.size(); ++k) {
        if (results_.metrics()[k].label == metrics[i].label) {
          guards_[k].add(result.scores[i].value, item.row.distorted);
        }
      }
    }
  }

  int finish(const Status& done) {
    const int64_t failed = counts_.failed() + counts_.kept_failed;
    // Where nothing was done there is nothing to sum up.
    if (!begun_ || (!done.ok() && counts_.done() == 0 && !interrupted())) return exit_code(done.code());
    std::optional<SchedulerStatistics> statistics;
    if (scheduler_) statistics = scheduler_->statistics();
    for (const std::string& line : batch_summary(counts_, progress_.seconds(), statistics)) console_.note(line);
    for (const ScoreGuard& guard : guards_) {
      for (const std::string& warning : guard.warnings()) console_.warn(warning);
    }
    if (!done.ok()) {
      console_.note(fmt::format("{} has {} complete rows; the same command continues behind them", writes().path(),
                                writes().rows()));
    } else if (failed > 0) {
      console_.note(fmt::format("{} has {} row{} with an error; the same command with --retry-failed does them again",
                                plan_.path, failed, failed == 1 ? "" : "s"));
    }
    if (scheduler_) keep_until_exit(scheduler_);
    if (!done.ok()) return done.code() == StatusCode::cancelled ? kExitFailed : exit_code(done.code());
    return failed > 0 ? kExitRowsFailed : kExitOk;
  }

  BatchPlan plan_;
  Console& console_;
  BatchProgress progress_;
  BatchCounts counts_;
  ResultRows results_;
  std::vector<ScoreGuard> guards_;
  std::unique_ptr<PairList> list_;
  std::unique_ptr<ResultFile> old_;  // OUT
  std::unique_ptr<ResultFile> new_;  // with --retry-failed: what takes its place
  std::shared_ptr<RowScheduler> scheduler_;
  std::deque<Outstanding> outstanding_;
  std::map<int64_t, Outstanding> numbered_;  // instead, where rows come in any order: by TaskResult::index
  int64_t submitted_ = 0;
  std::vector<bool> kept_rows_;  // where rows come in any order: those that were there before
  Status written_;
  bool cut_short_ = false;
  bool begun_ = false;  // whether anything was written
};

}  // namespace

int run_batch(const Request& request, Console& console) {
  Result<BatchPlan> plan = make_plan(request);
  if (!plan.ok()) {
    console.complain(plan.status().message());
    return exit_code(plan.status().code());
  }
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on the size of files is then an error of writing
  put_off_interrupts();
  const Capabilities capabilities(console);
  return BatchRun(std::move(*plan), console)();
}

}  // namespace acuity::cli
