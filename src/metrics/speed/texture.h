// SPDX-License-Identifier: BSD-2-Clause-Patent
// What SpEED knows of a small picture: how much its blocks of 5 x 5 samples vary, and their entropy, if all of them are
// drawn from one Gaussian scale mixture and seen through noise.
#ifndef ACUITY_METRICS_SPEED_TEXTURE_H
#define ACUITY_METRICS_SPEED_TEXTURE_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "acuity/status.h"
#include "base/memory.h"

namespace acuity::speed {

inline constexpr int kBlockSide = 5;

/// Of each block, from left to right and down.
struct Texture {
  std::vector<float> variances;
  std::vector<float> entropies;
  bool singular = false;  // the covariances could not be inverted; then all variances are zero
};

/// All places in the picture where a block fits, not only those of the grid. Products of so many of them are summed up
/// at a time: pieces of rows, or whole ones.
struct Places {
  const float* samples;
  ptrdiff_t stride;
  int across;
  int down;

  static constexpr int kTogether = 128;
  int rows_together() const { return std::max(kTogether / across, 1); }
  int columns_together() const { return std::min(across, kTogether); }
};

inline constexpr size_t kVirtualLanes = 8;  // partial sums of a covariance, whatever the processor has
inline constexpr size_t kPairs = 25 * 26 / 2;
/// The sums of the products of any two samples of a block, the second not after the first.
using PairSums = std::array<std::array<double, kVirtualLanes>, kPairs>;

class TextureFinder {
 public:
  static constexpr size_t kReadBeyond = 8;  // floats past the end of a row

  static Result<TextureFinder> create(int width, int height);

  Places places(const float* small, ptrdiff_t stride) const {
    return {small, stride, across_ * kBlockSide - kBlockSide + 1, down_ * kBlockSide - kBlockSide + 1};
  }

  int blocks() const { return across_ * down_; }
  /// `small` may be read up to kReadBeyond floats past the width of its rows.
  void find(const float* small, ptrdiff_t stride, float noise, Texture& out);
  /// What comes after the sums.
  void conclude(const float* small, ptrdiff_t stride, const PairSums& sums, float noise, Texture& out);
  size_t bytes() const { return arena_.size(); }

 private:
  int across_ = 0, down_ = 0, block_stride_ = 0;
  Arena arena_;
  double* centred_ = nullptr;
  float *samples_ = nullptr, *solved_ = nullptr;
};

/// How far the textures of two pictures are apart: the mean over their blocks of the difference of entropies, which are
/// weighted by variances in one of seven ways. Blocks whose entropy is below that of the noise, made larger by the
/// part `floor`, in both do not count.
float distance(const Texture& reference, const Texture& distorted, float noise, float floor, int weighting);

}  // namespace acuity::speed

#endif
