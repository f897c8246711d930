// SPDX-License-Identifier: BSD-2-Clause-Patent
// Butteraugli on the GPU, from the middle subbands to all that the map is made from: the split of the middle and of the
// high subbands, and the blur of the activity, band by band as in kernels.h.
#include "lang/dialect.h"

#include "lang/exact.h"
#include "metrics/butteraugli/math.h"
#include "metrics/butteraugli/blurs.h"
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
          const real scale = at(constants, column_scales(blur, width, height) + min(x + j, width - 1));               \
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
        const real scale = at(constants, row_scales(blur, width, height) + clamp(n + k, 0, height - 1));         \
        UNROLL for (int j = 0; j < 4; ++j) { BLUR_##NAME##_EDGE(WINDOW_QUAD_##NAME, scale, results[k * 4 + j]) } \
      }                                                                                                          \
    }                                                                                                            \
  }

#define SHIFT_WINDOW(NAME) \
  UNROLL for (int k = 0; k < 2 * BLUR_##NAME##_RADIUS * 4; ++k) window[k] = window[k + QUAD_CHUNK * 4];

// ---------------------------------------------------------------------------------------------------------------------
// The splits come in two kinds, of both pictures and of one against a prepared reference: that the compiler knows which
// is worth 5 % of a pair's time. prepared: subbands of the prepared reference; those of both pictures are compared and,
// where `prepare` is not 0, the first one's are prepared.

// Splits the middle subbands, a plane of `from` for each local_y, and compares them: rows y_begin to y_end - 1.
// `planes`, the high subbands among them, have a ring of their own. prepared: X, Y and B.
#if KERNEL_HERE(split_middle_pair) || KERNEL_HERE(split_middle_one)
#define SAMPLE_MIDDLE(i) samples[j + 8 + (i)]
#define WINDOW_QUAD_MIDDLE(i) window[(k + BLUR_MIDDLE_RADIUS + (i)) * 4 + j]
SHARED(real4, soft_middle, 6 * QUAD_CHUNK * 32)

FUNCTION int soft_middle_at(int plane, int k) { return (plane * QUAD_CHUNK + k) * 32 + local_x(); }

// What a row of a chunk is made from besides the blurred subbands: of each picture X and Y of the subband before the
// blur, but of a prepared reference X, Y and B as they are compared.
#define FETCH_MIDDLE(row)                                                                                           \
  {                                                                                                                 \
    const int here = wrapped(own + (row), ring) * quad_stride + global_x();                                         \
    const int prepared_here = clamp(n + (row), 0, height - 1) * quad_stride + global_x();                           \
    UNROLL for (int p = 0; p < (one ? 3 : 2); ++p) {                                                                \
      const real4 quad = one ? at(prepared, p * height * quad_stride + prepared_here) : at(from, p * plane + here); \
      UNPACK(reference, p * 4, quad)                                                                                \
    }                                                                                                               \
    UNROLL for (int p = 0; p < 2; ++p) {                                                                            \
      const real4 quad = at(from, (3 + p) * plane + here);                                                          \
      UNPACK(distorted, p * 4, quad)                                                                                \
    }                                                                                                               \
  }
#define SOFT_MIDDLE(first)                                          \
  UNROLL for (int p = 0; p < 3; ++p) {                              \
    const real4 quad = soft_middle[soft_middle_at((first) + p, k)]; \
    UNPACK(soft, p * 4, quad)                                       \
  }

FUNCTION void split_middle_rows(bool one, f32x4_in from, f32x4_out planes, f32x4_out prepared, f32_in constants,
                                real xmul, int prepare, int walk, int to_slot, int to_ring, int width, int height,
                                int y_begin, int y_end, int slot_begin, int ring) {
  const int stride = stride_of(width);
  const int x = global_x() * 4;
  const int quad_stride = stride / 4;
  const int plane = ring * quad_stride;
  const int to_plane = to_ring * quad_stride;
  const int column = ((one ? 3 : 0) + local_y()) * plane + global_x();
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
      // One picture leaves room for two chunks in turn, which saves a barrier. Three threads make four rows: they take
      // turns at the last.
      const int chunk = (n - top) / QUAD_CHUNK;
      const int turn = one ? chunk % 2 * 3 : 0;
      const int first = one ? (local_y() + chunk) % 3 : local_y();
      // On its way while columns are blurred.
      real reference[12];
      real distorted[8];
      FETCH_MIDDLE(min(first, QUAD_CHUNK - 1))
      real results[QUAD_CHUNK * 4];
      BLUR_QUAD_COLUMNS(MIDDLE, SCALES_MIDDLE)
      UNROLL for (int k = 0; k < QUAD_CHUNK; ++k) {
        soft_middle[soft_middle_at(turn + local_y(), k)] =
            to_real4(results[k * 4], results[k * 4 + 1], results[k * 4 + 2], results[k * 4 + 3]);
      }
      barrier_group();
      for (int round = 0; round < (one ? 2 : 1); ++round) {
        const int k = first + 3 * round;
        if (k >= min(QUAD_CHUNK, end - n) || x >= width) continue;
        if (round > 0) FETCH_MIDDLE(k)
        const int to = wrapped(to_own + k, to_ring) * quad_stride + global_x();
        const bool row_inside = inside(n + k, height);
        real soft[12];
        real high[8];
        if (!one) {
          SOFT_MIDDLE(0)
          UNROLL for (int j = 0; j < 4; ++j) {
            split_middle(reference[j], reference[4 + j], soft[j], soft[4 + j], reference[j], reference[4 + j], high[j],
                         high[4 + j]);
            reference[8 + j] = soft[8 + j];
          }
          at(planes, PLANE_HIGH * to_plane + to) = PACK(high, 0, x, width, row_inside);
          at(planes, (PLANE_HIGH + 1) * to_plane + to) = PACK(high, 4, x, width, row_inside);
          if (prepare != 0 && row_inside) {
            UNROLL for (int p = 0; p < 3; ++p) {
              at(prepared, (p * height + n + k) * quad_stride + global_x()) = PACK(reference, p * 4, x, width, true);
            }
          }
        }
        SOFT_MIDDLE(one ? turn : 3)
        real differences[4];
        real malta_x[4];
        real malta_y[4];
        UNROLL for (int j = 0; j < 4; ++j) {
          real x2;
          real y2;
          split_middle(distorted[j], distorted[4 + j], soft[j], soft[4 + j], x2, y2, high[j], high[4 + j]);
          differences[j] =
              middle_difference(reference[j] - x2, reference[4 + j] - y2, reference[8 + j] - soft[8 + j], xmul);
          malta_x[j] = malta_input(reference[j], x2, MIDDLE_X_SYMMETRIC, MIDDLE_X_ONE_SIDED, MIDDLE_X_NORM);
          malta_y[j] = malta_input(reference[4 + j], y2, MIDDLE_Y_SYMMETRIC, MIDDLE_Y_ONE_SIDED, MIDDLE_Y_NORM);
        }
        at(planes, (PLANE_HIGH + 2) * to_plane + to) = PACK(high, 0, x, width, row_inside);
        at(planes, (PLANE_HIGH + 3) * to_plane + to) = PACK(high, 4, x, width, row_inside);
        at(planes, PLANE_DIFFERENCE * to_plane + to) = PACK(differences, 0, x, width, true);
        at(planes, (PLANE_MALTA + 2) * to_plane + to) = PACK(malta_x, 0, x, width, row_inside);
        at(planes, (PLANE_MALTA + 5) * to_plane + to) = PACK(malta_y, 0, x, width, row_inside);
      }
      if (!one) barrier_group();
      own = wrapped(own + QUAD_CHUNK, ring);
      to_own = wrapped(to_own + QUAD_CHUNK, to_ring);
    }
    SHIFT_WINDOW(MIDDLE)
  }
}
#endif

#if KERNEL_HERE(split_middle_pair)
#define ROOM_split_middle_pair ~, 2
KERNEL(split_middle_pair, 32, 6, f32x4_in from, f32x4_out planes, f32x4_out prepared, f32_in constants, real xmul,
       int prepare, int walk, int to_slot, int to_ring, int width, int height, int y_begin, int y_end, int slot_begin,
       int ring) {
  split_middle_rows(false, from, planes, prepared, constants, xmul, prepare, walk, to_slot, to_ring, width, height,
                    y_begin, y_end, slot_begin, ring);
}
#endif

#if KERNEL_HERE(split_middle_one)
#define ROOM_split_middle_one ~, 4
KERNEL(split_middle_one, 32, 3, f32x4_in from, f32x4_out planes, f32x4_out prepared, f32_in constants, real xmul,
       int prepare, int walk, int to_slot, int to_ring, int width, int height, int y_begin, int y_end, int slot_begin,
       int ring) {
  split_middle_rows(true, from, planes, prepared, constants, xmul, prepare, walk, to_slot, to_ring, width, height,
                    y_begin, y_end, slot_begin, ring);
}
#endif

// Splits the high subbands, a plane for each local_y, and compares them: rows y_begin to y_end - 1. from: `planes`, to
// be read. prepared: X and Y of the high, then of the ultra-high subband.
#if KERNEL_HERE(split_high_pair) || KERNEL_HERE(split_high_one)
#define SAMPLE_HIGH(i) samples[j + 4 + (i)]
#define WINDOW_QUAD_HIGH(i) window[(k + BLUR_HIGH_RADIUS + (i)) * 4 + j]
SHARED(real4, soft_high, 2 * 4 * QUAD_CHUNK * 32)  // of two chunks in turn

FUNCTION int soft_high_at(int plane, int k) { return (plane * QUAD_CHUNK + k) * 32 + local_x(); }

// What a row of a chunk is made from besides the blurred subbands: of each picture X and Y of the subband before the
// blur, but of a prepared reference its planes; and the difference of the middle subbands.
#define FETCH_HIGH(row)                                                                                             \
  {                                                                                                                 \
    const int here = wrapped(own + (row), ring) * quad_stride + global_x();                                         \
    const int prepared_here = clamp(n + (row), 0, height - 1) * quad_stride + global_x();                           \
    UNROLL for (int p = 0; p < (one ? 4 : 2); ++p) {                                                                \
      const real4 quad =                                                                                            \
          one ? at(prepared, p * height * quad_stride + prepared_here) : at(from, (PLANE_HIGH + p) * plane + here); \
      UNPACK(reference, p * 4, quad)                                                                                \
    }                                                                                                               \
    UNROLL for (int p = 0; p < 2; ++p) {                                                                            \
      const real4 quad = at(from, (PLANE_HIGH + 2 + p) * plane + here);                                             \
      UNPACK(distorted, p * 4, quad)                                                                                \
    }                                                                                                               \
    const real4 middle_quad = at(planes, PLANE_DIFFERENCE * plane + here);                                          \
    UNPACK(middles, 0, middle_quad)                                                                                 \
  }
#define SOFT_HIGH(first)                                               \
  UNROLL for (int p = 0; p < 2; ++p) {                                 \
    const real4 quad = soft_high[soft_high_at(turn + (first) + p, k)]; \
    UNPACK(soft, p * 4, quad)                                          \
  }

FUNCTION void split_high_rows(bool one, f32x4_in from, f32x4_out planes, f32x4_out prepared, f32_in constants,
                              real xmul, int prepare, int walk, int width, int height, int y_begin, int y_end,
                              int slot_begin, int ring) {
  const int stride = stride_of(width);
  const int x = global_x() * 4;
  const int quad_stride = stride / 4;
  const int plane = ring * quad_stride;
  const int column = (PLANE_HIGH + (one ? 2 : 0) + local_y()) * plane + global_x();
  const int top = y_begin + group_y() * walk;
  const int end = min(top + walk, y_end);
  int own = wrapped(slot_begin + group_y() * walk, ring);
  int slot = slot_before(own, 5, ring);
  real window[(2 * BLUR_HIGH_RADIUS + QUAD_CHUNK) * 4];
  UNROLL for (int k = 0; k < 2 * BLUR_HIGH_RADIUS * 4; ++k) window[k] = real(0.0f);
  for (int n = top - 8; n < end; n += QUAD_CHUNK) {
    BLUR_QUAD_ROWS(HIGH, SCALES_HIGH, 1, FETCH_QUADS)
    if (n >= top) {
      const int turn = (n - top) / QUAD_CHUNK % 2 * 4;
      // On its way while columns are blurred.
      real reference[16];
      real distorted[8];
      real middles[4];
      FETCH_HIGH(local_y())
      real results[QUAD_CHUNK * 4];
      BLUR_QUAD_COLUMNS(HIGH, SCALES_HIGH)
      UNROLL for (int k = 0; k < QUAD_CHUNK; ++k) {
        soft_high[soft_high_at(turn + local_y(), k)] =
            to_real4(results[k * 4], results[k * 4 + 1], results[k * 4 + 2], results[k * 4 + 3]);
      }
      barrier_group();
      for (int round = 0; round < (one ? 2 : 1); ++round) {
        const int k = local_y() + 2 * round;
        if (k >= min(QUAD_CHUNK, end - n) || x >= width) continue;
        if (round > 0) FETCH_HIGH(k)
        const int to = wrapped(own + k, ring) * quad_stride + global_x();
        const bool row_inside = inside(n + k, height);
        real soft[8];
        real busy[4];
        if (!one) {
          SOFT_HIGH(0)
          UNROLL for (int j = 0; j < 4; ++j) {
            split_high_x(reference[j], soft[j], reference[j], reference[8 + j]);
            split_high_y(reference[4 + j], soft[4 + j], reference[4 + j], reference[12 + j]);
            busy[j] = activity(reference[j], reference[4 + j], reference[8 + j], reference[12 + j]);
          }
          at(planes, PLANE_ACTIVITY * plane + to) = PACK(busy, 0, x, width, row_inside);
          if (prepare != 0 && row_inside) {
            UNROLL for (int p = 0; p < 4; ++p) {
              at(prepared, (p * height + n + k) * quad_stride + global_x()) = PACK(reference, p * 4, x, width, true);
            }
          }
        }
        SOFT_HIGH(one ? 0 : 2)
        real malta_ultra_x[4];
        real malta_ultra_y[4];
        real malta_high_x[4];
        real malta_high_y[4];
        real differences[4];
        UNROLL for (int j = 0; j < 4; ++j) {
          const real x1 = reference[j];
          const real y1 = reference[4 + j];
          real x2;
          real y2;
          real ultra_x2;
          real ultra_y2;
          split_high_x(distorted[j], soft[j], x2, ultra_x2);
          split_high_y(distorted[4 + j], soft[4 + j], y2, ultra_y2);
          busy[j] = activity(x2, y2, ultra_x2, ultra_y2);
          malta_ultra_x[j] = malta_input(reference[8 + j], ultra_x2, at(constants, CONSTANT_MALTA_ULTRA_X),
                                         at(constants, CONSTANT_MALTA_ULTRA_X + 1), ULTRA_X_NORM);
          malta_ultra_y[j] = malta_input(reference[12 + j], ultra_y2, at(constants, CONSTANT_MALTA_ULTRA_Y),
                                         at(constants, CONSTANT_MALTA_ULTRA_Y + 1), ULTRA_Y_NORM);
          malta_high_x[j] = malta_input(x1, x2, at(constants, CONSTANT_MALTA_HIGH_X),
                                        at(constants, CONSTANT_MALTA_HIGH_X + 1), HIGH_X_NORM);
          malta_high_y[j] = malta_input(y1, y2, at(constants, CONSTANT_MALTA_HIGH_Y),
                                        at(constants, CONSTANT_MALTA_HIGH_Y + 1), HIGH_Y_NORM);
          const real of_x =
              high_difference(x1, x2, at(constants, CONSTANT_PIXEL_HIGH_X), at(constants, CONSTANT_PIXEL_HIGH_X + 1));
          const real of_y =
              high_difference(y1, y2, at(constants, CONSTANT_PIXEL_HIGH_Y), at(constants, CONSTANT_PIXEL_HIGH_Y + 1));
          differences[j] = pixel_difference(middles[j], of_x, of_y, xmul);
        }
        at(planes, (PLANE_ACTIVITY + 1) * plane + to) = PACK(busy, 0, x, width, row_inside);
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

#if KERNEL_HERE(split_high_pair)
#define ROOM_split_high_pair ~, 4
KERNEL(split_high_pair, 32, 4, f32x4_in from, f32x4_out planes, f32x4_out prepared, f32_in constants, real xmul,
       int prepare, int walk, int width, int height, int y_begin, int y_end, int slot_begin, int ring) {
  split_high_rows(false, from, planes, prepared, constants, xmul, prepare, walk, width, height, y_begin, y_end,
                  slot_begin, ring);
}
#endif

#if KERNEL_HERE(split_high_one)
#define ROOM_split_high_one ~, 8
KERNEL(split_high_one, 32, 2, f32x4_in from, f32x4_out planes, f32x4_out prepared, f32_in constants, real xmul,
       int prepare, int walk, int width, int height, int y_begin, int y_end, int slot_begin, int ring) {
  split_high_rows(true, from, planes, prepared, constants, xmul, prepare, walk, width, height, y_begin, y_end,
                  slot_begin, ring);
}
#endif

// Blurs the activity of both pictures, one for each local_y, or of one at two places: rows y_begin to y_end - 1. `to`
// has a ring of its own.
#if KERNEL_HERE(blur_activity)
#define SAMPLE_MASK(i) samples[j + 8 + (i)]
#define WINDOW_QUAD_MASK(i) window[(k + BLUR_MASK_RADIUS + (i)) * 4 + j]
KERNEL(blur_activity, 32, 2, f32x4_in from, f32x4_out to, f32_in constants, int work, int walk, int to_slot,
       int to_ring, int width, int height, int y_begin, int y_end, int slot_begin, int ring) {
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
