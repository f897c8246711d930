// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cambi/frame_reader.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "base/memory.h"
#include "base/try.h"
#include "metrics/cambi/rows.h"

namespace acuity::cambi {
namespace {

constexpr int kAround = 3;               // rows and columns on each side that count as surroundings
constexpr int kImageRows = kAround + 2;  // worked on at once: a row is marked when kAround + 1 below it are known
constexpr int kCountRows = 2 * kAround + 1;

ptrdiff_t stride_of(int width) {
  return static_cast<ptrdiff_t>(round_up(static_cast<size_t>(width + kBeyond), kAlignment / sizeof(uint16_t)));
}

}  // namespace

// Found by steps that are added up in float, as libvmaf does: over a long side they drift.
std::vector<int> nearest(int from, int to) {
  const float ratio = static_cast<float>(from) / static_cast<float>(to);
  auto place = static_cast<float>(static_cast<double>(ratio / 2) - 0.5);
  std::vector<int> places;
  for (int i = 0; i < to; ++i) {
    places.push_back(std::min(static_cast<int>(static_cast<double>(place) + 0.5), from - 1));
    place += ratio;
  }
  return places;
}

int flat_limit(int width, int height) {
  const auto blocks = static_cast<unsigned>((width >> 6) * (height >> 6));
  const int log = blocks == 0 ? 0 : std::bit_width(blocks - 1);
  return (kCountRows * kCountRows + 3 * (log - 11) - 1) >> 1;
}

void Plane::reshape(int new_width, int new_height) {
  width = new_width;
  height = new_height;
  stride = stride_of(width);
  const auto needed = static_cast<size_t>(stride) * static_cast<size_t>(height);
  if (samples.size() < needed) samples.resize(needed);
}

FrameReader::FrameReader(int from_width, int from_height, int width, int height, bool smooth, bool halved)
    : width_(width),
      height_(height),
      from_width_(from_width),
      from_height_(from_height),
      smooth_(smooth),
      halved_(halved),
      limit_(flat_limit(width, height)),
      stride_(stride_of(width)) {
  if (from_width != width || from_height != height) {
    columns_ = nearest(from_width, width);
    lines_ = nearest(from_height, height);
    full_row_.resize(static_cast<size_t>(stride_of(from_width)));
  }
  const auto rows = [&](int count) { return std::vector<uint16_t>(static_cast<size_t>(stride_ * count)); };
  raw_ = rows(2);
  image_ = rows(kImageRows);
  equal_ = rows(2);  // one, with zeros in front of it
  counts_ = rows(kCountRows);
  sums_ = rows(1);
  marked_ = rows(halved ? 1 : 0);
}

size_t FrameReader::bytes() const {
  size_t samples = 0;
  for (const auto* rows : {&raw_, &full_row_, &image_, &equal_, &counts_, &sums_, &marked_}) samples += rows->size();
  return samples * sizeof(uint16_t) + (columns_.size() + lines_.size()) * sizeof(int);
}

// A line of the frame as it is.
Status FrameReader::convert(const FrameView& frame, int line, uint16_t* out) const {
  const int largest = to_ten_bits(frame.planes[0] + line * frame.row_strides[0], frame.depth, from_width_, out);
  if (largest >> frame.depth == 0) return {};
  return Status(StatusCode::input,
                fmt::format("row {} of the frame has a sample of {}, but {} bits hold at most {}; state the depth",
                            line, largest, frame.depth, (1 << frame.depth) - 1));
}

Status FrameReader::fetch(const FrameView& frame, int y, uint16_t* out) {
  if (lines_.empty()) return convert(frame, y, out);
  ACUITY_TRY(convert(frame, lines_[static_cast<size_t>(y)], full_row_.data()));
  for (int x = 0; x < width_; ++x) out[x] = full_row_[static_cast<size_t>(columns_[static_cast<size_t>(x)])];
  return {};
}

// Marks row y, once the counts of the rows around it are in the sums.
void FrameReader::mark(int y, Plane& out) {
  const uint16_t* image = row(image_, y, kImageRows);
  if (!halved_) return mark_flat(image, sums_.data(), limit_, width_, out.row(y));
  if (y % 2 != 0) return;
  mark_flat(image, sums_.data(), limit_, width_, marked_.data());
  halve(marked_.data(), out.width, out.row(y / 2));
}

Status FrameReader::read(const FrameView& frame, Plane& out) {
  out.reshape(halved_ ? (width_ + 1) / 2 : width_, halved_ ? (height_ + 1) / 2 : height_);
  std::fill(sums_.begin(), sums_.end(), uint16_t{0});
  uint16_t* const equal = equal_.data() + stride_;
  // Lines that are left out must have proper samples too.
  for (int line = 0; !lines_.empty() && line < from_height_; ++line) {
    ACUITY_TRY(convert(frame, line, full_row_.data()));
  }
  ACUITY_TRY(fetch(frame, 0, row(raw_, 0, 2)));
  for (int y = 0; y < height_ + kAround + 1; ++y) {
    if (y < height_) {
      uint16_t* image = row(image_, y, kImageRows);
      if (y + 1 < height_) ACUITY_TRY(fetch(frame, y + 1, row(raw_, y + 1, 2)));
      std::copy_n(row(raw_, y, 2), width_, image);
      if (smooth_) average_right_and_below(image, y + 1 < height_ ? row(raw_, y + 1, 2) : nullptr, width_);
    }
    // The row above this one has its neighbours now.
    const int known = y - 1;
    uint16_t* counts = row(counts_, known + kCountRows, kCountRows);
    if (known >= kCountRows) move_sums(nullptr, counts, width_, sums_.data());
    if (known >= 0 && known < height_) {
      const uint16_t* below = known + 1 < height_ ? row(image_, known + 1, kImageRows) : nullptr;
      count_equal(row(image_, known, kImageRows), below, width_, equal, counts);
      move_sums(counts, nullptr, width_, sums_.data());
    }
    if (known >= kAround) mark(known - kAround, out);
  }
  return {};
}

}  // namespace acuity::cambi
