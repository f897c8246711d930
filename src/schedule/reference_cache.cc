// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "schedule/reference_cache.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include <sys/stat.h>
#include <time.h>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/guard.h"
#include "engine/input.h"
#include "engine/scoring.h"
#include "media/meaning.h"

namespace acuity {
namespace {

constexpr int64_t kSettledNs = 2'000'000'000;  // the times of some file systems are whole seconds, or two
constexpr size_t kMostFiles = 1 << 16;

std::optional<FileStamp> stamp_of(const struct stat& facts) {
  if (!S_ISREG(facts.st_mode)) return std::nullopt;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const auto ns = [](const timespec& time) { return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; };
  const int64_t changed = ns(facts.st_mtim), noted = ns(facts.st_ctim);
  if (ns(now) - std::max(changed, noted) < kSettledNs) return std::nullopt;
  return FileStamp{facts.st_dev, facts.st_ino, facts.st_size, changed, noted};
}

}  // namespace

ReferenceKey reference_key(std::span<const uint8_t> file, std::optional<int64_t> frame) {
  const XXH128_hash_t hash = XXH3_128bits(file.data(), file.size());
  return {hash.low64, hash.high64, file.size(), frame.value_or(-1), nullptr};
}

std::optional<FileStamp> stamp_of(std::FILE* file) {
  struct stat facts{};
  return fstat(fileno(file), &facts) == 0 ? stamp_of(facts) : std::nullopt;
}

std::optional<FileStamp> stamp_of(const std::string& path) {
  struct stat facts{};
  return stat(path.c_str(), &facts) == 0 ? stamp_of(facts) : std::nullopt;
}

ReferenceKey reference_key(const Input& pixels) { return {0, 0, 0, -1, pixels.state().get()}; }

CachedReference::~CachedReference() {
  sums_->host -= held.bytes();
  for (size_t device = 0; device < on_devices_.size(); ++device) {
    for (OnDevice& one : on_devices_[device]) {
      set_prepared(device, one, {});
      if (one.was_used) sums_->device[device] -= sample_bytes();
    }
  }
}

int64_t CachedReference::sample_bytes() const { return std::abs(picture.view.row_stride) * picture.view.height; }

void CachedReference::set_prepared(size_t device, OnDevice& one, Prepared prepared) {
  sums_->host += prepared.held.bytes() - one.prepared.held.bytes();
  sums_->device[device] += prepared.device_bytes - one.prepared.device_bytes;
  one.prepared = std::move(prepared);
}

void CachedReference::complete(Status status) {
  {
    const std::lock_guard lock(mutex_);
    status_ = std::move(status);
    sums_->host += held.bytes();
  }
  changed_.notify_all();
}

Status CachedReference::wait(int64_t most_ms) {
  std::unique_lock lock(mutex_);
  const auto is_complete = [this] { return status_.has_value(); };
  if (most_ms == 0) changed_.wait(lock, is_complete);
  if (!changed_.wait_for(lock, std::chrono::milliseconds(most_ms), is_complete)) {
    return Status(StatusCode::cancelled,
                  fmt::format("its reference was not decoded within the time limit of {} ms; raise the limit, or leave "
                              "out the reference",
                              most_ms));
  }
  return *status_;
}

CachedReference::OnDevice& CachedReference::find(size_t device, const Colour& colour) {
  std::list<OnDevice>& all = on_devices_[device];
  for (OnDevice& one : all) {
    // Primaries count for grey as well: beside grey it has none, beside RGB those it states.
    if (same_colour(one.colour, colour, false)) return one;
  }
  OnDevice added;
  added.colour = colour;
  if (pixels.has_picture()) {
    added.input = pixels;
  } else {
    ImageView view = picture.view;
    view.colour = colour;
    added.input = input_of(view, picture.pixels);
  }
  return all.emplace_back(std::move(added));
}

Input CachedReference::input_for(size_t device, const Colour& colour) {
  const std::lock_guard lock(mutex_);
  OnDevice& one = find(device, colour);
  if (!std::exchange(one.was_used, true)) sums_->device[device] += sample_bytes();
  return one.input;
}

std::optional<Reference> CachedReference::prepared_for(
    size_t device, const Colour& colour, const std::string& metrics,
    const std::function<std::optional<Prepared>(const Input&)>& prepare) {
  std::unique_lock lock(mutex_);
  OnDevice& one = find(device, colour);  // stays where it is while it is being prepared
  if (one.state == OnDevice::State::preparing) return std::nullopt;
  if (one.state == OnDevice::State::there && one.metrics == metrics) return one.prepared.reference;
  one.metrics = metrics;
  one.state = OnDevice::State::preparing;
  set_prepared(device, one, {});
  if (!std::exchange(one.was_used, true)) sums_->device[device] += sample_bytes();
  const Input input = one.input;
  lock.unlock();
  std::optional<Prepared> prepared;
  const Status thrown = guarded<Status>([&] {
    prepared = prepare(input);
    return Status();
  });
  lock.lock();
  one.state = prepared ? OnDevice::State::there : OnDevice::State::none;
  if (!thrown.ok() || !prepared) return std::nullopt;  // scoring does without, or tells why
  set_prepared(device, one, std::move(*prepared));
  return one.prepared.reference;
}

int64_t CachedReference::count_use() {
  const std::lock_guard lock(mutex_);
  return uses_++;
}

void CachedReference::drop_from(size_t device) {
  const std::lock_guard lock(mutex_);
  on_devices_[device].remove_if([&](OnDevice& one) {
    if (one.state == OnDevice::State::preparing || one.prepared.reference.state().use_count() > 1) return false;
    set_prepared(device, one, {});  // first: of many metrics it holds the input
    one.state = OnDevice::State::none;
    if (one.input.state().use_count() > 1) return false;
    if (one.was_used) sums_->device[device] -= sample_bytes();
    return true;
  });
}

std::list<CachedReference::OnDevice> CachedReference::take_from(size_t device) {
  const std::lock_guard lock(mutex_);
  return std::exchange(on_devices_[device], {});  // whoever is preparing one finds it where it was
}

std::shared_ptr<CachedReference> ReferenceCache::find(const ReferenceKey& key) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  found->second.last_use = ++uses_;
  return found->second.reference;
}

std::shared_ptr<CachedReference> ReferenceCache::claim(const ReferenceKey& key, bool& is_new) {
  Dropped dropped;
  const std::lock_guard lock(mutex_);
  // Much at a time, so that it is seldom.
  if (sums_->host > host_share_) {
    dropped = drop_idle(sums_->host - host_share_ * 3 / 4, uses_);
  } else if (uses_ % std::max<uint64_t>(far_ / 4, 1) == 0 && uses_ > far_) {
    dropped = drop_idle(std::numeric_limits<int64_t>::max(), uses_ - far_);
  }
  // Last: if there is no memory for one, nothing was claimed.
  auto found = entries_.find(key);
  is_new = found == entries_.end();
  if (is_new) found = entries_.emplace(key, Entry{std::make_shared<CachedReference>(key, sums_)}).first;
  found->second.last_use = ++uses_;
  return found->second.reference;
}

std::optional<ReferenceKey> ReferenceCache::key_of(const std::string& name, const FileStamp& stamp) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(name);
  if (found == files_.end() || found->second.first != stamp) return std::nullopt;
  return found->second.second;
}

void ReferenceCache::note_file(const std::string& name, const FileStamp& stamp, const ReferenceKey& key) {
  const std::lock_guard lock(mutex_);
  if (files_.size() >= kMostFiles) files_.clear();
  files_[name] = {stamp, key};
}

void ReferenceCache::note_stuck(const std::string& name) {
  const std::lock_guard lock(mutex_);
  stuck_.insert(name);
}

void ReferenceCache::note_back(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (const auto found = stuck_.find(name); found != stuck_.end()) stuck_.erase(found);
}

bool ReferenceCache::is_stuck(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  return stuck_.contains(name);
}

void ReferenceCache::forget(const std::shared_ptr<CachedReference>& reference) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(reference->key);
  if (found != entries_.end() && found->second.reference == reference) entries_.erase(found);
}

// Of those last used before, the oldest first.
ReferenceCache::Dropped ReferenceCache::drop_idle(int64_t bytes, uint64_t before) {
  std::vector<Entries::iterator> idle;
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (entry->second.reference.use_count() == 1 && entry->second.last_use <= before) idle.push_back(entry);
  }
  std::sort(idle.begin(), idle.end(), [](auto a, auto b) { return a->second.last_use < b->second.last_use; });
  Dropped dropped;
  for (const auto& entry : idle) {
    if (bytes <= 0) break;
    bytes -= std::max<int64_t>(entry->second.reference->held.bytes(), 1);
    dropped.push_back(std::move(entry->second.reference));
    entries_.erase(entry);
  }
  return dropped;
}

bool ReferenceCache::drop(int64_t bytes) {
  Dropped dropped;
  {
    const std::lock_guard lock(mutex_);
    dropped = drop_idle(std::max(bytes, sums_->host / 8), uses_);
  }
  return !dropped.empty();
}

void ReferenceCache::trim_device(size_t device, int64_t bytes) {
  if (sums_->device[device] <= bytes) return;
  std::vector<std::pair<uint64_t, std::shared_ptr<CachedReference>>> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, entry] : entries_) all.emplace_back(entry.last_use, entry.reference);
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [use, reference] : all) {
    if (sums_->device[device] <= bytes * 3 / 4) return;
    reference->drop_from(device);
  }
}

void ReferenceCache::abandon(size_t device) {
  const std::lock_guard lock(mutex_);
  for (const auto& [key, entry] : entries_) abandoned_.splice(abandoned_.end(), entry.reference->take_from(device));
}

void ReferenceCache::clear() {
  Entries dropped;
  const std::lock_guard lock(mutex_);
  dropped.swap(entries_);
}

}  // namespace acuity
