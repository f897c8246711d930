// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/pixels/resident.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/guard.h"
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

bool Resident::is_interleaved(const ImageView& view) {
  const ptrdiff_t sample = sample_bytes_of(view.type);
  bool interleaved = view.pixel_stride == sample * view.channel_count();
  for (int c = 1; c < view.channel_count(); ++c) {
    interleaved = interleaved && view.planes[static_cast<size_t>(c)] == view.planes[0] + c * sample;
  }
  return interleaved;
}

Result<std::shared_ptr<Resident>> Resident::create(const std::shared_ptr<DevicePool>& pool, const ImageView& view) {
  std::shared_ptr<Resident> resident(new Resident(view.height));
  const bool interleaved = is_interleaved(view);
  const int channels = view.channel_count(), samples_a_pixel = interleaved ? channels : 1;
  const ptrdiff_t sample = sample_bytes_of(view.type);
  resident->sample_bytes_ = static_cast<size_t>(sample);
  resident->pixel_stride_ = view.pixel_stride == sample * samples_a_pixel ? 0 : view.pixel_stride;
  const size_t row_bytes = static_cast<size_t>(view.width * samples_a_pixel) * resident->sample_bytes_;
  for (size_t s = 0; s < static_cast<size_t>(interleaved ? 1 : channels); ++s) {
    resident->strands_.push_back({.from = view.planes[s],
                                  .row_stride = view.row_stride,
                                  .rows = view.height,
                                  .row_bytes = row_bytes,
                                  .row_step = row_bytes,
                                  .offset = s * row_bytes * static_cast<size_t>(view.height)});
  }
  resident->layout_ = {.first = 0,
                       .row_step = view.width * samples_a_pixel,
                       .pixel_step = samples_a_pixel,
                       .channel_step = interleaved ? 1 : view.width * view.height};
  ACUITY_TRY(resident->take_memory(pool));
  return resident;
}

Result<std::shared_ptr<Resident>> Resident::create(const std::shared_ptr<DevicePool>& pool, const FrameView& frame,
                                                   const FrameFormat& format, const PlaneSet& planes) {
  constexpr size_t kRowAlignment = 64, kWord = 4, kLargestGap = 1024;
  std::shared_ptr<Resident> resident(new Resident(frame.height));
  resident->sample_bytes_ = static_cast<size_t>(frame.sample_bytes());
  FrameLayout& layout = resident->frame_.emplace();
  layout.format = format;
  size_t offset = 0;
  for (int plane = 0; plane < frame.planes_count(); ++plane) {
    const auto p = static_cast<size_t>(plane);
    layout.planes[p] = planes[p];
    if (!planes[p]) continue;
    Strand strand{.from = frame.planes[p],
                  .row_stride = frame.row_strides[p],
                  .rows = frame.plane_height(plane),
                  .halved = frame.plane_height(plane) < frame.height,
                  .row_bytes = static_cast<size_t>(frame.plane_width(plane)) * resident->sample_bytes_,
                  .offset = offset};
    // Rows that lie as they do in the host's memory can be sent from there.
    const auto stride = static_cast<size_t>(strand.row_stride);
    const bool fits = strand.row_stride > 0 && stride % kWord == 0 && stride >= strand.row_bytes &&
                      stride <= strand.row_bytes + kLargestGap;
    strand.row_step = fits ? stride : round_up(strand.row_bytes, kRowAlignment);
    layout.first[p] = to_int(static_cast<int64_t>(offset / resident->sample_bytes_));
    layout.row_step[p] = to_int(static_cast<int64_t>(strand.row_step / resident->sample_bytes_));
    offset = round_up(offset + strand.bytes(), 256);
    resident->strands_.push_back(strand);
  }
  if (offset / resident->sample_bytes_ > std::numeric_limits<int>::max()) {
    return Status(
        StatusCode::too_big,
        fmt::format("a frame with {} samples in its rows is too large for a GPU, which can number {}; use the "
                    "device cpu",
                    offset / resident->sample_bytes_, std::numeric_limits<int>::max()));
  }
  ACUITY_TRY(resident->take_memory(pool));
  return resident;
}

Status Resident::take_memory(const std::shared_ptr<DevicePool>& pool) {
  pool_ = pool;
  // Kernels read whole words.
  const size_t bytes = round_up(strands_.back().offset + strands_.back().bytes(), 256);
  ACUITY_TRY_ASSIGN(memory_, pool->take(bytes, "samples"));
  address_ = memory_->address();
  return {};
}

bool Resident::has(const PlaneSet& planes) const {
  if (!frame_) return true;
  for (size_t p = 0; p < static_cast<size_t>(frame_->format.planes_count()); ++p) {
    if (planes[p] && !frame_->planes[p]) return false;
  }
  return true;
}

size_t Resident::row_bytes() const {
  size_t bytes = 0;
  for (const Strand& strand : strands_) bytes += strand.row_bytes;
  return bytes;
}

Result<std::shared_ptr<Resident>> Resident::of_device_memory(const ImageView& view, std::shared_ptr<const void> owner) {
  constexpr uint64_t kWord = 16;  // what is read at once begins at a multiple of this
  std::shared_ptr<Resident> resident(new Resident(view.height));
  const ptrdiff_t sample = sample_bytes_of(view.type);
  const std::byte* first = view.planes[0];
  ptrdiff_t channel_stride = view.channel_count() > 1 ? view.planes[1] - first : sample;
  const int64_t most = std::numeric_limits<int>::max();
  bool even = channel_stride % sample == 0 && channel_stride / sample <= most && channel_stride / sample >= -most;
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

Result<std::shared_ptr<Resident>> Resident::of_device_frame(const std::shared_ptr<DevicePool>& pool,
                                                            const FrameView& frame, const FrameFormat& format,
                                                            const SurfaceLayout& layout, const PlaneSet& planes,
                                                            bool may_stay) {
  const std::optional<Surface> surface = Surface::create(frame, layout);
  if (!surface) {
    return Status(StatusCode::too_big, fmt::format("the rows of a frame in device memory lie too far apart ({} bytes)",
                                                   frame.row_strides[0]));
  }
  std::shared_ptr<Resident> resident(new Resident(frame.height));
  if (may_stay && resident->stay_on(*surface, format, planes)) {
    resident->owner_ = frame.owner;
    return resident;
  }
  FrameView room = frame;
  room.row_strides = {};  // rows lie as is best
  ACUITY_TRY_ASSIGN(resident, create(pool, room, format, planes));
  resident->surface_ = surface;
  resident->owner_ = frame.owner;
  return resident;
}

// Where kernels can number all samples from one address.
bool Resident::stay_on(const Surface& surface, const FrameFormat& format, const PlaneSet& planes) {
  FrameLayout layout;
  layout.format = format;
  uint64_t lowest = std::numeric_limits<uint64_t>::max();
  for (int p = 0; p < format.planes_count(); ++p) {
    layout.planes[static_cast<size_t>(p)] = planes[static_cast<size_t>(p)];
    if (!planes[static_cast<size_t>(p)]) continue;
    if (!surface.is_plain(p)) return false;
    lowest = std::min(lowest, surface.plane(p).address);
  }
  const auto bytes = static_cast<uint64_t>(format.sample_bytes());
  for (int p = 0; p < format.planes_count(); ++p) {
    const auto at = static_cast<size_t>(p);
    if (!planes[at]) continue;
    const SurfacePlane& plane = surface.plane(p);
    const uint64_t first = (plane.address - lowest) / bytes + static_cast<uint64_t>(plane.first);
    const uint64_t last = first + static_cast<uint64_t>(plane.row_step) * static_cast<uint64_t>(format.plane_height(p));
    if (last > std::numeric_limits<int>::max()) return false;
    layout.first[at] = static_cast<int>(first);
    layout.row_step[at] = plane.row_step;
  }
  // The kernels that make pixels expect luma first.
  if (layout.planes[0] && layout.first[0] != 0) return false;
  frame_ = layout;
  address_ = lowest;
  band_rows_ = height_;
  claimed_ = true;
  arrived_ = true;
  sent_rows_ = height_;
  return true;
}

Status Resident::copy_surface(Queue& queue) {
  size_t strand = 0;
  for (int p = 0; p < surface_->shape().planes_count(); ++p) {
    if (!frame_->planes[static_cast<size_t>(p)]) continue;
    const Strand& to = strands_[strand++];
    ACUITY_TRY(surface_->unpack(queue, p, address_ + to.offset, to_int(static_cast<int64_t>(to.row_step / 4))));
  }
  return {};
}

Resident::~Resident() {
  settle();
  if (staging_) pool_->give_back_pinned(std::move(staging_));
}

bool Resident::is_sent() const {
  const std::lock_guard lock(mutex_);
  return sent_rows_ == height_ && failure_.ok();
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
  if (waited_for_) arrived_ = true;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !sending_; });
    if (!claimed_) return;
  }
  // A failure was told to whoever waited for rows.
  if (!arrived_) {
    (void)guarded<Status>([&] { return pool_->on_copy_queue([](Queue& queue) { return queue.wait(); }); });
  }
  // The memory may go before this object does, and must not be page-locked any more then.
  const std::lock_guard lock(mutex_);
  straight_.clear();
  // A small picture that is not known to be there may be in flight on a queue of another job.
  if (staging_ && (arrived_ || !is_small())) pool_->give_back_pinned(std::move(staging_));
}

bool Resident::is_small() const {
  if (surface_) return true;
  return std::accumulate(strands_.begin(), strands_.end(), size_t{0},
                         [](size_t sum, const Strand& strand) { return sum + strand.bytes(); }) <= kSmallBytes;
}

// Room and events for sending it.
Status Resident::make_ready(int rows) {
  for (const Strand& strand : strands_) {
    if (surface_) break;
    PinnedPlace place;
    if (pixel_stride_ == 0 && strand.row_stride == static_cast<ptrdiff_t>(strand.row_step)) {
      place = find_pinned(pool_->device(), strand.from, strand.bytes());
    }
    if (!place.memory) {
      straight_.clear();
      break;
    }
    straight_.push_back(std::move(place));
  }
  if (!goes_straight()) ACUITY_TRY_ASSIGN(staging_, pool_->take_pinned(memory_->size()));
  const int fewest = (height_ + kMostBands - 1) / kMostBands;
  band_rows_ = goes_straight() ? rows : std::min(rows, kMostStagedRows);
  band_rows_ = is_small() ? height_ : std::clamp(band_rows_, fewest, height_);
  std::vector<std::unique_ptr<Event>>& events = memory_.events();
  while (events.size() * static_cast<size_t>(band_rows_) < static_cast<size_t>(height_)) {
    ACUITY_TRY_ASSIGN(events.emplace_back(), pool_->device().create_event());
  }
  return {};
}

// Rows to page-locked memory of ours.
void Resident::stage(int y, int y_end) const {
  for (const Strand& strand : strands_) {
    for (int row = strand.rows_until(y); row < strand.rows_until(y_end); ++row) {
      const std::byte* from = strand.from + row * strand.row_stride;
      std::byte* to = staging_->data() + strand.offset + static_cast<size_t>(row) * strand.row_step;
      if (pixel_stride_ == 0) {
        copy_past_cache(to, from, strand.row_bytes);
        continue;
      }
      for (size_t x = 0; x < strand.row_bytes; x += sample_bytes_, from += pixel_stride_) {
        std::memcpy(to + x, from, sample_bytes_);
      }
    }
  }
  complete_copies();
}

// The band that begins with row y, to the device.
Status Resident::send_band(Queue& queue, int y) {
  const int y_end = std::min(y + band_rows_, height_);
  if (surface_) ACUITY_TRY(copy_surface(queue));
  for (size_t s = 0; s < strands_.size() && !surface_; ++s) {
    const Strand& strand = strands_[s];
    const auto begin = static_cast<size_t>(strand.rows_until(y)), end = static_cast<size_t>(strand.rows_until(y_end));
    if (begin == end) continue;
    const size_t in_strand = begin * strand.row_step, at = strand.offset + in_strand;
    const size_t bytes = (end - begin - 1) * strand.row_step + strand.row_bytes;
    const PinnedMemory& from = goes_straight() ? *straight_[s].memory : *staging_;
    ACUITY_TRY(queue.upload(*memory_, at, from, goes_straight() ? straight_[s].offset + in_strand : at, bytes));
  }
  return {};
}

Status Resident::signal_band(Queue& queue, int y) { return queue.signal(event_of_row(y)); }

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
  const std::lock_guard lock(mutex_);  // after which this object may be gone
  sending_ = false;
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
