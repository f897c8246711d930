// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/motion/gpu.h"

#include "lang/host.h"

namespace acuity {

extern const KernelFile motion_kernels;

namespace motion {
namespace kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &motion_kernels;
#include "metrics/motion/kernels.h"

}  // namespace kernels

Status prepare(Device& device) { return device.prepare(kernels::sum_blurred_difference); }

Status add_blurred_difference(Queue& queue, const FrameShape& shape, int depth, const DevicePlane& before,
                              const DevicePlane& now, uint64_t sum) {
  constexpr int kColumns = 124, kRows = 16;  // of a group
  const int bits = depth == 8 ? 8 : 16;
  return queue.run(kernels::sum_blurred_difference, (shape.width + kColumns - 1) / kColumns,
                   (shape.height + kRows - 1) / kRows, DeviceArray<const unsigned char>{before.address},
                   DeviceArray<const unsigned char>{now.address}, DeviceArray<int64_t>{sum}, 0, before.row_bytes,
                   now.row_bytes, bits, shape.depth - depth, shape.depth, shape.width, shape.height);
}

}  // namespace motion
}  // namespace acuity
