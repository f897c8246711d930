// SPDX-License-Identifier: BSD-2-Clause-Patent
// Butteraugli on the GPU, from the middle bands to the norms: the split of the middle and of the high bands, the blur
// of the activity and the map, band by band as in kernels.h; and the norms of the whole map.
#include "lang/dialect.h"

#include "lang/exact.h"
#include "metrics/tile_sums.h"
#include "metrics/butteraugli/math.h"
#include "metrics/butteraugli/blurs.h"
#include "metrics/butteraugli/malta.h"
#include "metrics/butteraugli/planes.h"

// ---------------------------------------------------------------------------------------------------------------------
// The smaller blurs, in both directions at once, four columns a thread. A thread keeps the rows that the blur along
// columns looks at, blurred along rows, and walks down QUAD_CHUNK rows at a time, at first only to fill the window.
#define QUAD_CHUNK 4

// samples[...] = the quads around that of a thread's own columns, in row k from `slot` on.
#define QUAD_AT(k, q) at(from, column + wrapped(slot + (k), ring) * quad_stride + (q))
#define FETCH_QUADS(quads, k)                        \
  real samples[(2 * (quads) + 1) * 4];               \
  UNROLL for (int q = 0; q < 2 * (quads) + 1; ++q) { \
    const real4 quad = QUAD_AT(k, q - (quads));      \
    UNPACK(samples, q * 4, quad)                     \
  }

// Where registers allow, a thread's own quads of the next rows come while it works on those before. Then its
// neighbours' are near too when their turn comes.
#define FETCH_COMING                            \
  UNROLL for (int k = 0; k < QUAD_CHUNK; ++k) { \
    const real4 quad = QUAD_AT(k, 0);           \
    UNPACK(coming, k * 4, quad)                 \
  }
#define FETCH_QUADS_AROUND(quads, k)                 \
  real samples[(2 * (quads) + 1) * 4];               \
  UNROLL for (int q = 0; q < 2 * (quads) + 1; ++q) { \
    if (q != (quads)) {                              \
      const real4 quad = QUAD_AT(k, q - (quads));    \
      UNPACK(samples, q * 4, quad)                   \
    }                                                \
  }                                                  \
  UNROLL for (int i = 0; i < 4; ++i) samples[(quads) * 4 + i] = coming[(k) * 4 + i];

// The last QUAD_CHUNK rows of `window` = those from `slot` on, blurred along rows. Edges come after all rows, so that
// no fetch waits for a branch.
#define BLUR_QUAD_ROWS(NAME, blur, quads, FETCH)                                                                      \
  UNROLL for (int k = 0; k < QUAD_CHUNK; ++k) {                                                                       \
    FETCH(quads, k)                                                                                                   \
    UNROLL for (int j = 0; j < 4; ++j) { BLUR_##NAME(SAMPLE_##NAME, window[(2 * BLUR_##NAME##_RADIUS + k) * 4 + j]) } \
  }                                                                                                                   \
  if (is_cut(x, BLUR_##NAME##_RADIUS, width - 3)) {                                                                   \
    UNROLL for (int k = 0; k < QUAD_CHUNK; ++k) {                                                                     \
      FETCH(quads, k)                                                                                                 \
      UNROLL for (int j = 0; j < 4; ++j) {                                                                            \
        if (is_cut(x + j, BLUR_##NAME##_RADIUS, width)) {                                                             \
          const real scale = at(numbers, column_scales(blur, width, height) + min(x + j, width - 1));                 \
          BLUR_##NAME##_EDGE(SAMPLE_##NAME, scale, window[(2 * BLUR_##NAME##_RADIUS + k) * 4 + j])                    \
        }                                                                                                             \
      }                                                                                                               \
    }                                                                                                                 \
  }                                                                                                                   \
  slot = wrapped(slot + QUAD_CHUNK, ring);

// results[QUAD_CHUNK * 4] = the chunk that begins at row n, blurred along columns too.
#define BLUR_QUAD_COLUMNS(NAME, blur)                                                                            \
  UNROLL for (int k = 0; k < QUAD_CHUNK; ++k) {                                                                  \
    UNROLL for (int j = 0; j < 4; ++j) { BLUR_##NAME(WINDOW_QUAD_##NAME, results[k * 4 + j]) }                   \
  }                                                                                                              \
  if (is_cut(n, BLUR_##NAME##_RADIUS, height - QUAD_CHUNK + 1)) {                                                \
    UNROLL for (int k = 0; k < QUAD_CHUNK; ++k) {                                                                \
      if (is_cut(n + k, BLUR_##NAME##_RADIUS, height)) {                                                         \
        const real scale = at(numbers, row_scales(blur, width, height) + clamp(n + k, 0, height - 1));           \
        UNROLL for (int j = 0; j < 4; ++j) { BLUR_##NAME##_EDGE(WINDOW_QUAD_##NAME, scale, results[k * 4 + j]) } \
      }                                                                                                          \
    }                                                                                                            \
  }

#define SHIFT_WINDOW(NAME) \
  UNROLL for (int k = 0; k < 2 * BLUR_##NAME##_RADIUS * 4; ++k) window[k] = window[k + QUAD_CHUNK * 4];

// Splits the middle bands, a plane of `from` for each local_y, and compares them: rows y_begin to y_end - 1. `planes`,
// the high bands among them, have a ring of their own.
#if KERNEL_HERE(split_middle_band)
#define ROOM_split_middle_band ~, 2
#define SAMPLE_MIDDLE(i) samples[j + 8 + (i)]
#define WINDOW_QUAD_MIDDLE(i) window[(k + BLUR_MIDDLE_RADIUS + (i)) * 4 + j]
SHARED(real4, soft_middle, 6 * QUAD_CHUNK * 32)

FUNCTION int soft_middle_at(int plane, int k) { return (plane * QUAD_CHUNK + k) * 32 + local_x(); }

KERNEL(split_middle_band, 32, 6, f32x4_in from, f32x4_out planes, f32_in numbers, real xmul, int walk, int to_slot,
       int to_ring, int width, int height, int y_begin, int y_end, int slot_begin, int ring) {
  const int stride = stride_of(width);
  const int x = global_x() * 4;
  const int quad_stride = stride / 4;
  const int plane = ring * quad_stride;
  const int to_plane = to_ring * quad_stride;
  const int column = local_y() * plane + global_x();
  const int top = y_begin + group_y() * walk;
  const int end = min(top + walk, y_end);
  int own = wrapped(slot_begin + group_y() * walk, ring);
  int to_own = wrapped(to_slot + group_y() * walk, to_ring);
  int slot = slot_before(own, 9, ring);
  real window[(2 * BLUR_MIDDLE_RADIUS + QUAD_CHUNK) * 4];
  UNROLL for (int k = 0; k < 2 * BLUR_MIDDLE_RADIUS * 4; ++k) window[k] = real(0.0f);
  real coming[QUAD_CHUNK * 4];
  FETCH_COMING
  for (int n = top - 16; n < end; n += QUAD_CHUNK) {
    BLUR_QUAD_ROWS(MIDDLE, SCALES_MIDDLE, 2, FETCH_QUADS_AROUND)
    FETCH_COMING
    if (n >= top) {
      // What the pixels are made from is on its way while columns are blurred.
      const int here = wrapped(own + min(local_y(), QUAD_CHUNK - 1), ring) * quad_stride + global_x();
      real whole_band[16];
      UNROLL for (int p = 0; p < 4; ++p) {
        const real4 quad = at(from, (p < 2 ? p : p + 1) * plane + here);
        UNPACK(whole_band, p * 4, quad)
      }
      real results[QUAD_CHUNK * 4];
      BLUR_QUAD_COLUMNS(MIDDLE, SCALES_MIDDLE)
      UNROLL for (int k = 0; k < QUAD_CHUNK; ++k) {
        soft_middle[soft_middle_at(local_y(), k)] =
            to_real4(results[k * 4], results[k * 4 + 1], results[k * 4 + 2], results[k * 4 + 3]);
      }
      barrier_group();
      const int y = n + local_y();
      if (local_y() < QUAD_CHUNK && x < width && y < end) {
        const int to = wrapped(to_own + local_y(), to_ring) * quad_stride + global_x();
        real soft[24];
        UNROLL for (int p = 0; p < 6; ++p) {
          const real4 quad = soft_middle[soft_middle_at(p, local_y())];
          UNPACK(soft, p * 4, quad)
        }
        real x1[4];
        real y1[4];
        real x2[4];
        real y2[4];
        real high1[8];
        real high2[8];
        real differences[4];
        real malta_x[4];
        real malta_y[4];
        UNROLL for (int j = 0; j < 4; ++j) {
          split_middle(whole_band[j], whole_band[4 + j], soft[j], soft[4 + j], x1[j], y1[j], high1[j], high1[4 + j]);
          split_middle(whole_band[8 + j], whole_band[12 + j], soft[12 + j], soft[16 + j], x2[j], y2[j], high2[j],
                       high2[4 + j]);
          differences[j] = middle_difference(x1[j] - x2[j], y1[j] - y2[j], soft[8 + j] - soft[20 + j], xmul);
          malta_x[j] = malta_input(x1[j], x2[j], MIDDLE_X_SYMMETRIC, MIDDLE_X_ONE_SIDED, MIDDLE_X_NORM);
          malta_y[j] = malta_input(y1[j], y2[j], MIDDLE_Y_SYMMETRIC, MIDDLE_Y_ONE_SIDED, MIDDLE_Y_NORM);
        }
        const bool row_inside = inside(y, height);
        at(planes, PLANE_HIGH * to_plane + to) = PACK(high1, 0, x, width, row_inside);
        at(planes, (PLANE_HIGH + 1) * to_plane + to) = PACK(high1, 4, x, width, row_inside);
        at(planes, (PLANE_HIGH + 2) * to_plane + to) = PACK(high2, 0, x, width, row_inside);
        at(planes, (PLANE_HIGH + 3) * to_plane + to) = PACK(high2, 4, x, width, row_inside);
        at(planes, PLANE_DIFFERENCE * to_plane + to) = PACK(differences, 0, x, width, true);
        at(planes, (PLANE_MALTA + 2) * to_plane + to) = PACK(malta_x, 0, x, width, row_inside);
        at(planes, (PLANE_MALTA + 5) * to_plane + to) = PACK(malta_y, 0, x, width, row_inside);
      }
      barrier_group();
      own = wrapped(own + QUAD_CHUNK, ring);
      to_own = wrapped(to_own + QUAD_CHUNK, to_ring);
    }
    SHIFT_WINDOW(MIDDLE)
  }
}
#endif

// Splits the high bands, X and Y of both pictures, a plane for each local_y, and compares them: rows y_begin to y_end -
// 1. from: `planes`, to be read. The reference's activity is left out where it is kept, blurred.
#if KERNEL_HERE(split_high)
#define SAMPLE_HIGH(i) samples[j + 4 + (i)]
#define WINDOW_QUAD_HIGH(i) window[(k + BLUR_HIGH_RADIUS + (i)) * 4 + j]
SHARED(real4, soft, 2 * 4 * QUAD_CHUNK * 32)  // of two chunks in turn
KERNEL(split_high, 32, 4, f32x4_in from, f32x4_out planes, f32_in numbers, real xmul, int work, int walk, int width,
       int height, int y_begin, int y_end, int slot_begin, int ring) {
  const int stride = stride_of(width);
  const int x = global_x() * 4;
  const int quad_stride = stride / 4;
  const int plane = ring * quad_stride;
  const int column = (PLANE_HIGH + local_y()) * plane + global_x();
  const int top = y_begin + group_y() * walk;
  const int end = min(top + walk, y_end);
  int own = wrapped(slot_begin + group_y() * walk, ring);
  int slot = slot_before(own, 5, ring);
  real window[(2 * BLUR_HIGH_RADIUS + QUAD_CHUNK) * 4];
  UNROLL for (int k = 0; k < 2 * BLUR_HIGH_RADIUS * 4; ++k) window[k] = real(0.0f);
  for (int n = top - 8; n < end; n += QUAD_CHUNK) {
    BLUR_QUAD_ROWS(HIGH, SCALES_HIGH, 1, FETCH_QUADS)
    if (n >= top) {
      const int turn = (n - top) / QUAD_CHUNK % 2 * 4 * QUAD_CHUNK;
      // What the pixels are made from is on its way while columns are blurred.
      const int to = wrapped(own + local_y(), ring) * quad_stride + global_x();
      real whole_band[16];
      real middles[4];
      UNROLL for (int p = 0; p < 4; ++p) {
        const real4 quad = at(from, (PLANE_HIGH + p) * plane + to);
        UNPACK(whole_band, p * 4, quad)
      }
      const real4 middle_quad = at(planes, PLANE_DIFFERENCE * plane + to);
      UNPACK(middles, 0, middle_quad)
      real results[QUAD_CHUNK * 4];
      BLUR_QUAD_COLUMNS(HIGH, SCALES_HIGH)
      UNROLL for (int k = 0; k < QUAD_CHUNK; ++k) {
        soft[(turn + local_y() * QUAD_CHUNK + k) * 32 + local_x()] =
            to_real4(results[k * 4], results[k * 4 + 1], results[k * 4 + 2], results[k * 4 + 3]);
      }
      barrier_group();
      const int y = n + local_y();
      if (x < width && y < end) {
        real blurred[16];
        UNROLL for (int p = 0; p < 4; ++p) {
          const real4 quad = soft[(turn + p * QUAD_CHUNK + local_y()) * 32 + local_x()];
          UNPACK(blurred, p * 4, quad)
        }
        real activity1[4];
        real activity2[4];
        real malta_ultra_x[4];
        real malta_ultra_y[4];
        real malta_high_x[4];
        real malta_high_y[4];
        real differences[4];
        UNROLL for (int j = 0; j < 4; ++j) {
          real x1;
          real y1;
          real ultra_x1;
          real ultra_y1;
          real x2;
          real y2;
          real ultra_x2;
          real ultra_y2;
          split_high_x(whole_band[j], blurred[j], x1, ultra_x1);
          split_high_y(whole_band[4 + j], blurred[4 + j], y1, ultra_y1);
          split_high_x(whole_band[8 + j], blurred[8 + j], x2, ultra_x2);
          split_high_y(whole_band[12 + j], blurred[12 + j], y2, ultra_y2);
          activity1[j] = activity(x1, y1, ultra_x1, ultra_y1);
          activity2[j] = activity(x2, y2, ultra_x2, ultra_y2);
          malta_ultra_x[j] = malta_input(ultra_x1, ultra_x2, at(numbers, NUMBER_MALTA_ULTRA_X),
                                         at(numbers, NUMBER_MALTA_ULTRA_X + 1), ULTRA_X_NORM);
          malta_ultra_y[j] = malta_input(ultra_y1, ultra_y2, at(numbers, NUMBER_MALTA_ULTRA_Y),
                                         at(numbers, NUMBER_MALTA_ULTRA_Y + 1), ULTRA_Y_NORM);
          malta_high_x[j] =
              malta_input(x1, x2, at(numbers, NUMBER_MALTA_HIGH_X), at(numbers, NUMBER_MALTA_HIGH_X + 1), HIGH_X_NORM);
          malta_high_y[j] =
              malta_input(y1, y2, at(numbers, NUMBER_MALTA_HIGH_Y), at(numbers, NUMBER_MALTA_HIGH_Y + 1), HIGH_Y_NORM);
          const real of_x =
              high_difference(x1, x2, at(numbers, NUMBER_PIXEL_HIGH_X), at(numbers, NUMBER_PIXEL_HIGH_X + 1));
          const real of_y =
              high_difference(y1, y2, at(numbers, NUMBER_PIXEL_HIGH_Y), at(numbers, NUMBER_PIXEL_HIGH_Y + 1));
          differences[j] = pixel_difference(middles[j], of_x, of_y, xmul);
        }
        const bool row_inside = inside(y, height);
        if (work != WORK_PREPARED) {
          at(planes, PLANE_ACTIVITY * plane + to) = PACK(activity1, 0, x, width, row_inside);
        }
        at(planes, (PLANE_ACTIVITY + 1) * plane + to) = PACK(activity2, 0, x, width, row_inside);
        at(planes, PLANE_DIFFERENCE * plane + to) = PACK(differences, 0, x, width, row_inside);
        at(planes, PLANE_MALTA * plane + to) = PACK(malta_ultra_x, 0, x, width, row_inside);
        at(planes, (PLANE_MALTA + 1) * plane + to) = PACK(malta_high_x, 0, x, width, row_inside);
        at(planes, (PLANE_MALTA + 3) * plane + to) = PACK(malta_ultra_y, 0, x, width, row_inside);
        at(planes, (PLANE_MALTA + 4) * plane + to) = PACK(malta_high_y, 0, x, width, row_inside);
      }
      own = wrapped(own + QUAD_CHUNK, ring);
    }
    SHIFT_WINDOW(HIGH)
  }
}
#endif

// Blurs the activity of both pictures, one for each local_y, or of one at two places: rows y_begin to y_end - 1. `to`
// has a ring of its own.
#if KERNEL_HERE(blur_activity)
#define SAMPLE_MASK(i) samples[j + 8 + (i)]
#define WINDOW_QUAD_MASK(i) window[(k + BLUR_MASK_RADIUS + (i)) * 4 + j]
KERNEL(blur_activity, 32, 2, f32x4_in from, f32x4_out to, f32_in numbers, int work, int walk, int to_slot, int to_ring,
       int width, int height, int y_begin, int y_end, int slot_begin, int ring) {
  const int stride = stride_of(width);
  const int x = global_x() * 4;
  const int quad_stride = stride / 4;
  const int picture = work == WORK_PAIR ? local_y() : work == WORK_PREPARE ? 0 : 1;
  const int down = (work == WORK_PAIR ? group_y() : group_y() * 2 + local_y()) * walk;
  const int column = picture * ring * quad_stride + global_x();
  const int to_column = picture * to_ring * quad_stride + global_x();
  const int top = y_begin + down;
  const int end = min(top + walk, y_end);
  if (x < width && top < end) {
    int own = wrapped(to_slot + down, to_ring);
    int slot = slot_before(wrapped(slot_begin + down, ring), BLUR_MASK_RADIUS, ring);
    real window[(2 * BLUR_MASK_RADIUS + QUAD_CHUNK) * 4];
    UNROLL for (int k = 0; k < 2 * BLUR_MASK_RADIUS * 4; ++k) window[k] = real(0.0f);
    real coming[QUAD_CHUNK * 4];
    FETCH_COMING
    for (int n = top - 12; n < end; n += QUAD_CHUNK) {
      BLUR_QUAD_ROWS(MASK, SCALES_MASK, 2, FETCH_QUADS_AROUND)
      FETCH_COMING
      if (n >= top) {
        real results[QUAD_CHUNK * 4];
        BLUR_QUAD_COLUMNS(MASK, SCALES_MASK)
        // What is written beside the picture is never looked at.
        UNROLL for (int k = 0; k < QUAD_CHUNK; ++k) {
          if (n + k < end) {
            at(to, to_column + wrapped(own + k, to_ring) * quad_stride) =
                to_real4(results[k * 4], results[k * 4 + 1], results[k * 4 + 2], results[k * 4 + 3]);
          }
        }
        own = wrapped(own + QUAD_CHUNK, to_ring);
      }
      SHIFT_WINDOW(MASK)
    }
  }
}
#endif

// ---------------------------------------------------------------------------------------------------------------------
// largest = the largest of a tile's values, of which a thread has the 64 of a column, scale = what they are multiplied
// by, and sums[0..2] = the sums of the norms. All threads of the group must come here, as to a barrier.
#define SUM_TILE(values, largest, scale, sums)                             \
  real largest = real(0.0f);                                               \
  UNROLL for (int k = 0; k < 64; ++k) largest = max(largest, values[k]);   \
  UNROLL for (int half_way = 16; half_way >= 1; half_way = half_way / 2) { \
    largest = max(largest, shuffle_xor(largest, half_way));                \
  }                                                                        \
  const real scale = tile_scale(largest);                                  \
  UNROLL for (int k = 0; k < 64; ++k) {                                    \
    real terms[3];                                                         \
    norm_terms(values[k] * scale, terms[0], terms[1], terms[2]);           \
    UNROLL for (int i = 0; i < 3; ++i) sums[i] = sums[i] + terms[i];       \
  }                                                                        \
  UNROLL for (int i = 0; i < 3; ++i) { SUM_TILE_COLUMNS(sums[i]) }

// The map of one resolution. A thread makes four neighbours of two rows, which look at much the same; a group 128
// columns of 8 rows. low has a ring of its own. activity: the reference's, blurred; with COMBINE_KEPT all rows of it.
// map: rows of map_stride_of(width) floats, row y at y % map_ring.
//
// With COMBINE_POOLS this is the half resolution, a group takes 32 columns of 32 rows, and the map goes nowhere:
// together with full_map, which has that ring then, it comes to the norms of two tiles. tiles: seven floats each, as
// TileNorms, of which four are made.
#if KERNEL_HERE(combine)
// What `task` is made of.
#define COMBINE_POOLS 1
#define COMBINE_ODD_WIDTH 2  // of the full resolution
#define COMBINE_ODD_HEIGHT 4
#define COMBINE_KEPT 8
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
      for (int band = 1; band < 3; ++band) ADD_LINES(FIVE_LINES, (PLANE_MALTA + 3 * c + band) * plane)
    }
    int activity_rows[6 + COMBINE_ROWS];  // from three above to three below
    UNROLL for (int k = 0; k < 6 + COMBINE_ROWS; ++k) {
      const int kept_row = clamp(top + k - 3, 0, height - 1) * quads + quad_x;
      activity_rows[k] = (task & COMBINE_KEPT) != 0 ? kept_row : rows[1 + k];
    }
    UNROLL for (int r = 0; r < COMBINE_ROWS; ++r) {
      const int y = top + r;
      real mask[3 * 12];  // rows y - 3, y and y + 3, from four columns before
      UNROLL for (int k = 0; k < 3; ++k) {
        UNROLL for (int q = 0; q < 3; ++q) {
          const real4 quad = at(activity, activity_rows[r + 3 * k] + q - 1);
          UNPACK(mask, k * 12 + q * 4, quad)
        }
      }
      real other[4];
      const real4 other_quad = at(planes, (PLANE_BLURRED_ACTIVITY + 1) * plane + rows[4 + r]);
      UNPACK(other, 0, other_quad)
      real lows[4];
      const real4 low_quad = at(low, y % low_ring * quads + quad_x);
      UNPACK(lows, 0, low_quad)
      if (is_cut(x, 3, width - 3) || is_cut(y, 3, height)) {
        UNROLL for (int k = 0; k < 3; ++k) {
          UNROLL for (int i = 0; i < 10; ++i) {
            const bool there = inside(y + 3 * (k - 1), height) && inside(x + i - 3, width);
            mask[k * 12 + 1 + i] = there ? mask[k * 12 + 1 + i] : real(ERODED_NOTHING);
          }
        }
      }
      UNROLL for (int j = 0; j < 4; ++j) {
        const real here = mask[12 + 4 + j];
        real smallest = here;
        real second = here + here;
        real third = second;
        UNROLL for (int k = 0; k < 3; ++k) {
          UNROLL for (int i = 0; i < 3; ++i) {
            if (k != 1 || i != 1) erode(mask[k * 12 + 4 + j + 3 * (i - 1)], smallest, second, third);
          }
        }
        values[r * 4 + j] =
            masked_difference(eroded(smallest, second, third), lows[j], totals[r * 4 + j], here - other[j]);
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
// half_stride is not 0. remembered: a map whose larger values count, where `larger` is not 0. Where `keep` is not 0 the
// map that results takes the place of the full resolution's. tiles: seven floats each, as TileNorms. p is 0 where no
// p-norm is asked for; otherwise the map must be kept.
#if KERNEL_HERE(pool)
SHUFFLES(32)
KERNEL(pool, 32, 1, f32_out map, f32_in half_map, f32_in remembered, f32_out tiles, int width, int height, int stride,
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
      values[k] = max(values[k], at(remembered, min(top + k, height - 1) * stride + x));
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
  UNROLL for (int i = 3; i < 6; ++i) { SUM_TILE_COLUMNS(sums[i]) }
  if (local_x() == 0) {
    const int tile = (group_y() * ((width + 31) / 32) + group_x()) * 7;
    at(tiles, tile) = largest;
    UNROLL for (int i = 0; i < 6; ++i) at(tiles, tile + 1 + i) = sums[i];
  }
}
#endif
