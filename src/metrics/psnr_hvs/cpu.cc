// SPDX-License-Identifier: BSD-2-Clause-Patent
// As many blocks side by side as a vector has lanes are worked on together, a block in each lane. All operations of a
// block come in libvmaf's order, and so do the sums over blocks: they are made in float, and drift.
#include "metrics/psnr_hvs/cpu.h"

#include <algorithm>

#include "base/try.h"
#include "metrics/frame_rows.h"
#include "metrics/psnr_hvs/tables.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/psnr_hvs/cpu.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"
#include "lang/transpose.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::psnr_hvs {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

#include "metrics/psnr_hvs/math.h"

// Samples or coefficients of kLanes blocks: kCoefficients vectors.
struct Blocks {
  float* values;
  HWY_INLINE real at(int i) const { return load(values + i * kLanes); }
  HWY_INLINE void set(int i, real value) const { store(value, values + i * kLanes); }
  HWY_INLINE whole whole_at(int i) const { return bits_of(at(i)); }
  HWY_INLINE void set_whole(int i, whole value) const { set(i, from_bits(value)); }
};

HWY_INLINE void load_blocks_at(const float* const* rows, int x, const Blocks& out) {
  for (int i = 0; i < kBlock; ++i) {
    float* to = out.values + i * kBlock * kLanes;
    load_columns(rows[i] + x, kStep, to);
    load_columns(rows[i] + x + 4, kStep, to + 4 * kLanes);
  }
}

// How the variances of the four quarters of a block compare with that of the whole: small where it holds an edge.
HWY_INLINE real spread(const Blocks& samples) {
  // Sums of samples are exact in any order.
  real means[4];
  for (int quarter = 0; quarter < 4; ++quarter) {
    const int first = quarter % 2 * 4 * kBlock + quarter / 2 * 4;
    real sum = real(0.0f);
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) sum = sum + samples.at(first + i * kBlock + j);
    }
    means[quarter] = sum;
  }
  const real mean = (means[0] + means[1] + means[2] + means[3]) * real(1.0f / 64);
  for (real& quarter : means) quarter = quarter * real(1.0f / 16);

  real variance = real(0.0f), variances[4] = {variance, variance, variance, variance};
  for (int i = 0; i < kBlock; ++i) {
    UNROLL
    for (int j = 0; j < kBlock; ++j) {
      const int quarter = i / 4 + j / 4 * 2;
      const real sample = samples.at(i * kBlock + j);
      const real from_mean = sample - mean, from_quarter = sample - means[quarter];
      variance = variance + from_mean * from_mean;
      variances[quarter] = variances[quarter] + from_quarter * from_quarter;
    }
  }
  variance = variance * real(1 / 63.0f * 64);
  for (real& quarter : variances) quarter = quarter * real(1 / 15.0f * 16);
  const real quarters = variances[0] + variances[1] + variances[2] + variances[3];
  return select(variance > real(0.0f), divide(quarters, variance), variance);
}

// Down the columns, then along the rows; each pass leaves its rows where the other finds its columns.
HWY_INLINE void transform_pass(const Blocks& in, const Blocks& out) {
  for (int i = 0; i < kBlock; ++i) {
    whole x[kBlock];
    for (int k = 0; k < kBlock; ++k) x[k] = in.whole_at(k * kBlock + i);
    transform(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
    for (int k = 0; k < kBlock; ++k) out.set_whole(i * kBlock + k, x[k]);
  }
}

HWY_INLINE void transform_blocks(const Blocks& samples, const Blocks& between) {
  for (int i = 0; i < kCoefficients; ++i) samples.set_whole(i, to_whole(samples.at(i)));
  transform_pass(samples, between);
  transform_pass(between, samples);
  for (int i = 0; i < kCoefficients; ++i) samples.set(i, to_real(samples.whole_at(i)));
}

// How much a block hides by its own detail.
HWY_INLINE real masking(const Blocks& coefficients, real block_spread, const Weights& weights) {
  real energy = real(0.0f);
  for (int i = 1; i < kCoefficients; ++i) {
    const real coefficient = coefficients.at(i);
    energy = energy + coefficient * coefficient * real(weights.masking[static_cast<size_t>(i)]);
  }
  return sqrt(energy * block_spread) * real(1.0f / 32);
}

// The squares of what remains visible of the error of each coefficient.
HWY_INLINE void visible_squares(const Blocks& reference, const Blocks& distorted, real mask, const Weights& weights,
                                const Blocks& squares) {
  for (int i = 0; i < kCoefficients; ++i) {
    const auto at = static_cast<size_t>(i);
    real error = abs(reference.at(i) - distorted.at(i));
    if (i > 0) {
      const real hidden = divide(mask, real(weights.masking[at]));
      error = select(error < hidden, real(0.0f), error - hidden);
    }
    const real weighed = error * real(weights.visibility[at]);
    squares.set(i, weighed * weighed);
  }
}

// One row of blocks: their squares are added to `sum`, block after block.
float AddBlocks(const float* const* reference_rows, const float* const* distorted_rows, int count,
                const Weights& weights, float* scratch, float sum) {
  constexpr int kFloats = kCoefficients * kLanes;
  const Blocks reference{scratch}, distorted{scratch + kFloats}, between{scratch + 2 * kFloats};
  for (int block = 0; block < count; block += kLanes) {
    load_blocks_at(reference_rows, block * kStep, reference);
    load_blocks_at(distorted_rows, block * kStep, distorted);
    const real reference_spread = spread(reference), distorted_spread = spread(distorted);
    transform_blocks(reference, between);
    transform_blocks(distorted, between);
    const real mask = max(masking(reference, reference_spread, weights), masking(distorted, distorted_spread, weights));
    visible_squares(reference, distorted, mask, weights, between);
    const int lanes = std::min(count - block, kLanes);
    for (int lane = 0; lane < lanes; ++lane) {
      for (int i = 0; i < kCoefficients; ++i) sum += between.values[i * kLanes + lane];
    }
  }
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::psnr_hvs
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::psnr_hvs {

HWY_EXPORT(AddBlocks);

Weights weights_of_plane(int plane) {
  Weights weights;
  size_t next = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    for (size_t j = i; j < kBlock; ++j) {
      const float visibility = kVisibility[plane][next++];
      const double root = static_cast<double>(visibility) * 0.3885746225901003;
      const auto masking = static_cast<float>(root * root);
      weights.visibility[i * kBlock + j] = weights.visibility[j * kBlock + i] = visibility;
      weights.masking[i * kBlock + j] = weights.masking[j * kBlock + i] = masking;
    }
  }
  return weights;
}

Result<VisibleError> VisibleError::create(int width) {
  constexpr size_t kMostLanes = 16;
  constexpr size_t kScratch = 3 * kCoefficients * kMostLanes;
  const size_t row = static_cast<size_t>(width) + kStep * kMostLanes + kBlock;  // blocks past the last are read too
  VisibleError result;
  ACUITY_TRY_ASSIGN(result.memory_, Arena::create(2 * kBlock * Arena::cost<float>(row) + Arena::cost<float>(kScratch)));
  for (Rows& ring : result.rings_) {
    for (float*& samples : ring) {
      samples = result.memory_.take<float>(row);
      std::fill_n(samples, row, 0.0f);
    }
  }
  result.scratch_ = result.memory_.take<float>(kScratch);
  return result;
}

float VisibleError::mean(const FrameView& reference, const FrameView& distorted, int plane) {
  const int across = (reference.plane_width(plane) - kBlock) / kStep + 1;
  const int down = (reference.plane_height(plane) - kBlock) / kStep + 1;
  const Weights weights = weights_of_plane(plane);
  float sum = 0;
  int read = 0;  // rows so far; the last one of a row of blocks is the first of the next
  for (int block = 0; block < down; ++block) {
    const int top = block * kStep;
    for (; read < top + kBlock; ++read) {
      const auto slot = static_cast<size_t>(read % kBlock);
      read_frame_codes(reference, plane, read, rings_[0][slot]);
      read_frame_codes(distorted, plane, read, rings_[1][slot]);
    }
    std::array<Rows, 2> rows;
    for (size_t i = 0; i < kBlock; ++i) {
      for (size_t side = 0; side < 2; ++side) rows[side][i] = rings_[side][(static_cast<size_t>(top) + i) % kBlock];
    }
    sum = HWY_DYNAMIC_DISPATCH(AddBlocks)(rows[0].data(), rows[1].data(), across, weights, scratch_, sum);
  }
  const int peak = (1 << reference.depth) - 1;
  return sum / static_cast<float>(across * down * kCoefficients) / static_cast<float>(peak * peak);
}

}  // namespace acuity::psnr_hvs
#endif
