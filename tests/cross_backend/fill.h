// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a bench scores, drawn by all cores: a second of waiting for each is much where a machine is lent.
#ifndef ACUITY_TESTS_CROSS_BACKEND_FILL_H
#define ACUITY_TESTS_CROSS_BACKEND_FILL_H

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "base/threads.h"

namespace acuity::tests {

/// to[i] = value_at(i), which is from 0 to 255.
template <typename ValueAt>
void fill(std::byte* to, size_t count, const ValueAt& value_at) {
  constexpr size_t kTogether = 1 << 20;
  std::atomic<size_t> next = 0;
  Threads(0).run([&](int) {
    for (size_t begin = next.fetch_add(kTogether); begin < count; begin = next.fetch_add(kTogether)) {
      for (size_t i = begin; i < std::min(begin + kTogether, count); ++i) to[i] = static_cast<std::byte>(value_at(i));
    }
  });
}

}  // namespace acuity::tests

#endif
