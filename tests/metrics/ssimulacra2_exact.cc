// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ssimulacra2_exact.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "metrics/ssimulacra2/pooling.h"

namespace acuity::tests {
namespace {

using ssimulacra2::ScaleErrors;

struct Plane {
  int width = 0, height = 0;
  std::vector<double> values;
  Plane(int w, int h) : width(w), height(h), values(static_cast<size_t>(w) * static_cast<size_t>(h)) {}
  double& at(int x, int y) {
    return values[static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)];
  }
  double at(int x, int y) const { return const_cast<Plane*>(this)->at(x, y); }
};
using Colour3 = std::array<Plane, 3>;

Colour3 make(int width, int height) { return {Plane(width, height), Plane(width, height), Plane(width, height)}; }

Colour3 linear_light(const ImageView& view) {
  Colour3 out = make(view.width, view.height);
  for (size_t c = 0; c < 3; ++c) {
    for (int y = 0; y < view.height; ++y) {
      for (int x = 0; x < view.width; ++x) {
        const double v = static_cast<int>(view.planes[c][y * view.row_stride + x * view.pixel_stride]) / 255.0;
        out[c].at(x, y) = v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
      }
    }
  }
  return out;
}

Colour3 halved(const Colour3& in) {
  Colour3 out = make((in[0].width + 1) / 2, (in[0].height + 1) / 2);
  for (size_t c = 0; c < 3; ++c) {
    for (int y = 0; y < out[c].height; ++y) {
      for (int x = 0; x < out[c].width; ++x) {
        double sum = 0;
        for (int dy = 0; dy < 2; ++dy) {
          for (int dx = 0; dx < 2; ++dx) {
            sum += in[c].at(std::min(2 * x + dx, in[c].width - 1), std::min(2 * y + dy, in[c].height - 1));
          }
        }
        out[c].at(x, y) = sum / 4;
      }
    }
  }
  return out;
}

Colour3 positive_xyb(const Colour3& rgb) {
  constexpr double kMatrix[3][3] = {
      {0.30, 0.622, 0.078}, {0.23, 0.692, 0.078}, {0.24342268924547819, 0.20476744424496821, 0.5518098665095536}};
  constexpr double kBias = 0.0037930732552754493;
  Colour3 out = make(rgb[0].width, rgb[0].height);
  for (size_t i = 0; i < rgb[0].values.size(); ++i) {
    double root[3];
    for (size_t k = 0; k < 3; ++k) {
      double mixed = kBias;
      for (size_t c = 0; c < 3; ++c) mixed += kMatrix[k][c] * rgb[c].values[i];
      root[k] = std::cbrt(std::max(mixed, 0.0)) - std::cbrt(kBias);
    }
    const double y = (root[0] + root[1]) / 2;
    out[0].values[i] = (root[0] - root[1]) / 2 * 14 + 0.42;
    out[1].values[i] = y + 0.01;
    out[2].values[i] = root[2] - y + 0.55;
  }
  return out;
}

Plane blurred(const Plane& in) {
  Plane across(in.width, in.height), out(in.width, in.height);
  const auto tap = [](const Plane& plane, int x, int y) {
    return x < 0 || y < 0 || x >= plane.width || y >= plane.height ? 0.0 : plane.at(x, y);
  };
  for (int y = 0; y < in.height; ++y) {
    for (int x = 0; x < in.width; ++x) {
      double sum = kGaussianTaps[0] * in.at(x, y);
      for (int i = 1; i < 5; ++i) sum += kGaussianTaps[i] * (tap(in, x - i, y) + tap(in, x + i, y));
      across.at(x, y) = sum;
    }
  }
  for (int y = 0; y < in.height; ++y) {
    for (int x = 0; x < in.width; ++x) {
      double sum = kGaussianTaps[0] * across.at(x, y);
      for (int i = 1; i < 5; ++i) sum += kGaussianTaps[i] * (tap(across, x, y - i) + tap(across, x, y + i));
      out.at(x, y) = sum;
    }
  }
  return out;
}

Plane product(const Plane& a, const Plane& b) {
  Plane out(a.width, a.height);
  for (size_t i = 0; i < a.values.size(); ++i) out.values[i] = a.values[i] * b.values[i];
  return out;
}

ScaleErrors scale_errors(const Colour3& image1, const Colour3& image2) {
  ScaleErrors errors{};
  for (size_t c = 0; c < 3; ++c) {
    const Plane mu1 = blurred(image1[c]), mu2 = blurred(image2[c]);
    const Plane s11 = blurred(product(image1[c], image1[c])), s22 = blurred(product(image2[c], image2[c]));
    const Plane s12 = blurred(product(image1[c], image2[c]));
    for (size_t i = 0; i < mu1.values.size(); ++i) {
      const double m1 = mu1.values[i], m2 = mu2.values[i];
      const double ssim = 1 - (1 - (m1 - m2) * (m1 - m2)) * (2 * (s12.values[i] - m1 * m2) + 0.0009) /
                                  ((s11.values[i] - m1 * m1) + (s22.values[i] - m2 * m2) + 0.0009);
      const double edge = (1 + std::abs(image2[c].values[i] - m2)) / (1 + std::abs(image1[c].values[i] - m1)) - 1;
      const double map[3] = {std::max(ssim, 0.0), std::max(edge, 0.0), std::max(-edge, 0.0)};
      for (size_t m = 0; m < 3; ++m) {
        errors.value[c][0][m] += map[m];
        errors.value[c][1][m] += std::pow(map[m], 4);
      }
    }
    for (size_t m = 0; m < 3; ++m) {
      const double count = static_cast<double>(mu1.values.size());
      errors.value[c][0][m] /= count;
      errors.value[c][1][m] = std::pow(errors.value[c][1][m] / count, 0.25);
    }
  }
  return errors;
}

}  // namespace

double exact_ssimulacra2(const ImageView& reference, const ImageView& distorted) {
  Colour3 image1 = linear_light(reference), image2 = linear_light(distorted);
  std::vector<ScaleErrors> scales;
  const size_t count = ssimulacra2::scale_sizes(reference.width, reference.height).size();
  for (size_t s = 0; s < count; ++s) {
    scales.push_back(scale_errors(positive_xyb(image1), positive_xyb(image2)));
    image1 = halved(image1);
    image2 = halved(image2);
  }
  return ssimulacra2::score_of(scales);
}

}  // namespace acuity::tests
