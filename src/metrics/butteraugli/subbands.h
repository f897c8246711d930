// SPDX-License-Identifier: BSD-2-Clause-Patent
// From light to the frequency subbands of one picture, row by row; cpu.cc includes this inside the namespace of a
// target, after filters.h.

// Row y of a picture, columns x_begin .. x_end - 1. Packed bytes, which are nearly all there is, are looked up here:
// all three channels at once, eight bytes at a time.
HWY_NOINLINE void read_row(const Rows& rows, int y, int x_begin, int x_end, float* const (&to)[3]) {
  const std::span<const float> table = rows.code_table();
  const ImageView& view = rows.view();
  int x = x_begin;
  if (!table.empty() && view.type == SampleType::u8) {
    const std::byte* codes = view.planes[0] + y * view.row_stride;
    for (; x + 8 <= x_end; x += 8) {
      uint64_t bytes[3];
      std::memcpy(bytes, codes + 3 * x, sizeof bytes);
      float* const at[3] = {to[0] + (x - x_begin), to[1] + (x - x_begin), to[2] + (x - x_begin)};
#pragma GCC unroll 24
      for (int i = 0; i < 24; ++i) at[i % 3][i / 3] = table[bytes[i / 8] >> (8 * (i % 8)) & 0xFF];
    }
  }
  if (x < x_end) rows.read(y, x, x_end, to[0] + (x - x_begin), to[1] + (x - x_begin), to[2] + (x - x_begin));
}

// Row y of a half resolution, columns x_begin .. x_end - 1.
HWY_INLINE void read_halved(const Rows& rows, int y, int x_begin, int x_end, float* const (&to)[3]) {
  constexpr int kColumns = 2 * kStride;
  alignas(64) float samples[2][3][kColumns];
  const RealTag d;
  const int from = 2 * x_begin;
  const int end = std::min(2 * x_end, rows.width());
  const bool odd_width = 2 * x_end > rows.width();
  const bool odd_height = 2 * y + 1 == rows.height();
  for (int k = 0; k < 2; ++k) {
    float(&row)[3][kColumns] = samples[k];
    if (k == 1 && odd_height) {
      std::memset(row, 0, sizeof row);
    } else {
      read_row(rows, 2 * y + k, from, end, {row[0], row[1], row[2]});
      for (int c = 0; c < 3; ++c) row[c][end - from] = 0;
    }
  }
  const real factor = real(odd_height ? 0.5f : 0.25f);
  for (int c = 0; c < 3; ++c) {
    for (int x = 0; x < x_end - x_begin; x += kLanes) {
      const auto pair = [&](int k, int half) HWY_ATTR { return hn::LoadU(d, samples[k][c] + 2 * x + half * kLanes); };
      const auto even = [&](int k) HWY_ATTR { return real(hn::ConcatEven(d, pair(k, 1), pair(k, 0))); };
      const auto odd = [&](int k) HWY_ATTR { return real(hn::ConcatOdd(d, pair(k, 1), pair(k, 0))); };
      store_unaligned(halve(even(0), odd(0), even(1), odd(1), factor), to[c] + x);
    }
    // Twice the factor in the last column of an odd width; doubling is exact.
    if (odd_width) to[c][x_end - x_begin - 1] *= 2.0f;
  }
}

// Asks for a part of a row of samples that will be read soon: cells go down the picture, too far from row to row for
// the processor to foresee.
HWY_INLINE void prefetch_row(const ImageView& view, int y, int x_begin, int x_end) {
  if (y >= view.height || view.pixel_stride <= 0) return;
  const std::byte* row = view.planes[0] + y * view.row_stride;
  for (ptrdiff_t at = x_begin * view.pixel_stride; at < x_end * view.pixel_stride; at += 64) hwy::Prefetch(row + at);
}

// Row -1 is row 0, row -2 is row 1, and likewise at the end.
HWY_INLINE int mirrored(int y, int height) { return y < 0 ? -1 - y : y >= height ? 2 * height - 1 - y : y; }

class Subbands {
 public:
  Subbands(const Scale& scale, const ScaleReader& reader, const Frame& frame, PictureRings& rings)
      : scale_(scale), reader_(reader), frame_(frame), rings_(rings) {}

  bool is_prepared() const { return reader_.prepared != nullptr; }
  bool is_to_be_prepared() const { return scale_.prepare != nullptr; }
  // A row of what is prepared, by the columns of a row held.
  const float* prepared_row(size_t plane, int y) const { return reader_.prepared->row(plane, y) - frame_.left_edge; }
  // Prepares this cell's own pixels of a row.
  void prepare_row(size_t plane, int y, const float* row) const {
    const Cell& cell = frame_.cell;
    if (y < cell.y_begin || y >= cell.y_end) return;
    std::copy_n(row + kMargin, frame_.width(), scale_.prepare->row(plane, y) + cell.x_begin);
  }

  // Rows up to `limit`, exclusive, as all functions here.
  void read_light(int limit);
  void make_xyb(int limit);
  void blur_low(int limit) { blur<LowBlur, 3>(rings_.xyb_rows, low_done_, limit, kReachLow); }
  void blur_middle(int limit) { blur<MiddleBlur, 3>(rings_.middle_rows, middle_done_, limit, kReachMiddle); }
  void blur_high(int limit) { blur<HighBlur, 2>(rings_.high_rows, high_done_, limit, kReachHigh); }
  void blur_activity(int limit);

  // One row, in the order of rows. Rows outside the picture are zeros.
  void split_low(int y);
  void split_middle_subband(int y);
  void split_high_subband(int y);

  // The row split last, by the columns of a row held.
  const float* low(size_t c) const { return low_[c]; }
  const float* middle(size_t c) const { return middle_[c]; }
  const float* high(size_t c) const { return high_[c]; }
  const float* ultra(size_t c) const { return ultra_[c]; }

 private:
  template <typename Kind, size_t count>
  void blur(const std::array<Ring, count>& in, int& done, int limit, int reach) {
    for (size_t c = 0; c < count && !is_prepared(); ++c) {
      frame_.blur_batch<Kind>(in[c], done, limit, frame_.columns(reach), rings_.soft[c]);
    }
    done = std::max(done, limit);
  }

  void mirror_sides(float* row, Columns columns) const {
    if (columns.begin <= frame_.left_edge) {
      row[frame_.left_edge - 1] = row[frame_.left_edge];
      row[frame_.left_edge - 2] = row[frame_.left_edge + 1];
    }
    if (columns.end == frame_.right_edge) {
      row[frame_.right_edge] = row[frame_.right_edge - 1];
      row[frame_.right_edge + 1] = row[frame_.right_edge - 2];
    }
  }

  const Scale& scale_;
  const ScaleReader& reader_;
  const Frame& frame_;
  PictureRings& rings_;
  std::array<const float*, 3> low_{}, middle_{};
  std::array<const float*, 2> high_{}, ultra_{};
  // The first row that each stage has still to make.
  int light_done_ = frame_.cell.y_begin - kReachLight;
  int xyb_done_ = frame_.cell.y_begin - kReachXyb;
  int low_done_ = frame_.cell.y_begin - kReachLow;
  int middle_done_ = frame_.cell.y_begin - kReachMiddle;
  int high_done_ = frame_.cell.y_begin - kReachHigh;
  int activity_done_ = frame_.cell.y_begin - kReachBlurredActivity;
};

inline void Subbands::read_light(int limit) {
  const Columns wide = frame_.columns(kReachLight), narrow = frame_.columns(kReachXyb);
  const int x_begin = std::max(wide.begin, frame_.left_edge);
  const int from = x_begin - frame_.left_edge, to_end = wide.end - frame_.left_edge;
  const Rows& rows = reader_.light.rows->rows;
  const int height = frame_.size.height;
  const int y_begin = std::max(light_done_, -2), y_end = std::min(limit, height + 2);
  // All rows before any is used: a vector loaded from memory that scalar stores have only just written waits until they
  // have left the store queue.
  for (int y = y_begin; y < y_end; ++y) {
    float* const to[3] = {rings_.light[0].row(y) + x_begin, rings_.light[1].row(y) + x_begin,
                          rings_.light[2].row(y) + x_begin};
    constexpr int kAhead = 8;
    if (scale_.halved) {
      for (int k = 0; k < 2; ++k) prefetch_row(rows.view(), 2 * (y + kAhead) + k, 2 * from, 2 * to_end);
      read_halved(rows, mirrored(y, height), from, to_end, to);
    } else {
      prefetch_row(rows.view(), y + kAhead, from, to_end);
      read_row(rows, mirrored(y, height), from, to_end, to);
    }
    for (const Ring& ring : rings_.light) mirror_sides(ring.row(y), wide);
  }
  for (int y = y_begin; y < y_end; ++y) {
    for (size_t c = 0; c < 3; ++c) {
      const float* in = rings_.light[c].row(y);
      float* out = rings_.light_rows[c].row(y);
      for (int x = narrow.begin; x < narrow.end; x += kLanes) {
        const Neighbours at(in + x);
        store(blur_opsin(at(-2), at(-1), at(0), at(1), at(2)), out + x);
      }
    }
  }
  light_done_ = std::max(light_done_, limit);
}

inline void Subbands::make_xyb(int limit) {
  const Columns wide = frame_.columns(kReachXyb), narrow = frame_.columns(kReachLow);
  const real nits = real(reader_.light.nits);
  for (int y = xyb_done_; y < limit; ++y) {
    if (!frame_.has_row(y)) {
      for (const Ring& ring : rings_.xyb_rows) fill_row(ring.row(y), 0.0f);
      continue;
    }
    const float* around[3][5];
    const float* light[3];
    float* out[3];
    for (size_t c = 0; c < 3; ++c) {
      for (int i = 0; i < 5; ++i) around[c][i] = rings_.light_rows[c].row(y - 2 + i);
      light[c] = rings_.light[c].row(y);
      out[c] = rings_.xyb[c].row(y);
    }
    for (int x = wide.begin; x < wide.end; x += kLanes) {
      const auto soft = [&](size_t c) HWY_ATTR {
        return blur_opsin(load(around[c][0] + x), load(around[c][1] + x), load(around[c][2] + x),
                          load(around[c][3] + x), load(around[c][4] + x));
      };
      real xyb[3];
      opsin_dynamics(load(light[0] + x), load(light[1] + x), load(light[2] + x), soft(0), soft(1), soft(2), nits,
                     xyb[0], xyb[1], xyb[2]);
      for (size_t c = 0; c < 3; ++c) store(xyb[c], out[c] + x);
    }
    for (size_t c = 0; c < 3; ++c) {
      frame_.close_row(out[c], 0.0f);
      blur_row<LowBlur>(out[c], narrow, frame_.low, rings_.xyb_rows[c].row(y));
    }
  }
  xyb_done_ = std::max(xyb_done_, limit);
}

inline void Subbands::split_low(int y) {
  if (is_prepared()) {
    for (size_t c = 0; c < 3 && frame_.has_row(y); ++c) low_[c] = prepared_row(kPreparedLow + c, y);
    return;
  }
  if (!frame_.has_row(y)) {
    for (const Ring& ring : rings_.middle_rows) fill_row(ring.row(y), 0.0f);
    return;
  }
  const Columns wide = frame_.columns(kReachLow), narrow = frame_.columns(kReachMiddle);
  const float* xyb[3];
  const float* soft[3];
  float* middle[3];
  float* low[3];
  for (size_t c = 0; c < 3; ++c) {
    xyb[c] = rings_.xyb[c].row(y);
    soft[c] = rings_.soft[c].row(y);
    middle[c] = rings_.middle[c].row(y);
    low_[c] = low[c] = rings_.low_row[c].row(0);
  }
  for (int x = wide.begin; x < wide.end; x += kLanes) {
    real values[3];
    for (size_t c = 0; c < 3; ++c) {
      values[c] = load(soft[c] + x);
      store(load(xyb[c] + x) - values[c], middle[c] + x);
    }
    low_values(values[0], values[1], values[2]);
    for (size_t c = 0; c < 3; ++c) store(values[c], low[c] + x);
  }
  for (size_t c = 0; c < 3; ++c) {
    frame_.close_row(middle[c], 0.0f);
    blur_row<MiddleBlur>(middle[c], narrow, frame_.middle, rings_.middle_rows[c].row(y));
    if (is_to_be_prepared()) prepare_row(kPreparedLow + c, y, low[c]);
  }
}

inline void Subbands::split_middle_subband(int y) {
  if (is_prepared()) {
    for (size_t c = 0; c < 3 && frame_.has_row(y); ++c) middle_[c] = prepared_row(kPreparedMiddle + c, y);
    return;
  }
  if (!frame_.has_row(y)) {
    for (const Ring& ring : rings_.high_rows) fill_row(ring.row(y), 0.0f);
    return;
  }
  const Columns wide = frame_.columns(kReachMiddle), narrow = frame_.columns(kReachHigh);
  float* high[2] = {rings_.high[0].row(y), rings_.high[1].row(y)};
  const float* before[2] = {rings_.middle[0].row(y), rings_.middle[1].row(y)};
  const float* soft[2] = {rings_.soft[0].row(y), rings_.soft[1].row(y)};
  float* middle[2] = {rings_.middle_row[0].row(0), rings_.middle_row[1].row(0)};
  for (int x = wide.begin; x < wide.end; x += kLanes) {
    real middle_x, middle_y, high_x, high_y;
    split_middle(load(before[0] + x), load(before[1] + x), load(soft[0] + x), load(soft[1] + x), middle_x, middle_y,
                 high_x, high_y);
    store(middle_x, middle[0] + x);
    store(middle_y, middle[1] + x);
    store(high_x, high[0] + x);
    store(high_y, high[1] + x);
  }
  middle_ = {middle[0], middle[1], rings_.soft[2].row(y)};  // of B the blurred subband is all there is
  for (size_t c = 0; c < 2; ++c) {
    frame_.close_row(high[c], 0.0f);
    blur_row<HighBlur>(high[c], narrow, frame_.high, rings_.high_rows[c].row(y));
  }
  for (size_t c = 0; c < 3 && is_to_be_prepared(); ++c) prepare_row(kPreparedMiddle + c, y, middle_[c]);
}

inline void Subbands::split_high_subband(int y) {
  if (is_prepared()) {
    for (size_t c = 0; c < 2 && frame_.has_row(y); ++c) {
      high_[c] = prepared_row(kPreparedHigh + c, y);
      ultra_[c] = prepared_row(kPreparedUltra + c, y);
    }
    return;
  }
  float* activity_blurred = rings_.activity_rows.row(y);
  if (!frame_.has_row(y)) {
    fill_row(activity_blurred, 0.0f);
    return;
  }
  const Columns wide = frame_.columns(kReachHigh), narrow = frame_.columns(kReachBlurredActivity);
  const float* before[2] = {rings_.high[0].row(y), rings_.high[1].row(y)};
  const float* soft[2] = {rings_.soft[0].row(y), rings_.soft[1].row(y)};
  float* high[2] = {rings_.high_row[0].row(0), rings_.high_row[1].row(0)};
  float* ultra[2] = {rings_.ultra_row[0].row(0), rings_.ultra_row[1].row(0)};
  float* busy = rings_.activity_row.row(0);
  for (int x = wide.begin; x < wide.end; x += kLanes) {
    real high_x, high_y, ultra_x, ultra_y;
    split_high_x(load(before[0] + x), load(soft[0] + x), high_x, ultra_x);
    split_high_y(load(before[1] + x), load(soft[1] + x), high_y, ultra_y);
    store(high_x, high[0] + x);
    store(high_y, high[1] + x);
    store(ultra_x, ultra[0] + x);
    store(ultra_y, ultra[1] + x);
    store(activity(high_x, high_y, ultra_x, ultra_y), busy + x);
  }
  frame_.close_row(busy, 0.0f);
  blur_row<MaskBlur>(busy, narrow, frame_.mask, activity_blurred);
  high_ = {high[0], high[1]};
  ultra_ = {ultra[0], ultra[1]};
  for (size_t c = 0; c < 2 && is_to_be_prepared(); ++c) {
    prepare_row(kPreparedHigh + c, y, high[c]);
    prepare_row(kPreparedUltra + c, y, ultra[c]);
  }
}

inline void Subbands::blur_activity(int limit) {
  if (is_prepared()) return;
  const Ring& out = rings_.blurred_activity;
  frame_.blur_batch<MaskBlur>(rings_.activity_rows, activity_done_, limit, frame_.columns(kReachBlurredActivity), out);
  for (int y = activity_done_; y < limit && is_to_be_prepared(); ++y) prepare_row(kPreparedActivity, y, out.row(y));
  activity_done_ = std::max(activity_done_, limit);
}
