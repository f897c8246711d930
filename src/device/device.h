// SPDX-License-Identifier: BSD-2-Clause-Patent
// GPUs, whoever made them. Drivers are loaded at run time; a backend that cannot be used is listed with the reason.
// Everything is checked once here in the front (device.cc); the backends in cuda/, hip/ and vulkan/ stay small.
#ifndef ACUITY_DEVICE_DEVICE_H
#define ACUITY_DEVICE_DEVICE_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acuity/status.h"
#include "lang/kernel.h"

namespace acuity {

struct DeviceInfo {
  Backend backend = Backend::cuda;
  int index = 0;
  std::string id;             // "cuda:0", as --device takes it
  std::string name;           // "NVIDIA H200"
  std::string driver;         // "CUDA driver 13.0"
  std::string uuid{};         // of the card, in hexadecimal digits; empty where the driver does not tell
  std::string pci_address{};  // "0000:3b:00.0"; likewise
  int64_t memory_bytes = 0;
  bool is_software = false;  // the processor passing for a GPU; auto leaves it alone
  double open_ms = 0;        // how long the driver took to load and open it
  double probe_ms = 0;       // and to answer the first kernel
  std::string note{};        // what an opened device was forgiven, in a sentence; usually empty
  uint32_t lacks = 0;        // bits of Need: what its kernels cannot use
  // The most of a group; the defaults are what every CUDA and HIP device has.
  int group_threads = 1024;
  int group_width = 1024;
  int group_height = 1024;
  int shared_bytes = 48 << 10;
  int subgroup_threads = 0;                  // that run in step; 0: the backend does not ask
  std::optional<bool> has_unified_memory{};  // the processor's; likewise
  bool replays_few_faster = false;           // a few launches from a recording than submitted anew
  std::string same_as{};  // in a list: the id of one before it that is the same card behind another driver

  bool is_same_card(const DeviceInfo& other) const {
    if (is_software || other.is_software) return false;  // their UUIDs are the driver's
    // Some drivers give all cards of a model one UUID.
    if (!pci_address.empty() && !other.pci_address.empty()) return pci_address == other.pci_address;
    return !uuid.empty() && uuid == other.uuid;
  }
};

/// 16 bytes as a UUID is written: "01234567-89ab-cdef-0123-456789abcdef".
std::string uuid_text(std::span<const unsigned char, 16> bytes);

/// A backend, or a device of it, that cannot be used, and why.
struct BackendTrouble {
  Backend backend = Backend::cuda;
  std::string reason;  // begins with the backend's name; with the driver's code and name where there is one
};

struct DeviceList {
  std::vector<DeviceInfo> devices;
  std::vector<BackendTrouble> troubles;
};

/// Device memory, freed with the object. Nothing may be in flight on it then.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  size_t size() const { return size_; }
  uint64_t address() const { return address_; }

 protected:
  size_t size_ = 0;
  uint64_t address_ = 0;
};

/// Host memory the device copies from and to at full speed (page-locked).
class PinnedMemory {
 public:
  virtual ~PinnedMemory() = default;
  size_t size() const { return size_; }
  std::byte* data() const { return data_; }

 protected:
  size_t size_ = 0;
  std::byte* data_ = nullptr;
};

/// A point in a queue that another queue can wait for.
class Event {
 public:
  virtual ~Event() = default;
};

/// Work for a device, done in order. Calls return at once, except wait. After a failure every call returns the failure.
class Queue {
 public:
  virtual ~Queue() = default;

  virtual Status upload(DeviceMemory& to, size_t offset, const PinnedMemory& from, size_t from_offset,
                        size_t bytes) = 0;
  virtual Status download(PinnedMemory& to, size_t to_offset, const DeviceMemory& from, size_t offset,
                          size_t bytes) = 0;
  virtual Status clear(DeviceMemory& memory, size_t offset, size_t bytes) = 0;  // to zero; multiples of 4
  virtual Status launch(const KernelInfo& kernel, int groups_x, int groups_y, const ArgumentBlock& arguments) = 0;
  virtual Status signal(Event& event) = 0;          // when all before it is done
  virtual Status wait_for(const Event& event) = 0;  // what comes after waits; the event has been signalled before
  /// The same for an event of a queue that has no part in what is being recorded: each replay waits for whatever
  /// was signalled last. Only inside Device::record.
  virtual Status wait_for_outside(const Event& event) = 0;
  virtual Status wait() = 0;  // until everything is done
  /// A queue for copies may keep back what it was given, to hand it to the driver in one go: nobody else may wait for
  /// events that were signalled on it before this call.
  virtual Status flush() { return {}; }

  /// kernel(groups_x, groups_y, arguments...), checked by the compiler.
  template <typename... Parameters, typename... Arguments>
  Status run(const Kernel<Parameters...>& kernel, int groups_x, int groups_y, const Arguments&... arguments) {
    static_assert(sizeof...(Parameters) == sizeof...(Arguments), "a kernel takes all its arguments");
    ArgumentBlock block;
    (block.add(static_cast<Parameters>(arguments)), ...);
    return launch(kernel, groups_x, groups_y, block);
  }
};

/// Work that was recorded on a device, to be replayed all at once. It may be destroyed while a replay is in flight, but
/// not replayed once its queue is gone.
class Recording {
 public:
  virtual ~Recording() = default;
  /// Submits all of it to the queue that it was recorded from, and to none of the others that had a part in it.
  virtual Status replay() = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  const DeviceInfo& info() const { return info_; }

  virtual Result<int64_t> free_bytes() const = 0;  // asked of the driver now
  virtual Result<std::unique_ptr<DeviceMemory>> allocate(size_t bytes) = 0;
  virtual Result<std::unique_ptr<PinnedMemory>> allocate_pinned(size_t bytes) = 0;
  /// Page-locks whole pages of somebody's, which must not go before the object does. Null where the device cannot.
  virtual Result<std::unique_ptr<PinnedMemory>> lock_pages(std::span<std::byte> /*pages*/) {
    return std::unique_ptr<PinnedMemory>();
  }
  virtual Result<std::unique_ptr<Queue>> create_queue() = 0;
  /// One whose uploads and downloads go on beside the work of other queues, where the device has separate ones for
  /// that. It takes all other work too.
  virtual Result<std::unique_ptr<Queue>> create_copy_queue() { return create_queue(); }
  virtual Result<std::unique_ptr<Event>> create_event() = 0;
  /// Loads a kernel ahead of its first launch.
  virtual Status prepare(const KernelInfo& kernel) = 0;
  /// Records what `work` submits to `queue`, and to other queues after they wait for events of it, without doing any.
  /// In the end `queue` must have waited for all the others. Inside, nothing may be allocated or waited for on the
  /// host, and events signalled outside are waited for with wait_for_outside; outside, those signalled inside may not
  /// be waited for before they are signalled again. What the work uses must live until its last replay is done.
  /// Null where the device does not keep work or has no memory for it: submit it anew each time then. `work` may have
  /// been called even so, but nothing of it was done.
  virtual Result<std::unique_ptr<Recording>> record(Queue& queue, const std::function<Status()>& work) = 0;

 protected:
  DeviceInfo info_;
};

/// Sets same_as. Two devices of Vulkan may be one card behind two drivers; those of CUDA and HIP are parts of a card.
void mark_same_cards(std::vector<DeviceInfo>& devices);

/// Every device that can be used, and the backends that cannot.
DeviceList list_devices();

/// "cuda", "cuda:1", "hip", "vulkan:0", ... The device has answered a small known-answer kernel correctly.
Result<std::shared_ptr<Device>> open_device(std::string_view id);

const char* backend_name(Backend backend);
/// That of "cuda" or "vulkan:1"; nothing for "cpu" and what names no device.
std::optional<Backend> backend_of(std::string_view id);
/// Whether recorded work is done in steps, each as long as its longest launch, whatever queues they came from. Metrics
/// may cut their work otherwise then. So it is on Vulkan; how AMD's driver replays graphs has not been measured.
constexpr bool replays_in_steps(Backend backend) { return backend != Backend::cuda; }

/// What the kernel needs and the device lacks, in words: "64-bit integers", "groups of 384 threads (at most 256)";
/// empty if there is nothing.
std::string missing_needs(const DeviceInfo& device, const KernelInfo& kernel);

/// Whether the device has all that the kernel needs; otherwise a refusal that names the device, the kernel and what is
/// missing. Loading or launching such a kernel gives the same.
Status check_needs(const DeviceInfo& device, const KernelInfo& kernel);

/// Whether this build has kernels for a backend.
bool has_code(Backend backend);

}  // namespace acuity

#endif
