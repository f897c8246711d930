// SPDX-License-Identifier: BSD-2-Clause-Patent
// How every call reports failure. No exception crosses the API; nothing is printed; nothing aborts.
#ifndef ACUITY_STATUS_H
#define ACUITY_STATUS_H

#include <string>
#include <utility>
#include <variant>

namespace acuity {

enum class StatusCode {
  ok,
  usage,           ///< the caller asked for something that does not exist or contradicts itself
  input,           ///< a picture is missing, damaged, not finite, or does not match its partner
  too_big,         ///< more pixels or memory than a limit or a device allows; the message has both numbers
  out_of_memory,   ///< the host's memory ran out
  device_memory,   ///< the device's memory ran out: try again later, smaller, or on another device
  device_lost,     ///< the device stopped answering; open it again, or use another
  unknown_device,  ///< this machine has no device of that name, or this build cannot use it
  device,          ///< the device's driver failed, or the device cannot do what was asked
  cancelled,       ///< the caller cancelled it before the result was there
  internal,        ///< a defect in this library
};

/// A code and one sentence that names what was found, what was expected and what to do.
class [[nodiscard]] Status {
 public:
  Status() = default;  ///< ok
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::ok; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  StatusCode code_ = StatusCode::ok;
  std::string message_;
};

/// Either a value, or the Status that explains why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : content_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Result(Status status) : content_(std::move(status)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return std::holds_alternative<T>(content_); }
  /// Why there is no value; ok if there is one.
  Status status() const { return ok() ? Status() : std::get<Status>(content_); }

  // Only when ok().
  T& value() & { return *std::get_if<T>(&content_); }
  const T& value() const& { return *std::get_if<T>(&content_); }
  T&& value() && { return std::move(*std::get_if<T>(&content_)); }
  T* operator->() { return std::get_if<T>(&content_); }
  const T* operator->() const { return std::get_if<T>(&content_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }

 private:
  std::variant<Status, T> content_;
};

}  // namespace acuity

#endif
