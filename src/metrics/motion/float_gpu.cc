// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/motion/float_gpu.h"

#include "base/try.h"
#include "lang/host.h"

namespace acuity {

extern const KernelFile float_motion_kernels;

namespace motion {
namespace float_kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &float_motion_kernels;
#include "metrics/motion/float_kernels.h"

}  // namespace float_kernels

Status prepare_float(Device& device, bool at_half_size) {
  if (at_half_size) ACUITY_TRY(device.prepare(float_kernels::sum_halved_rows));
  return device.prepare(float_kernels::sum_blurred_rows);
}

Status sum_blurred_rows(Queue& queue, int width, int height, int depth, const Taps& taps, const DevicePlane& before,
                        const DevicePlane& now, bool at_half_size, uint64_t sums) {
  const int bits = depth == 8 ? 8 : 16, rows = at_half_size ? (height + 1) / 2 : height;
  return queue.run(at_half_size ? float_kernels::sum_halved_rows : float_kernels::sum_blurred_rows, 1,
                   (rows + CHAIN_ROWS - 1) / CHAIN_ROWS, DeviceArray<const unsigned char>{before.address},
                   DeviceArray<const unsigned char>{now.address}, DeviceArray<float>{sums}, bits,
                   1.0f / static_cast<float>(1 << (depth - 8)), before.row_bytes / (bits / 8),
                   now.row_bytes / (bits / 8), taps[0], taps[1], taps[2], width, height);
}

}  // namespace motion
}  // namespace acuity
