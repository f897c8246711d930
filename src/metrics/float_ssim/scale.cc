// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_ssim/scale.h"

#include <algorithm>

namespace acuity::float_ssim {

const float kOne = 1.0f;

namespace {

float* zeros(Arena& arena, size_t count) {
  float* memory = arena.take<float>(count);
  std::fill(memory, memory + count, 0.0f);
  return memory;
}

}  // namespace

Scale::Scale(int width, int height, Arena& arena)
    : width_(width),
      height_(height),
      stride_(padded_row(width)),
      lines_(zeros(arena, kMoments * kRing * stride_)),
      scratch_(zeros(arena, 3 * stride_)) {
  for (double*& column : columns_) column = arena.take<double>(stride_);
}

size_t Scale::bytes(int width) {
  const size_t stride = padded_row(width);
  return Arena::cost<float>(kMoments * kRing * stride) + Arena::cost<float>(3 * stride) +
         kSums * Arena::cost<double>(stride);
}

void Scale::begin() {
  rows_ = compared_ = 0;
  sums_ = {};
}

void Scale::push(const float* reference, const float* distorted) {
  std::array<float*, kMoments> means;
  for (int m = 0; m < kMoments; ++m) means[static_cast<size_t>(m)] = line(m, rows_);
  mean_along_row(reference, distorted, width_, scratch_, means);
  ++rows_;
  const int ready = rows_ - kWindow + 1 - compared_;
  if (ready < kTogether && (rows_ < height_ || ready == 0)) return;
  std::array<std::array<const float*, kRing>, kMoments> lines{};
  for (int m = 0; m < kMoments; ++m) {
    for (int k = 0; k < ready + kWindow - 1; ++k)
      lines[static_cast<size_t>(m)][static_cast<size_t>(k)] = line(m, compared_ + k);
  }
  const int windows = width_ - kWindow + 1;
  compare_windows(lines, ready, windows, compared_ % kCellRows == 0, columns_);
  compared_ += ready;
  if (compared_ % kCellRows != 0 && rows_ < height_) return;
  const Sums row = sum_cells(columns_, windows);
  for (size_t i = 0; i < kSums; ++i) sums_[i] += row[i];
}

Similarity Scale::similarity() const {
  return {sums_, static_cast<double>(width_ - kWindow + 1) * (height_ - kWindow + 1)};
}

Halver::Halver(int width, int height, Arena& arena)
    : width_(width),
      height_(height),
      stride_(padded_row(half(width))),
      even_(zeros(arena, split_floats(width))),
      odd_(zeros(arena, split_floats(width))),
      sums_(arena.take<float>(2 * (kInWork + 1) * stride_)) {}

size_t Halver::bytes(int width) {
  return 2 * Arena::cost<float>(split_floats(width)) + Arena::cost<float>(2 * (kInWork + 1) * padded_row(half(width)));
}

void Halver::begin() {
  rows_ = made_ = 0;
  std::fill(sums_, sums_ + 2 * (kInWork + 1) * stride_, 0.0f);
}

HalvedRow Halver::halved(int y) const {
  const int slot = y < 0 || y >= half(height_) ? kInWork : y % kInWork;
  float* high = sums_ + static_cast<size_t>(2 * slot) * stride_;
  return {high, high + stride_};
}

void Halver::push(const float* row) {
  split_row(row, width_, even_, odd_);
  // The picture is mirrored at its edges: the row counts again where it is beyond one.
  if (rows_ < kReach) add(-1 - rows_);
  add(rows_);
  if (rows_ >= height_ - kReach) add(2 * height_ - 1 - rows_);
  ++rows_;
}

void Halver::add(int y) {
  const bool even = y % 2 == 0;
  std::array<HalvedRow, 5> rows{};
  const int first = even ? y / 2 - 2 : (y - 3) / 2;
  for (int i = 0; i < (even ? 5 : 4); ++i) rows[static_cast<size_t>(i)] = halved(first + i);
  add_to_halves(even_, odd_, half(width_), rows, even);
}

bool Halver::pull(float* out) {
  if (made_ == half(height_) || (rows_ < height_ && 2 * made_ + kReach >= rows_)) return false;
  finish_half(halved(made_), half(width_), out);
  ++made_;
  return true;
}

}  // namespace acuity::float_ssim
