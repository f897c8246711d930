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

inline constexpr int kReach = 6;  // of the blur, to each side
inline constexpr int kBlurRows = 2 * kReach + 1, kDelayRows = kReach + 1;

// What masking needs, as 32-bit floats.
struct Masking {
  float blur[kReach + 1];               // along rows, from the centre
  float scaled_blur[kReach + 1];        // down columns, with the scale of masking
  float scale;                          // without a blur
  float power;                          // of differences
  float powers[kChannels];              // of what masks them
  float weights[kChannels][kChannels];  // row: what masks
  float largest;
  float heat[kChannels];  // what differences count for in a map
};

}  // namespace acuity::cvvdp
#endif

HWY_BEFORE_NAMESPACE();
namespace acuity::cvvdp {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

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
  const real place =
      min(max(fma(quick_log_2(background), real(subband.luminance_step), real(subband.luminance_offset)), real(0.0f)),
          real(kTableSide - 1));
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
HWY_INLINE void sum_row(const Masking& masking, bool blurred, const float* const* blurred_columns,
                        const float* const* differences, int width, float* const* columns, float* heat) {
  real offsets[kCount], powers[kCount];
  for (size_t c = 0; c < kCount; ++c) {
    powers[c] = real(masking.powers[c]);
    offsets[c] = raised(real(0.0f), powers[c]);
  }
  const real power = masking.power, offset = raised(real(0.0f), power), largest = masking.largest;
  for (int x = 0; x < width; x += kLanes) {
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
      if (heat != nullptr) fourths = fourths + offset_fourth(seen * real(masking.heat[c]));
    }
    if (heat != nullptr) store(offset_fourth_root(fourths), heat + x);
  }
}

void SumRow(const Masking& masking, int channels, bool blurred, const float* const* blurred_columns,
            const float* const* differences, int width, float* const* columns, float* heat) {
  if (channels == kStillChannels) {
    sum_row<kStillChannels>(masking, blurred, blurred_columns, differences, width, columns, heat);
  } else {
    sum_row<kChannels>(masking, blurred, blurred_columns, differences, width, columns, heat);
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
  constexpr double kVariance = 9;
  Masking masking{};
  const double scale = exact_power(10, kLogMaskScale);
  double weights[kReach + 1], sum = 0;
  for (int k = 0; k <= kReach; ++k) {
    weights[k] = exact_exp(-k * k / (2 * kVariance));
    sum += k == 0 ? weights[k] : 2 * weights[k];
  }
  for (int k = 0; k <= kReach; ++k) {
    masking.blur[k] = static_cast<float>(weights[k] / sum);
    masking.scaled_blur[k] = static_cast<float>(weights[k] / sum * scale);
  }
  masking.scale = static_cast<float>(scale);
  masking.power = static_cast<float>(kMaskPower);
  masking.largest = static_cast<float>(exact_power(10, kLogLargestDifference));
  for (size_t k = 0; k < kChannels; ++k) {
    masking.heat[k] = static_cast<float>(kChannelWeights[k] * kStillFactor);
    masking.powers[k] = static_cast<float>(kMaskingPowers[k]);
    for (size_t c = 0; c < kChannels; ++c) {
      masking.weights[k][c] = static_cast<float>(exact_exp2(kLogCrossMasking[k][c]));
    }
  }
  return masking;
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

// What one thread holds while it goes down a subband.
class Strip {
 public:
  Strip(const Subband& subband, float* scratch) : subband_(subband) {
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
  static size_t floats(int width) {
    return (kChannels * (kBlurRows + kDelayRows + 2) + 2 * kStillChannels) * row_floats(width) +
           2 * kChannels * row_floats((width + 1) / 2);
  }

  void compare(int begin, int end, TileSums* tiles) {
    const int width = subband_.size.width, height = subband_.size.height;
    const int reach = subband_.blurred ? kReach : 0;
    int seen = std::max(begin * kTileHeight - reach, 0);
    for (int tile_row = begin; tile_row < end; ++tile_row) {
      for (size_t c = 0; c < channels(); ++c) std::fill_n(columns_[c], row_floats(width) - kBefore, 0.0f);
      const int y_end = std::min((tile_row + 1) * kTileHeight, height);
      for (int y = tile_row * kTileHeight; y < y_end; ++y) {
        for (; seen <= std::min(y + reach, height - 1); ++seen) see(seen);
        blur(y);
        HWY_DYNAMIC_DISPATCH(SumRow)
        (masking(), subband_.channels, subband_.blurred, blurred_.data(), differences(y), width, columns_.data(),
         subband_.heat != nullptr ? subband_.heat->row(y) : nullptr);
      }
      for (size_t c = 0; c < channels(); ++c) std::fill_n(columns_[c] + width, kTileWidth, 0.0f);
      for (int x = 0; x < width; x += kTileWidth, ++tiles) {
        for (size_t c = 0; c < channels(); ++c) (*tiles)[c] = sum_tile_columns(columns_[c] + x);
      }
    }
  }

 private:
  using Row = std::array<float*, kChannels>;

  size_t channels() const { return static_cast<size_t>(subband_.channels); }

  float* const* shared(int y) const { return shared_[static_cast<size_t>(y % kBlurRows)].data(); }
  float* const* differences(int y) const { return differences_[static_cast<size_t>(y % kDelayRows)].data(); }

  void see(int y) {
    const ChannelRows reference = subband_.reference->read(y, room_);
    const ChannelRows distorted = subband_.distorted->read(y, room_ + kStillChannels * row_floats(subband_.size.width));
    const ChannelRows expanded[2] = {expand(*subband_.next_reference, y, expanded_[0]),
                                     expand(*subband_.next_distorted, y, expanded_[1])};
    HWY_DYNAMIC_DISPATCH(SeeRow)
    (subband_, reference, distorted, expanded[0], expanded[1], shared(y), differences(y));
  }

  // Rows of the next scale at the height of row y of this one. Edges are repeated outside.
  static ChannelRows expand(const PlaneReader& next, int y, const Row& to) {
    ChannelRows rows{};
    for (size_t c = 0; c < next.planes().size(); ++c) {
      expand_columns(next.planes()[c], y, to[c]);
      rows[c] = to[c];
    }
    return rows;
  }

  void blur(int y) {
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

  const Subband& subband_;
  std::array<Row, kBlurRows> shared_;        // a ring
  std::array<Row, kDelayRows> differences_;  // another
  Row blurred_, columns_;
  float* room_ = nullptr;
  std::array<Row, 2> expanded_;
};

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
  subband.luminance_step = static_cast<float>(luminance_step());
  subband.luminance_offset = static_cast<float>(luminance_offset());
  for (int channel = 0; channel < channels; ++channel) {
    const size_t c = static_cast<size_t>(channel);
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

size_t compare_scratch_floats(int width) { return Strip::floats(width); }

void compare_rows(const Subband& subband, int begin, int end, float* scratch, TileSums* tiles) {
  Strip(subband, scratch).compare(begin, end, tiles);
}

}  // namespace acuity::cvvdp
#endif
