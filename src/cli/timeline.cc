// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/timeline.h"

#include <chrono>

namespace acuity::cli {
namespace {

const std::chrono::steady_clock::time_point kBegin = std::chrono::steady_clock::now();

}  // namespace

double now_ms() { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - kBegin).count(); }

}  // namespace acuity::cli
