// SPDX-License-Identifier: BSD-2-Clause-Patent
// The wavelet of ADM in whole numbers: four rows of input into one row of each filter, and those across into subbands.
//
// Rows may be read and written up to a group of columns past their end, and horizontal filters read one column before.
#ifndef ACUITY_METRICS_ADM_WAVELET_H
#define ACUITY_METRICS_ADM_WAVELET_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace acuity::adm {

/// The lower filter of Daubechies' wavelet of four taps, times 2^15.
constexpr int kLow[4] = {15826, 27411, 7345, -4240};

/// Numbers of 32 bits, cut in two for the sake of 16-bit multiplications: 65536 * upper + lower + 32768.
struct SplitRow {
  int16_t* upper = nullptr;
  int16_t* lower = nullptr;
};

/// Rows of a picture, with samples of 8 bit in bytes and others in 16.
struct SampleRows {
  std::array<const std::byte*, 4> rows{};
  std::array<const std::byte*, 2> ahead{};  // rows that come next, to be fetched meanwhile; may be null
  int width = 0;
  int depth = 8;
};

/// Columns from begin, which is the first of a group, to end. `high` may be null: then it is not wanted.
void filter_samples(const SampleRows& samples, int begin, int end, int16_t* low, int16_t* high);
void filter_rows(const std::array<const int16_t*, 4>& rows, int begin, int end, SplitRow low, SplitRow high);
void filter_split_rows(const std::array<SplitRow, 4>& rows, int begin, int end, SplitRow low, SplitRow high);

/// Columns of the result from begin to end. `details`: horizontal, vertical and diagonal ones; where they are null,
/// they are not wanted.
void filter_columns(const int16_t* low, const int16_t* high, int begin, int end, int16_t* approximation,
                    const std::array<int16_t*, 3>& details);
/// ... divided by 2^15 or 2^16. The approximation is not wanted where it is null.
void filter_split_columns(SplitRow low, SplitRow high, bool by_16_bits, int begin, int end, SplitRow approximation,
                          const std::array<int32_t*, 3>& details);

}  // namespace acuity::adm

#endif
