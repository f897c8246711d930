// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/pixels/reader.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "base/memory.h"
#include "base/try.h"
#include "colour/yuv.h"
#include "lang/host.h"

namespace acuity {

extern const KernelFile convert_kernels;

namespace {

namespace kernels {
using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &convert_kernels;
#include "device/pixels/pixels.h"
#include "device/pixels/convert_kernels.h"
}  // namespace kernels

constexpr size_t kPlanes = 3;

// The parameters of the kernels, which the tables follow. `frame` is null for a picture.
std::vector<float> parameters_of(const Rows::Conversion& conversion, const FrameFormat* frame) {
  const PixelConversion& pixels = conversion.pixels;
  std::vector<float> constants{conversion.samples.a, conversion.background};
  constants.insert(constants.end(), pixels.hlg_weights.begin(), pixels.hlg_weights.end());
  constants.push_back(pixels.hlg_exponent);
  constants.push_back(pixels.hlg_scale);
  constants.insert(constants.end(), pixels.matrix.begin(), pixels.matrix.end());
  const YuvEquations yuv = frame != nullptr ? equations_of(*frame) : YuvEquations{};
  constants.insert(constants.end(), {yuv.luma_black, yuv.luma_scale, yuv.chroma_zero, yuv.chroma_scale, yuv.red_cr,
                                     yuv.green_cb, yuv.green_cr, yuv.blue_cb, yuv.luma_share});
  return constants;
}

// Whether they lie as pixel_at wants codes.
bool is_packed(const SampleLayout& layout, int width) {
  return layout == SampleLayout{.first = 0, .row_step = 3 * width, .pixel_step = 3, .channel_step = 1};
}

// Calls step for each row, on all threads.
template <typename Step>
void for_rows(const Threads& threads, int y, int y_end, const Step& step) {
  constexpr int kTogether = 32;
  std::atomic<int> next = y;
  threads.run([&](int) {
    for (int begin = next.fetch_add(kTogether); begin < y_end; begin = next.fetch_add(kTogether)) {
      for (int row = begin; row < std::min(begin + kTogether, y_end); ++row) step(row);
    }
  });
}

}  // namespace

Status PixelReader::begin(Queue& queue, const DevicePicture& picture, int rows, int slots) {
  picture_ = picture;
  sent_on_ = waited_ = recorded_ = nullptr;
  const Rows& pixels = picture_->rows;
  const std::span<const float> table = pixels.code_table();
  if (!table.empty() && is_packed(picture.samples->layout(), pixels.width())) {
    format_ = pixels.view().type == SampleType::u8 ? FORMAT_BYTES : FORMAT_WORDS;
    conversion_.reset();
    making_.clear();
    return send_constants(queue, {}, {table});
  }
  format_ = FORMAT_PLANES;
  conversion_ = pixels.conversion();
  slot_rows_ = rows;
  light_rows_ = 0;
  slot_bytes_ =
      round_up(static_cast<size_t>(rows) * static_cast<size_t>(pixels.width()) * kPlanes * sizeof(float), 256);
  const size_t bytes = slot_bytes_ * static_cast<size_t>(slots);
  if (!slots_ || slots_->size() < bytes) {
    slots_ = {};
    ACUITY_TRY_ASSIGN(slots_, pool_->take(bytes, "pixels"));
  }
  making_ = describe_making();
  if (!conversion_) return {};
  const std::optional<FrameLayout>& frame = picture.samples->frame();
  return send_constants(queue, parameters_of(*conversion_, frame ? &frame->format : nullptr), conversion_->tables);
}

std::vector<int> PixelReader::describe_making() const {
  if (!conversion_) return {};
  const ImageView& view = picture_->rows.view();
  const SampleLayout& layout = picture_->samples->layout();
  std::vector<int> making{static_cast<int>(view.type),
                          static_cast<int>(view.channels),
                          layout.first,
                          layout.row_step,
                          layout.pixel_step,
                          layout.channel_step,
                          picture_->first_channel,
                          conversion_->samples.curve,
                          conversion_->samples.to_codes,
                          conversion_->pixels.steps,
                          static_cast<int>(conversion_->tables[0].size()),
                          conversion_->tables[1].data() == conversion_->tables[0].data() ? 1 : 0};
  if (const std::optional<FrameLayout>& frame = picture_->samples->frame()) {
    const FrameFormat& format = frame->format;
    making.insert(making.end(), {format.depth, static_cast<int>(format.subsampling), static_cast<int>(format.siting)});
    making.insert(making.end(), frame->first.begin(), frame->first.end());
    making.insert(making.end(), frame->row_step.begin(), frame->row_step.end());
  }
  return making;
}

// Other queues than this one may read them as well, so they are waited for; they seldom change.
Status PixelReader::send_constants(Queue& queue, std::vector<float> parameters, const Tables& tables) {
  const auto same = [](std::span<const float> a, std::span<const float> b) {
    return a.data() == b.data() && a.size() == b.size();
  };
  if (tables_of_ && parameters == parameters_ &&
      std::equal(tables.begin(), tables.end(), tables_.begin(), tables_.end(), same)) {
    return {};
  }
  std::vector<float> constants = parameters;
  for (size_t c = 0; c < tables.size(); ++c) {
    if (c > 0 && tables[c].data() == tables[0].data()) break;
    constants.insert(constants.end(), tables[c].begin(), tables[c].end());
  }
  const size_t bytes = constants.size() * sizeof(float);
  tables_of_.reset();
  // Pictures with a profile have tables of their own, which may hold the same.
  if (constants_bytes_ != bytes || std::memcmp(constants_staging_->data(), constants.data(), bytes) != 0) {
    constants_bytes_ = 0;
    if (!constants_ || constants_->size() < bytes) {
      constants_.reset();
      ACUITY_TRY_ASSIGN(constants_, pool_->device().allocate(bytes));
      ACUITY_TRY_ASSIGN(constants_staging_, pool_->device().allocate_pinned(bytes));
    }
    std::memcpy(constants_staging_->data(), constants.data(), bytes);
    ACUITY_TRY(queue.upload(*constants_, 0, *constants_staging_, 0, bytes));
    ACUITY_TRY(queue.wait());
    constants_bytes_ = bytes;
  }
  parameters_ = std::move(parameters);
  tables_ = tables;
  tables_of_ = picture_->rows;
  return {};
}

Status PixelReader::send(std::span<PixelReader* const> readers, std::span<Queue* const> queues, SendOrder order,
                         int rows) {
  std::array<Parcel, 4> parcels;
  for (size_t i = 0; i < readers.size(); ++i) parcels[i] = {readers[i]->picture_->samples, queues[i]};
  ACUITY_TRY(send_pictures({parcels.data(), readers.size()}, order, rows, readers[0]->senders_));
  for (size_t i = 0; i < readers.size(); ++i) {
    if (parcels[i].is_on_queue) readers[i]->sent_on_ = queues[i];
  }
  return {};
}

bool PixelReader::reads_samples() const { return format_ != FORMAT_PLANES; }

Status PixelReader::wait_for_rows(Queue& queue, int y_end) {
  if (&queue == sent_on_ || (&queue == waited_ && y_end <= waited_rows_)) return {};
  ACUITY_TRY(picture_->samples->wait_for_rows(queue, y_end));
  waited_ = &queue;
  waited_rows_ = end_of_band(y_end);
  return {};
}

Status PixelReader::record_wait_for_rows(Queue& queue, int y_end) {
  if (&queue == recorded_ && y_end <= recorded_rows_) return {};
  ACUITY_TRY(picture_->samples->record_wait_for_rows(queue, y_end));
  recorded_ = &queue;
  recorded_rows_ = end_of_band(y_end);
  return {};
}

// Of the samples, that has the row before y_end.
int PixelReader::end_of_band(int y_end) const {
  const int rows = picture_->samples->band_rows();
  return (y_end + rows - 1) / rows * rows;
}

Status PixelReader::make(Queue& queue, int y, int y_end, int slot, int below, bool recorded) {
  const size_t row_bytes = static_cast<size_t>(picture_->rows.width()) * sizeof(float);
  const size_t offset = static_cast<size_t>(slot) * slot_bytes_ + static_cast<size_t>(below) * row_bytes;
  if (!conversion_) return send_light(queue, y, y_end, offset);
  ACUITY_TRY(recorded ? record_wait_for_rows(queue, y_end) : wait_for_rows(queue, y_end));
  const std::optional<FrameLayout>& frame = picture_->samples->frame();
  return frame ? convert_frame(queue, *frame, y, y_end, offset) : convert(queue, y, y_end, offset);
}

void PixelReader::note_wait() {
  if (picture_->samples != nullptr) picture_->samples->note_wait();
}

SentPixels PixelReader::pixels(int slot, int y_first) const {
  const Rows& rows = picture_->rows;
  const DeviceArray<const float> table{constants_ ? constants_->address() : 0};
  if (reads_samples()) {
    const int last_code = static_cast<int>(rows.code_table().size()) - 1;
    return {.samples = picture_->samples->samples(),
            .table = table,
            .format = format_,
            .table_last = last_code,
            .plane_stride = 0,
            .y_first = 0};
  }
  return {.samples = {slots_->address() + static_cast<size_t>(slot) * slot_bytes_},
          .table = table,
          .format = format_,
          .table_last = 0,
          .plane_stride = slot_rows_ * rows.width(),
          .y_first = y_first};
}

Status PixelReader::convert(Queue& queue, int y, int y_end, size_t offset) {
  const ImageView& view = picture_->rows.view();
  const SampleLayout& layout = picture_->samples->layout();
  const int type = view.type == SampleType::u8 ? TYPE_BYTES : view.type == SampleType::u16 ? TYPE_WORDS : TYPE_FLOATS;
  const size_t codes = conversion_->tables[0].size();
  const bool one_table = conversion_->tables[1].data() == conversion_->tables[0].data();
  return queue.run(kernels::convert_pixels, (view.width + 31) / 32, (y_end - y + 7) / 8, picture_->samples->samples(),
                   DeviceArray<const float>{constants_->address()}, DeviceArray<float>{slots_->address() + offset},
                   type, view.channel_count(),
                   layout.first + y * layout.row_step + picture_->first_channel * layout.channel_step, layout.row_step,
                   layout.pixel_step, layout.channel_step, conversion_->samples.curve, conversion_->samples.to_codes,
                   conversion_->pixels.steps, static_cast<int>(codes) - 1, one_table ? 0 : static_cast<int>(codes),
                   view.width, y_end - y, slot_rows_ * view.width);
}

Status PixelReader::convert_frame(Queue& queue, const FrameLayout& frame, int y, int y_end, size_t offset) {
  const FrameFormat& format = frame.format;
  const bool grey = format.subsampling == Subsampling::grey;
  return queue.run(
      kernels::convert_frame, (format.width + 31) / 32, (y_end - y + 7) / 8, picture_->samples->samples(),
      DeviceArray<const float>{constants_->address()}, DeviceArray<float>{slots_->address() + offset},
      format.depth == 8 ? TYPE_BYTES : TYPE_WORDS, grey ? PLACED_NONE : static_cast<int>(placement_across(format)),
      static_cast<int>(placement_down(format)), frame.row_step[0], frame.first[1], frame.first[2], frame.row_step[1],
      format.plane_width(1), format.plane_height(1), conversion_->samples.curve, conversion_->samples.to_codes,
      conversion_->pixels.steps, static_cast<int>(conversion_->tables[0].size()) - 1, format.width, y, y_end - y,
      slot_rows_ * format.width);
}

// Three planes in the working space, made here: for profiles that kernels cannot follow.
Status PixelReader::send_light(Queue& queue, int y, int y_end, size_t offset) {
  const Rows& rows = picture_->rows;
  const auto width = static_cast<size_t>(rows.width()), plane = static_cast<size_t>(rows.height()) * width;
  if (!light_staging_ || light_staging_->size() < kPlanes * plane * sizeof(float)) {
    light_staging_.reset();
    ACUITY_TRY_ASSIGN(light_staging_, pool_->device().allocate_pinned(kPlanes * plane * sizeof(float)));
  }
  // Rows that are taken again, because the next band looks at them too, are there and may be in flight.
  if (y_end > light_rows_) {
    for_rows(*senders_.threads, std::max(y, light_rows_), y_end, [&](int row) {
      float* to = reinterpret_cast<float*>(light_staging_->data()) + static_cast<size_t>(row) * width;
      rows.read(row, 0, rows.width(), to, to + plane, to + 2 * plane);
    });
    light_rows_ = y_end;
  }
  const size_t from = static_cast<size_t>(y) * width * sizeof(float);
  const size_t bytes = static_cast<size_t>(y_end - y) * width * sizeof(float);
  const size_t plane_stride = static_cast<size_t>(slot_rows_) * width * sizeof(float);
  for (size_t p = 0; p < kPlanes; ++p) {
    ACUITY_TRY(
        queue.upload(*slots_, offset + p * plane_stride, *light_staging_, p * plane * sizeof(float) + from, bytes));
  }
  return {};
}

size_t PixelReader::bytes() const {
  size_t sum = (slots_ ? slots_->size() : 0) + (constants_ ? constants_->size() : 0);
  for (const PinnedMemory* memory : {light_staging_.get(), constants_staging_.get()})
    sum += memory ? memory->size() : 0;
  return sum;
}

}  // namespace acuity
