// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/frame_ring.h"

#include <cstring>
#include <utility>

#include "base/memory.h"
#include "base/try.h"
#include "device/pinned.h"

namespace acuity {
namespace {

constexpr size_t kRowAlignment = 64;

}  // namespace

Result<FrameRing> FrameRing::create(Device& device, const FrameShape& shape, const PlanesSent& planes, int in_flight,
                                    int history) {
  FrameRing ring;
  ring.device_ = &device;
  ring.planes_ = planes;
  for (int p = 0; p < shape.planes_count(); ++p) {
    const auto at = static_cast<size_t>(p);
    const auto row = static_cast<size_t>(shape.plane_width(p) * shape.sample_bytes());
    ring.plane_bytes_[at] = round_up(row, kRowAlignment) * static_cast<size_t>(shape.plane_height(p));
    for (size_t side = 0; side < 2; ++side) ring.pair_bytes_ += planes[side][at] ? ring.plane_bytes_[at] : 0;
  }
  ring.places_.resize(static_cast<size_t>(in_flight + history));
  for (Place& place : ring.places_) {
    ACUITY_TRY_ASSIGN(place.memory, device.allocate(ring.pair_bytes_));
    ACUITY_TRY_ASSIGN(place.arrived, device.create_event());
  }
  ring.staging_.resize(static_cast<size_t>(in_flight));
  return ring;
}

Status FrameRing::send(Queue& queue, const FrameView& reference, const FrameView& distorted) {
  Place& place = places_[static_cast<size_t>(sent_) % places_.size()];
  size_t offset = 0;
  for (size_t side = 0; side < 2; ++side) {
    for (size_t p = 0; p < 3; ++p) {
      if (!planes_[side][p]) continue;
      ACUITY_TRY_ASSIGN(place.frames[side][p],
                        send_plane(queue, side == 0 ? reference : distorted, static_cast<int>(p), place, offset));
      offset += plane_bytes_[p];
    }
  }
  ACUITY_TRY(queue.signal(*place.arrived));
  ++sent_;
  return {};
}

Result<DevicePlane> FrameRing::send_plane(Queue& queue, const FrameView& frame, int plane, Place& place,
                                          size_t offset) {
  const auto p = static_cast<size_t>(plane);
  const auto row = static_cast<size_t>(frame.plane_width(plane) * frame.sample_bytes());
  const auto height = static_cast<size_t>(frame.plane_height(plane));
  const uint64_t address = place.memory->address() + offset;
  const ptrdiff_t stride = frame.row_strides[p];
  if (frame.owner && stride >= static_cast<ptrdiff_t>(row) && stride % 4 == 0) {
    const size_t bytes = static_cast<size_t>(stride) * (height - 1) + row;
    const PinnedPlace from = find_pinned(*device_, frame.planes[p], bytes);
    if (from.memory && bytes <= plane_bytes_[p]) {
      ACUITY_TRY(queue.upload(*place.memory, offset, *from.memory, from.offset, bytes));
      return DevicePlane{address, static_cast<int>(stride)};
    }
  }
  std::unique_ptr<PinnedMemory>& staging = staging_[static_cast<size_t>(sent_) % staging_.size()];
  if (!staging) ACUITY_TRY_ASSIGN(staging, device_->allocate_pinned(pair_bytes_));
  const size_t row_bytes = round_up(row, kRowAlignment);
  for (size_t y = 0; y < height; ++y) {
    std::memcpy(staging->data() + offset + y * row_bytes, frame.planes[p] + static_cast<ptrdiff_t>(y) * stride, row);
  }
  ACUITY_TRY(queue.upload(*place.memory, offset, *staging, offset, plane_bytes_[p]));
  return DevicePlane{address, static_cast<int>(row_bytes)};
}

}  // namespace acuity
