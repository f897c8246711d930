// SPDX-License-Identifier: BSD-2-Clause-Patent
// By logarithm and exponential to the base 2, both in double with a small table. The figures are those of Arm's
// Optimized Routines; which additions and multiplications are fused matters.
#include "base/library_power.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace acuity {
namespace {

struct Centre {
  double inverse;
  double logarithm;
};

// Of the sixteen parts that the range of mantissas is cut into.
constexpr Centre kCentres[16] = {
    {0x1.661ec79f8f3bep+0, -0x1.efec65b963019p-2}, {0x1.571ed4aaf883dp+0, -0x1.b0b6832d4fca4p-2},
    {0x1.49539f0f010b0p+0, -0x1.7418b0a1fb77bp-2}, {0x1.3c995b0b80385p+0, -0x1.39de91a6dcf7bp-2},
    {0x1.30d190c8864a5p+0, -0x1.01d9bf3f2b631p-2}, {0x1.25e227b0b8ea0p+0, -0x1.97c1d1b3b7af0p-3},
    {0x1.1bb4a4a1a343fp+0, -0x1.2f9e393af3c9fp-3}, {0x1.12358f08ae5bap+0, -0x1.960cbbf788d5cp-4},
    {0x1.0953f419900a7p+0, -0x1.a6f9db6475fcep-5}, {0x1p+0, 0},
    {0x1.e608cfd9a47acp-1, 0x1.338ca9f24f53dp-4},  {0x1.ca4b31f026aa0p-1, 0x1.476a9543891bap-3},
    {0x1.b2036576afce6p-1, 0x1.e840b4ac4e4d2p-3},  {0x1.9c2d163a1aa2dp-1, 0x1.40645f0c6651cp-2},
    {0x1.886e6037841edp-1, 0x1.88e9c2c1b9ff8p-2},  {0x1.767dcf5534862p-1, 0x1.ce0a44eb17bccp-2},
};

// 2^(i / 32)
constexpr double kRoots[32] = {0x1.0000000000000p+0, 0x1.059b0d3158574p+0, 0x1.0b5586cf9890fp+0, 0x1.11301d0125b51p+0,
                               0x1.172b83c7d517bp+0, 0x1.1d4873168b9aap+0, 0x1.2387a6e756238p+0, 0x1.29e9df51fdee1p+0,
                               0x1.306fe0a31b715p+0, 0x1.371a7373aa9cbp+0, 0x1.3dea64c123422p+0, 0x1.44e086061892dp+0,
                               0x1.4bfdad5362a27p+0, 0x1.5342b569d4f82p+0, 0x1.5ab07dd485429p+0, 0x1.6247eb03a5585p+0,
                               0x1.6a09e667f3bcdp+0, 0x1.71f75e8ec5f74p+0, 0x1.7a11473eb0187p+0, 0x1.82589994cce13p+0,
                               0x1.8ace5422aa0dbp+0, 0x1.93737b0cdc5e5p+0, 0x1.9c49182a3f090p+0, 0x1.a5503b23e255dp+0,
                               0x1.ae89f995ad3adp+0, 0x1.b7f76f2fb5e47p+0, 0x1.c199bdd85529cp+0, 0x1.cb720dcef9069p+0,
                               0x1.d5818dcfba487p+0, 0x1.dfc97337b9b5fp+0, 0x1.ea4afa2a490dap+0, 0x1.f50765b6e4540p+0};

// Where the first of the sixteen parts begins.
constexpr uint32_t kFirstMantissa = 0x3F330000;

double log2_of(float x) {
  auto bits = std::bit_cast<uint32_t>(x);
  if (bits < 0x00800000) bits = std::bit_cast<uint32_t>(x * 0x1p23f) - (23u << 23);
  const uint32_t above = bits - kFirstMantissa;
  const Centre& centre = kCentres[(above >> 19) % 16];
  const int exponent = static_cast<int32_t>(above) >> 23;
  const auto mantissa = static_cast<double>(std::bit_cast<float>(bits - (above & 0xFF800000)));
  const double r = std::fma(mantissa, centre.inverse, -1.0);
  const double start = centre.logarithm + exponent;
  const double square = r * r;
  const double high = std::fma(0x1.27616c9496e0bp-2, r, -0x1.71969a075c67ap-2);
  const double middle = std::fma(0x1.ec70a6ca7baddp-2, r, -0x1.7154748bef6c8p-1);
  const double low = std::fma(0x1.71547652ab82bp+0, r, start);
  return std::fma(high, square * square, std::fma(middle, square, low));
}

double exp2_of(double x) {
  constexpr double kTo32nds = 0x1.8p47;  // numbers of this size end with 32nds
  const double nearest = (x + kTo32nds) - kTo32nds;
  const double r = x - nearest;
  const auto in_32nds = static_cast<int>(nearest * 32);
  const double scale = std::ldexp(kRoots[in_32nds & 31], in_32nds >> 5);
  const double high = std::fma(0x1.c6af84b912394p-5, r, 0x1.ebfce50fac4f3p-3);
  const double low = std::fma(0x1.62e42ff0c52d6p-1, r, 1.0);
  return std::fma(high, r * r, low) * scale;
}

}  // namespace

float library_power(float x, float y) {
  if (x == 0) return 0;
  const double exponent = static_cast<double>(y) * log2_of(x);
  if (exponent >= 128) return std::numeric_limits<float>::infinity();
  return exponent <= -150 ? 0 : static_cast<float>(exp2_of(exponent));
}

}  // namespace acuity
