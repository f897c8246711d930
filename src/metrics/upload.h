// SPDX-License-Identifier: BSD-2-Clause-Patent
// How a picture gets to a device: the rows a kernel is to see, sent in the form that takes the least time, and found
// there by pixel_at of metrics/pixels.h. Every metric on every GPU uses this.
#ifndef ACUITY_METRICS_UPLOAD_H
#define ACUITY_METRICS_UPLOAD_H

#include <memory>
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
};

/// One picture's way to a device. Memory is kept from picture to picture, and grows as they ask for it.
class Upload {
 public:
  Upload(Device& device, const Threads& threads) : device_(device), threads_(threads) {}

  /// Looks at how this picture is to travel, makes room for `rows` rows in each of `slots` places on the device, and
  /// sends what is the same for all rows. Nothing sent before may still be in use.
  Status begin(Queue& queue, const Rows& picture, int rows, int slots);

  /// Rows y .. y_end - 1 to a place on the device, at most as many as it has room for. What was in that place may no
  /// longer be in use. They are there when the queue has come so far; the picture's memory must not change till then.
  Result<SentPixels> send(Queue& queue, const Rows& picture, int y, int y_end, int slot);

  /// Memory held, here and there.
  size_t bytes() const;

 private:
  Status send_table(Queue& queue, std::span<const float> table);
  void stage(const Rows& picture, int y, int y_end) const;
  size_t rows_bytes(int rows) const;

  Device& device_;
  const Threads& threads_;
  int form_ = 0;
  size_t row_bytes_ = 0;  // of a row, all channels
  size_t slot_bytes_ = 0;
  std::unique_ptr<PinnedMemory> staging_;  // for a whole picture, so that no row waits for another to be gone
  std::unique_ptr<DeviceMemory> samples_;
  std::unique_ptr<PinnedMemory> table_staging_;
  std::unique_ptr<DeviceMemory> table_;
  std::vector<float> table_content_;
};

}  // namespace acuity

#endif
