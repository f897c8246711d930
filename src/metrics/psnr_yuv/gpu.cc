// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/psnr_yuv/gpu.h"

#include "lang/host.h"

namespace acuity {

extern const KernelFile psnr_yuv_kernels;

namespace psnr_yuv {
namespace kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &psnr_yuv_kernels;
#include "metrics/psnr_yuv/kernels.h"

}  // namespace kernels

Status prepare(Device& device) { return device.prepare(kernels::sum_squared_differences); }

Status add_squared_differences(Queue& queue, const FrameShape& shape, int plane, const DeviceFrame& reference,
                               const DeviceFrame& distorted, uint64_t sum) {
  constexpr int kWordBytes = 4, kWordsAcross = 32, kRows = 64;
  const int width = shape.plane_width(plane), height = shape.plane_height(plane);
  const DevicePlane &a = reference[static_cast<size_t>(plane)], &b = distorted[static_cast<size_t>(plane)];
  const int samples_across = kWordsAcross * kWordBytes / shape.sample_bytes();
  return queue.run(kernels::sum_squared_differences, (width + samples_across - 1) / samples_across,
                   (height + kRows - 1) / kRows, DeviceArray<const uint32_t>{a.address},
                   DeviceArray<const uint32_t>{b.address}, DeviceArray<int64_t>{sum}, 0, 8 * shape.sample_bytes(),
                   a.row_bytes / kWordBytes, b.row_bytes / kWordBytes, width, height);
}

}  // namespace psnr_yuv
}  // namespace acuity
