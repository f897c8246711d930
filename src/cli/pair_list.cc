// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/pair_list.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/names.h"
#include "base/try.h"
#include "cli/byte_reader.h"
#include "cli/json_row.h"
#include "cli/pair_folders.h"
#include "cli/table_reader.h"

namespace acuity::cli {
namespace {

constexpr std::string_view kMetrics = "metrics";
constexpr size_t kMostMetricLists = 1000;

Status usage(std::string message) { return Status(StatusCode::usage, std::move(message)); }
Status wrong(std::string message) { return Status(StatusCode::input, std::move(message)); }

bool is_reference(const std::string& name) { return same_name(name, "reference") || same_name(name, "ref_path"); }
bool is_distorted(const std::string& name) { return same_name(name, "distorted") || same_name(name, "dist_path"); }

// A file, or standard input, which is not closed.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ > STDIN_FILENO) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

// What every list that is text has.
class TextList : public PairList {
 protected:
  TextList(std::unique_ptr<Descriptor> file, ByteReader bytes) : file_(std::move(file)), bytes_(std::move(bytes)) {
    name_ = bytes_.name();
  }
  Status wrong_at(int64_t line, const std::string& what) const {
    return wrong(fmt::format("{}, line {}: {}", name_, line, what));
  }
  Status check_files(const PairRow& row) const {
    for (const auto& [text, what] : {std::pair(&row.reference, "reference"), std::pair(&row.distorted, "distorted")}) {
      if (text->empty()) return wrong_at(row.line, fmt::format("the {} is empty; expected a file", what));
      if (*text == "-") return wrong_at(row.line, fmt::format("the {} is -; expected a file", what));
      if (text->find('\0') != std::string::npos) {
        return wrong_at(row.line, fmt::format("the {} has a zero byte; expected a file", what));
      }
    }
    return {};
  }

  std::unique_ptr<Descriptor> file_;
  ByteReader bytes_;
  int64_t rows_ = 0;
};

class TableList : public TextList {
 public:
  TableList(std::unique_ptr<Descriptor> file, ByteReader bytes, char separator)
      : TextList(std::move(file), std::move(bytes)), table_(bytes_, separator), separator_(separator) {}

  Status begin() {
    bool any = false;
    ACUITY_TRY_ASSIGN(any, table_.next(header_));
    if (!any) return wrong(fmt::format("{}: is empty; expected a header with reference and distorted", name_));
    std::set<std::string> seen;
    for (size_t i = 0; i < header_.size(); ++i) {
      const std::string& name = header_[i];
      if (name.empty()) return wrong_at(table_.line(), fmt::format("column {} of the header has no name", i + 1));
      if (!seen.insert(name).second) return wrong_at(table_.line(), fmt::format("two columns are named '{}'", name));
      std::optional<size_t>* place = is_reference(name) ? &reference_ : is_distorted(name) ? &distorted_ : nullptr;
      if (place != nullptr && *place) return mean_the_same(header_[**place], name);
      if (place != nullptr) {
        *place = i;
        continue;
      }
      if (same_name(name, kMetrics)) {
        if (metrics_) return mean_the_same(header_[*metrics_], name);
        metrics_ = i;
      }
      columns_.push_back(name);
    }
    if (reference_ && distorted_) return {};
    return wrong_at(table_.line(),
                    fmt::format("the header has no column '{}' or '{}'; found: {} (separated by {}){}",
                                reference_ ? "distorted" : "reference", reference_ ? "dist_path" : "ref_path",
                                fmt::join(header_, ", "), separator_ == '\t' ? "tabs" : "commas",
                                header_.size() == 1 ? "; columns must be separated by commas or tabs" : ""));
  }

  Result<bool> next(PairRow& row) override {
    bool any = false;
    ACUITY_TRY_ASSIGN(any, table_.next(fields_));
    if (!any) return false;
    if (fields_.size() != header_.size()) {
      return wrong_at(table_.line(), fmt::format("found {} field{}; expected {}, as in the header", fields_.size(),
                                                 fields_.size() == 1 ? "" : "s", header_.size()));
    }
    row.number = ++rows_;
    row.line = table_.line();
    row.reference = fields_[*reference_];
    row.distorted = fields_[*distorted_];
    row.metrics = metrics_ ? fields_[*metrics_] : "";
    row.others.clear();
    for (size_t i = 0; i < fields_.size(); ++i) {
      if (i != *reference_ && i != *distorted_) row.others.push_back({fields_[i], false});
    }
    ACUITY_TRY(check_files(row));
    return true;
  }

 private:
  Status mean_the_same(const std::string& name, const std::string& other) const {
    return wrong_at(table_.line(), fmt::format("'{}' and '{}' mean the same; leave out one", name, other));
  }

  TableReader table_;
  char separator_;
  std::vector<std::string> header_, fields_;
  std::optional<size_t> reference_, distorted_, metrics_;
};

class JsonList : public TextList {
 public:
  JsonList(std::unique_ptr<Descriptor> file, ByteReader bytes, const std::optional<std::vector<std::string>>& columns)
      : TextList(std::move(file), std::move(bytes)), fixed_(columns.has_value()) {
    columns_ = columns.value_or(std::vector<std::string>());
  }

  /// New fields widen the list instead of being refused.
  void learn() { learns_ = true; }

  // Without columns known before, the first row decides them: it is read ahead.
  Status begin() {
    if (fixed_) return {};
    const bool learns = learns_;
    learns_ = true;
    ACUITY_TRY_ASSIGN(has_first_, read(first_));
    learns_ = learns;
    return {};
  }

  Result<bool> next(PairRow& row) override {
    if (has_first_) {
      has_first_ = false;
      row = first_;
      return true;
    }
    return read(row);
  }

 private:
  Result<bool> read(PairRow& row) {
    std::string line;
    do {
      row.line = bytes_.line();
      line.clear();
      int byte = 0;
      while ((byte = bytes_.get()) >= 0 && byte != '\n') {
        line += static_cast<char>(byte);
        if (line.size() > kMostRowBytes)
          return wrong_at(row.line, fmt::format("has more than {} bytes", kMostRowBytes));
      }
      ACUITY_TRY(bytes_.status());
      if (byte < 0 && line.empty()) return false;
    } while (line.find_first_not_of(" \t\r") == std::string::npos);
    const Status parsed = take(line, row);
    if (!parsed.ok()) return wrong_at(row.line, parsed.message());
    row.number = ++rows_;
    ACUITY_TRY(check_files(row));
    return true;
  }

  Status take(const std::string& line, PairRow& row) {
    std::vector<JsonField> fields;
    ACUITY_TRY_ASSIGN(fields, parse_json_row(line));
    std::optional<std::string> reference, distorted, metrics;
    row.others.assign(columns_.size(), {"null", true});
    for (const JsonField& field : fields) {
      std::optional<std::string>* file = is_reference(field.name)   ? &reference
                                         : is_distorted(field.name) ? &distorted
                                                                    : nullptr;
      if (file != nullptr && *file) return wrong(fmt::format("'{}' is given under two names", field.name));
      if (file != nullptr) {
        ACUITY_TRY_ASSIGN(*file, json_text(field));
        continue;
      }
      if (same_name(field.name, kMetrics)) {
        if (metrics) return wrong(fmt::format("'{}' is given under two names", field.name));
        ACUITY_TRY_ASSIGN(metrics, json_metrics(field));
      }
      // No table could hold it.
      if ((field.name + json_shown(field.value)).find('\0') != std::string::npos) {
        return wrong(fmt::format("the field '{}' has a zero byte; expected text", field.name));
      }
      const auto place = std::find(columns_.begin(), columns_.end(), field.name);
      if (place != columns_.end()) {
        row.others[static_cast<size_t>(place - columns_.begin())] = {field.value, true};
      } else if (learns_) {
        columns_.push_back(field.name);
        row.others.push_back({field.value, true});
      } else {
        return wrong(
            fmt::format("the field '{}' is not in the first row; when the list comes through a pipe, the first "
                        "row must have all fields",
                        field.name));
      }
    }
    if (!reference) return wrong("there is no field 'reference' or 'ref_path'");
    if (!distorted) return wrong("there is no field 'distorted' or 'dist_path'");
    row.reference = std::move(*reference);
    row.distorted = std::move(*distorted);
    row.metrics = metrics.value_or("");
    return {};
  }

  bool fixed_;
  bool learns_ = false;
  bool has_first_ = false;
  PairRow first_;
};

class FoundList : public PairList {
 public:
  FoundList(FoundPairs found, std::string name) : found_(std::move(found)) {
    name_ = std::move(name);
    warnings_ = found_.warnings;
  }
  Result<bool> next(PairRow& row) override {
    if (place_ == found_.pairs.size()) return false;
    const FoundPairs::Pair& pair = found_.pairs[place_++];
    row = {.number = static_cast<int64_t>(place_), .reference = pair.reference, .distorted = pair.distorted};
    return true;
  }

 private:
  FoundPairs found_;
  size_t place_ = 0;
};

// Whether the first line has a tab: a header with one column less would be none.
bool has_tab(std::string_view line) { return line.find('\t') != std::string_view::npos; }

Result<std::unique_ptr<PairList>> open_text(std::unique_ptr<Descriptor> file, ByteReader bytes,
                                            const std::optional<std::vector<std::string>>& columns, bool learn) {
  constexpr size_t kHeader = size_t{1} << 16;
  const std::string_view mark = bytes.look(3);
  if (mark.starts_with("\xff\xfe") || mark.starts_with("\xfe\xff")) {
    return wrong(fmt::format("{}: is UTF-16; save it as UTF-8", bytes.name()));
  }
  if (mark == "\xef\xbb\xbf") {
    for (int i = 0; i < 3; ++i) bytes.get();
  }
  while (std::string_view(" \r\n").find(static_cast<char>(bytes.peek())) != std::string_view::npos) bytes.get();
  // A tab may be the end of a column without a name.
  const std::string_view line = bytes.look_at_line(kHeader);
  const size_t first = line.find_first_not_of(" \t");
  const char begins = first == std::string_view::npos ? '\0' : line[first];
  if (begins == '{') {
    auto list = std::make_unique<JsonList>(std::move(file), std::move(bytes), columns);
    if (learn) list->learn();
    ACUITY_TRY(list->begin());
    return std::unique_ptr<PairList>(std::move(list));
  }
  const bool is_array = begins == '[';
  const char separator = has_tab(line) ? '\t' : ',';
  auto list = std::make_unique<TableList>(std::move(file), std::move(bytes), separator);
  const Status begun = list->begin();
  if (begun.code() == StatusCode::input && is_array) {
    return wrong(fmt::format("{}: begins with '['; expected one JSON object per line, or CSV or TSV with a header",
                             list->name()));
  }
  ACUITY_TRY(begun);
  return std::unique_ptr<PairList>(std::move(list));
}

Result<std::unique_ptr<PairList>> open_path(const std::string& path,
                                            const std::optional<std::vector<std::string>>& columns, bool learn,
                                            std::function<bool()> waiting = {}) {
  const std::string name = path == "-" ? "standard input" : path;
  const int number = path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (number < 0) {
    return wrong(fmt::format("{}: cannot be opened: {}; give the path of a list of pairs, or - for standard input",
                             path, std::strerror(errno)));
  }
  auto file = std::make_unique<Descriptor>(number);
  ByteReader bytes(number, name);
  bytes.when_waiting(std::move(waiting));
  return open_text(std::move(file), std::move(bytes), columns, learn);
}

bool read_once(const std::string& path) {
  struct stat found{};
  return path == "-" || stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode);
}

}  // namespace

Result<PairLists> PairLists::plan(const Request& request) {
  PairLists lists;
  const std::vector<std::string>& arguments = request.arguments();
  if (request.has("--pair-dirs")) {
    if (request.has("--reference") || request.has("--glob")) {
      return usage("--pair-dirs finds the references itself; leave out --reference and --glob");
    }
    if (arguments.empty()) {
      return usage("--pair-dirs names the folder of references; name one or more folders of distorted files behind it");
    }
    lists.reference_folder_ = request.value("--pair-dirs");
    if (lists.reference_folder_.empty()) return usage("the REF_DIR of --pair-dirs is empty; name a folder");
    lists.folders_ = arguments;
    return lists;
  }
  if (request.has("--reference") || request.has("--glob")) {
    if (!request.has("--reference")) return usage("--glob needs --reference, the original of all files it finds");
    if (!request.has("--glob")) return usage("--reference needs --glob 'PATTERN', the files to compare with it");
    if (!arguments.empty()) {
      return usage(
          fmt::format("--reference and --glob stand instead of PAIRS, but '{}' is given; put the pattern in "
                      "quotes, so that the shell does not replace it",
                      arguments.front()));
    }
    lists.reference_ = request.value("--reference");
    if (lists.reference_.empty()) return usage("the FILE of --reference is empty; name the original");
    lists.patterns_ = request.values("--glob");
    return lists;
  }
  if (arguments.empty()) {
    return usage(
        "no pairs are given: name a list (CSV, TSV or JSON lines), or use --pair-dirs or --reference with --glob");
  }
  if (arguments.size() > 1) {
    return usage(fmt::format("one list is expected, but '{}' and '{}' are given", arguments[0], arguments[1]));
  }
  lists.path_ = arguments.front();
  // As a variable of a shell that was not set.
  if (lists.path_.empty()) return usage("the name of the list is empty; name a file, or - for standard input");
  if (lists.path_ == "-" && isatty(STDIN_FILENO) == 1) {
    return usage("standard input (-) is a terminal; redirect a list into it");
  }
  return lists;
}

Result<std::unique_ptr<PairList>> PairLists::open(const std::optional<std::vector<std::string>>& columns,
                                                  std::function<bool()> waiting) const {
  if (!path_.empty()) return open_path(path_, columns, /*learn=*/false, std::move(waiting));
  FoundPairs found;
  if (!reference_folder_.empty()) {
    ACUITY_TRY_ASSIGN(found, pair_folders(reference_folder_, folders_, left_out_));
    return std::unique_ptr<PairList>(std::make_unique<FoundList>(std::move(found), reference_folder_));
  }
  ACUITY_TRY_ASSIGN(found, pair_patterns(reference_, patterns_, left_out_));
  return std::unique_ptr<PairList>(std::make_unique<FoundList>(std::move(found), patterns_.front()));
}

Result<std::optional<ListSummary>> PairLists::survey() const {
  if (!path_.empty() && read_once(path_) && path_ == "-") return std::optional<ListSummary>();
  std::unique_ptr<PairList> list;
  if (path_.empty()) {
    ACUITY_TRY_ASSIGN(list, open());
  } else {
    if (access(path_.c_str(), R_OK) == 0 && read_once(path_)) return std::optional<ListSummary>();
    ACUITY_TRY_ASSIGN(list, open_path(path_, {}, /*learn=*/true));
  }
  ListSummary summary;
  std::set<std::string> seen;
  PairRow row;
  for (;;) {
    bool any = false;
    ACUITY_TRY_ASSIGN(any, list->next(row));
    if (!any) break;
    ++summary.rows;
    summary.some_without_metrics = summary.some_without_metrics || row.metrics.empty();
    if (row.metrics.empty() || !seen.insert(row.metrics).second) continue;
    if (seen.size() > kMostMetricLists) {
      return wrong(fmt::format("{}, line {}: the column 'metrics' has more than {} different values", list->name(),
                               row.line, kMostMetricLists));
    }
    summary.metrics.push_back({row.metrics, row.line});
  }
  summary.columns = list->columns();
  summary.warnings = list->warnings();
  return std::optional<ListSummary>(std::move(summary));
}

Result<std::unique_ptr<PairList>> list_of_text(std::string text, std::string name) {
  return open_text(nullptr, ByteReader(std::move(text), std::move(name)), {}, /*learn=*/false);
}

const std::vector<Option>& pair_list_options() {
  static const std::vector<Option> table = {
      {.name = "--pair-dirs",
       .value = "REF_DIR",
       .help = "instead of a list: compare every file under the folders given as arguments with the file under REF_DIR "
               "that has the same relative name without extension",
       .suggest = Suggest::files},
      {.name = "--reference",
       .letter = "-r",
       .value = "FILE",
       .help = "instead of a list, with --glob: the original of all files",
       .suggest = Suggest::files},
      {.name = "--glob",
       .value = "PATTERN",
       .help = "compare every file that matches, as in 'out/*.avif', with --reference; in quotes; may be given several "
               "times",
       .repeats = true},
  };
  return table;
}

}  // namespace acuity::cli
