// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/pool.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <new>

namespace acuity {
namespace {

// Memory that nobody has taken for so long is freed.
constexpr uint64_t kForgottenAfter = 256;

bool fits(size_t size, size_t bytes) { return size >= bytes && size - bytes <= bytes / 4; }

}  // namespace

PooledMemory& PooledMemory::operator=(PooledMemory&& other) noexcept {
  if (this == &other) return *this;
  give_back();
  pool_ = std::move(other.pool_);
  block_ = std::move(other.block_);
  return *this;
}

void PooledMemory::give_back() noexcept {
  if (block_) pool_->give_back(std::move(block_));
}

std::shared_ptr<DevicePool> DevicePool::of(const std::shared_ptr<Device>& device) {
  static std::mutex mutex;
  static auto& pools = *new std::map<const Device*, std::weak_ptr<DevicePool>>;
  const std::lock_guard lock(mutex);
  std::erase_if(pools, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<DevicePool>& known = pools[device.get()];
  std::shared_ptr<DevicePool> pool = known.lock();
  if (!pool) known = pool = std::make_shared<DevicePool>(device);
  return pool;
}

Result<PooledMemory> DevicePool::take(size_t bytes, const std::string& use) {
  std::unique_ptr<Block> block = find_unused(bytes, use);
  if (!block) {
    hold_within_cap(bytes);
    Result<std::unique_ptr<Block>> made = guarded<Result<std::unique_ptr<Block>>>([&] { return make_block(bytes); });
    const std::lock_guard lock(mutex_);
    held_bytes_ -= bytes;
    if (!made.ok()) return made.status();
    block = std::move(*made);
    held_bytes_ += block->memory->size();
    block->number = ++blocks_made_;
    block->last_taken = taken_;
  }
  PooledMemory taken(shared_from_this(), std::move(block));
  taken.block_->uses = taken.block_->use == use ? taken.block_->uses + 1 : 1;
  taken.block_->use = use;
  return taken;
}

Result<std::unique_ptr<PooledMemory::Block>> DevicePool::make_block(size_t bytes) {
  auto block = std::make_unique<Block>();
  Result<std::unique_ptr<DeviceMemory>> memory = device_->allocate(bytes);
  if (!memory.ok() && memory.status().code() == StatusCode::device_memory && unused_bytes() > 0) {
    free_unused();
    memory = device_->allocate(bytes);
  }
  if (!memory.ok()) return memory.status();
  block->memory = std::move(*memory);
  return block;
}

// Counts what will be allocated, and frees what stands against it: first what was given back first.
void DevicePool::hold_within_cap(size_t bytes) {
  std::vector<std::unique_ptr<Block>> freed;  // without the lock
  const std::lock_guard lock(mutex_);
  if (cap_ > 0) {
    size_t all = held_bytes_ + bytes;
    for (const std::unique_ptr<Block>& block : unused_) all += block->memory->size();
    auto kept = unused_.begin();
    for (; kept != unused_.end() && all > cap_; ++kept) all -= (*kept)->memory->size();
    freed.reserve(static_cast<size_t>(kept - unused_.begin()));
    std::move(unused_.begin(), kept, std::back_inserter(freed));
    unused_.erase(unused_.begin(), kept);
  }
  held_bytes_ += bytes;
}

std::unique_ptr<PooledMemory::Block> DevicePool::find_unused(size_t bytes, const std::string& use) {
  std::vector<std::unique_ptr<Block>> forgotten;  // freed without the lock
  const std::lock_guard lock(mutex_);
  ++taken_;
  const auto worse = [&](const std::unique_ptr<Block>& a, const std::unique_ptr<Block>& b) {
    return std::pair(a->use != use, a->number) > std::pair(b->use != use, b->number);
  };
  auto best = unused_.end();
  for (auto candidate = unused_.begin(); candidate != unused_.end(); ++candidate) {
    if (!fits((*candidate)->memory->size(), bytes)) continue;
    if (best == unused_.end() || worse(*best, *candidate)) best = candidate;
  }
  std::unique_ptr<Block> found;
  if (best != unused_.end()) {
    found = std::move(*best);
    found->last_taken = taken_;
    unused_.erase(best);
  }
  const auto old = std::partition(unused_.begin(), unused_.end(), [this](const std::unique_ptr<Block>& block) {
    return block->last_taken + kForgottenAfter > taken_;
  });
  std::move(old, unused_.end(), std::back_inserter(forgotten));
  unused_.erase(old, unused_.end());
  if (found) held_bytes_ += found->memory->size();
  return found;
}

void DevicePool::give_back(std::unique_ptr<Block> block) noexcept {
  const std::lock_guard lock(mutex_);
  block->last_taken = taken_;
  held_bytes_ -= block->memory->size();
  try {
    unused_.push_back(std::move(block));
  } catch (const std::bad_alloc&) {
    // It is freed instead.
  }
}

Result<std::unique_ptr<PinnedMemory>> DevicePool::take_pinned(size_t bytes) {
  std::vector<Pinned> forgotten;  // freed without the lock
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(unused_pinned_.rbegin(), unused_pinned_.rend(),
                                    [&](const Pinned& one) { return fits(one.memory->size(), bytes); });
    if (found != unused_pinned_.rend()) {
      std::unique_ptr<PinnedMemory> memory = std::move(found->memory);
      unused_pinned_.erase(std::next(found).base());
      return memory;
    }
    const auto kept = std::find_if(unused_pinned_.begin(), unused_pinned_.end(),
                                   [this](const Pinned& one) { return one.given_back + kForgottenAfter > taken_; });
    std::move(unused_pinned_.begin(), kept, std::back_inserter(forgotten));
    unused_pinned_.erase(unused_pinned_.begin(), kept);
  }
  return device_->allocate_pinned(bytes);
}

void DevicePool::give_back_pinned(std::unique_ptr<PinnedMemory> memory) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    unused_pinned_.push_back({std::move(memory), taken_});
  } catch (const std::bad_alloc&) {
    // It is freed instead.
  }
}

void DevicePool::set_cap(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  cap_ = static_cast<size_t>(std::max<int64_t>(bytes, 0));
}

size_t DevicePool::held_bytes() const {
  const std::lock_guard lock(mutex_);
  return held_bytes_;
}

size_t DevicePool::unused_bytes() const {
  const std::lock_guard lock(mutex_);
  size_t bytes = 0;
  for (const std::unique_ptr<Block>& block : unused_) bytes += block->memory->size();
  return bytes;
}

void DevicePool::free_unused() {
  std::vector<std::unique_ptr<Block>> unused;
  std::vector<Pinned> pinned;
  const std::lock_guard lock(mutex_);
  unused.swap(unused_);
  pinned.swap(unused_pinned_);
}

}  // namespace acuity
