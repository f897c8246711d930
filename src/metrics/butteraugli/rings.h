// SPDX-License-Identifier: BSD-2-Clause-Patent
// The rows that the stages of a cell hand to each other; no instruction set shows here.
#ifndef ACUITY_METRICS_BUTTERAUGLI_RINGS_H
#define ACUITY_METRICS_BUTTERAUGLI_RINGS_H

#include <array>
#include <cstddef>

#include "metrics/butteraugli/scale.h"

namespace acuity::butteraugli {

/// The latest rows of one plane: row y lies where row y - capacity was.
class Ring {
 public:
  void start(float* memory, int capacity) {
    rows_ = memory;
    capacity_ = capacity;
  }

  float* row(int y) const {
    const int slot = (y + kRowsAbove) % capacity_;
    return rows_ + static_cast<ptrdiff_t>(slot) * kStride;
  }

 private:
  static constexpr int kRowsAbove = 1 << 16;  // so that rows above the picture do not come out negative

  float* rows_ = nullptr;
  int capacity_ = 1;
};

/// Rows of one picture. *_rows are blurred along rows. Rings without a remark hold what stages after them look back at.
struct PictureRings {
  std::array<Ring, 3> light, light_rows;
  std::array<Ring, 3> xyb, xyb_rows;
  std::array<Ring, 3> middle, middle_rows;  // before the high subband leaves it
  std::array<Ring, 2> high, high_rows;      // before the ultra-high subband leaves it
  Ring activity_rows, blurred_activity;
  std::array<Ring, 3> soft;  // of one batch: what the stage has blurred along columns
  // Of one row: subbands as they are compared.
  std::array<Ring, 3> low_row, middle_row;
  std::array<Ring, 2> high_row, ultra_row;
  Ring activity_row;
};

/// Rows of a pair.
struct PairRings {
  Ring low_difference, middle_difference;
  std::array<Ring, 2> malta_middle, malta_high, malta_ultra;  // inputs of the line filters, X and Y
  std::array<Ring, 2> rows_of_three, columns_of_three;        // of malta_ultra
  Ring difference;                                            // all but the low subband
  Ring map;                                                   // a row of tiles
};

/// Calls visit(ring, capacity) for every ring of a picture. Rings hold a batch, and how far their readers are behind
/// and look back.
template <typename Visit>
void visit_rings(PictureRings& rings, int batch, Visit visit) {
  const auto all = [&](auto& list, int capacity) {
    for (Ring& ring : list) visit(ring, capacity);
  };
  all(rings.light, batch + 2);
  all(rings.light_rows, batch + 4);
  all(rings.xyb, batch + 16);
  all(rings.xyb_rows, batch + 32);
  all(rings.middle, batch + 7);
  all(rings.middle_rows, batch + 14);
  all(rings.high, batch + 3);
  all(rings.high_rows, batch + 6);
  visit(rings.activity_rows, batch + 12);
  visit(rings.blurred_activity, batch + 6);
  all(rings.soft, batch);
  all(rings.low_row, 1);
  all(rings.middle_row, 1);
  all(rings.high_row, 1);
  all(rings.ultra_row, 1);
  visit(rings.activity_row, 1);
}

template <typename Visit>
void visit_rings(PairRings& rings, int batch, Visit visit) {
  const auto all = [&](auto& list, int capacity) {
    for (Ring& ring : list) visit(ring, capacity);
  };
  visit(rings.low_difference, batch + 19);
  visit(rings.middle_difference, batch + 3);
  all(rings.malta_middle, batch + 11);
  all(rings.malta_high, batch + 8);
  all(rings.malta_ultra, batch + 8);
  all(rings.rows_of_three, batch + 5);
  all(rings.columns_of_three, batch + 6);
  visit(rings.difference, batch + 9);
  visit(rings.map, kTileHeight);
}

}  // namespace acuity::butteraugli

#endif
