// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sums over the samples of a plane, exact whatever their order.
#ifndef ACUITY_METRICS_PSNR_YUV_SUMS_H
#define ACUITY_METRICS_PSNR_YUV_SUMS_H

#include <cstdint>

#include "acuity/frame.h"

namespace acuity::psnr_yuv {

uint64_t squared_differences(const FrameView& a, const FrameView& b, int plane);

/// Of luma. Each square is rounded to a float, as libvmaf's float features have it; that matters above 12 bits.
uint64_t rounded_squared_differences(const FrameView& a, const FrameView& b);

struct Moments {
  uint64_t sum = 0;
  uint64_t squares = 0;  // rounded likewise
};
Moments moments(const FrameView& frame);  // of luma

}  // namespace acuity::psnr_yuv

#endif
