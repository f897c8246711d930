// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ssim/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/ssim/rows.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::ssim {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename Sum>
using Tag = hn::ScalableTag<Sum>;
using DoubleTag = Tag<double>;
using DoubleVector = hn::Vec<DoubleTag>;
constexpr int kDoubles = static_cast<int>(HWY_LANES(double));

// The window over nine vectors from `at(-4)` to `at(4)`.
template <typename Sum, typename At>
HWY_INLINE hn::Vec<Tag<Sum>> window(const At& at) {
  const Tag<Sum> d;
  auto sum = hn::Mul(at(0), hn::Set(d, static_cast<Sum>(kWeights[0])));
  HWY_UNROLL(4) for (int k = 1; k <= kReach; ++k) {
    const auto weight = hn::Set(d, static_cast<Sum>(kWeights[static_cast<size_t>(k)]));
    sum = hn::Add(sum, hn::Mul(hn::Add(at(-k), at(k)), weight));
  }
  return sum;
}

template <typename Sum, typename Code>
void sum_along(const Code* a, const Code* b, int width, Sum* scratch, const std::array<void*, kMoments>& sums) {
  const Tag<Sum> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const size_t stride = padded_row(width);
  Sum* rows[kMoments];
  for (size_t m = 0; m < kMoments; ++m) rows[m] = scratch + m * stride + kMargin;
  for (int x = 0; x < width; ++x) {
    rows[0][x] = static_cast<Sum>(a[x]);
    rows[1][x] = static_cast<Sum>(b[x]);
  }
  for (int x = 0; x < width; x += lanes) {
    const auto left = hn::Load(d, rows[0] + x), right = hn::Load(d, rows[1] + x);
    hn::Store(hn::Mul(left, left), d, rows[2] + x);
    hn::Store(hn::Mul(right, right), d, rows[3] + x);
    hn::Store(hn::Mul(left, right), d, rows[4] + x);
  }
  for (size_t m = 0; m < kMoments; ++m) {
    const Sum* row = rows[m];
    auto* out = static_cast<Sum*>(sums[m]);
    for (int x = 0; x < width; x += lanes) {
      hn::Store(window<Sum>([&](int k) { return hn::LoadU(d, row + x + k); }), d, out + x);
    }
  }
}

void SumAlongRow(const std::byte* a, const std::byte* b, int depth, int width, void* scratch,
                 const std::array<void*, kMoments>& sums) {
  if (depth == 8) {
    sum_along(reinterpret_cast<const uint8_t*>(a), reinterpret_cast<const uint8_t*>(b), width,
              static_cast<uint32_t*>(scratch), sums);
  } else {
    sum_along(reinterpret_cast<const uint16_t*>(a), reinterpret_cast<const uint16_t*>(b), width,
              static_cast<double*>(scratch), sums);
  }
}

// One vector of windows. Products and sums are those of the definition, in its order: they are not exact.
HWY_INLINE DoubleVector similarity(const DoubleVector (&sums)[kMoments], DoubleVector weight, DoubleVector c1_unit,
                                   DoubleVector c2_unit) {
  const auto two = hn::Set(DoubleTag(), 2.0);
  const auto c1 = hn::Mul(hn::Mul(c1_unit, weight), weight), c2 = hn::Mul(hn::Mul(c2_unit, weight), weight);
  const auto aa = hn::Mul(sums[0], sums[0]), bb = hn::Mul(sums[1], sums[1]), ab = hn::Mul(sums[0], sums[1]);
  const auto covariance = hn::Sub(hn::Mul(sums[4], weight), ab);
  const auto variances = hn::Sub(hn::Add(hn::Sub(hn::Mul(sums[2], weight), aa), hn::Mul(sums[3], weight)), bb);
  const auto above = hn::Mul(hn::Mul(weight, hn::Add(hn::Mul(two, ab), c1)), hn::Add(c2, hn::Mul(two, covariance)));
  const auto below = hn::Mul(hn::Add(hn::Add(aa, bb), c1), hn::Add(variances, c2));
  return hn::Div(above, below);
}

// Whole numbers below 2^32 to double, as signed ones about 2^31.
HWY_INLINE DoubleVector to_double(const uint32_t* from) {
  const hn::Rebind<uint32_t, DoubleTag> d;
  const hn::Rebind<int32_t, DoubleTag> di;
  const auto about_middle = hn::BitCast(di, hn::Xor(hn::Load(d, from), hn::Set(d, 0x80000000u)));
  return hn::Add(hn::PromoteTo(DoubleTag(), about_middle), hn::Set(DoubleTag(), 2147483648.0));
}
HWY_INLINE DoubleVector to_double(const double* from) { return hn::Load(DoubleTag(), from); }

template <typename Sum>
void compare(const WindowRow& row, int width, double* out) {
  const DoubleTag d;
  const Tag<Sum> ds;
  const int lanes = static_cast<int>(hn::Lanes(ds));
  const auto down = hn::Set(d, row.weight_down), c1 = hn::Set(d, row.c1), c2 = hn::Set(d, row.c2);
  for (int x = 0; x < width; x += lanes) {
    alignas(64) Sum sums[kMoments][kMargin];
    for (size_t m = 0; m < kMoments; ++m) {
      const auto& lines = row.sums[m];
      const auto at = [&](int k) {
        return hn::Load(ds, static_cast<const Sum*>(lines[static_cast<size_t>(kReach + k)]) + x);
      };
      hn::Store(window<Sum>(at), ds, sums[m]);
    }
    for (int i = 0; i < lanes; i += kDoubles) {
      DoubleVector moments[kMoments];
      HWY_UNROLL(5) for (int m = 0; m < kMoments; ++m) moments[m] = to_double(sums[m] + i);
      const auto weight = hn::Mul(hn::Load(d, row.weights_along + x + i), down);
      hn::Store(similarity(moments, weight, c1, c2), d, out + x + i);
    }
  }
}

void CompareRow(const WindowRow& row, int depth, int width, double* out) {
  if (depth == 8) return compare<uint32_t>(row, width, out);
  compare<double>(row, width, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::ssim
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::ssim {

HWY_EXPORT(SumAlongRow);
HWY_EXPORT(CompareRow);

void sum_along_row(const std::byte* a, const std::byte* b, int depth, int width, void* scratch,
                   const std::array<void*, kMoments>& sums) {
  HWY_DYNAMIC_DISPATCH(SumAlongRow)(a, b, depth, width, scratch, sums);
}

void compare_row(const WindowRow& row, int depth, int width, double* out) {
  HWY_DYNAMIC_DISPATCH(CompareRow)(row, depth, width, out);
}

}  // namespace acuity::ssim
#endif
