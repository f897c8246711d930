// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/file.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace acuity {
namespace {

// A file can be looked into as far as formats with a late mark need it (transport streams); what is read of a pipe has
// to be put back.
constexpr size_t kPeekFile = 1 << 16;
constexpr size_t kPeekPipe = 1 << 12;

Status unreadable(std::string_view name, int error) {
  const std::string reason = error == ENOENT   ? "there is no such file"
                             : error == EISDIR ? "it is a directory"
                                               : std::generic_category().message(error);
  return Status(StatusCode::input,
                fmt::format("cannot read '{}': {}; give the path of a picture or video file", name, reason));
}

int64_t size_of(std::FILE* file) {
  struct stat facts{};
  return fstat(fileno(file), &facts) == 0 && S_ISREG(facts.st_mode) ? static_cast<int64_t>(facts.st_size) : 0;
}

}  // namespace

std::string name_of_file(const std::string& path) { return path == "-" ? "standard input" : path; }

Result<File> open_file(const std::string& path) {
  if (path == "-") return File(stdin);
  File file(std::fopen(path.c_str(), "rb"));
  if (!file) return unreadable(path, errno);
  struct stat facts{};
  if (fstat(fileno(file.get()), &facts) == 0 && S_ISDIR(facts.st_mode)) return unreadable(path, EISDIR);
  return file;
}

std::vector<uint8_t> peek(std::FILE* file) {
  // fseeko would forget what was put back. Memory opened as a file has no number, and can be rewound.
  const int number = fileno(file);
  const bool goes_back = number < 0 || lseek(number, 0, SEEK_CUR) >= 0;
  std::vector<uint8_t> bytes(goes_back ? kPeekFile : kPeekPipe);
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
  std::clearerr(file);
  if (goes_back && fseeko(file, -static_cast<off_t>(bytes.size()), SEEK_CUR) == 0) return bytes;
  // The C library takes back as many as there is memory for.
  for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte) std::ungetc(*byte, file);
  return bytes;
}

Result<std::vector<uint8_t>> read_bytes(std::FILE* file, std::string_view name, int64_t limit) {
  const auto too_many = [&] {
    return Status(StatusCode::too_big,
                  fmt::format("'{}' is larger than the limit of {} bytes for a file; raise it with --max-pixels, "
                              "or use a smaller file",
                              name, limit));
  };
  const int64_t size = size_of(file);
  if (size > limit) return too_many();
  std::vector<uint8_t> bytes;
  int64_t next = size > 0 ? size + 1 : int64_t{1} << 16;  // one more, to see the end
  for (;;) {
    const size_t have = bytes.size();
    bytes.resize(have + static_cast<size_t>(next));
    const size_t got = std::fread(bytes.data() + have, 1, static_cast<size_t>(next), file);
    const int error = errno;
    bytes.resize(have + got);
    if (std::ferror(file) != 0) return unreadable(name, error);
    const auto total = static_cast<int64_t>(bytes.size());
    if (total > limit) return too_many();
    if (got < static_cast<size_t>(next)) return bytes;
    next = std::min(total, limit - total + 1);
  }
}

}  // namespace acuity
