// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/byte_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

namespace acuity::cli {
namespace {

constexpr size_t kBlock = size_t{1} << 16;
constexpr int kWaitMs = 100;

}  // namespace

// Until there is something to read.
bool ByteReader::wait() {
  pollfd waited{descriptor_, POLLIN, 0};
  while (waiting_ && poll(&waited, 1, kWaitMs) <= 0) {
    if (waiting_()) continue;
    status_ = Status(StatusCode::cancelled, fmt::format("{}: reading was interrupted", name_));
    return false;
  }
  return true;
}

// Keeps what was not read yet.
bool ByteReader::fill() {
  if (descriptor_ < 0 || !status_.ok() || !wait()) return false;
  block_.erase(0, place_);
  place_ = 0;
  const size_t kept = block_.size();
  block_.resize(kept + kBlock);
  ssize_t count = 0;
  do {
    count = read(descriptor_, block_.data() + kept, kBlock);
  } while (count < 0 && errno == EINTR);
  if (count < 0) {
    status_ = Status(StatusCode::input, fmt::format("{}: reading failed: {}", name_, std::strerror(errno)));
  }
  block_.resize(kept + static_cast<size_t>(count > 0 ? count : 0));
  return count > 0;
}

std::string_view ByteReader::look(size_t count) {
  while (block_.size() - place_ < count && fill()) {
  }
  return std::string_view(block_).substr(place_, count);
}

std::string_view ByteReader::look_at_line(size_t most) {
  size_t end = 0;
  while ((end = block_.find('\n', place_)) == std::string::npos && block_.size() - place_ < most && fill()) {
  }
  return std::string_view(block_).substr(place_, std::min(most, end == std::string::npos ? most : end - place_));
}

}  // namespace acuity::cli
