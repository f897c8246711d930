// SPDX-License-Identifier: BSD-2-Clause-Patent
// A stream of the driver.
#ifndef ACUITY_DEVICE_GPU_STREAM_H
#define ACUITY_DEVICE_GPU_STREAM_H

#include <memory>
#include <utility>

#include "device/gpu/context.h"

namespace acuity {

class GpuStream {
 public:
  static Result<std::shared_ptr<GpuStream>> create(std::shared_ptr<GpuContext> context) {
    void* handle = nullptr;
    const Status status = context->call([&] { return context->driver().create_stream(&handle, kNonBlockingStream); });
    if (!status.ok()) return status;
    return std::shared_ptr<GpuStream>(new GpuStream(std::move(context), handle));
  }
  ~GpuStream() {
    context_->call_last([this] { context_->driver().destroy_stream(handle_); });
  }
  GpuStream(const GpuStream&) = delete;
  GpuStream& operator=(const GpuStream&) = delete;

  void* handle() const { return handle_; }

 private:
  GpuStream(std::shared_ptr<GpuContext> context, void* handle) : context_(std::move(context)), handle_(handle) {}

  std::shared_ptr<GpuContext> context_;
  void* handle_;
};

}  // namespace acuity

#endif
