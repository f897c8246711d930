// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/adm/integer_scale.h"

#include <algorithm>
#include <cstring>

#include "base/try.h"

namespace acuity::adm {
namespace {

constexpr int kMargin = kColumnGroup;  // elements before and behind each row

}  // namespace

Status IntegerScale::prepare(int index, const ScaleShape& shape, const IntegerOptions& options, IntegerScale* next) {
  index_ = index;
  shape_ = shape;
  options_ = options;
  next_ = next;

  rules_ = scale_rules(index, shape, options);

  constexpr size_t kRows = 2 * (4 * 2 + 4 + kSubbands + 2 * kSubbands + 6);  // those below
  const size_t row_bytes = Arena::cost<int32_t>(static_cast<size_t>(shape.input_width + 2 * kMargin));
  Result<Arena> arena = Arena::create(kRows * row_bytes);
  if (!arena.ok()) return arena.status();
  arena_ = std::move(*arena);

  for (size_t picture = 0; picture < 2; ++picture) {
    if (index > 0) {
      for (SplitRow& input : inputs_[picture]) input = {take_row<int16_t>(), take_row<int16_t>()};
    }
    filtered_[picture].low = {take_row<int16_t>(), take_row<int16_t>()};
    filtered_[picture].high = {take_row<int16_t>(), take_row<int16_t>()};
    for (size_t b = 0; b < kSubbands && has_details(); ++b) {
      if (index == 0) {
        short_details_[picture][b] = take_row<int16_t>();
      } else {
        long_details_[picture][b] = take_row<int32_t>();
      }
    }
    for (size_t part = 0; part < 2; ++part) {
      for (size_t b = 0; b < kSubbands; ++b) {
        if (index == 0) {
          short_parts_[picture][part][b] = take_row<int16_t>();
        } else {
          long_parts_[picture][part][b] = take_row<uint32_t>();
        }
      }
    }
    if (picture == 0 && options.skip_aim) continue;
    for (int32_t*& row : masks_[picture].sums) row = take_row<int32_t>();
    for (int32_t*& row : masks_[picture].centre) row = take_row<int32_t>();
    masks_[picture].around = take_row<int32_t>();
  }
  return {};
}

template <typename T>
T* IntegerScale::take_row() {
  const size_t count = static_cast<size_t>(shape_.input_width + 2 * kMargin);
  T* row = arena_.take<T>(count);
  std::memset(row, 0, count * sizeof(T));  // what is computed past the ends is not used, but must not vary
  return row + kMargin;
}

void IntegerScale::begin(const FrameView& reference, const FrameView& distorted) {
  frames_ = {reference, distorted};
  runs_on_ = has_details() && runs_on(index_, shape_.width, distorted.depth);
  // It changes details of the last column alone, and few scales are so narrow that they count.
  if (runs_on_ && shape_.end_masked_column() == shape_.width) behind_rows_ = left_by_scale_before(index_, distorted);
  sums_ = {};
}

void IntegerScale::filter(int row, const std::array<int, 4>& inputs) {
  Pair<SplitRow> approximations;
  for (size_t picture = 0; picture < 2 && next_ != nullptr; ++picture) {
    approximations[picture] = next_->inputs_[picture][static_cast<size_t>(row % 4)];
  }
  if (index_ > 0) return filter_approximations(inputs, approximations);
  for (size_t picture = 0; picture < 2; ++picture) filter_picture(picture, inputs, approximations[picture].upper);
}

void IntegerScale::filter_picture(size_t picture, const std::array<int, 4>& inputs, int16_t* approximation) {
  const FrameView& frame = frames_[picture];
  SampleRows samples{.width = shape_.input_width, .depth = frame.depth};
  const auto row_at = [&](int y) { return frame.planes[0] + y * frame.row_strides[0]; };
  for (size_t i = 0; i < 4; ++i) samples.rows[i] = row_at(inputs[i]);
  if (inputs[3] + 2 < shape_.input_height) samples.ahead = {row_at(inputs[3] + 1), row_at(inputs[3] + 2)};
  int16_t* low = filtered_[picture].low.upper;
  int16_t* high = has_details() ? filtered_[picture].high.upper : nullptr;
  const int begin = std::max(2 * shape_.first_column - kColumnGroup, 0);
  const int end = std::min(2 * shape_.end_column + 1, shape_.input_width);
  filter_samples(samples, begin, end, low, high);
  mirror_ends(low, shape_.input_width);
  if (high != nullptr) mirror_ends(high, shape_.input_width);
  if (runs_on_) {
    std::copy_n(high, kColumnsBehind, low + shape_.input_width);
    std::fill_n(high + shape_.input_width, kColumnsBehind, int16_t{0});
  }
  filter_columns(low, high, shape_.first_column, shape_.end_column, approximation, short_details_[picture]);
}

void IntegerScale::filter_approximations(const std::array<int, 4>& inputs, const Pair<SplitRow>& approximations) {
  const int begin = std::max(2 * shape_.first_column - kColumnGroup, 0);
  const int end = std::min(2 * shape_.end_column + 1, shape_.input_width);
  for (size_t picture = 0; picture < 2; ++picture) {
    const auto input = [&](size_t i) { return inputs_[picture][static_cast<size_t>(inputs[i] % 4)]; };
    const auto& [low, high] = filtered_[picture];
    if (index_ == 1) {
      filter_rows({input(0).upper, input(1).upper, input(2).upper, input(3).upper}, begin, end, low, high);
    } else {
      filter_split_rows({input(0), input(1), input(2), input(3)}, begin, end, low, high);
    }
    for (int16_t* part : {low.upper, low.lower, high.upper, high.lower}) mirror_ends(part, shape_.input_width);
  }
  if (runs_on_) {
    const auto& [reference, distorted] = filtered_;
    join_rows({reference.low, reference.high, distorted.low, distorted.high}, shape_.input_width, behind_rows_);
  }
  for (size_t picture = 0; picture < 2; ++picture) {
    filter_split_columns(filtered_[picture].low, filtered_[picture].high, index_ == 2, shape_.first_column,
                         shape_.end_column, approximations[picture], long_details_[picture]);
  }
}

void IntegerScale::sum_reference(int row) {
  if (row < shape_.top || row >= shape_.bottom) return;
  const SubbandSums sums = index_ == 0 ? sum_short_cubes(short_details_[0], shape_.left, shape_.right)
                                       : sum_long_cubes(long_details_[0], shape_.left, shape_.right, rules_.reference);
  add_rounded(sums, rules_.reference_row_bits, sums_.reference);
}

void IntegerScale::decouple(int row) {
  sum_reference(row);
  const auto parity = static_cast<size_t>(row % 2);
  const int begin = shape_.first_masked_column(), end = shape_.end_masked_column();
  const Influence by_restored{masks_[0].around, masks_[0].centre[parity]};
  const Influence by_added{masks_[1].around, masks_[1].centre[parity]};
  if (index_ == 0) {
    DecoupleRule rule = rules_.decouple;
    if (row == 0 || row == shape_.height - 1) rule.wide_columns = 0;
    decouple_short(short_details_[0], short_details_[1], begin, end, rule, short_parts_[parity][0],
                   short_parts_[parity][1], by_restored, by_added);
  } else {
    decouple_long(long_details_[0], long_details_[1], begin, end, rules_.decouple, long_parts_[parity][0],
                  long_parts_[parity][1], by_restored, by_added);
  }
  for (MaskRows& rows : masks_) spread(rows, row);
}

void IntegerScale::spread(MaskRows& rows, int row) {
  if (rows.around == nullptr) return;
  rows.around[-1] = rows.around[1];
  rows.around[shape_.width] = rows.around[shape_.width - 1];
  add_neighbours(rows.around, shape_.first_masked_column(), shape_.end_masked_column(),
                 rows.sums[static_cast<size_t>(row % 3)]);
}

Mask IntegerScale::mask_of(const MaskRows& rows, int above, int row, int below) const {
  const auto sums = [&](int of) { return rows.sums[static_cast<size_t>(of % 3)]; };
  return {{sums(above), sums(row), sums(below)}, rows.centre[static_cast<size_t>(row % 2)]};
}

SubbandSums IntegerScale::mask_part(bool added, int row, const Mask& mask) const {
  const auto parity = static_cast<size_t>(row % 2);
  const size_t part = added ? 1 : 0;
  return index_ == 0 ? mask_short(short_parts_[parity][part], mask, shape_.left, shape_.right, rules_.short_mask)
                     : mask_long(long_parts_[parity][part], mask, shape_.left, shape_.right, rules_.long_mask);
}

void IntegerScale::mask(int above, int row, int below) {
  add_rounded(mask_part(false, row, mask_of(masks_[1], above, row, below)), rules_.mask_row_bits, sums_.kept);
  if (options_.skip_aim) return;
  add_rounded(mask_part(true, row, mask_of(masks_[0], above, row, below)), rules_.mask_row_bits, sums_.added);
}

}  // namespace acuity::adm
