// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "base/names.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace acuity {
namespace {

constexpr size_t kLongestName = 64;  // a longer one is no misspelling, and would take long to compare

// Whatever the locale.
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) { return lower(c); });
  return result;
}

// The number of characters to insert, delete, replace or swap with the next to make one word of the other.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before, above, row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

// "ssimu2" is short for "ssimulacra2": its letters are there in this order, the first one first.
bool is_short_for(std::string_view name, std::string_view candidate) {
  if (name.size() < 3 || candidate.empty() || name[0] != candidate[0]) return false;
  size_t found = 0;
  for (const char c : candidate) found += found < name.size() && name[found] == c ? 1 : 0;
  return found == name.size();
}

}  // namespace

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string nearest(std::string_view name, std::span<const std::string> candidates) {
  if (name.size() > kLongestName) return "";
  const std::string typed = lower(name);
  std::string best;
  std::pair<bool, size_t> best_rank;
  for (const std::string& candidate : candidates) {
    const std::string known = lower(candidate);
    const bool is_short = is_short_for(typed, known);
    const size_t distance = edit_distance(typed, known);
    const size_t near = std::max<size_t>(1, std::max(typed.size(), known.size()) / 3);
    if (!is_short && distance > near) continue;
    const std::pair<bool, size_t> rank{!is_short, distance};
    if (best.empty() || rank < best_rank) {
      best = candidate;
      best_rank = rank;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  const std::string guess = nearest(name, candidates);
  return guess.empty() ? "" : " (did you mean '" + guess + "'?)";
}

}  // namespace acuity
