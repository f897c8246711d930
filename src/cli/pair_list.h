// SPDX-License-Identifier: BSD-2-Clause-Patent
// Lists of pairs: CSV, TSV or JSON lines from a file or standard input, folders whose files have the same names, or all
// files of a pattern against one reference. Rows are read one by one, so that a list of any length fits.
#ifndef ACUITY_CLI_PAIR_LIST_H
#define ACUITY_CLI_PAIR_LIST_H

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "acuity/status.h"
#include "cli/options.h"
#include "cli/request.h"

namespace acuity::cli {

/// A value that is passed through: text, or as JSON has it.
struct PassedValue {
  std::string text{};
  bool is_json = false;

  bool operator==(const PassedValue&) const = default;
};

struct PairRow {
  int64_t number = 0;  // from 1
  int64_t line = 0;    // of the file; 0: there is none
  std::string reference{};
  std::string distorted{};
  std::string metrics{};              // as in -m; empty: those of -m
  std::vector<PassedValue> others{};  // in the order of PairList::columns()
};

class PairList {
 public:
  virtual ~PairList() = default;
  /// False at the end.
  virtual Result<bool> next(PairRow& row) = 0;
  /// What is passed through besides the two files, in the order of the list.
  const std::vector<std::string>& columns() const { return columns_; }
  /// What messages call it.
  const std::string& name() const { return name_; }
  /// What the list leaves out, one sentence each.
  const std::vector<std::string>& warnings() const { return warnings_; }

 protected:
  std::string name_;
  std::vector<std::string> columns_;
  std::vector<std::string> warnings_;
};

/// What a list holds as a whole.
struct ListSummary {
  int64_t rows = 0;
  std::vector<std::string> columns;  // of all rows
  /// Each different text of PairRow::metrics, and the line that has it first.
  struct Metrics {
    std::string text;
    int64_t line = 0;
  };
  std::vector<Metrics> metrics;
  bool some_without_metrics = false;
  std::vector<std::string> warnings;
};

/// Which pairs the options name. Opened as often as needed, unless they come through a pipe.
class PairLists {
 public:
  /// PAIRS, --pair-dirs with folders as the arguments, or --reference and --glob: exactly one of them.
  static Result<PairLists> plan(const Request& request);

  /// From the first row. `columns`: those of all rows where they are known; otherwise the first row decides. `waiting`
  /// is for ByteReader::when_waiting().
  Result<std::unique_ptr<PairList>> open(const std::optional<std::vector<std::string>>& columns = {},
                                         std::function<bool()> waiting = {}) const;
  /// Files that folders and patterns must not find.
  void leave_out(std::vector<std::string> files) { left_out_ = std::move(files); }
  /// Reads the whole list, so that a mistake anywhere in it is found before any work. None where it comes through a
  /// pipe and can be read only once.
  Result<std::optional<ListSummary>> survey() const;
  /// The file; empty where folders or a pattern are given.
  const std::string& path() const { return path_; }

 private:
  std::string path_;                   // PAIRS
  std::string reference_folder_;       // --pair-dirs
  std::vector<std::string> folders_;   // the arguments
  std::string reference_;              // --reference
  std::vector<std::string> patterns_;  // --glob
  std::vector<std::string> left_out_;
};

/// A list in memory, for tests of the readers.
Result<std::unique_ptr<PairList>> list_of_text(std::string text, std::string name);

/// --pair-dirs, --reference and --glob.
const std::vector<Option>& pair_list_options();

}  // namespace acuity::cli

#endif
