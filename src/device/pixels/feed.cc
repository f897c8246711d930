// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/pixels/feed.h"

#include "base/try.h"

namespace acuity {

Result<Feed> Feed::create(Workspace& workspace, Queue& maker, const Senders& senders, int rows) {
  Feed feed(PixelReader(workspace.pool(), senders), maker, rows);
  ACUITY_TRY(workspace.create_events(feed.made_));
  ACUITY_TRY(workspace.create_events(feed.released_));
  return feed;
}

Status Feed::begin(const DevicePicture& picture) {
  taken_ = 0;
  height_ = picture.rows.height();
  slots_ = rows_ < height_ ? kSlots : 1;
  return reader_.begin(*maker_, picture, rows_, static_cast<int>(slots_));
}

Status Feed::send(std::span<Feed* const> feeds, std::span<Queue* const> queues, SendOrder order) {
  std::vector<PixelReader*> readers;
  for (Feed* feed : feeds) readers.push_back(&feed->reader_);
  return PixelReader::send(readers, queues, order, feeds[0]->rows_);
}

std::optional<std::vector<PixelReader::Key>> Feed::keys(std::span<Feed* const> feeds) {
  std::vector<PixelReader::Key> keys;
  for (const Feed* feed : feeds) {
    if (!feed->may_be_recorded()) return std::nullopt;
    keys.push_back(feed->key());
  }
  return keys;
}

Result<SentPixels> Feed::take(Queue& queue, int y, int y_end, bool recorded) {
  if (reader_.reads_samples()) {
    ACUITY_TRY(recorded ? reader_.record_wait_for_rows(queue, y_end) : reader_.wait_for_rows(queue, y_end));
    return reader_.pixels(0, 0);
  }
  if (taken_ >= slots_) ACUITY_TRY(maker_->wait_for(*released_[slot()]));
  ACUITY_TRY(reader_.make(*maker_, y, y_end, static_cast<int>(slot()), 0, recorded));
  if (&queue != maker_) {
    ACUITY_TRY(maker_->signal(*made_[slot()]));
    ACUITY_TRY(queue.wait_for(*made_[slot()]));
  }
  return reader_.pixels(static_cast<int>(slot()), y);
}

Status Feed::record_arrival(std::span<Feed* const> feeds, Queue& queue) {
  for (Feed* feed : feeds) ACUITY_TRY(feed->reader_.record_wait_for_rows(queue, feed->height_));
  return {};
}

Status Feed::release(Queue& queue) {
  if (reader_.reads_samples()) return {};
  ACUITY_TRY(queue.signal(*released_[slot()]));
  ++taken_;
  return {};
}

}  // namespace acuity
