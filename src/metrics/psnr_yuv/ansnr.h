// SPDX-License-Identifier: BSD-2-Clause-Patent
// The energies that the anti-noise signal-to-noise ratio is made of.
#ifndef ACUITY_METRICS_PSNR_YUV_ANSNR_H
#define ACUITY_METRICS_PSNR_YUV_ANSNR_H

#include <array>
#include <cstddef>

#include "acuity/frame.h"
#include "acuity/status.h"
#include "base/memory.h"

namespace acuity::psnr_yuv {

struct Energies {
  float signal = 0;
  float noise = 0;
};

class AntiNoise {
 public:
  /// For frames of that width, at least 3 pixels.
  static Result<AntiNoise> create(int width);
  size_t bytes() const { return memory_.size(); }
  Energies energies(const FrameView& reference, const FrameView& distorted);

 private:
  static constexpr int kRows = 5;  // that a filter looks at

  void read(const FrameView& frame, int y, std::array<float*, kRows>& ring);

  Arena memory_;
  std::array<float*, kRows> reference_{};  // rings of rows, with room for two mirrored samples on both sides
  std::array<float*, kRows> distorted_{};
  float* signal_sums_ = nullptr;
  float* noise_sums_ = nullptr;
};

}  // namespace acuity::psnr_yuv

#endif
