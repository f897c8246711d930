// SPDX-License-Identifier: BSD-2-Clause-Patent
// Rows of results that are finished in any order and written in that of the list. Those that wait for a slow row are
// kept in a file beside OUT, OUT.ahead, so that a process that is killed loses none of them. It has the form of OUT,
// with the number of the row as the first column.
#ifndef ACUITY_CLI_ORDERED_ROWS_H
#define ACUITY_CLI_ORDERED_ROWS_H

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "acuity/status.h"
#include "cli/console.h"
#include "cli/result_file.h"

namespace acuity::cli {

class OrderedRows {
 public:
  /// A row that an earlier run finished before its turn.
  struct Kept {
    int64_t line = 0;  // of OUT.ahead
    std::string text{};
    std::vector<std::string> fields{};
  };

  /// Writes behind the rows of `file` that were read. Its lock is that of OUT.ahead as well.
  OrderedRows(ResultFile& file, ResultFormat format, const std::vector<std::string>& columns, Console& console);

  /// Reads what an earlier run left in OUT.ahead. `is_new`: there was no OUT, so that what is left over is of a file
  /// that is gone, and deleted.
  Status read_kept(bool is_new);
  /// Such a row, which is its turn to be added. None: it must be scored.
  std::optional<Kept> take_kept(int64_t number);

  /// The number of the row that is added next, from 1. Every row has one, in the order of the file.
  int64_t next_number() { return next_++; }
  void add(int64_t number, std::string text, bool is_kept = false);
  /// Rows that wait for one before them.
  size_t waiting() const { return waiting_.size(); }
  /// How many of them are in OUT.ahead.
  int64_t kept() const;

  /// Writes rows whose turn it is, and keeps those that wait for longer than a moment. To be called several times a
  /// second.
  Status write();
  /// Writes everything to the disk. `is_complete`: no more rows come, now or later, so OUT.ahead is deleted.
  Status finish(bool is_complete);

  /// OUT.ahead.
  const std::string& path() const { return path_; }

 private:
  struct Waiting {
    std::string text{};
    bool was_seen = false;  // it waited already when we looked last
    bool is_kept = false;
  };
  Status read_companion();
  Status write_ready();
  Status keep(bool all);
  Status open_companion();
  void remove_companion();

  ResultFile& file_;
  ResultFormat format_;
  std::vector<std::string> columns_;  // of OUT.ahead
  Console& console_;
  std::string path_;
  std::map<int64_t, Kept> kept_;        // of an earlier run, by number
  std::map<int64_t, Waiting> waiting_;  // by number
  int64_t next_;                        // to be added
  int64_t next_written_;
  int64_t last_kept_ = 0;  // the highest number in OUT.ahead
  std::unique_ptr<ResultFile> companion_;
  bool cannot_keep_ = false;
  std::chrono::steady_clock::time_point looked_;
};

}  // namespace acuity::cli

#endif
