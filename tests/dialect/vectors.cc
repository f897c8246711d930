// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "dialect/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dialect/vectors.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"
#include "lang/integers.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::tests {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

#include "dialect/operations.h"

template <class Answer>
HWY_INLINE void answer_all(const uint64_t* a, const uint64_t* b, size_t count, uint64_t* answers,
                           const Answer& answer) {
  for (size_t i = 0; i < count; i += kLanes) store(answer(load(a + i), load(b + i)), answers + i);
}

// The count is a multiple of 16, the largest number of lanes; everything is aligned.
void AnswerIntegers(int operation, const uint64_t* a, const uint64_t* b, size_t count, int bits, uint64_t* answers) {
  answer_all(a, b, count, answers, [&](natural64 x, natural64 y) { return integer_answer(operation, x, y, bits); });
}
void AnswerWides(int operation, const uint64_t* a, const uint64_t* b, size_t count, int, uint64_t* answers) {
  answer_all(a, b, count, answers, [&](natural64 x, natural64 y) { return wide_answer(operation, x, y); });
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::tests
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <hwy/aligned_allocator.h>

#include "lang/targets.h"

namespace acuity::tests {
namespace {

HWY_EXPORT(AnswerIntegers);
HWY_EXPORT(AnswerWides);

constexpr size_t kPairs = 1 << 16;

void check_operations(const std::string& where, std::span<const Operation> operations, bool wide, int bits,
                      const std::vector<uint64_t>& pairs, Tally& tally) {
  const auto a = hwy::AllocateAligned<uint64_t>(kPairs), b = hwy::AllocateAligned<uint64_t>(kPairs),
             answers = hwy::AllocateAligned<uint64_t>(kPairs);
  for (size_t i = 0; i < kPairs; ++i) {
    a[i] = pairs[2 * i];
    b[i] = pairs[2 * i + 1];
  }
  for (size_t n = 0; n < operations.size(); ++n) {
    const int operation = static_cast<int>(n);
    if (wide) {
      HWY_DYNAMIC_DISPATCH(AnswerWides)(operation, a.get(), b.get(), kPairs, bits, answers.get());
    } else {
      HWY_DYNAMIC_DISPATCH(AnswerIntegers)(operation, a.get(), b.get(), kPairs, bits, answers.get());
    }
    tally.compare(where, operations[n], pairs, bits, answers.get());
  }
}

}  // namespace

void check_vectors(Tally& tally) {
  for (const std::string& target : cpu_targets()) {
    tally.expect_ok(target, limit_cpu(target));
    for (const int bits : {0, 1, 12, 31}) {
      check_operations(target, shared_integer_operations(), false, bits, integer_pairs(kPairs), tally);
    }
    check_operations(target, shared_wide_operations(), true, 0, wide_pairs(kPairs), tally);
  }
  tally.expect_ok("all targets", limit_cpu(""));
}

}  // namespace acuity::tests
#endif
