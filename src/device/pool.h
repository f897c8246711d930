// SPDX-License-Identifier: BSD-2-Clause-Patent
// Device memory that is taken, given back and taken again. Drivers take long to allocate it and stop the device to free
// it; and work that a device keeps (Device::record) can be replayed only where pictures come to lie in the same places.
#ifndef ACUITY_DEVICE_POOL_H
#define ACUITY_DEVICE_POOL_H

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/guard.h"
#include "base/try.h"
#include "device/device.h"

namespace acuity {

class DevicePool;

/// Memory of a pool. Whoever holds it has it alone; nothing may be in flight on it when it is given back, which happens
/// with this object.
class PooledMemory {
 public:
  PooledMemory() = default;
  PooledMemory(PooledMemory&&) noexcept = default;
  PooledMemory& operator=(PooledMemory&& other) noexcept;
  ~PooledMemory() { give_back(); }

  explicit operator bool() const { return block_ != nullptr; }
  DeviceMemory& operator*() const { return *block_->memory; }
  DeviceMemory* operator->() const { return block_->memory.get(); }

  /// Whether its last holder took it for the same use, so that it holds what they all leave behind.
  bool is_used_again() const { return block_->uses > 1; }
  /// Tells this place from all others, even from those that have its address after it is gone.
  uint64_t number() const { return block_->number; }

  /// Things that stay with the place: for a picture, what tells that its rows have arrived; and memory of the host that
  /// is copied to or from it.
  std::vector<std::unique_ptr<Event>>& events() const { return block_->events; }
  std::unique_ptr<PinnedMemory>& staging() const { return block_->staging; }

 private:
  friend class DevicePool;
  struct Block {
    std::unique_ptr<DeviceMemory> memory;
    std::string use;
    uint64_t number = 0;
    uint64_t uses = 0;        // in a row, for the same
    uint64_t last_taken = 0;  // counted by the pool
    std::vector<std::unique_ptr<Event>> events;
    std::unique_ptr<PinnedMemory> staging;
  };
  PooledMemory(std::shared_ptr<DevicePool> pool, std::unique_ptr<Block> block)
      : pool_(std::move(pool)), block_(std::move(block)) {}
  void give_back() noexcept;

  std::shared_ptr<DevicePool> pool_;
  std::unique_ptr<Block> block_;
};

/// One a device. May be used from several threads.
class DevicePool : public std::enable_shared_from_this<DevicePool> {
 public:
  /// That of the device, which lives as long as somebody holds it or memory of it.
  static std::shared_ptr<DevicePool> of(const std::shared_ptr<Device>& device);

  explicit DevicePool(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  Device& device() const { return *device_; }

  /// At least `bytes`. `use` says what for: memory that was last used for the same is preferred, and of that the
  /// oldest, so that places recur.
  Result<PooledMemory> take(size_t bytes, const std::string& use);

  /// Page-locked memory of the host of at least so many bytes, which takes long to allocate. It is given back when
  /// nothing in flight reads it any more.
  Result<std::unique_ptr<PinnedMemory>> take_pinned(size_t bytes);
  void give_back_pinned(std::unique_ptr<PinnedMemory> memory) noexcept;

  /// Calls give(queue) with the queue that pictures are sent on, one caller at a time. After a failure the next caller
  /// gets a new queue.
  template <typename Give>
  Status on_copy_queue(const Give& give) {
    const std::lock_guard lock(copy_mutex_);
    Status status = guarded<Status>(
        [&]() -> Status {
          if (!copy_) ACUITY_TRY_ASSIGN(copy_, device_->create_copy_queue());
          ACUITY_TRY(give(*copy_));
          return copy_->flush();
        },
        "sending pictures");
    if (!status.ok()) copy_.reset();
    return status;
  }

  /// The most to allocate; 0: no limit. The last one counts. Whoever plans with it counts only what is held: what
  /// nobody holds goes before more is allocated.
  void set_cap(int64_t bytes);

  /// Held by somebody, and by nobody.
  size_t held_bytes() const;
  size_t unused_bytes() const;
  void free_unused();

 private:
  friend class PooledMemory;
  using Block = PooledMemory::Block;
  struct Pinned {
    std::unique_ptr<PinnedMemory> memory;
    uint64_t given_back = 0;  // counted by the pool
  };
  std::unique_ptr<Block> find_unused(size_t bytes, const std::string& use);
  Result<std::unique_ptr<Block>> make_block(size_t bytes);
  void hold_within_cap(size_t bytes);
  void give_back(std::unique_ptr<Block> block) noexcept;

  const std::shared_ptr<Device> device_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Block>> unused_;
  std::vector<Pinned> unused_pinned_;  // the last that was given back at the back
  size_t held_bytes_ = 0;
  uint64_t blocks_made_ = 0;
  uint64_t taken_ = 0;  // how often
  std::mutex copy_mutex_;
  std::unique_ptr<Queue> copy_;
  size_t cap_ = 0;  // 0: none
};

}  // namespace acuity

#endif
