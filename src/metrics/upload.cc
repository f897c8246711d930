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
namespace {

namespace kernels {
using namespace kernel_dialect;
#include "metrics/pixels.h"
}  // namespace kernels

constexpr size_t kDeviceAlignment = 256;
constexpr size_t kChannels = 3;

int form_of(const Rows& picture) {
  if (picture.code_table().empty()) return FORM_PLANES;
  return picture.view().type == SampleType::u8 ? FORM_BYTES : FORM_WORDS;
}

size_t sample_bytes(int form) { return form == FORM_BYTES ? 1 : form == FORM_WORDS ? 2 : sizeof(float); }

}  // namespace

Status Upload::begin(Queue& queue, const Rows& picture, int rows, int slots) {
  form_ = form_of(picture);
  row_bytes_ = static_cast<size_t>(picture.width()) * kChannels * sample_bytes(form_);
  slot_bytes_ = rows_bytes(rows);
  const size_t bytes = slot_bytes_ * static_cast<size_t>(slots);
  if (!samples_ || samples_->size() < bytes) {
    samples_.reset();
    ACUITY_TRY_ASSIGN(samples_, device_.allocate(bytes));
  }
  return send_table(queue, picture.code_table());
}

Status Upload::send_table(Queue& queue, std::span<const float> table) {
  if (table.empty() || std::ranges::equal(table, table_content_)) return {};
  const size_t bytes = table.size_bytes();
  if (!table_ || table_->size() < bytes) {
    table_.reset();
    ACUITY_TRY_ASSIGN(table_, device_.allocate(bytes));
    ACUITY_TRY_ASSIGN(table_staging_, device_.allocate_pinned(bytes));
  }
  std::memcpy(table_staging_->data(), table.data(), bytes);
  table_content_.clear();
  ACUITY_TRY(queue.upload(*table_, 0, *table_staging_, 0, bytes));
  table_content_.assign(table.begin(), table.end());
  return {};
}

Result<SentPixels> Upload::send(Queue& queue, const Rows& picture, int y, int y_end, int slot) {
  const size_t bytes = static_cast<size_t>(y_end - y) * row_bytes_;
  const size_t offset = static_cast<size_t>(slot) * slot_bytes_;
  const SentPixels sent{.samples = {samples_->address() + offset},
                        .table = {table_ ? table_->address() : 0},
                        .form = form_,
                        .extent = form_ == FORM_PLANES ? (y_end - y) * picture.width()
                                                       : static_cast<int>(picture.code_table().size()) - 1,
                        .y_first = y};
  // Straight from the caller's memory where that is page-locked, else by way of ours.
  const ImageView& view = picture.view();
  if (form_ != FORM_PLANES && view.row_stride == static_cast<ptrdiff_t>(row_bytes_)) {
    const PinnedPlace place = find_pinned(device_, view.planes[0] + y * view.row_stride, bytes);
    if (place.memory) {
      ACUITY_TRY(queue.upload(*samples_, offset, *place.memory, place.offset, bytes));
      return sent;
    }
  }
  if (const size_t whole = rows_bytes(picture.height()); !staging_ || staging_->size() < whole) {
    staging_.reset();
    ACUITY_TRY_ASSIGN(staging_, device_.allocate_pinned(whole));
  }
  stage(picture, y, y_end);
  ACUITY_TRY(queue.upload(*samples_, offset, *staging_, static_cast<size_t>(y) * row_bytes_, bytes));
  return sent;
}

// Rows y .. y_end - 1 into page-locked memory, at the place of row y.
void Upload::stage(const Rows& picture, int y, int y_end) const {
  std::byte* to = staging_->data() + static_cast<size_t>(y) * row_bytes_;
  const size_t width = static_cast<size_t>(picture.width());
  const size_t plane = static_cast<size_t>(y_end - y) * width;
  std::atomic<int> next = y;
  constexpr int kTogether = 32;
  threads_.run([&](int) {
    for (int begin = next.fetch_add(kTogether); begin < y_end; begin = next.fetch_add(kTogether)) {
      for (int row = begin; row < std::min(begin + kTogether, y_end); ++row) {
        const size_t i = static_cast<size_t>(row - y);
        if (form_ == FORM_PLANES) {
          float* out = reinterpret_cast<float*>(to) + i * width;
          picture.read(row, 0, picture.width(), out, out + plane, out + 2 * plane);
        } else {
          const ImageView& view = picture.view();
          std::memcpy(to + i * row_bytes_, view.planes[0] + row * view.row_stride, row_bytes_);
        }
      }
    }
  });
}

// Kernels read whole words.
size_t Upload::rows_bytes(int rows) const { return round_up(row_bytes_ * static_cast<size_t>(rows), kDeviceAlignment); }

size_t Upload::bytes() const {
  size_t sum = 0;
  if (samples_) sum += samples_->size();
  if (staging_) sum += staging_->size();
  if (table_) sum += table_->size() + table_staging_->size();
  return sum;
}

}  // namespace acuity
