// SPDX-License-Identifier: BSD-2-Clause-Patent
// Queues and events of CUDA and HIP: streams and events of the driver.
#ifndef ACUITY_DEVICE_GPU_QUEUE_H
#define ACUITY_DEVICE_GPU_QUEUE_H

#include <memory>
#include <utility>

#include "device/gpu/capture.h"

namespace acuity {

class GpuEvent : public Event {
 public:
  GpuEvent(std::shared_ptr<GpuContext> context, void* handle) : context_(std::move(context)), handle_(handle) {}
  ~GpuEvent() override {
    context_->call_last([this] { context_->driver().destroy_event(handle_); });
  }
  void* handle() const { return handle_; }

  // Where it was last signalled, if one stream captured that.
  bool is_captured = false;
  std::weak_ptr<GraphCapture> capture{};
  GraphCapture::Nodes after{};

 private:
  std::shared_ptr<GpuContext> context_;
  void* handle_;
};

class GpuQueue : public Queue {
 public:
  GpuQueue(std::shared_ptr<GpuContext> context, std::shared_ptr<GpuStream> stream)
      : context_(std::move(context)), stream_(std::move(stream)) {}
  ~GpuQueue() override;

  Status upload(DeviceMemory& to, size_t offset, const PinnedMemory& from, size_t from_offset, size_t bytes) override;
  Status download(PinnedMemory& to, size_t to_offset, const DeviceMemory& from, size_t offset, size_t bytes) override;
  Status clear(DeviceMemory& memory, size_t offset, size_t bytes) override;
  Status launch(const KernelInfo& kernel, int groups_x, int groups_y, const ArgumentBlock& arguments) override;
  Status signal(Event& event) override;
  Status wait_for(const Event& event) override;
  Status wait_for_outside(const Event& event) override;
  Status wait() override;

  const std::shared_ptr<GpuStream>& stream() const { return stream_; }

  /// From now on work goes to the one stream that captures for all, as long as that capture exists.
  void join_capture(const std::shared_ptr<GraphCapture>& capture);
  bool is_captured() const { return !capture_.expired(); }
  /// The nodes that the next work would come after.
  const GraphCapture::Nodes& after() const { return after_; }

 private:
  const GpuDriver& driver() const { return context_->driver(); }
  /// Calls call(stream), which gives one piece of work to the driver.
  template <typename Call>
  Status submit(const Call& call) {
    if (const auto capture = capture_.lock()) return capture->submit(after_, call);
    return context_->call([&] { return call(stream_->handle()); });
  }

  std::shared_ptr<GpuContext> context_;
  std::shared_ptr<GpuStream> stream_;
  std::weak_ptr<GraphCapture> capture_;
  GraphCapture::Nodes after_;  // in that capture
};

}  // namespace acuity

#endif
