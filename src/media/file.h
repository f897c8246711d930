// SPDX-License-Identifier: BSD-2-Clause-Patent
// Files and pipes as bytes.
#ifndef ACUITY_MEDIA_FILE_H
#define ACUITY_MEDIA_FILE_H

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acuity/status.h"
#include "base/threads.h"

namespace acuity {

struct CloseFile {
  void operator()(std::FILE* file) const;
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// What messages call a path.
std::string name_of_file(const std::string& path);

/// Opens a file for reading, or standard input where the path is "-"; an error for what cannot be read and for folders.
Result<File> open_file(const std::string& path);

/// Before any file is opened: whoever waits for a pipe to send something gets an error once this says so. A thread that
/// waits in the system for a pipe that nobody closes could not be ended.
void call_off_reading_when(bool (*is_called_off)());

/// What a stream begins with, enough to tell any format. It is then read again.
std::vector<uint8_t> peek(std::FILE* file);

/// Of a regular file; 0 for pipes and the like.
int64_t size_of(std::FILE* file);

/// Bytes of a regular file from some place on, fewer where it ends. May be called by several threads.
Result<size_t> read_from(std::FILE* file, std::string_view name, int64_t from, std::span<uint8_t> to);

/// How many threads shall read frames of a stream that have so many bytes.
int frame_readers(size_t bytes);

/// Threads that copy a file from the system's cache, which one alone does at a fraction of the memory's speed.
Threads reading_threads();

/// Bytes from here on, by several threads where there are many, and goes on behind them. How many there were; an error
/// where reading failed. Nothing where the file is a pipe or the like: read it in order.
Result<std::optional<size_t>> read_at_once(std::FILE* file, std::string_view name, std::span<uint8_t> to,
                                           const Threads& threads);

/// A whole file.
struct FileBytes {
  std::span<const uint8_t> bytes;
  std::shared_ptr<std::byte[]> memory;  ///< that they are in
};

/// Everything up to the end. Pipes do not tell their size, so the limit is held against what comes. What follows the
/// first `header_bytes` is aligned to pages.
Result<FileBytes> read_bytes(std::FILE* file, std::string_view name, int64_t limit, size_t header_bytes = 0);

}  // namespace acuity

#endif
