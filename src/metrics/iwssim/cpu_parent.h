// SPDX-License-Identifier: BSD-2-Clause-Patent
// The parent of as many neighbouring samples as a vector holds. For the loops of cpu_*.cc; include it after math.h.

// Along a row the parents of a vector's samples are close together: one load from each of two rows has them all.
HWY_INLINE real parent_of(const float* upper, const float* lower, float row_fraction, const Parent& parent, int x) {
  const int32_t base = parent.column_firsts[x];
  const real row = between(load_unaligned(upper + base), load_unaligned(lower + base), real(row_fraction));
  const WholeTag d;
  const WholeVector first = hn::Sub(hn::LoadU(d, parent.column_firsts + x), hn::Set(d, base));
  const WholeVector second = hn::Add(first, hn::Set(d, 1));
  const RealTag real_tag;
  const real a = hn::TableLookupLanes(row.v, hn::IndicesFromVec(real_tag, first));
  const real b = hn::TableLookupLanes(row.v, hn::IndicesFromVec(real_tag, second));
  return between(a, b, load_unaligned(parent.column_fractions + x));
}
