// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/vulkan/validation.h"

#include <mutex>

namespace acuity {
namespace {

struct Log {
  std::mutex mutex;
  Status first;
};

Log& log() {
  static Log one;
  return one;
}

}  // namespace

void report_vulkan_validation(std::string_view message) {
  const std::lock_guard lock(log().mutex);
  if (log().first.ok()) {
    log().first = Status(StatusCode::device, "vulkan: the validation layer found: " + std::string(message));
  }
}

Status vulkan_validation() {
  const std::lock_guard lock(log().mutex);
  return log().first;
}

}  // namespace acuity
