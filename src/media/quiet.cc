// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/quiet.h"

#include <cstdio>
#include <mutex>

namespace acuity {

#ifdef __GLIBC__
namespace {

std::mutex mutex;
int count = 0;
std::FILE* kept = nullptr;

// Never closed: another thread may still hold it.
std::FILE* nowhere() {
  static std::FILE* const sink = fopencookie(
      nullptr, "w",
      {nullptr, [](void*, const char*, size_t size) { return static_cast<ssize_t>(size); }, nullptr, nullptr});
  return sink;
}

}  // namespace

QuietStderr::QuietStderr() {
  const std::lock_guard lock(mutex);
  if (count++ > 0) return;
  kept = stderr;
  if (nowhere() != nullptr) stderr = nowhere();
}

QuietStderr::~QuietStderr() {
  const std::lock_guard lock(mutex);
  if (--count == 0) stderr = kept;
}
#else
QuietStderr::QuietStderr() = default;
QuietStderr::~QuietStderr() = default;
#endif

}  // namespace acuity
