// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/pixels/finite.h"

#include <algorithm>
#include <bit>

#include "base/memory.h"
#include "base/try.h"
#include "lang/host.h"

namespace acuity {

extern const KernelFile finite_kernels;

namespace finite {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &finite_kernels;
#include "device/pixels/finite_kernels.h"

constexpr int kMostRows = 65535;  // groups of a launch

}  // namespace finite

Result<std::optional<NotFinite>> find_not_finite(DevicePool& pool, const ImageView& view, const Resident& samples) {
  const auto rows = static_cast<size_t>(view.height);
  PooledMemory found;
  ACUITY_TRY_ASSIGN(found, pool.take(2 * rows * sizeof(int32_t), "not finite"));
  std::unique_ptr<PinnedMemory>& here = found.staging();
  if (!here || here->size() < found->size()) ACUITY_TRY_ASSIGN(here, pool.device().allocate_pinned(found->size()));
  const SampleLayout& layout = samples.layout();
  const Status looked = pool.on_copy_queue([&](Queue& queue) -> Status {
    for (int y = 0; y < view.height; y += finite::kMostRows) {
      ACUITY_TRY(queue.run(finite::find_not_finite, std::min(view.height - y, finite::kMostRows), 1, samples.samples(),
                           DeviceArray<int32_t>{found->address() + 2 * static_cast<size_t>(y) * sizeof(int32_t)},
                           view.channel_count(), layout.first + y * layout.row_step, layout.row_step, layout.pixel_step,
                           layout.channel_step, view.width));
    }
    ACUITY_TRY(queue.download(*here, 0, *found, 0, 2 * rows * sizeof(int32_t)));
    return queue.wait();
  });
  if (!looked.ok()) return looked;
  const auto* numbers = reinterpret_cast<const int32_t*>(here->data());
  for (int y = 0; y < view.height; ++y, numbers += 2) {
    if (numbers[0] == 0) continue;
    const int index = numbers[0] - 1;
    return std::optional(NotFinite{
        .value = std::bit_cast<float>(numbers[1]), .channel = index / view.width, .x = index % view.width, .y = y});
  }
  return std::optional<NotFinite>();
}

}  // namespace acuity
