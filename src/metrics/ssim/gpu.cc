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
  ACUITY_TRY(device.prepare(kernels::sum_pieces_roughly));
  ACUITY_TRY(device.prepare(kernels::find_growth));
  return device.prepare(kernels::sum_in_order);
}

namespace {

int pixels_of(const FrameShape& shape) { return shape.width * shape.height; }

}  // namespace

size_t scratch_bytes(const FrameShape& shape) {
  // The similarities, and of each piece a rough sum and its growth.
  const size_t pieces = static_cast<size_t>(groups(pixels_of(shape), PIECE));
  return (static_cast<size_t>(pixels_of(shape)) + pieces * (1 + GROWTH_NUMBERS)) * sizeof(double);
}

Status sum(Queue& queue, const FrameShape& shape, const DeviceWindow& window, double c1, double c2, uint64_t result) {
  const DevicePlane &a = (*window.reference[0])[0], &b = (*window.distorted[0])[0];
  const int bytes = window.depth == 8 ? 1 : 2;
  ACUITY_TRY(queue.run(kernels::compare_windows, groups(shape.width, 32), groups(shape.height, 8),
                       DeviceArray<const unsigned char>{a.address}, DeviceArray<const unsigned char>{b.address},
                       DeviceArray<double>{window.scratch}, c1, c2, 8 * bytes, shape.depth - window.depth,
                       a.row_bytes / bytes, b.row_bytes / bytes, shape.width, shape.height));
  const int count = pixels_of(shape), pieces = groups(count, PIECE);
  const uint64_t rough_sums = window.scratch + static_cast<uint64_t>(count) * sizeof(double);
  const uint64_t growth = rough_sums + static_cast<uint64_t>(pieces) * sizeof(double);
  const DeviceArray<const double> terms{window.scratch};
  ACUITY_TRY(queue.run(kernels::sum_pieces_roughly, pieces, 1, terms, DeviceArray<double>{rough_sums}, count));
  ACUITY_TRY(queue.run(kernels::find_growth, pieces, 1, terms, DeviceArray<const double>{rough_sums},
                       DeviceArray<int64_t>{growth}, count));
  return queue.run(kernels::sum_in_order, 1, 1, terms, DeviceArray<const int64_t>{growth}, DeviceArray<double>{result},
                   count);
}

}  // namespace ssim
}  // namespace acuity
