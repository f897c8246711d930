// SPDX-License-Identifier: BSD-2-Clause-Patent
// The restored and the added details of a row mask each other, and what stays visible is summed by its third power.
//
// Scale 0 has details of 16 bit, the others of 32, already weighed. Rows may be read and written up to a group of
// columns past their end.
#ifndef ACUITY_METRICS_ADM_MASKING_H
#define ACUITY_METRICS_ADM_MASKING_H

#include <array>
#include <cstdint>

#include "metrics/adm/scales.h"

namespace acuity::adm {

using SubbandSums = std::array<uint64_t, kSubbands>;

/// The sum of each with the one before and the one behind it.
void add_neighbours(const int32_t* row, int begin, int end, int32_t* sums);

/// How a third power is rounded: ((x^2 + square_add) / 2^square_bits * x + cube_add) / 2^cube_bits.
struct CubeRule {
  uint64_t square_add = 0;
  int square_bits = 0;
  uint64_t cube_add = 0;
  int cube_bits = 0;
};

/// Those of 16 bit are not rounded.
SubbandSums sum_short_cubes(const Subbands<int16_t>& rows, int left, int right);
SubbandSums sum_long_cubes(const Subbands<int32_t>& rows, int left, int right, const CubeRule& rule);

/// What masks a row: sums over neighbours in the row above, its own and the one below, and what its own place adds.
struct Mask {
  std::array<const int32_t*, 3> sums{};
  const int32_t* centre = nullptr;
};

struct ShortMaskRule {
  std::array<uint32_t, kSubbands> factors{};
  std::array<int, kSubbands> threshold_bits{};
  std::array<CubeRule, kSubbands> cubes{};
};

SubbandSums mask_short(const Subbands<int16_t>& rows, const Mask& mask, int left, int right, const ShortMaskRule& rule);
SubbandSums mask_long(const Subbands<uint32_t>& rows, const Mask& mask, int left, int right, const CubeRule& rule);

}  // namespace acuity::adm

#endif
