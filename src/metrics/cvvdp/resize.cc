// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/resize.h"

#include <algorithm>
#include <cmath>

#include "base/memory.h"

namespace acuity::cvvdp {
namespace {

// Cubic convolution, at a distance from the sample.
float cubic(float x) {
  constexpr float a = -0.75f;
  x = std::fabs(x);
  return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

}  // namespace

ResizedAxis::ResizedAxis(std::string_view mode, int from, int to) {
  const float ratio = static_cast<float>(from) / static_cast<float>(to);
  const auto add = [&](int index, float weight) {
    indices.push_back(std::clamp(index, 0, from - 1));
    weights.push_back(weight);
  };
  for (int d = 0; d < to; ++d) {
    const float centre = (static_cast<float>(d) + 0.5f) * ratio - 0.5f;
    if (mode == "nearest") {
      add(static_cast<int>(static_cast<float>(d) * ratio), 1);
    } else if (mode == "bilinear") {
      const float place = std::max(centre, 0.0f), below = std::floor(place);
      add(static_cast<int>(below), 1 - (place - below));
      add(static_cast<int>(below) + 1, place - below);
    } else if (mode == "bicubic") {
      const float below = std::floor(centre);
      for (int k = -1; k <= 2; ++k) add(static_cast<int>(below) + k, cubic(centre - below - static_cast<float>(k)));
    } else {
      const auto first = static_cast<int>(int64_t{d} * from / to);
      const auto end = static_cast<int>((int64_t{d + 1} * from + to - 1) / to);
      for (int i = first; i < end; ++i) add(i, 1.0f / static_cast<float>(end - first));
    }
    begins.push_back(indices.size());
  }
}

Resizer::Resizer(std::string_view mode, Size from, Size to)
    : width_(to.width),
      across_(mode, from.width, to.width),
      down_(mode, from.height, to.height),
      stride_(round_up(static_cast<size_t>(from.width), 32)),
      sums_(kStillChannels * stride_),
      row_(kStillChannels * stride_),
      scratch_(yuv_row_scratch(from.width)) {}

void Resizer::read(const FrameRowReader& frame, int y, const std::array<float*, kStillChannels>& rows) {
  std::fill(sums_.begin(), sums_.end(), 0.0f);
  for (size_t i = down_.begins[static_cast<size_t>(y)]; i < down_.begins[static_cast<size_t>(y) + 1]; ++i) {
    frame.read(down_.indices[i], scratch_.data(), row_.data(), row_.data() + stride_, row_.data() + 2 * stride_);
    for (size_t x = 0; x < sums_.size(); ++x) sums_[x] += down_.weights[i] * row_[x];
  }
  for (size_t c = 0; c < kStillChannels; ++c) {
    const float* from = sums_.data() + c * stride_;
    for (size_t x = 0; x < static_cast<size_t>(width_); ++x) {
      float sum = 0;
      for (size_t i = across_.begins[x]; i < across_.begins[x + 1]; ++i) {
        sum += across_.weights[i] * from[across_.indices[i]];
      }
      rows[c][x] = std::clamp(sum, 0.0f, 1.0f);
    }
  }
}

}  // namespace acuity::cvvdp
