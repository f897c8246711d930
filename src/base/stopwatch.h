// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_BASE_STOPWATCH_H
#define ACUITY_BASE_STOPWATCH_H

#include <chrono>

namespace acuity {

/// Runs from the moment it is made.
class Stopwatch {
 public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace acuity

#endif
