// SPDX-License-Identifier: BSD-2-Clause-Patent
// From the samples of a picture on a device to pixels in a metric's working space, as pixel_at of
// device/pixels/pixels.h finds them. Every metric on every GPU uses this.
#ifndef ACUITY_DEVICE_PIXELS_READER_H
#define ACUITY_DEVICE_PIXELS_READER_H

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "colour/rows.h"
#include "device/pixels/resident.h"

namespace acuity {

/// A picture for a device: what its pixels are to be, and where its samples are.
struct DevicePicture {
  Rows rows;
  /// Null where kernels cannot make the pixels; they are made on the host then. Somebody holds it while it is worked
  /// on.
  Resident* samples = nullptr;
  int first_channel = 0;  ///< of the samples, that is the first of `rows`

  /// Whether kernels can make such pixels of samples.
  static bool needs_samples(const Rows& rows) { return !rows.code_table().empty() || rows.conversion().has_value(); }
};

/// Rows of a picture on a device, as kernels are told of them.
struct SentPixels {
  DeviceArray<const unsigned char> samples;
  DeviceArray<const float> table;
  int format = 0;        ///< FORMAT_*
  int table_last = 0;    ///< of codes: the last index of the table
  int plane_stride = 0;  ///< of planes: floats from one to the next
  int y_first = 0;       ///< the row that lies first
  bool operator==(const SentPixels&) const = default;
};

/// One picture at a time. Memory is kept from picture to picture, and grows as they ask for it.
class PixelReader {
 public:
  PixelReader(std::shared_ptr<DevicePool> pool, const Senders& senders) : pool_(std::move(pool)), senders_(senders) {}

  /// Looks at what kernels can do with this picture. Where pixels must be made before they are read, makes room for
  /// `rows` rows in each of `slots` places, and sends by way of `queue` what that takes. Nothing made before may still
  /// be in use.
  Status begin(Queue& queue, const DevicePicture& picture, int rows, int slots);

  /// Sends the samples of pictures that have begun, unless they have been sent. They will be read `rows` rows at a
  /// time. Small ones go by way of `queues`, one for each.
  static Status send(std::span<PixelReader* const> readers, std::span<Queue* const> queues, SendOrder order, int rows);

  /// Whether kernels read the samples themselves: all rows are in pixels(0, 0) then, each as soon as it was waited for.
  bool reads_samples() const;
  Status wait_for_rows(Queue& queue, int y_end);
  /// The same while work is recorded, of which `queue` is a part; all rows have been sent.
  Status record_wait_for_rows(Queue& queue, int y_end);
  /// All of them have been sent and kernels do the rest, so that work on them may be recorded.
  bool may_be_recorded() const { return (reads_samples() || conversion_) && picture_->samples->is_sent(); }
  /// What recorded work on a picture depends on: work on two that are equal is the same.
  struct Key {
    SentPixels pixels;
    uint64_t samples = 0;       ///< where they are,
    uint64_t place = 0;         ///< and the number of that memory, unless it is somebody else's
    std::vector<int> making{};  ///< what kernels that make pixels are told of the samples
    int band_rows = 0;          ///< of the samples, which are waited for
    bool operator==(const Key&) const = default;
  };
  Key key() const {
    const Resident& samples = *picture_->samples;
    return {pixels(0, 0), samples.samples().address, samples.place(), making_, samples.band_rows()};
  }

  /// Otherwise: makes rows y .. y_end - 1 in a place, `below` rows below its top, when the queue has come so far. What
  /// was there may no longer be in use. `recorded`: as in record_wait_for_rows.
  Status make(Queue& queue, int y, int y_end, int slot, int below = 0, bool recorded = false);

  /// What kernels are told of a place whose topmost row is y_first.
  SentPixels pixels(int slot, int y_first) const;

  /// Somebody waited for all work on the picture.
  void note_wait();

  /// Memory held, here and there, the samples not counted.
  size_t bytes() const;

 private:
  int end_of_band(int y_end) const;
  std::vector<int> describe_making() const;
  using Tables = std::array<std::span<const float>, 3>;
  Status send_constants(Queue& queue, std::vector<float> parameters, const Tables& tables);
  Status convert(Queue& queue, int y, int y_end, size_t offset);
  Status convert_frame(Queue& queue, const FrameLayout& frame, int y, int y_end, size_t offset);
  Status send_light(Queue& queue, int y, int y_end, size_t offset);

  std::shared_ptr<DevicePool> pool_;
  Senders senders_;
  std::optional<DevicePicture> picture_;
  int format_ = 0;
  std::optional<Rows::Conversion> conversion_;  // by a kernel; without one kernels read samples, or light is made here
  std::vector<int> making_;
  const Queue* sent_on_ = nullptr;   // which need not wait for any row
  const Queue* waited_ = nullptr;    // the last to wait for rows,
  int waited_rows_ = 0;              // of which it is so many
  const Queue* recorded_ = nullptr;  // likewise in work that is recorded
  int recorded_rows_ = 0;
  int slot_rows_ = 0;
  size_t slot_bytes_ = 0;
  PooledMemory slots_;
  std::unique_ptr<PinnedMemory> light_staging_;      // for a whole picture, so that no row waits for another to be gone
  int light_rows_ = 0;                               // that are in it
  std::unique_ptr<PinnedMemory> constants_staging_;  // tables and parameters
  std::unique_ptr<DeviceMemory> constants_;
  // What they hold, and whose tables that are, which therefore stay as they are.
  size_t constants_bytes_ = 0;
  std::vector<float> parameters_;
  Tables tables_;
  std::optional<Rows> tables_of_;
};

}  // namespace acuity

#endif
