// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/adm/row_ends.h"

#include <cstdlib>

namespace acuity::adm {
namespace {

// Single places of a picture filtered by the low filter alone, one by one from the samples.
class Corner {
 public:
  explicit Corner(const FrameView& picture) : picture_(picture), shapes_(scale_shapes(picture.width, picture.height)) {}

  /// Of rows alone.
  int32_t filtered(size_t scale, int column, int row) const {
    const std::array<int, 4> inputs = shapes_[scale].inputs_of(row);
    int64_t sum = 0;
    for (size_t i = 0; i < 4; ++i) sum += int64_t{kLow[i]} * input(scale, column, inputs[i]);
    return scale == 1 ? static_cast<int32_t>(sum) : rounded(sum, scale == 0 ? picture_.depth : 16);
  }

  int last_row(size_t scale) const { return shapes_[scale].height - 1; }

 private:
  static int32_t rounded(int64_t sum, int bits) {
    return static_cast<int32_t>((sum + (int64_t{1} << (bits - 1))) >> bits);
  }

  int32_t input(size_t scale, int column, int row) const {
    if (scale == 0) return sample(column, row);
    int64_t sum = 0;
    for (int i = 0; i < 4; ++i) sum += int64_t{kLow[i]} * filtered(scale - 1, std::abs(2 * column - 1 + i), row);
    return rounded(sum, scale == 2 ? 15 : 16);
  }

  int32_t sample(int column, int row) const {
    const std::byte* samples = picture_.planes[0] + row * picture_.row_strides[0];
    const int code = picture_.depth == 8 ? reinterpret_cast<const uint8_t*>(samples)[column]
                                         : reinterpret_cast<const uint16_t*>(samples)[column];
    return code - (1 << (picture_.depth - 1));
  }

  const FrameView& picture_;
  ScaleShapes shapes_;
};

}  // namespace

bool runs_on(int scale, int width, int depth) { return scale == 0 ? depth > 8 && width % 16 == 1 : width % 4 == 1; }

std::array<int32_t, kColumnsBehind> left_by_scale_before(int scale, const FrameView& distorted) {
  // Before scale 1 nothing was there.
  if (scale < 2) return {};
  const Corner corner(distorted);
  const auto before = static_cast<size_t>(scale - 1);
  // Four rows of this scale end in the middle of the four of the one before, or two columns after that.
  const int first = scale_shapes(distorted.width, distorted.height)[before].input_width % 2 == 0 ? 0 : 2;
  std::array<int32_t, kColumnsBehind> result{};
  for (int i = 0; i < 2; ++i) {
    result[static_cast<size_t>(i)] = corner.filtered(before, first + i, corner.last_row(before));
  }
  return result;
}

void join_rows(const std::array<SplitRow, 4>& rows, int width, const std::array<int32_t, kColumnsBehind>& behind) {
  for (size_t i = 0; i < kColumnsBehind; ++i) {
    const size_t end = static_cast<size_t>(width) + i;
    for (size_t r = 0; r + 1 < rows.size(); ++r) {
      rows[r].upper[end] = rows[r + 1].upper[i];
      rows[r].lower[end] = rows[r + 1].lower[i];
    }
    rows.back().upper[end] = static_cast<int16_t>(behind[i] >> 16);
    rows.back().lower[end] = static_cast<int16_t>((behind[i] & 0xFFFF) - 0x8000);
  }
}

}  // namespace acuity::adm
