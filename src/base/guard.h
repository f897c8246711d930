// SPDX-License-Identifier: BSD-2-Clause-Patent
// Nothing is thrown across the library's interface: every public function runs inside one of these.
#ifndef ACUITY_BASE_GUARD_H
#define ACUITY_BASE_GUARD_H

#include <exception>
#include <initializer_list>
#include <new>
#include <string>
#include <utility>

#include "acuity/status.h"

namespace acuity {

/// A status with these texts as its message, or without a message if there is no memory even for that.
inline Status status_of_texts(StatusCode code, std::initializer_list<const char*> texts) noexcept {
  std::string message;
  try {
    for (const char* text : texts) message += text;
  } catch (const std::bad_alloc&) {
    message.clear();
  }
  return Status(code, std::move(message));
}

/// What run() returns, which is an Outcome, or what it throws as a Status. Outcome is a Status or a Result. `doing` is
/// for the message.
template <typename Outcome, typename Run>
Outcome guarded(const Run& run, const char* doing = "scoring") {
  try {
    return run();
  } catch (const std::bad_alloc&) {
    return status_of_texts(StatusCode::out_of_memory, {"out of memory while ", doing});
  } catch (const std::exception& error) {
    return status_of_texts(StatusCode::internal, {doing, " failed: ", error.what()});
  }
}

/// For functions that return no Status: what run() returns, or nothing if memory runs out.
template <typename Value, typename Run>
Value nothing_if_out_of_memory(const Run& run) {
  try {
    return run();
  } catch (const std::bad_alloc&) {
    return Value();
  }
}

/// What an object answers after it was moved from.
inline Status moved_from(const char* type) noexcept {
  return status_of_texts(StatusCode::usage, {"this ", type, " was moved from; use the one it was moved to"});
}

}  // namespace acuity

#endif
