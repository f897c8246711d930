// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "colour/yuv_rows.h"

#include <algorithm>

#include "base/memory.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "colour/yuv_rows.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::yuv {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

// Samples from there on, of which `count` may be read; the others are zero.
template <typename Sample>
HWY_INLINE real load_samples(const Sample* from, int count) {
  const hn::Rebind<Sample, WholeTag> d;
  if (HWY_LIKELY(count >= kLanes)) return to_real(whole(hn::PromoteTo(WholeTag(), hn::LoadU(d, from))));
  alignas(64) Sample some[kLanes] = {};
  std::copy(from, from + count, some);
  return to_real(whole(hn::PromoteTo(WholeTag(), hn::Load(d, some))));
}

HWY_INLINE void store_some(real value, float* to, int count) {
  if (HWY_LIKELY(count >= kLanes)) return store_unaligned(value, to);
  alignas(64) float some[kLanes];
  store(value, some);
  std::copy(some, some + count, to);
}

// A row of a colour plane at every pixel, times sixteen. All numbers are whole and below 2^24: floats hold them
// exactly. `column` has room for a float before it.
template <typename Sample>
HWY_INLINE void interpolate(const YuvRow<Sample>& row, const ChromaRows<Sample>& rows, const YuvEquations& equations,
                            float* column, float* out) {
  const real least = equations.chroma_least, largest = equations.chroma_most;
  const int count = row.chroma_width;
  const bool all = row.across == ChromaPlacement::all;
  const float most = all ? 4.0f : 1.0f;
  const real above = most * static_cast<float>(4 - row.below_quarters);
  const real below = most * static_cast<float>(row.below_quarters);
  float* down = all ? out : column;
  for (int x = 0; x < count; x += kLanes) {
    const auto sample = [&](const Sample* from) { return min(max(load_samples(from + x, count - x), least), largest); };
    real value = sample(rows.above) * above;
    if (row.below_quarters != 0) value += sample(rows.below) * below;
    store_unaligned(value, down + x);
  }
  if (all) return;
  column[-1] = column[0];
  column[count] = column[count - 1];
  const bool cosited = row.across == ChromaPlacement::cosited;
  const real even_near = cosited ? 4.0f : 3.0f, even_before = cosited ? 0.0f : 1.0f;
  const real odd_near = cosited ? 2.0f : 3.0f, odd_after = cosited ? 2.0f : 1.0f;
  for (int x = 0; x < count; x += kLanes) {
    const real near = load_unaligned(column + x);
    const real even = near * even_near + load_unaligned(column + x - 1) * even_before;
    const real odd = near * odd_near + load_unaligned(column + x + 1) * odd_after;
    hn::StoreInterleaved2(even.v, odd.v, RealTag(), out + 2 * x);
  }
}

template <typename Sample>
HWY_INLINE void convert(const YuvRow<Sample>& row, const YuvEquations& equations, float* scratch, float* red,
                        float* green, float* blue) {
  const real black = equations.luma_black, luma_scale = equations.luma_scale;
  const real luma_least = equations.luma_least, luma_most = equations.luma_most;
  const auto luma_at = [&](int x) {
    return (min(max(load_samples(row.luma + x, row.width - x), luma_least), luma_most) - black) * luma_scale;
  };
  const real least = equations.least, most = equations.most;
  const auto clipped = [&](real value) { return min(max(value, least), most); };
  if (row.cb.above == nullptr) {
    for (int x = 0; x < row.width; x += kLanes) store_some(clipped(luma_at(x)), red + x, row.width - x);
    return;
  }
  const size_t part = yuv_row_scratch(row.width) / 3;
  float* cb_row = scratch;
  float* cr_row = scratch + part;
  float* column = scratch + 2 * part + kLanes;
  interpolate(row, row.cb, equations, column, cb_row);
  interpolate(row, row.cr, equations, column, cr_row);
  const real zero = equations.chroma_zero, chroma_scale = equations.chroma_scale;
  const real red_cr = equations.red_cr, green_cb = equations.green_cb;
  const real green_cr = equations.green_cr, blue_cb = equations.blue_cb, share = equations.luma_share;
  for (int x = 0; x < row.width; x += kLanes) {
    const real y = luma_at(x);
    const real cb = (load_unaligned(cb_row + x) - zero) * chroma_scale;
    const real cr = (load_unaligned(cr_row + x) - zero) * chroma_scale;
    const real base = share * y;
    store_some(clipped(base + red_cr * cr), red + x, row.width - x);
    store_some(clipped(y - green_cb * cb - green_cr * cr), green + x, row.width - x);
    store_some(clipped(base + blue_cb * cb), blue + x, row.width - x);
  }
}

void convert_bytes(const YuvRow<uint8_t>& row, const YuvEquations& equations, float* scratch, float* red, float* green,
                   float* blue) {
  convert(row, equations, scratch, red, green, blue);
}

void convert_words(const YuvRow<uint16_t>& row, const YuvEquations& equations, float* scratch, float* red, float* green,
                   float* blue) {
  convert(row, equations, scratch, red, green, blue);
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::yuv
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity {
namespace yuv {
namespace {
HWY_EXPORT(convert_bytes);
HWY_EXPORT(convert_words);

// Asked for here, because HWY_DYNAMIC_DISPATCH takes no qualified name where only one target is compiled.
auto* byte_converter() { return &HWY_DYNAMIC_DISPATCH(convert_bytes); }
auto* word_converter() { return &HWY_DYNAMIC_DISPATCH(convert_words); }

}  // namespace
}  // namespace yuv

size_t yuv_row_scratch(int width) {
  constexpr size_t kVector = 16;  // floats in the widest one
  // Three rows; of those with half the samples, each vector becomes two, and there is one more at either end.
  return 3 * (round_up(static_cast<size_t>(width), 2 * kVector) + 2 * kVector);
}

void convert_yuv_row(const YuvRow<uint8_t>& row, const YuvEquations& equations, float* scratch, float* red,
                     float* green, float* blue) {
  yuv::byte_converter()(row, equations, scratch, red, green, blue);
}

void convert_yuv_row(const YuvRow<uint16_t>& row, const YuvEquations& equations, float* scratch, float* red,
                     float* green, float* blue) {
  yuv::word_converter()(row, equations, scratch, red, green, blue);
}

}  // namespace acuity
#endif
