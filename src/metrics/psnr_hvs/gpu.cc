// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/psnr_hvs/gpu.h"

#include <algorithm>
#include <vector>

#include "base/try.h"
#include "device/table.h"
#include "device/workspace.h"
#include "frames/frame_rows.h"
#include "lang/host.h"
#include "metrics/psnr_hvs/cpu.h"

namespace acuity {

extern const KernelFile psnr_hvs_kernels;

namespace psnr_hvs {
namespace kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &psnr_hvs_kernels;
#include "metrics/psnr_hvs/kernels.h"

}  // namespace kernels

Result<DeviceVisibleError> DeviceVisibleError::create(Device& device, const FrameShape& shape) {
  DeviceVisibleError result;
  result.shape_ = shape;
  std::vector<Weights> weights;
  for (int p = 0; p < kPlanes; ++p) {
    const FrameShape plane = p == 0 ? shape : with_even_chroma(shape);
    const int across = blocks_along(plane.plane_width(p));
    result.planes_[static_cast<size_t>(p)] = {across, across * blocks_along(plane.plane_height(p))};
    weights.push_back(weights_of_plane(p));
  }
  ACUITY_TRY(device.prepare(kernels::square_visible_errors));
  ACUITY_TRY(device.prepare(kernels::sum_pieces_roughly));
  ACUITY_TRY(device.prepare(kernels::find_growth));
  ACUITY_TRY(device.prepare(kernels::sum_squares_in_order));
  ACUITY_TRY_ASSIGN(result.weights_, send_table(device, std::as_bytes(std::span(weights))));
  return result;
}

size_t DeviceVisibleError::squares_bytes() const {
  size_t blocks = 0;
  for (const Plane& plane : planes_) blocks += static_cast<size_t>(plane.blocks);
  return blocks * kCoefficients * sizeof(float);
}

size_t DeviceVisibleError::scratch_bytes() const {
  // Behind the squares, of each piece a rough sum and four numbers.
  return squares_bytes() + kPlanes * static_cast<size_t>(pieces()) * 5 * sizeof(float);
}

// Of the largest plane.
int DeviceVisibleError::pieces() const { return groups(planes_[0].blocks * 2, PIECE_RUNS); }

Status DeviceVisibleError::submit(Queue& queue, const DeviceWindow& window, uint64_t sums) {
  const int bits = window.depth == 8 ? 8 : 16;
  uint64_t squares = window.scratch;
  for (size_t p = 0; p < kPlanes; ++p) {
    const DevicePlane &a = (*window.reference[0])[p], &b = (*window.distorted[0])[p];
    const int all = groups(planes_[p].blocks, 32);
    ACUITY_TRY(queue.run(kernels::square_visible_errors, std::min(all, GROUPS_ACROSS), groups(all, GROUPS_ACROSS),
                         DeviceArray<const unsigned char>{a.address}, DeviceArray<const unsigned char>{b.address},
                         DeviceArray<const float>{weights_->address()}, DeviceArray<float>{squares}, bits,
                         shape_.depth - window.depth, a.row_bytes / (bits / 8), b.row_bytes / (bits / 8),
                         planes_[p].across, planes_[p].blocks, static_cast<int>(p) * 2 * kCoefficients));
    squares += static_cast<uint64_t>(planes_[p].blocks) * kCoefficients * sizeof(float);
  }
  const DeviceArray<const kernel_dialect::real4> all{window.scratch};
  const uint64_t rough_sums = squares, growth = rough_sums + kPlanes * static_cast<uint64_t>(pieces()) * sizeof(float);
  const int luma = planes_[0].blocks, chroma = planes_[1].blocks;
  ACUITY_TRY(queue.run(kernels::sum_pieces_roughly, pieces(), kPlanes, all, DeviceArray<float>{rough_sums}, luma,
                       chroma, pieces()));
  ACUITY_TRY(queue.run(kernels::find_growth, pieces(), kPlanes, all, DeviceArray<const float>{rough_sums},
                       DeviceArray<int32_t>{growth}, luma, chroma, pieces()));
  return queue.run(kernels::sum_squares_in_order, kPlanes, 1, all, DeviceArray<const int32_t>{growth},
                   DeviceArray<float>{sums}, luma, chroma, pieces());
}

float DeviceVisibleError::mean(float sum, int plane) const {
  return mean_of(sum, planes_[static_cast<size_t>(plane)].blocks, shape_.depth);
}

}  // namespace psnr_hvs
}  // namespace acuity
