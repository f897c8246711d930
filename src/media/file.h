// SPDX-License-Identifier: BSD-2-Clause-Patent
// Files and pipes as bytes.
#ifndef ACUITY_MEDIA_FILE_H
#define ACUITY_MEDIA_FILE_H

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "acuity/status.h"

namespace acuity {

struct CloseFile {
  // Standard input is not ours to close.
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// What messages call a path.
std::string name_of_file(const std::string& path);

/// Opens a file for reading, or standard input where the path is "-"; an error for what cannot be read and for folders.
Result<File> open_file(const std::string& path);

/// What a stream begins with, enough to tell any format. It is then read again.
std::vector<uint8_t> peek(std::FILE* file);

/// Everything up to the end. Pipes do not tell their size, so the limit is held against what comes.
Result<std::vector<uint8_t>> read_bytes(std::FILE* file, std::string_view name, int64_t limit);

}  // namespace acuity

#endif
