// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/adm/scale_rules.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/library_power.h"

namespace acuity::adm {
namespace {

int log2_rounded_up(int value) { return static_cast<int>(std::bit_width(static_cast<uint32_t>(value - 1))); }

uint64_t half_of(int bits) { return bits > 0 ? uint64_t{1} << (bits - 1) : 0; }

// How many bits are cut off each row's sum of the reference's cubes.
int reference_row_bits(int index, const ScaleShape& shape) {
  const int rows = shape.bottom - shape.top, columns = shape.right - shape.left;
  return index == 0 ? std::max(log2_rounded_up(rows * columns) - 20, 0) : log2_rounded_up(rows);
}

// The bits that are left of the scaling at the end, before those cut off on the way.
constexpr std::array<int, kScales> kReferenceBits{18, 32, 27, 23};
constexpr std::array<int, kScales> kLongMaskBits{0, 45, 39, 36};
constexpr std::array<int, kSubbands> kShortMaskBits{52, 52, 57};
constexpr std::array<int, kScales> kReferenceSquareBits{0, 31, 30, 31};

constexpr float kThird = 1.0f / 3.0f;

float root(double value) { return library_power(static_cast<float>(value), kThird); }

}  // namespace

ScaleRules scale_rules(int index, const ScaleShape& shape, const IntegerOptions& options) {
  ScaleRules rules;
  rules.reference_row_bits = reference_row_bits(index, shape);
  rules.mask_row_bits = log2_rounded_up(shape.height);
  const Sensitivity& sensitivity = options.sensitivities[static_cast<size_t>(index)];
  rules.decouple.gain = options.gain;
  for (int b = 0; b < kSubbands; ++b) {
    const int bits = index > 0 ? 32 : b < 2 ? 21 : 23;
    rules.decouple.factors[static_cast<size_t>(b)] =
        static_cast<uint32_t>(std::ldexp(static_cast<double>(sensitivity.of(b)), bits));
  }
  if (index == 0 && options.usual_viewing) rules.decouple.factors = {36453, 36453, 49417};

  if (index == 0) {
    // libvmaf weighs three columns more than those that count at the right, and one at the left.
    const int begin = std::max(shape.left - 1, 0), end = std::min(shape.right + 3, shape.width);
    rules.decouple.rounded_columns = end / 8 * 8;
    rules.decouple.saturated_columns = end - (end - begin) % 8;
    rules.decouple.wide_columns = shape.left > 0 ? shape.right - (shape.right - shape.left) % 6 : 0;
    rules.short_mask.factors = rules.decouple.factors;
    for (size_t b = 0; b < kSubbands; ++b) {
      const int cube_bits = log2_rounded_up(shape.width) - (b < 2 ? 4 : 3);
      const int square_bits = b < 2 ? 29 : 30;
      rules.short_mask.threshold_bits[b] = b < 2 ? 10 : 12;
      rules.short_mask.cubes[b] = {half_of(square_bits), square_bits, half_of(cube_bits), cube_bits};
    }
  } else {
    const int mask_bits = log2_rounded_up(shape.width), bits = log2_rounded_up(shape.right - shape.left);
    const int square_bits = kReferenceSquareBits[static_cast<size_t>(index)];
    rules.long_mask = {half_of(30), 30, half_of(mask_bits), mask_bits};
    // The reference rounds up by a whole, not by half of one.
    rules.reference = {uint64_t{1} << square_bits, square_bits, half_of(bits), bits};
  }
  return rules;
}

void add_rounded(const SubbandSums& row, int bits, SubbandSums& sums) {
  for (size_t b = 0; b < kSubbands; ++b) sums[b] += (row[b] + half_of(bits)) >> bits;
}

ScaleNumbers conclude_scale(int index, const ScaleShape& shape, const IntegerOptions& options, const ScaleRules& rules,
                            const ScaleSums& sums) {
  if (index == 0 && options.skip_scale0) return {.reference = 1e-10f};
  const auto i = static_cast<size_t>(index);
  const float noise = root(shape.area() * options.noise_weight);

  float reference[kSubbands], kept[kSubbands], added[kSubbands];
  const int reference_bits = kReferenceBits[i] - rules.reference_row_bits - rules.reference.cube_bits;
  for (size_t b = 0; b < kSubbands; ++b) {
    const auto sensitivity = static_cast<double>(options.sensitivities[i].of(static_cast<int>(b)));
    const double cubes = std::ldexp(static_cast<double>(sums.reference[b]), -reference_bits);
    reference[b] = root(cubes * (sensitivity * sensitivity * sensitivity)) + noise;

    const auto masked = [&](uint64_t sum) {
      if (index > 0) {
        const int bits = kLongMaskBits[i] - rules.long_mask.cube_bits - rules.mask_row_bits;
        return root(std::ldexp(static_cast<double>(static_cast<float>(sum)), -bits));
      }
      return root(std::ldexp(static_cast<double>(sum),
                             -(kShortMaskBits[b] - rules.short_mask.cubes[b].cube_bits - rules.mask_row_bits)));
    };
    kept[b] = masked(sums.kept[b]) + noise;
    added[b] = masked(sums.added[b]);
  }
  return {kept[0] + kept[1] + kept[2], reference[0] + reference[1] + reference[2], added[0] + added[1] + added[2]};
}

}  // namespace acuity::adm
