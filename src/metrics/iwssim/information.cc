// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/iwssim/information.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace acuity::iwssim {
namespace {

using Matrix = std::array<std::array<double, kValues>, kValues>;

constexpr size_t pair_index(size_t p, size_t q) { return q * (q + 1) / 2 + p; }

// Below this share of its own variance a value is taken to follow from those before it: float sums hold no more.
constexpr double kDependent = 1e-6;

Matrix covariance_of(std::span<const TileProducts> tiles, size_t count, double samples) {
  std::array<double, kValuePairs> sums{};
  for (const TileProducts& tile : tiles) {
    for (size_t i = 0; i < kValuePairs; ++i) sums[i] += static_cast<double>(tile[i]);
  }
  Matrix covariance{};
  for (size_t q = 0; q < count; ++q) {
    for (size_t p = 0; p <= q; ++p) covariance[p][q] = covariance[q][p] = sums[pair_index(p, q)] / samples;
  }
  return covariance;
}

// Squares of the patterns' lengths: the products of 3, 2 and 6 along rows and columns. The parent stands for itself.
double squared_length(size_t value) {
  constexpr double kLengths[3] = {3, 2, 6};
  return value < kPatterns ? kLengths[value / 3] * kLengths[value % 3] : 1;
}

// By Jacobi's rotations, of which each makes one pair of elements zero; the largest first.
std::array<double, kValues> eigenvalues_of(Matrix m, size_t count) {
  for (int sweep = 0; sweep < 30; ++sweep) {
    double diagonal = 0;
    double others = 0;
    for (size_t p = 0; p < count; ++p) {
      diagonal += m[p][p] * m[p][p];
      for (size_t q = 0; q < p; ++q) others += m[p][q] * m[p][q];
    }
    // What is left counts by its square.
    if (others <= 1e-26 * diagonal) break;
    for (size_t p = 0; p < count; ++p) {
      for (size_t q = p + 1; q < count; ++q) {
        if (m[p][q] == 0) continue;
        const double theta = (m[q][q] - m[p][p]) / (2 * m[p][q]);
        const double tangent = (theta < 0 ? -1 : 1) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
        const double cosine = 1 / std::sqrt(tangent * tangent + 1);
        const double sine = tangent * cosine;
        m[p][p] -= tangent * m[p][q];
        m[q][q] += tangent * m[p][q];
        m[p][q] = m[q][p] = 0;
        for (size_t k = 0; k < count; ++k) {
          if (k == p || k == q) continue;
          const double a = m[k][p];
          const double b = m[k][q];
          m[k][p] = m[p][k] = cosine * a - sine * b;
          m[k][q] = m[q][k] = sine * a + cosine * b;
        }
      }
    }
  }
  std::array<double, kValues> values{};
  for (size_t i = 0; i < count; ++i) values[i] = std::max(m[i][i], 0.0);
  std::sort(values.begin(), values.begin() + static_cast<ptrdiff_t>(count), std::greater<>());
  return values;
}

// The triangular matrix that turns values of this covariance into independent ones, each with a variance of 1 / count.
// Values that follow from those before them are left out: nothing they could tell is new.
Matrix whitening_of(const Matrix& covariance, size_t count) {
  Matrix factor{};   // unit triangular, covariance = factor * variance * factor^T
  Matrix inverse{};  // of factor
  std::array<double, kValues> variance{};
  for (size_t q = 0; q < count; ++q) {
    variance[q] = covariance[q][q];
    for (size_t p = 0; p < q; ++p) {
      double sum = covariance[q][p];
      for (size_t k = 0; k < p; ++k) sum -= factor[q][k] * factor[p][k] * variance[k];
      factor[q][p] = variance[p] > 0 ? sum / variance[p] : 0;
      variance[q] -= factor[q][p] * factor[q][p] * variance[p];
    }
    if (variance[q] <= kDependent * covariance[q][q]) variance[q] = 0;
    inverse[q][q] = 1;
    for (size_t p = 0; p < q; ++p) {
      for (size_t k = p; k < q; ++k) inverse[q][p] -= factor[q][k] * inverse[k][p];
    }
  }
  for (size_t q = 0; q < count; ++q) {
    const double scale = variance[q] > 0 ? 1 / std::sqrt(variance[q] * static_cast<double>(count)) : 0;
    for (size_t p = 0; p <= q; ++p) inverse[q][p] *= scale;
  }
  return inverse;
}

}  // namespace

Information information_of(std::span<const TileProducts> tiles, int scale, Size size) {
  const size_t count = static_cast<size_t>(value_count(scale));
  const Size places = neighbourhood_size(size);
  const Matrix covariance = covariance_of(tiles, count, static_cast<double>(places.width) * places.height);

  // Divided by their lengths the patterns are a rotation of the samples, so the eigenvalues are those of the samples.
  Matrix rotated{};
  for (size_t p = 0; p < count; ++p) {
    for (size_t q = 0; q < count; ++q)
      rotated[p][q] = covariance[p][q] / std::sqrt(squared_length(p) * squared_length(q));
  }
  const std::array<double, kValues> eigenvalues = eigenvalues_of(rotated, count);
  const Matrix whitening = whitening_of(covariance, count);

  Information information;
  for (size_t q = 0; q < count; ++q) {
    information.eigenvalues[q] = static_cast<float>(eigenvalues[q]);
    for (size_t p = 0; p <= q; ++p) information.whitening[pair_index(p, q)] = static_cast<float>(whitening[q][p]);
  }
  return information;
}

// The reference enlarges the next band to 4 n - 3 samples by linear interpolation that takes samples for areas, adds
// one at each end by extrapolation, and keeps every other one. Both ends come out as the outermost samples.
std::vector<ParentPlace> parent_places(int side, int parent_side) {
  std::vector<ParentPlace> places(static_cast<size_t>(side));
  for (int i = 0; i < side; ++i) {
    const double stretched = (2.0 * i - 0.5) * parent_side / (4.0 * parent_side - 3.0) - 0.5;
    const double at = std::clamp(stretched, 0.0, parent_side - 1.0);
    ParentPlace& place = places[static_cast<size_t>(i)];
    place.first = static_cast<int>(at);
    place.fraction = static_cast<float>(at - place.first);
  }
  return places;
}

}  // namespace acuity::iwssim
