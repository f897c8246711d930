// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_adm/scale.h"

#include <algorithm>

#include "base/library_power.h"
#include "frames/frame_rows.h"

namespace acuity::float_adm {
namespace {

constexpr int kMargin = 2 * adm::kColumnGroup;  // floats before and behind each row
constexpr float kMiddle = 128;

}  // namespace

Status Scale::prepare(int index, const adm::ScaleShape& shape, const Options& options, Scale* next) {
  index_ = index;
  shape_ = shape;
  options_ = options;
  next_ = next;
  exponent_ = static_cast<float>(options.exponent);
  rule_.gain = options.gain;
  for (size_t b = 0; b < kSubbands; ++b) {
    rule_.factors[b] = options.sensitivities[static_cast<size_t>(index)].of(static_cast<int>(b));
  }

  constexpr size_t kRows = 4 + 2 * (4 + kSubbands + 2 * kSubbands + 3 * kSubbands);  // those below
  const size_t row_bytes = Arena::cost<float>(static_cast<size_t>(shape.input_width + 2 * kMargin));
  const size_t scratch = RowSums::scratch_floats(shape.right - shape.left);
  Result<Arena> arena = Arena::create(kRows * row_bytes + 3 * kSubbands * Arena::cost<float>(scratch));
  if (!arena.ok()) return arena.status();
  arena_ = std::move(*arena);

  low_ = {take_row(), take_row()};
  high_ = {take_row(), take_row()};
  for (size_t i = 0; i < 2; ++i) {
    for (float*& row : inputs_[i]) row = take_row();
    for (size_t b = 0; b < kSubbands; ++b) {
      if (has_details()) details_[i][b] = take_row();
      for (Subbands& rows : parts_[i].weighed) rows[b] = take_row();
      for (Subbands& rows : parts_[i].thirtieths) rows[b] = take_row();
    }
  }
  for (float*& rows : sums_scratch_) rows = arena_.take<float>(scratch);
  return {};
}

float* Scale::take_row() {
  const size_t count = static_cast<size_t>(shape_.input_width + 2 * kMargin);
  float* row = arena_.take<float>(count);
  std::fill(row, row + count, 0.0f);  // what is computed past the ends is not used, but must not vary
  return row + kMargin;
}

void Scale::begin(const FrameView& reference, const FrameView& distorted) {
  frames_ = {reference, distorted};
  for (std::array<int, 4>& rows : held_) rows.fill(-1);
  const int width = shape_.right - shape_.left;
  for (size_t b = 0; b < kSubbands; ++b) {
    reference_sums_[b].emplace(sums_scratch_[b], width);
    kept_sums_[b].emplace(sums_scratch_[kSubbands + b], width);
    added_sums_[b].emplace(sums_scratch_[2 * kSubbands + b], width);
  }
}

const float* Scale::input_row(size_t picture, int row) {
  const auto place = static_cast<size_t>(row % 4);
  float* samples = inputs_[picture][place];
  if (index_ == 0 && held_[picture][place] != row) {
    read_frame_row(frames_[picture], 0, row, -kMiddle, samples);
    held_[picture][place] = row;
  }
  return samples;
}

void Scale::filter(int row, const std::array<int, 4>& inputs) {
  const int begin = std::max(2 * shape_.first_column - 2 * adm::kColumnGroup, 0);
  const int end = std::min(2 * shape_.end_column + 1, shape_.input_width);
  for (size_t picture = 0; picture < 2; ++picture) {
    std::array<const float*, 4> rows;
    for (size_t i = 0; i < 4; ++i) rows[i] = input_row(picture, inputs[i]);
    filter_rows(rows, begin, end, low_, high_);
    mirror_ends(low_, shape_.input_width);
    mirror_ends(high_, shape_.input_width);
    float* approximation = next_ == nullptr ? nullptr : next_->inputs_[picture][static_cast<size_t>(row % 4)];
    filter_columns(low_, high_, shape_.first_column, shape_.end_column, approximation, details_[picture]);
  }
}

void Scale::decouple(int row) {
  if (row >= shape_.top && row < shape_.bottom) {
    for (size_t b = 0; b < kSubbands; ++b) {
      weighed_powers(details_[0][b], shape_.left, shape_.right, rule_.factors[b], exponent_, reference_sums_[b]->row());
      reference_sums_[b]->add();
    }
  }
  const Part restored = parts_[0].of(row), added = parts_[1].of(row);
  float_adm::decouple(details_[0], details_[1], shape_.first_masked_column(), shape_.end_masked_column(), rule_,
                      restored, added);
  for (const Part& part : {restored, added}) {
    for (float* thirtieths : part.thirtieths) adm::mirror_ends(thirtieths, shape_.width);
  }
}

void Scale::mask_part(const PartRows& part, const PartRows& by, int above, int row, int below, SubbandSums& sums) {
  Mask mask;
  if (!options_.no_masking) {
    mask = {by.of(above).thirtieths, by.of(row).thirtieths, by.of(below).thirtieths, by.of(row).weighed};
  }
  masked_powers(part.of(row).weighed, mask, shape_.left, shape_.right, exponent_,
                {sums[0]->row(), sums[1]->row(), sums[2]->row()});
  for (std::optional<RowSums>& sum : sums) sum->add();
}

void Scale::mask(int above, int row, int below) {
  mask_part(parts_[0], parts_[1], above, row, below, kept_sums_);
  mask_part(parts_[1], parts_[0], above, row, below, added_sums_);
}

adm::ScaleNumbers Scale::finish() {
  std::array<float, 3 * kSubbands> totals{};
  size_t next = 0;
  for (SubbandSums* sums : {&reference_sums_, &kept_sums_, &added_sums_}) {
    for (std::optional<RowSums>& sum : *sums) totals[next++] = sum->total();
  }
  return numbers_of(totals, index_, shape_, options_);
}

adm::ScaleNumbers numbers_of(const std::array<float, 3 * kSubbands>& totals, int scale, const adm::ScaleShape& shape,
                             const Options& options) {
  if (scale == 0 && options.skip_scale0) return {.reference = 1e-10f};
  const auto inverse = static_cast<float>(1.0 / options.exponent);
  const float noise = library_power(static_cast<float>(shape.area() * options.noise_weight), inverse);
  const auto root = [&](size_t first, float each) {
    float total = 0;
    for (size_t b = first; b < first + kSubbands; ++b) total += library_power(totals[b], inverse) + each;
    return total;
  };
  return {.kept = root(kSubbands, noise), .reference = root(0, noise), .added = root(2 * kSubbands, 0)};
}

}  // namespace acuity::float_adm
