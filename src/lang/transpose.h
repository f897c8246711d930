// SPDX-License-Identifier: BSD-2-Clause-Patent
// Between rows and columns on the CPU: a filter along rows works on as many rows at once as there are lanes, so it
// wants vectors that hold one column of those rows. Include after lang/cpu.h.
#if defined(ACUITY_LANG_TRANSPOSE_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ACUITY_LANG_TRANSPOSE_H
#undef ACUITY_LANG_TRANSPOSE_H
#else
#define ACUITY_LANG_TRANSPOSE_H
#endif

HWY_BEFORE_NAMESPACE();
namespace acuity {
namespace HWY_NAMESPACE {

// Four neighbouring floats of the rows 0, 4, 8, ..: one 128-bit block a row.
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const float* from, size_t stride) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_blocks(half, from + hn::Lanes(half) * stride, stride), load_blocks(half, from, stride));
  }
}

template <class D>
HWY_INLINE void store_blocks(D d, hn::Vec<D> value, float* to, size_t stride) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    hn::StoreU(value, d, to);
  } else {
    const hn::Half<D> half;
    store_blocks(half, hn::LowerHalf(half, value), to, stride);
    store_blocks(half, hn::UpperHalf(half, value), to + hn::Lanes(half) * stride, stride);
  }
}

// Transposes each 4 x 4 block of four vectors.
HWY_INLINE void transpose_blocks(RealVector& a, RealVector& b, RealVector& c, RealVector& d) {
  const RealTag tag;
  const hn::RepartitionToWide<RealTag> wide;
  const auto ab_low = hn::BitCast(wide, hn::InterleaveLower(tag, a, b));
  const auto cd_low = hn::BitCast(wide, hn::InterleaveLower(tag, c, d));
  const auto ab_high = hn::BitCast(wide, hn::InterleaveUpper(tag, a, b));
  const auto cd_high = hn::BitCast(wide, hn::InterleaveUpper(tag, c, d));
  a = hn::BitCast(tag, hn::InterleaveLower(wide, ab_low, cd_low));
  b = hn::BitCast(tag, hn::InterleaveUpper(wide, ab_low, cd_low));
  c = hn::BitCast(tag, hn::InterleaveLower(wide, ab_high, cd_high));
  d = hn::BitCast(tag, hn::InterleaveUpper(wide, ab_high, cd_high));
}

/// Reads four columns of kLanes rows that lie `stride` floats apart, and stores them as four vectors, one after the
/// other.
HWY_INLINE void load_columns(const float* from, size_t stride, float* to) {
  const RealTag d;
  RealVector a = load_blocks(d, from, stride);
  RealVector b = load_blocks(d, from + stride, stride);
  RealVector c = load_blocks(d, from + 2 * stride, stride);
  RealVector e = load_blocks(d, from + 3 * stride, stride);
  transpose_blocks(a, b, c, e);
  hn::Store(a, d, to);
  hn::Store(b, d, to + kLanes);
  hn::Store(c, d, to + 2 * kLanes);
  hn::Store(e, d, to + 3 * kLanes);
}

/// The reverse: four columns of kLanes rows go to rows that lie `stride` floats apart.
HWY_INLINE void store_columns(real c0, real c1, real c2, real c3, float* to, size_t stride) {
  const RealTag d;
  transpose_blocks(c0.v, c1.v, c2.v, c3.v);
  store_blocks(d, c0.v, to, stride);
  store_blocks(d, c1.v, to + stride, stride);
  store_blocks(d, c2.v, to + 2 * stride, stride);
  store_blocks(d, c3.v, to + 3 * stride, stride);
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity
HWY_AFTER_NAMESPACE();

#endif
