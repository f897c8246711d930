// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ciede2000/gpu.h"

#include <array>
#include <cstring>

#include "base/memory.h"
#include "base/try.h"
#include "device/workspace.h"
#include "lang/host.h"
#include "metrics/ciede2000/few_colours.h"
#include "metrics/ciede2000/rows.h"

namespace acuity {

extern const KernelFile ciede2000_kernels;

namespace ciede2000 {
namespace kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &ciede2000_kernels;
#include "metrics/ciede2000/kernels.h"

}  // namespace kernels

namespace {

static_assert(kChunk == CHUNK && FewColours::kMost == MOST_COLOURS);

// A colour of a chunk, as the kernel writes it.
struct Listed {
  std::array<uint32_t, 3> codes;
  uint32_t pixels;
};

template <typename T>
T read(std::span<const std::byte> from, size_t offset) {
  T value;
  std::memcpy(&value, from.data() + offset, sizeof value);
  return value;
}

}  // namespace

Result<DeviceSum> DeviceSum::create(Device& device, const FrameShape& shape) {
  ACUITY_TRY(device.prepare(kernels::find_few_colours));
  ACUITY_TRY(device.prepare(kernels::sum_differences));
  DeviceSum result;
  result.shape_ = shape;
  result.chunks_ = static_cast<size_t>(groups(shape.width, kChunk)) * static_cast<size_t>(shape.height);
  return result;
}

size_t DeviceSum::lists_begin() const { return counts_begin() + round_up(chunks_ * sizeof(uint32_t), 8); }
size_t DeviceSum::result_bytes() const { return lists_begin() + chunks_ * FewColours::kMost * sizeof(Listed); }

Status DeviceSum::submit(Queue& queue, const DeviceWindow& window, uint64_t results) {
  depth_ = window.depth;
  const DeviceFrame &a = *window.reference[0], &b = *window.distorted[0];
  const int bytes = window.depth == 8 ? 1 : 2;
  const auto samples = [](const DevicePlane& plane) { return DeviceArray<const unsigned char>{plane.address}; };
  const auto step = [&](const DevicePlane& plane) { return plane.row_bytes / bytes; };
  const int across = shape_.subsampling == Subsampling::yuv444 ? 1 : shape_.subsampling == Subsampling::yuv420 ? 2 : 0;
  ACUITY_TRY(queue.run(kernels::find_few_colours, groups(static_cast<int>(chunks_), 64), 1, samples(a[0]),
                       samples(a[1]), samples(a[2]), samples(b[0]), samples(b[1]), samples(b[2]),
                       DeviceArray<uint32_t>{results + counts_begin()}, DeviceArray<uint32_t>{results + lists_begin()},
                       8 * bytes, step(a[0]), step(a[1]), step(b[0]), step(b[1]), across, shape_.width, shape_.height));
  return queue.run(kernels::sum_differences, groups(shape_.width, kChunk), shape_.height, samples(a[0]), samples(a[1]),
                   samples(a[2]), samples(b[0]), samples(b[1]), samples(b[2]),
                   DeviceArray<const uint32_t>{results + counts_begin()}, DeviceArray<double>{results}, 8 * bytes,
                   1.0f / static_cast<float>(1 << (window.depth - 8)), step(a[0]), step(a[1]), step(b[0]), step(b[1]),
                   across, shape_.width, shape_.height);
}

double DeviceSum::finish(std::span<const std::byte> results) const {
  FewColours few_colours(depth_);
  double sum = 0;
  for (size_t chunk = 0; chunk < chunks_; ++chunk) {
    const size_t count = read<uint32_t>(results, counts_begin() + chunk * sizeof(uint32_t));
    if (count > FewColours::kMost) {
      sum += read<double>(results, chunk * sizeof(double));
      continue;
    }
    FewColours::Pairs pairs;
    pairs.count = count;
    for (size_t i = 0; i < count; ++i) {
      const auto listed = read<Listed>(results, lists_begin() + (chunk * FewColours::kMost + i) * sizeof(Listed));
      FewColours::Pair& pair = pairs.all[i];
      for (size_t p = 0; p < 3; ++p) {
        pair.reference[p] = static_cast<float>(listed.codes[p] & 0xFFFF);
        pair.distorted[p] = static_cast<float>(listed.codes[p] >> 16);
      }
      pair.pixels = static_cast<int>(listed.pixels);
    }
    sum += few_colours.sum_of(pairs);
  }
  return sum;
}

}  // namespace ciede2000
}  // namespace acuity
