// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/speed/shrink.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/powers.h"
#include "base/try.h"
#include "metrics/frame_rows.h"

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
constexpr int kMostTaps = 9;

// The scales that libvmaf's VIF has filters for; SpEED borrows them.
constexpr float kKernelScales[] = {1.0f,     0.5f,     1.5f,      2.0f,      2.0f / 3,  2.4f,      360.0f / 97,
                                   4.0f / 3, 3.5f / 3, 3.75f / 3, 4.25f / 3, 5.0f / 3,  3.0f,      1.0f / 2.25f,
                                   1.4746f,  1.54f,    1.6f,      1.06667f,  0.711111f, 0.740740f, 1.111111f};

ptrdiff_t stride_of(int width) {
  return static_cast<ptrdiff_t>(round_up(static_cast<size_t>(width + kBeyond), kAlignment / sizeof(float)));
}

// Rounded up to an odd number, at least 3.
int taps_for(int at_scale_1, float kernel_scale) {
  const int taps = static_cast<int>(std::ceil(static_cast<float>(at_scale_1) * kernel_scale));
  return std::max(taps % 2 == 0 ? taps + 1 : taps, 3);
}

std::vector<float> gaussian(int taps, float deviation) {
  std::vector<float> weights;
  float sum = 0;
  const auto spread = static_cast<double>(deviation);
  const auto norm = static_cast<float>(1 / (spread * std::sqrt(2 * std::numbers::pi)));
  for (int i = 0; i < taps; ++i) {
    const double x = i - taps / 2;
    weights.push_back(static_cast<float>(exact_exp(-0.5 * x / spread * x / spread)) / norm);
    sum += weights.back();
  }
  for (float& weight : weights) weight /= sum;
  return weights;
}

float cubic(float distance) {
  constexpr float kA = -0.75f;
  const float t = std::abs(distance);
  if (t < 1) return ((kA + 2) * t - (kA + 3)) * t * t + 1;
  return t < 2 ? (((t - 5) * t + 8) * t - 4) * kA : 0;
}

// sin(pi x) by its series; arguments are small.
double sine_of_half_turns(double x) {
  const double nearest = std::floor(x + 0.5);
  const double z = (x - nearest) * std::numbers::pi, z2 = z * z;
  double series = 1;
  for (int k = 24; k >= 2; k -= 2) series = 1 - series * z2 / (k * (k + 1));
  return std::fmod(nearest, 2) == 0 ? z * series : -z * series;
}

float lanczos(float distance) {
  constexpr double kPi = std::numbers::pi;
  if (distance == 0) return 1;
  if (std::abs(distance) >= 4) return 0;
  const auto x = static_cast<double>(distance);
  return static_cast<float>(4 * sine_of_half_turns(x) * sine_of_half_turns(x / 4) / (kPi * kPi * x * x));
}

// Where the taps of each place of a scaled side are. Past the ends the side is mirrored.
Taps taps_of(const std::string& method, int from, int to) {
  const float ratio = static_cast<float>(from) / static_cast<float>(to);
  Taps taps;
  const auto add = [&](int place, float weight) {
    taps.places.push_back(std::clamp(mirrored(place, from), 0, from - 1));
    taps.weights.push_back(weight);
  };
  for (int i = 0; i < to; ++i) {
    if (method == "nearest") {
      add(static_cast<int>(static_cast<float>(i) * ratio), 1);
      continue;
    }
    const auto at = static_cast<float>((i + 0.5) * static_cast<double>(ratio) - 0.5);
    const int before = static_cast<int>(std::floor(at));
    if (method == "bilinear") {
      // Counted from where the first tap is after mirroring: at the near end the weights lie outside of 0 .. 1.
      const float part = at - static_cast<float>(std::clamp(mirrored(before, from), 0, from - 1));
      add(before, 1 - part);
      add(static_cast<int>(std::ceil(at)), part);
      taps.count = 2;
      continue;
    }
    const float part = at - static_cast<float>(before);
    const bool is_cubic = method == "bicubic";
    for (int t = is_cubic ? -1 : -4; t <= (is_cubic ? 2 : 4); ++t) {
      const float distance = static_cast<float>(t) - part;
      add(before + t, is_cubic ? cubic(distance) : lanczos(distance));
    }
    taps.count = is_cubic ? 4 : kMostTaps;
  }
  return taps;
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

bool is_kernel_scale(double scale) {
  return std::any_of(std::begin(kKernelScales), std::end(kKernelScales), [&](float known) {
    return static_cast<double>(std::abs(static_cast<float>(scale) - known)) < 1e-3;
  });
}

std::string kernel_scales() {
  std::vector<float> sorted(std::begin(kKernelScales), std::end(kKernelScales));
  std::sort(sorted.begin(), sorted.end());
  return fmt::format("{:.4g}", fmt::join(sorted, ", "));
}

Result<Shrinker> Shrinker::create(const Geometry& geometry, double kernel_scale, const std::string& method) {
  Shrinker made;
  made.geometry_ = geometry;
  const auto scale = static_cast<float>(kernel_scale);
  const int blur_taps = taps_for(9, scale), local_taps = taps_for(2, scale);
  // As wide as VIF's first filter, and twice its deviation.
  made.blur_ = gaussian(blur_taps, static_cast<float>(2.0 * blur_taps / 5.0));
  made.local_ = gaussian(local_taps, static_cast<float>(local_taps) / 5.0f);
  if (geometry.scaled) {
    made.columns_ = taps_of(method, geometry.width, geometry.scaled_width);
    made.lines_ = taps_of(method, geometry.height, geometry.scaled_height);
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
  return arena_.size() + (columns_.places.size() + lines_.places.size()) * (sizeof(int) + sizeof(float)) +
         needed_.size() * sizeof(int);
}

// A row of the plane, kept for a while.
const float* Shrinker::read(const PlaneSource& source, int y) {
  const size_t slot = static_cast<size_t>(y) % held_.size();
  float* row = source_rows_ + static_cast<ptrdiff_t>(slot) * stride_;
  if (held_[slot] == y) return row;
  held_[slot] = y;
  read_frame_row(*source.frame, source.plane, y, -128, row);
  if (source.subtracted == nullptr) return row;
  read_frame_row(*source.subtracted, source.plane, y, -128, subtracted_row_);
  HWY_DYNAMIC_DISPATCH(Subtract)(row, subtracted_row_, geometry_.width);
  return row;
}

const float* Shrinker::scaled_row(const PlaneSource& source, int y, float* room) {
  if (!geometry_.scaled) return read(source, y);
  const float* rows[kMostTaps] = {};
  const float* row_weights = lines_.weights.data() + y * lines_.count;
  for (int t = 0; t < lines_.count; ++t) {
    rows[t] = read(source, lines_.places[static_cast<size_t>(y * lines_.count + t)]);
  }
  const auto scale = [&](auto taps, auto normalised) {
    constexpr int kTaps = taps;
    float down[kTaps];
    std::copy_n(row_weights, kTaps, down);
    for (const int x : needed_) {
      const int* places = columns_.places.data() + x * kTaps;
      const float* across = columns_.weights.data() + x * kTaps;
      float value = 0, sum = 0;
      for (int j = 0; j < kTaps; ++j) {
        for (int i = 0; i < kTaps; ++i) {
          const float weight = down[j] * across[i];
          value += rows[j][places[i]] * weight;
          if (normalised) sum += weight;
        }
      }
      room[x] = normalised ? value / sum : value;
    }
  };
  switch (columns_.count) {
    case 1:
      scale(std::integral_constant<int, 1>(), std::false_type());
      break;
    case 2:
      scale(std::integral_constant<int, 2>(), std::false_type());
      break;
    case 4:
      scale(std::integral_constant<int, 4>(), std::false_type());
      break;
    default:
      scale(std::integral_constant<int, kMostTaps>(), std::true_type());
      break;
  }
  return room;
}

// Blurred down first, then across; the mean is what is taken away.
void Shrinker::subtract_local_mean(float* small) {
  const int taps = static_cast<int>(local_.size()), width = geometry_.small_width, height = geometry_.small_height;
  float* down = means_ + height * small_stride_;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      float sum = 0;
      for (int k = 0; k < taps; ++k) {
        sum += local_[static_cast<size_t>(k)] * small[mirrored(y - taps / 2 + k, height) * small_stride_ + x];
      }
      down[x] = sum;
    }
    for (int x = 0; x < width; ++x) {
      float sum = 0;
      for (int k = 0; k < taps; ++k) sum += local_[static_cast<size_t>(k)] * down[mirrored(x - taps / 2 + k, width)];
      means_[y * small_stride_ + x] = sum;
    }
  }
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) small[y * small_stride_ + x] -= means_[y * small_stride_ + x];
  }
}

void Shrinker::shrink(const PlaneSource& source, float* small) {
  std::fill(held_.begin(), held_.end(), -1);
  const int taps = static_cast<int>(blur_.size());
  std::vector<const float*> rows(blur_.size());
  for (int y = 0; y < geometry_.small_height; ++y) {
    for (int k = 0; k < taps; ++k) {
      const int line = mirrored(y * kStep - taps / 2 + k, geometry_.scaled_height);
      rows[static_cast<size_t>(k)] = scaled_row(source, line, scaled_rows_ + k * stride_);
    }
    HWY_DYNAMIC_DISPATCH(BlurDown)(rows.data(), blur_.data(), taps, geometry_.scaled_width, blurred_);
    for (int x = 0; x < geometry_.small_width; ++x) {
      float sum = 0;
      for (int k = 0; k < taps; ++k) {
        sum += blur_[static_cast<size_t>(k)] * blurred_[mirrored(x * kStep - taps / 2 + k, geometry_.scaled_width)];
      }
      small[y * small_stride_ + x] = sum;
    }
  }
  subtract_local_mean(small);
}

}  // namespace acuity::speed
#endif
