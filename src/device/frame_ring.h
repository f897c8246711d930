// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pairs of video frames on a device: the last ones sent, each in a place that the next but so many uses again.
#ifndef ACUITY_DEVICE_FRAME_RING_H
#define ACUITY_DEVICE_FRAME_RING_H

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "acuity/frame.h"
#include "device/device.h"

namespace acuity {

/// Samples as the stream stores them: bytes, or words of 16 bits. Rows begin at multiples of 4 bytes, and what follows
/// the last sample of a row, up to such a multiple, has any value.
struct DevicePlane {
  uint64_t address = 0;  // 0: nobody reads this plane
  int row_bytes = 0;     // from one row to the next
};

using DeviceFrame = std::array<DevicePlane, 3>;

/// Which planes travel: of the reference, then of the distorted frame.
using PlanesSent = std::array<std::array<bool, 3>, 2>;

class FrameRing {
 public:
  /// Room for `in_flight` pairs in flight and `history` before them.
  static Result<FrameRing> create(Device& device, const FrameShape& shape, const PlanesSent& planes, int in_flight,
                                  int history);

  /// Sends the next pair; numbers count from 0. It is there for what comes after in the queue. Planes in page-locked
  /// memory that have an owner go from where they are; the owner must live until then. Others are copied first. The
  /// pair `in_flight` numbers before is no longer in flight.
  Status send(Queue& queue, const FrameView& reference, const FrameView& distorted);
  int64_t sent() const { return sent_; }

  /// Makes a queue wait for a pair that another one sent.
  Status wait_for(Queue& queue, int64_t number) const { return queue.wait_for(*place_of(number).arrived); }
  const DeviceFrame& frame(int64_t number, size_t side) const { return place_of(number).frames[side]; }

  size_t bytes() const { return pair_bytes_ * places_.size(); }

 private:
  struct Place {
    std::unique_ptr<DeviceMemory> memory;
    std::unique_ptr<Event> arrived;
    std::array<DeviceFrame, 2> frames{};
  };

  const Place& place_of(int64_t number) const { return places_[static_cast<size_t>(number) % places_.size()]; }
  Result<DevicePlane> send_plane(Queue& queue, const FrameView& frame, int plane, Place& place, size_t offset);

  Device* device_ = nullptr;
  PlanesSent planes_{};
  std::array<size_t, 3> plane_bytes_{};
  size_t pair_bytes_ = 0;
  std::vector<Place> places_;
  std::vector<std::unique_ptr<PinnedMemory>> staging_;  // one for each in flight, made when first needed
  int64_t sent_ = 0;
};

}  // namespace acuity

#endif
