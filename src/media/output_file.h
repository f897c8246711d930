// SPDX-License-Identifier: BSD-2-Clause-Patent
// A file of results. It appears whole under its name or not at all: it is written beside it and then renamed. What
// stood there before stays until then.
#ifndef ACUITY_MEDIA_OUTPUT_FILE_H
#define ACUITY_MEDIA_OUTPUT_FILE_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "acuity/status.h"

namespace acuity {

class OutputFile {
 public:
  /// Called before the work starts: the place must be writable, and must not be one of the inputs under any name or
  /// link ("-" is standard input). `option` is what messages call it: "--map". Links are followed, so that a link stays
  /// one. "-" is standard output; that, /dev/stdout, /dev/fd/N, devices and pipes are written as they are.
  static Result<OutputFile> check(std::string path, std::string_view option, std::span<const std::string> inputs);

  /// As given.
  const std::string& path() const { return path_; }

  Status write(std::span<const uint8_t> content) const;
  Status write(std::string_view text) const;

 private:
  std::string path_;
  std::string target_;   // behind all links
  int descriptor_ = -1;  // of this process, where the path names one
  bool special_ = false;
};

/// Whether two outputs are the same file, which need not exist.
bool same_place(const std::string& a, const std::string& b);

}  // namespace acuity

#endif
