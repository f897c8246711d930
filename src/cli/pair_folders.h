// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pairs that are found in folders.
#ifndef ACUITY_CLI_PAIR_FOLDERS_H
#define ACUITY_CLI_PAIR_FOLDERS_H

#include <string>
#include <vector>

#include "acuity/status.h"

namespace acuity::cli {

struct FoundPairs {
  struct Pair {
    std::string reference;
    std::string distorted;
  };
  std::vector<Pair> pairs;
  std::vector<std::string> warnings;
};

/// Every file under each of `folders` with the file under `reference_folder` that has the same relative name without
/// extension. In the order of the folders, and of the names in each. Files of `except` are left out.
Result<FoundPairs> pair_folders(const std::string& reference_folder, const std::vector<std::string>& folders,
                                const std::vector<std::string>& except);

/// Every file that matches one of the patterns, against one reference, in the order of their names. Files of `except`
/// are left out.
Result<FoundPairs> pair_patterns(const std::string& reference, const std::vector<std::string>& patterns,
                                 const std::vector<std::string>& except);

/// All files under a folder whose names do not begin with a dot, as paths relative to it, sorted.
Result<std::vector<std::string>> files_under(const std::string& folder);

/// A relative path without its extension.
std::string without_extension(const std::string& path);

}  // namespace acuity::cli

#endif
