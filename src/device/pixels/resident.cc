// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/pixels/resident.h"

#include <algorithm>
#include <cstring>
#include <limits>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/memory.h"
#include "base/try.h"

namespace acuity {
namespace {

constexpr int kMostBands = 32;                   // events are not free
constexpr int kMostStagedRows = 256;             // a band is sent while the next one is copied
constexpr size_t kSmallBytes = size_t{1} << 20;  // pictures up to this size are one band

ptrdiff_t sample_bytes_of(SampleType type) { return type == SampleType::u8 ? 1 : type == SampleType::u16 ? 2 : 4; }

int to_int(int64_t value) { return static_cast<int>(value); }

#ifdef __SSE2__

// For memory that only the device reads: past the cache, which would fetch it first.
void copy_past_cache(std::byte* to, const std::byte* from, size_t bytes) {
  constexpr size_t kVector = sizeof(__m128i);
  size_t done = std::min(bytes, (kVector - reinterpret_cast<uintptr_t>(to) % kVector) % kVector);
  std::memcpy(to, from, done);
  for (; done + kVector <= bytes; done += kVector) {
    const __m128i vector = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + done));
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + done), vector);
  }
  std::memcpy(to + done, from + done, bytes - done);
}

void complete_copies() { _mm_sfence(); }

#else

void copy_past_cache(std::byte* to, const std::byte* from, size_t bytes) { std::memcpy(to, from, bytes); }
void complete_copies() {}

#endif

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

bool Resident::is_small() const { return static_cast<size_t>(strands_.count) * strand_bytes() <= kSmallBytes; }

// Room and events for sending it.
Status Resident::make_ready(int rows) {
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
  const int fewest = (view_.height + kMostBands - 1) / kMostBands;
  band_rows_ = goes_straight() ? rows : std::min(rows, kMostStagedRows);
  band_rows_ = is_small() ? view_.height : std::clamp(band_rows_, fewest, view_.height);
  std::vector<std::unique_ptr<Event>>& events = memory_.events();
  while (events.size() * static_cast<size_t>(band_rows_) < static_cast<size_t>(view_.height)) {
    ACUITY_TRY_ASSIGN(events.emplace_back(), pool_->device().create_event());
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
        copy_past_cache(to, from, strands_.row_bytes);
        continue;
      }
      for (int x = 0; x < view_.width; ++x, to += strands_.sample_bytes) {
        std::memcpy(to, from + x * view_.pixel_stride, strands_.sample_bytes);
      }
    }
  }
  complete_copies();
}

// The band that begins with row y, to the device.
Status Resident::send_band(Queue& queue, int y) {
  const int y_end = std::min(y + band_rows_, view_.height);
  const size_t bytes = static_cast<size_t>(y_end - y) * strands_.row_bytes;
  for (size_t s = 0; s < static_cast<size_t>(strands_.count); ++s) {
    const size_t in_strand = static_cast<size_t>(y) * strands_.row_bytes, at = s * strand_bytes() + in_strand;
    const PinnedMemory& from = goes_straight() ? *straight_[s].memory : *memory_.staging();
    ACUITY_TRY(queue.upload(*memory_, at, from, goes_straight() ? straight_[s].offset + in_strand : at, bytes));
  }
  ACUITY_TRY(queue.signal(event_of_row(y)));
  {
    const std::lock_guard lock(mutex_);
    sent_rows_ = y_end;
  }
  changed_.notify_all();
  return {};
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
