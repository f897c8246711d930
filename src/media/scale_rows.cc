// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/scale_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "media/scale_rows.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::scaling {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

void across(const float* row, const int* first, const float* weights, int taps, size_t count, float* to) {
  const hn::CappedTag<float, 4> pixel;
  for (size_t x = 0; x < count; ++x, weights += taps) {
    const float* from = row + 4 * static_cast<ptrdiff_t>(first[x]);
    auto sum = hn::Mul(hn::LoadU(pixel, from), hn::Set(pixel, weights[0]));
    for (int i = 1; i < taps; ++i) {
      sum = hn::Add(sum, hn::Mul(hn::LoadU(pixel, from + 4 * i), hn::Set(pixel, weights[i])));
    }
    hn::StoreU(sum, pixel, to + 4 * x);
  }
}

// The rows have room for whole vectors.
void add(const float* row, float weight, bool is_first, size_t count, float* sum) {
  const real by(weight);
  for (size_t x = 0; x < count; x += kLanes) {
    const real value = load_unaligned(row + x) * by;
    store_unaligned(is_first ? value : load_unaligned(sum + x) + value, sum + x);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::scaling
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity {
namespace scaling {
namespace {
HWY_EXPORT(across);
HWY_EXPORT(add);

// Asked for here, because HWY_DYNAMIC_DISPATCH takes no qualified name where only one target is compiled.
auto* chosen_across() { return &HWY_DYNAMIC_DISPATCH(across); }
auto* chosen_add() { return &HWY_DYNAMIC_DISPATCH(add); }

}  // namespace
}  // namespace scaling

void scale_across(const float* row, const ScaleWeights& weights, float* to) {
  scaling::chosen_across()(row, weights.first.data(), weights.weights.data(), weights.taps, weights.first.size(), to);
}

void add_row(const float* row, float weight, bool is_first, size_t count, float* sum) {
  scaling::chosen_add()(row, weight, is_first, count, sum);
}

}  // namespace acuity
#endif
