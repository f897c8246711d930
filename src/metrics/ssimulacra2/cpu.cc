// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ssimulacra2/scale.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "base/memory.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/ssimulacra2/cpu.cc"
#include <hwy/foreach_target.h>

#include <hwy/cache_control.h>

#include "lang/cpu.h"
#include "lang/transpose.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::ssimulacra2 {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

#include "metrics/ssimulacra2/math.h"
#include "metrics/ssimulacra2/gaussian.h"

static_assert(GAUSSIAN_AHEAD == kAhead && GAUSSIAN_AHEAD + GAUSSIAN_BEHIND == kHistory);

constexpr int kLinearColumns = kCellColumns + kAhead + 2 * kLanes;

// ---------------------------------------------------------------------------------------------------------------------
// Pixels in: linear light to XYB, and on to the next scale.

// Rows are read a few at a time before any of them is converted: a vector load from memory that scalar stores have only
// just written waits until they have left the store queue.
constexpr int kRowsRead = 8;
using LinearBuffer = float[kRowsRead][kChannels][kLinearColumns];

// Two rows of linear light of one picture, from x_begin to x_end, readable for two vectors beyond x_end.
struct LinearPair {
  const float* row[2][kChannels];
};

HWY_INLINE void read_rows(const Rows& rows, int y, int y_end, int x_begin, int x_end, LinearBuffer& buffer) {
  for (int row = y; row < y_end; ++row) {
    float(&into)[kChannels][kLinearColumns] = buffer[row - y];
    rows.read(row, x_begin, x_end, into[0], into[1], into[2]);
    // An odd width repeats its last column when halved.
    for (int c = 0; c < kChannels; ++c) into[c][x_end - x_begin] = into[c][x_end - x_begin - 1];
  }
}

// An odd height repeats its last row.
HWY_INLINE LinearPair pair_in(const Planes& planes, int y, int height, int x_begin) {
  LinearPair pair;
  for (int k = 0; k < 2; ++k) {
    for (size_t c = 0; c < kChannels; ++c) {
      const float* row = planes.channel[c] + static_cast<size_t>(std::min(y + k, height - 1)) * planes.stride + x_begin;
      hwy::Prefetch(row + kCellColumns);
      hwy::Prefetch(row + kCellColumns + kCellColumns / 2);
      pair.row[k][c] = row;
    }
  }
  return pair;
}

HWY_INLINE LinearPair pair_in(const LinearBuffer& buffer, int row, int rows) {
  LinearPair pair;
  for (int k = 0; k < 2; ++k) {
    for (int c = 0; c < kChannels; ++c) pair.row[k][c] = buffer[std::min(row + k, rows - 1)][c];
  }
  return pair;
}

// Halves two rows into one by the mean of 2 x 2.
HWY_INLINE void halve_pair(const LinearPair& pair, int y, int width, int x_begin, int x_end, const Planes& next) {
  const RealTag d;
  const int out_width = (width + 1) / 2;
  const int count = (x_end + 1) / 2 - x_begin / 2;
  for (size_t c = 0; c < kChannels; ++c) {
    float* out = next.channel[c] + static_cast<size_t>(y / 2) * next.stride + x_begin / 2;
    for (int x = 0; x < count; x += kLanes) {
      real quad[4];
      for (int k = 0; k < 2; ++k) {
        const auto low = hn::LoadU(d, pair.row[k][c] + 2 * x);
        const auto high = hn::LoadU(d, pair.row[k][c] + 2 * x + kLanes);
        quad[2 * k] = real(hn::ConcatEven(d, high, low));
        quad[2 * k + 1] = real(hn::ConcatOdd(d, high, low));
      }
      store_unaligned(mean_of_quad(quad[0], quad[1], quad[2], quad[3]), out + x);
    }
    if (x_end == width) next.channel[c][static_cast<size_t>(y / 2) * next.stride + out_width] = out[count - 1];
  }
}

// Where the XYB of one picture goes: row y, column x_begin of a channel lies at first[channel] + (y - y_begin) *
// stride.
struct XybRows {
  float* first[kChannels];
  size_t stride;
};

HWY_INLINE void copy_xyb(const Planes& from, int y, int y_end, int x_begin, int x_end, const XybRows& to) {
  for (int row = y; row < y_end; ++row) {
    for (size_t c = 0; c < kChannels; ++c) {
      const float* in = from.channel[c] + static_cast<size_t>(row) * from.stride + x_begin;
      float* out = to.first[c] + static_cast<size_t>(row - y) * to.stride;
      hwy::Prefetch(in + kCellColumns);
      hwy::Prefetch(in + kCellColumns + kCellColumns / 2);
      for (int x = 0; x < x_end - x_begin; x += kLanes) store_unaligned(load_unaligned(in + x), out + x);
    }
  }
}

HWY_INLINE void convert_row(const float* const (&linear)[kChannels], int count, size_t row, const XybRows& to) {
  for (int x = 0; x < count; x += kLanes) {
    real values[kChannels];
    positive_xyb(load_unaligned(linear[0] + x), load_unaligned(linear[1] + x), load_unaligned(linear[2] + x), values[0],
                 values[1], values[2]);
    for (int c = 0; c < kChannels; ++c) store_unaligned(values[c], to.first[c] + row * to.stride + x);
  }
}

// Rows y .. y_end - 1 of one picture, columns x_begin .. x_end - 1, as XYB; y and x_begin are even. Writes up to a
// vector beyond x_end.
HWY_INLINE void convert_rows(const ScaleReader& reader, int width, int height, int y, int y_end, int x_begin, int x_end,
                             const XybRows& to, const Planes* next) {
  if (reader.xyb != nullptr) {
    copy_xyb(*reader.xyb, y, y_end, x_begin, x_end, to);
    return;
  }
  alignas(64) LinearBuffer buffer;
  for (int row = y; row < y_end; row += 2) {
    const int buffered = (row - y) % kRowsRead;
    const int buffer_rows = std::min(kRowsRead, y_end - (row - buffered));
    if (reader.rows != nullptr && buffered == 0)
      read_rows(*reader.rows, row, row + buffer_rows, x_begin, x_end, buffer);
    const LinearPair pair =
        reader.rows != nullptr ? pair_in(buffer, buffered, buffer_rows) : pair_in(*reader.linear, row, height, x_begin);
    if (next != nullptr) halve_pair(pair, row, width, x_begin, x_end, *next);
    for (int k = 0; k < std::min(2, y_end - row); ++k) {
      convert_row(pair.row[k], x_end - x_begin, static_cast<size_t>(row - y + k), to);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// The row filter. A vector holds one column of as many rows as there are lanes.

// Input of a blurred plane at column index i of the columns held.
template <int plane>
HWY_INLINE real plane_input(const float* image1, const float* image2, int i) {
  const real a = plane == 1 || plane == 3 ? load(image2 + i * kLanes) : load(image1 + i * kLanes);
  if constexpr (plane < 2) return a;
  return a * (plane == 4 ? load(image2 + i * kLanes) : a);
}

template <int plane>
HWY_INLINE real filter_sum(const float* image1, const float* image2, int i) {
  return plane_input<plane>(image1, image2, i) + plane_input<plane>(image1, image2, i + kHistory);
}

// Blurs one plane of one channel along the rows of a group, columns x .. x + kCellColumns - 1, into `out` (rows of
// kCellColumns floats). Columns beyond the picture come out zero.
template <int plane>
HWY_INLINE void filter_rows(const float* image1, const float* image2, int x, int width, GaussianState& saved,
                            float* out) {
  GaussianState state = saved;
  if (x == 0) {
    state = gaussian_start();
    for (int n = -kAhead; n < 0; ++n) gaussian_row_step(state, plane_input<plane>(image1, image2, n + kHistory));
  }
  const auto slow = [&](int begin, int end) {
    for (int i = begin; i < end; i += 4) {
      real o[4];
      for (int j = 0; j < 4; ++j) {
        o[j] = x + i + j < width ? gaussian_row_step(state, filter_sum<plane>(image1, image2, i + j)) : real(0.0f);
      }
      store_columns(o[0], o[1], o[2], o[3], out + i, kCellColumns);
    }
  };
  // Outputs come four at a time from column 8 to the last that leaves seven columns behind it.
  const int four_begin = x == 0 ? 8 : 0;
  const int four_end = std::clamp((width - x - 4) / 4 * 4, four_begin, kCellColumns);
  slow(0, four_begin);
  for (int i = four_begin; i < four_end; i += 4) {
    real o0, o1, o2, o3;
    gaussian_row_four(state, filter_sum<plane>(image1, image2, i), filter_sum<plane>(image1, image2, i + 1),
                      filter_sum<plane>(image1, image2, i + 2), filter_sum<plane>(image1, image2, i + 3), o0, o1, o2,
                      o3);
    store_columns(o0, o1, o2, o3, out + i, kCellColumns);
  }
  slow(four_end, kCellColumns);
  saved = state;
}

// ---------------------------------------------------------------------------------------------------------------------
// The column filter. A vector holds neighbouring columns of one row.

HWY_INLINE GaussianState load_state(const float (*from)[kCellColumns], int x) {
  return {load(from[0] + x), load(from[1] + x), load(from[2] + x),
          load(from[3] + x), load(from[4] + x), load(from[5] + x)};
}

HWY_INLINE void store_state(const GaussianState& state, float (*to)[kCellColumns], int x) {
  store(state.p1, to[0] + x);
  store(state.q1, to[1] + x);
  store(state.p2, to[2] + x);
  store(state.q2, to[3] + x);
  store(state.p3, to[4] + x);
  store(state.q3, to[5] + x);
}

// `plane` holds kHistory rows of the band above and `rows` new ones. Each output replaces the input that is needed no
// longer, so the first `rows` rows become the blurred ones and the last kHistory remain for the band below.
HWY_INLINE void filter_columns(float* plane, int rows, float (*saved)[kCellColumns]) {
  constexpr int kTogether = 2;  // two vectors at a time hide the latency of the recursion
  for (int x = 0; x < kCellColumns; x += kTogether * kLanes) {
    GaussianState state[kTogether];
    for (int v = 0; v < kTogether; ++v) state[v] = load_state(saved, x + v * kLanes);
    for (int k = 0; k < rows; ++k) {
      float* row = plane + k * kCellColumns + x;
      for (int v = 0; v < kTogether; ++v) {
        const real sum = load(row + v * kLanes) + load(row + kHistory * kCellColumns + v * kLanes);
        store(gaussian_column_step(state[v], sum), row + v * kLanes);
      }
    }
    for (int v = 0; v < kTogether; ++v) store_state(state[v], saved, x + v * kLanes);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// The error maps and their sums.

struct MapRow {
  const float* linear = nullptr;  // of this channel: ssim, ringing, blur
  const float* quartic = nullptr;
  float* out = nullptr;  // of this cell's first column in the first of the rows
  size_t stride = 0;
  int columns = 0;   // that belong to the picture
  bool add = false;  // to what other channels have left there
};

HWY_INLINE void store_map(const MapRow& map, int row, int x, real ssim, real ringing, real blur) {
  const real value = ssim * map.linear[0] + fourth_power(ssim) * map.quartic[0] + ringing * map.linear[1] +
                     fourth_power(ringing) * map.quartic[1] + blur * map.linear[2] +
                     fourth_power(blur) * map.quartic[2];
  alignas(64) float lanes[kLanes];
  store(value, lanes);
  float* out = map.out + static_cast<size_t>(row) * map.stride + x;
  for (int i = 0; i < std::min(kLanes, map.columns - x); ++i) out[i] = map.add ? out[i] + lanes[i] : lanes[i];
}

// So many rows, which lie within one row of tiles. blurred[p] and image[i] point to the first.
template <bool with_map>
HWY_INLINE void add_errors(const float* const (&blurred)[kPlanes], const float* const (&image)[2], int rows,
                           float (*sums)[kCellColumns], const MapRow& map) {
  for (int x = 0; x < kCellColumns; x += kLanes) {
    real sum[kSums];
    for (int i = 0; i < kSums; ++i) sum[i] = load(sums[i] + x);
    for (int k = 0; k < rows; ++k) {
      const int at = k * kCellColumns + x;
      const real mu1 = load(blurred[0] + at), mu2 = load(blurred[1] + at);
      const real ssim = ssim_error(mu1, mu2, load(blurred[2] + at), load(blurred[3] + at), load(blurred[4] + at));
      const real edge = edge_error(load(image[0] + k * kXybStride + x), mu1, load(image[1] + k * kXybStride + x), mu2);
      const real ringing = max(edge, real(0.0f));
      const real blur = max(-edge, real(0.0f));
      sum[0] += ssim;
      sum[1] += fourth_power(ssim);
      sum[2] += ringing;
      sum[3] += fourth_power(ringing);
      sum[4] += blur;
      sum[5] += fourth_power(blur);
      if constexpr (with_map) store_map(map, k, x, ssim, ringing, blur);
    }
    for (int i = 0; i < kSums; ++i) store(sum[i], sums[i] + x);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// A worker and its scratch.

class Worker {
 public:
  Worker(const Scale& scale, std::byte* scratch) : scale_(scale), rows_(scale.band_rows) {
    groups_ = (rows_ + kLanes - 1) / kLanes;
    float* next = reinterpret_cast<float*>(scratch);
    const auto take = [&next](size_t count) {
      float* taken = next;
      next += count;
      return taken;
    };
    xyb_ = take(size_t{2} * kChannels * xyb_plane());
    columns_ = take(static_cast<size_t>(groups_) * 2 * kChannels * kColumnsHeld * kLanes);
    blurred_ = take(kPlanes * blurred_plane());
    states_ = reinterpret_cast<GaussianState*>(next);
  }

  void run() {
    const int bands = scale_.band_count();
    for (int band = (*scale_.next_band)++; band < bands; band = (*scale_.next_band)++) run_band(band);
  }

 private:
  size_t xyb_plane() const { return static_cast<size_t>(groups_ * kLanes + kAhead) * kXybStride; }
  size_t blurred_plane() const { return static_cast<size_t>(groups_ * kLanes + kHistory) * kCellColumns; }
  // Row 0 is four rows above the band.
  float* xyb(int image, int channel, int row) const {
    return xyb_ + static_cast<size_t>(image * kChannels + channel) * xyb_plane() +
           static_cast<size_t>(row) * kXybStride;
  }
  float* columns(int group, int image, int channel) const {
    return columns_ + static_cast<size_t>((group * 2 + image) * kChannels + channel) * kColumnsHeld * kLanes;
  }
  float* blurred(int plane) const { return blurred_ + static_cast<size_t>(plane) * blurred_plane(); }

  void run_band(int band) {
    const int y = band * rows_;
    std::memset(columns_, 0, static_cast<size_t>(groups_) * 2 * kChannels * kColumnsHeld * kLanes * sizeof(float));
    std::memset(xyb_, 0, 2 * kChannels * xyb_plane() * sizeof(float));
    make_pixels(y, 0, 0, kAhead);
    for (int cell = 0; cell < scale_.cell_count(); ++cell) {
      const int x = cell * kCellColumns;
      make_pixels(y, x, x + kAhead, x + kAhead + kCellColumns);
      wait_for_band_above(band, cell);
      run_cell(band, cell);
      scale_.progress[band].store(cell + 1, std::memory_order_release);
      move_on();
    }
  }

  void wait_for_band_above(int band, int cell) const {
    if (band == 0) return;
    for (int spins = 0; scale_.progress[band - 1].load(std::memory_order_acquire) <= cell; ++spins) {
      if (spins > 1000) std::this_thread::yield();
    }
  }

  // XYB of columns x_begin .. x_end - 1, both by rows and by columns; x is the first column of the cell. What lies
  // outside the picture is zero.
  void make_pixels(int y, int x, int x_begin, int x_end) {
    const int offset = x_begin - x;
    const int inside_x = std::clamp(scale_.width, x_begin, x_end);
    const int inside_rows = std::clamp(scale_.height - y, 0, rows_);
    for (int image = 0; image < 2; ++image) {
      XybRows to{{}, kXybStride};
      for (int c = 0; c < kChannels; ++c) to.first[c] = xyb(image, c, kAhead) + offset;
      if (inside_x > x_begin) {
        convert_rows(scale_.readers[static_cast<size_t>(image)], scale_.width, scale_.height, y, y + inside_rows,
                     x_begin, inside_x, to, scale_.next[static_cast<size_t>(image)]);
      }
      for (int row = 0; row < rows_; ++row) {
        const int from = row < inside_rows ? inside_x - x_begin : 0;
        for (int c = 0; c < kChannels && from < x_end - x_begin; ++c) {
          float* pixels = to.first[c] + row * kXybStride;
          std::fill(pixels + from, pixels + (x_end - x_begin), 0.0f);
        }
      }
      for (int group = 0; group < groups_; ++group) {
        for (int c = 0; c < kChannels; ++c) {
          const float* from = xyb(image, c, kAhead + group * kLanes) + offset;
          float* into = columns(group, image, c) + (offset + GAUSSIAN_BEHIND) * kLanes;
          for (int i = 0; i < x_end - x_begin; i += 4) load_columns(from + i, kXybStride, into + i * kLanes);
        }
      }
    }
  }

  void run_cell(int band, int cell) {
    CellState& state = scale_.cells[cell];
    if (band == 0) std::memset(&state, 0, sizeof state);
    for (int image = 0; image < 2; ++image) {
      for (int c = 0; c < kChannels; ++c) {
        float(&above)[kAhead][kCellColumns] = state.xyb[image][c];
        for (int row = 0; row < kAhead; ++row) std::memcpy(xyb(image, c, row), above[row], sizeof above[row]);
        for (int row = 0; row < kAhead; ++row) std::memcpy(above[row], xyb(image, c, rows_ + row), sizeof above[row]);
      }
    }
    for (int c = 0; c < kChannels; ++c) {
      for (int group = 0; group < groups_; ++group) {
        filter_group<0>(c, group, cell);
        filter_group<1>(c, group, cell);
        filter_group<2>(c, group, cell);
        filter_group<3>(c, group, cell);
        filter_group<4>(c, group, cell);
      }
      for (int p = 0; p < kPlanes; ++p) {
        float(&history)[kHistory][kCellColumns] = state.inputs[c][p];
        std::memcpy(blurred(p), history, sizeof history);
        std::memcpy(history, blurred(p) + static_cast<size_t>(rows_) * kCellColumns, sizeof history);
        filter_columns(blurred(p), rows_, state.filters[c][p]);
      }
      pool(band, cell, c, state.sums[c]);
    }
  }

  template <int plane>
  void filter_group(int channel, int group, int cell) {
    filter_rows<plane>(columns(group, 0, channel), columns(group, 1, channel), cell * kCellColumns, scale_.width,
                       states_[(group * kChannels + channel) * kPlanes + plane],
                       blurred(plane) + static_cast<size_t>(kHistory + group * kLanes) * kCellColumns);
  }

  // Adds the errors of the band's output rows to the column sums, and closes each row of tiles that ends in them.
  void pool(int band, int cell, int channel, float (*sums)[kCellColumns]) {
    const int first = band * rows_ - kAhead;  // the picture row of output row 0
    const int end = std::min(first + rows_, scale_.height);
    for (int y = std::max(first, 0); y < end;) {
      const int rows_end = std::min(end, (y / kTileHeight + 1) * kTileHeight);
      add_rows(cell, channel, y, rows_end, y - first, sums);
      if (rows_end % kTileHeight == 0 || rows_end == scale_.height) {
        const int tile = y / kTileHeight * scale_.cell_count() + cell;
        for (int i = 0; i < kSums; ++i) {
          scale_.tiles[tile][static_cast<size_t>(channel * kSums + i)] = sum_tile_columns(sums[i]);
          std::fill(sums[i], sums[i] + kCellColumns, 0.0f);
        }
      }
      y = rows_end;
    }
  }

  void add_rows(int cell, int channel, int y, int y_end, int row, float (*sums)[kCellColumns]) {
    const float* planes[kPlanes];
    for (int p = 0; p < kPlanes; ++p) planes[p] = blurred(p) + static_cast<size_t>(row) * kCellColumns;
    const float* const images[2] = {xyb(0, channel, row), xyb(1, channel, row)};
    if (scale_.map == nullptr) {
      add_errors<false>(planes, images, y_end - y, sums, {});
      return;
    }
    const int x = cell * kCellColumns;
    MapRow map;
    map.linear = scale_.map_weights->linear[static_cast<size_t>(channel)].data();
    map.quartic = scale_.map_weights->quartic[static_cast<size_t>(channel)].data();
    map.out = scale_.map + static_cast<size_t>(y) * static_cast<size_t>(scale_.width) + x;
    map.stride = static_cast<size_t>(scale_.width);
    map.columns = scale_.width - x;
    map.add = channel > 0;
    add_errors<true>(planes, images, y_end - y, sums, map);
  }

  // The columns that the next cell looks back at come first.
  void move_on() {
    for (int group = 0; group < groups_; ++group) {
      for (int image = 0; image < 2; ++image) {
        for (int c = 0; c < kChannels; ++c) {
          float* held = columns(group, image, c);
          std::memcpy(held, held + kCellColumns * kLanes, kHistory * kLanes * sizeof(float));
        }
      }
    }
    for (int image = 0; image < 2; ++image) {
      for (int c = 0; c < kChannels; ++c) {
        for (int row = kAhead; row < kAhead + rows_; ++row) {
          float* pixels = xyb(image, c, row);
          std::memcpy(pixels, pixels + kCellColumns, kAhead * sizeof(float));
        }
      }
    }
  }

  const Scale& scale_;
  int rows_;
  int groups_;
  float* xyb_;             // [image][channel][row][column]
  float* columns_;         // [group][image][channel][column][lane]
  float* blurred_;         // [plane][row][column] of the channel
  GaussianState* states_;  // [group][channel][plane], of the row filter
};

void score_scale(const Scale& scale, std::byte* scratch) { Worker(scale, scratch).run(); }

void prepare_rows(const ScaleReader& reader, int width, int height, int row_begin, int row_end, const Planes& xyb,
                  const Planes* next) {
  for (int x = 0; x < width; x += kCellColumns) {
    XybRows to{{}, xyb.stride};
    for (size_t c = 0; c < kChannels; ++c)
      to.first[c] = xyb.channel[c] + static_cast<size_t>(row_begin) * xyb.stride + x;
    convert_rows(reader, width, height, row_begin, row_end, x, std::min(x + kCellColumns, width), to, next);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::ssimulacra2
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::ssimulacra2 {

HWY_EXPORT(score_scale);
HWY_EXPORT(prepare_rows);

size_t scratch_bytes(int band_rows) {
  const size_t rows = round_up(static_cast<size_t>(band_rows), kMaximumLanes);
  return sizeof(float) * (2 * kChannels * (rows + kAhead) * kXybStride + rows * 2 * kChannels * kColumnsHeld +
                          kPlanes * (rows + kHistory) * kCellColumns + rows * kChannels * kPlanes * kFilterFloats);
}

void score_scale(const Scale& scale, std::byte* scratch) { HWY_DYNAMIC_DISPATCH(score_scale)(scale, scratch); }

void prepare_rows(const ScaleReader& reader, int width, int height, int row_begin, int row_end, const Planes& xyb,
                  const Planes* next) {
  HWY_DYNAMIC_DISPATCH(prepare_rows)(reader, width, height, row_begin, row_end, xyb, next);
}

}  // namespace acuity::ssimulacra2
#endif
