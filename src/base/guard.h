// SPDX-License-Identifier: BSD-2-Clause-Patent
// Nothing is thrown across the library's interface: every public function runs inside one of these.
#ifndef ACUITY_BASE_GUARD_H
#define ACUITY_BASE_GUARD_H

#include <exception>
#include <new>
#include <string>

#include "acuity/status.h"

namespace acuity {

/// What run() returns, which is an Outcome, or what it throws as a Status. Outcome is a Status or a Result.
template <typename Outcome, typename Run>
Outcome guarded(const Run& run) {
  try {
    return run();
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::out_of_memory, "out of memory while scoring");
  } catch (const std::exception& error) {
    return Status(StatusCode::internal, std::string("scoring failed: ") + error.what());
  }
}

/// What an object answers after it was moved from.
inline Status moved_from(const char* type) {
  return Status(StatusCode::usage, std::string("this ") + type + " was moved from; use the one it was moved to");
}

}  // namespace acuity

#endif
