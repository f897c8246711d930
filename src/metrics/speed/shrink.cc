// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/speed/shrink.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/try.h"
#include "frames/frame_rows.h"
#include "frames/gaussian_windows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/speed/shrink.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::speed {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

void Subtract(float* row, const float* other, int width) {
  for (int x = 0; x < width; x += kLanes) store(load(row + x) - load(other + x), row + x);
}

// One row, weighted tap by tap from the top down.
void BlurDown(const float* const* rows, const float* taps, int count, int width, float* out) {
  for (int x = 0; x < width; x += kLanes) {
    real sum(0.0f);
    for (int k = 0; k < count; ++k) sum = sum + real(taps[k]) * load(rows[k] + x);
    store(sum, out + x);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::speed
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::speed {

HWY_EXPORT(Subtract);
HWY_EXPORT(BlurDown);

namespace {

constexpr int kStep = 16;       // every so many samples one is kept
constexpr int kLeastHeld = 16;  // rows of the plane; no method of scaling looks at more than nine
constexpr int kBeyond = 16;     // floats past the end of each row

ptrdiff_t stride_of(int width) {
  return static_cast<ptrdiff_t>(round_up(static_cast<size_t>(width + kBeyond), kAlignment / sizeof(float)));
}

}  // namespace

Geometry geometry_of(int width, int height, double prescale) {
  Geometry geometry{.width = width, .height = height};
  geometry.scaled_width = static_cast<int>(width * prescale + 0.5);
  geometry.scaled_height = static_cast<int>(height * prescale + 0.5);
  geometry.scaled = std::abs(prescale - 1) >= 1e-3;
  if (!geometry.scaled) {
    geometry.scaled_width = std::min(geometry.scaled_width, width);
    geometry.scaled_height = std::min(geometry.scaled_height, height);
  }
  geometry.small_width = geometry.scaled_width / kStep;
  geometry.small_height = geometry.scaled_height / kStep;
  return geometry;
}

ShrinkTaps shrink_taps(const Geometry& geometry, double kernel_scale, const std::string& method) {
  ShrinkTaps taps;
  const auto scale = static_cast<float>(kernel_scale);
  const int blur_taps = window_taps(9, scale), local_taps = window_taps(2, scale);
  // As wide as VIF's first filter, and twice its deviation.
  taps.blur = gaussian_window(blur_taps, static_cast<float>(2.0 * blur_taps / 5.0));
  taps.local = gaussian_window(local_taps, static_cast<float>(local_taps) / 5.0f);
  if (geometry.scaled) {
    taps.columns = scaling_taps(method, geometry.width, geometry.scaled_width);
    taps.lines = scaling_taps(method, geometry.height, geometry.scaled_height);
  }
  return taps;
}

Result<Shrinker> Shrinker::create(const Geometry& geometry, ShrinkTaps taps) {
  Shrinker made;
  made.geometry_ = geometry;
  made.taps_ = std::move(taps);
  const int blur_taps = static_cast<int>(made.taps_.blur.size());
  if (geometry.scaled) {
    for (int x = 0; x < geometry.scaled_width; ++x) {
      const int to_kept = std::abs(x - (x + kStep / 2) / kStep * kStep);
      if (to_kept <= blur_taps / 2 || x + blur_taps >= geometry.scaled_width) made.needed_.push_back(x);
    }
  }
  // Planes of odd frames are a sample wider than what is looked at.
  made.stride_ = stride_of(std::max(geometry.width + 1, geometry.scaled_width));
  made.small_stride_ = stride_of(geometry.small_width);
  made.held_.resize(static_cast<size_t>(std::max(kLeastHeld, blur_taps)));
  const auto row = static_cast<size_t>(made.stride_);
  const size_t means = static_cast<size_t>(made.small_stride_) * static_cast<size_t>(geometry.small_height + 1);
  const size_t rows = made.held_.size() + 2 + static_cast<size_t>(blur_taps);
  ACUITY_TRY_ASSIGN(made.arena_, Arena::create(rows * row * sizeof(float) + Arena::cost<float>(means)));
  made.source_rows_ = made.arena_.take<float>(made.held_.size() * row);
  made.subtracted_row_ = made.arena_.take<float>(row);
  made.blurred_ = made.arena_.take<float>(row);
  made.scaled_rows_ = made.arena_.take<float>(static_cast<size_t>(blur_taps) * row);
  made.means_ = made.arena_.take<float>(means);
  return made;
}

size_t Shrinker::bytes() const {
  return arena_.size() + taps_.columns.bytes() + taps_.lines.bytes() + needed_.size() * sizeof(int);
}

// A row of the plane, kept for a while.
const float* Shrinker::read(const PlaneReader& reader, int y) {
  const size_t slot = static_cast<size_t>(y) % held_.size();
  float* row = source_rows_ + static_cast<ptrdiff_t>(slot) * stride_;
  if (held_[slot] == y) return row;
  held_[slot] = y;
  read_frame_row(*reader.frame, reader.plane, y, -128, row);
  if (reader.subtracted == nullptr) return row;
  read_frame_row(*reader.subtracted, reader.plane, y, -128, subtracted_row_);
  HWY_DYNAMIC_DISPATCH(Subtract)(row, subtracted_row_, geometry_.width);
  return row;
}

const float* Shrinker::scaled_row(const PlaneReader& reader, int y, float* room) {
  if (!geometry_.scaled) return read(reader, y);
  const float* rows[kMostScalingTaps] = {};
  for (int t = 0; t < taps_.lines.count; ++t) {
    rows[t] = read(reader, taps_.lines.places[static_cast<size_t>(y * taps_.lines.count + t)]);
  }
  scale_row(rows, taps_.lines, y, taps_.columns, needed_, room);
  return room;
}

// Blurred down first, then across; the mean is what is taken away.
void Shrinker::subtract_local_mean(float* small) {
  const int taps = static_cast<int>(taps_.local.size()), width = geometry_.small_width, height = geometry_.small_height;
  float* down = means_ + height * small_stride_;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      float sum = 0;
      for (int k = 0; k < taps; ++k) {
        sum += taps_.local[static_cast<size_t>(k)] * small[mirrored(y - taps / 2 + k, height) * small_stride_ + x];
      }
      down[x] = sum;
    }
    for (int x = 0; x < width; ++x) {
      float sum = 0;
      for (int k = 0; k < taps; ++k)
        sum += taps_.local[static_cast<size_t>(k)] * down[mirrored(x - taps / 2 + k, width)];
      means_[y * small_stride_ + x] = sum;
    }
  }
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) small[y * small_stride_ + x] -= means_[y * small_stride_ + x];
  }
}

void Shrinker::shrink(const PlaneReader& reader, float* small) {
  std::fill(held_.begin(), held_.end(), -1);
  const int taps = static_cast<int>(taps_.blur.size());
  std::vector<const float*> rows(taps_.blur.size());
  for (int y = 0; y < geometry_.small_height; ++y) {
    for (int k = 0; k < taps; ++k) {
      const int line = mirrored(y * kStep - taps / 2 + k, geometry_.scaled_height);
      rows[static_cast<size_t>(k)] = scaled_row(reader, line, scaled_rows_ + k * stride_);
    }
    HWY_DYNAMIC_DISPATCH(BlurDown)(rows.data(), taps_.blur.data(), taps, geometry_.scaled_width, blurred_);
    for (int x = 0; x < geometry_.small_width; ++x) {
      float sum = 0;
      for (int k = 0; k < taps; ++k) {
        sum +=
            taps_.blur[static_cast<size_t>(k)] * blurred_[mirrored(x * kStep - taps / 2 + k, geometry_.scaled_width)];
      }
      small[y * small_stride_ + x] = sum;
    }
  }
  subtract_local_mean(small);
}

}  // namespace acuity::speed
#endif
