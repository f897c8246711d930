// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/output_file.h"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/try.h"

namespace acuity {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as many as the kernel follows

Status cannot_write(const std::string& path, std::string_view reason) {
  return Status(StatusCode::internal, fmt::format("cannot write '{}': {}", path, reason));
}

Status cannot_write(const std::string& path, int error) { return cannot_write(path, std::strerror(error)); }

// "/dev/stdout" and the like are links to files where the shell redirected them. Opening those anew would begin at
// their start, or put another file in the place of the one that the shell has open.
std::optional<int> descriptor_of(const std::string& path) {
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int number = -1;
    const char* end = path.data() + path.size();
    const auto [stop, error] = std::from_chars(path.data() + folder.size(), end, number);
    if (error == std::errc() && stop == end && number >= 0) return number;
  }
  return {};
}

Result<std::string> behind_links(const std::string& path) {
  fs::path place = path;
  std::error_code error;
  for (int links = 0; fs::is_symlink(place, error); ++links) {
    if (descriptor_of(place.string())) break;
    if (links == kMostLinks) return cannot_write(path, ELOOP);
    const fs::path target = fs::read_symlink(place, error);
    if (error) return cannot_write(path, error.value());
    place = place.parent_path() / target;  // an absolute target takes the place of both
  }
  return place.string();
}

// The name under which a file is written: short, so that it fits wherever the final name does.
std::string name_beside(const std::string& target) {
  static std::atomic<int> count = 0;
  return (fs::path(target).parent_path() / fmt::format(".acuity-{}-{}.part", getpid(), ++count)).string();
}

int open_beside(const std::string& part) { return open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); }

bool write_all(int file, std::span<const uint8_t> content) {
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    content = content.subspan(static_cast<size_t>(written));
  }
  return true;
}

Status check_new_place(const std::string& path, const std::string& target) {
  const std::string part = name_beside(target);
  const int file = open_beside(part);
  if (file < 0) {
    const fs::path parent = fs::path(target).parent_path();
    const std::string folder = parent.empty() ? "." : parent.string();
    const int reason = errno;
    std::error_code unknown;
    if (reason == ENOENT && !fs::exists(folder, unknown)) {
      return cannot_write(path, fmt::format("there is no folder '{}'; create it first", folder));
    }
    return cannot_write(path,
                        fmt::format("cannot create a file in the folder '{}' ({})", folder, std::strerror(reason)));
  }
  close(file);
  unlink(part.c_str());
  return {};
}

Status write_special(const std::string& path, int descriptor, std::span<const uint8_t> content) {
  const int file = descriptor >= 0 ? fcntl(descriptor, F_DUPFD_CLOEXEC, 0) : open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return cannot_write(path, errno);
  int error = write_all(file, content) ? 0 : errno;
  if (close(file) != 0 && error == 0) error = errno;
  return error == 0 ? Status() : cannot_write(path, error);
}

}  // namespace

Result<OutputFile> OutputFile::check(std::string path, std::string_view option, std::span<const std::string> inputs) {
  OutputFile output;
  output.path_ = std::move(path);
  if (output.path_.empty()) return Status(StatusCode::usage, fmt::format("{} is empty; name a file", option));
  ACUITY_TRY_ASSIGN(output.target_, behind_links(output.path_));
  const std::string& target = output.target_;
  struct stat found{};
  const bool exists = (target == "-" ? fstat(STDOUT_FILENO, &found) : stat(target.c_str(), &found)) == 0;
  if (!exists && errno != ENOENT) return cannot_write(output.path_, errno);
  if (exists && S_ISDIR(found.st_mode)) return cannot_write(output.path_, "it is a folder; name a file");
  for (const std::string& input : inputs) {
    struct stat other{};
    const bool known = input == "-" ? fstat(STDIN_FILENO, &other) == 0 : stat(input.c_str(), &other) == 0;
    if (exists && S_ISREG(found.st_mode) && known && other.st_dev == found.st_dev && other.st_ino == found.st_ino) {
      return Status(StatusCode::usage, fmt::format("{} {} would overwrite the input {}; name another file", option,
                                                   output.path_, input == "-" ? "on standard input" : input));
    }
  }
  if (const std::optional<int> descriptor = descriptor_of(target)) {
    const int mode = fcntl(*descriptor, F_GETFL);
    if (mode < 0 || (mode & O_ACCMODE) == O_RDONLY) return cannot_write(output.path_, EBADF);
    output.descriptor_ = *descriptor;
    output.special_ = true;
    return output;
  }
  if (exists && access(target.c_str(), W_OK) != 0) return cannot_write(output.path_, errno);
  output.special_ = exists && !S_ISREG(found.st_mode);
  if (!output.special_) ACUITY_TRY(check_new_place(output.path_, target));
  return output;
}

Status OutputFile::write(std::span<const uint8_t> content) const {
  if (special_) return write_special(target_, descriptor_, content);
  const std::string part = name_beside(target_);
  const int file = open_beside(part);
  if (file < 0) return cannot_write(path_, errno);
  struct stat before{};
  if (stat(target_.c_str(), &before) == 0) fchmod(file, before.st_mode & 0777);
  int error = write_all(file, content) ? 0 : errno;
  // Some file systems tell only here that the disk is full. What cannot be synchronised at all is not an error.
  if (error == 0 && fsync(file) != 0 && errno != EINVAL) error = errno;
  if (close(file) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(part.c_str(), target_.c_str()) != 0) error = errno;
  if (error == 0) return {};
  unlink(part.c_str());
  return cannot_write(path_, error);
}

Status OutputFile::write(std::string_view text) const {
  return write(std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

bool same_place(const std::string& a, const std::string& b) {
  std::error_code error;
  if (fs::equivalent(a, b, error)) return true;
  const fs::path first = fs::weakly_canonical(a, error);
  return !error && first == fs::weakly_canonical(b, error) && !error;
}

}  // namespace acuity
