// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_ssim/rows.h"

#include <algorithm>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/float_ssim/rows.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"
#include "lang/wide.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::float_ssim {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

// Processors have as many multipliers as adders, and here four of five operations are additions. As a product with one
// some of them run on the other half. Only the linker knows that kOne is one: compilers would leave the product out.
HWY_INLINE real sum_by_multiplier(real a, real b) {
#if HWY_NATIVE_FMA
  return hn::MulAdd(a.v, real(kOne).v, b.v);
#else
  return a + b;
#endif
}

#include "metrics/float_ssim/math.h"

// libvmaf's window, which adds up to 1.000002: where the picture is flat, variances come out below zero and are cut.
constexpr float kWeights[kWindow] = {0.001028f, 0.007599f, 0.036001f, 0.109361f, 0.213006f, 0.266012f,
                                     0.213006f, 0.109361f, 0.036001f, 0.007599f, 0.001028f};

constexpr float kRoot1 = 0.01f * 255, kRoot2 = 0.03f * 255;
constexpr float kC1 = kRoot1 * kRoot1, kC2 = kRoot2 * kRoot2, kC3 = kC2 / 2.0f;

// The low-pass filter of the 9/7 wavelet before each halving, from its middle; rounded in two dimensions, and so not
// quite the product of a row and a column.
constexpr float kLowPass[5][5] = {{0.363505f, 0.160885f, -0.047149f, -0.010146f, 0.016114f},
                                  {0.160885f, 0.071207f, -0.020867f, -0.004490f, 0.007132f},
                                  {-0.047149f, -0.020867f, 0.006115f, 0.001316f, -0.002090f},
                                  {-0.010146f, -0.004490f, 0.001316f, 0.000283f, -0.000450f},
                                  {0.016114f, 0.007132f, -0.002090f, -0.000450f, 0.000714f}};

HWY_INLINE void window_along_row(const float* in, int windows, real begin, float* out) {
  for (int x = 0; x < windows; x += kLanes) {
    real high = begin, low = real(0.0f);
    UNROLL for (int k = 0; k < kWindow; ++k) { add_exactly(load_unaligned(in + x + k) * real(kWeights[k]), high, low); }
    store(rounded_sum(begin, high, low), out + x);
  }
}

void MeanAlongRow(const float* a, const float* b, int width, float* scratch,
                  const std::array<float*, kMoments>& means) {
  const int padded = static_cast<int>(padded_row(width)), windows = width - kWindow + 1;
  float* const squares_a = scratch;
  float* const squares_b = scratch + padded;
  float* const products = scratch + 2 * padded;
  for (int x = 0; x < padded; x += kLanes) {
    const real left = load(a + x), right = load(b + x);
    store(left * left, squares_a + x);
    store(right * right, squares_b + x);
    store(left * right, products + x);
  }
  window_along_row(a, windows, SAMPLES_BEGIN, means[0]);
  window_along_row(b, windows, SAMPLES_BEGIN, means[1]);
  window_along_row(squares_a, windows, SQUARES_BEGIN, means[2]);
  window_along_row(squares_b, windows, SQUARES_BEGIN, means[3]);
  window_along_row(products, windows, SQUARES_BEGIN, means[4]);
}

// The line at place k of rows + 10, for each of the rows of windows it lies in.
template <int k, int... row>
HWY_INLINE void add_line(real line, real* high, real* low, std::integer_sequence<int, row...>) {
  const auto add = [&](auto at) {
    constexpr int kRow = decltype(at)::value, kTap = k - kRow;
    if constexpr (kTap >= 0 && kTap < kWindow) add_exactly(line * real(kWeights[kTap]), high[kRow], low[kRow]);
  };
  (add(std::integral_constant<int, row>()), ...);
}

// Windows of kRows rows at column x: results[row].
template <int kRows, int... k>
HWY_INLINE void window_down(const float* const* lines, int x, real begin, real* results,
                            std::integer_sequence<int, k...>) {
  real high[kRows], low[kRows];
  for (int row = 0; row < kRows; ++row) high[row] = begin, low[row] = real(0.0f);
  (add_line<k>(load(lines[k] + x), high, low, std::make_integer_sequence<int, kRows>()), ...);
  for (int row = 0; row < kRows; ++row) results[row] = rounded_sum(begin, high[row], low[row]);
}

// The first `windows` of a vector's windows; sums: where the parts of their columns begin. libvmaf has the factors in
// double, from numbers in float.
HWY_INLINE void add_similarity(real mean_a, real mean_b, real square_a, real square_b, real product, int windows,
                               double* sums) {
  const real zero = real(0.0f);
  const real mean_aa = mean_a * mean_a, mean_bb = mean_b * mean_b;
  const real variance_a = max(zero, square_a - mean_aa), variance_b = max(zero, square_b - mean_bb);
  const real covariance = product - mean_a * mean_b;
  const real root = sqrt(variance_a * variance_b);
  // Where nothing varies, rounding alone makes a covariance.
  const real kept = select(root <= zero, max(zero, covariance), covariance);
  const wide luminance =
      (wide(2.0) * to_wide(mean_a) * to_wide(mean_b) + wide(kC1)) / to_wide(mean_aa + mean_bb + real(kC1));
  const wide contrast = (wide(2.0) * to_wide(root) + wide(kC2)) / to_wide(variance_a + variance_b + real(kC2));
  const wide structure = to_wide((kept + real(kC3)) / (root + real(kC3)));
  const auto add = [&](int which, wide value) {
    double* at = sums + 16 * which;
    store(load(at) + keep_first(value, windows), at);
  };
  add(Sums::ssim, luminance * contrast * structure);
  add(Sums::luminance, luminance);
  add(Sums::contrast, contrast);
  add(Sums::structure, structure);
}

template <int kRows>
HWY_INLINE void compare_rows(const std::array<std::array<const float*, kTogether + kWindow - 1>, kMoments>& means,
                             int windows, Sums& sums) {
  constexpr auto kLines = std::make_integer_sequence<int, kRows + kWindow - 1>();
  for (int x = 0; x < windows; x += kLanes) {
    real moments[kMoments][kRows];
    for (int m = 0; m < kMoments; ++m) {
      window_down<kRows>(means[static_cast<size_t>(m)].data(), x, m < 2 ? SAMPLES_BEGIN : SQUARES_BEGIN, moments[m],
                         kLines);
    }
    for (int row = 0; row < kRows; ++row) {
      add_similarity(moments[0][row], moments[1][row], moments[2][row], moments[3][row], moments[4][row], windows - x,
                     sums.parts[0].data() + x % 16);
    }
  }
}

void CompareWindows(const std::array<std::array<const float*, kTogether + kWindow - 1>, kMoments>& means, int rows,
                    int windows, Sums& sums) {
  static_assert(kTogether == 4);
  if (rows == 4) return compare_rows<4>(means, windows, sums);
  if (rows == 3) return compare_rows<3>(means, windows, sums);
  if (rows == 2) return compare_rows<2>(means, windows, sums);
  compare_rows<1>(means, windows, sums);
}

void Split(const float* row, int width, float* even, float* odd) {
  int x = 0;
  for (; x + 2 * kLanes <= width; x += 2 * kLanes) {
    RealVector first, second;
    hn::LoadInterleaved2(RealTag(), row + x, first, second);
    hn::Store(first, RealTag(), even + 16 + x / 2);
    hn::Store(second, RealTag(), odd + 16 + x / 2);
  }
  const auto place = [&](int at) -> float& { return ((at & 1) != 0 ? odd : even)[16 + (at >> 1)]; };
  for (; x < width; ++x) place(x) = row[x];
  for (int i = 0; i < 4; ++i) {
    place(-1 - i) = row[i];
    place(width + i) = row[width - 1 - i];
  }
}

// What a row gives to the halved rows `down` rows above and below it: 9 products a sample, as `high` above zero and
// `low`.
template <int down>
HWY_INLINE void low_pass(const real (&even)[5], const real (&odd)[4], real& high, real& low) {
  high = SAMPLES_BEGIN, low = real(0.0f);
  UNROLL for (int k = 0; k < 5; ++k) {
    add_exactly(even[k] * real(kLowPass[down][2 * (k < 2 ? 2 - k : k - 2)]), high, low);
  }
  UNROLL for (int k = 0; k < 4; ++k) {
    add_exactly(odd[k] * real(kLowPass[down][k < 2 ? 3 - 2 * k : 2 * k - 3]), high, low);
  }
  high = high - SAMPLES_BEGIN;
}

HWY_INLINE void add_to(const HalvedRow& row, int x, real high, real low) {
  // Nothing is lost in `high`: all of it are multiples of the last place of SAMPLES_BEGIN.
  store(load(row.high + x) + high, row.high + x);
  store(load(row.low + x) + low, row.low + x);
}

void AddToHalves(const float* even, const float* odd, int count, const HalvedRow* rows, bool even_row) {
  for (int x = 0; x < count; x += kLanes) {
    real evens[5], odds[4], high, low;
    UNROLL for (int k = 0; k < 5; ++k) evens[k] = load_unaligned(even + 14 + x + k);
    UNROLL for (int k = 0; k < 4; ++k) odds[k] = load_unaligned(odd + 14 + x + k);
    if (even_row) {
      low_pass<4>(evens, odds, high, low);
      add_to(rows[0], x, high, low);
      add_to(rows[4], x, high, low);
      low_pass<2>(evens, odds, high, low);
      add_to(rows[1], x, high, low);
      add_to(rows[3], x, high, low);
      low_pass<0>(evens, odds, high, low);
      add_to(rows[2], x, high, low);
    } else {
      low_pass<3>(evens, odds, high, low);
      add_to(rows[0], x, high, low);
      add_to(rows[3], x, high, low);
      low_pass<1>(evens, odds, high, low);
      add_to(rows[1], x, high, low);
      add_to(rows[2], x, high, low);
    }
  }
}

// The row is finished, and its memory begins another.
void FinishHalf(const HalvedRow& row, int count, float* out) {
  for (int x = 0; x < count; x += kLanes) {
    store(load(row.high + x) + load(row.low + x), out + x);
    store(real(0.0f), row.high + x);
    store(real(0.0f), row.low + x);
  }
}

void AddWeighted(const float* row, float weight, int width, double* sums) {
  for (int x = 0; x < width; x += kLanes) {
    store(load(sums + x) + to_wide(load(row + x) * real(weight)), sums + x);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::float_ssim
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::float_ssim {

HWY_EXPORT(MeanAlongRow);
HWY_EXPORT(CompareWindows);
HWY_EXPORT(Split);
HWY_EXPORT(AddToHalves);
HWY_EXPORT(FinishHalf);
HWY_EXPORT(AddWeighted);

double Sums::total(size_t which) const {
  std::array<double, 16> sums = parts[which];
  for (size_t half = 8; half >= 1; half /= 2) {
    for (size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}

void mean_along_row(const float* a, const float* b, int width, float* scratch,
                    const std::array<float*, kMoments>& means) {
  HWY_DYNAMIC_DISPATCH(MeanAlongRow)(a, b, width, scratch, means);
}

void compare_windows(const std::array<std::array<const float*, kTogether + kWindow - 1>, kMoments>& means, int rows,
                     int windows, Sums& sums) {
  HWY_DYNAMIC_DISPATCH(CompareWindows)(means, rows, windows, sums);
}

void split_row(const float* row, int width, float* even, float* odd) {
  HWY_DYNAMIC_DISPATCH(Split)(row, width, even, odd);
}

void add_to_halves(const float* even, const float* odd, int count, const std::array<HalvedRow, 5>& rows,
                   bool even_row) {
  HWY_DYNAMIC_DISPATCH(AddToHalves)(even, odd, count, rows.data(), even_row);
}

void finish_half(const HalvedRow& row, int count, float* out) { HWY_DYNAMIC_DISPATCH(FinishHalf)(row, count, out); }

void add_weighted(const float* row, float weight, int width, double* sums) {
  HWY_DYNAMIC_DISPATCH(AddWeighted)(row, weight, width, sums);
}

}  // namespace acuity::float_ssim
#endif
