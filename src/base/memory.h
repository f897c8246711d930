// SPDX-License-Identifier: BSD-2-Clause-Patent
// Aligned memory. An Arena is one allocation, sized up front, from which aligned arrays are cut; it makes the peak
// memory of a metric one number that can be stated and tested.
#ifndef ACUITY_BASE_MEMORY_H
#define ACUITY_BASE_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "acuity/status.h"

namespace acuity {

inline constexpr size_t kAlignment = 64;  // a cache line, and the widest vector

constexpr size_t round_up(size_t value, size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

struct AlignedFree {
  void operator()(std::byte* memory) const;
};

class Arena {
 public:
  Arena() = default;
  /// Memory for `bytes`; its content is unspecified.
  static Result<Arena> create(size_t bytes);

  /// The next `count` elements, aligned; null when the arena was sized too small.
  template <typename T>
  T* take(size_t count) {
    return reinterpret_cast<T*>(take_bytes(count * sizeof(T)));
  }
  size_t size() const { return size_; }

  /// What take<T>(count) uses of an arena.
  template <typename T>
  static constexpr size_t cost(size_t count) {
    return round_up(count * sizeof(T), kAlignment);
  }

 private:
  std::byte* take_bytes(size_t bytes);

  std::unique_ptr<std::byte, AlignedFree> memory_;
  size_t size_ = 0;
  size_t used_ = 0;
};

}  // namespace acuity

#endif
