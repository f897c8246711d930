// SPDX-License-Identifier: BSD-2-Clause-Patent
// A subband of two pictures: contrasts, sensitivity, masking, and what is seen of the differences.
#include <algorithm>
#include <cstdlib>

#include "base/powers.h"
#include "metrics/cvvdp/cpu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/cvvdp/cpu_compare.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"
#include "lang/neighbours.h"

#ifndef ACUITY_CVVDP_COMPARE_ONCE
#define ACUITY_CVVDP_COMPARE_ONCE
namespace acuity::cvvdp {

// What masking needs, as 32-bit floats.
struct Masking {
  float blur[kReach + 1];               // along rows, from the centre
  float scaled_blur[kReach + 1];        // down columns, with the scale of masking
  float scale;                          // without a blur
  float power;                          // of differences
  float powers[kChannels];              // of what masks them
  float weights[kChannels][kChannels];  // row: what masks
  float largest;
};

}  // namespace acuity::cvvdp
#endif

HWY_BEFORE_NAMESPACE();
namespace acuity::cvvdp {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

#include "lang/exact.h"
#include "metrics/cvvdp/math.h"

// Element `index` of a table of 32.
HWY_INLINE real look_up(const float* table, whole index) {
#if HWY_TARGET == HWY_AVX3
  return RealVector{_mm512_permutex2var_ps(_mm512_load_ps(table), index.v.raw, _mm512_load_ps(table + 16))};
#else
  return hn::GatherIndex(RealTag(), table, index.v);
#endif
}

void ExpandColumns(const float* before, const float* here, const float* after, bool odd, int width, float* out) {
  for (int x = 0; x < width; x += kLanes) {
    store(odd ? expand_odd(load(here + x), load(after + x))
              : expand_even(load(before + x), load(here + x), load(after + x)),
          out + x);
  }
}

template <size_t kCount>
struct Pixels {
  real reference[kCount], distorted[kCount];
};

// Of pixels and what surrounds them: the contrast both have, and the difference, in units of what can just be seen.
template <size_t kCount>
HWY_INLINE void see(const Subband& subband, const Pixels<kCount>& samples, const Pixels<kCount>& expanded, real* shared,
                    real* difference) {
  const real background = background_of(expanded.reference[0]);
  const real reciprocal = divide(real(1.0f), background);
  const real reciprocal_distorted = divide(real(1.0f), background_of(expanded.distorted[0]));
  const real place = luminance_place(background);
  const whole index = to_whole(place);
  const real fraction = place - to_real(index);
  for (size_t c = 0; c < kCount; ++c) {
    const real sensitivity = quick_exp_2(
        fma(fraction, look_up(subband.growth[c].data(), index), look_up(subband.sensitivity[c].data(), index)));
    const real reference = contrast_of(samples.reference[c], expanded.reference[c], reciprocal);
    const real distorted = contrast_of(samples.distorted[c], expanded.distorted[c], reciprocal_distorted);
    shared[c] = min(abs(reference), abs(distorted)) * sensitivity;
    difference[c] = abs(distorted - reference) * sensitivity;
  }
}

// One row of a subband. `expanded` are rows of the next scale brought to this row's height.
template <size_t kCount>
HWY_INLINE void see_row(const Subband& subband, const ChannelRows& reference, const ChannelRows& distorted,
                        const ChannelRows& expanded_reference, const ChannelRows& expanded_distorted,
                        float* const* shared, float* const* differences) {
  const RealTag d;
  const int half = (subband.size.width + 1) / 2;
  for (int x = 0; x < half; x += kLanes) {
    Pixels<kCount> even, odd, even_expanded, odd_expanded;
    for (size_t c = 0; c < kCount; ++c) {
      const auto fetch = [&](const float* samples, const float* next, real& a, real& b, real& a_expanded,
                             real& b_expanded) {
        hn::LoadInterleaved2(d, samples + 2 * x, a.v, b.v);
        const real here = load(next + x), after = load_unaligned(next + x + 1);
        a_expanded = expand_even(load_unaligned(next + x - 1), here, after);
        b_expanded = expand_odd(here, after);
      };
      fetch(reference[c], expanded_reference[c], even.reference[c], odd.reference[c], even_expanded.reference[c],
            odd_expanded.reference[c]);
      fetch(distorted[c], expanded_distorted[c], even.distorted[c], odd.distorted[c], even_expanded.distorted[c],
            odd_expanded.distorted[c]);
    }
    real even_shared[kCount], even_difference[kCount];
    real odd_shared[kCount], odd_difference[kCount];
    see(subband, even, even_expanded, even_shared, even_difference);
    see(subband, odd, odd_expanded, odd_shared, odd_difference);
    for (size_t c = 0; c < kCount; ++c) {
      hn::StoreInterleaved2(even_shared[c].v, odd_shared[c].v, d, shared[c] + 2 * x);
      hn::StoreInterleaved2(even_difference[c].v, odd_difference[c].v, d, differences[c] + 2 * x);
    }
  }
}

void SeeRow(const Subband& subband, const ChannelRows& reference, const ChannelRows& distorted,
            const ChannelRows& expanded_reference, const ChannelRows& expanded_distorted, float* const* shared,
            float* const* differences) {
  if (subband.channels == kStillChannels) {
    see_row<kStillChannels>(subband, reference, distorted, expanded_reference, expanded_distorted, shared, differences);
  } else {
    see_row<kChannels>(subband, reference, distorted, expanded_reference, expanded_distorted, shared, differences);
  }
}

// Down the columns; rows[0] is the uppermost of 13.
void BlurColumns(const float* weights, const float* const* rows, int width, float* out) {
  for (int x = 0; x < width; x += kLanes) {
    real sum = real(weights[0]) * load(rows[kReach] + x);
    HWY_UNROLL(6)
    for (int k = 1; k <= kReach; ++k) {
      sum = fma(real(weights[k]), load(rows[kReach - k] + x) + load(rows[kReach + k] + x), sum);
    }
    store(sum, out + x);
  }
}

void ScaleRow(float factor, const float* in, int width, float* out) {
  for (int x = 0; x < width; x += kLanes) store(real(factor) * load(in + x), out + x);
}

HWY_INLINE real blur_along(const float* weights, const float* centre) {
  const Neighbours at(centre);
  real sum = real(weights[0]) * at(0);
  sum = fma(real(weights[1]), at(-1) + at(1), sum);
  sum = fma(real(weights[2]), at(-2) + at(2), sum);
  sum = fma(real(weights[3]), at(-3) + at(3), sum);
  sum = fma(real(weights[4]), at(-4) + at(4), sum);
  sum = fma(real(weights[5]), at(-5) + at(5), sum);
  return fma(real(weights[6]), at(-6) + at(6), sum);
}

// Adds what is seen of a row to the sums of its columns.
template <size_t kCount>
HWY_INLINE void sum_row(const Masking& masking, const Subband& subband, const float* const* blurred_columns,
                        const float* const* differences, float* const* columns, float* heat) {
  real offsets[kCount], powers[kCount];
  for (size_t c = 0; c < kCount; ++c) {
    powers[c] = real(masking.powers[c]);
    offsets[c] = raised(real(0.0f), powers[c]);
  }
  const real power = masking.power, offset = raised(real(0.0f), power), largest = masking.largest;
  const bool blurred = subband.blurred;
  for (int x = 0; x < subband.size.width; x += kLanes) {
    real masks[kCount];
    for (size_t c = 0; c < kCount; ++c) {
      const float* centre = blurred_columns[c] + x;
      masks[c] = raised(blurred ? blur_along(masking.blur, centre) : load(centre), powers[c]) - offsets[c];
    }
    real fourths = real(0.0f);
    for (size_t c = 0; c < kCount; ++c) {
      real sum = masks[0] * real(masking.weights[0][c]);
      for (size_t k = 1; k < kCount; ++k) sum = fma(masks[k], real(masking.weights[k][c]), sum);
      const real difference = raised(load(differences[c] + x), power) - offset;
      const real seen = seen_difference(difference, sum, largest);
      store(load(columns[c] + x) + offset_square(seen), columns[c] + x);
      if (heat != nullptr) fourths = fourths + offset_fourth(seen * real(subband.heat_weights[c]));
    }
    if (heat != nullptr) store(offset_fourth_root(fourths), heat + x);
  }
}

void SumRow(const Masking& masking, const Subband& subband, const float* const* blurred_columns,
            const float* const* differences, float* const* columns, float* heat) {
  if (subband.channels == kStillChannels) {
    sum_row<kStillChannels>(masking, subband, blurred_columns, differences, columns, heat);
  } else {
    sum_row<kChannels>(masking, subband, blurred_columns, differences, columns, heat);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::cvvdp
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::cvvdp {

HWY_EXPORT(ExpandColumns);
HWY_EXPORT(SeeRow);
HWY_EXPORT(BlurColumns);
HWY_EXPORT(ScaleRow);
HWY_EXPORT(SumRow);

namespace {

Masking make_masking() {
  return {
      .blur = {BLUR_0, BLUR_1, BLUR_2, BLUR_3, BLUR_4, BLUR_5, BLUR_6},
      .scaled_blur = {SCALED_BLUR_0, SCALED_BLUR_1, SCALED_BLUR_2, SCALED_BLUR_3, SCALED_BLUR_4, SCALED_BLUR_5,
                      SCALED_BLUR_6},
      .scale = MASK_SCALE,
      .power = DIFFERENCE_POWER,
      .powers = {MASK_POWER_0, MASK_POWER_1, MASK_POWER_2, MASK_POWER_3},
      .weights = {{MASKING_00, MASKING_01, MASKING_02, MASKING_03},
                  {MASKING_10, MASKING_11, MASKING_12, MASKING_13},
                  {MASKING_20, MASKING_21, MASKING_22, MASKING_23},
                  {MASKING_30, MASKING_31, MASKING_32, MASKING_33}},
      .largest = LARGEST_DIFFERENCE,
  };
}

const Masking& masking() {
  static const Masking numbers = make_masking();
  return numbers;
}

// Beyond an edge lies the mirror image, the edge itself not repeated.
int mirrored(int i, int length) {
  const int distance = std::abs(i);
  return distance < length ? distance : 2 * (length - 1) - distance;
}

// Rows of floats cut from a thread's scratch memory.
struct Cutter {
  float* next;
  size_t stride;
  float* take() {
    float* row = next + kBefore;
    next += stride;
    return row;
  }
};

// Rows of the next scale at the height of row y of this one. Edges are repeated outside.
ChannelRows expand(const PlaneReader& next, int y, const std::array<float*, kChannels>& to) {
  ChannelRows rows{};
  for (size_t c = 0; c < next.planes().size(); ++c) {
    expand_columns(next.planes()[c], y, to[c]);
    rows[c] = to[c];
  }
  return rows;
}

}  // namespace

void expand_columns(const Plane& next, int y, float* row) {
  const int width = next.size.width, last = next.size.height - 1;
  HWY_DYNAMIC_DISPATCH(ExpandColumns)
  (next.row(std::max(y / 2 - 1, 0)), next.row(y / 2), next.row(std::min(y / 2 + 1, last)), y % 2 != 0, width, row);
  row[-1] = row[0];
  row[width] = row[width - 1];
}

Subband subband_of(const std::vector<Scale>& scales, size_t index, int channels) {
  Subband subband;
  subband.channels = channels;
  subband.size = scales[index].size;
  subband.blurred = std::min(subband.size.width, subband.size.height) > kReach;
  for (int channel = 0; channel < channels; ++channel) {
    const size_t c = static_cast<size_t>(channel);
    subband.heat_weights[c] = static_cast<float>(heat_weight(c, channels));
    const std::array<double, kTableSide> values = log_sensitivity(channel, scales[index].frequency);
    // The reference doubles all contrasts but those of the first subband and of the base.
    const double factor = exact_log2(kGains[c]) + (index == 0 ? 0 : 1);
    for (size_t l = 0; l < kTableSide; ++l) {
      subband.sensitivity[c][l] = static_cast<float>(values[l] + factor);
      subband.growth[c][l] = l + 1 < kTableSide ? static_cast<float>(values[l + 1] - values[l]) : 0;
    }
  }
  return subband;
}

std::array<double, kChannels> differences_of(std::span<const TileSums> tiles, Size size, int channels) {
  std::array<double, kChannels> sums{};
  for (const TileSums& tile : tiles) {
    for (size_t c = 0; c < static_cast<size_t>(channels); ++c) sums[c] += static_cast<double>(tile[c]);
  }
  for (double& sum : sums) sum = difference_of(sum, size.pixels());
  return sums;
}

size_t Comparer::scratch_floats(int width) {
  return (kChannels * (kBlurRows + kDelayRows + 2) + 2 * kStillChannels) * row_floats(width) +
         2 * kChannels * row_floats((width + 1) / 2);
}

Comparer::Comparer(const Subband& subband, int begin, int end, float* scratch, TileSums* tiles)
    : subband_(subband),
      y_(begin * kTileHeight),
      end_(std::min(end * kTileHeight, subband.size.height)),
      seen_(std::max(y_ - (subband.blurred ? kReach : 0), 0)),
      tiles_(tiles) {
  Cutter cutter{scratch, row_floats(subband.size.width)};
  const auto take = [&](Row& rows) {
    rows = {};
    for (size_t c = 0; c < channels(); ++c) rows[c] = cutter.take();
  };
  for (auto& rows : shared_) take(rows);
  for (auto& rows : differences_) take(rows);
  take(blurred_);
  take(columns_);
  room_ = cutter.next;
  cutter.next += 2 * kStillChannels * cutter.stride;
  cutter.stride = row_floats((subband.size.width + 1) / 2);
  take(expanded_[0]);
  take(expanded_[1]);
}

int Comparer::readable(int next_rows) const {
  const Plane& next = subband_.next_reference->planes()[0];
  return next_rows == next.size.height ? subband_.size.height : std::max(2 * next_rows - 2, 0);
}

void Comparer::advance(int readable) {
  const int width = subband_.size.width, last = subband_.size.height - 1;
  for (; y_ < end_; ++y_) {
    const int needed = std::min(y_ + (subband_.blurred ? kReach : 0), last);
    for (; seen_ <= std::min(needed, readable - 1); ++seen_) see(seen_);
    if (seen_ <= needed) return;
    if (y_ % kTileHeight == 0) {
      for (size_t c = 0; c < channels(); ++c) std::fill_n(columns_[c], row_floats(width) - kBefore, 0.0f);
    }
    blur(y_);
    HWY_DYNAMIC_DISPATCH(SumRow)
    (masking(), subband_, blurred_.data(), differences(y_), columns_.data(),
     subband_.heat != nullptr ? subband_.heat->row(y_) : nullptr);
    if (y_ % kTileHeight == kTileHeight - 1 || y_ == last) finish_tiles();
  }
}

void Comparer::finish_tiles() {
  const int width = subband_.size.width;
  for (size_t c = 0; c < channels(); ++c) std::fill_n(columns_[c] + width, kTileWidth, 0.0f);
  for (int x = 0; x < width; x += kTileWidth, ++tiles_) {
    for (size_t c = 0; c < channels(); ++c) (*tiles_)[c] = sum_tile_columns(columns_[c] + x);
  }
}

void Comparer::see(int y) {
  const ChannelRows reference = subband_.reference->read(y, room_);
  const ChannelRows distorted = subband_.distorted->read(y, room_ + kStillChannels * row_floats(subband_.size.width));
  const ChannelRows expanded[2] = {expand(*subband_.next_reference, y, expanded_[0]),
                                   expand(*subband_.next_distorted, y, expanded_[1])};
  HWY_DYNAMIC_DISPATCH(SeeRow)
  (subband_, reference, distorted, expanded[0], expanded[1], shared(y), differences(y));
}

void Comparer::blur(int y) {
  const int width = subband_.size.width;
  for (size_t c = 0; c < channels(); ++c) {
    if (!subband_.blurred) {
      HWY_DYNAMIC_DISPATCH(ScaleRow)(masking().scale, shared(y)[c], width, blurred_[c]);
      continue;
    }
    const float* rows[kBlurRows];
    for (int k = 0; k < kBlurRows; ++k) rows[k] = shared(mirrored(y + k - kReach, subband_.size.height))[c];
    HWY_DYNAMIC_DISPATCH(BlurColumns)(masking().scaled_blur, rows, width, blurred_[c]);
    for (int k = 1; k <= kReach; ++k) {
      blurred_[c][-k] = blurred_[c][k];
      blurred_[c][width - 1 + k] = blurred_[c][width - 1 - k];
    }
  }
}

}  // namespace acuity::cvvdp
#endif
