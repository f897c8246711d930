// SPDX-License-Identifier: BSD-2-Clause-Patent
// Loops whose counter is known when compiling, for code compiled once for each target. Include after lang/cpu.h.
#if defined(ACUITY_METRICS_VIF_UNROLL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ACUITY_METRICS_VIF_UNROLL_H
#undef ACUITY_METRICS_VIF_UNROLL_H
#else
#define ACUITY_METRICS_VIF_UNROLL_H
#endif

#include <type_traits>
#include <utility>

// For lambdas, which compilers would else make functions of, and call. Sanitizers would check each variable they refer
// to at each use, which takes compilers minutes.
#undef INLINED
#define INLINED HWY_ATTR __attribute__((always_inline, no_sanitize("undefined")))

HWY_BEFORE_NAMESPACE();
namespace acuity::vif {
namespace HWY_NAMESPACE {

template <int... kIndex, class Step>
HWY_INLINE void unroll(std::integer_sequence<int, kIndex...>, const Step& step) {
  (step(std::integral_constant<int, kIndex>()), ...);
}
/// step(0), step(1) .. step(kCount - 1).
template <int kCount, class Step>
HWY_INLINE void unroll(const Step& step) {
  unroll(std::make_integer_sequence<int, kCount>(), step);
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::vif
HWY_AFTER_NAMESPACE();

#endif
