// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures in flight to a device. Those in ordinary memory are copied to page-locked memory first: by all threads,
// in the order in which their bands are sent, and whoever completes a band sends it.
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/guard.h"
#include "base/profiler_range.h"
#include "base/stopwatch.h"
#include "base/try.h"
#include "device/pixels/resident.h"
#include "device/pixels/sending_time.h"

namespace acuity {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 18;  // copied by one thread at a time

// Threads that copy. More are no faster, and take cores from those who submit work.
int copiers_of(const Threads& threads) { return std::clamp(threads.count() * 3 / 4, 8, 12); }

std::atomic<double> all_sending_ms = 0;

struct SendingTime {
  ~SendingTime() { all_sending_ms += watch.milliseconds(); }
  const Stopwatch watch{};
};

}  // namespace

double sending_ms() { return all_sending_ms; }

class Sending {
 public:
  ~Sending() {
    for (Resident* picture : pictures_) picture->end_sending();
  }

  /// Takes those that nobody else sends.
  void claim(std::span<Parcel> parcels) {
    pictures_.reserve(parcels.size());
    for (Parcel& parcel : parcels) {
      if (parcel.picture == nullptr || !parcel.picture->claim()) continue;
      pictures_.push_back(parcel.picture);
      queues_.push_back(parcel.queue);
      parcel.is_on_queue = true;
    }
  }
  bool is_empty() const { return pictures_.empty(); }
  bool is_small() const {
    return std::all_of(pictures_.begin(), pictures_.end(), [](const Resident* picture) { return picture->is_small(); });
  }

  Status make_ready(SendOrder order, int rows) {
    for (Resident* picture : pictures_) ACUITY_TRY(picture->make_ready(rows));
    put_in_order(order);
    for (size_t u = 0; u < units_.size(); ++u) cut(u);
    left_ = std::vector<std::atomic<int>>(units_.size());
    for (const Piece& piece : pieces_) ++left_[piece.unit];
    return {};
  }

  bool goes_straight() const { return pieces_.empty(); }

  void fail(const Status& status) {
    for (Resident* picture : pictures_) picture->fail(status);
    failed_ = true;
  }

  /// On queues of the caller's.
  Status send_on_queues(const Threads& threads) {
    const ProfilerRange range("upload");
    const SendingTime time;
    copy_pieces(threads, [] { return Status(); });
    // Signals come last: some backends submit what they were given so far with each.
    for (const Unit& unit : units_) ACUITY_TRY(unit.picture->send_band(*queues_[unit.number], unit.y));
    for (const Unit& unit : units_) {
      ACUITY_TRY(unit.picture->signal_band(*queues_[unit.number], unit.y));
      unit.picture->note_sent(unit.y_end);
    }
    return {};
  }

  /// On the pool's.
  void send(const Threads& threads) {
    const ProfilerRange range("upload");
    const SendingTime time;
    const Status status = guarded<Status>([&]() -> Status {
      ACUITY_TRY(send_complete_units());
      copy_pieces(threads, [this] { return send_complete_units(); });
      return {};
    });
    if (!status.ok()) fail(status);
  }

 private:
  // A band of a picture.
  struct Unit {
    Resident* picture;
    size_t number;  // of the picture
    int y, y_end;
  };
  // What a thread copies of it.
  struct Piece {
    size_t unit;
    int y, y_end;
  };

  void put_in_order(SendOrder order) {
    for (size_t p = 0; p < pictures_.size(); ++p) {
      const int height = pictures_[p]->height_, rows = pictures_[p]->band_rows_;
      for (int y = 0; y < height; y += rows) units_.push_back({pictures_[p], p, y, std::min(y + rows, height)});
    }
    if (order == SendOrder::one_by_one) return;
    std::sort(units_.begin(), units_.end(),
              [](const Unit& a, const Unit& b) { return std::pair(a.y, a.number) < std::pair(b.y, b.number); });
  }

  void cut(size_t u) {
    const Unit& unit = units_[u];
    if (unit.picture->goes_straight()) return;
    const int rows = static_cast<int>(std::max(kPieceBytes / unit.picture->row_bytes(), size_t{1}));
    for (int y = unit.y; y < unit.y_end; y += rows) pieces_.push_back({u, y, std::min(y + rows, unit.y_end)});
  }

  template <typename UnitDone>
  void copy_pieces(const Threads& threads, const UnitDone& unit_done) {
    if (pieces_.empty()) return;
    const int copiers = copiers_of(threads);
    std::atomic<size_t> next = 0;
    const auto copy = [&](int worker) {
      if (worker >= copiers) return;
      for (size_t i = next++; i < pieces_.size() && !failed_; i = next++) {
        const Piece& piece = pieces_[i];
        units_[piece.unit].picture->stage(piece.y, piece.y_end);
        if (--left_[piece.unit] > 0) continue;
        if (const Status status = unit_done(); !status.ok()) fail(status);
      }
    };
    if (pieces_.size() == 1) {
      copy(0);
    } else {
      threads.run(copy);
    }
  }

  // Those before the first that is not complete.
  Status send_complete_units() {
    const std::lock_guard lock(mutex_);
    if (failed_ || next_unit_ == units_.size() || left_[next_unit_] > 0) return {};
    const size_t first = next_unit_;
    const Status status = pictures_[0]->pool_->on_copy_queue([this](Queue& queue) -> Status {
      for (; next_unit_ < units_.size() && left_[next_unit_] == 0; ++next_unit_) {
        const Unit& unit = units_[next_unit_];
        ACUITY_TRY(unit.picture->send_band(queue, unit.y));
        ACUITY_TRY(unit.picture->signal_band(queue, unit.y));
      }
      return {};
    });
    if (!status.ok()) {
      fail(status);  // before another thread finds the same band unsent and tries again
      return status;
    }
    for (size_t u = first; u < next_unit_; ++u) units_[u].picture->note_sent(units_[u].y_end);
    return status;
  }

  std::vector<Resident*> pictures_;  // whose destructors wait for end_sending()
  std::vector<Queue*> queues_;       // the callers', for small ones
  std::vector<Unit> units_;          // in the order in which they are sent
  std::vector<Piece> pieces_;
  std::vector<std::atomic<int>> left_;  // pieces of each unit that are not copied yet
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  size_t next_unit_ = 0;
};

Status send_pictures(std::span<Parcel> parcels, SendOrder order, int rows, const Senders& senders) {
  const auto sending = std::make_shared<Sending>();
  sending->claim(parcels);
  if (sending->is_empty()) return {};
  const bool small = sending->is_small();
  for (Parcel& parcel : parcels) parcel.is_on_queue = parcel.is_on_queue && small;
  const Status status = guarded<Status>([&]() -> Status {
    ACUITY_TRY(sending->make_ready(order, rows));
    if (small) return sending->send_on_queues(*senders.threads);
    if (sending->goes_straight()) {
      sending->send(*senders.threads);
    } else {
      senders.tasks->run([sending, threads = senders.threads] { sending->send(*threads); });
    }
    return {};
  });
  if (!status.ok()) sending->fail(status);
  return status;
}

}  // namespace acuity
