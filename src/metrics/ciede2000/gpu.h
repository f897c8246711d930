// SPDX-License-Identifier: BSD-2-Clause-Patent
#ifndef ACUITY_METRICS_CIEDE2000_GPU_H
#define ACUITY_METRICS_CIEDE2000_GPU_H

#include "engine/device_feature.h"

namespace acuity::ciede2000 {

/// The sum of the differences of all pixels, on a device. What chunks with few colours come to is found on the host.
class DeviceSum {
 public:
  static Result<DeviceSum> create(Device& device, const FrameShape& shape);

  size_t result_bytes() const;
  Status submit(Queue& queue, const DeviceWindow& window, uint64_t results);
  double finish(std::span<const std::byte> results) const;

 private:
  // Results are sums of chunks, their numbers of colours, and lists of these.
  size_t counts_begin() const { return chunks_ * sizeof(double); }
  size_t lists_begin() const;

  FrameShape shape_;
  size_t chunks_ = 0;
  int depth_ = 8;  // of the samples there
};

}  // namespace acuity::ciede2000

#endif
