// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/score_guard.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "cli/text.h"

namespace acuity::cli {
namespace {

constexpr size_t kMostValues = 16384;
constexpr size_t kMostFiles = 65536;
constexpr int64_t kFewestConstant = 4;  // files with one value, where no row has another
constexpr int64_t kFewestAlike = 10;    // files with one value, where others differ
constexpr int64_t kShareAlike = 20;     // that are at least one row in so many

}  // namespace

void ScoreGuard::add(double value, const std::string& distorted) {
  ++rows_;
  auto found = seen_.find(value);
  if (found == seen_.end()) {
    if (seen_.size() == kMostValues) {
      seen_all_ = false;
      return;
    }
    found = seen_.emplace(value, Seen()).first;
  }
  Seen& seen = found->second;
  const size_t file = std::hash<std::string>()(distorted);
  const size_t with_value = file ^ (std::hash<double>()(value) * 0x9e3779b97f4a7c15);
  if (files_.size() < kMostFiles) {
    if (files_.insert(with_value).second) ++seen.files;
  } else if (seen.last_file != file && !files_.contains(with_value)) {
    ++seen.files;
  }
  seen.last_file = file;
  ++seen.rows;
}

std::string ScoreGuard::identical_note(double value) const {
  const MetricInfo* info = find_metric(metric_.name);
  return info->identical && *info->identical == value ? ", the value of identical pictures," : "";
}

std::vector<std::string> ScoreGuard::warnings() const {
  std::vector<std::string> list;
  const bool constant = seen_all_ && seen_.size() == 1;
  for (const auto& [value, seen] : seen_) {
    if (constant && seen.files >= kFewestConstant) {
      list.push_back(fmt::format("{} is {}{} in all {} rows; check that the distorted files differ", metric_.label,
                                 short_number(value), identical_note(value), rows_));
    } else if (!constant && seen.files >= kFewestAlike && seen.files * kShareAlike >= rows_) {
      list.push_back(fmt::format("{} is exactly {}{} in {} of {} rows with {} different files; check these files",
                                 metric_.label, short_number(value), identical_note(value), seen.rows, rows_,
                                 seen.files));
    }
  }
  std::sort(list.begin(), list.end());
  return list;
}

}  // namespace acuity::cli
