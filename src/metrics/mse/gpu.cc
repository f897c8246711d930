// SPDX-License-Identifier: BSD-2-Clause-Patent
// The launches. Metrics that must be fast keep their memory from call to call; this is the plain example.
#include "metrics/mse/gpu.h"

#include <limits>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/try.h"
#include "lang/host.h"
#include "metrics/mse/cpu.h"
#include "metrics/tiles.h"
#include "metrics/upload.h"

namespace acuity {

extern const KernelFile mse_kernels;

namespace mse {
namespace kernels {

// Including the kernels here declares `sum_tiles`, with its argument types, for Queue::run.
using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &mse_kernels;
#include "metrics/mse/kernels.h"

}  // namespace kernels

Result<std::array<double, 3>> sum_on_device(Device& device, const Threads& threads, const Rows& reference,
                                            const Rows& distorted) {
  const int width = reference.width(), height = reference.height();
  const size_t tiles = tile_count(width, height), tiles_bytes = tiles * sizeof(TileSums);

  if (3 * int64_t{width} * height > std::numeric_limits<int>::max()) {
    return Status(StatusCode::too_big, fmt::format("{}x{} pixels have more samples than the kernels can count; use the "
                                                   "device cpu",
                                                   width, height));
  }

  std::unique_ptr<PinnedMemory> results;
  std::unique_ptr<DeviceMemory> sums;
  Upload reference_upload(device, threads), distorted_upload(device, threads);
  std::unique_ptr<Queue> queue;  // goes before the memory, and waits for what is in flight on it
  ACUITY_TRY_ASSIGN(results, device.allocate_pinned(tiles_bytes));
  ACUITY_TRY_ASSIGN(sums, device.allocate(tiles_bytes));
  ACUITY_TRY_ASSIGN(queue, device.create_queue());

  SentPixels a, b;
  ACUITY_TRY(reference_upload.begin(*queue, reference, height, 1));
  ACUITY_TRY(distorted_upload.begin(*queue, distorted, height, 1));
  ACUITY_TRY_ASSIGN(a, reference_upload.send(*queue, reference, 0, height, 0));
  ACUITY_TRY_ASSIGN(b, distorted_upload.send(*queue, distorted, 0, height, 0));
  ACUITY_TRY(queue->run(kernels::sum_tiles, (width + kTileWidth - 1) / kTileWidth,
                        (height + kTileHeight - 1) / kTileHeight, a.samples, b.samples, a.table, b.table,
                        DeviceArray<float>{sums->address()}, a.form, a.extent, b.form, b.extent, width, height));
  ACUITY_TRY(queue->download(*results, 0, *sums, 0, tiles_bytes));
  ACUITY_TRY(queue->wait());
  return add_tiles({reinterpret_cast<const TileSums*>(results->data()), tiles});
}

}  // namespace mse
}  // namespace acuity
