// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/gpu/queue.h"

#include <fmt/format.h>

namespace acuity {

GpuQueue::~GpuQueue() {
  // Memory may be freed right after; nothing must be in flight on it then.
  context_->call_last([this] { driver().synchronize_stream(stream_->handle()); });
}

Status GpuQueue::upload(DeviceMemory& to, size_t offset, const PinnedMemory& from, size_t from_offset, size_t bytes) {
  return submit([&](void* stream) {
    return driver().copy_to_device(to.address() + offset, from.data() + from_offset, bytes, stream);
  });
}

Status GpuQueue::download(PinnedMemory& to, size_t to_offset, const DeviceMemory& from, size_t offset, size_t bytes) {
  return submit([&](void* stream) {
    return driver().copy_to_host(to.data() + to_offset, from.address() + offset, bytes, stream);
  });
}

Status GpuQueue::clear(DeviceMemory& memory, size_t offset, size_t bytes) {
  return submit([&](void* stream) { return driver().fill_words(memory.address() + offset, 0, bytes / 4, stream); });
}

Status GpuQueue::launch(const KernelInfo& kernel, int groups_x, int groups_y, const ArgumentBlock& arguments) {
  const Result<void*> function = context_->function(kernel);
  if (!function.ok()) return function.status();
  size_t bytes = arguments.size();
  // "The block is at", "its size is at", end: in CUDA's and HIP's own notation.
  void* block[] = {reinterpret_cast<void*>(1), const_cast<unsigned char*>(arguments.data()), reinterpret_cast<void*>(2),
                   &bytes, driver().arguments_end()};
  const Status status = submit([&](void* stream) {
    return driver().launch(*function, static_cast<unsigned>(groups_x), static_cast<unsigned>(groups_y), 1,
                           static_cast<unsigned>(kernel.group_width), static_cast<unsigned>(kernel.group_height), 1, 0,
                           stream, nullptr, bytes == 0 ? nullptr : block);
  });
  if (status.ok()) return status;
  return {status.code(), fmt::format("{} (kernel {} of {})", status.message(), kernel.name, kernel.file->name)};
}

void GpuQueue::join_capture(const std::shared_ptr<GraphCapture>& capture) {
  capture_ = capture;
  after_.clear();
}

Status GpuQueue::signal(Event& event) {
  auto& own = static_cast<GpuEvent&>(event);
  own.is_captured = is_captured();
  own.capture = capture_;
  if (own.is_captured) {
    own.after = after_;
    return {};
  }
  return context_->call([&] { return driver().record_event(own.handle(), stream_->handle()); });
}

Status GpuQueue::wait_for(const Event& event) {
  const auto& other = static_cast<const GpuEvent&>(event);
  if (other.is_captured) {
    const std::shared_ptr<GraphCapture> capture = other.capture.lock();
    if (capture == nullptr || (is_captured() && capture_.lock() != capture)) {
      return context_->failure("waiting for an event that was signalled inside recorded work");
    }
    if (!is_captured()) join_capture(capture);
    GraphCapture::join(after_, other.after);
    return {};
  }
  if (is_captured()) return context_->failure("recorded work waits for an event that was signalled outside it");
  return context_->call([&] { return driver().stream_waits(stream_->handle(), other.handle(), 0); });
}

Status GpuQueue::wait_for_outside(const Event& event) {
  void* const handle = static_cast<const GpuEvent&>(event).handle();
  if (const auto capture = capture_.lock()) return capture->wait_outside(after_, handle);
  if (driver().graphs.one_stream)
    return context_->failure("no work is being recorded that could wait for an event outside it");
  return context_->call([&] { return driver().stream_waits(stream_->handle(), handle, kWaitOutsideOfGraph); });
}

Status GpuQueue::wait() {
  if (is_captured()) return context_->failure("work that is being recorded cannot be waited for");
  return context_->call([&] { return driver().synchronize_stream(stream_->handle()); });
}

}  // namespace acuity
