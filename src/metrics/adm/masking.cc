// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/adm/masking.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/adm/masking.cc"
#include <hwy/foreach_target.h>

#include "metrics/adm/lanes.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::adm {
namespace HWY_NAMESPACE {

void AddNeighbours(const int32_t* row, int begin, int end, int32_t* sums) {
  const LongTag d;
  for (int x = begin; x < end; x += kLongs) {
    const Long sides = hn::Add(hn::LoadU(d, row + x - 1), hn::LoadU(d, row + x + 1));
    hn::Store(hn::Add(sides, hn::Load(d, row + x)), d, sums + x);
  }
}

struct CubeSum {
  Wide sum;
  HWY_INLINE CubeSum() : sum(hn::Zero(WideTag())) {}
  HWY_INLINE void add(Unsigned x, const CubeRule& rule) {
    add_even(x, rule);
    add_even(odd_lanes(x), rule);
  }
  // x below 2^16
  HWY_INLINE void add_exactly(Unsigned x) {
    const Unsigned square = hn::Mul(x, x);
    sum = hn::Add(hn::Add(sum, hn::MulEven(square, x)), hn::MulEven(odd_lanes(square), odd_lanes(x)));
  }
  uint64_t total() const {
    alignas(64) uint64_t lanes[hn::MaxLanes(WideTag())];
    hn::Store(sum, WideTag(), lanes);
    uint64_t result = 0;
    for (const uint64_t lane : lanes) result += lane;
    return result;
  }

 private:
  HWY_INLINE void add_even(Unsigned x, const CubeRule& rule) {
    const WideTag d;
    const Wide square = hn::ShiftRightSame(hn::Add(hn::MulEven(x, x), hn::Set(d, rule.square_add)), rule.square_bits);
    const Wide cube = hn::Add(hn::MulEven(hn::BitCast(UnsignedTag(), square), x), hn::Set(d, rule.cube_add));
    sum = hn::Add(sum, hn::ShiftRightSame(cube, rule.cube_bits));
  }
};

// Calls use(x, keep) for groups of columns, where keep() zeroes those before left and from right on.
template <class Function>
HWY_INLINE void for_columns(int left, int right, const Function& use) {
  const LongTag d;
  const auto columns = [&](int x) { return hn::Iota(d, static_cast<uint32_t>(x)); };
  int x = left / kLongs * kLongs;
  for (; x < right; x += kLongs) {
    if (x >= left && x + kLongs <= right) {
      use(x, [](Unsigned v) { return v; });
      continue;
    }
    const auto outside = hn::Or(hn::Lt(columns(x), hn::Set(d, left)), hn::Gt(columns(x), hn::Set(d, right - 1)));
    use(x, [&](Unsigned v) { return to_unsigned(hn::IfThenZeroElse(outside, to_signed(v))); });
  }
}

SubbandSums totals(const CubeSum (&sums)[kSubbands]) { return {sums[0].total(), sums[1].total(), sums[2].total()}; }

SubbandSums SumShortCubes(const Subbands<int16_t>& rows, int left, int right) {
  const HalfShortTag half;
  CubeSum sums[kSubbands];
  for_columns(left, right, [&](int x, const auto& keep) {
    HWY_UNROLL(3)
    for (size_t b = 0; b < kSubbands; ++b) {
      const Long details = hn::PromoteTo(LongTag(), hn::Load(half, rows[b] + x));
      sums[b].add_exactly(keep(to_unsigned(hn::Abs(details))));
    }
  });
  return totals(sums);
}

SubbandSums SumLongCubes(const Subbands<int32_t>& rows, int left, int right, const CubeRule& rule) {
  CubeSum sums[kSubbands];
  for_columns(left, right, [&](int x, const auto& keep) {
    HWY_UNROLL(3)
    for (size_t b = 0; b < kSubbands; ++b) {
      sums[b].add(keep(to_unsigned(hn::Abs(hn::Load(LongTag(), rows[b] + x)))), rule);
    }
  });
  return totals(sums);
}

HWY_INLINE Long threshold(const Mask& mask, int x) {
  const LongTag d;
  const Long outer = hn::Add(hn::Load(d, mask.sums[0] + x), hn::Load(d, mask.sums[2] + x));
  return hn::Add(hn::Add(outer, hn::Load(d, mask.sums[1] + x)), hn::Load(d, mask.centre + x));
}

HWY_INLINE Unsigned above(Unsigned size, Long threshold) {
  return to_unsigned(hn::Max(hn::Sub(to_signed(size), threshold), hn::Zero(LongTag())));
}

SubbandSums MaskShort(const Subbands<int16_t>& rows, const Mask& mask, int left, int right, const ShortMaskRule& rule) {
  const LongTag d;
  const HalfShortTag half;
  CubeSum sums[kSubbands];
  for_columns(left, right, [&](int x, const auto& keep) {
    const Long limit = threshold(mask, x);
    HWY_UNROLL(3)
    for (size_t b = 0; b < kSubbands; ++b) {
      const Long details = hn::PromoteTo(d, hn::Load(half, rows[b] + x));
      const Long weighed = hn::Mul(hn::Abs(details), hn::Set(d, static_cast<int32_t>(rule.factors[b])));
      const Long limit_of_subband = hn::ShiftLeftSame(limit, rule.threshold_bits[b]);
      sums[b].add(keep(above(to_unsigned(weighed), limit_of_subband)), rule.cubes[b]);
    }
  });
  return totals(sums);
}

SubbandSums MaskLong(const Subbands<uint32_t>& rows, const Mask& mask, int left, int right, const CubeRule& rule) {
  CubeSum sums[kSubbands];
  for_columns(left, right, [&](int x, const auto& keep) {
    const Long limit = threshold(mask, x);
    HWY_UNROLL(3)
    for (size_t b = 0; b < kSubbands; ++b) {
      sums[b].add(keep(above(hn::Load(UnsignedTag(), rows[b] + x), limit)), rule);
    }
  });
  return totals(sums);
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::adm
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::adm {

HWY_EXPORT(AddNeighbours);
HWY_EXPORT(SumShortCubes);
HWY_EXPORT(SumLongCubes);
HWY_EXPORT(MaskShort);
HWY_EXPORT(MaskLong);

void add_neighbours(const int32_t* row, int begin, int end, int32_t* sums) {
  HWY_DYNAMIC_DISPATCH(AddNeighbours)(row, begin, end, sums);
}

SubbandSums sum_short_cubes(const Subbands<int16_t>& rows, int left, int right) {
  return HWY_DYNAMIC_DISPATCH(SumShortCubes)(rows, left, right);
}

SubbandSums sum_long_cubes(const Subbands<int32_t>& rows, int left, int right, const CubeRule& rule) {
  return HWY_DYNAMIC_DISPATCH(SumLongCubes)(rows, left, right, rule);
}

SubbandSums mask_short(const Subbands<int16_t>& rows, const Mask& mask, int left, int right,
                       const ShortMaskRule& rule) {
  return HWY_DYNAMIC_DISPATCH(MaskShort)(rows, mask, left, right, rule);
}

SubbandSums mask_long(const Subbands<uint32_t>& rows, const Mask& mask, int left, int right, const CubeRule& rule) {
  return HWY_DYNAMIC_DISPATCH(MaskLong)(rows, mask, left, right, rule);
}

}  // namespace acuity::adm
#endif
