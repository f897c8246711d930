// SPDX-License-Identifier: BSD-2-Clause-Patent
// Difference maps: what is seen in each subband, put together again as the scales of a picture.
#include <algorithm>

#include "base/powers.h"
#include "metrics/cvvdp/cpu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/cvvdp/cpu_map.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::cvvdp {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

#include "lang/exact.h"
#include "metrics/cvvdp/math.h"

void AddAcross(const float* next, float factor, int half, float* heat) {
  const RealTag d;
  for (int x = 0; x < half; x += kLanes) {
    const real here = load(next + x), after = load_unaligned(next + x + 1);
    real even, odd;
    hn::LoadInterleaved2(d, heat + 2 * x, even.v, odd.v);
    even = fma(even, real(factor), expand_even(load_unaligned(next + x - 1), here, after));
    odd = fma(odd, real(factor), expand_odd(here, after));
    hn::StoreInterleaved2(even.v, odd.v, d, heat + 2 * x);
  }
}

void FinishRow(const float* heat, float scale, float exponent, float slope, int width, float* map) {
  for (int x = 0; x < width; x += kLanes) {
    const real seen = load(heat + x);
    const real value = select(seen > real(0.1f), real(scale) * power(seen, real(exponent)), real(slope) * seen);
    alignas(64) float values[kLanes];
    store(value, values);
    std::copy_n(values, std::min(kLanes, width - x), map + x);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::cvvdp
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::cvvdp {

HWY_EXPORT(AddAcross);
HWY_EXPORT(FinishRow);

size_t add_scratch_floats(int width) { return row_floats((width + 1) / 2); }

void add_next_scale(const Plane& next, float factor, const Plane& heat, float* scratch) {
  float* row = scratch + kBefore;
  for (int y = 0; y < heat.size.height; ++y) {
    expand_columns(next, y, row);
    HWY_DYNAMIC_DISPATCH(AddAcross)(row, factor, next.size.width, heat.row(y));
  }
}

void finish_map_row(const float* heat, int width, float* map) {
  static const float slope = static_cast<float>(kJodScale * exact_power(0.1, kJodPower - 1) / 10);
  HWY_DYNAMIC_DISPATCH(FinishRow)
  (heat, static_cast<float>(kJodScale / 10), static_cast<float>(kJodPower), slope, width, map);
}

}  // namespace acuity::cvvdp
#endif
