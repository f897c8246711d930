// SPDX-License-Identifier: BSD-2-Clause-Patent
// A device of CUDA or HIP in use: calls into its driver, its loaded kernels, and the failure it does not recover from.
#ifndef ACUITY_DEVICE_GPU_CONTEXT_H
#define ACUITY_DEVICE_GPU_CONTEXT_H

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "device/device.h"
#include "device/gpu/driver.h"

namespace acuity {

/// Everything made on a device holds its context, so the order in which things are destroyed does not matter.
/// May be used from several threads.
class GpuContext {
 public:
  static Result<std::shared_ptr<GpuContext>> create(std::shared_ptr<const GpuDriver> driver, const DeviceInfo& info);
  ~GpuContext();
  GpuContext(const GpuContext&) = delete;
  GpuContext& operator=(const GpuContext&) = delete;

  const GpuDriver& driver() const { return *driver_; }
  const DeviceInfo& info() const { return info_; }
  void* handle() const { return handle_; }  // the driver's own; null on HIP

  /// Calls function(), which calls the driver, with the device current on this thread.
  template <typename Function>
  Status call(const Function& function) {
    if (lost_) return failure();
    int previous = 0;
    DriverOutcome outcome = driver_->enter(handle_, device_, previous);
    if (outcome.ok()) {
      outcome = function();
      driver_->leave(device_, previous);
    }
    return outcome.ok() ? Status() : judge(outcome);
  }

  /// The same for giving something back: tried whatever happened, and nobody can do anything about a failure.
  template <typename Function>
  void call_last(const Function& function) noexcept {
    int previous = 0;
    const bool entered = driver_->enter(handle_, device_, previous).ok();
    function();
    if (entered) driver_->leave(device_, previous);
  }

  /// A kernel, loaded when first asked for.
  Result<void*> function(const KernelInfo& kernel);

  /// A failure of this device in words.
  Status failure(const std::string& message) const;

 private:
  struct LoadedFile {
    std::mutex mutex;  // of the rest
    void* module = nullptr;
    std::map<std::string, void*, std::less<>> functions;
  };

  GpuContext(std::shared_ptr<const GpuDriver> driver, const DeviceInfo& info)
      : driver_(std::move(driver)), info_(info) {}
  Status judge(DriverOutcome outcome);
  Status failure();
  LoadedFile& loaded_file(const KernelFile& file);
  Status load(const KernelFile& file, void** module);

  const std::shared_ptr<const GpuDriver> driver_;
  const DeviceInfo info_;
  int device_ = 0;          // the driver's handle of the device
  void* handle_ = nullptr;  // of the context
  bool retained_ = false;
  int architecture_ = 0;
  std::atomic<bool> lost_ = false;
  std::mutex failure_mutex_;
  Status failure_;          // once lost
  std::mutex files_mutex_;  // of the map, whose entries stay where they are
  std::unordered_map<const KernelFile*, LoadedFile> files_;
};

}  // namespace acuity

#endif
