// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/vif/gpu.h"

#include <array>

#include "base/memory.h"
#include "base/try.h"
#include "lang/host.h"
#include "metrics/vif/filters.h"

namespace acuity {

extern const KernelFile vif_kernels;

namespace vif {
namespace kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &vif_kernels;
#include "metrics/vif/kernels.h"

}  // namespace kernels

namespace {

constexpr int kCellColumns = 112, kCellRows = 8, kTotals = 4;

int groups(int size, int cell) { return (size + cell - 1) / cell; }

size_t scale_bytes(const FrameShape& shape, int scale) {
  const size_t samples = static_cast<size_t>(shape.width >> scale) * static_cast<size_t>(shape.height >> scale);
  return round_up(samples * sizeof(uint32_t), 256);
}

}  // namespace

Status prepare(Device& device) {
  ACUITY_TRY(device.prepare(kernels::measure_bytes));
  ACUITY_TRY(device.prepare(kernels::measure_words));
  ACUITY_TRY(device.prepare(kernels::measure_scale_1));
  ACUITY_TRY(device.prepare(kernels::measure_scale_2));
  return device.prepare(kernels::measure_scale_3);
}

size_t device_scratch_bytes(const FrameShape& shape) {
  return scale_bytes(shape, 1) + scale_bytes(shape, 2) + scale_bytes(shape, 3);
}

Status add_totals(Queue& queue, const DeviceTask& task, const DevicePlane& reference, const DevicePlane& distorted,
                  uint64_t scratch, uint64_t totals) {
  const FrameShape& shape = task.shape;
  std::array<uint64_t, kScales> scales{};
  for (int scale = 1; scale < kScales; ++scale) {
    scales[static_cast<size_t>(scale)] = scratch;
    scratch += scale_bytes(shape, scale);
  }
  const DeviceArray<const unsigned char> a{reference.address}, b{distorted.address};
  const DeviceArray<int64_t> to{totals};
  const int across = groups(shape.width, kCellColumns), down = groups(shape.height, kCellRows);
  const int is_measured = task.skip_scale0 ? 0 : 1;
  if (shape.depth == 8) {
    ACUITY_TRY(queue.run(kernels::measure_bytes, across, down, a, b, DeviceArray<uint32_t>{scales[1]}, to,
                         task.gain_limit, 0, reference.row_bytes, distorted.row_bytes, shape.width, shape.height,
                         is_measured));
  } else {
    ACUITY_TRY(queue.run(kernels::measure_words, across, down, a, b, DeviceArray<uint32_t>{scales[1]}, to,
                         task.gain_limit, 0, reference.row_bytes, distorted.row_bytes, shape.width, shape.height,
                         is_measured, task.depth == 8 ? 8 : 16, shape.depth - task.depth, shape.depth));
  }
  const auto run = [&](const auto& kernel, int scale, const auto&... next) {
    const int width = shape.width >> scale, height = shape.height >> scale;
    return queue.run(kernel, groups(width, kCellColumns), groups(height, kCellRows),
                     DeviceArray<const uint32_t>{scales[static_cast<size_t>(scale)]}, next..., to, task.gain_limit,
                     scale * kTotals, width, height);
  };
  ACUITY_TRY(run(kernels::measure_scale_1, 1, DeviceArray<uint32_t>{scales[2]}));
  ACUITY_TRY(run(kernels::measure_scale_2, 2, DeviceArray<uint32_t>{scales[3]}));
  return run(kernels::measure_scale_3, 3);
}

}  // namespace vif
}  // namespace acuity
