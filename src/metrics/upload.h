// SPDX-License-Identifier: BSD-2-Clause-Patent
// How a picture gets to a device: the samples as they are, to be converted there, and found by pixel_at of
// metrics/pixels.h. Every metric on every GPU uses this.
#ifndef ACUITY_METRICS_UPLOAD_H
#define ACUITY_METRICS_UPLOAD_H

#include <memory>
#include <optional>
#include <vector>

#include "base/threads.h"
#include "colour/rows.h"
#include "device/device.h"

namespace acuity {

/// Rows of a picture on a device, as kernels are told of them.
struct SentPixels {
  DeviceArray<const unsigned char> samples;
  DeviceArray<const float> table;
  int form = 0;
  int extent = 0;
  int y_first = 0;  ///< the row that lies first
  bool operator==(const SentPixels&) const = default;
};

/// One picture's way to a device. Memory is kept from picture to picture, and grows as they ask for it.
class Upload {
 public:
  Upload(Device& device, const Threads& threads) : device_(device), threads_(threads) {}

  /// Looks at how this picture is to travel, makes room for `rows` rows in each of `slots` places on the device, and
  /// sends what is the same for all rows. Nothing sent before may still be in use.
  Status begin(Queue& queue, const Rows& picture, int rows, int slots);

  /// Rows y .. y_end - 1 to a place on the device, `below` rows below its top, at most as many as it has room for. What
  /// was there may no longer be in use. They are there when the queue has come so far; the picture's memory must not
  /// change till then.
  Result<SentPixels> send(Queue& queue, const Rows& picture, int y, int y_end, int slot, int below = 0);

  /// After begin: what send is going to say of a place whose topmost row is y_first.
  SentPixels sent(const Rows& picture, int slot, int y_first) const;

  /// After begin: the page-locked memory from which the picture goes to the device as it is; empty where something must
  /// be done to it here before.
  HostBytes source(const Rows& picture) const;

  /// Memory held, here and there.
  size_t bytes() const;

 private:
  // How the samples of a picture lie in memory and travel: interleaved as one strand, or a strand for each channel.
  struct Strands {
    int count = 1;
    int samples_a_pixel = 1;  // in a strand
    size_t sample_bytes = 1;
    size_t row_bytes = 0;   // of one strand
    bool copyable = false;  // a row of a strand can be copied as it is
    size_t all_bytes() const { return static_cast<size_t>(count) * row_bytes; }  // of a row
  };
  static Strands strands_of(const ImageView& view);

  bool goes_straight(const ImageView& view) const;
  Status send_numbers(Queue& queue, const std::vector<float>& numbers);
  Status send_strands(Queue& queue, const Rows& picture, int y, int y_end, DeviceMemory& to, size_t offset);
  Status send_light(Queue& queue, const Rows& picture, int y, int y_end, size_t offset);
  Status convert(Queue& queue, const Rows& picture, int y, int y_end, size_t offset);
  Status reserve_staging(size_t bytes);
  template <typename Step>
  void for_rows(int y, int y_end, Step step) const;

  Device& device_;
  const Threads& threads_;
  int form_ = 0;
  Strands strands_;
  std::optional<Rows::Conversion> conversion_;  // by a kernel here; without one codes are sent for pixel_at, or light
  int slot_rows_ = 0;
  size_t slot_bytes_ = 0;
  std::unique_ptr<PinnedMemory> staging_;  // for a whole picture, so that no row waits for another to be gone
  int staged_rows_ = 0;                    // of the picture, the samples of which go to the device as they are
  std::unique_ptr<DeviceMemory> slots_;
  std::unique_ptr<DeviceMemory> raw_;  // samples on their way to be converted
  int raw_rows_ = 0;
  std::unique_ptr<PinnedMemory> numbers_staging_;  // tables and parameters
  std::unique_ptr<DeviceMemory> numbers_;
  std::vector<float> numbers_content_;
};

}  // namespace acuity

#endif
