// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_vif/scaling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "metrics/frame_rows.h"

namespace acuity::float_vif {
namespace {

constexpr size_t kMostTaps = 9;

// The samples along one side that make one of the result, and what each counts.
struct Place {
  std::array<int, kMostTaps> index{};
  std::array<float, kMostTaps> weight{};
};

int inside(int i, int size) { return std::clamp(mirrored(i, size), 0, size - 1); }

// Where the middle of a sample of the result lies among those of the source.
float centre(int i, float ratio) { return static_cast<float>((i + 0.5) * static_cast<double>(ratio) - 0.5); }

float cubic(float t) {
  constexpr float kBend = -0.75f;
  t = std::abs(t);
  if (t < 1) return ((kBend + 2) * t - (kBend + 3)) * t * t + 1;
  if (t < 2) return (((t - 5) * t + 8) * t - 4) * kBend;
  return 0;
}

// sin(pi x) for |x| <= 5, by its series: the C library's last bit is not the same everywhere.
double sine_of_pi(double x) {
  const double turns = std::nearbyint(x);
  const double angle = (x - turns) * std::numbers::pi;
  double term = angle, sum = angle;
  for (int i = 1; i < 12; ++i) {
    term *= -angle * angle / ((2 * i) * (2 * i + 1));
    sum += term;
  }
  return static_cast<int>(turns) % 2 == 0 ? sum : -sum;
}

float lanczos(float x) {
  constexpr double kReach = 4;
  if (x == 0) return 1;
  const auto d = static_cast<double>(x);
  if (std::abs(d) >= kReach) return 0;
  return static_cast<float>(kReach * sine_of_pi(d) * sine_of_pi(d / kReach) /
                            (std::numbers::pi * std::numbers::pi * d * d));
}

// The places along a side for a filter that reaches from `first` to `last` samples from the one at or before the
// middle.
template <class Weigh>
std::vector<Place> places(int from, int to, int first, int last, const Weigh& weigh) {
  const float ratio = static_cast<float>(from) / static_cast<float>(to);
  std::vector<Place> result(static_cast<size_t>(to));
  for (int i = 0; i < to; ++i) {
    const float middle = centre(i, ratio);
    const int whole = static_cast<int>(std::floor(middle));
    const float fraction = middle - static_cast<float>(whole);
    for (int k = first; k <= last; ++k) {
      const auto tap = static_cast<size_t>(k - first);
      result[static_cast<size_t>(i)].index[tap] = inside(whole + k, from);
      result[static_cast<size_t>(i)].weight[tap] = weigh(static_cast<float>(k) - fraction);
    }
  }
  return result;
}

// Both filters at once, because products are added in this order.
void scale_by_window(const PlaneOf<const float>& from, const PlaneOf<float>& to, int first, int last, bool normalised,
                     float (*weigh)(float)) {
  const std::vector<Place> columns = places(from.width, to.width, first, last, weigh);
  const std::vector<Place> lines = places(from.height, to.height, first, last, weigh);
  const auto taps = static_cast<size_t>(last - first + 1);
  for (int y = 0; y < to.height; ++y) {
    const Place& line = lines[static_cast<size_t>(y)];
    for (int x = 0; x < to.width; ++x) {
      const Place& column = columns[static_cast<size_t>(x)];
      float sum = 0, weights = 0;
      for (size_t j = 0; j < taps; ++j) {
        const float* row = from.row(line.index[j]);
        for (size_t i = 0; i < taps; ++i) {
          const float weight = column.weight[i] * line.weight[j];
          weights += weight;
          sum += row[column.index[i]] * weight;
        }
      }
      to.row(y)[x] = normalised ? sum / weights : sum;
    }
  }
}

void scale_nearest(const PlaneOf<const float>& from, const PlaneOf<float>& to) {
  const float across = static_cast<float>(from.width) / static_cast<float>(to.width);
  const float down = static_cast<float>(from.height) / static_cast<float>(to.height);
  const auto source = [](int i, float ratio, int size) {
    return std::min(static_cast<int>(static_cast<float>(i) * ratio), size - 1);
  };
  for (int y = 0; y < to.height; ++y) {
    const float* row = from.row(source(y, down, from.height));
    for (int x = 0; x < to.width; ++x) to.row(y)[x] = row[source(x, across, from.width)];
  }
}

// The fraction is counted from the mirrored sample, so that it is not one beyond the first.
struct Between {
  int before = 0;
  int behind = 0;
  float fraction = 0;
};
Between between(int i, float ratio, int size) {
  const float middle = centre(i, ratio);
  Between result{inside(static_cast<int>(std::floor(middle)), size), inside(static_cast<int>(std::ceil(middle)), size)};
  result.fraction = middle - static_cast<float>(result.before);
  return result;
}

void scale_bilinear(const PlaneOf<const float>& from, const PlaneOf<float>& to) {
  const float across = static_cast<float>(from.width) / static_cast<float>(to.width);
  const float down = static_cast<float>(from.height) / static_cast<float>(to.height);
  std::vector<Between> columns;
  for (int x = 0; x < to.width; ++x) columns.push_back(between(x, across, from.width));
  for (int y = 0; y < to.height; ++y) {
    const Between line = between(y, down, from.height);
    const float *upper = from.row(line.before), *lower = from.row(line.behind);
    const float dy = line.fraction;
    for (int x = 0; x < to.width; ++x) {
      const Between& column = columns[static_cast<size_t>(x)];
      const float dx = column.fraction;
      to.row(y)[x] = (1 - dy) * (1 - dx) * upper[column.before] + (1 - dy) * dx * upper[column.behind] +
                     dy * (1 - dx) * lower[column.before] + dy * dx * lower[column.behind];
    }
  }
}

}  // namespace

void scale_plane(const std::string& method, const PlaneOf<const float>& from, const PlaneOf<float>& to) {
  if (method == "nearest") return scale_nearest(from, to);
  if (method == "bilinear") return scale_bilinear(from, to);
  if (method == "bicubic") return scale_by_window(from, to, -1, 2, false, cubic);
  scale_by_window(from, to, -4, 4, true, lanczos);
}

}  // namespace acuity::float_vif
