// SPDX-License-Identifier: BSD-2-Clause-Patent
// Vectors of ADM in whole numbers: of 16, 32 and 64 bits. Include it after <hwy/foreach_target.h>; it is compiled once
// for each target.
#if defined(ACUITY_METRICS_ADM_LANES_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ACUITY_METRICS_ADM_LANES_H
#undef ACUITY_METRICS_ADM_LANES_H
#else
#define ACUITY_METRICS_ADM_LANES_H
#endif

#include <cstdint>

#include "lang/pairs.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::adm {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;

using UnsignedTag = hn::RebindToUnsigned<LongTag>;
using WideTag = hn::RepartitionToWide<UnsignedTag>;
using FloatTag = hn::RebindToFloat<LongTag>;
using HalfShortTag = hn::Half<ShortTag>;
using Unsigned = hn::Vec<UnsignedTag>;
using Wide = hn::Vec<WideTag>;
using Float = hn::Vec<FloatTag>;

constexpr int kShorts = static_cast<int>(HWY_LANES(int16_t));
constexpr int kLongs = kShorts / 2;

HWY_INLINE HWY_MAYBE_UNUSED Unsigned to_unsigned(Long v) { return hn::BitCast(UnsignedTag(), v); }
HWY_INLINE HWY_MAYBE_UNUSED Long to_signed(Unsigned v) { return hn::BitCast(LongTag(), v); }
HWY_INLINE HWY_MAYBE_UNUSED Wide to_wide(Unsigned v) { return hn::BitCast(WideTag(), v); }
HWY_INLINE HWY_MAYBE_UNUSED Unsigned odd_lanes(Unsigned v) {
  return hn::BitCast(UnsignedTag(), hn::ShiftRight<32>(to_wide(v)));
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::adm
HWY_AFTER_NAMESPACE();

#endif
