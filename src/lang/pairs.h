// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pairs of 16-bit values on the CPU. Highway leaves it to the processor which lanes the operations named Reorder fill;
// this is the only file that uses them, and tests/lang/pairs_test.cc holds every target to what it says. Include it
// after <hwy/foreach_target.h>.
#if defined(ACUITY_LANG_PAIRS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ACUITY_LANG_PAIRS_H
#undef ACUITY_LANG_PAIRS_H
#else
#define ACUITY_LANG_PAIRS_H
#endif

#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace acuity {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using ShortTag = hn::ScalableTag<int16_t>;
using LongTag = hn::RepartitionToWide<ShortTag>;
using Short = hn::Vec<ShortTag>;
using Long = hn::Vec<LongTag>;

/// `start` and products of 16-bit values, those of a pair of neighbours added up in 32 bits, modulo 2^32. Until sum()
/// they lie as it suits the processor.
struct PairSums {
  Long first, second;
#if HWY_ARCH_X86
  // A pair goes to one lane of `first`, where its start may lie already.
  PairSums() = default;
  HWY_INLINE explicit PairSums(int32_t start) : first(hn::Set(LongTag(), start)), second(hn::Zero(LongTag())) {}
  HWY_INLINE Long sum() const { return hn::RearrangeToOddPlusEven(first, second); }
#else
  int32_t start;
  PairSums() = default;
  HWY_INLINE explicit PairSums(int32_t from) : first(hn::Zero(LongTag())), second(hn::Zero(LongTag())), start(from) {}
  HWY_INLINE Long sum() const { return hn::Add(hn::RearrangeToOddPlusEven(first, second), hn::Set(LongTag(), start)); }
#endif
  HWY_INLINE void add(Short a, Short b) { first = hn::ReorderWidenMulAccumulate(LongTag(), a, b, first, second); }
};

/// Each pair of neighbours of `a`, times that of `b`.
HWY_INLINE HWY_MAYBE_UNUSED Long multiply_pairs(Short a, Short b) {
  PairSums sums(0);
  sums.add(a, b);
  return sums.sum();
}

/// Puts what InterleaveLower and InterleaveUpper made pairs of back into its place, as far as 16 bits hold it.
HWY_INLINE HWY_MAYBE_UNUSED Short pack(Long lower, Long upper) {
#if HWY_ARCH_X86 || HWY_ARCH_ARM_A64
  return hn::ReorderDemote2To(ShortTag(), lower, upper);  // there by blocks of 128 bits, as those two work
#else
#error "not known in which order this processor packs"
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity
HWY_AFTER_NAMESPACE();

#endif
