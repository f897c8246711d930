// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a feature of video frames must offer to run on a GPU. Frames are on the device when a worker sees them, one copy
// for all features, and stay there as long as a window contains them.
#ifndef ACUITY_ENGINE_DEVICE_FEATURE_H
#define ACUITY_ENGINE_DEVICE_FEATURE_H

#include <array>
#include <cstdint>
#include <span>

#include "device/device.h"
#include "engine/feature.h"

namespace acuity {

/// Samples as the stream stores them: bytes, or words of 16 bits. Rows begin at multiples of 4 bytes, and what follows
/// the last sample of a row, up to such a multiple, has any value.
struct DevicePlane {
  uint64_t address = 0;  // 0: nobody reads this plane
  int row_bytes = 0;     // from one row to the next
};

using DeviceFrame = std::array<DevicePlane, 3>;

/// What a worker made of frames, for all windows that contain them: that of the frame itself is in slot `newest`, that
/// of the one before in the slot before, of the one after in the slot after, the last slot being before the first.
struct DerivedRing {
  uint64_t address = 0;
  int slots = 0;
  int newest = 0;
};

/// As FrameWindow.
struct DeviceWindow {
  int64_t index = 0;
  int depth = 8;  // of the samples; a feature that is set up for more bits shifts them
  std::span<const DeviceFrame* const> reference;
  std::span<const DeviceFrame* const> distorted;
  DerivedRing derived{};
  int following = 0;     // frames after it, derived as well: as many as Feature::lookahead() says, or the sequence has
  uint64_t scratch = 0;  // DeviceFeatureWorker::scratch_bytes() bytes of any content, at a multiple of 256
};

/// Measures one frame at a time on a device. There is one for each frame in flight. The features of a frame follow one
/// another in one queue, so that they share scratch memory.
class DeviceFeatureWorker {
 public:
  virtual ~DeviceFeatureWorker() = default;
  /// Of memory of its own on the device, such as tables.
  virtual size_t bytes() const = 0;
  /// What submit() needs on the device besides, while the queue works on it.
  virtual size_t scratch_bytes() const { return 0; }
  /// Of what derive() makes of a pair of frames, a multiple of 256; 0: there is no such thing.
  virtual size_t derived_bytes() const { return 0; }
  /// Gives the queue the work on one pair of frames that windows share. Called once for each, by the worker of one of
  /// the frames in flight. `depth` is that of the samples.
  virtual Status derive(Queue& /*queue*/, const std::array<const DeviceFrame*, 2>& /*frames*/, int /*depth*/,
                        uint64_t /*to*/) {
    return {};
  }
  /// What submit() leaves for finish(); a multiple of 8.
  virtual size_t result_bytes() const = 0;
  /// Gives the queue all work on a window. `results` is the address of result_bytes() bytes that are zero.
  virtual Status submit(Queue& queue, const DeviceWindow& window, uint64_t results) = 0;
  /// After the queue has done that work: fills all of `numbers` from the results, with what FeatureWorker::measure
  /// would find.
  virtual Status finish(std::span<const std::byte> results, std::span<double> numbers) = 0;
};

}  // namespace acuity

#endif
