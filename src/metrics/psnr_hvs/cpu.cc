// SPDX-License-Identifier: BSD-2-Clause-Patent
// As many blocks side by side as a vector has lanes are worked on together, a block in each lane. All operations of a
// block come in libvmaf's order, and so do the sums over blocks: they are made in float, and drift.
#include "metrics/psnr_hvs/cpu.h"

#include <algorithm>

#include "base/try.h"
#include "frames/frame_rows.h"
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
  int32_t* values;
  HWY_INLINE whole at(int i) const { return hn::Load(WholeTag(), values + i * kLanes); }
  HWY_INLINE void set(int i, whole value) const { hn::Store(value.v, WholeTag(), values + i * kLanes); }
};

// Something of the reference and of the distorted blocks.
struct Both {
  real reference;
  real distorted;
};

// Adds as many terms to the sum as there are lanes. Each addition waits for the one before, but not for other work, so
// this is called amid that: as often as a block has coefficients while as many blocks as before are worked on.
HWY_INLINE void add_some(OpenSum& sum) {
  if (sum.added == sum.terms) return;
  const int block = sum.added / kCoefficients, first = sum.added % kCoefficients;
  const float* squares = sum.squares + first * kLanes + block;
  float total = sum.total;
  UNROLL
  for (int i = 0; i < kLanes; ++i) total += squares[i * kLanes];
  sum.total = total;
  sum.added += kLanes;
}

void Finish(OpenSum& sum) {
  while (sum.added < sum.terms) add_some(sum);
}

HWY_INLINE void load_blocks_at(const int32_t* const* rows, int x, const Blocks& out, OpenSum& sum) {
  for (int i = 0; i < kBlock; ++i) {
    // The transposition moves bits, whatever they mean.
    const auto* from = reinterpret_cast<const float*>(rows[i] + x);
    auto* to = reinterpret_cast<float*>(out.values + i * kBlock * kLanes);
    load_columns(from, kStep, to);
    load_columns(from + 4, kStep, to + 4 * kLanes);
    add_some(sum);
  }
}

// The sums of samples of the four quarters of a block, above each other first.
HWY_INLINE void sum_quarters(const Blocks& samples, whole* sums) {
  for (int quarter = 0; quarter < 4; ++quarter) {
    const int first = quarter % 2 * 4 * kBlock + quarter / 2 * 4;
    whole sum = 0;
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) sum = sum + samples.at(first + i * kBlock + j);
    }
    sums[quarter] = sum;
  }
}

HWY_INLINE Variances variances_of(const Blocks& samples) {
  whole sums[4];
  sum_quarters(samples, sums);
  return variances_about(sums[0], sums[1], sums[2], sums[3]);
}

HWY_INLINE Both spreads(const Blocks& reference, const Blocks& distorted) {
  Variances of_reference = variances_of(reference), of_distorted = variances_of(distorted);
  for (int i = 0; i < kBlock; ++i) {
    UNROLL
    for (int j = 0; j < kBlock; ++j) {
      const int quarter = i / 4 + j / 4 * 2;
      add_sample(of_reference, to_real(reference.at(i * kBlock + j)), quarter);
      add_sample(of_distorted, to_real(distorted.at(i * kBlock + j)), quarter);
    }
  }
  return {spread_of(of_reference), spread_of(of_distorted)};
}

// Columns become rows of coefficients; twice, and both directions are transformed.
HWY_INLINE void transform_pass(const Blocks& in, const Blocks& out, OpenSum& sum) {
  for (int i = 0; i < kBlock; ++i) {
    whole x[kBlock];
    for (int k = 0; k < kBlock; ++k) x[k] = in.at(k * kBlock + i);
    transform(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
    for (int k = 0; k < kBlock; ++k) out.set(i * kBlock + k, x[k]);
    add_some(sum);
  }
}

HWY_INLINE real masking(const Blocks& reference, const Blocks& distorted, const Both& spread, const Weights& weights) {
  Both energy{real(0.0f), real(0.0f)};
  for (int i = 1; i < kCoefficients; ++i) {
    const real weight = real(weights.masking[static_cast<size_t>(i)]);
    const real a = to_real(reference.at(i)), b = to_real(distorted.at(i));
    energy.reference = energy.reference + a * a * weight;
    energy.distorted = energy.distorted + b * b * weight;
  }
  return mask_of(energy.reference, spread.reference, energy.distorted, spread.distorted);
}

// The squares of what remains visible of the error of each coefficient.
HWY_INLINE void visible_squares(const Blocks& reference, const Blocks& distorted, real mask, const Weights& weights,
                                OpenSum& sum, float* squares) {
  for (int i = 0; i < kCoefficients; ++i) {
    const auto at = static_cast<size_t>(i);
    const real error = abs(to_real(reference.at(i) - distorted.at(i)));
    const real hidden = i == 0 ? real(0.0f) : divide(mask, real(weights.masking[at]));
    store(visible_square(error, hidden, real(weights.visibility[at])), squares + i * kLanes);
    if (i % 4 == 3) add_some(sum);
  }
}

// One row of blocks: their squares are added to `sum`, but for those of the last ones, which stay open.
void AddBlocks(const int32_t* const* reference_rows, const int32_t* const* distorted_rows, int count,
               const Weights& weights, int32_t* scratch, float* squares, OpenSum& sum) {
  constexpr int kValues = kCoefficients * kLanes;
  const Blocks reference{scratch}, distorted{scratch + kValues}, between{scratch + 2 * kValues};
  for (int block = 0; block < count; block += kLanes) {
    load_blocks_at(reference_rows, block * kStep, reference, sum);
    load_blocks_at(distorted_rows, block * kStep, distorted, sum);
    const Both spread = spreads(reference, distorted);
    for (const Blocks& blocks : {reference, distorted}) {
      transform_pass(blocks, between, sum);
      transform_pass(between, blocks, sum);
    }
    float* free = sum.squares == squares ? squares + kValues : squares;
    visible_squares(reference, distorted, masking(reference, distorted, spread, weights), weights, sum, free);
    Finish(sum);
    sum = {sum.total, std::min(count - block, kLanes) * kCoefficients, 0, free};
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::psnr_hvs
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::psnr_hvs {

HWY_EXPORT(AddBlocks);
HWY_EXPORT(Finish);

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

float mean_of(float sum, int blocks, int depth) {
  const int peak = (1 << depth) - 1;
  return sum / static_cast<float>(blocks * kCoefficients) / static_cast<float>(peak * peak);
}

Result<VisibleError> VisibleError::create(int width) {
  constexpr size_t kMostLanes = 16;
  constexpr size_t kScratch = 3 * kCoefficients * kMostLanes, kSquares = 2 * kCoefficients * kMostLanes;
  const size_t row = static_cast<size_t>(width) + kStep * kMostLanes + kBlock;  // blocks past the last are read too
  VisibleError result;
  ACUITY_TRY_ASSIGN(result.memory_, Arena::create(2 * kBlock * Arena::cost<int32_t>(row) +
                                                  Arena::cost<int32_t>(kScratch) + Arena::cost<float>(kSquares)));
  for (Rows& ring : result.rings_) {
    for (int32_t*& samples : ring) {
      samples = result.memory_.take<int32_t>(row);
      std::fill_n(samples, row, 0);
    }
  }
  result.scratch_ = result.memory_.take<int32_t>(kScratch);
  result.squares_ = result.memory_.take<float>(kSquares);
  return result;
}

float VisibleError::mean(const FrameView& reference, const FrameView& distorted, int plane) {
  const int across = blocks_along(reference.plane_width(plane)), down = blocks_along(reference.plane_height(plane));
  const Weights weights = weights_of_plane(plane);
  OpenSum sum;
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
    HWY_DYNAMIC_DISPATCH(AddBlocks)(rows[0].data(), rows[1].data(), across, weights, scratch_, squares_, sum);
  }
  HWY_DYNAMIC_DISPATCH(Finish)(sum);
  return mean_of(sum.total, across * down, reference.depth);
}

}  // namespace acuity::psnr_hvs
#endif
