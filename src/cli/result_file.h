// SPDX-License-Identifier: BSD-2-Clause-Patent
// The file that 'acuity batch' writes, which is its own journal: a table in CSV, TSV or JSON lines with one row per
// pair. A run that ended early is continued behind its last complete row.
#ifndef ACUITY_CLI_RESULT_FILE_H
#define ACUITY_CLI_RESULT_FILE_H

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "acuity/status.h"
#include "cli/byte_reader.h"
#include "cli/pair_list.h"
#include "cli/table_reader.h"

namespace acuity::cli {

enum class ResultFormat { csv, tsv, jsonl };

/// By the end of the name; an error that lists what there is.
Result<ResultFormat> result_format(const std::string& path);

/// One value of a row: text, a number that is written with all its digits, JSON, or nothing.
struct ResultCell {
  enum class Kind { none, text, number, json };
  Kind kind = Kind::none;
  std::string text{};
  double number = 0;

  static ResultCell of(std::string text) { return {Kind::text, std::move(text), 0}; }
  static ResultCell of(double number) { return {Kind::number, {}, number}; }
  static ResultCell of(const PassedValue& value) { return {value.is_json ? Kind::json : Kind::text, value.text, 0}; }
};

/// A cell as a reader of the file gets it: text without quotes, or JSON.
std::string cell_field(const ResultCell& cell, ResultFormat format);
/// A row with its line end.
std::string row_text(const std::vector<std::string>& columns, const std::vector<ResultCell>& cells,
                     ResultFormat format);

class ResultFile {
 public:
  /// Opens or makes the file and locks it: a second process is refused. A header that is there must have these columns.
  static Result<std::unique_ptr<ResultFile>> open(const std::string& path, ResultFormat format,
                                                  std::vector<std::string> columns);
  ~ResultFile();
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;

  /// The next complete row that is there, as cell_field() gives it. False where there are no more.
  Result<bool> next(std::vector<std::string>& fields);
  /// Back to before the first row.
  Status rewind();
  /// The line where the last row began, and its text.
  int64_t line() const { return line_; }
  Result<std::string> last_text() const;

  /// Cuts off what stands behind the last row that next() returned, writes the header where there is none, and begins
  /// to write. Returns how many bytes of an incomplete row were cut.
  Result<int64_t> begin_writing();
  /// Adds a row. It is in the file within a fraction of a second, and on the disk within about a second.
  Status append(std::string row);
  /// Ends writing behind the caller's back, and writes everything to the disk. Rows that are added later are written
  /// by the next call. A file that cannot be written any more has only complete rows. A failure if somebody removed,
  /// replaced or changed the file meanwhile.
  Status finish();
  /// Puts this file in the place of another, under its name.
  Status replace(const std::string& path);

  /// As it was given, and behind all links.
  const std::string& path() const { return path_; }
  const std::string& target() const { return target_; }
  /// How many rows are in the file: those that were read, and those that were written behind them.
  int64_t rows() const;
  /// How many of them are on the disk already.
  int64_t rows_on_disk() const;

 private:
  ResultFile(std::string path, std::string target, int descriptor, ResultFormat format,
             std::vector<std::string> columns);
  Status read_header();
  Result<bool> next_row(std::vector<std::string>& fields);
  Result<bool> next_json(std::vector<std::string>& fields);
  Status compare_columns(const std::vector<std::string>& found) const;
  std::string header_text() const;
  Status check_beginning(int64_t size) const;
  Status write_pending();
  Status sync();
  Status check_place();
  Status failed(const std::string& what);
  void run();
  void stop_writer();

  std::string path_;
  std::string target_;
  int descriptor_;
  ResultFormat format_;
  std::vector<std::string> columns_;
  ByteReader bytes_;
  TableReader table_;
  int64_t line_ = 0;
  int64_t row_begin_ = 0;
  int64_t complete_ = 0;  // bytes that are complete rows
  int64_t rows_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable wakes_;
  std::string pending_;  // rows that are not in the file yet
  int64_t pending_rows_ = 0;
  int64_t rows_on_disk_ = 0;
  bool unsynced_ = false;
  bool ends_ = false;
  Status status_;
  std::thread writer_;
};

}  // namespace acuity::cli

#endif
