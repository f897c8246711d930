// SPDX-License-Identifier: BSD-2-Clause-Patent
// libvmaf blurs in float, each tap's product added to the sum of those before, and adds up row by row in float. All of
// that shows in the value, so the order of operations here is its own.
#include "metrics/motion/float_difference.h"

#include <cmath>
#include <vector>

#include "base/try.h"
#include "frames/frame_rows.h"
#include "frames/row_sums.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/motion/float_difference.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::motion {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

#include "metrics/motion/float_math.h"

// Five rows to one: downwards into `down`, which has room for two mirrored values on both sides, then along.
void BlurRow(const std::array<const float*, 5>& rows, const Taps& taps, int width, float* down, float* out) {
  const real outer(taps[0]), inner(taps[1]), middle(taps[2]);
  for (int x = 0; x < width; x += kLanes) {
    store(weighted(outer, inner, middle, load(rows[0] + x), load(rows[1] + x), load(rows[2] + x), load(rows[3] + x),
                   load(rows[4] + x)),
          down + x);
  }
  for (int i = 1; i <= 2; ++i) {
    down[-i] = down[i];
    down[width - 1 + i] = down[width - 1 - i];
  }
  for (int x = 0; x < width; x += kLanes) {
    const auto at = [&](int k) { return load_unaligned(down + x + k); };
    store(weighted(outer, inner, middle, at(-2), at(-1), at(0), at(1), at(2)), out + x);
  }
}

void SubtractRow(const float* before, const float* now, int width, float* out) {
  for (int x = 0; x < width; x += kLanes) store(abs(load(before + x) - load(now + x)), out + x);
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::motion
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::motion {
namespace {

HWY_EXPORT(BlurRow);
HWY_EXPORT(SubtractRow);

// Where a row or column of a plane at half its size comes from: between two that lie next to each other.
struct HalfPlace {
  int first = 0;
  int second = 0;
  float fraction = 0;

  HalfPlace(int i, int size, int half_size) {
    const float ratio = static_cast<float>(size) / static_cast<float>(half_size);
    const auto at = static_cast<float>((i + 0.5) * static_cast<double>(ratio) - 0.5);
    first = static_cast<int>(std::floor(at));
    second = static_cast<int>(std::ceil(at));
    fraction = at - static_cast<float>(first);
  }
};

float between(const HalfPlace& row, const HalfPlace& column, const float* first, const float* second) {
  const float dx = column.fraction, dy = row.fraction;
  return (1 - dy) * (1 - dx) * first[column.first] + (1 - dy) * dx * first[column.second] +
         dy * (1 - dx) * second[column.first] + dy * dx * second[column.second];
}

}  // namespace

Result<FloatBlur> FloatBlur::create(int width, const Taps& taps) {
  constexpr size_t kMargin = 16;
  const size_t row = BlurredPlane{.width = width}.stride(), down = row + 2 * kMargin;
  FloatBlur result;
  result.taps_ = taps;
  ACUITY_TRY_ASSIGN(result.memory_, Arena::create(5 * Arena::cost<float>(row) + Arena::cost<float>(down)));
  for (float*& samples : result.rows_) samples = result.memory_.take<float>(row);
  result.down_ = result.memory_.take<float>(down) + kMargin;
  return result;
}

void FloatBlur::blur(const FrameView& frame, int plane, const BlurredPlane& out) {
  for (int y = -2; y < out.height; ++y) {
    if (y + 2 < out.height) read_frame_row(frame, plane, y + 2, -128, rows_[static_cast<size_t>(y + 2) % 5]);
    if (y < 0) continue;
    std::array<const float*, 5> rows;
    for (int k = 0; k < 5; ++k) {
      rows[static_cast<size_t>(k)] = rows_[static_cast<size_t>(mirrored(y + k - 2, out.height) % 5)];
    }
    HWY_DYNAMIC_DISPATCH(BlurRow)(rows, taps_, out.width, down_, out.row(y));
  }
}

Result<FloatDifference> FloatDifference::create(int width, bool add_half_size) {
  const size_t sums = RowSums::scratch_floats(width);
  FloatDifference result;
  result.add_half_size_ = add_half_size;
  ACUITY_TRY_ASSIGN(result.memory_, Arena::create(Arena::cost<float>(sums)));
  result.sums_ = result.memory_.take<float>(sums);
  return result;
}

float FloatDifference::mean(const BlurredPlane& before, const BlurredPlane& now) {
  RowSums sums(sums_, now.width);
  for (int y = 0; y < now.height; ++y) {
    HWY_DYNAMIC_DISPATCH(SubtractRow)(before.row(y), now.row(y), now.width, sums.row());
    sums.add();
  }
  const float whole_size = mean_of(sums.total(), now.width, now.height);
  return add_half_size_ ? whole_size + half_size_mean(before, now) : whole_size;
}

float FloatDifference::half_size_mean(const BlurredPlane& before, const BlurredPlane& now) {
  const int width = (now.width + 1) / 2, height = (now.height + 1) / 2;
  RowSums sums(sums_, width);
  std::vector<HalfPlace> columns;
  for (int x = 0; x < width; ++x) columns.emplace_back(x, now.width, width);
  for (int y = 0; y < height; ++y) {
    const HalfPlace row(y, now.height, height);
    for (size_t x = 0; x < columns.size(); ++x) {
      const auto value = [&](const BlurredPlane& plane) {
        return between(row, columns[x], plane.row(row.first), plane.row(row.second));
      };
      sums.row()[x] = std::abs(value(before) - value(now));
    }
    sums.add();
  }
  return mean_of(sums.total(), width, height);
}

}  // namespace acuity::motion
#endif
