// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <cstring>

#include "colour/alpha.h"
#include "metrics/dssim/scale.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/dssim/cpu.cc"
#include <hwy/foreach_target.h>

#include <hwy/cache_control.h>

#include "lang/cpu.h"

#ifndef ACUITY_METRICS_DSSIM_SCRATCH
#define ACUITY_METRICS_DSSIM_SCRATCH
namespace acuity::dssim {

inline constexpr int kBlurReach = 2;              // pixels a blur looks at on either side
inline constexpr int kRing = 2 * kBlurReach + 1;  // rows it needs to go down the columns
inline constexpr int kRowsAhead = 2;              // to be fetched before they are read
inline constexpr ptrdiff_t kCacheLine = 64;
inline constexpr int kMoments = 5;                       // of a plane: both pictures, both squares, the product
inline constexpr int kRowFloats = kCellColumns + 32;     // of a row with its margins and a vector beyond them
inline constexpr int kMomentFloats = kCellColumns + 16;  // an odd number of cache lines, lest all rows lie in the same

// The rows of one picture that are worked on. Rows begin kMargin columns before the cell; blurred ones kBlurReach
// before.
struct alignas(64) PictureRows {
  float light[2][4][kRowFloats];        // the last two rows: red, green, blue, alpha
  float chroma[2][kRowFloats];          // a, b of the last
  float lightness[3][kRowFloats];       // ring
  float blurred[kRing][2][kRowFloats];  // ring: a, b, blurred along the row
  float ready[2][kRowFloats];           // a, b, blurred both ways
};

struct alignas(64) Scratch {
  PictureRows picture[2];
  float moments[kRing][3][kMoments][kMomentFloats];  // ring: blurred along the row; begin at the cell
  float sums[kCellColumns];
};

}  // namespace acuity::dssim
#endif

HWY_BEFORE_NAMESPACE();
namespace acuity::dssim {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

#include "metrics/dssim/math.h"

// The columns of a cell in a picture that wide. Buffers that begin `reach` columns before the cell hold column x at
// place(x, reach).
struct Columns {
  int begin, end, width;

  int place(int x, int reach) const { return x - begin + reach; }
  int count(int reach) const { return end - begin + 2 * reach; }
  bool has_first() const { return begin == 0; }
  bool has_end(int reach) const { return width < end + reach; }
};

// The blur of one sample, computed as everywhere else.
HWY_INLINE float lane(real value) { return hn::GetLane(value.v); }

// Repeats the outermost samples of the picture once, where they lie in the row.
HWY_INLINE void repeat_ends(const Columns& columns, int reach, float* row) {
  if (columns.has_first()) row[reach - 1] = row[reach];
  if (columns.has_end(reach)) row[columns.place(columns.width, reach)] = row[columns.place(columns.width - 1, reach)];
}

// What blurring along the row made of the first and the last column of the picture is wrong; this is right. `sample(x)`
// is the row before.
template <typename Sample>
HWY_INLINE void blur_ends(const Columns& columns, int reach, float* blurred, Sample sample) {
  const int last = columns.width - 1;
  if (columns.has_first()) {
    blurred[reach] = lane(blur_first(sample(0), sample(std::min(1, last)), sample(std::min(2, last))));
  }
  if (last > 0 && last < columns.end + reach) {
    blurred[columns.place(last, reach)] =
        lane(blur_last(sample(std::max(last - 2, 0)), sample(last - 1), sample(last)));
  }
}

// Five samples from `from` on, one after the other in the row.
HWY_INLINE real blur_five(const float* from) {
  return blur_inside(load_unaligned(from), load_unaligned(from + 1), load_unaligned(from + 2), load_unaligned(from + 3),
                     load_unaligned(from + 4));
}

// The rows that the blur of row y down the columns looks at, by their places in a ring. First and last rows use three.
struct RowsOfBlur {
  enum Kind { kInside, kFirst, kLast } kind;
  int row[kRing];

  RowsOfBlur(int y, int height) : kind(y == 0 ? kFirst : y == height - 1 ? kLast : kInside), row{} {
    const int from = kind == kFirst ? 0 : y - 2;
    for (int i = 0; i < kRing; ++i) row[i] = std::clamp(from + i, 0, height - 1) % kRing;
  }
};

template <typename Fetch>
HWY_INLINE real blur_column(RowsOfBlur::Kind kind, Fetch fetch) {
  if (kind == RowsOfBlur::kInside) return blur_inside(fetch(0), fetch(1), fetch(2), fetch(3), fetch(4));
  if (kind == RowsOfBlur::kFirst) return blur_first(fetch(0), fetch(1), fetch(2));
  return blur_last(fetch(0), fetch(1), fetch(2));
}

// ---------------------------------------------------------------------------------------------------------------------
// One picture: from light to lightness, a and b, the latter two blurred.

class PictureWorker {
 public:
  PictureWorker(const ScaleReader& reader, Size size, const Columns& columns, PictureRows& rows)
      : reader_(reader), size_(size), columns_(columns), rows_(rows) {}

  // Lab of row y, a and b blurred along it.
  HWY_INLINE void convert_row(int y) {
    const float* light[4] = {};
    for (size_t c = 0; c < channels(); ++c) light[c] = light_row(c, y);
    if (reader_.picture != nullptr) read_row(y);
    float* lightness = rows_.lightness[y % 3];
    for (int i = 0; i < columns_.count(kMargin); i += kLanes) {
      real red = load_unaligned(light[0] + i);
      real green = load_unaligned(light[1] + i);
      real blue = load_unaligned(light[2] + i);
      if (reader_.has_alpha) {
        const whole x = hn::Iota(WholeTag(), columns_.begin - kMargin + i);
        put_on_pattern(x, whole(y), load_unaligned(light[3] + i), red, green, blue);
      }
      real l, a, b;
      lab_of(red, green, blue, l, a, b);
      store(l, lightness + i);
      store(a, rows_.chroma[0] + i);
      store(b, rows_.chroma[1] + i);
    }
    repeat_ends(columns_, kMargin, lightness);
    for (int c = 0; c < 2; ++c) {
      float* chroma = rows_.chroma[c];
      float* blurred = rows_.blurred[y % kRing][c];
      repeat_ends(columns_, kMargin, chroma);
      for (int i = 0; i < columns_.count(kBlurReach); i += kLanes) store(blur_five(chroma + i), blurred + i);
      blur_ends(columns_, kBlurReach, blurred, [&](int x) { return real(chroma[columns_.place(x, kMargin)]); });
    }
  }

  // The next scale's light from rows y - 1 and y, both converted before, one just now.
  HWY_INLINE void halve_rows(int y, const Planes& next) {
    const RealTag d;
    const int count = std::min(columns_.end / 2, columns_.width / 2) - columns_.begin / 2;
    for (size_t c = 0; c < channels(); ++c) {
      const float* above = light_row(c, y - 1) + kMargin;
      const float* below = light_row(c, y) + kMargin;
      float* to = next.row(c, y / 2) + columns_.begin / 2;
      for (int x = 0; x < count; x += kLanes) {
        const auto above_low = hn::LoadU(d, above + 2 * x), above_high = hn::LoadU(d, above + 2 * x + kLanes);
        const auto below_low = hn::LoadU(d, below + 2 * x), below_high = hn::LoadU(d, below + 2 * x + kLanes);
        store_unaligned(mean_of_four(hn::ConcatEven(d, above_high, above_low), hn::ConcatOdd(d, above_high, above_low),
                                     hn::ConcatEven(d, below_high, below_low), hn::ConcatOdd(d, below_high, below_low)),
                        to + x);
      }
    }
  }

  // Row y of lightness, a and b, from kBlurReach columns before the cell on, when the rows around it are converted.
  HWY_INLINE void ready_row(int y, const float* (&planes)[3]) {
    if (reader_.prepared != nullptr) {
      for (size_t c = 0; c < 3; ++c) planes[c] = reader_.prepared->row(c, y) + columns_.begin - kBlurReach;
      return;
    }
    planes[0] = rows_.lightness[y % 3] + kMargin - kBlurReach;
    const RowsOfBlur around(y, size_.height);
    for (int c = 0; c < 2; ++c) {
      float* ready = rows_.ready[c];
      for (int i = 0; i < columns_.count(kBlurReach); i += kLanes) {
        store(blur_column(around.kind, [&](int k) { return load(rows_.blurred[around.row[k]][c] + i); }), ready + i);
      }
      repeat_ends(columns_, kBlurReach, ready);
      planes[c + 1] = ready;
    }
  }

  bool is_prepared() const { return reader_.prepared != nullptr; }

 private:
  size_t channels() const { return reader_.has_alpha ? 4 : 3; }

  const float* light_row(size_t c, int y) const {
    if (reader_.light != nullptr) return reader_.light->row(c, y) + columns_.begin - kMargin;
    return rows_.light[y % 2][c];
  }

  HWY_INLINE void read_row(int y) {
    const int begin = std::max(columns_.begin - kMargin, 0);
    const int end = std::min(columns_.end + kMargin, columns_.width);
    fetch_row(std::min(y + kRowsAhead, size_.height - 1), begin, end);
    float(&light)[4][kRowFloats] = rows_.light[y % 2];
    const int at = columns_.place(begin, kMargin);
    reader_.picture->rows->read(y, begin, end, light[0] + at, light[1] + at, light[2] + at);
    if (!reader_.has_alpha) return;
    read_alpha(*reader_.picture->alpha, y, begin, end, light[3] + at);
    for (int c = 0; c < 3; ++c) {
      for (int i = 0; i < columns_.count(kMargin); i += kLanes) {
        store(load(light[c] + i) * load(light[3] + i), light[c] + i);
      }
    }
  }

  // Going down a cell, rows lie too far apart for the processor to foresee the next: ask for it.
  HWY_INLINE void fetch_row(int y, int begin, int end) const {
    const ImageView& view = reader_.picture->rows->view();
    for (size_t c = 0; c < static_cast<size_t>(view.channel_count()); ++c) {
      const std::byte* samples = view.planes[c] + y * view.row_stride + begin * view.pixel_stride;
      for (ptrdiff_t line = 0; line < (end - begin) * view.pixel_stride; line += kCacheLine) {
        hwy::Prefetch(samples + line);
      }
    }
  }

  const ScaleReader& reader_;
  Size size_;
  Columns columns_;
  PictureRows& rows_;
};

// ---------------------------------------------------------------------------------------------------------------------
// Both pictures: from there to the errors.

// Both pictures' samples, their squares and their product, blurred along the row.
HWY_INLINE void blur_moments(const Columns& columns, const float* const (&reference)[3],
                             const float* const (&distorted)[3], float (&moments)[3][kMoments][kMomentFloats]) {
  for (int c = 0; c < 3; ++c) {
    const float* p = reference[c];
    const float* q = distorted[c];
    for (int i = 0; i < columns.count(0); i += kLanes) {
      real a[kRing], b[kRing];
      for (int k = 0; k < kRing; ++k) {
        a[k] = load_unaligned(p + i + k);
        b[k] = load_unaligned(q + i + k);
      }
      store(blur_inside(a[0], a[1], a[2], a[3], a[4]), moments[c][0] + i);
      store(blur_inside(b[0], b[1], b[2], b[3], b[4]), moments[c][1] + i);
      store(blur_inside(a[0] * a[0], a[1] * a[1], a[2] * a[2], a[3] * a[3], a[4] * a[4]), moments[c][2] + i);
      store(blur_inside(b[0] * b[0], b[1] * b[1], b[2] * b[2], b[3] * b[3], b[4] * b[4]), moments[c][3] + i);
      store(blur_inside(a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3], a[4] * b[4]), moments[c][4] + i);
    }
    const auto of_reference = [&](int x) { return real(p[columns.place(x, kBlurReach)]); };
    const auto of_distorted = [&](int x) { return real(q[columns.place(x, kBlurReach)]); };
    blur_ends(columns, 0, moments[c][0], of_reference);
    blur_ends(columns, 0, moments[c][1], of_distorted);
    blur_ends(columns, 0, moments[c][2], [&](int x) { return of_reference(x) * of_reference(x); });
    blur_ends(columns, 0, moments[c][3], [&](int x) { return of_distorted(x) * of_distorted(x); });
    blur_ends(columns, 0, moments[c][4], [&](int x) { return of_reference(x) * of_distorted(x); });
  }
}

template <RowsOfBlur::Kind kind>
HWY_INLINE void errors_of_row(const Columns& columns, const RowsOfBlur& around, Scratch& scratch, float* errors) {
  const float* rows[kRing];
  for (int k = 0; k < kRing; ++k) rows[k] = scratch.moments[around.row[k]][0][0];
  for (int i = 0; i < columns.count(0); i += kLanes) {
    real square1(0.0f), square2(0.0f), mixed(0.0f), variance1(0.0f), variance2(0.0f), covariance(0.0f);
    for (int c = 0; c < 3; ++c) {
      real blurred[kMoments];
      for (int m = 0; m < kMoments; ++m) {
        const int offset = (c * kMoments + m) * kMomentFloats + i;
        blurred[m] = blur_column(kind, [&](int k) { return load(rows[k] + offset); });
      }
      add_plane(blurred[0], blurred[1], blurred[2], blurred[3], blurred[4], square1, square2, mixed, variance1,
                variance2, covariance);
    }
    const real error = ssim_error(square1, square2, mixed, variance1, variance2, covariance);
    store_unaligned(error, errors + i);
    store(load(scratch.sums + i) + error, scratch.sums + i);
  }
}

// Closes the tiles that end with row y.
HWY_INLINE void store_tiles(const Scale& scale, const Cell& cell, int y, float* sums) {
  // Beyond the picture's edge the sums are those of nothing.
  std::fill(sums + (cell.x_end - cell.x_begin), sums + kCellColumns, 0.0f);
  const int across = (scale.size.width + kTileWidth - 1) / kTileWidth;
  float* tiles = scale.tiles + static_cast<ptrdiff_t>(y / kTileHeight) * across + cell.x_begin / kTileWidth;
  for (int x = 0; x < cell.x_end - cell.x_begin; x += kTileWidth) *tiles++ = sum_tile_columns(sums + x);
  std::fill(sums, sums + kCellColumns, 0.0f);
}

bool ends_tile(const Cell& cell, int y) { return y == cell.y_end - 1 || y % kTileHeight == kTileHeight - 1; }

void ScoreCell(const Scale& scale, const Cell& cell, std::byte* memory) {
  Scratch& scratch = *reinterpret_cast<Scratch*>(memory);
  const int height = scale.size.height;
  const Columns columns{cell.x_begin, cell.x_end, scale.size.width};
  PictureWorker workers[2] = {{scale.readers[0], scale.size, columns, scratch.picture[0]},
                              {scale.readers[1], scale.size, columns, scratch.picture[1]}};
  std::fill(scratch.sums, scratch.sums + kCellColumns, 0.0f);
  const auto inside = [&](int y, int reach) {
    return y >= std::max(cell.y_begin - reach, 0) && y < std::min(cell.y_end + reach, height);
  };
  // Each stage is two rows behind the one before.
  for (int y = std::max(cell.y_begin - kMargin, 0); y < cell.y_end + kMargin; ++y) {
    if (inside(y, kMargin)) {
      for (size_t image = 0; image < 2; ++image) {
        if (workers[image].is_prepared()) continue;
        workers[image].convert_row(y);
        if (scale.next[image] != nullptr && inside(y, 0) && y % 2 == 1)
          workers[image].halve_rows(y, *scale.next[image]);
      }
    }
    if (const int row = y - kBlurReach; inside(row, kBlurReach)) {
      const float* reference[3];
      const float* distorted[3];
      workers[0].ready_row(row, reference);
      workers[1].ready_row(row, distorted);
      blur_moments(columns, reference, distorted, scratch.moments[row % kRing]);
    }
    if (const int row = y - 2 * kBlurReach; inside(row, 0)) {
      float* errors = scale.errors + static_cast<size_t>(row) * scale.errors_stride + cell.x_begin;
      const RowsOfBlur around(row, height);
      if (around.kind == RowsOfBlur::kInside) {
        errors_of_row<RowsOfBlur::kInside>(columns, around, scratch, errors);
      } else if (around.kind == RowsOfBlur::kFirst) {
        errors_of_row<RowsOfBlur::kFirst>(columns, around, scratch, errors);
      } else {
        errors_of_row<RowsOfBlur::kLast>(columns, around, scratch, errors);
      }
      if (ends_tile(cell, row)) store_tiles(scale, cell, row, scratch.sums);
    }
  }
}

void SumDeviations(const Scale& scale, const Cell& cell, float expected) {
  alignas(64) float sums[kCellColumns] = {};
  for (int y = cell.y_begin; y < cell.y_end; ++y) {
    const float* errors = scale.errors + static_cast<size_t>(y) * scale.errors_stride + cell.x_begin;
    for (int i = 0; i < cell.x_end - cell.x_begin; i += kLanes) {
      store(load(sums + i) + deviation(load_unaligned(errors + i), real(expected)), sums + i);
    }
    if (ends_tile(cell, y)) store_tiles(scale, cell, y, sums);
  }
}

void PrepareCell(const ScaleReader& reader, Size size, const Cell& cell, const Planes& prepared, const Planes* next,
                 std::byte* memory) {
  Scratch& scratch = *reinterpret_cast<Scratch*>(memory);
  const Columns columns{cell.x_begin, cell.x_end, size.width};
  PictureWorker worker(reader, size, columns, scratch.picture[0]);
  for (int y = std::max(cell.y_begin - kBlurReach, 0); y < cell.y_end + kBlurReach; ++y) {
    if (y < size.height) {
      worker.convert_row(y);
      if (next != nullptr && y >= cell.y_begin && y < cell.y_end && y % 2 == 1) worker.halve_rows(y, *next);
    }
    const int row = y - kBlurReach;
    if (row < cell.y_begin) continue;
    const float* planes[3];
    worker.ready_row(row, planes);
    for (size_t c = 0; c < 3; ++c) {
      float* to = prepared.row(c, row);
      std::copy(planes[c] + kBlurReach, planes[c] + kBlurReach + columns.count(0), to + cell.x_begin);
      if (columns.has_first()) to[-1] = to[0];
      if (cell.x_end == size.width) to[size.width] = to[size.width - 1];
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::dssim
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::dssim {

HWY_EXPORT(ScoreCell);
HWY_EXPORT(SumDeviations);
HWY_EXPORT(PrepareCell);

size_t scratch_bytes() { return sizeof(Scratch); }

void score_cell(const Scale& scale, const Cell& cell, std::byte* scratch) {
  HWY_DYNAMIC_DISPATCH(ScoreCell)(scale, cell, scratch);
}

void sum_deviations(const Scale& scale, const Cell& cell, float expected) {
  HWY_DYNAMIC_DISPATCH(SumDeviations)(scale, cell, expected);
}

void prepare_cell(const ScaleReader& reader, Size size, const Cell& cell, const Planes& prepared, const Planes* next,
                  std::byte* scratch) {
  HWY_DYNAMIC_DISPATCH(PrepareCell)(reader, size, cell, prepared, next, scratch);
}

}  // namespace acuity::dssim
#endif
