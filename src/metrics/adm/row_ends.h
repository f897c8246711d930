// SPDX-License-Identifier: BSD-2-Clause-Patent
// What follows the last column of filtered rows: what the horizontal filters take there.
//
// It is the mirror image of the row, except where the last column is the last of those that libvmaf's AVX2 code makes
// at once. That code does not mirror there; the filtered rows are one behind the other in its memory, and it reads on
// into the next. The values of tests/golden come from it, so that is the definition.
#ifndef ACUITY_METRICS_ADM_ROW_ENDS_H
#define ACUITY_METRICS_ADM_ROW_ENDS_H

#include <array>
#include <cstdint>

#include "acuity/frame.h"
#include "metrics/adm/scales.h"
#include "metrics/adm/wavelet.h"

namespace acuity::adm {

/// Columns the filters take behind the last one.
constexpr size_t kColumnsBehind = 2;

/// Whether rows of a scale of this width are followed by others. Samples of 8 bit are filtered without that.
bool runs_on(int scale, int width, int depth);

/// What follows the last of the rows: the scale before has left it, of the lower left corner of the distorted picture.
std::array<int32_t, kColumnsBehind> left_by_scale_before(int scale, const FrameView& distorted);

/// Lets each of the rows, of `width` columns, be followed by the next, and the last by these.
void join_rows(const std::array<SplitRow, 4>& rows, int width, const std::array<int32_t, kColumnsBehind>& behind);

}  // namespace acuity::adm

#endif
