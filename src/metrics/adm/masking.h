// SPDX-License-Identifier: BSD-2-Clause-Patent
// What ADM does with the details of one row, in whole numbers: those of the distorted picture are taken apart into what
// is left of the reference's ("restored") and what came to it ("added"); each masks the other, and what stays visible
// is summed by its third power.
//
// Scale 0 has details of 16 bit, the others of 32. Rows may be read and written up to a group of columns past their
// end.
#ifndef ACUITY_METRICS_ADM_MASKING_H
#define ACUITY_METRICS_ADM_MASKING_H

#include <array>
#include <cstdint>

#include "metrics/adm/scales.h"

namespace acuity::adm {

template <typename T>
using Bands = std::array<T*, kBands>;
using BandSums = std::array<uint64_t, kBands>;

/// What details add to the thresholds around them, and how much more to that at their own place.
struct Influence {
  int32_t* around = nullptr;
  int32_t* centre = nullptr;
};

/// How the parts are weighed, and how far details that only changed in strength count as restored.
struct DecoupleRule {
  std::array<uint32_t, kBands> factors{};  // 16 bit of each at scale 0
  double gain = 1;
};

/// For columns from begin, which is the first of a group, to end. What the restored part masks is not wanted where
/// by_restored is null.
void decouple_short(const Bands<int16_t>& reference, const Bands<int16_t>& distorted, int begin, int end,
                    const DecoupleRule& rule, const Bands<int16_t>& restored, const Bands<int16_t>& added,
                    Influence by_restored, Influence by_added);
/// ... both parts already weighed and without their signs.
void decouple_long(const Bands<int32_t>& reference, const Bands<int32_t>& distorted, int begin, int end,
                   const DecoupleRule& rule, const Bands<uint32_t>& restored, const Bands<uint32_t>& added,
                   Influence by_restored, Influence by_added);

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
BandSums sum_short_cubes(const Bands<int16_t>& rows, int left, int right);
BandSums sum_long_cubes(const Bands<int32_t>& rows, int left, int right, const CubeRule& rule);

/// What masks a row: sums over neighbours in the row above, its own and the one below, and what its own place adds.
struct Mask {
  std::array<const int32_t*, 3> sums{};
  const int32_t* centre = nullptr;
};

struct ShortMaskRule {
  std::array<uint32_t, kBands> factors{};
  std::array<int, kBands> threshold_bits{};
  std::array<CubeRule, kBands> cubes{};
};

BandSums mask_short(const Bands<int16_t>& rows, const Mask& mask, int left, int right, const ShortMaskRule& rule);
BandSums mask_long(const Bands<uint32_t>& rows, const Mask& mask, int left, int right, const CubeRule& rule);

}  // namespace acuity::adm

#endif
