// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/ordered_rows.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/try.h"
#include "cli/text.h"

namespace acuity::cli {
namespace {

namespace fs = std::filesystem;

// A row that waits for two looks is kept: the many that wait for a few milliseconds cost nothing.
constexpr std::chrono::milliseconds kLookInterval{250};

std::vector<std::string> with_number(const std::vector<std::string>& columns) {
  std::string name = "row";
  while (std::find(columns.begin(), columns.end(), name) != columns.end()) name += '_';
  std::vector<std::string> list{name};
  list.insert(list.end(), columns.begin(), columns.end());
  return list;
}

char separator_of(ResultFormat format) { return format == ResultFormat::tsv ? '\t' : ','; }

}  // namespace

OrderedRows::OrderedRows(ResultFile& file, ResultFormat format, const std::vector<std::string>& columns,
                         Console& console)
    : file_(file),
      format_(format),
      columns_(with_number(columns)),
      console_(console),
      path_(file.target() + ".ahead"),
      next_(file.rows() + 1),
      next_written_(next_) {}

Status OrderedRows::read_kept(bool is_new) {
  std::error_code ignored;
  if (!fs::exists(path_, ignored)) return {};
  if (is_new) {
    console_.note(fmt::format("{}: was left over from a file that no longer exists, and was deleted", path_));
    fs::remove(path_, ignored);
    return {};
  }
  const Status read = read_companion();
  if (read.ok()) return {};
  return Status(read.code(), fmt::format("{}; or delete {}, whose rows are then scored again", read.message(), path_));
}

Status OrderedRows::read_companion() {
  ACUITY_TRY_ASSIGN(companion_, ResultFile::open(path_, format_, columns_));
  std::vector<std::string> fields;
  for (;;) {
    bool any = false;
    ACUITY_TRY_ASSIGN(any, companion_->next(fields));
    if (!any) break;
    const int64_t number = std::strtoll(fields[0].c_str(), nullptr, 10);
    last_kept_ = std::max(last_kept_, number);
    if (number < next_) continue;  // it is in OUT since then
    Kept row{.line = companion_->line()};
    ACUITY_TRY_ASSIGN(row.text, companion_->last_text());
    const size_t begin = format_ == ResultFormat::jsonl ? 1 : 0;  // behind the brace
    row.text.erase(begin, row.text.find(separator_of(format_)) + 1 - begin);
    row.fields.assign(fields.begin() + 1, fields.end());
    kept_.insert_or_assign(number, std::move(row));
  }
  int64_t cut = 0;
  ACUITY_TRY_ASSIGN(cut, companion_->begin_writing());
  if (cut > 0) console_.note(fmt::format("{}: cut off an incomplete row ({} bytes)", path_, cut));
  return companion_->finish();
}

std::optional<OrderedRows::Kept> OrderedRows::take_kept(int64_t number) {
  auto found = kept_.extract(number);
  if (found.empty()) return std::nullopt;
  return std::move(found.mapped());
}

void OrderedRows::add(int64_t number, std::string text, bool is_kept) {
  waiting_.emplace(number, Waiting{.text = std::move(text), .is_kept = is_kept});
}

int64_t OrderedRows::kept() const {
  return companion_ ? std::min(companion_->rows(), static_cast<int64_t>(waiting_.size())) : 0;
}

Status OrderedRows::write_ready() {
  while (!waiting_.empty() && waiting_.begin()->first == next_written_) {
    ACUITY_TRY(file_.append(std::move(waiting_.begin()->second.text)));
    waiting_.erase(waiting_.begin());
    ++next_written_;
  }
  return {};
}

// Where no file can be made beside OUT, the work goes on without one.
Status OrderedRows::open_companion() {
  if (companion_ || cannot_keep_) return {};
  Result<std::unique_ptr<ResultFile>> opened = ResultFile::open(path_, format_, columns_);
  if (!opened.ok()) {
    cannot_keep_ = true;
    console_.warn(fmt::format("{}; if this process is killed, rows that wait for a slow one are lost",
                              opened.status().message()));
    return {};
  }
  companion_ = std::move(*opened);
  return companion_->begin_writing().status();
}

void OrderedRows::remove_companion() {
  if (!companion_) return;
  std::error_code ignored;
  fs::remove(path_, ignored);
  companion_.reset();
}

// Rows that wait since the last look, or all that wait.
Status OrderedRows::keep(bool all) {
  bool any = false;
  for (auto& [number, row] : waiting_) {
    if (!std::exchange(row.was_seen, true) && !all) continue;
    if (row.is_kept) continue;
    ACUITY_TRY(open_companion());
    if (!companion_) return {};
    // The text is that of a row of OUT, behind the number.
    const std::string text = format_ == ResultFormat::jsonl
                                 ? fmt::format("{{{}:{},{}", json_string(columns_[0]), number, row.text.substr(1))
                                 : fmt::format("{}{}{}", number, separator_of(format_), row.text);
    ACUITY_TRY(companion_->append(text));
    row.is_kept = true;
    last_kept_ = std::max(last_kept_, number);
    any = true;
  }
  return any ? companion_->finish() : Status();
}

Status OrderedRows::write() {
  ACUITY_TRY(write_ready());
  const auto now = std::chrono::steady_clock::now();
  if (now - looked_ < kLookInterval) return {};
  looked_ = now;
  if (kept_.empty() && last_kept_ <= file_.rows_on_disk()) remove_companion();
  return keep(/*all=*/false);
}

Status OrderedRows::finish(bool is_complete) {
  ACUITY_TRY(write_ready());
  ACUITY_TRY(file_.finish());
  if (is_complete && waiting_.empty()) {
    remove_companion();
    return {};
  }
  ACUITY_TRY(keep(/*all=*/true));
  if (!is_complete) return {};
  return Status(
      StatusCode::internal,
      fmt::format("row {} of {} has no result, though it ended; run the same command again, and please report "
                  "this",
                  next_written_, file_.target()));
}

}  // namespace acuity::cli
