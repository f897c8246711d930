// SPDX-License-Identifier: BSD-2-Clause-Patent
// The figures of metrics/ssimulacra2/gaussian.h, derived anew from the paper: D. Charalampidis, "Recursive
// Implementation of the Gaussian Filter Using Truncated Cosine Functions", IEEE Transactions on Signal Processing 64
// (2016), equations in brackets.
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include <hwy/highway.h>

#include "lang/cpu.h"
#include "metrics/ssimulacra2_exact.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::HWY_NAMESPACE {
namespace {
#include "metrics/ssimulacra2/gaussian.h"

struct Sections {
  int radius = 0;
  std::array<long double, 3> n{}, d{};
};

// Solves the 3 x 3 system by Cramer's rule.
std::array<long double, 3> solve(const long double (&a)[3][3], const long double (&b)[3]) {
  const auto determinant = [](const long double(&m)[3][3]) {
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
  };
  std::array<long double, 3> x{};
  for (size_t column = 0; column < 3; ++column) {
    long double replaced[3][3];
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = 0; j < 3; ++j) replaced[i][j] = j == column ? b[i] : a[i][j];
    }
    x[column] = determinant(replaced) / determinant(a);
  }
  return x;
}

Sections derive(long double sigma) {
  const long double radius = std::round(3.2795L * sigma + 0.2546L);  // (57)
  long double omega[3], p[3], r[3], rho[3];
  for (int i = 0; i < 3; ++i) {
    const long double sign = i == 1 ? -1 : 1;
    omega[i] = static_cast<long double>(2 * i + 1) * std::numbers::pi_v<long double> / (2 * radius);  // table I
    p[i] = sign / std::tan(omega[i] / 2);                                                             // (37)
    r[i] = sign * p[i] * p[i] / std::sin(omega[i]);                                                   // (44)
    rho[i] = std::exp(-sigma * sigma * omega[i] * omega[i] / 2) / radius;                             // (50)
  }
  const long double d13 = p[0] * r[1] - r[0] * p[1];  // (52)
  const long double zeta1 = (p[1] * r[2] - r[1] * p[2]) / d13, zeta3 = (p[2] * r[0] - r[2] * p[0]) / d13;
  const long double a[3][3] = {{p[0], p[1], p[2]}, {r[0], r[1], r[2]}, {zeta1, zeta3, 1}};                  // (56)
  const long double b[3] = {1, radius * radius - sigma * sigma, zeta1 * rho[0] + zeta3 * rho[1] + rho[2]};  // (55)
  const std::array<long double, 3> beta = solve(a, b);                                                      // (53)
  Sections sections;
  sections.radius = static_cast<int>(radius);
  for (size_t i = 0; i < 3; ++i) {
    sections.n[i] = -beta[i] * std::cos(omega[i] * (radius + 1));  // (33)
    sections.d[i] = -2 * std::cos(omega[i]);
  }
  return sections;
}

TEST(Gaussian, FiguresFollowFromThePaper) {
  const Sections sections = derive(1.5L);
  EXPECT_EQ(sections.radius + 1, GAUSSIAN_BEHIND);
  EXPECT_EQ(sections.radius - 1, GAUSSIAN_AHEAD);
  EXPECT_EQ(static_cast<float>(sections.n[0]), GAUSSIAN_1_N);
  EXPECT_EQ(static_cast<float>(sections.d[0]), GAUSSIAN_1_D);
  EXPECT_EQ(static_cast<float>(sections.n[1]), GAUSSIAN_2_N);
  EXPECT_EQ(static_cast<float>(sections.d[1]), GAUSSIAN_2_D);
  EXPECT_EQ(static_cast<float>(sections.n[2]), GAUSSIAN_3_N);
  EXPECT_LT(std::abs(sections.d[2]), 1e-18L);  // the terms that are left out
}

// The response of the filter to a single one at `position` of `length` samples.
std::vector<float> response(int length, int position, bool along_row) {
  const auto input = [&](int i) { return real(i == position ? 1.0f : 0.0f); };
  GaussianState state = gaussian_start();
  std::vector<float> out;
  for (int n = -GAUSSIAN_AHEAD; n < length;) {
    const auto sum = [&](int i) { return input(i - GAUSSIAN_BEHIND) + input(i + GAUSSIAN_AHEAD); };
    real o[4];
    const bool four = along_row && n >= 8 && n <= length - 8;
    if (four) {
      gaussian_row_four(state, sum(n), sum(n + 1), sum(n + 2), sum(n + 3), o[0], o[1], o[2], o[3]);
    } else {
      o[0] = along_row ? gaussian_row_step(state, sum(n)) : gaussian_column_step(state, sum(n));
    }
    for (int i = 0; i < (four ? 4 : 1); ++i, ++n) {
      if (n >= 0) out.push_back(hn::GetLane(o[i].v));
    }
  }
  return out;
}

TEST(Gaussian, EveryOrderOfOperationsHasTheSameNineTaps) {
  double total = tests::kGaussianTaps[0];
  for (int i = 1; i < 5; ++i) total += 2 * tests::kGaussianTaps[i];
  EXPECT_NEAR(total, 1.0, 1e-15);
  for (bool along_row : {false, true}) {
    for (int position : {0, 3, 9, 17, 30, 39}) {
      const std::vector<float> taps = response(40, position, along_row);
      for (int i = 0; i < 40; ++i) {
        const int distance = std::abs(i - position);
        EXPECT_NEAR(taps[static_cast<size_t>(i)], distance < 5 ? tests::kGaussianTaps[distance] : 0.0, 1e-6)
            << position << " " << i;
      }
    }
  }
}

TEST(Gaussian, TapsFollowFromTheRecursion) {
  const Sections sections = derive(1.5L);
  long double p[3] = {}, q[3] = {};
  for (int n = -GAUSSIAN_AHEAD; n <= GAUSSIAN_BEHIND; ++n) {
    const long double sum = (n + GAUSSIAN_AHEAD == 0 ? 1 : 0) + (n - GAUSSIAN_BEHIND == 0 ? 1 : 0);
    long double out = 0;
    for (size_t i = 0; i < 3; ++i) {
      const long double y = sections.n[i] * sum - sections.d[i] * p[i] - q[i];
      q[i] = p[i];
      p[i] = y;
      out += y;
    }
    EXPECT_NEAR(static_cast<double>(out), static_cast<double>(std::abs(n) < 5 ? tests::kGaussianTaps[std::abs(n)] : 0),
                1e-15)
        << n;
  }
}

}  // namespace
}  // namespace acuity::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
