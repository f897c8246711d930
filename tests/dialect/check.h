// SPDX-License-Identifier: BSD-2-Clause-Patent
// The checks of dialect_test. Each prints what is wrong, and counts.
#ifndef ACUITY_TESTS_DIALECT_CHECK_H
#define ACUITY_TESTS_DIALECT_CHECK_H

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "device/device.h"
#include "dialect/expected.h"

namespace acuity::tests {

class Tally {
 public:
  /// Answers to one operation for all pairs.
  void compare(const std::string& where, const Operation& operation, std::span<const uint64_t> pairs, int bits,
               const uint64_t* answers);
  /// Numbers of any kind.
  template <typename T>
  void compare(const std::string& what, const T& found, const T& expected) {
    ++comparisons_;
    if (found != expected) fail(what);
  }
  void expect_ok(const std::string& what, const Status& status) {
    ++comparisons_;
    if (!status.ok()) fail(what + ": " + status.message());
  }

  int comparisons() const { return comparisons_; }
  int failures() const { return failures_; }

 private:
  void fail(const std::string& message);

  int comparisons_ = 0;
  int failures_ = 0;
};

/// One value at a time, by lang/host.h; and the vectors of every target this processor has.
void check_host(Tally& tally);
void check_vectors(Tally& tally);
/// All kernels, and that a device which lacks something, as this one or in pretence, refuses those that need it.
void check_device(const std::shared_ptr<Device>& device, Tally& tally);

}  // namespace acuity::tests

#endif
