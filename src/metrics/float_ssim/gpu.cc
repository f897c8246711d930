// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_ssim/gpu.h"

#include <cstring>

#include "base/try.h"
#include "device/workspace.h"
#include "lang/host.h"
#include "metrics/float_ssim/rows.h"

namespace acuity {

extern const KernelFile float_ssim_kernels;

namespace float_ssim {
namespace kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &float_ssim_kernels;
#include "metrics/float_ssim/kernels.h"

}  // namespace kernels

DevicePicture DevicePicture::of_frame(const DeviceFrame& frame, int depth, int width, int height) {
  const int bits = depth == 8 ? 8 : 16;
  return {frame[0].address,
          bits,
          1.0f / static_cast<float>(1 << (depth - 8)),
          frame[0].row_bytes / (bits / 8),
          width,
          height};
}

int DeviceSums::cells_along() const { return float_ssim::cells_along(width - kWindow + 1); }
int DeviceSums::cells_down() const { return float_ssim::cells_down(height - kWindow + 1); }

size_t DeviceSums::scratch_bytes() const {
  return static_cast<size_t>(cells_along()) * static_cast<size_t>(cells_down()) * sizeof(Sums);
}

Status DeviceSums::submit(Queue& queue, const DevicePicture& reference, const DevicePicture& distorted,
                          uint64_t scratch, uint64_t results) const {
  ACUITY_TRY(queue.run(kernels::compare_windows, cells_along(), cells_down(),
                       DeviceArray<const unsigned char>{reference.address},
                       DeviceArray<const unsigned char>{distorted.address}, DeviceArray<double>{scratch},
                       reference.bits, reference.scale, reference.step, distorted.step, width, height));
  return queue.run(kernels::sum_cell_rows, 1, groups(cells_down(), 32), DeviceArray<const double>{scratch},
                   DeviceArray<double>{results}, cells_along(), cells_down());
}

Similarity DeviceSums::finish(std::span<const std::byte> results) const {
  Sums sums{};
  for (size_t row = 0; row < static_cast<size_t>(cells_down()); ++row) {
    Sums of_row{};
    std::memcpy(of_row.data(), results.data() + row * sizeof of_row, sizeof of_row);
    for (size_t i = 0; i < kSums; ++i) sums[i] += of_row[i];
  }
  return {sums, static_cast<double>(width - kWindow + 1) * (height - kWindow + 1)};
}

Status prepare_sums(Device& device) {
  ACUITY_TRY(device.prepare(kernels::compare_windows));
  return device.prepare(kernels::sum_cell_rows);
}
Status prepare_shrinking(Device& device) { return device.prepare(kernels::shrink); }
Status prepare_halving(Device& device) { return device.prepare(kernels::halve); }

Status shrink(Queue& queue, const DevicePicture& from, int factor, float weight, const DevicePicture& to) {
  return queue.run(kernels::shrink, groups(to.width, 32), groups(to.height, 8),
                   DeviceArray<const unsigned char>{from.address}, DeviceArray<float>{to.address}, from.bits,
                   from.scale, from.step, from.width, from.height, factor, weight, to.width, to.height);
}

Status halve(Queue& queue, const DevicePicture& from, const DevicePicture& to) {
  return queue.run(kernels::halve, groups(to.width, 32), groups(to.height, 8),
                   DeviceArray<const unsigned char>{from.address}, DeviceArray<float>{to.address}, from.bits,
                   from.scale, from.step, from.width, from.height);
}

}  // namespace float_ssim
}  // namespace acuity
