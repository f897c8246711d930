// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/speed/gpu.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "base/memory.h"
#include "base/try.h"
#include "lang/host.h"

namespace acuity {

extern const KernelFile speed_kernels;

namespace speed {
namespace kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &speed_kernels;
#include "metrics/speed/kernels.h"

}  // namespace kernels

namespace {

int groups(int count, int of) { return (count + of - 1) / of; }
constexpr size_t kMeansOfPlane = 32;

}  // namespace

size_t DeviceTextures::sum_bytes() const { return kPairs * kVirtualLanes * sizeof(double); }

size_t DeviceTextures::plane_result_bytes() const {
  return sum_bytes() + round_up(small_samples() * sizeof(float), sizeof(double));
}

size_t DeviceTextures::scratch_bytes() const {
  return planes_ * (small_samples() + kMeansOfPlane) * sizeof(float) + 256;
}

Result<DeviceTextures> DeviceTextures::create(Device& device, const Geometry& geometry, const ShrinkTaps& taps,
                                              size_t planes) {
  ACUITY_TRY(device.prepare(kernels::shrink_plane));
  ACUITY_TRY(device.prepare(kernels::subtract_local_mean));
  ACUITY_TRY(device.prepare(kernels::find_means));
  ACUITY_TRY(device.prepare(kernels::find_covariances));
  DeviceTextures made;
  made.geometry_ = geometry;
  made.planes_ = planes;
  made.blur_taps_ = static_cast<int>(taps.blur.size());
  made.local_taps_ = static_cast<int>(taps.local.size());
  made.scaling_taps_ = geometry.scaled ? taps.lines.count : 0;
  ACUITY_TRY_ASSIGN(made.finder_, TextureFinder::create(geometry.small_width, geometry.small_height));
  made.small_.resize(made.small_samples() + TextureFinder::kReadBeyond);

  std::vector<float> floats = taps.blur;
  const auto append = [&](const std::vector<float>& more) {
    const size_t offset = floats.size() * sizeof(float);
    floats.insert(floats.end(), more.begin(), more.end());
    return offset;
  };
  made.local_at_ = append(taps.local);
  made.weights_at_ = append(taps.lines.weights);
  append(taps.columns.weights);
  std::vector<int32_t> places = taps.lines.places;
  places.insert(places.end(), taps.columns.places.begin(), taps.columns.places.end());
  made.places_at_ = floats.size() * sizeof(float);

  const size_t bytes = made.places_at_ + places.size() * sizeof(int32_t) + sizeof(int32_t);
  std::unique_ptr<PinnedMemory> here;
  std::unique_ptr<Queue> queue;
  ACUITY_TRY_ASSIGN(made.tables_, device.allocate(bytes));
  ACUITY_TRY_ASSIGN(here, device.allocate_pinned(bytes));
  ACUITY_TRY_ASSIGN(queue, device.create_queue());
  // Either may be empty.
  std::ranges::copy(std::as_bytes(std::span(floats)), here->data());
  std::ranges::copy(std::as_bytes(std::span(places)), here->data() + made.places_at_);
  ACUITY_TRY(queue->upload(*made.tables_, 0, *here, 0, bytes));
  ACUITY_TRY(queue->wait());
  return made;
}

Status DeviceTextures::submit(Queue& queue, std::span<const DeviceReader> readers, int depth, uint64_t scratch,
                              uint64_t results) {
  const int width = geometry_.small_width, height = geometry_.small_height;
  const uint64_t means = scratch, small = scratch + round_up(planes_ * kMeansOfPlane * sizeof(float), 256);
  const uint64_t tables = tables_->address(), centred = results + sum_bytes();
  const int stride = static_cast<int>(small_samples());
  const int result_stride = static_cast<int>(plane_result_bytes() / sizeof(float));
  for (size_t p = 0; p < readers.size(); ++p) {
    const DeviceReader& reader = readers[p];
    const bool subtracts = reader.subtracted.address != 0;
    const DevicePlane& subtracted = subtracts ? reader.subtracted : reader.plane;
    ACUITY_TRY(queue.run(
        kernels::shrink_plane, groups(width, 32), groups(height, 8),
        DeviceArray<const unsigned char>{reader.plane.address}, DeviceArray<const unsigned char>{subtracted.address},
        DeviceArray<const int32_t>{tables + places_at_}, DeviceArray<const float>{tables + weights_at_},
        DeviceArray<const float>{tables}, DeviceArray<float>{small + p * static_cast<size_t>(stride) * sizeof(float)},
        1.0f / static_cast<float>(1 << (depth - 8)), reader.plane.row_bytes, subtracted.row_bytes, depth == 8 ? 8 : 16,
        subtracts ? 1 : 0, blur_taps_, scaling_taps_, geometry_.scaled_width, geometry_.scaled_height, width, height));
  }
  const int count = static_cast<int>(readers.size());
  const Places places = finder_.places(nullptr, width);
  ACUITY_TRY(queue.run(kernels::subtract_local_mean, groups(width, 32), groups(height, 8) * count,
                       DeviceArray<const float>{small}, DeviceArray<const float>{tables + local_at_},
                       DeviceArray<float>{centred}, local_taps_, width, height, groups(height, 8), stride,
                       result_stride));
  ACUITY_TRY(queue.run(kernels::find_means, 1, count, DeviceArray<const float>{centred}, DeviceArray<float>{means},
                       width, places.across, places.down, result_stride));
  return queue.run(kernels::find_covariances, groups(static_cast<int>(kPairs * kVirtualLanes), 64), count,
                   DeviceArray<const float>{centred}, DeviceArray<const float>{means}, DeviceArray<double>{results},
                   width, places.across, places.down, result_stride, result_stride / 2, places.columns_together(),
                   places.rows_together());
}

void DeviceTextures::conclude(std::span<const std::byte> results, size_t plane, float noise, Texture& out) {
  const std::byte* from = results.data() + plane * plane_result_bytes();
  PairSums sums;
  std::memcpy(sums.data(), from, sum_bytes());
  std::memcpy(small_.data(), from + sum_bytes(), small_samples() * sizeof(float));
  finder_.conclude(small_.data(), geometry_.small_width, sums, noise, out);
}

}  // namespace speed
}  // namespace acuity
