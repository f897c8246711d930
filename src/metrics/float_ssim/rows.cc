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

HWY_INLINE void window_along_row(const float* in, int windows, real begin, float* out) {
  for (int x = 0; x < windows; x += kLanes) {
    real high = begin, low = real(0.0f);
    UNROLL for (int k = 0; k < kWindow; ++k) {
      add_exactly(load_unaligned(in + x + k) * real(window_weight(k)), high, low);
    }
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
    if constexpr (kTap >= 0 && kTap < kWindow) add_exactly(line * real(window_weight(kTap)), high[kRow], low[kRow]);
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

template <int kRows>
HWY_INLINE void compare_rows(const std::array<std::array<const float*, kTogether + kWindow - 1>, kMoments>& means,
                             int windows, bool begin, const ColumnSums& columns) {
  constexpr auto kLines = std::make_integer_sequence<int, kRows + kWindow - 1>();
  for (int x = 0; x < windows; x += kLanes) {
    real moments[kMoments][kRows];
    for (int m = 0; m < kMoments; ++m) {
      window_down<kRows>(means[static_cast<size_t>(m)].data(), x, m < 2 ? SAMPLES_BEGIN : SQUARES_BEGIN, moments[m],
                         kLines);
    }
    wide sums[kSums];
    for (int row = 0; row < kRows; ++row) {
      wide luminance, contrast, structure;
      find_factors(moments[0][row], moments[1][row], moments[2][row], moments[3][row], moments[4][row], luminance,
                   contrast, structure);
      const wide values[kSums] = {luminance * contrast * structure, luminance, contrast, structure};
      for (int i = 0; i < kSums; ++i) sums[i] = row == 0 ? values[i] : sums[i] + values[i];
    }
    for (int i = 0; i < kSums; ++i) {
      double* column = columns[static_cast<size_t>(i)] + x;
      store(begin ? sums[i] : load(column) + sums[i], column);
    }
  }
}

void CompareWindows(const std::array<std::array<const float*, kTogether + kWindow - 1>, kMoments>& means, int rows,
                    int windows, bool begin, const ColumnSums& columns) {
  static_assert(kTogether == 4);
  if (rows == 4) return compare_rows<4>(means, windows, begin, columns);
  if (rows == 3) return compare_rows<3>(means, windows, begin, columns);
  if (rows == 2) return compare_rows<2>(means, windows, begin, columns);
  compare_rows<1>(means, windows, begin, columns);
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

// What a row gives to the halved rows `down` rows above and below it.
template <int down>
HWY_INLINE void low_pass_row(const real (&even)[5], const real (&odd)[4], real& high, real& low) {
#define LOW_PASS(weights) \
  low_pass(weights, even[0], odd[0], even[1], odd[1], even[2], odd[2], even[3], odd[3], even[4], high, low)
  if constexpr (down == 0) LOW_PASS(LOW_PASS_0);
  if constexpr (down == 1) LOW_PASS(LOW_PASS_1);
  if constexpr (down == 2) LOW_PASS(LOW_PASS_2);
  if constexpr (down == 3) LOW_PASS(LOW_PASS_3);
  if constexpr (down == 4) LOW_PASS(LOW_PASS_4);
#undef LOW_PASS
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
      low_pass_row<4>(evens, odds, high, low);
      add_to(rows[0], x, high, low);
      add_to(rows[4], x, high, low);
      low_pass_row<2>(evens, odds, high, low);
      add_to(rows[1], x, high, low);
      add_to(rows[3], x, high, low);
      low_pass_row<0>(evens, odds, high, low);
      add_to(rows[2], x, high, low);
    } else {
      low_pass_row<3>(evens, odds, high, low);
      add_to(rows[0], x, high, low);
      add_to(rows[3], x, high, low);
      low_pass_row<1>(evens, odds, high, low);
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

Sums sum_cells(const ColumnSums& columns, int windows) {
  Sums sums{};
  for (int x = 0; x < windows; x += kCellColumns) {
    const auto count = static_cast<size_t>(std::min(kCellColumns, windows - x));
    for (size_t i = 0; i < kSums; ++i) {
      std::array<double, kCellColumns> cell{};
      std::copy_n(columns[i] + x, count, cell.begin());
      for (size_t half = kCellColumns / 2; half >= 1; half /= 2) {
        for (size_t k = 0; k < half; ++k) cell[k] += cell[k + half];
      }
      sums[i] += cell[0];
    }
  }
  return sums;
}

void mean_along_row(const float* a, const float* b, int width, float* scratch,
                    const std::array<float*, kMoments>& means) {
  HWY_DYNAMIC_DISPATCH(MeanAlongRow)(a, b, width, scratch, means);
}

void compare_windows(const std::array<std::array<const float*, kTogether + kWindow - 1>, kMoments>& means, int rows,
                     int windows, bool begin, const ColumnSums& columns) {
  HWY_DYNAMIC_DISPATCH(CompareWindows)(means, rows, windows, begin, columns);
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
