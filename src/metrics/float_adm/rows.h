// SPDX-License-Identifier: BSD-2-Clause-Patent
// What float_adm does with rows: the wavelet, and the details of one row taken apart and masked. See metrics/adm for
// the words.
//
// Rows are aligned, and may be read and written up to a group of columns past their end.
#ifndef ACUITY_METRICS_FLOAT_ADM_ROWS_H
#define ACUITY_METRICS_FLOAT_ADM_ROWS_H

#include <array>

#include "metrics/adm/scales.h"

namespace acuity::float_adm {

constexpr int kSubbands = adm::kSubbands;
using Subbands = std::array<float*, kSubbands>;

/// A row of what a filter made, its even and its odd columns apart.
struct FilteredRow {
  float* even = nullptr;
  float* odd = nullptr;
};

/// Columns of the input from begin, which is the first of two groups, to end.
void filter_rows(const std::array<const float*, 4>& rows, int begin, int end, FilteredRow low, FilteredRow high);

/// Puts the mirror image of the ends around what was made of a row of `width` columns.
void mirror_ends(FilteredRow row, int width);

/// Columns of the result. The approximation or the details are not wanted where they are null.
void filter_columns(FilteredRow low, FilteredRow high, int begin, int end, float* approximation,
                    const Subbands& details);

struct DecoupleRule {
  std::array<float, kSubbands> factors{};
  double gain = 1;
};

/// Details of one of the two parts, weighed and without their signs.
struct Part {
  Subbands weighed{};
  Subbands thirtieths{};  // of the above, which they add to the thresholds around them
};

void decouple(const Subbands& reference, const Subbands& distorted, int begin, int end, const DecoupleRule& rule,
              const Part& restored, const Part& added);

/// Powers of weighed details, without their signs, of columns from left to right.
void weighed_powers(const float* details, int left, int right, float factor, float exponent, float* powers);

/// What one part adds to the thresholds for the other: thirtieths of three rows, and the weighed details of the middle
/// one themselves. There is no threshold where they are null.
struct Mask {
  Subbands above{};
  Subbands row{};
  Subbands below{};
  Subbands own{};
};

/// Powers of what the mask leaves.
void masked_powers(const Subbands& details, const Mask& mask, int left, int right, float exponent,
                   const Subbands& powers);

}  // namespace acuity::float_adm

#endif
