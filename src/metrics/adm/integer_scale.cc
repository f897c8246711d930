// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/adm/integer_scale.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/library_power.h"
#include "base/try.h"

namespace acuity::adm {
namespace {

constexpr int kMargin = kColumnGroup;  // elements before and behind each row

int log2_rounded_up(int value) { return static_cast<int>(std::bit_width(static_cast<uint32_t>(value - 1))); }

uint64_t half_of(int bits) { return bits > 0 ? uint64_t{1} << (bits - 1) : 0; }

void add_rounded(const BandSums& row, int bits, BandSums& sums) {
  for (size_t b = 0; b < kBands; ++b) sums[b] += (row[b] + half_of(bits)) >> bits;
}

// How many bits are cut off each row's sum of the reference's cubes.
int reference_row_bits(int index, const ScaleShape& shape) {
  const int rows = shape.bottom - shape.top, columns = shape.right - shape.left;
  return index == 0 ? std::max(log2_rounded_up(rows * columns) - 20, 0) : log2_rounded_up(rows);
}

// The bits that are left of the scaling at the end, before those cut off on the way.
constexpr std::array<int, kScales> kReferenceBits{18, 32, 27, 23};
constexpr std::array<int, kScales> kLongMaskBits{0, 45, 39, 36};
constexpr std::array<int, kBands> kShortMaskBits{52, 52, 57};
constexpr std::array<int, kScales> kReferenceSquareBits{0, 31, 30, 31};

constexpr float kThird = 1.0f / 3.0f;

float root(double value) { return library_power(static_cast<float>(value), kThird); }

}  // namespace

Status IntegerScale::prepare(int index, const ScaleShape& shape, const IntegerOptions& options, IntegerScale* next) {
  index_ = index;
  shape_ = shape;
  options_ = options;
  next_ = next;

  const Sensitivity& sensitivity = options.sensitivities[static_cast<size_t>(index)];
  decouple_rule_.gain = options.gain;
  for (int b = 0; b < kBands; ++b) {
    const int bits = index > 0 ? 32 : b < 2 ? 21 : 23;
    decouple_rule_.factors[static_cast<size_t>(b)] =
        static_cast<uint32_t>(std::ldexp(static_cast<double>(sensitivity.of(b)), bits));
  }
  if (index == 0 && options.usual_viewing) decouple_rule_.factors = {36453, 36453, 49417};

  if (index == 0) {
    // libvmaf weighs three columns more than those that count at the right, and one at the left.
    const int begin = std::max(shape.left - 1, 0), end = std::min(shape.right + 3, shape.width);
    decouple_rule_.rounded_columns = end / 8 * 8;
    decouple_rule_.saturated_columns = end - (end - begin) % 8;
    decouple_rule_.wide_columns = shape.left > 0 ? shape.right - (shape.right - shape.left) % 6 : 0;
    short_mask_rule_.factors = decouple_rule_.factors;
    for (size_t b = 0; b < kBands; ++b) {
      const int cube_bits = log2_rounded_up(shape.width) - (b < 2 ? 4 : 3);
      const int square_bits = b < 2 ? 29 : 30;
      short_mask_rule_.threshold_bits[b] = b < 2 ? 10 : 12;
      short_mask_rule_.cubes[b] = {half_of(square_bits), square_bits, half_of(cube_bits), cube_bits};
    }
  } else {
    const int mask_bits = log2_rounded_up(shape.width), bits = log2_rounded_up(shape.right - shape.left);
    const int square_bits = kReferenceSquareBits[static_cast<size_t>(index)];
    long_mask_rule_ = {half_of(30), 30, half_of(mask_bits), mask_bits};
    // The reference rounds up by a whole, not by half of one.
    reference_rule_ = {uint64_t{1} << square_bits, square_bits, half_of(bits), bits};
  }

  constexpr size_t kRows = 2 * (4 * 2 + 4 + kBands + 2 * kBands + 6);  // those below
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
    for (size_t b = 0; b < kBands && has_details(); ++b) {
      if (index == 0) {
        short_details_[picture][b] = take_row<int16_t>();
      } else {
        long_details_[picture][b] = take_row<int32_t>();
      }
    }
    for (size_t part = 0; part < 2; ++part) {
      for (size_t b = 0; b < kBands; ++b) {
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
  reference_sums_ = kept_sums_ = added_sums_ = {};
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
  const BandSums sums = index_ == 0 ? sum_short_cubes(short_details_[0], shape_.left, shape_.right)
                                    : sum_long_cubes(long_details_[0], shape_.left, shape_.right, reference_rule_);
  add_rounded(sums, reference_row_bits(index_, shape_), reference_sums_);
}

void IntegerScale::decouple(int row) {
  sum_reference(row);
  const auto parity = static_cast<size_t>(row % 2);
  const int begin = shape_.first_masked_column(), end = shape_.end_masked_column();
  const Influence by_restored{masks_[0].around, masks_[0].centre[parity]};
  const Influence by_added{masks_[1].around, masks_[1].centre[parity]};
  if (index_ == 0) {
    DecoupleRule rule = decouple_rule_;
    if (row == 0 || row == shape_.height - 1) rule.wide_columns = 0;
    decouple_short(short_details_[0], short_details_[1], begin, end, rule, short_parts_[parity][0],
                   short_parts_[parity][1], by_restored, by_added);
  } else {
    decouple_long(long_details_[0], long_details_[1], begin, end, decouple_rule_, long_parts_[parity][0],
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

BandSums IntegerScale::mask_part(bool added, int row, const Mask& mask) const {
  const auto parity = static_cast<size_t>(row % 2);
  const size_t part = added ? 1 : 0;
  return index_ == 0 ? mask_short(short_parts_[parity][part], mask, shape_.left, shape_.right, short_mask_rule_)
                     : mask_long(long_parts_[parity][part], mask, shape_.left, shape_.right, long_mask_rule_);
}

void IntegerScale::mask(int above, int row, int below) {
  const int row_bits = log2_rounded_up(shape_.height);
  add_rounded(mask_part(false, row, mask_of(masks_[1], above, row, below)), row_bits, kept_sums_);
  if (options_.skip_aim) return;
  add_rounded(mask_part(true, row, mask_of(masks_[0], above, row, below)), row_bits, added_sums_);
}

ScaleNumbers IntegerScale::finish() const {
  if (!has_details()) return {.reference = 1e-10f};
  const auto index = static_cast<size_t>(index_);
  const float noise = root(shape_.area() * options_.noise_weight);

  float reference[kBands], kept[kBands], added[kBands];
  const int reference_bits = kReferenceBits[index] - reference_row_bits(index_, shape_) - reference_rule_.cube_bits;
  for (size_t b = 0; b < kBands; ++b) {
    const auto sensitivity = static_cast<double>(options_.sensitivities[index].of(static_cast<int>(b)));
    const double cubes = std::ldexp(static_cast<double>(reference_sums_[b]), -reference_bits);
    reference[b] = root(cubes * (sensitivity * sensitivity * sensitivity)) + noise;

    const int row_bits = log2_rounded_up(shape_.height);
    const auto masked = [&](uint64_t sum) {
      if (index_ > 0) {
        const int bits = kLongMaskBits[index] - long_mask_rule_.cube_bits - row_bits;
        return root(std::ldexp(static_cast<double>(static_cast<float>(sum)), -bits));
      }
      return root(
          std::ldexp(static_cast<double>(sum), -(kShortMaskBits[b] - short_mask_rule_.cubes[b].cube_bits - row_bits)));
    };
    kept[b] = masked(kept_sums_[b]) + noise;
    added[b] = masked(added_sums_[b]);
  }
  return {kept[0] + kept[1] + kept[2], reference[0] + reference[1] + reference[2], added[0] + added[1] + added[2]};
}

}  // namespace acuity::adm
