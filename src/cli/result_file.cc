// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/result_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/try.h"
#include "cli/json_row.h"
#include "cli/text.h"

namespace acuity::cli {
namespace {

constexpr size_t kMostPending = size_t{1} << 16;
constexpr std::chrono::milliseconds kWriteInterval{200};
constexpr int kIntervalsPerSync = 4;

char separator_of(ResultFormat format) { return format == ResultFormat::tsv ? '\t' : ','; }

Status cannot_write(const std::string& message) { return Status(StatusCode::internal, message); }

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// A new name is on the disk when its folder is.
void sync_folder(const std::string& path) {
  const int folder = open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  [[maybe_unused]] const int ignored = fsync(folder);  // some file systems cannot
  close(folder);
}

bool same_file(int descriptor, const std::string& path) {
  struct stat here{}, there{};
  return fstat(descriptor, &here) == 0 && stat(path.c_str(), &there) == 0 && here.st_ino == there.st_ino &&
         here.st_dev == there.st_dev;
}

// Nothing could be read back from it, and reading would wait for ever.
bool is_pipe(int descriptor) {
  struct stat found{};
  return fstat(descriptor, &found) == 0 && (S_ISFIFO(found.st_mode) || S_ISSOCK(found.st_mode));
}

// The lock is of the file, not of its name: whoever replaced the file meanwhile leaves us the old one.
Result<int> open_locked(const std::string& path) {
  for (;;) {
    const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) {
      return cannot_write(fmt::format("-o {}: cannot be opened: {}; name a file in a folder that you may write to",
                                      path, std::strerror(errno)));
    }
    if (is_pipe(descriptor)) {
      close(descriptor);
      return Status(StatusCode::usage,
                    fmt::format("-o {}: is a pipe; name a file, so that a run that ends early can be continued", path));
    }
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      close(descriptor);
      if (error == EWOULDBLOCK) {
        return Status(
            StatusCode::usage,
            fmt::format("-o {}: another process is writing this file; wait for it, or name another file", path));
      }
      return Status(StatusCode::usage, fmt::format("-o {}: cannot be locked: {}", path, std::strerror(error)));
    }
    if (same_file(descriptor, path)) return descriptor;
    close(descriptor);
  }
}

std::vector<std::string> missing_in(const std::vector<std::string>& names, const std::vector<std::string>& list) {
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    if (std::find(list.begin(), list.end(), name) == list.end()) missing.push_back(name);
  }
  return missing;
}

// Messages quote what was found in files. A zero in a table is the mark of a loss of power.
std::string without_zeros(std::string text) {
  for (size_t at = text.find('\0'); at != std::string::npos; at = text.find('\0', at)) text.replace(at, 1, "\\0");
  return text;
}

}  // namespace

Result<ResultFormat> result_format(const std::string& path) {
  if (path.ends_with(".csv")) return ResultFormat::csv;
  if (path.ends_with(".tsv")) return ResultFormat::tsv;
  if (path.ends_with(".jsonl")) return ResultFormat::jsonl;
  if (path.ends_with(".parquet")) {
    return Status(StatusCode::usage,
                  fmt::format("-o {}: this build writes no Parquet, because Debian has no library for it; write .csv, "
                              ".tsv or .jsonl and convert that",
                              path));
  }
  return Status(StatusCode::usage, fmt::format("-o {}: expected a name ending in .csv, .tsv or .jsonl", path));
}

std::string cell_field(const ResultCell& cell, ResultFormat format) {
  const bool json = format == ResultFormat::jsonl;
  switch (cell.kind) {
    case ResultCell::Kind::none:
      break;
    case ResultCell::Kind::text:
      return json ? json_string(cell.text) : without_zeros(cell.text);
    case ResultCell::Kind::number:
      return exact_number(cell.number);
    case ResultCell::Kind::json:
      return json ? cell.text : json_shown(cell.text);
  }
  return json ? "null" : "";
}

std::string row_text(const std::vector<std::string>& columns, const std::vector<ResultCell>& cells,
                     ResultFormat format) {
  std::string text = format == ResultFormat::jsonl ? "{" : "";
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string field = cell_field(cells[i], format);
    if (format == ResultFormat::jsonl) {
      text += fmt::format("{}{}:{}", i == 0 ? "" : ",", json_string(columns[i]), field);
    } else {
      if (i > 0) text += separator_of(format);
      text += table_field(field, separator_of(format));
    }
  }
  return text + (format == ResultFormat::jsonl ? "}\n" : "\n");
}

ResultFile::ResultFile(std::string path, std::string target, int descriptor, ResultFormat format,
                       std::vector<std::string> columns)
    : path_(std::move(path)),
      target_(std::move(target)),
      descriptor_(descriptor),
      format_(format),
      columns_(std::move(columns)),
      bytes_(descriptor, path_),
      table_(bytes_, separator_of(format), kMostResultBytes) {}

ResultFile::~ResultFile() {
  stop_writer();
  close(descriptor_);
}

void ResultFile::stop_writer() {
  if (!writer_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wakes_.notify_one();
  writer_.join();
}

Result<std::unique_ptr<ResultFile>> ResultFile::open(const std::string& path, ResultFormat format,
                                                     std::vector<std::string> columns) {
  // A link stays one: what it leads to is written.
  std::error_code error;
  std::filesystem::path place = std::filesystem::canonical(path, error);
  std::string target = error ? path : place.string();
  int descriptor = -1;
  ACUITY_TRY_ASSIGN(descriptor, open_locked(target));
  // What a link led to may only be there since it was opened.
  if (error) place = std::filesystem::canonical(path, error);
  if (!error) target = place.string();
  std::unique_ptr<ResultFile> file(new ResultFile(path, target, descriptor, format, std::move(columns)));
  ACUITY_TRY(file->read_header());
  return file;
}

Status ResultFile::compare_columns(const std::vector<std::string>& found) const {
  if (found == columns_) return {};
  const std::vector<std::string> lacking = missing_in(columns_, found), unknown = missing_in(found, columns_);
  std::string what = "the same columns in another order";
  if (!lacking.empty()) what = fmt::format("it has no column {}", fmt::join(lacking, ", "));
  if (!unknown.empty()) {
    what = fmt::format("{}it has {}, which this command does not write", lacking.empty() ? "" : what + ", and ",
                       fmt::join(unknown, ", "));
  }
  return Status(StatusCode::usage,
                fmt::format("-o {}: was written by another command: {}; give the same list and options, or another -o",
                            path_, what));
}

// JSON lines have none of their own: every row has the names.
Status ResultFile::read_header() {
  if (format_ == ResultFormat::jsonl) return {};
  std::vector<std::string> found;
  Result<bool> any = next_row(found);
  if (!any.ok() || !*any) return any.status();
  return compare_columns(found);
}

Result<bool> ResultFile::next(std::vector<std::string>& fields) {
  const Result<bool> any = format_ == ResultFormat::jsonl ? next_json(fields) : next_row(fields);
  if (!any.ok() || !*any) return any;
  ++rows_;
  if (fields.size() == columns_.size()) return true;
  return Status(StatusCode::input, fmt::format("{}, line {}: found {} field{}; expected {}, as in the header", path_,
                                               line_, fields.size(), fields.size() == 1 ? "" : "s", columns_.size()));
}

// After a loss of power a file system may show zeros in place of what was written last.
Result<bool> ResultFile::next_row(std::vector<std::string>& fields) {
  row_begin_ = complete_;
  Result<bool> any = table_.next(fields);
  line_ = table_.line();
  ACUITY_TRY(bytes_.status());
  if (!any.ok() && (table_.found_zero() || bytes_.peek() < 0)) return false;
  if (!any.ok() || !*any) return any;
  if (!table_.ended()) return false;
  complete_ = bytes_.offset();
  return true;
}

Result<bool> ResultFile::next_json(std::vector<std::string>& fields) {
  row_begin_ = complete_;
  line_ = bytes_.line();
  std::string text;
  int byte = 0;
  while ((byte = bytes_.get()) > 0 && byte != '\n') text += static_cast<char>(byte);
  ACUITY_TRY(bytes_.status());
  if (byte != '\n') return false;
  const Result<std::vector<JsonField>> row = parse_json_row(text);
  if (!row.ok()) {
    return Status(StatusCode::input,
                  fmt::format("{}, line {}: is not a row of results: {}", path_, line_, row.status().message()));
  }
  fields.clear();
  std::vector<std::string> names;
  for (const JsonField& field : *row) {
    names.push_back(field.name);
    fields.push_back(field.value);
  }
  ACUITY_TRY(compare_columns(names));
  complete_ = bytes_.offset();
  return true;
}

Status ResultFile::rewind() {
  if (lseek(descriptor_, 0, SEEK_SET) != 0) return failed("cannot be read again");
  bytes_ = ByteReader(descriptor_, path_);
  line_ = row_begin_ = complete_ = rows_ = 0;
  return read_header();
}

Result<std::string> ResultFile::last_text() const {
  std::string text(static_cast<size_t>(complete_ - row_begin_), '\0');
  const ssize_t count = pread(descriptor_, text.data(), text.size(), row_begin_);
  if (count == static_cast<ssize_t>(text.size())) return text;
  return Status(StatusCode::input, fmt::format("{}, line {}: cannot be read again: {}", path_, line_,
                                               count < 0 ? std::strerror(errno) : "the file was changed"));
}

Result<int64_t> ResultFile::begin_writing() {
  struct stat found{};
  if (fstat(descriptor_, &found) != 0) return failed("cannot be read");
  const int64_t cut = found.st_size - complete_;
  if (cut > 0 && complete_ == 0) ACUITY_TRY(check_beginning(cut));
  if (cut > 0 && ftruncate(descriptor_, complete_) != 0) return failed("an incomplete row cannot be cut off");
  if (lseek(descriptor_, complete_, SEEK_SET) != complete_) return failed("cannot be written");
  if (complete_ == 0 && format_ != ResultFormat::jsonl) pending_ = header_text();
  ACUITY_TRY(write_pending());
  unsynced_ = true;  // what an earlier process wrote as well
  ACUITY_TRY(sync());
  sync_folder(target_);
  writer_ = std::thread([this] { run(); });
  return cut;
}

std::string ResultFile::header_text() const {
  std::vector<ResultCell> header;
  for (const std::string& column : columns_) header.push_back(ResultCell::of(column));
  return row_text(columns_, header, format_);
}

// Where not even the header is complete, the file must be one that we began: nothing else is ever cut.
Status ResultFile::check_beginning(int64_t size) const {
  const std::string ours =
      format_ == ResultFormat::jsonl ? fmt::format("{{{}:", json_string(columns_[0])) : header_text();
  std::string found(std::min(static_cast<size_t>(size), ours.size()), '\0');
  const ssize_t count = pread(descriptor_, found.data(), found.size(), 0);
  const bool is_ours =
      count == static_cast<ssize_t>(found.size()) && ours.starts_with(found.substr(0, found.find('\0')));
  if (is_ours) return {};
  return Status(StatusCode::usage, fmt::format("-o {}: is not a file of results; name another", path_));
}

Status ResultFile::failed(const std::string& what) {
  status_ = cannot_write(fmt::format("-o {}: {}: {}", path_, what, std::strerror(errno)));
  return status_;
}

// What is written to a file without a name is lost, and what another process changes is not ours any more.
Status ResultFile::check_place() {
  struct stat found{};
  const bool is_whole = fstat(descriptor_, &found) == 0 && (!S_ISREG(found.st_mode) || found.st_size == complete_);
  if (is_whole && same_file(descriptor_, target_)) return {};
  rows_ = 0;  // that anybody can find
  status_ =
      cannot_write(fmt::format("-o {}: was removed, replaced or changed while it was being written; if it was "
                               "moved, move it back, then run the same command again",
                               path_));
  return status_;
}

// All of it or nothing: rows that are written in part are taken back.
Status ResultFile::write_pending() {
  if (!status_.ok()) return status_;
  if (!pending_.empty()) ACUITY_TRY(check_place());
  size_t place = 0;
  while (place < pending_.size()) {
    const ssize_t count = write(descriptor_, pending_.data() + place, pending_.size() - place);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int error = errno;
      [[maybe_unused]] const int ignored = ftruncate(descriptor_, complete_);
      errno = error;
      pending_.clear();
      return failed("writing failed");
    }
    place += static_cast<size_t>(count);
    unsynced_ = true;
  }
  complete_ += static_cast<int64_t>(place);
  rows_ += std::exchange(pending_rows_, 0);
  pending_.clear();
  return {};
}

Status ResultFile::sync() {
  if (!unsynced_ || !status_.ok()) return status_;
  unsynced_ = false;
  if (fdatasync(descriptor_) != 0 && errno != EINVAL) return failed("writing to the disk failed");
  rows_on_disk_ = rows_;
  return {};
}

Status ResultFile::append(std::string row) {
  const std::lock_guard lock(mutex_);
  pending_ += row;
  ++pending_rows_;
  return pending_.size() < kMostPending ? status_ : write_pending();
}

// The disk may take its time: rows can be added meanwhile.
void ResultFile::run() {
  std::unique_lock lock(mutex_);
  for (int interval = 1; !ends_; ++interval) {
    wakes_.wait_for(lock, kWriteInterval, [this] { return ends_; });
    [[maybe_unused]] const Status written = write_pending();
    if (interval % kIntervalsPerSync != 0 || !unsynced_ || !status_.ok()) continue;
    unsynced_ = false;
    const int64_t rows = rows_;
    lock.unlock();
    const int error = fdatasync(descriptor_) == 0 ? 0 : errno;
    lock.lock();
    errno = error;
    if (error != 0 && error != EINVAL) {
      [[maybe_unused]] const Status synced = failed("writing to the disk failed");
    } else {
      rows_on_disk_ = rows;
    }
  }
}

int64_t ResultFile::rows() const {
  const std::lock_guard lock(mutex_);
  return rows_;
}

int64_t ResultFile::rows_on_disk() const {
  const std::lock_guard lock(mutex_);
  return rows_on_disk_;
}

// The writer may be in the middle of its own sync, whose failure counts.
Status ResultFile::finish() {
  stop_writer();
  ACUITY_TRY(write_pending());
  ACUITY_TRY(sync());
  return check_place();
}

Status ResultFile::replace(const std::string& path) {
  struct stat before{};
  if (stat(path.c_str(), &before) == 0) {
    [[maybe_unused]] const int ignored = fchmod(descriptor_, before.st_mode & 0777);  // some file systems cannot
  }
  if (std::rename(target_.c_str(), path.c_str()) != 0) return failed("cannot take the place of " + path);
  sync_folder(path);
  return {};
}

}  // namespace acuity::cli
