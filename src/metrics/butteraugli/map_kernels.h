// SPDX-License-Identifier: BSD-2-Clause-Patent
// Butteraugli on the GPU, from compared subbands to the norms: the map of a resolution, band by band as in kernels.h,
// and the norms of both, or of the whole map.
#include "lang/dialect.h"

#include "lang/exact.h"
#include "sums/tile_sums.h"
#include "metrics/butteraugli/math.h"
#include "metrics/butteraugli/malta.h"
#include "metrics/butteraugli/planes.h"

// largest = the largest of a tile's values, of which a thread has the 64 of a column, scale = what they are multiplied
// by, and sums[0..2] = the sums of the norms. All threads of the group must come here, as to a barrier.
#define SUM_TILE(values, largest, scale, sums)                                                              \
  real largest = real(0.0f);                                                                                \
  UNROLL for (int k = 0; k < 64; ++k) largest = max(largest, values[k]);                                    \
  UNROLL for (int half_way = 16; half_way >= 1; half_way = half_way / 2) {                                  \
    largest = max(largest, shuffle_xor(largest, half_way));                                                 \
  }                                                                                                         \
  const real scale = tile_scale(largest);                                                                   \
  UNROLL for (int k = 0; k < 64; ++k) {                                                                     \
    real terms[3];                                                                                          \
    norm_terms(values[k] * scale, terms[0], terms[1], terms[2]);                                            \
    UNROLL for (int i = 0; i < 3; ++i) sums[i] = sums[i] + terms[i];                                        \
  }                                                                                                         \
  SUM_TILE_COLUMNS(sums[0]) /* a loop with a barrier in it is not unrolled, and puts its array in memory */ \
  SUM_TILE_COLUMNS(sums[1])                                                                                 \
  SUM_TILE_COLUMNS(sums[2])

// here[4] = the blurred activity of the reference at four neighbours of row y, from x on, dc_gain[4] and ac_gain[4] =
// the mask's gains there. row_at(k): the quad in row y + 3 * (k - 1).
#define MAKE_GAINS(activity, row_at)                                                                  \
  {                                                                                                   \
    real around[3 * 12]; /* rows y - 3, y and y + 3, from four columns before */                      \
    UNROLL for (int k = 0; k < 3; ++k) {                                                              \
      UNROLL for (int q = 0; q < 3; ++q) {                                                            \
        const real4 quad = at(activity, row_at(k) + q - 1);                                           \
        UNPACK(around, k * 12 + q * 4, quad)                                                          \
      }                                                                                               \
    }                                                                                                 \
    if (is_cut(x, 3, width - 3) || is_cut(y, 3, height)) {                                            \
      UNROLL for (int k = 0; k < 3; ++k) {                                                            \
        UNROLL for (int i = 0; i < 10; ++i) {                                                         \
          const bool there = inside(y + 3 * (k - 1), height) && inside(x + i - 3, width);             \
          around[k * 12 + 1 + i] = there ? around[k * 12 + 1 + i] : real(ERODED_NOTHING);             \
        }                                                                                             \
      }                                                                                               \
    }                                                                                                 \
    UNROLL for (int j = 0; j < 4; ++j) {                                                              \
      here[j] = around[12 + 4 + j];                                                                   \
      real smallest = here[j];                                                                        \
      real second = here[j] + here[j];                                                                \
      real third = second;                                                                            \
      UNROLL for (int k = 0; k < 3; ++k) {                                                            \
        UNROLL for (int i = 0; i < 3; ++i) {                                                          \
          if (k != 1 || i != 1) erode(around[k * 12 + 4 + j + 3 * (i - 1)], smallest, second, third); \
        }                                                                                             \
      }                                                                                               \
      mask_gains(eroded(smallest, second, third), dc_gain[j], ac_gain[j]);                            \
    }                                                                                                 \
  }

// The gains of a reference that is being prepared, a row for each local_y, a thread four neighbours. prepared: its
// blurred activity, which is there, then the gains: all rows of each.
#if KERNEL_HERE(prepare_gains)
#define PREPARED_ROW_AT(k) (clamp(y + 3 * ((k) - 1), 0, height - 1) * quads + global_x())
KERNEL(prepare_gains, 32, 4, f32x4_out prepared, int width, int height, int y_begin, int y_end) {
  const int quads = stride_of(width) / 4;
  const int x = global_x() * 4;
  const int y = y_begin + global_y();
  if (x < width && y < y_end) {
    real here[4];
    real dc_gain[4];
    real ac_gain[4];
    MAKE_GAINS(prepared, PREPARED_ROW_AT)
    at(prepared, (height + y) * quads + global_x()) = PACK(dc_gain, 0, x, width, true);
    at(prepared, (2 * height + y) * quads + global_x()) = PACK(ac_gain, 0, x, width, true);
  }
}
#endif

// The map of one resolution. A thread makes four neighbours of two rows, which look at much the same; a group 128
// columns of 8 rows. low has a ring of its own. activity: the reference's, blurred; with COMBINE_PREPARED all rows of
// it, and then of the gains. map: rows of map_stride_of(width) floats, row y at y % map_ring.
//
// With COMBINE_POOLS this is the half resolution, a group takes 32 columns of 32 rows, and the map goes nowhere:
// together with full_map, which has that ring then, it comes to the norms of two tiles. tiles: seven floats each, as
// TileNorms, of which four are made.
#if KERNEL_HERE(combine)
// What `task` is made of.
#define COMBINE_POOLS 1
#define COMBINE_ODD_WIDTH 2  // of the full resolution
#define COMBINE_ODD_HEIGHT 4
#define COMBINE_PREPARED 8
#define ROOM_combine ~, 3
#define COMBINE_ROWS 2
#define SAMPLE(dx, dy) samples[(r + 4 + (dy)) * 12 + 4 + j + (dx)]
#define ROW_OF_THREE(dx, dy) three(SAMPLE((dx) - 1, dy), SAMPLE(dx, dy), SAMPLE((dx) + 1, dy))
#define COLUMN_OF_THREE(dx, dy) three(SAMPLE(dx, (dy) - 1), SAMPLE(dx, dy), SAMPLE(dx, (dy) + 1))
SHUFFLES(128)
SHARED(float, half_values, 32 * 32)

// Adds the line sums of a plane, which begins at quad `first`, to totals.
#define ADD_LINES(LINES, first)                                                                       \
  {                                                                                                   \
    real samples[(8 + COMBINE_ROWS) * 12];                                                            \
    UNROLL for (int k = 0; k < 8 + COMBINE_ROWS; ++k) {                                               \
      UNROLL for (int q = 0; q < 3; ++q) {                                                            \
        const real4 quad = at(planes, (first) + rows[k] + q - 1);                                     \
        UNPACK(samples, k * 12 + q * 4, quad)                                                         \
      }                                                                                               \
    }                                                                                                 \
    UNROLL for (int r = 0; r < COMBINE_ROWS; ++r) {                                                   \
      UNROLL for (int j = 0; j < 4; ++j) {                                                            \
        real lines;                                                                                   \
        LINES(lines)                                                                                  \
        totals[r * 4 + j] = c == 0 ? fma(lines, xmul, totals[r * 4 + j]) : totals[r * 4 + j] + lines; \
      }                                                                                               \
    }                                                                                                 \
  }
#define RING_ROW_AT(k) rows[1 + r + 3 * (k)]
#define NINE_LINES(result) MALTA_NINE(SAMPLE, ROW_OF_THREE, COLUMN_OF_THREE, result)
#define FIVE_LINES(result) MALTA_FIVE(SAMPLE, result)

KERNEL(combine, 128, 1, f32x4_in planes, f32x4_in low, f32x4_in activity, f32x4_out map, f32_in full_map, f32_out tiles,
       real xmul, int task, int map_ring, int low_ring, int width, int height, int y_begin, int y_end, int slot_begin,
       int ring) {
  const int quads = stride_of(width) / 4;
  const int plane = ring * quads;
  const bool pools = (task & COMBINE_POOLS) != 0;
  const int quads_across = pools ? 8 : 32;  // of a group
  const int quad_x = group_x() * quads_across + local_x() % quads_across;
  const int x = quad_x * 4;
  const int within = local_x() / quads_across * COMBINE_ROWS;  // rows from the first of the group
  const int below = group_y() * (pools ? 32 : 8) + within;     // and from y_begin
  const int top = y_begin + below;
  real values[COMBINE_ROWS * 4];
  UNROLL for (int i = 0; i < COMBINE_ROWS * 4; ++i) values[i] = real(0.0f);
  if (x < width && top < y_end) {
    int rows[8 + COMBINE_ROWS];  // from four above to four below
    int slot = slot_before(wrapped(slot_begin + below, ring), 4, ring);
    UNROLL for (int k = 0; k < 8 + COMBINE_ROWS; ++k) {
      rows[k] = slot * quads + quad_x;
      slot = wrapped(slot + 1, ring);
    }
    real totals[COMBINE_ROWS * 4];
    UNROLL for (int r = 0; r < COMBINE_ROWS; ++r) {
      const real4 pixelwise = at(planes, PLANE_DIFFERENCE * plane + rows[4 + r]);
      UNPACK(totals, r * 4, pixelwise)
    }
    for (int c = 0; c < 2; ++c) {
      ADD_LINES(NINE_LINES, (PLANE_MALTA + 3 * c) * plane)
      for (int subband = 1; subband < 3; ++subband) ADD_LINES(FIVE_LINES, (PLANE_MALTA + 3 * c + subband) * plane)
    }
    UNROLL for (int r = 0; r < COMBINE_ROWS; ++r) {
      const int y = top + r;
      real here[4];
      real dc_gain[4];
      real ac_gain[4];
      if ((task & COMBINE_PREPARED) != 0) {
        const int prepared_row = min(y, height - 1) * quads + quad_x;
        const real4 here_quad = at(activity, prepared_row);
        UNPACK(here, 0, here_quad)
        const real4 dc_quad = at(activity, height * quads + prepared_row);
        UNPACK(dc_gain, 0, dc_quad)
        const real4 ac_quad = at(activity, 2 * height * quads + prepared_row);
        UNPACK(ac_gain, 0, ac_quad)
      } else {
        MAKE_GAINS(activity, RING_ROW_AT)
      }
      real other[4];
      const real4 other_quad = at(planes, (PLANE_BLURRED_ACTIVITY + 1) * plane + rows[4 + r]);
      UNPACK(other, 0, other_quad)
      real lows[4];
      const real4 low_quad = at(low, y % low_ring * quads + quad_x);
      UNPACK(lows, 0, low_quad)
      UNROLL for (int j = 0; j < 4; ++j) {
        values[r * 4 + j] = masked_difference(dc_gain[j], ac_gain[j], lows[j], totals[r * 4 + j], here[j] - other[j]);
      }
    }
  }
  if (!pools) {
    UNROLL for (int r = 0; r < COMBINE_ROWS; ++r) {
      if (x < width && top + r < y_end) {
        at(map, ((top + r) % map_ring * map_stride_of(width) + x) / 4) =
            to_real4(values[r * 4], values[r * 4 + 1], values[r * 4 + 2], values[r * 4 + 3]);
      }
    }
  } else {
    UNROLL for (int i = 0; i < COMBINE_ROWS * 4; ++i) {
      half_values[(within + i / 4) * 32 + local_x() % 8 * 4 + i % 4] = values[i];
    }
    barrier_group();
    const int full_width = 2 * width - task / COMBINE_ODD_WIDTH % 2;
    const int full_height = 2 * height - task / COMBINE_ODD_HEIGHT % 2;
    const int full_x = group_x() * 64 + local_x() % 64;  // twice: half of the threads do as the others
    const int full_top = 2 * (y_begin + group_y() * 32);
    const int from = full_top % map_ring * map_stride_of(full_width) + min(full_x, full_width - 1);
    real column[64];
    UNROLL for (int k = 0; k < 64; ++k) column[k] = at(full_map, from + k * map_stride_of(full_width));
    UNROLL for (int k = 0; k < 64; ++k) {
      const real both = both_resolutions(column[k], half_values[k / 2 * 32 + local_x() % 64 / 2]);
      column[k] = full_x < full_width && full_top + k < full_height ? both : real(0.0f);
    }
    real sums[3];
    UNROLL for (int i = 0; i < 3; ++i) sums[i] = real(0.0f);
    SUM_TILE(column, largest, scale, sums)
    if (local_x() < 64 && local_x() % 32 == 0 && full_x < full_width) {
      const int tile = (full_top / 64 * groups_of(full_width, 32) + full_x / 32) * 7;
      at(tiles, tile) = largest;
      UNROLL for (int i = 0; i < 3; ++i) at(tiles, tile + 1 + i) = sums[i];
    }
  }
}
#endif

// ---------------------------------------------------------------------------------------------------------------------
// The norms of a tile where somebody wants the map; 32 threads, one a column. half_map: of the half resolution, where
// half_stride is not 0. held_map: a map whose larger values count, where `larger` is not 0. Where `keep` is not 0 the
// map that results takes the place of the full resolution's. tiles: seven floats each, as TileNorms. p is 0 where no
// p-norm is asked for; otherwise the map must be kept.
#if KERNEL_HERE(pool)
SHUFFLES(32)
KERNEL(pool, 32, 1, f32_out map, f32_in half_map, f32_in held_map, f32_out tiles, int width, int height, int stride,
       int half_stride, int larger, int keep, real p) {
  const int x = min(global_x(), width - 1);
  const int top = group_y() * 64;
  real values[64];
  UNROLL for (int k = 0; k < 64; ++k) values[k] = at(map, min(top + k, height - 1) * stride + x);
  if (half_stride > 0) {
    UNROLL for (int k = 0; k < 64; ++k) {
      values[k] = both_resolutions(values[k], at(half_map, (min(top + k, height - 1) / 2) * half_stride + x / 2));
    }
  }
  if (larger != 0) {
    UNROLL for (int k = 0; k < 64; ++k) {
      values[k] = max(values[k], at(held_map, min(top + k, height - 1) * stride + x));
    }
  }
  UNROLL for (int k = 0; k < 64; ++k) {
    const bool there = global_x() < width && top + k < height;
    if (keep != 0 && there) at(map, (top + k) * stride + x) = values[k];
    values[k] = there ? values[k] : real(0.0f);
  }
  real sums[6];
  UNROLL for (int i = 0; i < 6; ++i) sums[i] = real(0.0f);
  SUM_TILE(values, largest, scale, sums)
  if (p > real(0.0f) && global_x() < width) {
    for (int y = top; y < min(top + 64, height); ++y) {
      real terms[3];
      power_norm_terms(at(map, y * stride + x) * scale, p, terms[0], terms[1], terms[2]);
      UNROLL for (int i = 0; i < 3; ++i) sums[3 + i] = sums[3 + i] + terms[i];
    }
  }
  SUM_TILE_COLUMNS(sums[3])
  SUM_TILE_COLUMNS(sums[4])
  SUM_TILE_COLUMNS(sums[5])
  if (local_x() == 0) {
    const int tile = (group_y() * ((width + 31) / 32) + group_x()) * 7;
    at(tiles, tile) = largest;
    UNROLL for (int i = 0; i < 6; ++i) at(tiles, tile + 1 + i) = sums[i];
  }
}
#endif
