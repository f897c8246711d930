// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/pair_folders.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glob.h>

#include "base/try.h"
#include "media/output_file.h"

namespace acuity::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostNamed = 3;

Status wrong(std::string message) { return Status(StatusCode::input, std::move(message)); }

std::string joined(const std::string& folder, const std::string& path) { return (fs::path(folder) / path).string(); }

std::string some_of(const std::vector<std::string>& names) {
  const std::vector<std::string> first(names.begin(),
                                       names.begin() + static_cast<ptrdiff_t>(std::min(names.size(), kMostNamed)));
  return fmt::format("{}{}", fmt::join(first, ", "), names.size() > kMostNamed ? ", ..." : "");
}

// The names are compared first: they differ for nearly all files, and cost no look at the disk.
bool is_among(const std::string& file, const std::vector<std::string>& files) {
  return std::any_of(files.begin(), files.end(), [&](const std::string& other) {
    return fs::path(file).filename() == fs::path(other).filename() && same_place(file, other);
  });
}

}  // namespace

std::string without_extension(const std::string& path) { return fs::path(path).replace_extension().string(); }

Result<std::vector<std::string>> files_under(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::follow_directory_symlink, error);
  if (error) {
    return wrong(fmt::format("{}: cannot be read as a folder: {}; give the path of a folder with pictures or videos",
                             folder, error.message()));
  }
  std::error_code ignored;
  std::vector<fs::path> inside{fs::canonical(folder, ignored)};  // the folder, and those on the way to the entry
  for (const fs::recursive_directory_iterator end; entry != end; entry.increment(error)) {
    if (error) break;
    const bool hidden = entry->path().filename().string().starts_with('.');
    if (entry->is_directory(ignored)) {
      inside.resize(static_cast<size_t>(entry.depth()) + 1);
      inside.push_back(fs::canonical(entry->path(), ignored));
      // A link back to a folder that it is in has nothing new, without end.
      const bool is_back = std::find(inside.begin(), inside.end() - 1, inside.back()) != inside.end() - 1;
      if (hidden || is_back) entry.disable_recursion_pending();
    }
    // A link that leads nowhere is a file that is missing: its row says so.
    const bool is_lost = entry->is_symlink(ignored) && !entry->exists(ignored);
    if (hidden || !(is_lost || entry->is_regular_file(ignored))) continue;
    files.push_back(entry->path().lexically_relative(folder).string());
  }
  if (error) return wrong(fmt::format("{}: reading the folder failed: {}", folder, error.message()));
  std::sort(files.begin(), files.end());
  return files;
}

Result<FoundPairs> pair_folders(const std::string& reference_folder, const std::vector<std::string>& folders,
                                const std::vector<std::string>& except) {
  std::vector<std::string> references;
  ACUITY_TRY_ASSIGN(references, files_under(reference_folder));
  std::map<std::string, std::vector<std::string>> by_name;
  for (const std::string& file : references) by_name[without_extension(file)].push_back(file);
  FoundPairs found;
  std::vector<std::string> alone;
  for (const std::string& folder : folders) {
    std::vector<std::string> files;
    ACUITY_TRY_ASSIGN(files, files_under(folder));
    for (const std::string& file : files) {
      if (is_among(joined(folder, file), except)) continue;
      const auto same = by_name.find(without_extension(file));
      if (same == by_name.end()) {
        alone.push_back(joined(folder, file));
        continue;
      }
      const std::vector<std::string>& names = same->second;
      const auto exact = std::find(names.begin(), names.end(), file);
      if (names.size() > 1 && exact == names.end()) {
        return wrong(fmt::format("{} has several references in {}: {}; leave one of them there", joined(folder, file),
                                 reference_folder, fmt::join(names, ", ")));
      }
      found.pairs.push_back(
          {joined(reference_folder, exact == names.end() ? names.front() : *exact), joined(folder, file)});
    }
  }
  if (found.pairs.empty()) {
    return wrong(fmt::format("no file under {} has the name, without extension, of one under {}{}",
                             fmt::join(folders, ", "), reference_folder,
                             alone.empty() ? "" : fmt::format(", such as {}", alone.front())));
  }
  if (!alone.empty()) {
    found.warnings.push_back(fmt::format("left out {} file{} without a reference of the same name in {}: {}",
                                         alone.size(), alone.size() == 1 ? "" : "s", reference_folder, some_of(alone)));
  }
  return found;
}

Result<FoundPairs> pair_patterns(const std::string& reference, const std::vector<std::string>& patterns,
                                 const std::vector<std::string>& except) {
  FoundPairs found;
  for (const std::string& pattern : patterns) {
    glob_t matches{};
    const int failed = glob(pattern.c_str(), GLOB_ERR | GLOB_TILDE, nullptr, &matches);
    const size_t before = found.pairs.size();
    for (size_t i = 0; failed == 0 && i < matches.gl_pathc; ++i) {
      if (!is_among(matches.gl_pathv[i], except)) found.pairs.push_back({reference, matches.gl_pathv[i]});
    }
    globfree(&matches);
    if (failed == GLOB_NOMATCH || (failed == 0 && found.pairs.size() == before)) {
      return wrong(fmt::format("no file matches --glob '{}'", pattern));
    }
    if (failed != 0) return wrong(fmt::format("--glob '{}': a folder could not be read", pattern));
  }
  return found;
}

}  // namespace acuity::cli
