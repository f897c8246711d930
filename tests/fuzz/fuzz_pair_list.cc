// SPDX-License-Identifier: BSD-2-Clause-Patent
// Lists of pairs: CSV, TSV and JSON lines. What is read is written as a row of results, and must read back the same.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "cli/byte_reader.h"
#include "cli/json_row.h"
#include "cli/pair_list.h"
#include "cli/result_file.h"
#include "cli/table_reader.h"
#include "cli/text.h"

namespace {

using namespace acuity::cli;

void check_table(const std::vector<std::string>& names, const std::vector<ResultCell>& cells, ResultFormat format) {
  ByteReader bytes(row_text(names, cells, format), "row");
  TableReader table(bytes, format == ResultFormat::csv ? ',' : '\t');
  std::vector<std::string> fields;
  const auto any = table.next(fields);
  if (!any.ok() || !*any || !table.ended() || fields.size() != cells.size()) std::abort();
  for (size_t i = 0; i < cells.size(); ++i) {
    if (fields[i] != cell_field(cells[i], format)) std::abort();
  }
  if (*table.next(fields)) std::abort();
}

void check_json(const std::vector<std::string>& names, const std::vector<ResultCell>& cells) {
  if (!std::all_of(names.begin(), names.end(), is_utf8)) return;  // batch refuses them
  const auto fields = parse_json_row(row_text(names, cells, ResultFormat::jsonl));
  if (!fields.ok()) std::abort();
  for (size_t i = 0; i < cells.size(); ++i) {
    if ((*fields)[i].value != cell_field(cells[i], ResultFormat::jsonl)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto list = list_of_text(std::string(reinterpret_cast<const char*>(data), size), "list");
  if (!list.ok()) {
    if (list.status().message().empty()) std::abort();
    return 0;
  }
  std::vector<std::string> names{"reference", "distorted"};
  names.insert(names.end(), (*list)->columns().begin(), (*list)->columns().end());
  PairRow row;
  for (int64_t number = 1;; ++number) {
    const auto any = (*list)->next(row);
    if (!any.ok() && any.status().message().find("line ") == std::string::npos) std::abort();
    if (!any.ok() || !*any) return 0;
    if (row.number != number || row.reference.empty() || row.distorted.empty()) std::abort();
    if (row.others.size() != (*list)->columns().size()) std::abort();
    std::vector<ResultCell> cells{ResultCell::of(row.reference), ResultCell::of(row.distorted)};
    for (const PassedValue& value : row.others) cells.push_back(ResultCell::of(value));
    check_table(names, cells, ResultFormat::csv);
    check_table(names, cells, ResultFormat::tsv);
    check_json(names, cells);
  }
}
