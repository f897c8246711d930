// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/gpu/device.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "device/gpu/queue.h"
#include "device/gpu/recording.h"

namespace acuity {
namespace {

class GpuMemory : public DeviceMemory {
 public:
  GpuMemory(std::shared_ptr<GpuContext> context, uint64_t address, size_t size) : context_(std::move(context)) {
    address_ = address;
    size_ = size;
  }
  ~GpuMemory() override {
    context_->call_last([this] { context_->driver().release(address_); });
  }

 private:
  std::shared_ptr<GpuContext> context_;
};

class GpuPinnedMemory : public PinnedMemory {
 public:
  GpuPinnedMemory(std::shared_ptr<GpuContext> context, void* data, size_t size) : context_(std::move(context)) {
    data_ = static_cast<std::byte*>(data);
    size_ = size;
  }
  ~GpuPinnedMemory() override {
    context_->call_last([this] { context_->driver().release_host(data_); });
  }

 private:
  std::shared_ptr<GpuContext> context_;
};

class GpuLockedMemory : public PinnedMemory {
 public:
  GpuLockedMemory(std::shared_ptr<GpuContext> context, std::span<std::byte> pages) : context_(std::move(context)) {
    data_ = pages.data();
    size_ = pages.size();
  }
  ~GpuLockedMemory() override {
    context_->call_last([this] { context_->driver().unlock_host(data_); });
  }

 private:
  std::shared_ptr<GpuContext> context_;
};

class GpuDevice : public Device {
 public:
  explicit GpuDevice(std::shared_ptr<GpuContext> context) : context_(std::move(context)) { info_ = context_->info(); }

  Result<int64_t> free_bytes() const override {
    size_t free = 0;
    size_t total = 0;
    const Status status = context_->call([&] { return driver().memory_info(&free, &total); });
    if (!status.ok()) return status;
    return static_cast<int64_t>(free);
  }

  Result<std::unique_ptr<DeviceMemory>> allocate(size_t bytes) override {
    uint64_t address = 0;
    DriverOutcome outcome;
    const Status status = context_->call([&] { return outcome = driver().allocate(&address, bytes); });
    if (status.ok()) return std::unique_ptr<DeviceMemory>(new GpuMemory(context_, address, bytes));
    if (outcome.code != kErrorOutOfMemory) return status;
    const Result<int64_t> available = free_bytes();
    if (!available.ok()) return status;
    return Status(status.code(), fmt::format("{}; {} bytes were needed and {} of {} are free", status.message(), bytes,
                                             *available, info_.memory_bytes));
  }

  Result<std::unique_ptr<PinnedMemory>> allocate_pinned(size_t bytes) override {
    void* data = nullptr;
    const Status status = context_->call([&] { return driver().allocate_host(&data, bytes, kPortableHostMemory); });
    if (status.ok()) return std::unique_ptr<PinnedMemory>(new GpuPinnedMemory(context_, data, bytes));
    // It is the host's memory that ran out.
    return Status(status.code() == StatusCode::device_memory ? StatusCode::out_of_memory : status.code(),
                  fmt::format("{}; {} bytes of page-locked host memory were needed", status.message(), bytes));
  }

  Result<std::unique_ptr<PinnedMemory>> lock_pages(std::span<std::byte> pages) override {
    if (!driver().lock_host.found() || !driver().unlock_host.found()) return std::unique_ptr<PinnedMemory>();
    const Status status =
        context_->call([&] { return driver().lock_host(pages.data(), pages.size(), kPortableHostMemory); });
    if (!status.ok()) return status;
    return std::unique_ptr<PinnedMemory>(new GpuLockedMemory(context_, pages));
  }

  Result<std::unique_ptr<Queue>> create_queue() override {
    Result<std::shared_ptr<GpuStream>> stream = GpuStream::create(context_);
    if (!stream.ok()) return stream.status();
    return std::unique_ptr<Queue>(new GpuQueue(context_, std::move(*stream)));
  }

  Result<std::unique_ptr<Event>> create_event() override {
    void* event = nullptr;
    const Status status = context_->call([&] { return driver().create_event(&event, kEventWithoutTiming); });
    if (!status.ok()) return status;
    return std::unique_ptr<Event>(new GpuEvent(context_, event));
  }

  Status prepare(const KernelInfo& kernel) override { return context_->function(kernel).status(); }

  Result<std::unique_ptr<Recording>> record(Queue& queue, const std::function<Status()>& work) override {
    return record_graph(context_, static_cast<GpuQueue&>(queue), work);
  }

 private:
  const GpuDriver& driver() const { return context_->driver(); }

  std::shared_ptr<GpuContext> context_;
};

std::string device_id(Backend backend, int index) { return fmt::format("{}:{}", backend_name(backend), index); }

Result<int> count_devices(const GpuDriver& driver) {
  int count = 0;
  const DriverOutcome outcome = driver.device_count(&count);
  if (!outcome.ok()) return Status(StatusCode::device, driver.failure_text(outcome));
  return count;
}

// Nothing where the driver does not tell: a device can be used without.
std::string uuid_of(const GpuDriver& driver, int device) {
  std::array<unsigned char, 16> bytes{};
  return driver.device_uuid.found() && driver.device_uuid(bytes.data(), device).ok() ? uuid_text(bytes) : "";
}

std::string pci_address_of(const GpuDriver& driver, int device) {
  std::array<char, 32> text{};
  if (!driver.pci_address.found() || !driver.pci_address(text.data(), text.size() - 1, device).ok()) return "";
  std::string address(text.data());
  std::transform(address.begin(), address.end(), address.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return address;
}

Result<DeviceInfo> describe(const GpuDriver& driver, int index) {
  int device = 0;
  int version = 0;
  char name[256] = {};
  size_t bytes = 0;
  DriverOutcome outcome = driver.driver_version(&version);
  if (outcome.ok()) outcome = driver.device_at(&device, index);
  if (outcome.ok()) outcome = driver.device_name(name, sizeof(name) - 1, device);
  if (outcome.ok()) outcome = driver.device_memory(&bytes, device);
  if (!outcome.ok()) {
    return Status(StatusCode::device,
                  fmt::format("{}: {}", device_id(driver.backend(), index), driver.failure_text(outcome)));
  }
  const Result<int> architecture = driver.architecture(device);
  if (!architecture.ok()) {
    return Status(StatusCode::device, fmt::format("{} ({}): {}", device_id(driver.backend(), index), name,
                                                  architecture.status().message()));
  }
  return DeviceInfo{.backend = driver.backend(),
                    .index = index,
                    .id = device_id(driver.backend(), index),
                    .name = name,
                    .driver = driver.version_text(version),
                    .uuid = uuid_of(driver, device),
                    .pci_address = pci_address_of(driver, device),
                    .memory_bytes = static_cast<int64_t>(bytes)};
}

}  // namespace

DeviceList list_gpu_devices(Backend backend, const LoadedDriver& driver) {
  const auto nothing = [backend](const std::string& reason) {
    return DeviceList{{}, {{backend, fmt::format("{}: {}", backend_name(backend), reason)}}};
  };
  if (!driver.ok()) return nothing(driver.status().message());
  const Result<int> count = count_devices(**driver);
  if (!count.ok()) return nothing(count.status().message());
  if (*count == 0) return nothing("the driver has no device");
  DeviceList list;
  for (int index = 0; index < *count; ++index) {
    Result<DeviceInfo> info = describe(**driver, index);
    if (info.ok()) {
      list.devices.push_back(std::move(*info));
    } else {
      list.troubles.push_back({backend, info.status().message()});
    }
  }
  return list;
}

Result<std::shared_ptr<Device>> open_gpu_device(Backend backend, const LoadedDriver& driver, int index) {
  const std::string id = device_id(backend, index);
  if (!driver.ok()) return Status(driver.status().code(), fmt::format("{}: {}", id, driver.status().message()));
  const Result<int> count = count_devices(**driver);
  if (!count.ok()) return Status(count.status().code(), fmt::format("{}: {}", id, count.status().message()));
  if (index >= *count) {
    return Status(StatusCode::unknown_device, fmt::format("there is no {}: the driver has {} device{}, numbered from 0",
                                                          id, *count, *count == 1 ? "" : "s"));
  }
  const Result<DeviceInfo> info = describe(**driver, index);
  if (!info.ok()) return info.status();
  Result<std::shared_ptr<GpuContext>> context = GpuContext::create(*driver, *info);
  if (!context.ok()) return context.status();
  return std::shared_ptr<Device>(new GpuDevice(std::move(*context)));
}

}  // namespace acuity
