// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/psnr_yuv/gpu.h"

#include "device/workspace.h"
#include "lang/host.h"

namespace acuity {

extern const KernelFile psnr_yuv_kernels;

namespace psnr_yuv {
namespace kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &psnr_yuv_kernels;
#include "metrics/psnr_yuv/kernels.h"

}  // namespace kernels

namespace {

constexpr int kWordBytes = 4, kColumns = 32;

}  // namespace

Status prepare_squares(Device& device) { return device.prepare(kernels::sum_squared_differences); }
Status prepare_moments(Device& device) { return device.prepare(kernels::sum_moments); }
Status prepare_anti_noise(Device& device) { return device.prepare(kernels::sum_anti_noise_rows); }

Status add_squared_differences(Queue& queue, const FrameShape& shape, int plane, const DeviceFrame& reference,
                               const DeviceFrame& distorted, uint64_t sum, bool rounded) {
  constexpr int kRows = 64;
  const int width = shape.plane_width(plane), height = shape.plane_height(plane);
  const DevicePlane &a = reference[static_cast<size_t>(plane)], &b = distorted[static_cast<size_t>(plane)];
  return queue.run(kernels::sum_squared_differences, groups(width, kColumns * kWordBytes / shape.sample_bytes()),
                   groups(height, kRows), DeviceArray<const uint32_t>{a.address},
                   DeviceArray<const uint32_t>{b.address}, DeviceArray<int64_t>{sum}, rounded ? 1 : 0,
                   8 * shape.sample_bytes(), a.row_bytes / kWordBytes, b.row_bytes / kWordBytes, width, height);
}

Status add_moments(Queue& queue, const FrameShape& shape, const DeviceFrame& frame, uint64_t sums) {
  constexpr int kRows = 64;
  const int bytes = shape.sample_bytes();
  return queue.run(kernels::sum_moments, groups(shape.width, kColumns), groups(shape.height, kRows),
                   DeviceArray<const unsigned char>{frame[0].address}, DeviceArray<int64_t>{sums}, 8 * bytes,
                   frame[0].row_bytes / bytes, shape.width, shape.height);
}

Status sum_anti_noise_rows(Queue& queue, const FrameShape& shape, const DeviceFrame& reference,
                           const DeviceFrame& distorted, uint64_t sums) {
  const int bytes = shape.sample_bytes();
  return queue.run(kernels::sum_anti_noise_rows, 1, groups(shape.height, CHAIN_ROWS),
                   DeviceArray<const unsigned char>{reference[0].address},
                   DeviceArray<const unsigned char>{distorted[0].address}, DeviceArray<float>{sums}, 8 * bytes,
                   1.0f / static_cast<float>(1 << (shape.depth - 8)), reference[0].row_bytes / bytes,
                   distorted[0].row_bytes / bytes, shape.width, shape.height);
}

}  // namespace psnr_yuv
}  // namespace acuity
