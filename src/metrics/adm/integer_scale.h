// SPDX-License-Identifier: BSD-2-Clause-Patent
// One scale of ADM in whole numbers: the few rows of it that are worked on, and its sums.
#ifndef ACUITY_METRICS_ADM_INTEGER_SCALE_H
#define ACUITY_METRICS_ADM_INTEGER_SCALE_H

#include <array>
#include <cstdint>

#include "acuity/frame.h"
#include "acuity/status.h"
#include "base/memory.h"
#include "metrics/adm/decouple.h"
#include "metrics/adm/masking.h"
#include "metrics/adm/row_ends.h"
#include "metrics/adm/scale_rules.h"
#include "metrics/adm/scales.h"
#include "metrics/adm/wavelet.h"

namespace acuity::adm {

/// One of each for the reference and the distorted picture.
template <typename T>
using Pair = std::array<T, 2>;

class IntegerScale {
 public:
  /// `next` is the scale after this one, null for the last; both stay where they are.
  Status prepare(int index, const ScaleShape& shape, const IntegerOptions& options, IntegerScale* next);
  size_t bytes() const { return arena_.size(); }

  /// Before the rows of a frame are made; the frames are those that scale 0 reads.
  void begin(const FrameView& reference, const FrameView& distorted);
  ScaleNumbers finish() const { return conclude_scale(index_, shape_, options_, rules_, sums_); }

  // For make_rows().
  const ScaleShape& shape() const { return shape_; }
  bool has_details() const { return !(index_ == 0 && options_.skip_scale0); }
  void filter(int row, const std::array<int, 4>& inputs);
  void decouple(int row);
  void mask(int above, int row, int below);

 private:
  struct Filtered {
    SplitRow low, high;  // of scale 0 the upper parts alone
  };
  struct MaskRows {
    std::array<int32_t*, 3> sums{};    // of row % 3
    std::array<int32_t*, 2> centre{};  // of row % 2
    int32_t* around = nullptr;
  };

  void filter_picture(size_t picture, const std::array<int, 4>& inputs, int16_t* approximation);
  void filter_approximations(const std::array<int, 4>& inputs, const Pair<SplitRow>& approximations);
  void sum_reference(int row);
  void spread(MaskRows& rows, int row);
  Mask mask_of(const MaskRows& rows, int above, int row, int below) const;
  SubbandSums mask_part(bool added, int row, const Mask& mask) const;
  template <typename T>
  T* take_row();

  int index_ = 0;
  ScaleShape shape_;
  IntegerOptions options_;
  IntegerScale* next_ = nullptr;
  ScaleRules rules_;

  Arena arena_;
  Pair<FrameView> frames_;
  bool runs_on_ = false;
  std::array<int32_t, kColumnsBehind> behind_rows_{};
  Pair<std::array<SplitRow, 4>> inputs_;  // of input row % 4; in scale 1 there are upper parts alone
  Pair<Filtered> filtered_;
  Pair<Subbands<int16_t>> short_details_;
  Pair<Subbands<int32_t>> long_details_;
  // Of row % 2: the restored and the added part.
  std::array<Pair<Subbands<int16_t>>, 2> short_parts_;
  std::array<Pair<Subbands<uint32_t>>, 2> long_parts_;
  Pair<MaskRows> masks_;  // made by the restored and by the added part

  ScaleSums sums_;
};

}  // namespace acuity::adm

#endif
