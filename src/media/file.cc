// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/file.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <new>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/large_memory.h"
#include "base/try.h"

namespace acuity {
namespace {

// A file can be looked into as far as formats with a late mark need it (transport streams); what is read of a pipe has
// to be put back.
constexpr size_t kPeekFile = 1 << 16;
constexpr size_t kPeekPipe = 1 << 12;

constexpr size_t kPiece = size_t{1} << 20;  // that one of several threads reads
constexpr int kMostReaders = 8;             // more are no faster

constexpr int kWaitMs = 100;  // between looks at whether reading of pipes is called off

std::atomic<bool (*)()> called_off = nullptr;

Status unreadable(std::string_view name, int error) {
  if (error == ECANCELED) return Status(StatusCode::cancelled, fmt::format("'{}': reading was interrupted", name));
  const std::string reason = error == ENOENT   ? "there is no such file"
                             : error == EISDIR ? "it is a directory"
                                               : std::generic_category().message(error);
  return Status(StatusCode::input,
                fmt::format("cannot read '{}': {}; give the path of a picture or video file", name, reason));
}

// Fewer where the file ends or an error occurs, which is the second number.
std::pair<size_t, int> read_piece(std::FILE* file, int64_t from, std::span<uint8_t> to) {
  size_t have = 0;
  while (have < to.size()) {
    const ssize_t got = pread(fileno(file), to.data() + have, to.size() - have, from + static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {have, errno};
    if (got == 0) break;
    have += static_cast<size_t>(got);
  }
  return {have, 0};
}

int number_of(void* pipe) { return static_cast<int>(reinterpret_cast<intptr_t>(pipe)); }

// The functions of a pipe as a stream of the C library, which would wait for bytes for ever.
ssize_t read_pipe(void* pipe, char* to, size_t size) {
  const int number = number_of(pipe);
  for (;;) {
    pollfd waited{number, POLLIN, 0};
    while (poll(&waited, 1, kWaitMs) <= 0) {
      const auto is_called_off = called_off.load();
      if (is_called_off == nullptr || !is_called_off()) continue;
      errno = ECANCELED;
      return -1;
    }
    const ssize_t got = read(number, to, size);
    if (got >= 0 || (errno != EINTR && errno != EAGAIN)) return got;
  }
}

int close_pipe(void* pipe) {
  const int number = number_of(pipe);
  return number == STDIN_FILENO ? 0 : close(number);
}

std::FILE* open_pipe(int number) {
  void* const pipe = reinterpret_cast<void*>(static_cast<intptr_t>(number));
  return fopencookie(pipe, "rb", {.read = read_pipe, .write = nullptr, .seek = nullptr, .close = close_pipe});
}

bool may_keep_waiting(int number) {
  struct stat facts{};
  return fstat(number, &facts) == 0 && (S_ISFIFO(facts.st_mode) || S_ISSOCK(facts.st_mode) || S_ISCHR(facts.st_mode));
}

std::atomic<std::FILE*> standard_pipe = nullptr;

// One for all, because what was looked at is kept in it. A program that calls nothing off may read its own too.
std::FILE* standard_input() {
  static std::FILE* const file = [] {
    if (called_off.load() == nullptr || !may_keep_waiting(STDIN_FILENO)) return stdin;
    standard_pipe = open_pipe(STDIN_FILENO);
    return standard_pipe.load();
  }();
  return file;
}

}  // namespace

// Standard input is not ours to close.
void CloseFile::operator()(std::FILE* file) const {
  if (file != stdin && file != standard_pipe) std::fclose(file);
}

void call_off_reading_when(bool (*is_called_off)()) { called_off = is_called_off; }

int64_t size_of(std::FILE* file) {
  struct stat facts{};
  return fstat(fileno(file), &facts) == 0 && S_ISREG(facts.st_mode) ? static_cast<int64_t>(facts.st_size) : 0;
}

std::string name_of_file(const std::string& path) { return path == "-" ? "standard input" : path; }

Result<File> open_file(const std::string& path) {
  if (path == "-") {
    if (standard_input() == nullptr) throw std::bad_alloc();
    return File(standard_input());
  }
  // A named pipe is waited for when it is read, not here, where nothing could call it off.
  const int number = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (number < 0) return unreadable(path, errno);
  File file(may_keep_waiting(number) ? open_pipe(number) : fdopen(number, "rb"));
  struct stat facts{};
  const bool is_folder = fstat(number, &facts) == 0 && S_ISDIR(facts.st_mode);
  if (!file) close(number);
  if (is_folder) return unreadable(path, EISDIR);
  if (!file) return unreadable(path, errno);
  return file;
}

std::vector<uint8_t> peek(std::FILE* file) {
  const bool goes_back = ftello(file) >= 0;  // fseeko would forget what was put back
  std::vector<uint8_t> bytes(goes_back ? kPeekFile : kPeekPipe);
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
  std::clearerr(file);
  if (goes_back && fseeko(file, -static_cast<off_t>(bytes.size()), SEEK_CUR) == 0) return bytes;
  // The C library takes back as many as there is memory for.
  for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte) std::ungetc(*byte, file);
  return bytes;
}

Threads reading_threads() { return Threads(std::min(Threads(0).count(), kMostReaders)); }

int frame_readers(size_t bytes) {
  // There are two streams, and smaller frames cost less than to wake a thread.
  return bytes < kPiece ? 1 : std::clamp(Threads(0).count() / 2, 1, kMostReaders);
}

Result<size_t> read_from(std::FILE* file, std::string_view name, int64_t from, std::span<uint8_t> to) {
  const auto [got, error] = read_piece(file, from, to);
  if (error != 0) return unreadable(name, error);
  return got;
}

Result<std::optional<size_t>> read_at_once(std::FILE* file, std::string_view name, std::span<uint8_t> to,
                                           const Threads& threads) {
  if (size_of(file) == 0) return std::optional<size_t>();
  const off_t begin = ftello(file);
  if (begin < 0) return std::optional<size_t>();
  std::atomic<size_t> next = 0, end = to.size();
  std::atomic<int> error = 0;
  const auto read = [&](int) {
    for (size_t at = next.fetch_add(kPiece); at < end; at = next.fetch_add(kPiece)) {
      const size_t bytes = std::min(kPiece, to.size() - at);
      const auto [got, its_error] = read_piece(file, begin + static_cast<off_t>(at), to.subspan(at, bytes));
      if (its_error != 0) error = its_error;
      if (got == bytes) continue;
      // The file ends here, for some of the threads at least.
      for (size_t known = end; at + got < known && !end.compare_exchange_weak(known, at + got);) {
      }
    }
  };
  if (to.size() > kPiece) {
    threads.run(read);
  } else {
    read(0);
  }
  if (error != 0) return unreadable(name, error);
  if (fseeko(file, begin + static_cast<off_t>(end), SEEK_SET) != 0) return unreadable(name, errno);
  return std::optional<size_t>(end);
}

Result<FileBytes> read_bytes(std::FILE* file, std::string_view name, int64_t limit, size_t header_bytes) {
  constexpr size_t kPage = 4096;
  const auto too_many = [&] {
    return Status(StatusCode::too_big,
                  fmt::format("'{}' is larger than the limit of {} bytes for a file; raise it with --max-pixels, "
                              "or use a smaller file",
                              name, limit));
  };
  const int64_t size = size_of(file);
  if (size > limit) return too_many();
  const size_t before = (kPage - header_bytes % kPage) % kPage;
  FileBytes read;
  size_t room = size > 0 ? static_cast<size_t>(size) + 1 : size_t{1} << 16;  // one more, to see the end
  size_t have = 0;
  for (;;) {
    std::shared_ptr<std::byte[]> memory(allocate_large(before + room), free_large);
    if (!memory) throw std::bad_alloc();
    auto* bytes = reinterpret_cast<uint8_t*>(memory.get()) + before;
    std::copy(read.bytes.begin(), read.bytes.end(), bytes);
    read = {{bytes, have}, std::move(memory)};
    const std::span<uint8_t> rest(bytes + have, room - have);
    std::optional<size_t> got;
    ACUITY_TRY_ASSIGN(got, read_at_once(file, name, rest, reading_threads()));
    if (!got) {
      got = std::fread(rest.data(), 1, rest.size(), file);
      if (std::ferror(file) != 0) return unreadable(name, errno);
    }
    have += *got;
    read.bytes = {bytes, have};
    if (static_cast<int64_t>(have) > limit) return too_many();
    if (*got < rest.size()) return read;
    room = have + static_cast<size_t>(std::min(static_cast<int64_t>(have), limit - static_cast<int64_t>(have) + 1));
  }
}

}  // namespace acuity
