// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/checked_device.h"

#include <atomic>
#include <functional>

#include <fmt/format.h>

namespace acuity {
namespace {

constexpr int kMaximumGroups = 65535;  // in x and in y: what every Vulkan device takes; CUDA takes more in x only
constexpr int kMaximumGroupThreads = 1024;

Status check_range(const char* what, size_t size, size_t offset, size_t bytes) {
  if (offset <= size && bytes <= size - offset) return {};
  return {StatusCode::internal,
          fmt::format("{} bytes from {} on do not fit the {} bytes of {}", bytes, offset, size, what)};
}

Status check_launch(const DeviceInfo& device, const KernelInfo& kernel, int groups_x, int groups_y,
                    const ArgumentBlock& arguments) {
  if (kernel.file == nullptr || kernel.name == nullptr)
    return {StatusCode::internal, "a kernel without a name or file"};
  const auto refuse = [&kernel](std::string_view reason) {
    return Status(StatusCode::internal, fmt::format("kernel {} of {}: {}", kernel.name, kernel.file->name, reason));
  };
  if (kernel.group_width < 1 || kernel.group_height < 1 || kernel.group_width > kMaximumGroupThreads ||
      kernel.group_height > kMaximumGroupThreads / kernel.group_width) {
    return refuse(fmt::format("a group of {} x {} threads: expected 1 to {} in all", kernel.group_width,
                              kernel.group_height, kMaximumGroupThreads));
  }
  if (groups_x < 1 || groups_y < 1)
    return refuse(fmt::format("{} x {} groups: expected 1 each way", groups_x, groups_y));
  if (groups_x > kMaximumGroups || groups_y > kMaximumGroups) {
    return {
        StatusCode::too_big,
        fmt::format("the picture needs {} x {} groups of kernel {} of {}, and a GPU has at most {} each way; use the "
                    "device cpu",
                    groups_x, groups_y, kernel.name, kernel.file->name, kMaximumGroups)};
  }
  if (arguments.size() > kMaximumArgumentBytes) {
    return refuse(fmt::format("{} bytes of arguments: expected at most {}", arguments.size(), kMaximumArgumentBytes));
  }
  return check_needs(device, kernel);
}

class CheckedEvent : public Event {
 public:
  explicit CheckedEvent(std::unique_ptr<Event> inner) : inner_(std::move(inner)) {}
  Event& inner() const { return *inner_; }
  bool signalled() const { return signalled_; }
  void set_signalled() { signalled_ = true; }

 private:
  std::unique_ptr<Event> inner_;
  std::atomic<bool> signalled_ = false;  // one queue signals, another waits, perhaps on another thread
};

class CheckedQueue : public Queue {
 public:
  CheckedQueue(std::unique_ptr<Queue> inner, const DeviceInfo& device) : inner_(std::move(inner)), device_(device) {}

  Status upload(DeviceMemory& to, size_t offset, const PinnedMemory& from, size_t from_offset, size_t bytes) override {
    return attempt(
        [&] {
          return both(check_range("device memory", to.size(), offset, bytes),
                      check_range("pinned memory", from.size(), from_offset, bytes));
        },
        [&] { return bytes == 0 ? Status() : inner_->upload(to, offset, from, from_offset, bytes); });
  }

  Status download(PinnedMemory& to, size_t to_offset, const DeviceMemory& from, size_t offset, size_t bytes) override {
    return attempt(
        [&] {
          return both(check_range("pinned memory", to.size(), to_offset, bytes),
                      check_range("device memory", from.size(), offset, bytes));
        },
        [&] { return bytes == 0 ? Status() : inner_->download(to, to_offset, from, offset, bytes); });
  }

  Status clear(DeviceMemory& memory, size_t offset, size_t bytes) override {
    return attempt(
        [&] {
          if (offset % 4 != 0 || bytes % 4 != 0) {
            return Status(StatusCode::internal,
                          fmt::format("clearing {} bytes from {} on; both must be multiples of 4", bytes, offset));
          }
          return check_range("device memory", memory.size(), offset, bytes);
        },
        [&] { return bytes == 0 ? Status() : inner_->clear(memory, offset, bytes); });
  }

  Status launch(const KernelInfo& kernel, int groups_x, int groups_y, const ArgumentBlock& arguments) override {
    return attempt([&] { return check_launch(device_, kernel, groups_x, groups_y, arguments); },
                   [&] { return inner_->launch(kernel, groups_x, groups_y, arguments); });
  }

  Status signal(Event& event) override {
    auto& checked = static_cast<CheckedEvent&>(event);
    const Status status = attempt([] { return Status(); }, [&] { return inner_->signal(checked.inner()); });
    if (status.ok()) checked.set_signalled();
    return status;
  }

  Status wait_for(const Event& event) override {
    const auto& checked = static_cast<const CheckedEvent&>(event);
    return attempt([&] { return check_signalled(checked); }, [&] { return inner_->wait_for(checked.inner()); });
  }

  Status wait_for_outside(const Event& event) override {
    const auto& checked = static_cast<const CheckedEvent&>(event);
    return attempt([&] { return check_signalled(checked); }, [&] { return inner_->wait_for_outside(checked.inner()); });
  }

  Status wait() override {
    return attempt([] { return Status(); }, [&] { return inner_->wait(); });
  }

  Status flush() override {
    return attempt([] { return Status(); }, [&] { return inner_->flush(); });
  }

  template <typename Check, typename Call>
  Status attempt(const Check& check, const Call& call) {
    if (failure_.ok()) failure_ = check();
    if (failure_.ok()) failure_ = call();
    return failure_;
  }

  Queue& inner() const { return *inner_; }
  const Status& failure() const { return failure_; }

 private:
  static Status check_signalled(const CheckedEvent& event) {
    return event.signalled() ? Status() : Status(StatusCode::internal, "waiting for an event that was never signalled");
  }
  static Status both(const Status& first, const Status& second) { return first.ok() ? second : first; }

  std::unique_ptr<Queue> inner_;
  const DeviceInfo device_;
  Status failure_;
};

class CheckedRecording : public Recording {
 public:
  CheckedRecording(std::unique_ptr<Recording> inner, CheckedQueue& queue) : inner_(std::move(inner)), queue_(queue) {}

  Status replay() override {
    return queue_.attempt([] { return Status(); }, [&] { return inner_->replay(); });
  }

 private:
  std::unique_ptr<Recording> inner_;
  CheckedQueue& queue_;
};

class CheckedDevice : public Device {
 public:
  CheckedDevice(std::shared_ptr<Device> inner, DeviceInfo info) : inner_(std::move(inner)) { info_ = std::move(info); }

  Result<int64_t> free_bytes() const override { return inner_->free_bytes(); }

  Result<std::unique_ptr<DeviceMemory>> allocate(size_t bytes) override {
    if (bytes == 0) return Status(StatusCode::internal, "0 bytes of device memory were requested");
    return inner_->allocate(bytes);
  }

  Result<std::unique_ptr<PinnedMemory>> allocate_pinned(size_t bytes) override {
    if (bytes == 0) return Status(StatusCode::internal, "0 bytes of pinned memory were requested");
    return inner_->allocate_pinned(bytes);
  }

  Result<std::unique_ptr<PinnedMemory>> lock_pages(std::span<std::byte> pages) override {
    return inner_->lock_pages(pages);
  }

  Result<std::unique_ptr<Queue>> create_queue() override {
    auto queue = inner_->create_queue();
    if (!queue.ok()) return queue.status();
    return std::unique_ptr<Queue>(new CheckedQueue(std::move(*queue), info_));
  }

  Result<std::unique_ptr<Queue>> create_copy_queue() override {
    auto queue = inner_->create_copy_queue();
    if (!queue.ok()) return queue.status();
    return std::unique_ptr<Queue>(new CheckedQueue(std::move(*queue), info_));
  }

  Result<std::unique_ptr<Event>> create_event() override {
    auto event = inner_->create_event();
    if (!event.ok()) return event.status();
    return std::unique_ptr<Event>(new CheckedEvent(std::move(*event)));
  }

  Status prepare(const KernelInfo& kernel) override {
    const Status status = check_launch(info_, kernel, 1, 1, {});
    return status.ok() ? inner_->prepare(kernel) : status;
  }

  Result<std::unique_ptr<Recording>> record(Queue& queue, const std::function<Status()>& work) override {
    auto& checked = static_cast<CheckedQueue&>(queue);
    if (!checked.failure().ok()) return checked.failure();
    auto recording = inner_->record(checked.inner(), work);
    if (!recording.ok() || *recording == nullptr) return recording;
    return std::unique_ptr<Recording>(new CheckedRecording(std::move(*recording), checked));
  }

 private:
  std::shared_ptr<Device> inner_;
};

}  // namespace

std::shared_ptr<Device> check_calls(std::shared_ptr<Device> device, DeviceInfo info) {
  return std::make_shared<CheckedDevice>(std::move(device), std::move(info));
}

}  // namespace acuity
