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

// A symmetric matrix of which only the diagonal and the elements beside it, [i] between i and i + 1, are not zero.
struct Tridiagonal {
  std::array<double, kValues> diagonal{};
  std::array<double, kValues> beside{};
};

// By Householder's reflections, each of which leaves one element of a column below its diagonal.
Tridiagonal tridiagonal_of(Matrix m, size_t count) {
  Tridiagonal result;
  for (size_t k = 0; k + 2 < count; ++k) {
    std::array<double, kValues> normal{}, image{};  // of the plane of reflection, and what m makes of it
    double squares = 0;
    for (size_t i = k + 1; i < count; ++i) {
      normal[i] = m[i][k];
      squares += normal[i] * normal[i];
    }
    const double length = normal[k + 1] < 0 ? -std::sqrt(squares) : std::sqrt(squares);
    result.beside[k] = -length;
    normal[k + 1] += length;
    const double product = length * normal[k + 1];  // half the square of the normal's length
    if (!(product > 0)) continue;
    double share = 0;
    for (size_t i = k + 1; i < count; ++i) {
      for (size_t j = k + 1; j < count; ++j) image[i] += m[i][j] * normal[j];
      image[i] /= product;
      share += image[i] * normal[i];
    }
    share /= 2 * product;
    for (size_t i = k + 1; i < count; ++i) image[i] -= share * normal[i];
    for (size_t i = k + 1; i < count; ++i) {
      for (size_t j = k + 1; j < count; ++j) m[i][j] -= normal[i] * image[j] + image[i] * normal[j];
    }
  }
  for (size_t i = 0; i < count; ++i) result.diagonal[i] = m[i][i];
  result.beside[count - 2] = m[count - 1][count - 2];
  return result;
}

// Turns elements begin .. end of the matrix so that the last one beside the diagonal all but vanishes: a step of the QR
// algorithm with Wilkinson's shift, a rotation at a time.
void chase(Tridiagonal& m, size_t begin, size_t end) {
  std::array<double, kValues>& d = m.diagonal;
  std::array<double, kValues>& e = m.beside;
  const double half = (d[end - 1] - d[end]) / 2, last = e[end - 1];
  const double root = std::sqrt(half * half + last * last);
  double x = d[begin] - (d[end] - last * last / (half + (half < 0 ? -root : root)));
  double z = e[begin];
  for (size_t k = begin; k < end; ++k) {
    const double length = std::sqrt(x * x + z * z);
    if (length == 0) return;
    const double scale = 1 / length, cosine = x * scale, sine = z * scale;
    if (k > begin) e[k - 1] = length;
    const double turned = 2 * cosine * e[k] + sine * (d[k + 1] - d[k]);
    const double moved = sine * turned;
    e[k] = cosine * turned - e[k];
    d[k] += moved;
    d[k + 1] -= moved;
    x = e[k];
    if (k + 1 == end) break;
    z = sine * e[k + 1];
    e[k + 1] *= cosine;
  }
}

// The largest first.
std::array<double, kValues> eigenvalues_of(const Matrix& matrix, size_t count) {
  Tridiagonal m = tridiagonal_of(matrix, count);
  const auto joined = [&m](size_t i) {
    return std::fabs(m.beside[i]) > 1e-15 * (std::fabs(m.diagonal[i]) + std::fabs(m.diagonal[i + 1]));
  };
  size_t end = count - 1;
  for (int steps = 0; end > 0 && steps < 300; ++steps) {
    if (!joined(end - 1)) {
      --end;
      continue;
    }
    size_t begin = end - 1;
    while (begin > 0 && joined(begin - 1)) --begin;
    chase(m, begin, end);
  }
  std::array<double, kValues> values{};
  for (size_t i = 0; i < count; ++i) values[i] = std::max(m.diagonal[i], 0.0);
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

// The reference enlarges the next subband to 4 n - 3 samples by linear interpolation that takes samples for areas, adds
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
