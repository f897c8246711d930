// SPDX-License-Identifier: BSD-2-Clause-Patent
// libvmaf blurs in float, each tap's product added to the sum of those before, and adds up row by row in float. All of
// that shows in the value, so the order of operations here is its own.
#include "metrics/motion/float_difference.h"

#include <cmath>

#include "base/try.h"
#include "metrics/frame_rows.h"
#include "metrics/row_sums.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/motion/float_difference.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::motion {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

template <typename Load>
HWY_INLINE real weighted(const Taps& taps, const Load& load_tap) {
  real sum = real(taps[0]) * load_tap(0);
  for (int k = 1; k < 5; ++k) sum = sum + real(taps[static_cast<size_t>(k)]) * load_tap(k);
  return sum;
}

// Five rows to one: downwards into `down`, which has room for two mirrored values on both sides, then along.
void BlurRow(const std::array<const float*, 5>& rows, const Taps& taps, int width, float* down, float* out) {
  for (int x = 0; x < width; x += kLanes) {
    store(weighted(taps, [&](int k) { return load(rows[static_cast<size_t>(k)] + x); }), down + x);
  }
  for (int i = 1; i <= 2; ++i) {
    down[-i] = down[i];
    down[width - 1 + i] = down[width - 1 - i];
  }
  for (int x = 0; x < width; x += kLanes) {
    store(weighted(taps, [&](int k) { return load_unaligned(down + x + k - 2); }), out + x);
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

size_t padded(int width) { return round_up(static_cast<size_t>(width), 16); }

}  // namespace

Result<FloatDifference> FloatDifference::create(int width, const Taps& taps, bool add_half_size) {
  constexpr size_t kMargin = 16;
  const size_t row = padded(width), down = row + 2 * kMargin;
  const size_t sums = RowSums::scratch_floats(width), half_sums = add_half_size ? RowSums::scratch_floats(width) : 0;
  FloatDifference result;
  result.taps_ = taps;
  result.add_half_size_ = add_half_size;
  ACUITY_TRY_ASSIGN(result.memory_, Arena::create(14 * Arena::cost<float>(row) + Arena::cost<float>(down) +
                                                  Arena::cost<float>(sums) + Arena::cost<float>(half_sums)));
  for (Side& side : result.sides_) {
    for (float*& samples : side.rows) samples = result.memory_.take<float>(row);
    for (float*& blurred : side.blurred) blurred = result.memory_.take<float>(row);
  }
  result.down_ = result.memory_.take<float>(down) + kMargin;
  result.sums_ = result.memory_.take<float>(sums);
  result.half_sums_ = result.memory_.take<float>(half_sums);
  return result;
}

float FloatDifference::mean(const FrameView& before, const FrameView& now, int plane) {
  const int width = now.plane_width(plane), height = now.plane_height(plane);
  const int half_width = (width + 1) / 2, half_height = (height + 1) / 2;
  const std::array<const FrameView*, 2> frames{&before, &now};
  RowSums sums(sums_, width), half_sums(half_sums_, half_width);
  std::vector<HalfPlace> columns;
  for (int x = 0; add_half_size_ && x < half_width; ++x) columns.emplace_back(x, width, half_width);
  int half_y = 0;
  for (int y = -2; y < height; ++y) {
    for (size_t i = 0; i < 2 && y + 2 < height; ++i) {
      read_frame_row(*frames[i], plane, y + 2, -128, sides_[i].rows[static_cast<size_t>(y + 2) % 5]);
    }
    if (y < 0) continue;
    const size_t last = static_cast<size_t>(y) % 2;
    for (Side& side : sides_) {
      std::array<const float*, 5> rows;
      for (int k = 0; k < 5; ++k) {
        rows[static_cast<size_t>(k)] = side.rows[static_cast<size_t>(mirrored(y + k - 2, height) % 5)];
      }
      HWY_DYNAMIC_DISPATCH(BlurRow)(rows, taps_, width, down_, side.blurred[last]);
    }
    HWY_DYNAMIC_DISPATCH(SubtractRow)(sides_[0].blurred[last], sides_[1].blurred[last], width, sums.row());
    sums.add();

    const HalfPlace row(half_y, height, half_height);
    if (!add_half_size_ || half_y == half_height || row.second > y) continue;
    const size_t first = static_cast<size_t>(row.first) % 2, second = static_cast<size_t>(row.second) % 2;
    for (size_t x = 0; x < columns.size(); ++x) {
      const auto value = [&](const Side& side) {
        return between(row, columns[x], side.blurred[first], side.blurred[second]);
      };
      half_sums.row()[x] = std::abs(value(sides_[0]) - value(sides_[1]));
    }
    half_sums.add();
    ++half_y;
  }
  const auto mean_of = [](float sum, int w, int h) { return sum / static_cast<float>(w * h); };
  const float whole_size = mean_of(sums.total(), width, height);
  return add_half_size_ ? whole_size + mean_of(half_sums.total(), half_width, half_height) : whole_size;
}

}  // namespace acuity::motion
#endif
