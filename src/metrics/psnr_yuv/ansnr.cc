// SPDX-License-Identifier: BSD-2-Clause-Patent
// The reference is smoothed a little and the distorted frame more, so that noise of single pixels does not count. Sums
// are libvmaf's, operation by operation: of each row of a filter, of these rows, of the pixels of a row and of the
// rows.
#include "metrics/psnr_yuv/ansnr.h"

#include "base/try.h"
#include "frames/frame_rows.h"
#include "frames/row_sums.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/psnr_yuv/ansnr.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::psnr_yuv {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

#include "metrics/psnr_yuv/math.h"

// `rows` are those around the pixels.
HWY_INLINE real smoothed(const float* const* rows, int x) {
  const auto at = [&](int i, int dx) { return load_unaligned(rows[i] + x + dx); };
  return sum_of_3(SMOOTH_OUTER(at(0, -1), at(0, 0), at(0, 1)), SMOOTH_MIDDLE(at(1, -1), at(1, 0), at(1, 1)),
                  SMOOTH_OUTER(at(2, -1), at(2, 0), at(2, 1)));
}

HWY_INLINE real blurred(const float* const* rows, int x) {
  const auto at = [&](int i, int dx) { return load_unaligned(rows[i] + x + dx); };
  return sum_of_5(BLUR_OUTER(at(0, -2), at(0, -1), at(0, 0), at(0, 1), at(0, 2)),
                  BLUR_INNER(at(1, -2), at(1, -1), at(1, 0), at(1, 1), at(1, 2)),
                  BLUR_MIDDLE(at(2, -2), at(2, -1), at(2, 0), at(2, 1), at(2, 2)),
                  BLUR_INNER(at(3, -2), at(3, -1), at(3, 0), at(3, 1), at(3, 2)),
                  BLUR_OUTER(at(4, -2), at(4, -1), at(4, 0), at(4, 1), at(4, 2)));
}

void SquareRow(const float* const* reference_rows, const float* const* distorted_rows, int width, float* signal,
               float* noise) {
  for (int x = 0; x < width; x += kLanes) {
    const real reference = smoothed(reference_rows + 1, x);
    const real difference = reference - blurred(distorted_rows, x);
    store(reference * reference, signal + x);
    store(difference * difference, noise + x);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::psnr_yuv
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::psnr_yuv {
namespace {

HWY_EXPORT(SquareRow);

// At the start of a row or column the first sample is not repeated by the mirror, at its end the last one is.
int unevenly_mirrored(int i, int size) { return i < 0 ? -i : i >= size ? 2 * size - 1 - i : i; }

}  // namespace

Result<AntiNoise> AntiNoise::create(int width) {
  constexpr size_t kMargin = 16;
  const size_t row = round_up(static_cast<size_t>(width), 16) + 2 * kMargin, sums = RowSums::scratch_floats(width);
  AntiNoise result;
  ACUITY_TRY_ASSIGN(result.memory_, Arena::create(2 * kRows * Arena::cost<float>(row) + 2 * Arena::cost<float>(sums)));
  for (auto* ring : {&result.reference_, &result.distorted_}) {
    for (float*& samples : *ring) {
      samples = result.memory_.take<float>(row);
      std::fill_n(samples, row, 0.0f);
      samples += kMargin;
    }
  }
  result.signal_sums_ = result.memory_.take<float>(sums);
  result.noise_sums_ = result.memory_.take<float>(sums);
  return result;
}

void AntiNoise::read(const FrameView& frame, int y, std::array<float*, kRows>& ring) {
  float* row = ring[static_cast<size_t>(y % kRows)];
  read_frame_row(frame, 0, y, -128, row);
  for (const int x : {-2, -1, frame.width, frame.width + 1}) row[x] = row[unevenly_mirrored(x, frame.width)];
}

Energies AntiNoise::energies(const FrameView& reference, const FrameView& distorted) {
  const int width = reference.width, height = reference.height;
  RowSums signal(signal_sums_, width), noise(noise_sums_, width);
  for (int y = -2; y < height; ++y) {
    if (y + 2 < height) {
      read(reference, y + 2, reference_);
      read(distorted, y + 2, distorted_);
    }
    if (y < 0) continue;
    std::array<const float*, kRows> reference_rows, distorted_rows;
    for (int k = 0; k < kRows; ++k) {
      const auto slot = static_cast<size_t>(unevenly_mirrored(y + k - 2, height) % kRows);
      reference_rows[static_cast<size_t>(k)] = reference_[slot];
      distorted_rows[static_cast<size_t>(k)] = distorted_[slot];
    }
    HWY_DYNAMIC_DISPATCH(SquareRow)
    (reference_rows.data(), distorted_rows.data(), width, signal.row(), noise.row());
    signal.add();
    noise.add();
  }
  return {signal.total(), noise.total()};
}

}  // namespace acuity::psnr_yuv
#endif
