// SPDX-License-Identifier: BSD-2-Clause-Patent
// Answers rows that come as JSON lines on standard input, each as soon as it is scored, with one JSON line on standard
// output. The process stays warm between them: devices are open, and references are cached.
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "base/names.h"
#include "base/try.h"
#include "cli/byte_reader.h"
#include "cli/capabilities.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/json_row.h"
#include "cli/leave.h"
#include "cli/request.h"
#include "cli/result_rows.h"
#include "cli/row_scheduler.h"
#include "cli/table_reader.h"
#include "cli/text.h"
#include "schedule/work.h"

namespace acuity::cli {
namespace {

constexpr size_t kMostOutstanding = 4096;
constexpr size_t kMostMetricLists = 1000;

Status wrong(std::string message) { return Status(StatusCode::input, std::move(message)); }

struct Question {
  std::string id = "null";  // JSON
  PairRow row;              // its line, and its two files
  Metrics metrics;
};

std::string strings(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& item : list) text += fmt::format("{}{}", text.empty() ? "" : ",", json_string(item));
  return "[" + text + "]";
}

std::string failure_text(const std::string& id, int64_t line, const std::string& kind, const std::string& message) {
  return fmt::format("{{\"id\":{},\"line\":{},\"kind\":{},\"error\":{}}}\n", id, line, json_string(kind),
                     json_string(message));
}

class Server {
 public:
  Server(RowPlan plan, bool all_outputs, std::shared_ptr<RowScheduler> scheduler, Console& console)
      : default_metrics_(std::make_shared<const std::vector<MetricChoice>>(plan.job.metrics)),
        all_outputs_(all_outputs),
        scheduler_(std::move(scheduler)),
        console_(console) {}

  Status operator()() {
    std::thread answers([this] { answer(); });
    const Status read = read_questions();
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    answers.join();
    return read;
  }

 private:
  Status read_questions() {
    ByteReader bytes(STDIN_FILENO, "standard input");
    std::string line;
    for (;;) {
      const int64_t number = bytes.line();
      line.clear();
      int byte = 0;
      bool too_long = false;
      while ((byte = bytes.get()) >= 0 && byte != '\n') {
        too_long = too_long || line.size() >= kMostRowBytes;
        if (!too_long) line += static_cast<char>(byte);
      }
      ACUITY_TRY(bytes.status());
      if (byte < 0 && line.empty()) return {};
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      Question question;
      question.row.line = number;
      const Status good =
          too_long ? wrong(fmt::format("the line has more than {} bytes", kMostRowBytes)) : parse(line, question);
      if (good.ok()) {
        ACUITY_TRY(submit(std::move(question)));
      } else {
        print(failure_text(question.id, number, "input", good.message()));
      }
      if (lost()) return {};
    }
  }

  Status parse(const std::string& line, Question& question) {
    std::vector<JsonField> fields;
    ACUITY_TRY_ASSIGN(fields, parse_json_row(line));
    // First of all, so that whatever is wrong is answered with it.
    for (const JsonField& field : fields) {
      if (field.name == "id") question.id = field.value;
    }
    std::string metrics;
    std::optional<std::string> reference, distorted;
    const std::vector<std::string> known{"id", "reference", "ref_path", "distorted", "dist_path", "metrics"};
    for (const JsonField& field : fields) {
      if (field.name == "id") continue;
      std::optional<std::string>* file = field.name == "reference" || field.name == "ref_path"    ? &reference
                                         : field.name == "distorted" || field.name == "dist_path" ? &distorted
                                                                                                  : nullptr;
      if (file != nullptr) {
        if (*file) return wrong(fmt::format("'{}' is given under two names; give one", field.name));
        ACUITY_TRY_ASSIGN(*file, json_text(field));
      } else if (field.name == "metrics") {
        ACUITY_TRY_ASSIGN(metrics, json_metrics(field));
      } else {
        return wrong(
            fmt::format("the field '{}' is unknown{}; use 'id', which may be any JSON, for what the answer must repeat",
                        field.name, did_you_mean(field.name, known)));
      }
    }
    question.row.reference = reference.value_or("");
    question.row.distorted = distorted.value_or("");
    for (const auto& [text, name] :
         {std::pair(&question.row.reference, "reference"), std::pair(&question.row.distorted, "distorted")}) {
      if (text->empty() || *text == "-" || text->find('\0') != std::string::npos) {
        return wrong(fmt::format("'{}' is missing or not a file", name));
      }
    }
    ACUITY_TRY_ASSIGN(question.metrics, metrics_of(metrics));
    return {};
  }

  Result<Metrics> metrics_of(const std::string& text) {
    if (text.empty()) return default_metrics_;
    const auto known = metrics_.find(text);
    if (known != metrics_.end()) return known->second;
    std::vector<MetricChoice> choices;
    ACUITY_TRY_ASSIGN(choices, plan_metrics_of_row(text));
    if (metrics_.size() >= kMostMetricLists) metrics_.clear();
    return metrics_[text] = std::make_shared<const std::vector<MetricChoice>>(std::move(choices));
  }

  Status submit(Question question) {
    const std::string reference = question.row.reference, distorted = question.row.distorted;
    const Metrics metrics = question.metrics;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return questions_.size() < kMostOutstanding; });
      questions_.emplace(next_++, std::move(question));
    }
    ACUITY_TRY(scheduler_->submit(reference, distorted, metrics));
    {
      const std::lock_guard lock(mutex_);
      ++submitted_;
    }
    changed_.notify_all();
    return {};
  }

  // Until all that was asked is answered and no more comes.
  void answer() {
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return submitted_ > answered_ || ended_; });
        if (submitted_ == answered_) return;
      }
      std::optional<TaskResult> result = scheduler_->wait_any();
      if (!result) continue;
      Question question;
      {
        const std::lock_guard lock(mutex_);
        const auto asked = questions_.find(result->index);
        question = std::move(asked->second);
        questions_.erase(asked);
        ++answered_;
      }
      changed_.notify_all();
      check_scores(question.row, *question.metrics, *result);
      for (std::string& warning : left_devices(*result)) result->warnings.push_back(std::move(warning));
      print(answer_text(question, *result));
    }
  }

  std::string answer_text(const Question& question, const TaskResult& result) const {
    if (!result.status.ok()) {
      return failure_text(question.id, question.row.line, kind_of_failure(result), result.status.message());
    }
    std::string scores, outputs;
    for (size_t i = 0; i < result.scores.size(); ++i) {
      const std::string label = json_string((*question.metrics)[i].label);
      scores += fmt::format("{}{}:{}", i == 0 ? "" : ",", label, exact_number(result.scores[i].value));
      std::string values;
      for (const NamedValue& output : result.scores[i].outputs) {
        values +=
            fmt::format("{}{}:{}", values.empty() ? "" : ",", json_string(output.name), exact_number(output.value));
      }
      outputs += fmt::format("{}{}:{{{}}}", i == 0 ? "" : ",", label, values);
    }
    return fmt::format(
        "{{\"id\":{},\"line\":{},\"width\":{},\"height\":{},\"scores\":{{{}}},{}\"device\":{},\"warnings\":{}}}\n",
        question.id, question.row.line, result.width, result.height, scores,
        all_outputs_ ? fmt::format("\"outputs\":{{{}}},", outputs) : "", json_string(result.device),
        strings(result.warnings));
  }

  void print(const std::string& text) {
    const std::lock_guard lock(print_mutex_);
    console_.print(text);
  }
  bool lost() {
    const std::lock_guard lock(print_mutex_);
    return console_.lost();
  }

  Metrics default_metrics_;
  bool all_outputs_;
  std::shared_ptr<RowScheduler> scheduler_;
  Console& console_;
  std::map<std::string, Metrics> metrics_;
  std::mutex print_mutex_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int64_t, Question> questions_;  // by TaskResult::index
  int64_t next_ = 0;
  int64_t submitted_ = 0;
  int64_t answered_ = 0;
  bool ended_ = false;
};

}  // namespace

int run_serve(const Request& request, Console& console) {
  const auto complain = [&](const Status& status) {
    console.complain(status.message());
    return exit_code(status.code());
  };
  Result<RowPlan> plan = plan_rows(request);
  if (!plan.ok()) return complain(plan.status());
  for (const std::string& warning : plan->warnings) console.warn(warning);
  if (Status strips = check_strips(request, {.memory = plan->job.memory}, plan->job.metrics); !strips.ok()) {
    return complain(strips);
  }
  const Result<bool> all = plan_outputs(request);
  if (!all.ok()) return complain(all.status());
  const Capabilities capabilities(console);
  Result<std::unique_ptr<RowScheduler>> created = RowScheduler::create(*plan, /*ordered=*/false);
  if (!created.ok()) return complain(created.status());
  const std::shared_ptr<RowScheduler> scheduler = std::move(*created);
  const Status served = Server(std::move(*plan), *all, scheduler, console)();
  keep_until_exit(scheduler);
  return served.ok() ? kExitOk : complain(served);
}

}  // namespace acuity::cli
