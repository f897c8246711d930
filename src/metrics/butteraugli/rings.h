// SPDX-License-Identifier: BSD-2-Clause-Patent
// The rows that the stages of a piece hand to each other; no instruction set shows here.
#ifndef ACUITY_METRICS_BUTTERAUGLI_RINGS_H
#define ACUITY_METRICS_BUTTERAUGLI_RINGS_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "metrics/butteraugli/strip.h"

namespace acuity::butteraugli {

/// Consecutive rows of one plane. They lie one after the other, so that filters along columns step by kStride.
class Ring {
 public:
  /// `memory` holds rows_needed(batch, history) rows. The first row to come is `first`.
  void start(float* memory, int first) {
    rows_ = memory;
    first_ = first;
  }

  /// Before a batch is written behind row `end`: forgets rows before `from`.
  void keep(int from, int end) {
    from = std::clamp(from, first_, end);
    if (from == first_) return;
    std::memmove(rows_, row(from), static_cast<size_t>(end - from) * kStride * sizeof(float));
    first_ = from;
  }

  float* row(int y) const { return rows_ + static_cast<ptrdiff_t>(y - first_) * kStride; }

 private:
  float* rows_ = nullptr;
  int first_ = 0;
};

/// How many rows before the batch a ring holds: what its readers look back at, and what they are behind.
enum History {
  kLightHistory = 2,
  kSoftLightHistory = 4,
  kXybHistory = 16,
  kXybRowsHistory = 32,
  kMiddleHistory = 7,
  kMiddleRowsHistory = 14,
  kHighHistory = 3,
  kHighRowsHistory = 6,
  kActivityRowsHistory = 12,
  kBlurredActivityHistory = 6,
  kLowDifferenceHistory = kReachLow,
  kMiddleDifferenceHistory = 3,
  kMaltaHistory = 16,
  kTripleHistory = 8,
  kDifferenceHistory = 9,
};

/// The rings of one picture.
struct PictureRings {
  std::array<Ring, 3> light, soft_light;    // as read; blurred along rows
  std::array<Ring, 3> xyb, xyb_rows;        // *_rows: blurred along rows
  std::array<Ring, 3> middle, middle_rows;  // before the high band leaves it
  std::array<Ring, 2> high, high_rows;      // before the ultra-high band leaves it
  Ring activity_rows;
  Ring blurred_activity;
};

/// The rings of a pair.
struct PairRings {
  Ring low_difference;
  std::array<Ring, 3> middle_difference;
  std::array<Ring, 2> malta_middle, malta_high, malta_ultra;  // inputs of the line filters, X and Y
  std::array<Ring, 2> rows_of_three, columns_of_three;        // of malta_ultra
  Ring difference;                                            // all but the low band
};

/// Calls visit(ring, history, reach) for every ring; `reach` is that of the stage which fills it.
template <typename Visit>
void visit_rings(std::array<PictureRings, 2>& pictures, PairRings& pair, Visit visit) {
  for (PictureRings& rings : pictures) {
    for (size_t c = 0; c < 3; ++c) {
      visit(rings.light[c], kLightHistory, kReachLight);
      visit(rings.soft_light[c], kSoftLightHistory, kReachLight);
      visit(rings.xyb[c], kXybHistory, kReachXyb);
      visit(rings.xyb_rows[c], kXybRowsHistory, kReachXyb);
      visit(rings.middle[c], kMiddleHistory, kReachLow);
      visit(rings.middle_rows[c], kMiddleRowsHistory, kReachLow);
    }
    for (size_t c = 0; c < 2; ++c) {
      visit(rings.high[c], kHighHistory, kReachMiddle);
      visit(rings.high_rows[c], kHighRowsHistory, kReachMiddle);
    }
    visit(rings.activity_rows, kActivityRowsHistory, kReachHigh);
    visit(rings.blurred_activity, kBlurredActivityHistory, kReachBlurredActivity);
  }
  visit(pair.low_difference, kLowDifferenceHistory, kReachLow);
  for (Ring& ring : pair.middle_difference) visit(ring, kMiddleDifferenceHistory, kReachMiddle);
  for (size_t c = 0; c < 2; ++c) {
    visit(pair.malta_middle[c], kMaltaHistory, kReachMiddle);
    visit(pair.malta_high[c], kMaltaHistory, kReachHigh);
    visit(pair.malta_ultra[c], kMaltaHistory, kReachHigh);
    visit(pair.rows_of_three[c], kMaltaHistory, kReachHigh);
    visit(pair.columns_of_three[c], kTripleHistory, kReachMalta - 1);
  }
  visit(pair.difference, kDifferenceHistory, kReachHigh);
}

}  // namespace acuity::butteraugli

#endif
