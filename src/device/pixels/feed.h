// SPDX-License-Identifier: BSD-2-Clause-Patent
// A picture for a metric that works on it band by band from the top: where pixels must be made first, one band is made
// while the one before is worked on.
#ifndef ACUITY_DEVICE_PIXELS_FEED_H
#define ACUITY_DEVICE_PIXELS_FEED_H

#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "device/pixels/reader.h"
#include "device/workspace.h"

namespace acuity {

class Feed {
 public:
  /// For at most `rows` rows at a time. Pixels are made on `maker`.
  static Result<Feed> create(Workspace& workspace, Queue& maker, const Senders& senders, int rows);

  Status begin(const DevicePicture& picture);
  /// After begin: sends both pictures, or the one. Small ones go by way of `queues`, one for each.
  static Status send(std::span<Feed* const> feeds, std::span<Queue* const> queues, SendOrder order);

  /// Rows y .. y_end - 1 for what comes after in the queue. `recorded`: this is part of work that is being recorded.
  Result<SentPixels> take(Queue& queue, int y, int y_end, bool recorded = false);
  /// While work is recorded, ahead of taking rows: what comes after in the queue waits for all samples of all of them.
  /// For pictures of one band, which are there at about the same time: with one wait for both, the work on them is one
  /// piece, and may go side by side.
  static Status record_arrival(std::span<Feed* const> feeds, Queue& queue);
  /// What the queue was given since take() is the last that looks at those rows.
  Status release(Queue& queue);

  /// Somebody waited for all work on the picture.
  void note_wait() { reader_.note_wait(); }

  /// The picture is taken from its first row again.
  void rewind() { taken_ = 0; }

  /// Whether work on the picture may be recorded, and what that depends on.
  bool may_be_recorded() const { return reader_.may_be_recorded(); }
  PixelReader::Key key() const { return reader_.key(); }
  /// What work on several depends on; nothing where it may not be recorded.
  static std::optional<std::vector<PixelReader::Key>> keys(std::span<Feed* const> feeds);
  /// Whether pixels are made on the queue that was given for it.
  bool makes_pixels() const { return !reader_.reads_samples(); }

  size_t bytes() const { return reader_.bytes(); }

 private:
  static constexpr size_t kSlots = 2;

  Feed(PixelReader reader, Queue& maker, int rows) : reader_(std::move(reader)), maker_(&maker), rows_(rows) {}
  size_t slot() const { return taken_ % slots_; }

  PixelReader reader_;
  Queue* maker_;
  int rows_;
  int height_ = 0;         // of the picture
  size_t slots_ = kSlots;  // that there is room for
  std::array<Event*, kSlots> made_{}, released_{};
  size_t taken_ = 0;
};

}  // namespace acuity

#endif
