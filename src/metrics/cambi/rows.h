// SPDX-License-Identifier: BSD-2-Clause-Patent
// What is done to whole rows of samples before contrasts are counted. Rows of ours have room for kBeyond samples more
// than their width, which these functions may read and write.
#ifndef ACUITY_METRICS_CAMBI_ROWS_H
#define ACUITY_METRICS_CAMBI_ROWS_H

#include <cstddef>
#include <cstdint>

namespace acuity::cambi {

inline constexpr int kBeyond = 64;
/// Set in samples of flat surroundings, the only ones that count.
inline constexpr uint16_t kFlat = 0x8000;

/// Bytes, or words of `depth` bits, to 10-bit samples. Returns the largest word that was read; 0 for bytes.
uint16_t to_ten_bits(const void* from, int depth, int width, uint16_t* out);

/// Each sample becomes the mean of itself and those to the right, below, and both, as far as there are such; `below`
/// is null for the last row.
void average_right_and_below(uint16_t* row, const uint16_t* below, int width);

/// How many of the samples within three columns equal those to their right and below. `equal` is scratch, for which
/// three samples in front of it are zero; `below` is null for the last row.
void count_equal(const uint16_t* row, const uint16_t* below, int width, uint16_t* equal, uint16_t* counts);

/// sums += added - removed, either of which may be null.
void move_sums(const uint16_t* added, const uint16_t* removed, int width, uint16_t* sums);

/// out = row, with kFlat where the sum is above the limit.
void mark_flat(const uint16_t* row, const uint16_t* sums, int limit, int width, uint16_t* out);

/// Every other sample, `width` of them.
void halve(const uint16_t* row, int width, uint16_t* out);

/// The most frequent of each three neighbours, or the least of them if all differ; kFlat is left out. The first and
/// the last sample stay.
void mode_across(const uint16_t* row, int width, uint16_t* out);
/// The same of three rows, with kFlat where `marks` has it.
void mode_down(const uint16_t* above, const uint16_t* row, const uint16_t* below, const uint16_t* marks, int width,
               uint16_t* out);

/// Flat samples from `first` on, `count` different ones, as first_level and so on; `none` for the others and beyond
/// the row.
struct Levels {
  int first = 0;
  int count = 0;
  int first_level = 0;
  int none = 0;
};
void to_levels(const uint16_t* row, const Levels& levels, int width, uint16_t* out);

}  // namespace acuity::cambi

#endif
