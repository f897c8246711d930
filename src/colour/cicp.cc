// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "colour/cicp.h"

#include <fmt/format.h>

#include "colour/primaries.h"

namespace acuity {
namespace {

constexpr std::array<double, 2> kWhiteC{0.310, 0.316}, kWhiteD65{0.3127, 0.3290}, kWhiteDci{0.314, 0.351};

struct CodePoint {
  int number;
  Primaries primaries;
  Chromaticities chromaticities = {};
};

// ITU-T H.273, table 2.
constexpr Primaries kCustom = Primaries::custom;
constexpr CodePoint kPrimaries[] = {
    {1, Primaries::bt709},
    {kCicpUnspecified, Primaries::bt709},
    {4, kCustom, {{0.67, 0.33}, {0.21, 0.71}, {0.14, 0.08}, kWhiteC}},           // BT.470 M
    {5, kCustom, {{0.64, 0.33}, {0.29, 0.60}, {0.15, 0.06}, kWhiteD65}},         // BT.470 B, G
    {6, kCustom, {{0.630, 0.340}, {0.310, 0.595}, {0.155, 0.070}, kWhiteD65}},   // SMPTE 170M
    {7, kCustom, {{0.630, 0.340}, {0.310, 0.595}, {0.155, 0.070}, kWhiteD65}},   // SMPTE 240M
    {8, kCustom, {{0.681, 0.319}, {0.243, 0.692}, {0.145, 0.049}, kWhiteC}},     // generic film
    {9, Primaries::bt2020},                                                      // and BT.2100
    {11, kCustom, {{0.680, 0.320}, {0.265, 0.690}, {0.150, 0.060}, kWhiteDci}},  // SMPTE RP 431-2
    {12, Primaries::display_p3},                                                 // SMPTE EG 432-1
    {22, kCustom, {{0.630, 0.340}, {0.295, 0.605}, {0.155, 0.077}, kWhiteD65}},  // EBU Tech 3213-E
};

struct Curve {
  int number;
  Transfer transfer;
  double gamma = 2.2;
};

// ITU-T H.273, table 3. The curves of BT.709, BT.601 and BT.2020 are those of cameras; what they record is made to be
// shown on a BT.1886 display.
constexpr Curve kTransfers[] = {
    {1, Transfer::bt1886},     {kCicpUnspecified, Transfer::srgb},
    {4, Transfer::gamma, 2.2}, {5, Transfer::gamma, 2.8},
    {6, Transfer::bt1886},     {8, Transfer::linear},
    {13, Transfer::srgb},      {14, Transfer::bt1886},
    {15, Transfer::bt1886},    {16, Transfer::pq},
    {18, Transfer::hlg},
};

template <typename Table>
auto find(const Table& table, int number) {
  for (const auto& entry : table) {
    if (entry.number == number) return &entry;
  }
  return decltype(&table[0])(nullptr);
}

}  // namespace

void set_chromaticities(Colour& colour, const Chromaticities& chromaticities) {
  for (const Primaries named : {Primaries::bt709, Primaries::display_p3, Primaries::bt2020}) {
    colour.primaries = named;
    if (same_primaries(chromaticities_of(colour), chromaticities)) return;
  }
  colour.primaries = Primaries::custom;
  colour.chromaticities = chromaticities;
}

Result<Colour> colour_from_cicp(int primaries, int transfer, int matrix, bool full_range, std::string_view name) {
  const auto refuse = [name](const std::string& what) {
    return Status(StatusCode::input, fmt::format("'{}' {}", name, what));
  };
  if (matrix != 0) {
    return refuse(fmt::format("names colour matrix {}, but its samples must be RGB (0); convert it to RGB", matrix));
  }
  if (!full_range) return refuse("has RGB of limited range, which is not supported; convert it to full range");
  const CodePoint* point = find(kPrimaries, primaries);
  if (point == nullptr) {
    return refuse(
        fmt::format("names colour primaries {}; known are 1, 2, 4 to 9, 11, 12 and 22; convert it to sRGB", primaries));
  }
  const Curve* curve = find(kTransfers, transfer);
  if (curve == nullptr) {
    return refuse(fmt::format(
        "names transfer function {}; known are 1, 2, 4 to 6, 8, 13 to 16 and 18; convert it to sRGB", transfer));
  }
  Colour colour;
  colour.primaries = point->primaries;
  colour.chromaticities = point->chromaticities;
  colour.transfer = curve->transfer;
  colour.gamma = curve->gamma;
  return colour;
}

}  // namespace acuity
