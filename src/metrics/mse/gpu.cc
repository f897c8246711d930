// SPDX-License-Identifier: BSD-2-Clause-Patent
// The launches. Pixels reach the device in the working space, made by the same Rows as on the CPU: three planes a
// picture.
#include "metrics/mse/gpu.h"

#include <limits>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/try.h"
#include "lang/host.h"
#include "metrics/mse/cpu.h"
#include "metrics/tiles.h"

namespace acuity {

extern const KernelFile mse_kernels;

namespace mse {
namespace kernels {

// Including the kernels here declares `sum_tiles`, with its argument types, for Queue::run.
using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &mse_kernels;
#include "metrics/mse/kernels.h"

}  // namespace kernels

Result<std::array<double, 3>> sum_on_device(Device& device, const Rows& reference, const Rows& distorted) {
  const int width = reference.width(), height = reference.height();
  const size_t plane = static_cast<size_t>(width) * static_cast<size_t>(height);
  const size_t picture_bytes = 3 * plane * sizeof(float);
  const size_t tiles = tile_count(width, height), tiles_bytes = tiles * sizeof(TileSums);

  if (3 * plane > static_cast<size_t>(std::numeric_limits<int>::max())) {
    return Status(StatusCode::too_big, fmt::format("{}x{} pixels have more samples than the kernels can count; use the "
                                                   "device cpu",
                                                   width, height));
  }

  std::unique_ptr<PinnedMemory> staging, results;
  std::unique_ptr<DeviceMemory> pixels, sums;
  std::unique_ptr<Queue> queue;  // goes before the memory, and waits for what is in flight on it
  ACUITY_TRY_ASSIGN(staging, device.allocate_pinned(2 * picture_bytes));
  ACUITY_TRY_ASSIGN(results, device.allocate_pinned(tiles_bytes));
  ACUITY_TRY_ASSIGN(pixels, device.allocate(2 * picture_bytes));
  ACUITY_TRY_ASSIGN(sums, device.allocate(tiles_bytes));
  ACUITY_TRY_ASSIGN(queue, device.create_queue());

  for (const Rows* rows : {&reference, &distorted}) {
    float* to = reinterpret_cast<float*>(staging->data()) + (rows == &reference ? 0 : 3 * plane);
    for (int y = 0; y < height; ++y, to += width) rows->read(y, 0, width, to, to + plane, to + 2 * plane);
  }
  ACUITY_TRY(queue->upload(*pixels, 0, *staging, 0, 2 * picture_bytes));
  ACUITY_TRY(queue->run(kernels::sum_tiles, (width + kTileWidth - 1) / kTileWidth,
                        (height + kTileHeight - 1) / kTileHeight, DeviceArray<const float>{pixels->address()},
                        DeviceArray<const float>{pixels->address() + picture_bytes},
                        DeviceArray<float>{sums->address()}, width, height, static_cast<int>(plane)));
  ACUITY_TRY(queue->download(*results, 0, *sums, 0, tiles_bytes));
  ACUITY_TRY(queue->wait());
  return add_tiles({reinterpret_cast<const TileSums*>(results->data()), tiles});
}

}  // namespace mse
}  // namespace acuity
