// SPDX-License-Identifier: BSD-2-Clause-Patent
// References that were decoded, and what devices have of them, recognised by the content of their files.
//
// Whatever nobody uses may be dropped at any time, the least recently used first: on the host when the memory is
// needed, when the cache exceeds its share or when no row of a while had it; on a device when the cache exceeds its
// share there.
#ifndef ACUITY_SCHEDULE_REFERENCE_CACHE_H
#define ACUITY_SCHEDULE_REFERENCE_CACHE_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "acuity/schedule.h"
#include "schedule/ledger.h"
#include "schedule/row.h"

namespace acuity {

/// What tells a reference from others: of a file two halves of the hash of its bytes, their number, and which picture
/// of it; of pixels their Input.
using ReferenceKey = std::tuple<uint64_t, uint64_t, uint64_t, int64_t, const void*>;
ReferenceKey reference_key(std::span<const uint8_t> file, std::optional<int64_t> frame);
ReferenceKey reference_key(const Input& pixels);

/// What the system says of a file. If it has not changed, the content has not.
using FileStamp = std::tuple<uint64_t, uint64_t, int64_t, int64_t, int64_t>;  // device, number, bytes, mtime, ctime
/// None if it is no ordinary file, or was changed so lately that another change could have the same time.
std::optional<FileStamp> stamp_of(std::FILE* file);
std::optional<FileStamp> stamp_of(const std::string& path);

/// What the references of a cache hold together: of the host, and of each device.
struct CachedBytes {
  explicit CachedBytes(size_t devices) : device(devices) {}
  std::atomic<int64_t> host = 0;
  std::vector<std::atomic<int64_t>> device;
};

/// A decoded reference.
class CachedReference {
 public:
  CachedReference(ReferenceKey of, std::shared_ptr<CachedBytes> sums)
      : key(std::move(of)), sums_(std::move(sums)), on_devices_(sums_->device.size()) {}
  ~CachedReference();
  CachedReference(const CachedReference&) = delete;
  CachedReference& operator=(const CachedReference&) = delete;

  const ReferenceKey key;
  // Set before complete(), and not changed after it.
  Picture picture;
  PictureFacts facts;
  Input pixels;  // given as such; the picture has only its view
  Held held;

  void complete(Status status);
  /// Waits for complete(), at most so long; 0: as long as it takes. Whoever gets a failure tries by himself, unless it
  /// is StatusCode::cancelled: the time is over.
  Status wait(int64_t most_ms);

  /// The picture for one device with these colours: the same Input for the same question, so that it is sent once.
  Input input_for(size_t device, const Colour& colour);

  /// What was prepared on a device for these metrics; none yet, or another is at it, or there was no room: none.
  /// `prepare` is called by the first who asks while none is there.
  struct Prepared {
    Reference reference;
    Held held;
    int64_t device_bytes = 0;
  };
  std::optional<Reference> prepared_for(size_t device, const Colour& colour, const std::string& metrics,
                                        const std::function<std::optional<Prepared>(const Input&)>& prepare);

  /// Counts a use, and returns how many there were before.
  int64_t count_use();
  /// What a device has of it.
  struct OnDevice {
    Colour colour;
    Input input;
    bool was_used = false;  // its samples may be there
    enum class State { none, preparing, there } state = State::none;
    std::string metrics;
    Prepared prepared;
  };
  /// Drops that, unless somebody uses it.
  void drop_from(size_t device);
  /// All of that, which the device may hang at when it is dropped.
  std::list<OnDevice> take_from(size_t device);

 private:
  OnDevice& find(size_t device, const Colour& colour);
  void set_prepared(size_t device, OnDevice& one, Prepared prepared);
  int64_t sample_bytes() const;

  const std::shared_ptr<CachedBytes> sums_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Status> status_;
  std::vector<std::list<OnDevice>> on_devices_;
  int64_t uses_ = 0;
};

class ReferenceCache {
 public:
  /// Drops what the last `far` uses were not of.
  ReferenceCache(size_t devices, int64_t host_share, uint64_t far)
      : host_share_(host_share), far_(far), sums_(std::make_shared<CachedBytes>(devices)) {}

  /// The reference, if somebody has decoded it or is at it.
  std::shared_ptr<CachedReference> find(const ReferenceKey& key);
  /// The same, or a new one, which the caller completes (`is_new`).
  std::shared_ptr<CachedReference> claim(const ReferenceKey& key, bool& is_new);
  /// The key of a file that was read before and has not changed since.
  std::optional<ReferenceKey> key_of(const std::string& name, const FileStamp& stamp);
  void note_file(const std::string& name, const FileStamp& stamp, const ReferenceKey& key);
  /// A row was given up while it was at this reference, by name_of_reference(), and its thread has not come back yet.
  void note_stuck(const std::string& name);
  void note_back(const std::string& name);
  bool is_stuck(const std::string& name) const;
  /// One that could not be decoded.
  void forget(const std::shared_ptr<CachedReference>& reference);

  /// Drops at least so many bytes of what nobody uses, if there are; false: there was nothing.
  bool drop(int64_t bytes);
  /// Drops what nobody uses on a device if more than so many bytes are there.
  void trim_device(size_t device, int64_t bytes);
  /// What a device has that hangs is dropped only with this object. Nobody asks for it any more.
  void abandon(size_t device);
  void clear();

 private:
  struct Entry {
    std::shared_ptr<CachedReference> reference;
    uint64_t last_use = 0;
  };
  using Entries = std::map<ReferenceKey, Entry>;
  using Dropped = std::vector<std::shared_ptr<CachedReference>>;
  // Those for which the lock is held go after it.
  Dropped drop_idle(int64_t bytes, uint64_t before);

  const int64_t host_share_;
  const uint64_t far_;
  const std::shared_ptr<CachedBytes> sums_;
  mutable std::mutex mutex_;
  Entries entries_;
  std::multiset<std::string> stuck_;                                           // once for each thread
  std::unordered_map<std::string, std::pair<FileStamp, ReferenceKey>> files_;  // by name
  uint64_t uses_ = 0;
  std::list<CachedReference::OnDevice> abandoned_;
};

}  // namespace acuity

#endif
