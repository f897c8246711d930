// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures inside the library: where their samples are, and their rows in a metric's working space.
#ifndef ACUITY_ENGINE_INPUT_H
#define ACUITY_ENGINE_INPUT_H

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acuity/input.h"
#include "base/memory_pool.h"
#include "base/threads.h"
#include "colour/rows.h"
#include "device/pixels/reader.h"
#include "device/pool.h"

namespace acuity {

struct Input::State {
  struct Frame {
    FrameView view;
    FrameFormat format;
    SurfaceLayout layout;  // on a device
  };

  ImageView view;
  std::optional<Frame> frame;         // in place of pixels
  std::shared_ptr<const void> owner;  // null: the memory is there during the call
  std::string device;                 // the samples are there alone; empty: in the host's memory
  bool samples_gone = false;          // only the residents have them
  bool is_here() const { return device.empty() && !samples_gone; }

  std::atomic<bool> is_finite = false;  // its floats have been looked at
  std::mutex mutex;                     // of what follows
  Input pixels;                         // of a frame, once somebody wanted them here
  std::vector<std::pair<std::shared_ptr<DevicePool>, std::shared_ptr<Resident>>> residents;
};

/// What a frame becomes, in the host's memory: made once, in memory of the pool.
Result<Input> pixels_of(const Input& input, const MemoryPool& pool, const Threads& threads);

/// The picture on the device, which need not have been sent yet.
/// Of a frame, at least these planes of it.
Result<std::shared_ptr<Resident>> resident_of(const Input& input, const std::shared_ptr<DevicePool>& pool,
                                              const PlaneSet& planes = kAllPlanes);

/// Whether its samples are on the device already.
bool is_on_device(const Input& input, const std::shared_ptr<DevicePool>& pool);

/// Waits until nothing that was sent to the device is still read from the picture's memory.
void settle(const Input& input, const std::shared_ptr<DevicePool>& pool);

/// Sends the picture to the device, if nobody has, and waits until it is there.
Status send_now(const Input& input, const std::shared_ptr<DevicePool>& pool, Queue& queue, const Senders& senders);

/// Of one that was just made of a copy: fails where there was no memory for it, which leaves it without a picture.
Result<Input> with_picture(Input input);

/// An Input of the same samples that may be kept after the call: the same one where it owns its memory.
Result<Input> keep_input(const Input& input);
/// The same for a device, where the samples are when this returns, if such rows are made there; a copy here is not made
/// then.
Result<Input> keep_on_device(const Input& input, const Rows& rows, const std::shared_ptr<DevicePool>& pool,
                             Queue& queue, const Senders& senders);

/// A frame on the device, such as a decoder's surface, copied to memory of the pool there: who owns the surface may
/// have it back when this returns. What writes it has been given to the queue before.
Result<Input> take_surface(const Input& surface, const std::shared_ptr<DevicePool>& pool, Queue& queue,
                           const Senders& senders);

/// Whether samples that are on a device are on this one; null: on the CPU. `which` is for messages: "reference frame
/// 5".
Status check_device(const Input& input, const DevicePool* pool, std::string_view which);

/// Of its samples, here and on devices.
size_t bytes_of(const Input& input);

/// A picture in a metric's working space.
struct InputRows {
  Input input;
  Rows rows;

  static Result<InputRows> create(const Input& input, const WorkingSpace& space, std::optional<float> background);
  const ImageView& view() const { return rows.view(); }
};

/// The same for a device.
Result<DevicePicture> device_picture(const Input& input, const Rows& rows, const std::shared_ptr<DevicePool>& pool,
                                     int first_channel = 0);

}  // namespace acuity

#endif
