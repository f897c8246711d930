// SPDX-License-Identifier: BSD-2-Clause-Patent
// What each operation of operations.h and kernels.h must answer, by plain C++.
#ifndef ACUITY_TESTS_DIALECT_EXPECTED_H
#define ACUITY_TESTS_DIALECT_EXPECTED_H

#include <cstdint>
#include <span>
#include <vector>

namespace acuity::tests {

/// Two numbers of 64 bits and what is shifted by: from 0 to 31.
struct Question {
  uint64_t a, b;
  int bits;
};

struct Operation {
  const char* name;
  uint64_t (*expected)(const Question&);
  bool (*defined)(const Question&) = [](const Question&) { return true; };  // otherwise any answer is right
};

/// Those that the CPU's vectors have.
std::span<const Operation> shared_integer_operations();
std::span<const Operation> shared_wide_operations();
/// Those that only kernels have.
std::span<const Operation> kernel_integer_operations();
std::span<const Operation> kernel_wide_operations();

/// Pairs (a, b), some chosen, the rest random; as doubles, mostly numbers whose size is alike. As many as are asked
/// for.
std::vector<uint64_t> integer_pairs(size_t count);
std::vector<uint64_t> wide_pairs(size_t count);

}  // namespace acuity::tests

#endif
