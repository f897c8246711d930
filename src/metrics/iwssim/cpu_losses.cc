// SPDX-License-Identifier: BSD-2-Clause-Patent
// A cell of columns is walked down row by row. Each row of samples is filtered along itself into a ring of eleven
// rows; as soon as those are complete they are filtered down the columns, and the loss, the weight and the sums follow
// at once, so that nothing but the subbands themselves ever exists at full size.
#include <algorithm>
#include <cstring>

#include "metrics/iwssim/cpu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/iwssim/cpu_losses.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::iwssim {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

#include "lang/exact.h"
#include "metrics/iwssim/ssim_window.h"
#include "metrics/iwssim/math.h"
#include "metrics/iwssim/cpu_parent.h"

// Sum and difference of the pictures, then what is needed for their variances.
enum { kSum, kDifference, kSumSpread, kDifferenceSpread, kFiltered };

constexpr int kRowFloats = kCellColumns + 2 * kBorder + 22;  // up to whole vectors
constexpr int kPatternRows = 3;

struct alignas(64) Scratch {
  float samples[kFiltered][kRowFloats];              // of one row
  float filtered[kWindow][kFiltered][kCellColumns];  // rows of samples, as a ring
  float patterns[kPatternRows][2][3][kCellColumns];  // of reference and difference along rows, as a ring
  float loss[kCellColumns];
  float weight[kCellColumns];
  float sums[3][kCellColumns];           // loss, weighted loss, weight
  float whitening[VALUE_PAIRS][kLanes];  // figures of the subband, ready to be multiplied with
  float eigenvalues[VALUES][kLanes];
};

// Five samples to either side of the middle one, added pair by pair.
HWY_INLINE real mean_of_row(const float* from) {
  const auto pair = [from](int i) { return load_unaligned(from + kBorder - i) + load_unaligned(from + kBorder + i); };
  return window_mean(load_unaligned(from + kBorder), pair(1), pair(2), pair(3), pair(4), pair(5));
}
HWY_INLINE void moments_of_row(const float* from, real& mean, real& variance) {
  const auto sample = [from](int i) { return load_unaligned(from + kBorder + i); };
  window_moments(sample(0), sample(-1), sample(-2), sample(-3), sample(-4), sample(-5), sample(1), sample(2), sample(3),
                 sample(4), sample(5), mean, variance);
}

template <bool subband>
class Cell {
 public:
  Cell(const Comparison& comparison, int cell, Scratch& scratch)
      : comparison_(comparison),
        size_(comparison.reference->size),
        losses_(loss_size(size_)),
        x_(cell * kCellColumns),
        columns_(std::min(kCellColumns, losses_.width - x_)),
        scratch_(scratch) {}

  void run(int tile_row_begin, int tile_row_end) {
    const int y_begin = tile_row_begin * kTileHeight;
    const int y_end = std::min(tile_row_end * kTileHeight, losses_.height);
    std::memset(scratch_.sums, 0, sizeof scratch_.sums);
    if (comparison_.information != nullptr) spread_information(*comparison_.information);
    for (int y = y_begin; y < y_end + kWindow - 1; ++y) {
      filter_along(y);
      if (y < y_begin + kWindow - 1) continue;
      const int out = y - (kWindow - 1);
      filter_down(out);
      if (comparison_.information != nullptr) weigh(out, out == y_begin);
      add(out);
      if ((out + 1) % kTileHeight == 0 || out + 1 == losses_.height) close_tiles(out / kTileHeight);
    }
  }

 private:
  void spread_information(const Information& information) {
    for (size_t i = 0; i < VALUE_PAIRS; ++i) store(real(information.whitening[i]), scratch_.whitening[i]);
    for (size_t i = 0; i < VALUES; ++i) store(real(information.eigenvalues[i]), scratch_.eigenvalues[i]);
  }

  float* filtered(int y, int plane) { return scratch_.filtered[y % kWindow][plane]; }

  void filter_along(int y) {
    const float* reference = comparison_.reference->row(y) + x_;
    const float* distorted = comparison_.distorted->row(y) + x_;
    for (int x = 0; x < columns_ + 2 * kBorder; x += kLanes) {
      const real a = load_unaligned(reference + x);
      const real b = load_unaligned(distorted + x);
      const real sum = a + b;
      const real difference = b - a;
      store(sum, scratch_.samples[kSum] + x);
      store(difference, scratch_.samples[kDifference] + x);
      if constexpr (subband) {
        store(sum * sum, scratch_.samples[kSumSpread] + x);
        store(difference * difference, scratch_.samples[kDifferenceSpread] + x);
      }
    }
    for (int x = 0; x < columns_; x += kLanes) {
      if constexpr (subband) {
        for (int p = 0; p < kFiltered; ++p) store(mean_of_row(scratch_.samples[p] + x), filtered(y, p) + x);
      } else {
        for (int p = kSum; p <= kDifference; ++p) {
          real mean, variance;
          moments_of_row(scratch_.samples[p] + x, mean, variance);
          store(mean, filtered(y, p) + x);
          store(variance, filtered(y, p + kSumSpread) + x);
        }
      }
    }
  }

  // The mean and the variance in the window, from rows y .. y + 10; `plane` is kSum or kDifference.
  HWY_INLINE void window_down(int plane, const int (&rows)[kWindow], int x, real& mean, real& variance) {
    const auto sample = [&](int p, int i) { return load(scratch_.filtered[rows[kBorder + i]][p] + x); };
    const auto pair = [&](int p, int i) { return sample(p, -i) + sample(p, i); };
    const int spread = plane + kSumSpread;
    const real along = window_mean(sample(spread, 0), pair(spread, 1), pair(spread, 2), pair(spread, 3),
                                   pair(spread, 4), pair(spread, 5));
    if constexpr (subband) {
      mean =
          window_mean(sample(plane, 0), pair(plane, 1), pair(plane, 2), pair(plane, 3), pair(plane, 4), pair(plane, 5));
      variance = variance_about(mean, along);
    } else {
      real down;
      window_moments(sample(plane, 0), sample(plane, -1), sample(plane, -2), sample(plane, -3), sample(plane, -4),
                     sample(plane, -5), sample(plane, 1), sample(plane, 2), sample(plane, 3), sample(plane, 4),
                     sample(plane, 5), mean, down);
      variance = variance_within(along, down);
    }
  }

  void filter_down(int y) {
    int rows[kWindow];
    for (int i = 0; i < kWindow; ++i) rows[i] = (y + i) % kWindow;
    for (int x = 0; x < columns_; x += kLanes) {
      real sum, sum_variance, difference, difference_variance;
      window_down(kSum, rows, x, sum, sum_variance);
      window_down(kDifference, rows, x, difference, difference_variance);
      real loss = structure_loss(sum_variance, difference_variance);
      if (comparison_.with_luminance) {
        loss = joint_loss(loss, luminance_loss(sum + real(2 * comparison_.middle), difference));
      }
      store(loss, scratch_.loss + x);
    }
  }

  // Patterns along row y of the samples, for the neighbourhoods around the places of losses.
  void make_patterns(int y) {
    const float* reference = comparison_.reference->row(y) + x_ + kBorder - 1;
    const float* distorted = comparison_.distorted->row(y) + x_ + kBorder - 1;
    float(&out)[2][3][kCellColumns] = scratch_.patterns[y % kPatternRows];
    for (int x = 0; x < columns_; x += kLanes) {
      real a[3], d[3], pattern[3];
      for (int i = 0; i < 3; ++i) {
        a[i] = load_unaligned(reference + x + i);
        d[i] = load_unaligned(distorted + x + i) - a[i];
      }
      patterns_of_three(a[0], a[1], a[2], pattern[0], pattern[1], pattern[2]);
      for (int i = 0; i < 3; ++i) store(pattern[i], out[0][i] + x);
      patterns_of_three(d[0], d[1], d[2], pattern[0], pattern[1], pattern[2]);
      for (int i = 0; i < 3; ++i) store(pattern[i], out[1][i] + x);
    }
  }

  HWY_INLINE void load_patterns(int y, int picture, int x, real (&values)[VALUES]) {
    UNROLL for (int k = 0; k < 3; ++k) {
      const auto along = [&](int row) { return load(scratch_.patterns[(y + row) % kPatternRows][picture][k] + x); };
      patterns_of_three(along(0), along(1), along(2), values[3 * k], values[3 * k + 1], values[3 * k + 2]);
    }
  }

  // The weights of row y of the losses, whose neighbourhoods are three rows of samples from y + 4 on.
  void weigh(int y, bool first) {
    const int top = y + kBorder - 1;
    for (int row = first ? top : top + 2; row <= top + 2; ++row) make_patterns(row);
    if (comparison_.parent.plane != nullptr) {
      weigh_row<VALUES>(y, top);
    } else {
      weigh_row<PATTERNS>(y, top);
    }
  }

  template <int count>
  HWY_INLINE void weigh_row(int y, int top) {
    const Parent& parent = comparison_.parent;
    const float* upper = nullptr;
    const float* lower = nullptr;
    float fraction = 0;
    if constexpr (count == VALUES) {
      const ParentPlace& place = parent.rows[static_cast<size_t>(y + kBorder)];
      upper = parent.plane->row(place.first);
      lower = parent.plane->row(std::min(place.first + 1, parent.plane->size.height - 1));
      fraction = place.fraction;
    }
    const auto coefficient = [&](int i) { return load(scratch_.whitening[i]); };
    const auto eigenvalue = [&](int i) { return load(scratch_.eigenvalues[i]); };
    for (int x = 0; x < columns_; x += kLanes) {
      real values[VALUES], differences[VALUES];
      load_patterns(top, 0, x, values);
      load_patterns(top, 1, x, differences);
      if constexpr (count == VALUES) {
        values[PATTERNS] = parent_of(upper, lower, fraction, parent, x_ + x + kBorder);
      }
      real residual, strength, improbability, weight;
      channel_of(values, differences, residual, strength);
      IMPROBABILITY(improbability, values, count, coefficient);
      INFORMATION(weight, residual, strength, improbability, count, eigenvalue);
      store(weight, scratch_.weight + x);
    }
  }

  void add(int y) {
    const bool weighted = comparison_.information != nullptr;
    for (int x = 0; x < columns_; x += kLanes) {
      const real loss = load(scratch_.loss + x);
      store(load(scratch_.sums[0] + x) + loss, scratch_.sums[0] + x);
      if (!weighted) continue;
      const real weight = load(scratch_.weight + x);
      const real product = weight * loss;
      store(load(scratch_.sums[1] + x) + product, scratch_.sums[1] + x);
      store(load(scratch_.sums[2] + x) + weight, scratch_.sums[2] + x);
      store(product, scratch_.loss + x);
    }
    if (comparison_.map != nullptr) {
      std::copy_n(scratch_.loss, columns_,
                  comparison_.map + static_cast<size_t>(y) * static_cast<size_t>(losses_.width) + x_);
    }
  }

  void close_tiles(int tile_row) {
    const int across = (losses_.width + kTileWidth - 1) / kTileWidth;
    TileSums* tiles = comparison_.tiles + static_cast<size_t>(tile_row) * static_cast<size_t>(across);
    for (auto& sums : scratch_.sums) std::fill(sums + columns_, sums + kCellColumns, 0.0f);
    for (int x = 0; x < columns_; x += kTileWidth) {
      TileSums& tile = tiles[(x_ + x) / kTileWidth];
      tile.loss = sum_tile_columns(scratch_.sums[0] + x);
      tile.weighted_loss = sum_tile_columns(scratch_.sums[1] + x);
      tile.weight = sum_tile_columns(scratch_.sums[2] + x);
    }
    std::memset(scratch_.sums, 0, sizeof scratch_.sums);
  }

  const Comparison& comparison_;
  Size size_;
  Size losses_;
  int x_;
  int columns_;
  Scratch& scratch_;
};

size_t comparison_scratch_floats() { return sizeof(Scratch) / sizeof(float); }

void compare_cell(const Comparison& comparison, int cell, int tile_row_begin, int tile_row_end, float* scratch) {
  Scratch& typed = *reinterpret_cast<Scratch*>(scratch);
  if (comparison.subband) {
    Cell<true>(comparison, cell, typed).run(tile_row_begin, tile_row_end);
  } else {
    Cell<false>(comparison, cell, typed).run(tile_row_begin, tile_row_end);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::iwssim
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::iwssim {

HWY_EXPORT(comparison_scratch_floats);
HWY_EXPORT(compare_cell);

size_t comparison_scratch_floats() { return HWY_DYNAMIC_DISPATCH(comparison_scratch_floats)(); }

void compare_cell(const Comparison& comparison, int cell, int tile_row_begin, int tile_row_end, float* scratch) {
  HWY_DYNAMIC_DISPATCH(compare_cell)(comparison, cell, tile_row_begin, tile_row_end, scratch);
}

}  // namespace acuity::iwssim
#endif
