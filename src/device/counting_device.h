// SPDX-License-Identifier: BSD-2-Clause-Patent
// A device that only counts memory and notes kernels. Work that is submitted to it is not done, so a metric that
// scores a pair on it tells what the same would take on a GPU, without one.
#ifndef ACUITY_DEVICE_COUNTING_DEVICE_H
#define ACUITY_DEVICE_COUNTING_DEVICE_H

#include <algorithm>
#include <vector>

#include "device/device.h"

namespace acuity {

/// For one thread at a time.
class CountingDevice final : public Device {
 public:
  explicit CountingDevice(Backend backend = Backend::cuda) { info_.backend = backend; }

  class Count {
   public:
    void add(size_t bytes) {
      now_ += bytes;
      peak_ = std::max(peak_, now_);
    }
    void subtract(size_t bytes) { now_ -= bytes; }
    size_t now() const { return now_; }
    size_t peak() const { return peak_; }

   private:
    size_t now_ = 0, peak_ = 0;
  };

  const Count& device_count() const { return device_count_; }
  const Count& pinned_count() const { return pinned_count_; }
  /// All that were prepared or launched, each once.
  const std::vector<KernelInfo>& kernels() const { return kernels_; }

  Result<int64_t> free_bytes() const override;
  Result<std::unique_ptr<DeviceMemory>> allocate(size_t bytes) override;
  /// Zeros, which cost nothing until somebody writes there.
  Result<std::unique_ptr<PinnedMemory>> allocate_pinned(size_t bytes) override;
  Result<std::unique_ptr<Queue>> create_queue() override;
  Result<std::unique_ptr<Event>> create_event() override;
  Status prepare(const KernelInfo& kernel) override;
  Result<std::unique_ptr<Recording>> record(Queue&, const std::function<Status()>&) override {
    return std::unique_ptr<Recording>();
  }

 private:
  Count device_count_, pinned_count_;
  std::vector<KernelInfo> kernels_;
};

}  // namespace acuity

#endif
