// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ssim/gpu.h"

#include "base/try.h"
#include "device/workspace.h"
#include "lang/host.h"

namespace acuity {

extern const KernelFile ssim_kernels;

namespace ssim {
namespace kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &ssim_kernels;
#include "metrics/ssim/kernels.h"

}  // namespace kernels

Status prepare(Device& device) {
  ACUITY_TRY(device.prepare(kernels::compare_windows));
  return device.prepare(kernels::sum_in_order);
}

size_t scratch_bytes(const FrameShape& shape) {
  return static_cast<size_t>(shape.width) * static_cast<size_t>(shape.height) * sizeof(double);
}

Status sum(Queue& queue, const FrameShape& shape, const DeviceWindow& window, double c1, double c2, uint64_t result) {
  const DevicePlane &a = (*window.reference[0])[0], &b = (*window.distorted[0])[0];
  const int bytes = window.depth == 8 ? 1 : 2;
  ACUITY_TRY(queue.run(kernels::compare_windows, groups(shape.width, 32), groups(shape.height, 8),
                       DeviceArray<const unsigned char>{a.address}, DeviceArray<const unsigned char>{b.address},
                       DeviceArray<double>{window.scratch}, c1, c2, 8 * bytes, shape.depth - window.depth,
                       a.row_bytes / bytes, b.row_bytes / bytes, shape.width, shape.height));
  return queue.run(kernels::sum_in_order, 1, 1, DeviceArray<const double>{window.scratch}, DeviceArray<double>{result},
                   shape.width * shape.height);
}

}  // namespace ssim
}  // namespace acuity
