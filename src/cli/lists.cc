// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/lists.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace acuity::cli {
namespace {

Status usage(std::string message) { return Status(StatusCode::usage, std::move(message)); }

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool contains(std::span<const std::string> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The number of characters to insert, delete or replace to make one word of the other.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

// The whole text as a number, or nothing.
template <typename Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string nearest(std::string_view name, std::span<const std::string> candidates) {
  constexpr size_t kLongestName = 64;  // a longer one is no misspelling, and would take long to compare
  if (name.size() > kLongestName) return "";
  std::string best;
  size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(name, candidate);
    const size_t near = std::max<size_t>(1, std::max(name.size(), candidate.size()) / 3);
    const bool prefix = name.size() >= 3 && candidate.starts_with(name);
    if (!prefix && distance > near) continue;
    if (best.empty() || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

Result<NameList> parse_names(std::span<const std::string> lists, std::string_view kind,
                             std::span<const std::string> allowed) {
  NameList result;
  for (const std::string& list : lists) {
    std::string_view rest = list;
    while (true) {
      const size_t comma = rest.find(',');
      const std::string name(trimmed(rest.substr(0, comma)));
      if (name.empty()) {
        return usage(
            fmt::format("the list of {}s '{}' has an empty place; separate names by single commas", kind, list));
      }
      if (!contains(allowed, name)) {
        const std::string guess = nearest(name, allowed);
        return usage(fmt::format("there is no {} '{}'{}; there are: {}", kind, name,
                                 guess.empty() ? "" : fmt::format(" (did you mean '{}'?)", guess),
                                 fmt::join(allowed, ", ")));
      }
      std::vector<std::string>& place = contains(result.names, name) ? result.repeated : result.names;
      place.push_back(name);
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  return result;
}

Result<MemoryMode> parse_memory(std::string_view text) {
  constexpr std::string_view kStrip = "strip:";
  constexpr int kMostRows = 1 << 20;
  if (text == "auto") return MemoryMode::automatic();
  if (text == "full") return MemoryMode::full();
  if (text.starts_with(kStrip)) {
    const Result<int> rows = parse_whole(text.substr(kStrip.size()), "the ROWS of --memory strip:ROWS", 1, kMostRows);
    if (!rows.ok()) return rows.status();
    return MemoryMode::strip(*rows);
  }
  return usage(fmt::format("--memory is '{}'; use auto, full or strip:ROWS", text));
}

Result<int> parse_whole(std::string_view text, std::string_view what, int least, int most) {
  int number = 0;
  if (read_number(text, number) && number >= least && number <= most) return number;
  return usage(fmt::format("'{}' does not do for {}; use a whole number from {} to {}", text, what, least, most));
}

Result<double> parse_number(std::string_view text, std::string_view what) {
  double number = 0;
  if (read_number(text, number) && std::isfinite(number)) return number;
  return usage(fmt::format("'{}' does not do for {}; use a number such as 70 or 0.5", text, what));
}

}  // namespace acuity::cli
