// SPDX-License-Identifier: BSD-2-Clause-Patent
// The samples of a picture or of a frame of video on a device: sent there once, whole and as they are, for every metric
// that wants them.
#ifndef ACUITY_DEVICE_PIXELS_RESIDENT_H
#define ACUITY_DEVICE_PIXELS_RESIDENT_H

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "acuity/frame.h"
#include "acuity/image.h"
#include "base/task_threads.h"
#include "base/threads.h"
#include "device/device.h"
#include "device/pinned.h"
#include "device/pixels/surface.h"
#include "device/pool.h"

namespace acuity {

/// Which sample is where: c of pixel (x, y) is number first + y * row_step + x * pixel_step + c * channel_step.
struct SampleLayout {
  int first = 0;
  int row_step = 0;
  int pixel_step = 0;
  int channel_step = 0;
  bool operator==(const SampleLayout&) const = default;
};

inline constexpr PlaneSet kAllPlanes{true, true, true};

/// The samples of a frame: sample (x, y) of plane p is number first[p] + y * row_step[p] + x. Rows begin at multiples
/// of 4 bytes.
struct FrameLayout {
  FrameFormat format;
  PlaneSet planes{};  // that are there
  std::array<int, 3> first{};
  std::array<int, 3> row_step{};
};

/// Of two pictures that are sent at a time.
enum class SendOrder {
  together,    ///< some rows of one, then the same of the other
  one_by_one,  ///< all of the first before the second
};

/// May be used from several threads.
class Resident {
 public:
  /// Room for the samples of a picture. Its memory must not change or go until they have arrived.
  static Result<std::shared_ptr<Resident>> create(const std::shared_ptr<DevicePool>& pool, const ImageView& view);
  /// The same for some planes of a frame.
  static Result<std::shared_ptr<Resident>> create(const std::shared_ptr<DevicePool>& pool, const FrameView& frame,
                                                  const FrameFormat& format, const PlaneSet& planes = kAllPlanes);
  /// Samples that are on the device already; the planes of the view are addresses there. Channels lie at equal
  /// distances.
  static Result<std::shared_ptr<Resident>> of_device_memory(const ImageView& view, std::shared_ptr<const void> owner);
  /// The same for some planes of a frame. If all of these are plain and near each other, and it `may_stay`, they are
  /// read where they are; otherwise this is room for them, and sending copies them there.
  static Result<std::shared_ptr<Resident>> of_device_frame(const std::shared_ptr<DevicePool>& pool,
                                                           const FrameView& frame, const FrameFormat& format,
                                                           const SurfaceLayout& layout,
                                                           const PlaneSet& planes = kAllPlanes, bool may_stay = true);
  ~Resident();
  Resident(const Resident&) = delete;
  Resident& operator=(const Resident&) = delete;

  DeviceArray<const unsigned char> samples() const { return {address_}; }
  /// Of a picture.
  const SampleLayout& layout() const { return layout_; }
  /// Of a frame; nothing for a picture.
  const std::optional<FrameLayout>& frame() const { return frame_; }
  /// Whether these planes are there.
  bool has(const PlaneSet& planes) const;
  /// That of the memory they are in; 0 where it is somebody else's.
  uint64_t place() const { return memory_ ? memory_.number() : 0; }
  size_t bytes() const { return memory_ ? memory_->size() : 0; }

  /// What comes after in the queue waits for all rows before y_end. Waits here until somebody has sent them.
  Status wait_for_rows(Queue& queue, int y_end);
  /// The same in work that is being recorded: each replay waits for what was sent last. All of it has been sent.
  Status record_wait_for_rows(Queue& queue, int y_end);
  /// Whether all of it is in flight or there.
  bool is_sent() const;
  bool has_failed() const;

  /// The rows that are sent at a time, once any are.
  int band_rows() const { return band_rows_; }

  /// Somebody waited for a queue that had waited for all rows.
  void note_arrival() { arrived_ = true; }
  /// The same in the middle of a job, whose end is settle(): until then its metrics find the picture as it was.
  void note_wait() { waited_for_ = true; }
  bool has_arrived() const { return arrived_; }
  /// Waits until nobody looks at the picture's memory any more, be the picture there or not, and gives back what it was
  /// sent from once no copy of it can be in flight.
  void settle();

 private:
  friend class Sending;
  explicit Resident(int height) : height_(height) {}

  // Samples that lie one after the other in the host's memory: all of a picture where they are interleaved, or those of
  // one channel or plane.
  struct Strand {
    const std::byte* from = nullptr;
    ptrdiff_t row_stride = 0;  // there
    int rows = 0;
    bool halved = false;   // it has one row for two of the picture
    size_t row_bytes = 0;  // samples
    size_t row_step = 0;   // on the device and in staging memory, where it begins at
    size_t offset = 0;

    size_t bytes() const { return row_step * static_cast<size_t>(rows - 1) + row_bytes; }
    /// How many rows there must be for those of the picture before y; colour samples are interpolated.
    int rows_until(int y) const { return halved && y > 0 ? std::min(y / 2 + 1, rows) : y; }
  };
  static bool is_interleaved(const ImageView& view);
  Status take_memory(const std::shared_ptr<DevicePool>& pool);
  size_t row_bytes() const;  // of all strands together
  bool is_small() const;
  Event& event_of_row(int y) const { return *memory_.events()[static_cast<size_t>(y / band_rows_)]; }

  bool claim();
  Status make_ready(int rows);
  bool goes_straight() const { return !straight_.empty() || surface_; }
  bool stay_on(const Surface& surface, const FrameFormat& format, const PlaneSet& planes);
  Status copy_surface(Queue& queue);
  void stage(int y, int y_end) const;
  Status send_band(Queue& queue, int y);
  Status signal_band(Queue& queue, int y);
  void note_sent(int y_end);  // whoever waits for these rows may wait for their events
  void fail(const Status& status);
  void end_sending();

  const int height_;
  std::vector<Strand> strands_;
  size_t sample_bytes_ = 1;
  ptrdiff_t pixel_stride_ = 0;  // where rows cannot be copied as they are; 0: they can
  SampleLayout layout_;
  std::optional<FrameLayout> frame_;
  uint64_t address_ = 0;
  int band_rows_ = 1;
  std::shared_ptr<DevicePool> pool_;
  PooledMemory memory_;
  std::unique_ptr<PinnedMemory> staging_;  // until they have arrived
  std::shared_ptr<const void> owner_;      // of device memory
  std::optional<Surface> surface_;         // that the samples are copied from
  std::vector<PinnedPlace> straight_;      // the strands, where they can be sent from where they are
  std::atomic<bool> arrived_ = false, waited_for_ = false;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool claimed_ = false;  // somebody sends it or has sent it ...
  bool sending_ = false;  // ... and is at it
  int sent_rows_ = 0;
  Status failure_;
};

/// What sending pictures takes besides a queue.
struct Senders {
  const Threads* threads = nullptr;  // copy rows
  TaskThreads* tasks = nullptr;      // one looks after them
};

/// A picture to be sent.
struct Parcel {
  Resident* picture = nullptr;  // null: nothing is to be sent
  Queue* queue = nullptr;       // by way of which it goes if it is small ...
  bool is_on_queue = false;     // ... and then what comes after in the queue need not wait for it
};

/// Sends those pictures that nobody has sent or is sending, in bands of `rows` rows, or as many as are better. All but
/// small ones go on the pool's queue, from page-locked memory at once, from other memory while the caller goes on.
Status send_pictures(std::span<Parcel> parcels, SendOrder order, int rows, const Senders& senders);

}  // namespace acuity

#endif
