// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/pixels/resident.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/memory.h"
#include "base/try.h"

namespace acuity {
namespace {

constexpr int kMostBands = 16;                     // events are not free
constexpr int kBandRows = 256;                     // at least
constexpr size_t kOneBandBytes = size_t{1} << 20;  // pictures up to this size are one band

ptrdiff_t sample_bytes_of(SampleType type) { return type == SampleType::u8 ? 1 : type == SampleType::u16 ? 2 : 4; }

int to_int(int64_t value) { return static_cast<int>(value); }

}  // namespace

Resident::Strands Resident::strands_of(const ImageView& view) {
  const int channels = view.channel_count();
  const ptrdiff_t sample = sample_bytes_of(view.type);
  Strands strands;
  strands.sample_bytes = static_cast<size_t>(sample);
  bool interleaved = view.pixel_stride == sample * channels;
  for (int c = 1; c < channels; ++c) {
    interleaved = interleaved && view.planes[static_cast<size_t>(c)] == view.planes[0] + c * sample;
  }
  strands.count = interleaved ? 1 : channels;
  strands.samples_a_pixel = interleaved ? channels : 1;
  strands.copyable = view.pixel_stride == sample * strands.samples_a_pixel;
  strands.row_bytes = static_cast<size_t>(view.width * strands.samples_a_pixel) * strands.sample_bytes;
  return strands;
}

Result<std::shared_ptr<Resident>> Resident::create(const std::shared_ptr<DevicePool>& pool, const ImageView& view) {
  std::shared_ptr<Resident> resident(new Resident(view));
  Strands& strands = resident->strands_ = strands_of(view);
  const int pixels = view.width * view.height;
  resident->layout_ = {.first = 0,
                       .row_step = view.width * strands.samples_a_pixel,
                       .pixel_step = strands.samples_a_pixel,
                       .channel_step = strands.count == 1 ? 1 : pixels};
  resident->pool_ = pool;
  // Kernels read whole words.
  const size_t bytes = round_up(static_cast<size_t>(strands.count) * resident->strand_bytes(), 256);
  ACUITY_TRY_ASSIGN(resident->memory_, pool->take(bytes, "samples"));
  resident->address_ = resident->memory_->address();
  const int rows = static_cast<int>(round_up(static_cast<size_t>((view.height + kMostBands - 1) / kMostBands), 64));
  resident->band_rows_ = bytes <= kOneBandBytes ? view.height : std::max(rows, kBandRows);
  return resident;
}

Result<std::shared_ptr<Resident>> Resident::of_device_memory(const ImageView& view, std::shared_ptr<const void> owner) {
  constexpr uint64_t kWord = 16;  // what is read at once begins at a multiple of this
  std::shared_ptr<Resident> resident(new Resident(view));
  const ptrdiff_t sample = sample_bytes_of(view.type);
  const std::byte* first = view.planes[0];
  ptrdiff_t channel_stride = view.channel_count() > 1 ? view.planes[1] - first : sample;
  bool even = channel_stride % sample == 0;
  for (int c = 2; c < view.channel_count(); ++c) {
    even = even && view.planes[static_cast<size_t>(c)] - first == c * channel_stride;
  }
  // All offsets from the first sample, as the kernels count them.
  int64_t lowest = 0, highest = 0;
  for (const int64_t span : {int64_t{view.height - 1} * view.row_stride, int64_t{view.width - 1} * view.pixel_stride,
                             int64_t{view.channel_count() - 1} * channel_stride}) {
    (span < 0 ? lowest : highest) += span;
  }
  const uint64_t address = reinterpret_cast<uintptr_t>(first);
  const uint64_t below = static_cast<uint64_t>(-lowest) + (address - static_cast<uint64_t>(-lowest)) % kWord;
  const int64_t most = std::numeric_limits<int>::max();
  if (!even || (static_cast<int64_t>(below) + highest) / sample > most) {
    return Status(StatusCode::usage,
                  "the channels of a picture in device memory must lie at equal distances, and its samples within 2^31 "
                  "of each other");
  }
  resident->address_ = address - below;
  resident->layout_ = {.first = to_int(static_cast<int64_t>(below) / sample),
                       .row_step = to_int(view.row_stride / sample),
                       .pixel_step = to_int(view.pixel_stride / sample),
                       .channel_step = to_int(channel_stride / sample)};
  resident->band_rows_ = view.height;
  resident->owner_ = std::move(owner);
  resident->claimed_ = true;
  resident->arrived_ = true;
  resident->sent_rows_ = view.height;
  return resident;
}

Resident::~Resident() { settle(); }

bool Resident::is_sent() const {
  const std::lock_guard lock(mutex_);
  return sent_rows_ == view_.height && failure_.ok();
}

bool Resident::has_failed() const {
  const std::lock_guard lock(mutex_);
  return !failure_.ok();
}

Status Resident::wait_for_rows(Queue& queue, int y_end) {
  if (arrived_) return {};
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !failure_.ok() || sent_rows_ >= y_end; });
    if (!failure_.ok()) return failure_;
  }
  return queue.wait_for(event_of_row(y_end - 1));
}

Status Resident::record_wait_for_rows(Queue& queue, int y_end) {
  return memory_ ? queue.wait_for_outside(event_of_row(y_end - 1)) : Status();
}

void Resident::settle() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !sending_; });
    if (arrived_ || !claimed_) return;
  }
  // A failure was told to whoever waited for rows.
  (void)pool_->on_copy_queue([](Queue& queue) { return queue.wait(); });
}

// Room and events for sending it.
Status Resident::make_ready() {
  std::vector<std::unique_ptr<Event>>& events = memory_.events();
  while (events.size() < static_cast<size_t>(bands())) {
    ACUITY_TRY_ASSIGN(events.emplace_back(), pool_->device().create_event());
  }
  if (strands_.copyable && view_.row_stride == static_cast<ptrdiff_t>(strands_.row_bytes)) {
    for (size_t s = 0; s < static_cast<size_t>(strands_.count); ++s) {
      PinnedPlace place = find_pinned(pool_->device(), view_.planes[s], strand_bytes());
      if (!place.memory) {
        straight_.clear();
        break;
      }
      straight_.push_back(std::move(place));
    }
  }
  std::unique_ptr<PinnedMemory>& staging = memory_.staging();
  if (!goes_straight() && (!staging || staging->size() < memory_->size())) {
    staging.reset();
    ACUITY_TRY_ASSIGN(staging, pool_->device().allocate_pinned(memory_->size()));
  }
  return {};
}

// Rows to page-locked memory of ours.
void Resident::stage(int y, int y_end) const {
  for (size_t s = 0; s < static_cast<size_t>(strands_.count); ++s) {
    for (int row = y; row < y_end; ++row) {
      const std::byte* from = view_.planes[s] + row * view_.row_stride;
      std::byte* to = memory_.staging()->data() + s * strand_bytes() + static_cast<size_t>(row) * strands_.row_bytes;
      if (strands_.copyable) {
        std::memcpy(to, from, strands_.row_bytes);
        continue;
      }
      for (int x = 0; x < view_.width; ++x, to += strands_.sample_bytes) {
        std::memcpy(to, from + x * view_.pixel_stride, strands_.sample_bytes);
      }
    }
  }
}

// Rows of one band, all of them, to the device.
Status Resident::enqueue(Queue& queue, int y, int y_end) {
  const size_t bytes = static_cast<size_t>(y_end - y) * strands_.row_bytes;
  for (size_t s = 0; s < static_cast<size_t>(strands_.count); ++s) {
    const size_t in_strand = static_cast<size_t>(y) * strands_.row_bytes, at = s * strand_bytes() + in_strand;
    const PinnedMemory& from = goes_straight() ? *straight_[s].memory : *memory_.staging();
    ACUITY_TRY(queue.upload(*memory_, at, from, goes_straight() ? straight_[s].offset + in_strand : at, bytes));
  }
  return queue.signal(event_of_row(y));
}

void Resident::note_sent(int y_end) {
  {
    const std::lock_guard lock(mutex_);
    sent_rows_ = y_end;
  }
  changed_.notify_all();
}

bool Resident::claim() {
  const std::lock_guard lock(mutex_);
  if (claimed_) return false;
  claimed_ = sending_ = true;
  return true;
}

void Resident::end_sending() {
  {
    const std::lock_guard lock(mutex_);
    sending_ = false;
  }
  changed_.notify_all();
}

void Resident::fail(const Status& status) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_.ok()) failure_ = status;
  }
  changed_.notify_all();
}

}  // namespace acuity
