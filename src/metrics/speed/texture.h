// SPDX-License-Identifier: BSD-2-Clause-Patent
// What SpEED knows of a small picture: how much its blocks of 5 x 5 samples vary, and their entropy, if all of them are
// drawn from one Gaussian scale mixture and seen through noise.
#ifndef ACUITY_METRICS_SPEED_TEXTURE_H
#define ACUITY_METRICS_SPEED_TEXTURE_H

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

class TextureFinder {
 public:
  static Result<TextureFinder> create(int width, int height);

  int blocks() const { return across_ * down_; }
  /// `small` may be read up to 8 floats past the width of its rows.
  void find(const float* small, ptrdiff_t stride, float noise, Texture& out);
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
