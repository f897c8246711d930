// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/pixels/surface.h"

#include <cstdlib>
#include <limits>

#include "lang/host.h"

namespace acuity {

extern const KernelFile surface_kernels;

namespace {

namespace kernels {
using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &surface_kernels;
#include "device/pixels/surface_kernels.h"
}  // namespace kernels

constexpr uint64_t kAlignment = 16;  // kernels may read so many bytes at once

}  // namespace

std::optional<Surface> Surface::create(const FrameView& frame, const SurfaceLayout& layout) {
  Surface surface;
  surface.shape_ = frame;
  surface.high_bits_ = layout.high_bits && frame.depth > 8;
  const int bytes = frame.sample_bytes();
  for (int p = 0; p < frame.planes_count(); ++p) {
    const bool paired = layout.chroma_pairs && p > 0;
    const auto at = static_cast<size_t>(paired ? 1 : p);
    const int64_t stride = frame.row_strides[at];
    const int64_t span = std::abs(stride) * frame.plane_height(p) / bytes;
    if (span > std::numeric_limits<int>::max() / 2) return {};
    uint64_t lowest =
        reinterpret_cast<uintptr_t>(frame.planes[at]) + (paired && p == 2 ? static_cast<uint64_t>(bytes) : 0);
    const uint64_t first = lowest;
    if (stride < 0) lowest -= static_cast<uint64_t>(-stride * (frame.plane_height(p) - 1));
    lowest -= lowest % kAlignment;
    surface.planes_[static_cast<size_t>(p)] = {
        .address = lowest,
        .first = static_cast<int>((first - lowest) / static_cast<uint64_t>(bytes)),
        .row_step = static_cast<int>(stride / bytes),
        .pixel_step = paired ? 2 : 1};
  }
  return surface;
}

bool Surface::is_plain(int plane) const {
  const SurfacePlane& its = this->plane(plane);
  const int bytes = shape_.sample_bytes();
  return (shape_.depth == 8 || shape_.depth == 16) && its.pixel_step == 1 && its.row_step > 0 &&
         its.row_step * bytes % 4 == 0 && its.first * bytes % 4 == 0;
}

Status Surface::unpack(Queue& queue, int plane, uint64_t to, int row_words) const {
  const SurfacePlane& its = this->plane(plane);
  const int width = shape_.plane_width(plane), rows = shape_.plane_height(plane);
  const int samples = shape_.depth == 8 ? 4 : 2;  // in a word
  const int words = (width + samples - 1) / samples;
  return queue.run(kernels::unpack_plane, (words + 31) / 32, (rows + 7) / 8,
                   DeviceArray<const unsigned char>{its.address}, DeviceArray<uint32_t>{to}, shape_.depth == 8 ? 1 : 0,
                   its.first, its.row_step, its.pixel_step, high_bits_ ? 16 - shape_.depth : 0, (1 << shape_.depth) - 1,
                   width, rows, row_words);
}

}  // namespace acuity
