// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sums over a plane as libvmaf's plain loops make them: each row from left to right in float, then the rows from the
// top down, in float too. Such a chain waits for each addition; rows do not wait for each other, so some are kept and
// added up side by side.
#ifndef ACUITY_FRAMES_ROW_SUMS_H
#define ACUITY_FRAMES_ROW_SUMS_H

#include <cstddef>
#include <cstring>
#include <span>

#include "base/memory.h"

namespace acuity {

class RowSums {
 public:
  /// Floats of scratch memory, aligned as an Arena's.
  static size_t scratch_floats(int width) { return kRows * stride(width); }

  RowSums(float* scratch, int width) : scratch_(scratch), width_(width) {}

  /// Where the next row goes; up to 15 floats more than its width may be written.
  float* row() const { return scratch_ + held_ * stride(width_); }
  /// That row is there.
  void add() {
    if (++held_ == kRows) add_held();
  }

  float total() {
    add_held();
    return total_;
  }

 private:
  static constexpr size_t kRows = 8;
  static size_t stride(int width) { return round_up(static_cast<size_t>(width), 16); }

  void add_held() {
    float sums[kRows] = {};
    if (held_ == kRows) {
      for (int x = 0; x < width_; ++x) {
        for (size_t i = 0; i < kRows; ++i) sums[i] += scratch_[i * stride(width_) + static_cast<size_t>(x)];
      }
    } else {
      for (size_t i = 0; i < held_; ++i) {
        for (int x = 0; x < width_; ++x) sums[i] += scratch_[i * stride(width_) + static_cast<size_t>(x)];
      }
    }
    for (size_t i = 0; i < held_; ++i) total_ += sums[i];
    held_ = 0;
  }

  float* scratch_;
  int width_;
  size_t held_ = 0;
  float total_ = 0;
};

/// What a plane comes to whose rows a device has summed: floats, from the top row on.
inline float total_of_rows(std::span<const std::byte> sums) {
  float total = 0;
  for (size_t at = 0; at + sizeof(float) <= sums.size(); at += sizeof(float)) {
    float row = 0;
    std::memcpy(&row, sums.data() + at, sizeof row);
    total += row;
  }
  return total;
}

}  // namespace acuity

#endif
