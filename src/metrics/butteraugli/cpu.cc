// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/butteraugli/strip.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/memory.h"
#include "metrics/butteraugli/rings.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/butteraugli/cpu.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::butteraugli {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

#include "lang/exact.h"
#include "metrics/butteraugli/math.h"
#include "metrics/butteraugli/blurs.h"
#include "metrics/butteraugli/malta.h"

// ---------------------------------------------------------------------------------------------------------------------
// Filters along rows and along columns.

// Columns of a row held, of which the first kMargin lie left of the piece.
struct Columns {
  int begin = 0;  // a multiple of kLanes
  int end = 0;
};

// A blur of blurs.h; `at` gives the sample at a distance.
#define BLUR_TYPE(Name, NAME, kind)                        \
  struct Name {                                            \
    static constexpr int kRadius = BLUR_##NAME##_RADIUS;   \
    static constexpr Blur kBlur = Blur::kind;              \
    template <typename At>                                 \
    static HWY_INLINE real inside(At at) {                 \
      real result;                                         \
      BLUR_##NAME(at, result) return result;               \
    }                                                      \
    template <typename At>                                 \
    static HWY_INLINE real edge(At at, real scale) {       \
      real result;                                         \
      BLUR_##NAME##_EDGE(at, scale, result) return result; \
    }                                                      \
  };
BLUR_TYPE(LowBlur, LOW, low)
BLUR_TYPE(MiddleBlur, MIDDLE, middle)
BLUR_TYPE(HighBlur, HIGH, high)
BLUR_TYPE(MaskBlur, MASK, mask)
#undef BLUR_TYPE

// The columns of a row held in which the picture's edges cut a blur: those before `left` and from `right` on. `scale`
// holds blur_edge_scale there, 0 elsewhere.
struct RowEdges {
  int left = 0;
  int right = 0;
  alignas(64) float scale[kStride] = {};
};

template <typename Kind>
HWY_INLINE void blur_row(const float* in, Columns columns, const RowEdges& edges, float* out) {
  for (int x = columns.begin; x < columns.end; x += kLanes) {
    const auto at = [&](int i) HWY_ATTR { return load_unaligned(in + x + i); };
    real result = Kind::inside(at);
    if (x < edges.left || x + kLanes > edges.right) {
      const real scale = load(edges.scale + x);
      result = select(scale == real(0.0f), result, Kind::edge(at, scale));
    }
    store(result, out + x);
  }
}

// Rows y .. y_end - 1 of a picture `height` high, from `in` to a batch of rows. A few columns at a time go down all
// rows while they are in the nearest cache.
template <typename Kind>
HWY_INLINE void blur_columns(const Ring& in, int y_begin, int y_end, int height, Columns columns, float* out) {
  constexpr int kTogether = 64;
  for (int block = columns.begin; block < columns.end; block += kTogether) {
    const int block_end = std::min(block + kTogether, columns.end);
    for (int y = y_begin; y < y_end; ++y) {
      const float* centre = in.row(y);
      float* to = out + static_cast<ptrdiff_t>(y - y_begin) * kStride;
      const bool inside = y >= Kind::kRadius && y < height - Kind::kRadius;
      const real scale = inside ? real(0.0f) : real(blur_edge_scale(Kind::kBlur, y, height));
      for (int x = block; x < block_end; x += kLanes) {
        const auto at = [&](int i) HWY_ATTR { return load(centre + i * kStride + x); };
        store(inside ? Kind::inside(at) : Kind::edge(at, scale), to + x);
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Pixels in.

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
      rows.read(2 * y + k, from, end, row[0], row[1], row[2]);
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

// Row -1 is row 0, row -2 is row 1, and likewise at the end.
HWY_INLINE int mirrored(int y, int height) { return y < 0 ? -1 - y : y >= height ? 2 * height - 1 - y : y; }

// ---------------------------------------------------------------------------------------------------------------------
// A piece at work.

class Worker {
 public:
  Worker(const Level& level, const Piece& piece, int batch, float* scratch)
      : level_(level),
        piece_(piece),
        batch_(batch),
        left_edge_(kMargin - piece.x_begin),
        right_edge_(kMargin + level.size.width - piece.x_begin) {
    const auto take = [&scratch](int rows) {
      float* taken = scratch;
      scratch += static_cast<ptrdiff_t>(rows) * kStride;
      return taken;
    };
    visit_rings(pictures_, pair_,
                [&](Ring& ring, int history, int reach) { ring.start(take(batch + history), piece.y_begin - reach); });
    for (float*& rows : blurred_) rows = take(batch);
    for (float*& row : activity_) row = take(1);
    tile_rows_ = take(kTileHeight);
    std::fill_n(pictures_[0].blurred_activity.row(piece.y_begin - kReachBlurredActivity),
                (batch + kBlurredActivityHistory) * kStride, ERODED_NOTHING);
    mark_edges<LowBlur>(low_edges_);
    mark_edges<MiddleBlur>(middle_edges_);
    mark_edges<HighBlur>(high_edges_);
    mark_edges<MaskBlur>(mask_edges_);
  }

  // Each batch takes every stage as far as the rows before it allow.
  void run() {
    const int end = piece_.y_end + kReachLight - (level_.prepare != nullptr ? kReachMiddle : 0);
    for (int light = piece_.y_begin - kReachLight; light < end;) {
      light = std::min(light + batch_, end);
      for (size_t i = 0; i < picture_count(); ++i) {
        if (prepared(i) != nullptr) continue;
        read_light(i, light);
        make_xyb(i, light - 2);
      }
      split_low(light - 18);
      split_middle_band(light - 25);
      if (level_.prepare != nullptr) continue;
      split_high_band(light - 28);
      add_columns_of_three(std::min(light - 29, piece_.y_end + kReachMalta - 1));
      add_lines(std::min(light - 32, piece_.y_end));
      blur_activity(light - 34);
      make_map(light - 37);
    }
  }

 private:
  size_t picture_count() const { return level_.prepare != nullptr ? 1 : 2; }
  const Prepared* prepared(size_t picture) const { return level_.source[picture].prepared; }
  bool in_picture(int y) const { return y >= 0 && y < level_.size.height; }

  // The columns that a stage with this reach works on.
  Columns columns(int reach) const {
    const int begin = std::max(kMargin - reach, left_edge_);
    return {begin / kLanes * kLanes, std::min(kMargin + piece_.x_end - piece_.x_begin + reach, right_edge_)};
  }

  template <typename Kind>
  void mark_edges(RowEdges& edges) const {
    edges.left = left_edge_ + Kind::kRadius;
    edges.right = right_edge_ - Kind::kRadius;
    for (int x = std::max(0, left_edge_); x < std::min(kStride, right_edge_); ++x) {
      if (x < edges.left || x >= edges.right) {
        edges.scale[x] = blur_edge_scale(Kind::kBlur, x - left_edge_, level_.size.width);
      }
    }
  }

  // Fills what lies right of the picture, where filters look. Left of it nothing is ever written.
  void close_row(float* row, float value) const {
    if (right_edge_ < kStride) std::fill(row + right_edge_, row + std::min(right_edge_ + kMargin, kStride), value);
  }
  static void fill_row(float* row, float value) { std::fill_n(row, kStride, value); }

  // The rows of a batch that lie in the picture, blurred along columns.
  template <typename Kind>
  void blur_batch(const Ring& in, int done, int limit, Columns columns, float* out) const {
    const int y_begin = std::clamp(done, 0, level_.size.height);
    const int y_end = std::clamp(limit, y_begin, level_.size.height);
    if (y_begin == y_end) return;
    blur_columns<Kind>(in, y_begin, y_end, level_.size.height, columns,
                       out + static_cast<ptrdiff_t>(y_begin - done) * kStride);
  }
  float* blurred(size_t plane, int row) const { return blurred_[plane] + static_cast<ptrdiff_t>(row) * kStride; }

  // A vector of a prepared plane, by the column of a row held.
  real load_prepared(size_t plane, int y, int x) const {
    return load_unaligned(level_.source[0].prepared->row(plane, y) + (x - left_edge_));
  }
  // This piece's own pixels of a row, into a plane.
  void keep_prepared(size_t plane, int y, const float* row) const {
    if (y < piece_.y_begin || y >= piece_.y_end) return;
    std::copy(row + kMargin, row + kMargin + piece_.x_end - piece_.x_begin,
              level_.prepare->row(plane, y) + piece_.x_begin);
  }

  void read_light(size_t picture, int limit) {
    PictureRings& rings = pictures_[picture];
    int& done = light_done_[picture];
    for (size_t c = 0; c < 3; ++c) {
      rings.light[c].keep(xyb_done_[picture], done);
      rings.soft_light[c].keep(xyb_done_[picture] - 2, done);
    }
    const Columns wide = columns(kReachLight);
    const int x_begin = std::max(wide.begin, left_edge_);
    const Rows& rows = *level_.source[picture].light.rows;
    const int height = level_.size.height;
    const int y_begin = std::max(done, -2), y_end = std::min(limit, height + 2);
    for (int y = y_begin; y < y_end; ++y) {
      const int from = mirrored(y, height);
      float* const to[3] = {rings.light[0].row(y) + x_begin, rings.light[1].row(y) + x_begin,
                            rings.light[2].row(y) + x_begin};
      if (level_.halved) {
        read_halved(rows, from, x_begin - left_edge_, wide.end - left_edge_, to);
      } else {
        rows.read(from, x_begin - left_edge_, wide.end - left_edge_, to[0], to[1], to[2]);
      }
      for (float* row : to) mirror_sides(row, x_begin, wide.end);
    }
    const Columns narrow = columns(kReachXyb);
    for (int y = y_begin; y < y_end; ++y) {
      for (size_t c = 0; c < 3; ++c) {
        const float* in = rings.light[c].row(y);
        float* out = rings.soft_light[c].row(y);
        for (int x = narrow.begin; x < narrow.end; x += kLanes) {
          store(blur_opsin(load_unaligned(in + x - 2), load_unaligned(in + x - 1), load(in + x),
                           load_unaligned(in + x + 1), load_unaligned(in + x + 2)),
                out + x);
        }
      }
    }
    done = std::max(done, limit);
  }

  // `row` begins at column x_begin of a row held.
  void mirror_sides(float* row, int x_begin, int x_end) const {
    if (x_begin == left_edge_) {
      row[-1] = row[0];
      row[-2] = row[1];
    }
    if (x_end == right_edge_) {
      float* end = row + (x_end - x_begin);
      end[0] = end[-1];
      end[1] = end[-2];
    }
  }

  void make_xyb(size_t picture, int limit) {
    PictureRings& rings = pictures_[picture];
    int& done = xyb_done_[picture];
    for (size_t c = 0; c < 3; ++c) {
      rings.xyb[c].keep(low_done_, done);
      rings.xyb_rows[c].keep(low_done_ - LowBlur::kRadius, done);
    }
    const Columns wide = columns(kReachXyb), narrow = columns(kReachLow);
    const real nits = real(level_.source[picture].light.nits);
    for (int y = done; y < limit; ++y) {
      float* const out[3] = {rings.xyb[0].row(y), rings.xyb[1].row(y), rings.xyb[2].row(y)};
      if (!in_picture(y)) {
        for (size_t c = 0; c < 3; ++c) fill_row(rings.xyb_rows[c].row(y), 0.0f);
        continue;
      }
      for (int x = wide.begin; x < wide.end; x += kLanes) {
        real soft[3], light[3], xyb[3];
        for (size_t c = 0; c < 3; ++c) {
          const float* in = rings.soft_light[c].row(y) + x;
          soft[c] = blur_opsin(load(in - 2 * kStride), load(in - kStride), load(in), load(in + kStride),
                               load(in + 2 * kStride));
          light[c] = load(rings.light[c].row(y) + x);
        }
        opsin_dynamics(light[0], light[1], light[2], soft[0], soft[1], soft[2], nits, xyb[0], xyb[1], xyb[2]);
        for (size_t c = 0; c < 3; ++c) store(xyb[c], out[c] + x);
      }
      for (size_t c = 0; c < 3; ++c) {
        close_row(out[c], 0.0f);
        blur_row<LowBlur>(out[c], narrow, low_edges_, rings.xyb_rows[c].row(y));
      }
    }
    done = std::max(done, limit);
  }

  void split_low(int limit) {
    int& done = low_done_;
    const Columns wide = columns(kReachLow), narrow = columns(kReachMiddle);
    pair_.low_difference.keep(map_done_, done);
    for (size_t i = 0; i < picture_count(); ++i) {
      if (prepared(i) != nullptr) continue;
      for (size_t c = 0; c < 3; ++c) {
        pictures_[i].middle[c].keep(middle_done_, done);
        pictures_[i].middle_rows[c].keep(middle_done_ - MiddleBlur::kRadius, done);
        blur_batch<LowBlur>(pictures_[i].xyb_rows[c], done, limit, wide, blurred_[3 * i + c]);
      }
    }
    for (int y = done; y < limit; ++y) {
      if (!in_picture(y)) {
        for (size_t i = 0; i < picture_count(); ++i) {
          if (prepared(i) != nullptr) continue;
          for (Ring& ring : pictures_[i].middle_rows) fill_row(ring.row(y), 0.0f);
        }
        continue;
      }
      for (int x = wide.begin; x < wide.end; x += kLanes) {
        real low[2][3];
        for (size_t i = 0; i < picture_count(); ++i) {
          if (prepared(i) != nullptr) {
            for (size_t c = 0; c < 3; ++c) low[i][c] = load_prepared(c, y, x);
            continue;
          }
          for (size_t c = 0; c < 3; ++c) {
            low[i][c] = load(blurred(3 * i + c, y - done) + x);
            store(load(pictures_[i].xyb[c].row(y) + x) - low[i][c], pictures_[i].middle[c].row(y) + x);
          }
          low_values(low[i][0], low[i][1], low[i][2]);
        }
        if (level_.prepare != nullptr) {
          for (size_t c = 0; c < 3; ++c) store(low[0][c], blurred(c, y - done) + x);
        } else {
          store(low_difference(low[0][0] - low[1][0], low[0][1] - low[1][1], low[0][2] - low[1][2],
                               real(level_.parameters.xmul)),
                pair_.low_difference.row(y) + x);
        }
      }
      for (size_t i = 0; i < picture_count(); ++i) {
        if (prepared(i) != nullptr) continue;
        for (size_t c = 0; c < 3; ++c) {
          close_row(pictures_[i].middle[c].row(y), 0.0f);
          blur_row<MiddleBlur>(pictures_[i].middle[c].row(y), narrow, middle_edges_,
                               pictures_[i].middle_rows[c].row(y));
          if (level_.prepare != nullptr) keep_prepared(c, y, blurred(c, y - done));
        }
      }
    }
    done = std::max(done, limit);
  }

  void split_middle_band(int limit) {
    int& done = middle_done_;
    const Columns wide = columns(kReachMiddle), narrow = columns(kReachHigh);
    for (Ring& ring : pair_.middle_difference) ring.keep(high_done_, done);
    for (Ring& ring : pair_.malta_middle) ring.keep(lines_done_ - kReachMalta, done);
    for (size_t i = 0; i < picture_count(); ++i) {
      for (size_t c = 0; c < 2; ++c) {
        pictures_[i].high[c].keep(high_done_, done);
        pictures_[i].high_rows[c].keep(high_done_ - HighBlur::kRadius, done);
      }
      if (prepared(i) != nullptr) continue;
      for (size_t c = 0; c < 3; ++c) {
        blur_batch<MiddleBlur>(pictures_[i].middle_rows[c], done, limit, wide, blurred_[3 * i + c]);
      }
    }
    for (int y = done; y < limit; ++y) {
      if (!in_picture(y)) {
        for (size_t i = 0; i < picture_count(); ++i) {
          for (Ring& ring : pictures_[i].high_rows) fill_row(ring.row(y), 0.0f);
        }
        if (level_.prepare != nullptr) continue;
        for (Ring& ring : pair_.malta_middle) fill_row(ring.row(y), 0.0f);
        continue;
      }
      for (int x = wide.begin; x < wide.end; x += kLanes) split_middle_pixels(y, y - done, x);
      for (size_t i = 0; i < picture_count(); ++i) {
        for (size_t c = 0; c < 2; ++c) {
          float* high = pictures_[i].high[c].row(y);
          close_row(high, 0.0f);
          blur_row<HighBlur>(high, narrow, high_edges_, pictures_[i].high_rows[c].row(y));
          if (level_.prepare != nullptr) keep_prepared(6 + c, y, high);
        }
      }
      if (level_.prepare != nullptr) {
        for (size_t c = 0; c < 3; ++c) keep_prepared(3 + c, y, blurred(c, y - done));
      } else {
        for (Ring& ring : pair_.malta_middle) close_row(ring.row(y), 0.0f);
      }
    }
    done = std::max(done, limit);
  }

  HWY_INLINE void split_middle_pixels(int y, int batch_row, int x) {
    real middle[2][3];
    for (size_t i = 0; i < picture_count(); ++i) {
      real high[2];
      if (prepared(i) != nullptr) {
        for (size_t c = 0; c < 3; ++c) middle[i][c] = load_prepared(3 + c, y, x);
        for (size_t c = 0; c < 2; ++c) high[c] = load_prepared(6 + c, y, x);
      } else {
        real soft[3];
        for (size_t c = 0; c < 3; ++c) soft[c] = load(blurred(3 * i + c, batch_row) + x);
        split_middle(load(pictures_[i].middle[0].row(y) + x), load(pictures_[i].middle[1].row(y) + x), soft[0], soft[1],
                     middle[i][0], middle[i][1], high[0], high[1]);
        middle[i][2] = soft[2];
      }
      for (size_t c = 0; c < 2; ++c) store(high[c], pictures_[i].high[c].row(y) + x);
    }
    if (level_.prepare != nullptr) {
      for (size_t c = 0; c < 3; ++c) store(middle[0][c], blurred(c, batch_row) + x);
      return;
    }
    for (size_t c = 0; c < 3; ++c) store(middle[0][c] - middle[1][c], pair_.middle_difference[c].row(y) + x);
    store(malta_input(middle[0][0], middle[1][0], MIDDLE_X_SYMMETRIC, MIDDLE_X_ONE_SIDED, MIDDLE_X_NORM),
          pair_.malta_middle[0].row(y) + x);
    store(malta_input(middle[0][1], middle[1][1], MIDDLE_Y_SYMMETRIC, MIDDLE_Y_ONE_SIDED, MIDDLE_Y_NORM),
          pair_.malta_middle[1].row(y) + x);
  }

  void split_high_band(int limit) {
    int& done = high_done_;
    const Columns wide = columns(kReachHigh), narrow = columns(kReachBlurredActivity);
    pair_.difference.keep(map_done_, done);
    for (size_t c = 0; c < 2; ++c) {
      pair_.malta_high[c].keep(lines_done_ - kReachMalta, done);
      pair_.malta_ultra[c].keep(lines_done_ - kReachMalta, done);
      pair_.rows_of_three[c].keep(lines_done_ - 1, done);
    }
    for (size_t i = 0; i < 2; ++i) {
      pictures_[i].activity_rows.keep(activity_done_ - MaskBlur::kRadius, done);
      for (size_t c = 0; c < 2; ++c) {
        blur_batch<HighBlur>(pictures_[i].high_rows[c], done, limit, wide, blurred_[2 * i + c]);
      }
    }
    for (int y = done; y < limit; ++y) {
      if (!in_picture(y)) {
        for (PictureRings& rings : pictures_) fill_row(rings.activity_rows.row(y), 0.0f);
        for (size_t c = 0; c < 2; ++c) {
          fill_row(pair_.malta_high[c].row(y), 0.0f);
          fill_row(pair_.malta_ultra[c].row(y), 0.0f);
          fill_row(pair_.rows_of_three[c].row(y), 0.0f);
        }
        continue;
      }
      for (int x = wide.begin; x < wide.end; x += kLanes) split_high_pixels(y, y - done, x);
      for (size_t i = 0; i < 2; ++i) {
        close_row(activity_[i], 0.0f);
        blur_row<MaskBlur>(activity_[i], narrow, mask_edges_, pictures_[i].activity_rows.row(y));
      }
      for (size_t c = 0; c < 2; ++c) {
        close_row(pair_.malta_high[c].row(y), 0.0f);
        float* ultra = pair_.malta_ultra[c].row(y);
        close_row(ultra, 0.0f);
        // Sums reach over the edges of the picture.
        float* three_of = pair_.rows_of_three[c].row(y);
        for (int x = kMargin - 16; x < kMargin + piece_.x_end - piece_.x_begin + kReachMalta; x += kLanes) {
          store(three(load_unaligned(ultra + x - 1), load(ultra + x), load_unaligned(ultra + x + 1)), three_of + x);
        }
      }
    }
    done = std::max(done, limit);
  }

  HWY_INLINE void split_high_pixels(int y, int batch_row, int x) {
    real high[2][2], ultra[2][2];
    for (size_t i = 0; i < 2; ++i) {
      split_high_x(load(pictures_[i].high[0].row(y) + x), load(blurred(2 * i, batch_row) + x), high[i][0], ultra[i][0]);
      split_high_y(load(pictures_[i].high[1].row(y) + x), load(blurred(2 * i + 1, batch_row) + x), high[i][1],
                   ultra[i][1]);
      store(activity(high[i][0], high[i][1], ultra[i][0], ultra[i][1]), activity_[i] + x);
    }
    const Parameters& p = level_.parameters;
    const auto malta = [&](size_t c, const real(&a)[2], const real(&b)[2], const Weights& w, real norm)
                           HWY_ATTR { return malta_input(a[c], b[c], real(w.symmetric), real(w.one_sided), norm); };
    store(malta(0, high[0], high[1], p.malta_high_x, HIGH_X_NORM), pair_.malta_high[0].row(y) + x);
    store(malta(1, high[0], high[1], p.malta_high_y, HIGH_Y_NORM), pair_.malta_high[1].row(y) + x);
    store(malta(0, ultra[0], ultra[1], p.malta_ultra_x, ULTRA_X_NORM), pair_.malta_ultra[0].row(y) + x);
    store(malta(1, ultra[0], ultra[1], p.malta_ultra_y, ULTRA_Y_NORM), pair_.malta_ultra[1].row(y) + x);
    const real of_x = band_difference(load(pair_.middle_difference[0].row(y) + x), MIDDLE_X_WEIGHT, high[0][0],
                                      high[1][0], real(p.pixel_high_x.symmetric), real(p.pixel_high_x.one_sided));
    const real of_y = band_difference(load(pair_.middle_difference[1].row(y) + x), MIDDLE_Y_WEIGHT, high[0][1],
                                      high[1][1], real(p.pixel_high_y.symmetric), real(p.pixel_high_y.one_sided));
    store(pixel_difference(of_x, of_y, load(pair_.middle_difference[2].row(y) + x), real(p.xmul)),
          pair_.difference.row(y) + x);
  }

  void add_columns_of_three(int limit) {
    const int end = kMargin + piece_.x_end - piece_.x_begin + 1;
    for (size_t c = 0; c < 2; ++c) {
      pair_.columns_of_three[c].keep(lines_done_ - kReachMalta + 1, triple_done_);
      for (int y = triple_done_; y < limit; ++y) {
        const float* in = pair_.malta_ultra[c].row(y);
        float* out = pair_.columns_of_three[c].row(y);
        for (int x = kMargin - 16; x < end; x += kLanes) {
          store(three(load(in + x - kStride), load(in + x), load(in + x + kStride)), out + x);
        }
      }
    }
    triple_done_ = std::max(triple_done_, limit);
  }

  // Each plane by itself, so that the rows it looks at stay in the nearest cache.
  void add_lines(int limit) {
    const Columns own = columns(kReachMap);
    const real xmul = real(level_.parameters.xmul);
    for (int y = lines_done_; y < limit; ++y) {
      float* sum = pair_.difference.row(y);
      for (size_t c = 0; c < 2; ++c) {
        const auto add = [&](real lines, int x) HWY_ATTR {
          const real before = load(sum + x);
          store(c == 0 ? fma(lines, xmul, before) : before + lines, sum + x);
        };
        const float* ultra = pair_.malta_ultra[c].row(y);
        const float* rows_of_three = pair_.rows_of_three[c].row(y);
        const float* columns_of_three = pair_.columns_of_three[c].row(y);
        for (int x = own.begin; x < own.end; x += kLanes) {
          const auto at = [&](int dx, int dy) HWY_ATTR { return load_unaligned(ultra + dy * kStride + x + dx); };
          const auto row_at = [&](int dx, int dy)
                                  HWY_ATTR { return load_unaligned(rows_of_three + dy * kStride + x + dx); };
          const auto column_at = [&](int dx, int dy)
                                     HWY_ATTR { return load_unaligned(columns_of_three + dy * kStride + x + dx); };
          real lines;
          MALTA_NINE(at, row_at, column_at, lines)
          add(lines, x);
        }
        for (const Ring* ring : {&pair_.malta_high[c], &pair_.malta_middle[c]}) {
          const float* in = ring->row(y);
          for (int x = own.begin; x < own.end; x += kLanes) {
            const auto at = [&](int dx, int dy) HWY_ATTR { return load_unaligned(in + dy * kStride + x + dx); };
            real lines;
            MALTA_FIVE(at, lines)
            add(lines, x);
          }
        }
      }
    }
    lines_done_ = std::max(lines_done_, limit);
  }

  void blur_activity(int limit) {
    int& done = activity_done_;
    const Columns wide = columns(kReachBlurredActivity);
    for (PictureRings& rings : pictures_) {
      rings.blurred_activity.keep(map_done_ - kReachBlurredActivity, done);
      if (limit > done) {
        blur_batch<MaskBlur>(rings.activity_rows, done, limit, wide, rings.blurred_activity.row(done));
      }
    }
    for (int y = done; y < limit; ++y) {
      float* row = pictures_[0].blurred_activity.row(y);
      if (in_picture(y)) {
        close_row(row, ERODED_NOTHING);
      } else {
        fill_row(row, ERODED_NOTHING);
      }
    }
    done = std::max(done, limit);
  }

  void make_map(int limit) {
    const Columns own = columns(kReachMap);
    for (int y = map_done_; y < limit; ++y) {
      float* out = tile_rows_ + static_cast<ptrdiff_t>(y % kTileHeight) * kStride;
      const float* reference = pictures_[0].blurred_activity.row(y);
      const float* distorted = pictures_[1].blurred_activity.row(y);
      for (int x = own.begin; x < own.end; x += kLanes) {
        const real here = load(reference + x);
        real smallest = here, second = here + here, third = second;
        for (int dy = -3; dy <= 3; dy += 3) {
          for (int dx = -3; dx <= 3; dx += 3) {
            if (dx != 0 || dy != 0) erode(load_unaligned(reference + dy * kStride + x + dx), smallest, second, third);
          }
        }
        store(masked_difference(eroded(smallest, second, third), load(pair_.low_difference.row(y) + x),
                                load(pair_.difference.row(y) + x), here - load(distorted + x)),
              out + x);
      }
      finish_row(y, out);
    }
    map_done_ = std::max(map_done_, limit);
  }

  // What becomes of a row of the map.
  void finish_row(int y, float* row) {
    const int columns = piece_.x_end - piece_.x_begin;
    const size_t at =
        static_cast<size_t>(y) * static_cast<size_t>(level_.size.width) + static_cast<size_t>(piece_.x_begin);
    float* own = row + kMargin;
    if (level_.level_map != nullptr) {
      std::copy(own, own + columns, level_.level_map + at);
      return;
    }
    if (level_.half_map != nullptr) {
      const float* half_row = level_.half_map +
                              static_cast<size_t>(y / 2) * static_cast<size_t>(half(level_.size).width) +
                              piece_.x_begin / 2;
      alignas(64) float halved[kStripColumns + 16];
      for (int x = 0; x < columns; ++x) halved[x] = half_row[x / 2];
      for (int x = 0; x < columns; x += kLanes) store(both_resolutions(load(own + x), load(halved + x)), own + x);
    }
    if (level_.map.at_least != nullptr) {
      for (int x = 0; x < columns; ++x) own[x] = std::max(own[x], level_.map.at_least[at + static_cast<size_t>(x)]);
    }
    if (level_.map.to != nullptr) std::copy(own, own + columns, level_.map.to + at);
    std::fill(own + columns, own + round_up(static_cast<size_t>(columns), kTileWidth), 0.0f);
    if (y % kTileHeight == kTileHeight - 1 || y == level_.size.height - 1) pool_tiles_above(y);
  }

  // The row of tiles whose last row is y.
  void pool_tiles_above(int y) {
    const int rows = y % kTileHeight + 1;
    const int across = (level_.size.width + kTileWidth - 1) / kTileWidth;
    TileNorms* tiles = level_.tiles + static_cast<ptrdiff_t>(y / kTileHeight) * across + piece_.x_begin / kTileWidth;
    for (int x = 0; x < piece_.x_end - piece_.x_begin; x += kTileWidth)
      *tiles++ = pool_tile(tile_rows_ + kMargin + x, rows);
  }

  TileNorms pool_tile(const float* values, int rows) const {
    real largest = real(0.0f);
    for (int y = 0; y < rows; ++y) {
      for (int x = 0; x < kTileWidth; x += kLanes) largest = max(largest, load(values + y * kStride + x));
    }
    TileNorms tile;
    tile.largest = hn::GetLane(hn::MaxOfLanes(RealTag(), largest.v));
    const real scale = tile_scale(real(tile.largest));
    alignas(64) float columns[6][kTileWidth] = {};
    for (int x = 0; x < kTileWidth; x += kLanes) {
      real sum[6] = {real(0.0f), real(0.0f), real(0.0f), real(0.0f), real(0.0f), real(0.0f)};
      for (int y = 0; y < rows; ++y) {
        const real scaled = load(values + y * kStride + x) * scale;
        real terms[3];
        norm_terms(scaled, terms[0], terms[1], terms[2]);
        for (int i = 0; i < 3; ++i) sum[i] = sum[i] + terms[i];
        if (level_.p > 0) {
          power_norm_terms(scaled, real(level_.p), terms[0], terms[1], terms[2]);
          for (int i = 0; i < 3; ++i) sum[3 + i] = sum[3 + i] + terms[i];
        }
      }
      for (int i = 0; i < 6; ++i) store(sum[i], columns[i] + x);
    }
    for (size_t i = 0; i < 3; ++i) {
      tile.sums[i] = sum_tile_columns(columns[i]);
      tile.power_sums[i] = sum_tile_columns(columns[3 + i]);
    }
    return tile;
  }

  const Level& level_;
  const Piece piece_;
  const int batch_;
  const int left_edge_;   // the column of a row held that is column 0 of the level
  const int right_edge_;  // ... that is one beyond its last
  std::array<PictureRings, 2> pictures_;
  PairRings pair_;
  std::array<float*, 6> blurred_;   // a batch of rows, blurred along columns
  std::array<float*, 2> activity_;  // a row
  float* tile_rows_;
  RowEdges low_edges_, middle_edges_, high_edges_, mask_edges_;
  // The first row that each stage has still to make.
  std::array<int, 2> light_done_{piece_.y_begin - kReachLight, piece_.y_begin - kReachLight};
  std::array<int, 2> xyb_done_{piece_.y_begin - kReachXyb, piece_.y_begin - kReachXyb};
  int low_done_ = piece_.y_begin - kReachLow;
  int middle_done_ = piece_.y_begin - kReachMiddle;
  int high_done_ = piece_.y_begin - kReachHigh;
  int triple_done_ = piece_.y_begin - kReachMalta + 1;
  int lines_done_ = piece_.y_begin;
  int activity_done_ = piece_.y_begin - kReachBlurredActivity;
  int map_done_ = piece_.y_begin;
};

void run_piece(const Level& level, const Piece& piece, int batch, std::byte* scratch) {
  std::memset(scratch, 0, scratch_bytes(batch));
  Worker(level, piece, batch, reinterpret_cast<float*>(scratch)).run();
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::butteraugli
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::butteraugli {

HWY_EXPORT(run_piece);

size_t scratch_bytes(int batch) {
  std::array<PictureRings, 2> pictures;
  PairRings pair;
  size_t rows = 6 * static_cast<size_t>(batch) + 2 + kTileHeight;
  visit_rings(pictures, pair, [&](Ring&, int history, int) { rows += static_cast<size_t>(batch + history); });
  return rows * kStride * sizeof(float);
}

void run_piece(const Level& level, const Piece& piece, int batch, std::byte* scratch) {
  HWY_DYNAMIC_DISPATCH(run_piece)(level, piece, batch, scratch);
}

}  // namespace acuity::butteraugli
#endif
