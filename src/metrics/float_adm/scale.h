// SPDX-License-Identifier: BSD-2-Clause-Patent
// One scale of ADM in float: the few rows of it that are worked on, and its sums.
#ifndef ACUITY_METRICS_FLOAT_ADM_SCALE_H
#define ACUITY_METRICS_FLOAT_ADM_SCALE_H

#include <array>
#include <optional>

#include "acuity/frame.h"
#include "acuity/status.h"
#include "base/memory.h"
#include "metrics/adm/csf.h"
#include "metrics/adm/outputs.h"
#include "metrics/adm/scales.h"
#include "metrics/float_adm/rows.h"
#include "frames/row_sums.h"

namespace acuity::float_adm {

struct Options {
  adm::Sensitivities sensitivities{};
  double gain = 100;
  double noise_weight = 0.03125;
  double exponent = 3;
  bool no_masking = false;
  bool skip_scale0 = false;
};

/// What the sums of a scale's powers come to: three subbands of the reference, of what was kept and of what was added.
adm::ScaleNumbers numbers_of(const std::array<float, 3 * kSubbands>& totals, int scale, const adm::ScaleShape& shape,
                             const Options& options);

/// One of each for the reference and the distorted picture, or for restored and added details.
template <typename T>
using Pair = std::array<T, 2>;

class Scale {
 public:
  /// `next` is the scale after this one, null for the last; both stay where they are.
  Status prepare(int index, const adm::ScaleShape& shape, const Options& options, Scale* next);
  size_t bytes() const { return arena_.size(); }

  /// Before the rows of a frame are made; the frames are those that scale 0 reads.
  void begin(const FrameView& reference, const FrameView& distorted);
  adm::ScaleNumbers finish();

  // For adm::make_rows().
  const adm::ScaleShape& shape() const { return shape_; }
  bool has_details() const { return !(index_ == 0 && options_.skip_scale0); }
  void filter(int row, const std::array<int, 4>& inputs);
  void decouple(int row);
  void mask(int above, int row, int below);

 private:
  struct PartRows {
    std::array<Subbands, 2> weighed{};     // of row % 2
    std::array<Subbands, 3> thirtieths{};  // of row % 3
    Part of(int row) const { return {weighed[static_cast<size_t>(row % 2)], thirtieths[static_cast<size_t>(row % 3)]}; }
  };
  using SubbandSums = std::array<std::optional<RowSums>, kSubbands>;

  float* take_row();
  const float* input_row(size_t picture, int row);
  void mask_part(const PartRows& part, const PartRows& by, int above, int row, int below, SubbandSums& sums);

  int index_ = 0;
  adm::ScaleShape shape_;
  Options options_;
  Scale* next_ = nullptr;
  DecoupleRule rule_;
  float exponent_ = 3;

  Arena arena_;
  Pair<FrameView> frames_;
  Pair<std::array<float*, 4>> inputs_{};  // of input row % 4
  Pair<std::array<int, 4>> held_{};       // which rows of the picture those of scale 0 are
  FilteredRow low_, high_;
  Pair<Subbands> details_{};
  Pair<PartRows> parts_;  // restored, added
  std::array<float*, 3 * kSubbands> sums_scratch_{};

  SubbandSums reference_sums_, kept_sums_, added_sums_;
};

}  // namespace acuity::float_adm

#endif
