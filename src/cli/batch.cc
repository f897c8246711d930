// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
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
#include "cli/ordered_rows.h"
#include "cli/pair_list.h"
#include "cli/request.h"
#include "cli/result_file.h"
#include "cli/result_rows.h"
#include "cli/row_scheduler.h"
#include "cli/score_guard.h"
#include "cli/text.h"
#include "media/output_file.h"

namespace acuity::cli {
namespace {

// Rows between the one that is written next and the one that is submitted next.
constexpr size_t kMostOutstanding = 4096;
// The longest time in which a signal is not seen.
constexpr std::chrono::milliseconds kMoment{100};

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
  std::vector<MetricChoice> choices = known;
  if (!text.empty()) ACUITY_TRY_ASSIGN(choices, plan_metrics_of_row(text));
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
  for (const auto& [text, line] : plan.survey->metrics) {
    if (Status added = add_metrics(plan, text, given, all, true); !added.ok()) {
      return Status(StatusCode::input, fmt::format("{}, line {}: {}", plan.lists.path(), line, added.message()));
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
  plan.lists.leave_out({plan.path, plan.path + ".ahead", plan.path + ".retry", plan.path + ".retry.ahead"});
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
  // Where rows have metrics of their own, the columns do not tell which the others had.
  if (plan.survey && plan.survey->some_without_metrics && !plan.survey->metrics.empty()) {
    std::vector<std::string> labels;
    for (const MetricChoice& metric : plan.rows.job.metrics) labels.push_back(metric.label);
    std::string& text = plan.options.change_scores;
    text += fmt::format("{}--metric {}", text.empty() ? "" : " ", fmt::join(labels, ","));
  }
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
  // A row that is being scored.
  struct Outstanding {
    PairRow row;
    Metrics metrics{};
    int64_t number = 0;  // in the file, where rows keep their order
  };

  Status run() {
    ACUITY_TRY_ASSIGN(list_, open_list([this] { return take_results().ok() && goes_on(); }));
    for (const std::string& warning : list_->warnings()) console_.warn(warning);
    ACUITY_TRY_ASSIGN(results_, ResultRows::plan(list_->columns(), plan_.columns, plan_.options));
    ACUITY_TRY(check_names());
    for (const MetricChoice& metric : results_.metrics()) guards_.emplace_back(metric);
    if (plan_.retry_failed) ACUITY_TRY(open_failed());
    const std::string path = plan_.retry_failed ? old_->target() + ".retry" : plan_.path;
    const bool is_new = !has_begun(path);
    ACUITY_TRY_ASSIGN(*(plan_.retry_failed ? &new_ : &old_), open_results(path));
    ACUITY_TRY(plan_.options.numbered ? keep_numbered_rows() : keep_rows());
    ResultFile& file = writes();
    if (!plan_.options.numbered) ordered_.emplace(file, plan_.format, results_.columns(), console_);
    int64_t cut = 0;
    ACUITY_TRY_ASSIGN(cut, file.begin_writing());
    begun_ = true;
    if (cut > 0) console_.note(fmt::format("{}: cut off an incomplete row ({} bytes)", file.path(), cut));
    if (ordered_) ACUITY_TRY(ordered_->read_kept(is_new));
    const Status read = read_rows();
    const Status drained = drain();
    const bool is_complete = read.ok() && drained.ok() && !interrupted();
    ACUITY_TRY(ordered_ ? ordered_->finish(is_complete) : file.finish());
    ACUITY_TRY(read);
    ACUITY_TRY(drained);
    if (interrupted()) return stopped();
    if (plan_.retry_failed) ACUITY_TRY(file.replace(old_->target()));
    return {};
  }

  static Status stopped() { return Status(StatusCode::cancelled, "interrupted"); }

  Result<std::unique_ptr<ResultFile>> open_results(const std::string& path) const {
    return ResultFile::open(path, plan_.format, results_.columns());
  }

  Result<std::unique_ptr<PairList>> open_list(std::function<bool()> waiting = {}) const {
    return plan_.lists.open(plan_.survey ? std::optional(plan_.survey->columns) : std::nullopt, std::move(waiting));
  }

  // Whether an earlier run opened the file and could write to it: a table has its header before anything else.
  bool has_begun(const std::string& path) const {
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    return !error && (size > 0 || plan_.format == ResultFormat::jsonl);
  }

  // Rows that failed can only be in a file that is there.
  Status open_failed() {
    bool any = std::filesystem::exists(plan_.path);
    if (!any) return usage(fmt::format("-o {}: there is no such file; leave out --retry-failed", plan_.path));
    ACUITY_TRY_ASSIGN(old_, open_results(plan_.path));
    std::vector<std::string> fields;
    ACUITY_TRY_ASSIGN(any, old_->next(fields));
    if (!any) return usage(fmt::format("-o {}: has no rows; leave out --retry-failed", plan_.path));
    return old_->rewind();
  }

  // JSON would hold other names, which could be equal.
  Status check_names() const {
    if (plan_.format != ResultFormat::jsonl) return {};
    for (const std::string& name : list_->columns()) {
      if (is_utf8(name)) continue;
      return Status(StatusCode::input,
                    fmt::format("{}: the name of the column '{}' is not UTF-8, which .jsonl needs; rename it, or write "
                                ".csv or .tsv",
                                list_->name(), name));
    }
    return {};
  }

  ResultFile& writes() { return plan_.retry_failed ? *new_ : *old_; }

  std::string remedy() const {
    if (!plan_.lists.path().empty()) return "give the same list, or another -o";
    return "if files were added, removed or renamed since, write the pairs into a list, new ones at its end; or name "
           "another -o";
  }

  // The next row of the list must be the one in the file.
  Status match(const ResultFile& file, const std::vector<std::string>& fields, PairRow& row) {
    bool any = false;
    ACUITY_TRY_ASSIGN(any, list_->next(row));
    if (any) return check_row(file.path(), file.line(), fields, row);
    return usage(
        fmt::format("-o {}, line {}: has more rows than {}; {}", file.path(), file.line(), list_->name(), remedy()));
  }

  Status check_row(const std::string& path, int64_t line, const std::vector<std::string>& fields,
                   const PairRow& row) const {
    const std::vector<ResultCell> given = results_.given(row);
    for (size_t i = 0; i < given.size(); ++i) {
      const std::string expected = cell_field(given[i], plan_.format);
      if (fields[i] == expected) continue;
      return usage(fmt::format("-o {}, line {}: {} is '{}', but row {} of {} has '{}'; {}", path, line,
                               results_.columns()[i], fields[i], row.number, list_->name(), expected, remedy()));
    }
    return check_version(path, line, fields);
  }

  Status check_version(const std::string& path, int64_t line, const std::vector<std::string>& fields) const {
    const std::string version = cell_field(ResultCell::of(results_.version()), plan_.format);
    const std::string& found = fields[results_.version_column()];
    if (found == version) return {};
    return usage(
        fmt::format("-o {}, line {}: was computed by '{}', and this is '{}'; use that version and these "
                    "options, or another -o",
                    path, line, found, version));
  }

  bool is_failed(const std::vector<std::string>& fields) const {
    return fields[results_.error_column()] != cell_field({}, plan_.format);
  }

  void keep(const std::vector<std::string>& fields) {
    ++counts_.kept;
    if (is_failed(fields)) {
      ++counts_.kept_failed;
      return;
    }
    const std::string& cell = fields[plan_.options.numbered ? 2 : 1];
    const std::string distorted = plan_.format == ResultFormat::jsonl ? json_shown(cell) : cell;
    for (size_t i = 0; i < guards_.size(); ++i) {
      const std::string& field = fields[results_.value_column(i)];
      if (field != cell_field({}, plan_.format)) guards_[i].add(std::strtod(field.c_str(), nullptr), distorted);
    }
  }

  // What an earlier run wrote. An earlier --retry-failed has its own file, whose rows stand for the first ones of OUT.
  Status keep_rows() {
    std::vector<std::string> fields, before;
    PairRow row;
    while (!interrupted()) {
      bool any = false;
      ACUITY_TRY_ASSIGN(any, writes().next(fields));
      if (!any) return {};
      if (plan_.retry_failed) {
        bool in_old = false;
        ACUITY_TRY_ASSIGN(in_old, old_->next(before));
        if (!in_old || (!is_failed(before) && before != fields)) return does_not_fit();
      }
      ACUITY_TRY(match(writes(), fields, row));
      keep(fields);
    }
    return stopped();
  }

  Status does_not_fit() const {
    return usage(
        fmt::format("{}: is left over from another run and does not match {}; delete it", new_->path(), old_->path()));
  }

  // Every row of a file whose rows came in any order: `seen` has a place for each row of the list.
  Status read_numbered(ResultFile& file, std::vector<bool>& seen,
                       const std::function<Status(size_t, const std::vector<std::string>&)>& each) const {
    seen.assign(static_cast<size_t>(plan_.survey->rows), false);
    std::vector<std::string> fields;
    while (!interrupted()) {
      bool any = false;
      ACUITY_TRY_ASSIGN(any, file.next(fields));
      if (!any) return {};
      const auto place = static_cast<size_t>(std::strtoull(fields[0].c_str(), nullptr, 10) - 1);
      if (place >= seen.size() || seen[place]) {
        return usage(fmt::format("-o {}, line {}: row {} appears twice, or is not in the list; {}", file.path(),
                                 file.line(), fields[0], remedy()));
      }
      seen[place] = true;
      ACUITY_TRY(check_version(file.path(), file.line(), fields));
      ACUITY_TRY(each(place, fields));
    }
    return stopped();
  }

  static size_t hash_of(std::span<const std::string> fields) {
    return std::hash<std::string>()(fmt::format("{}", fmt::join(fields, "\n")));
  }

  // Which rows are there, and that they are those of the list. One sum over all of them tells, without keeping any.
  Status keep_numbered_rows() {
    std::vector<bool> there;
    size_t sum = 0;
    skipped_.assign(static_cast<size_t>(plan_.survey->rows), plan_.retry_failed);
    ACUITY_TRY(read_numbered(*old_, there, [&](size_t place, const std::vector<std::string>& fields) {
      sum += hash_of(std::span(fields).first(1 + 2 + list_->columns().size()));
      skipped_[place] = !plan_.retry_failed || !is_failed(fields);
      if (!plan_.retry_failed) keep(fields);
      return Status();
    }));
    std::unique_ptr<PairList> list;
    ACUITY_TRY_ASSIGN(list, open_list());
    PairRow row;
    std::vector<std::string> fields;
    for (bool any = true; any;) {
      ACUITY_TRY_ASSIGN(any, list->next(row));
      if (!any || !is_marked(there, row)) continue;
      fields.clear();
      for (const ResultCell& cell : results_.given(row)) fields.push_back(cell_field(cell, plan_.format));
      sum -= hash_of(fields);
    }
    if (sum != 0) {
      return usage(fmt::format("-o {}: its rows are not those of {}; {}", old_->path(), list->name(), remedy()));
    }
    if (!plan_.retry_failed) return {};
    missing_ = std::count(there.begin(), there.end(), false);
    return read_numbered(*new_, retried_, [&](size_t place, const std::vector<std::string>& retried) {
      keep(retried);
      if (skipped_[place]) copied_ += hash_of(retried);
      return there[place] ? Status() : does_not_fit();
    });
  }

  // The list may have more rows by now than it had at first.
  static bool is_marked(const std::vector<bool>& rows, const PairRow& row) {
    const auto place = static_cast<size_t>(row.number - 1);
    return place < rows.size() && rows[place];
  }

  // Rows of OUT that have scores, as far as they are not in the file that takes its place.
  Status copy_scored_rows() {
    ACUITY_TRY(old_->rewind());
    std::vector<bool> ignored;
    ACUITY_TRY(read_numbered(*old_, ignored, [&](size_t place, const std::vector<std::string>& fields) {
      skipped_[place] = skipped_[place] || retried_[place];
      if (!is_failed(fields) && retried_[place]) copied_ -= hash_of(fields);
      if (is_failed(fields) || retried_[place]) return Status();
      keep(fields);
      std::string text;
      ACUITY_TRY_ASSIGN(text, old_->last_text());
      return new_->append(std::move(text));
    }));
    return copied_ == 0 ? Status() : does_not_fit();
  }

  Status read_rows() {
    if (!plan_.retry_failed) return new_rows();
    if (!plan_.options.numbered) return retry_rows();
    ACUITY_TRY(copy_scored_rows());
    return new_rows();
  }

  Status new_rows() {
    PairRow row;
    while (goes_on()) {
      bool any = false;
      ACUITY_TRY_ASSIGN(any, list_->next(row));
      if (!any && counts_.kept == 0 && submitted_ == 0) {
        return Status(StatusCode::input, fmt::format("{}: has no rows", list_->name()));
      }
      if (!any) return {};
      if (!is_marked(skipped_, row)) ACUITY_TRY(score(row));
    }
    return {};
  }

  // In the order of OUT. Rows of the list that are not there are not done, only counted.
  Status retry_rows() {
    std::vector<std::string> fields;
    PairRow row;
    while (goes_on()) {
      bool any = false;
      ACUITY_TRY_ASSIGN(any, old_->next(fields));
      if (!any) break;
      ACUITY_TRY(match(*old_, fields, row));
      if (is_failed(fields)) {
        ACUITY_TRY(score(row));
        continue;
      }
      keep(fields);
      std::string text;
      ACUITY_TRY_ASSIGN(text, old_->last_text());
      ordered_->add(ordered_->next_number(), std::move(text), /*is_kept=*/true);
      ACUITY_TRY(wait_for_room());
    }
    for (bool any = true; any && goes_on(); missing_ += any ? 1 : 0) ACUITY_TRY_ASSIGN(any, list_->next(row));
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

  // Nothing here waits for longer than a moment, so that a signal is seen.
  Status score(const PairRow& row) {
    Outstanding item{.row = row};
    if (ordered_) {
      item.number = ordered_->next_number();
      if (std::optional<OrderedRows::Kept> kept = ordered_->take_kept(item.number)) {
        ACUITY_TRY(check_row(ordered_->path(), kept->line, kept->fields, row));
        keep(kept->fields);
        ordered_->add(item.number, std::move(kept->text), /*is_kept=*/true);
        return wait_for_room();
      }
    }
    // In any order, so that what is finished can be kept.
    if (!scheduler_) ACUITY_TRY_ASSIGN(scheduler_, RowScheduler::create(plan_.rows, /*ordered=*/false));
    const Result<Metrics> metrics = metrics_of(row);
    if (metrics.ok()) item.metrics = *metrics;
    for (bool is_submitted = false; !is_submitted && goes_on();) {
      ACUITY_TRY_ASSIGN(is_submitted, metrics.ok()
                                          ? scheduler_->try_submit(row.reference, row.distorted, *metrics, kMoment)
                                          : scheduler_->try_submit_failure(metrics.status(), kMoment));
      if (is_submitted) outstanding_.emplace(submitted_++, std::move(item));
      ACUITY_TRY(take_results());
    }
    return wait_for_room();
  }

  // Takes what is finished, and waits while too much is not.
  Status wait_for_room() {
    ACUITY_TRY(take_results());
    while (goes_on() && outstanding_.size() + (ordered_ ? ordered_->waiting() : 0) >= kMostOutstanding) {
      ACUITY_TRY(take_results(kMoment));
    }
    return written_;
  }

  // Writes what is finished. If nothing is, waits for it.
  Status take_results(std::chrono::milliseconds wait = {}) {
    if (scheduler_) {
      for (std::optional<TaskResult> result = scheduler_->wait_any(wait); result && written_.ok();
           result = scheduler_->poll()) {
        take(std::move(*result));
      }
    }
    if (ordered_ && written_.ok()) written_ = ordered_->write();
    progress_.show(counts_);
    return written_;
  }

  // After a signal, what is finished is written, and the rest is left.
  Status drain() {
    while (scheduler_ && !scheduler_->is_drained() && goes_on()) ACUITY_TRY(take_results(kMoment));
    return take_results();
  }

  void take(TaskResult result) {
    const Outstanding item = std::move(outstanding_.extract(result.index).mapped());
    const bool cancelled = result.status.code() == StatusCode::cancelled && !result.timed_out;
    if (cancelled && interrupted()) return;  // a video, which looks for signals itself
    const std::vector<MetricChoice> none;
    const std::vector<MetricChoice>& metrics = item.metrics ? *item.metrics : none;
    check_scores(item.row, metrics, result);
    counts_.note(result);
    if (result.status.ok()) guard(item, metrics, result);
    std::string text = row_text(results_.columns(), results_.cells(item.row, metrics, result), plan_.format);
    if (ordered_) {
      ordered_->add(item.number, std::move(text));
    } else {
      written_ = writes().append(std::move(text));
    }
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
    if (scheduler_) keep_until_exit(scheduler_);  // which would wait for rows that hang
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
      const int64_t ahead = ordered_ ? ordered_->kept() : 0;
      console_.note(fmt::format("{} has {} complete rows{}; the same command continues after them", writes().path(),
                                writes().rows(),
                                ahead > 0 ? fmt::format(", and {} {} more", ordered_->path(), ahead) : ""));
      return exit_code(done.code());
    }
    if (failed > 0) {
      console_.note(fmt::format("{} has {} row{} with an error; the same command with --retry-failed does them again",
                                plan_.path, failed, failed == 1 ? "" : "s"));
    }
    if (missing_ > 0) {
      console_.complain(fmt::format("{} lacks {} row{} of {}; the same command without --retry-failed does them",
                                    plan_.path, missing_, missing_ == 1 ? "" : "s", list_->name()));
      return kExitFailed;
    }
    return failed > 0 ? kExitRowsFailed : kExitOk;
  }

  BatchPlan plan_;
  Console& console_;
  BatchProgress progress_;
  BatchCounts counts_;
  ResultRows results_;
  std::vector<ScoreGuard> guards_;
  std::unique_ptr<PairList> list_;
  std::unique_ptr<ResultFile> old_;     // OUT
  std::unique_ptr<ResultFile> new_;     // with --retry-failed: what takes its place
  std::optional<OrderedRows> ordered_;  // unless rows come in any order
  std::shared_ptr<RowScheduler> scheduler_;
  std::map<int64_t, Outstanding> outstanding_;  // by TaskResult::index
  int64_t submitted_ = 0;
  int64_t missing_ = 0;  // rows of the list that --retry-failed did not find in OUT
  // If rows come in any order, by their number in the list, from 0: those that are not scored, and of --retry-failed,
  // those that an earlier one has written.
  std::vector<bool> skipped_, retried_;
  size_t copied_ = 0;  // a sum over rows that an earlier --retry-failed copied from OUT
  Status written_;
  bool begun_ = false;  // whether anything was written
};

}  // namespace

int run_batch(const Request& request, Console& console) {
  Result<BatchPlan> plan = make_plan(request);
  if (!plan.ok()) {
    console.complain(plan.status().message());
    return exit_code(plan.status().code());
  }
  put_off_interrupts();
  const Capabilities capabilities(console);
  return BatchRun(std::move(*plan), console)();
}

}  // namespace acuity::cli
