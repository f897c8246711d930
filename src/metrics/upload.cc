// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/upload.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/memory.h"
#include "base/try.h"
#include "device/pinned.h"
#include "lang/host.h"

namespace acuity {

extern const KernelFile upload_kernels;

namespace {

namespace kernels {
using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &upload_kernels;
#include "metrics/pixels.h"
#include "metrics/upload_kernels.h"
}  // namespace kernels

constexpr size_t kDeviceAlignment = 256;
constexpr size_t kRawBytes = size_t{32} << 20;  // samples waiting to be converted take no more
constexpr size_t kPlanes = 3;

// Kernels read whole words.
size_t whole_words(size_t bytes) { return round_up(bytes, kDeviceAlignment); }

Status reserve(Device& device, size_t bytes, std::unique_ptr<DeviceMemory>& memory) {
  if (memory && memory->size() >= bytes) return {};
  memory.reset();
  ACUITY_TRY_ASSIGN(memory, device.allocate(bytes));
  return {};
}

// The parameters and tables of convert_pixels.
std::vector<float> numbers_of(const Rows::Conversion& conversion) {
  const PixelSteps& pixels = conversion.pixels;
  std::vector<float> numbers{conversion.samples.a, conversion.samples.b, conversion.background};
  numbers.insert(numbers.end(), pixels.hlg_weights.begin(), pixels.hlg_weights.end());
  numbers.push_back(pixels.hlg_exponent);
  numbers.push_back(pixels.hlg_scale);
  numbers.insert(numbers.end(), pixels.matrix.begin(), pixels.matrix.end());
  for (size_t c = 0; c < conversion.tables.size(); ++c) {
    const std::span<const float> table = conversion.tables[c];
    if (c > 0 && table.data() == conversion.tables[0].data()) break;
    numbers.insert(numbers.end(), table.begin(), table.end());
  }
  return numbers;
}

}  // namespace

Upload::Strands Upload::strands_of(const ImageView& view) {
  const int channels = view.channel_count();
  Strands strands;
  strands.sample_bytes = view.type == SampleType::u8 ? 1 : view.type == SampleType::u16 ? 2 : sizeof(float);
  const ptrdiff_t sample = static_cast<ptrdiff_t>(strands.sample_bytes);
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

Status Upload::begin(Queue& queue, const Rows& picture, int rows, int slots) {
  const ImageView& view = picture.view();
  const std::span<const float> table = picture.code_table();
  strands_ = strands_of(view);
  size_t row_bytes = strands_.all_bytes();
  std::vector<float> numbers(table.begin(), table.end());
  conversion_.reset();
  form_ = view.type == SampleType::u8 ? FORM_BYTES : FORM_WORDS;
  if (table.empty()) {
    form_ = FORM_PLANES;
    conversion_ = picture.conversion();
    row_bytes = static_cast<size_t>(view.width) * kPlanes * sizeof(float);
  }
  if (conversion_) {
    numbers = numbers_of(*conversion_);
    raw_rows_ = static_cast<int>(std::clamp(kRawBytes / strands_.all_bytes(), size_t{1}, static_cast<size_t>(rows)));
    ACUITY_TRY(reserve(device_, whole_words(static_cast<size_t>(raw_rows_) * strands_.all_bytes()), raw_));
  }
  staged_rows_ = 0;
  slot_rows_ = rows;
  slot_bytes_ = whole_words(static_cast<size_t>(rows) * row_bytes);
  ACUITY_TRY(reserve(device_, slot_bytes_ * static_cast<size_t>(slots), slots_));
  return send_numbers(queue, numbers);
}

Status Upload::send_numbers(Queue& queue, const std::vector<float>& numbers) {
  if (numbers.empty() || numbers == numbers_content_) return {};
  const size_t bytes = numbers.size() * sizeof(float);
  if (!numbers_ || numbers_->size() < bytes) {
    numbers_.reset();
    ACUITY_TRY_ASSIGN(numbers_, device_.allocate(bytes));
    ACUITY_TRY_ASSIGN(numbers_staging_, device_.allocate_pinned(bytes));
  }
  std::memcpy(numbers_staging_->data(), numbers.data(), bytes);
  numbers_content_.clear();
  ACUITY_TRY(queue.upload(*numbers_, 0, *numbers_staging_, 0, bytes));
  numbers_content_ = numbers;
  return {};
}

Result<SentPixels> Upload::send(Queue& queue, const Rows& picture, int y, int y_end, int slot, int below) {
  const size_t row_bytes =
      form_ == FORM_PLANES ? static_cast<size_t>(picture.width()) * sizeof(float) : strands_.all_bytes();
  const size_t offset = static_cast<size_t>(slot) * slot_bytes_ + static_cast<size_t>(below) * row_bytes;
  if (form_ != FORM_PLANES) {
    ACUITY_TRY(send_strands(queue, picture, y, y_end, *slots_, offset));
  } else if (!conversion_) {
    ACUITY_TRY(send_light(queue, picture, y, y_end, offset));
  } else {
    for (int begin = y; begin < y_end; begin += raw_rows_) {
      const int end = std::min(begin + raw_rows_, y_end);
      ACUITY_TRY(send_strands(queue, picture, begin, end, *raw_, 0));
      ACUITY_TRY(convert(queue, picture, begin, end, offset + static_cast<size_t>(begin - y) * row_bytes));
    }
  }
  return sent(picture, slot, y - below);
}

SentPixels Upload::sent(const Rows& picture, int slot, int y_first) const {
  const int last_code = static_cast<int>(picture.code_table().size()) - 1;
  return {.samples = {slots_->address() + static_cast<size_t>(slot) * slot_bytes_},
          .table = {numbers_ ? numbers_->address() : 0},
          .form = form_,
          .extent = form_ == FORM_PLANES ? slot_rows_ * picture.width() : last_code,
          .y_first = y_first};
}

HostBytes Upload::source(const Rows& picture) const {
  const ImageView& view = picture.view();
  if (form_ == FORM_PLANES || !goes_straight(view)) return {};
  const HostBytes source(view.planes[0], static_cast<size_t>(view.height) * strands_.row_bytes);
  return find_pinned(device_, source.data(), source.size()).memory ? source : HostBytes();
}

// Whether rows may go from page-locked memory as they are.
bool Upload::goes_straight(const ImageView& view) const {
  return strands_.copyable && view.row_stride == static_cast<ptrdiff_t>(strands_.row_bytes);
}

// Straight from the caller's memory where that is page-locked and without gaps, else by way of ours.
Status Upload::send_strands(Queue& queue, const Rows& picture, int y, int y_end, DeviceMemory& to, size_t offset) {
  const ImageView& view = picture.view();
  const size_t row_bytes = strands_.row_bytes, bytes = static_cast<size_t>(y_end - y) * row_bytes;
  for (size_t s = 0; s < static_cast<size_t>(strands_.count); ++s) {
    if (goes_straight(view)) {
      const PinnedPlace place = find_pinned(device_, view.planes[s] + y * view.row_stride, bytes);
      if (place.memory) {
        ACUITY_TRY(queue.upload(to, offset + s * bytes, *place.memory, place.offset, bytes));
        continue;
      }
    }
    ACUITY_TRY(reserve_staging(whole_words(static_cast<size_t>(view.height) * strands_.all_bytes())));
    const size_t staged = static_cast<size_t>(y) * strands_.all_bytes() + s * bytes;
    // Waking threads takes long: where rows lie one after the other, each time twice as many are copied as have been.
    const bool ahead = strands_.count == 1 && &to == slots_.get() && y <= staged_rows_;
    const int begin = ahead ? std::max(y, staged_rows_) : y;
    const int end = ahead && begin < y_end ? std::clamp(2 * begin, y_end, view.height) : y_end;
    if (ahead) staged_rows_ = end;
    for_rows(begin, end, [&](int row) {
      const std::byte* from = view.planes[s] + row * view.row_stride;
      std::byte* here = staging_->data() + staged + static_cast<size_t>(row - y) * row_bytes;
      if (strands_.copyable) {
        std::memcpy(here, from, row_bytes);
        return;
      }
      for (int x = 0; x < view.width; ++x, here += strands_.sample_bytes) {
        std::memcpy(here, from + x * view.pixel_stride, strands_.sample_bytes);
      }
    });
    ACUITY_TRY(queue.upload(to, offset + s * bytes, *staging_, staged, bytes));
  }
  return {};
}

// Three planes in the working space, made here: for profiles that kernels cannot follow.
Status Upload::send_light(Queue& queue, const Rows& picture, int y, int y_end, size_t offset) {
  const size_t width = static_cast<size_t>(picture.width()), row_bytes = width * kPlanes * sizeof(float);
  ACUITY_TRY(reserve_staging(whole_words(static_cast<size_t>(picture.height()) * row_bytes)));
  const size_t staged = static_cast<size_t>(y) * row_bytes, plane = static_cast<size_t>(y_end - y) * width;
  for_rows(y, y_end, [&](int row) {
    float* to = reinterpret_cast<float*>(staging_->data() + staged) + static_cast<size_t>(row - y) * width;
    picture.read(row, 0, picture.width(), to, to + plane, to + 2 * plane);
  });
  const size_t extent = static_cast<size_t>(slot_rows_) * width * sizeof(float), bytes = plane * sizeof(float);
  for (size_t p = 0; p < kPlanes; ++p) {
    ACUITY_TRY(queue.upload(*slots_, offset + p * extent, *staging_, staged + p * bytes, bytes));
  }
  return {};
}

// Rows y .. y_end - 1, from raw samples.
Status Upload::convert(Queue& queue, const Rows& picture, int y, int y_end, size_t offset) {
  const ImageView& view = picture.view();
  const int width = view.width, pixels = (y_end - y) * width;
  const int type = view.type == SampleType::u8 ? TYPE_BYTES : view.type == SampleType::u16 ? TYPE_WORDS : TYPE_FLOATS;
  const size_t codes = conversion_->tables[0].size();
  const bool one_table = conversion_->tables[1].data() == conversion_->tables[0].data();
  return queue.run(kernels::convert_pixels, (width + 31) / 32, (y_end - y + 7) / 8,
                   DeviceArray<const unsigned char>{raw_->address()}, DeviceArray<const float>{numbers_->address()},
                   DeviceArray<float>{slots_->address() + offset}, type, view.channel_count(), strands_.samples_a_pixel,
                   strands_.count == 1 ? 1 : pixels, conversion_->samples.curve, conversion_->samples.to_codes,
                   conversion_->pixels.steps, static_cast<int>(codes) - 1, one_table ? 0 : static_cast<int>(codes),
                   width, y_end - y, slot_rows_ * width);
}

Status Upload::reserve_staging(size_t bytes) {
  if (staging_ && staging_->size() >= bytes) return {};
  staging_.reset();
  ACUITY_TRY_ASSIGN(staging_, device_.allocate_pinned(bytes));
  return {};
}

// Calls step for each row, on all threads.
template <typename Step>
void Upload::for_rows(int y, int y_end, Step step) const {
  constexpr int kTogether = 32;
  std::atomic<int> next = y;
  threads_.run([&](int) {
    for (int begin = next.fetch_add(kTogether); begin < y_end; begin = next.fetch_add(kTogether)) {
      for (int row = begin; row < std::min(begin + kTogether, y_end); ++row) step(row);
    }
  });
}

size_t Upload::bytes() const {
  size_t sum = 0;
  for (const DeviceMemory* memory : {slots_.get(), raw_.get(), numbers_.get()}) sum += memory ? memory->size() : 0;
  for (const PinnedMemory* memory : {staging_.get(), numbers_staging_.get()}) sum += memory ? memory->size() : 0;
  return sum;
}

}  // namespace acuity
