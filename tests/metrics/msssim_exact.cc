// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/msssim_exact.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace acuity::tests {
namespace {

struct Samples {
  int width = 0;
  int height = 0;
  std::vector<double> values;

  Samples(int w, int h) : width(w), height(h), values(static_cast<size_t>(w) * static_cast<size_t>(h)) {}
  double& at(int x, int y) {
    return values[static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)];
  }
  double at(int x, int y) const { return const_cast<Samples*>(this)->at(x, y); }
};

Samples luma_of(const ImageView& view) {
  Samples luma(view.width, view.height);
  for (int y = 0; y < view.height; ++y) {
    for (int x = 0; x < view.width; ++x) {
      const auto code = [&](size_t c) {
        return std::to_integer<int>(view.planes[c][y * view.row_stride + x * view.pixel_stride]);
      };
      luma.at(x, y) = std::nearbyint(0.2989 * code(0) + 0.5870 * code(1) + 0.1140 * code(2));
    }
  }
  return luma;
}

Samples halved(const Samples& in) {
  Samples out((in.width + 1) / 2, (in.height + 1) / 2);
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      const int x1 = std::min(2 * x + 1, in.width - 1);
      const int y1 = std::min(2 * y + 1, in.height - 1);
      out.at(x, y) = (in.at(2 * x, 2 * y) + in.at(x1, 2 * y) + in.at(2 * x, y1) + in.at(x1, y1)) / 4;
    }
  }
  return out;
}

std::array<double, 11> window() {
  std::array<double, 11> weights{};
  double sum = 0;
  for (size_t i = 0; i < 11; ++i) sum += weights[i] = std::exp(-std::pow(static_cast<double>(i) - 5, 2) / 4.5);
  for (double& weight : weights) weight /= sum;
  return weights;
}

// The mean over all places of contrast and structure, times luminance where that is asked for.
double similarity(const Samples& a, const Samples& b, bool with_luminance) {
  const std::array<double, 11> weights = window();
  const double c1 = 6.5025, c2 = 58.5225;
  double sum = 0;
  for (int y = 0; y < a.height - 10; ++y) {
    for (int x = 0; x < a.width - 10; ++x) {
      double mean_a = 0, mean_b = 0;
      const auto over_window = [&](const auto& add) {
        for (int j = 0; j < 11; ++j) {
          for (int i = 0; i < 11; ++i) {
            add(weights[static_cast<size_t>(i)] * weights[static_cast<size_t>(j)], a.at(x + i, y + j),
                b.at(x + i, y + j));
          }
        }
      };
      over_window([&](double w, double p, double q) {
        mean_a += w * p;
        mean_b += w * q;
      });
      double variance_a = 0, variance_b = 0, covariance = 0;
      over_window([&](double w, double p, double q) {
        variance_a += w * (p - mean_a) * (p - mean_a);
        variance_b += w * (q - mean_b) * (q - mean_b);
        covariance += w * (p - mean_a) * (q - mean_b);
      });
      double here = (2 * covariance + c2) / (variance_a + variance_b + c2);
      if (with_luminance) here *= (2 * mean_a * mean_b + c1) / (mean_a * mean_a + mean_b * mean_b + c1);
      sum += here;
    }
  }
  return sum / ((a.width - 10.0) * (a.height - 10.0));
}

}  // namespace

ExactMsssim exact_msssim(const ImageView& reference, const ImageView& distorted) {
  constexpr std::array<double, 5> kExponents{0.0448, 0.2856, 0.3001, 0.2363, 0.1333};
  Samples a = luma_of(reference), b = luma_of(distorted);
  ExactMsssim exact{1, {}};
  for (size_t s = 0; s < 5; ++s) {
    exact.scales[s] = similarity(a, b, s == 4);
    exact.value *= std::pow(std::max(exact.scales[s], 0.0), kExponents[s]);
    a = halved(a);
    b = halved(b);
  }
  return exact;
}

}  // namespace acuity::tests
