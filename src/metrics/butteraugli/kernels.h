// SPDX-License-Identifier: BSD-2-Clause-Patent
// Butteraugli on the GPU. A resolution is worked through in bands of rows, eight kernels a band: light to XYB, each of
// the two large blurs along rows and along columns, the split of the high band, the blur of the activity, and the map;
// a last kernel takes the norms of the whole map.
//
// Planes hold `ring` rows, row y at y % ring, so that a band finds the last rows of the one above it. Rows are `stride`
// floats, with columns of zeros on either side; the host passes the address of column 0. Rows of zeros stand above the
// first row and below the last where a filter looks at them: a kernel that is told to make rows outside the picture
// makes zeros.
#include "lang/dialect.h"

#include "lang/exact.h"
#include "metrics/pixels.h"
#include "metrics/tile_sums.h"
#include "metrics/butteraugli/math.h"
#include "metrics/butteraugli/blurs.h"
#include "metrics/butteraugli/malta.h"

// What the host passes in `numbers`: the weights that depend on options, then blur_edge_scale for the columns and rows
// of each blur.
#define NUMBER_MALTA_ULTRA_X 0
#define NUMBER_MALTA_ULTRA_Y 2
#define NUMBER_MALTA_HIGH_X 4
#define NUMBER_MALTA_HIGH_Y 6
#define NUMBER_PIXEL_HIGH_X 8
#define NUMBER_PIXEL_HIGH_Y 10
#define NUMBER_SCALES 12
#define SCALES_LOW 0
#define SCALES_MIDDLE 1
#define SCALES_HIGH 2
#define SCALES_MASK 3

FUNCTION int column_scales(int blur, int width, int height) { return NUMBER_SCALES + blur * (width + height); }
FUNCTION int row_scales(int blur, int width, int height) { return column_scales(blur, width, height) + width; }

FUNCTION bool inside(int position, int size) { return position >= 0 && position < size; }
// Whether an edge cuts a blur.
FUNCTION bool is_cut(int position, int radius, int size) { return position < radius || position >= size - radius; }

// Where row y lies in a ring, for y >= -ring.
FUNCTION int ring_slot(int y, int ring) { return (y + ring) % ring; }
FUNCTION int wrapped(int slot, int ring) { return slot >= ring ? slot - ring : slot; }

#define UNPACK(array, first, quad) \
  {                                \
    array[first] = quad.x;         \
    array[(first) + 1] = quad.y;   \
    array[(first) + 2] = quad.z;   \
    array[(first) + 3] = quad.w;   \
  }
// Four neighbours, 0 outside the picture.
#define PACK(array, x, width, row_inside)                                                                   \
  to_real4((row_inside) ? array[0] : real(0.0f), (row_inside) && (x) + 1 < (width) ? array[1] : real(0.0f), \
           (row_inside) && (x) + 2 < (width) ? array[2] : real(0.0f),                                       \
           (row_inside) && (x) + 3 < (width) ? array[3] : real(0.0f))

// ---------------------------------------------------------------------------------------------------------------------
// Light to XYB, and to the light of the half resolution. A group takes 32 x 32 pixels, a thread eight rows of a column.
// Rows of light wrap around after as many as a plane holds. xyb: three planes. halved: three planes of halved_ring
// rows without gaps, none if that is 0.
#if KERNEL_HERE(make_xyb)
#define LIGHT_SIDE 36
#define LIGHT_PLANE (LIGHT_SIDE * LIGHT_SIDE)
#define FETCHES 6  // at once; twice that, times 128 threads, is more than LIGHT_PLANE
SHARED(float, light, 3 * LIGHT_PLANE)

// Beyond an edge lies the mirrored picture, the edge repeated.
FUNCTION int mirrored(int position, int size) {
  return position < 0 ? -1 - position : position >= size ? 2 * size - 1 - position : position;
}

FUNCTION int light_index(int i, int left, int top, int width, int height, int y_first, int y_end, int light_ring) {
  const int x = mirrored(min(left - 2 + i % LIGHT_SIDE, width + 1), width);
  const int y = mirrored(min(top - 2 + i / LIGHT_SIDE, y_end + 1), height);
  return wrapped(y - y_first, light_ring) * width + x;
}

FUNCTION real halved_light(int plane, int x, int y, bool right, bool below, real factor) {
  const int i = plane * LIGHT_PLANE + (2 * y + 2) * LIGHT_SIDE + 2 * x + 2;
  return halve(light[i], right ? light[i + 1] : real(0.0f), below ? light[i + LIGHT_SIDE] : real(0.0f),
               right && below ? light[i + LIGHT_SIDE + 1] : real(0.0f), factor);
}

FUNCTION real row_blurred_light(int i) {
  return blur_opsin(light[i], light[i + 1], light[i + 2], light[i + 3], light[i + 4]);
}

KERNEL(make_xyb, 32, 4, samples_in samples, f32_in table, f32_out xyb, f32_out halved, int form, int extent,
       int y_first, int width, int height, int y_begin, int y_end, int ring, int stride, int halved_ring, real nits) {
  const int left = group_x() * 32;
  const int top = y_begin + group_y() * 32;
  const int thread = local_y() * 32 + local_x();
  const int light_ring = form == FORM_PLANES ? extent / width : 1 << 30;
  for (int first = thread; first < LIGHT_PLANE; first += FETCHES * 128) {
    Pixel pixels[FETCHES];
    FETCH_PIXELS(
        pixels, FETCHES, samples, table, form, extent,
        light_index(min(first + k * 128, LIGHT_PLANE - 1), left, top, width, height, y_first, y_end, light_ring))
    UNROLL for (int k = 0; k < FETCHES; ++k) {
      const int i = min(first + k * 128, LIGHT_PLANE - 1);  // the last one may be written several times over
      light[i] = pixels[k].red;
      light[LIGHT_PLANE + i] = pixels[k].green;
      light[2 * LIGHT_PLANE + i] = pixels[k].blue;
    }
  }
  barrier_group();
  if (halved_ring > 0) {
    for (int i = thread; i < 256; i += 128) {
      const int x = i % 16;
      const int y = i / 16;
      if (left + 2 * x < width && top + 2 * y < y_end) {
        const bool right = left + 2 * x + 1 < width;
        const bool below = top + 2 * y + 1 < height;
        const real factor = real(0.25f) * (right ? real(1.0f) : real(2.0f)) * (below ? real(1.0f) : real(2.0f));
        const int half_width = (width + 1) / 2;
        const int to = (((top / 2) + y) % halved_ring) * half_width + left / 2 + x;
        for (int c = 0; c < 3; ++c) {
          at(halved, c * halved_ring * half_width + to) = halved_light(c, x, y, right, below, factor);
        }
      }
    }
  }
  const int x = left + local_x();
  const int first = local_y() * 8;
  int slot = ring_slot(top + first, ring);
  real soft[15];  // five rows of three channels, blurred along rows
  UNROLL for (int i = 0; i < 15; ++i) soft[i] = real(0.0f);
  for (int k = 0; k < 12; ++k) {
    const int i = (first + k) * LIGHT_SIDE + local_x();
    UNROLL for (int c = 0; c < 3; ++c) {
      UNROLL for (int j = 0; j < 4; ++j) soft[c * 5 + j] = soft[c * 5 + j + 1];
      soft[c * 5 + 4] = row_blurred_light(c * LIGHT_PLANE + i);
    }
    if (k >= 4) {
      real values[3];
      const int centre = i - 2 * LIGHT_SIDE + 2;
      opsin_dynamics(light[centre], light[LIGHT_PLANE + centre], light[2 * LIGHT_PLANE + centre],
                     blur_opsin(soft[0], soft[1], soft[2], soft[3], soft[4]),
                     blur_opsin(soft[5], soft[6], soft[7], soft[8], soft[9]),
                     blur_opsin(soft[10], soft[11], soft[12], soft[13], soft[14]), nits, values[0], values[1],
                     values[2]);
      if (x < width && top + first + k - 4 < y_end) {
        UNROLL for (int c = 0; c < 3; ++c) at(xyb, (c * ring + slot) * stride + x) = values[c];
      }
      slot = wrapped(slot + 1, ring);
    }
  }
}
#endif

// ---------------------------------------------------------------------------------------------------------------------
// The blurs along rows, of six planes: a thread makes four neighbours.
#define BLUR_ROWS(NAME, blur, quads)                                                                \
  const int groups_down = (y_end - y_begin + 7) / 8;                                                \
  const int plane = group_y() / groups_down;                                                        \
  const int y = y_begin + (group_y() % groups_down) * 8 + local_y();                                \
  const int x = global_x() * 4;                                                                     \
  if (x < width && y < y_end) {                                                                     \
    const int row = ((plane * ring + ring_slot(y, ring)) * stride + x) / 4;                         \
    real window[(2 * (quads) + 1) * 4];                                                             \
    UNROLL for (int k = 0; k < 2 * (quads) + 1; ++k) {                                              \
      const real4 quad = at(from, row - (quads) + k);                                               \
      UNPACK(window, k * 4, quad)                                                                   \
    }                                                                                               \
    real results[4];                                                                                \
    UNROLL for (int j = 0; j < 4; ++j) {                                                            \
      BLUR_##NAME(WINDOW_ROW_##NAME, results[j]) if (is_cut(x + j, BLUR_##NAME##_RADIUS, width)) {  \
        const real scale = at(numbers, column_scales(blur, width, height) + min(x + j, width - 1)); \
        BLUR_##NAME##_EDGE(WINDOW_ROW_##NAME, scale, results[j])                                    \
      }                                                                                             \
    }                                                                                               \
    at(to, row) = PACK(results, x, width, inside(y, height));                                       \
  }

#if KERNEL_HERE(blur_low_rows)
#define WINDOW_ROW_LOW(i) window[j + 16 + (i)]
KERNEL(blur_low_rows, 32, 8, f32x4_in from, f32x4_out to, f32_in numbers, int width, int height, int y_begin, int y_end,
       int ring, int stride){BLUR_ROWS(LOW, SCALES_LOW, 4)}
#endif

#if KERNEL_HERE(blur_middle_rows)
#define WINDOW_ROW_MIDDLE(i) window[j + 8 + (i)]
KERNEL(blur_middle_rows, 32, 8, f32x4_in from, f32x4_out to, f32_in numbers, int width, int height, int y_begin,
       int y_end, int ring, int stride){BLUR_ROWS(MIDDLE, SCALES_MIDDLE, 2)}
#endif

// ---------------------------------------------------------------------------------------------------------------------
// The blurs along columns, and what is made of their results. A group takes 32 columns of all six planes, local_y is
// the plane, and walks down COLUMN_WALK rows, COLUMN_CHUNK at a time; the rows that it reads at once lie one after the
// other in the ring.
#define COLUMN_CHUNK 16
#define COLUMN_WALK 64

#if KERNEL_HERE(split_low) || KERNEL_HERE(split_middle_band)
SHARED(float, chunks, 6 * COLUMN_CHUNK * 32)  // of all planes, blurred

    FUNCTION real blurred_at(int plane, int k) {
  return chunks[(plane * COLUMN_CHUNK + k) * 32 + local_x()];
}
#endif

// window[first ...] = rows slot .. slot + COLUMN_CHUNK - 1 of a plane.
#define FETCH_CHUNK(first) \
  UNROLL for (int k = 0; k < COLUMN_CHUNK; ++k) window[(first) + k] = at(rows, column + (slot + k) * stride);

// Blurs a chunk from `window`, in which the row of its first output is number BLUR_*_RADIUS + ahead.
#define BLUR_COLUMN_CHUNK(NAME, blur)                                                                  \
  UNROLL for (int k = 0; k < COLUMN_CHUNK; ++k) { BLUR_##NAME(WINDOW_COLUMN_##NAME, results[k]) }      \
  if (n < BLUR_##NAME##_RADIUS || n + COLUMN_CHUNK > height - BLUR_##NAME##_RADIUS) {                  \
    UNROLL for (int k = 0; k < COLUMN_CHUNK; ++k) {                                                    \
      if (is_cut(n + k, BLUR_##NAME##_RADIUS, height)) {                                               \
        const real scale = at(numbers, row_scales(blur, width, height) + clamp(n + k, 0, height - 1)); \
        BLUR_##NAME##_EDGE(WINDOW_COLUMN_##NAME, scale, results[k])                                    \
      }                                                                                                \
    }                                                                                                  \
  }                                                                                                    \
  UNROLL for (int k = 0; k < COLUMN_CHUNK; ++k) {                                                      \
    chunks[(local_y() * COLUMN_CHUNK + k) * 32 + local_x()] = results[k];                              \
  }

// Makes rows n_begin, a multiple of COLUMN_CHUNK, to n_end - 1 of the difference of the low bands, and in the place of
// XYB the middle bands.
#if KERNEL_HERE(split_low)
#define WINDOW_COLUMN_LOW(i) window[k + 16 + (i)]
KERNEL(split_low, 32, 6, f32_in rows, f32_out xyb, f32_out low, f32_in numbers, real xmul, int width, int height,
       int n_begin, int n_end, int ring, int stride) {
  const int x = global_x();
  const int column = local_y() * ring * stride + x;
  const int top = n_begin + group_y() * COLUMN_WALK;
  const int end = min(top + COLUMN_WALK, n_end);
  int own = ring_slot(top, ring);
  int slot = ring_slot(top - COLUMN_CHUNK, ring);
  real window[3 * COLUMN_CHUNK];
  FETCH_CHUNK(0)
  slot = own;
  FETCH_CHUNK(COLUMN_CHUNK)
  for (int n = top; n < end; n += COLUMN_CHUNK) {
    slot = wrapped(slot + COLUMN_CHUNK, ring);
    FETCH_CHUNK(2 * COLUMN_CHUNK)
    real whole_band[COLUMN_CHUNK];
    UNROLL for (int k = 0; k < COLUMN_CHUNK; ++k) whole_band[k] = at(xyb, column + (own + k) * stride);
    real results[COLUMN_CHUNK];
    BLUR_COLUMN_CHUNK(LOW, SCALES_LOW)
    UNROLL for (int k = 0; k < COLUMN_CHUNK; ++k) {
      if (x < width && n + k < end) at(xyb, column + (own + k) * stride) = whole_band[k] - results[k];
    }
    barrier_group();
    for (int k = local_y(); k < min(COLUMN_CHUNK, end - n); k += 6) {
      real x1 = blurred_at(0, k);
      real y1 = blurred_at(1, k);
      real b1 = blurred_at(2, k);
      real x2 = blurred_at(3, k);
      real y2 = blurred_at(4, k);
      real b2 = blurred_at(5, k);
      low_values(x1, y1, b1);
      low_values(x2, y2, b2);
      if (x < width) at(low, (own + k) * stride + x) = low_difference(x1 - x2, y1 - y2, b1 - b2, xmul);
    }
    barrier_group();
    UNROLL for (int k = 0; k < 2 * COLUMN_CHUNK; ++k) window[k] = window[k + COLUMN_CHUNK];
    own = slot;
  }
}
#endif

// Makes rows n_begin, which is 7 below a multiple of COLUMN_CHUNK, to n_end - 1. middle: of the reference and the
// distorted picture; high: X and Y of both; difference: of the middle bands; malta: as combine wants it.
#if KERNEL_HERE(split_middle_band)
#define WINDOW_COLUMN_MIDDLE(i) window[k + 9 + (i)]
KERNEL(split_middle_band, 32, 6, f32_in rows, f32_in middle, f32_out high, f32_out difference, f32_out malta,
       f32_in numbers, int width, int height, int n_begin, int n_end, int ring, int stride) {
  const int x = global_x();
  const int plane = ring * stride;
  const int column = local_y() * plane + x;
  const int top = n_begin + group_y() * COLUMN_WALK;
  const int end = min(top + COLUMN_WALK, n_end);
  int own = ring_slot(top, ring);
  int slot = ring_slot(top - 9, ring);
  real window[2 * COLUMN_CHUNK];
  FETCH_CHUNK(0)
  for (int n = top; n < end; n += COLUMN_CHUNK) {
    slot = wrapped(slot + COLUMN_CHUNK, ring);
    FETCH_CHUNK(COLUMN_CHUNK)
    real results[COLUMN_CHUNK];
    BLUR_COLUMN_CHUNK(MIDDLE, SCALES_MIDDLE)
    barrier_group();
    for (int k = local_y(); k < min(COLUMN_CHUNK, end - n); k += 6) {
      const int to = wrapped(own + k, ring) * stride + x;
      if (x < width && inside(n + k, height)) {
        real x1;
        real y1;
        real high_x1;
        real high_y1;
        real x2;
        real y2;
        real high_x2;
        real high_y2;
        split_middle(at(middle, to), at(middle, plane + to), blurred_at(0, k), blurred_at(1, k), x1, y1, high_x1,
                     high_y1);
        split_middle(at(middle, 3 * plane + to), at(middle, 4 * plane + to), blurred_at(3, k), blurred_at(4, k), x2, y2,
                     high_x2, high_y2);
        at(high, to) = high_x1;
        at(high, plane + to) = high_y1;
        at(high, 2 * plane + to) = high_x2;
        at(high, 3 * plane + to) = high_y2;
        at(difference, to) = x1 - x2;
        at(difference, plane + to) = y1 - y2;
        at(difference, 2 * plane + to) = blurred_at(2, k) - blurred_at(5, k);
        at(malta, 2 * plane + to) = malta_input(x1, x2, MIDDLE_X_SYMMETRIC, MIDDLE_X_ONE_SIDED, MIDDLE_X_NORM);
        at(malta, 5 * plane + to) = malta_input(y1, y2, MIDDLE_Y_SYMMETRIC, MIDDLE_Y_ONE_SIDED, MIDDLE_Y_NORM);
      } else if (x < width) {
        UNROLL for (int p = 0; p < 4; ++p) at(high, p * plane + to) = real(0.0f);
        at(malta, 2 * plane + to) = real(0.0f);
        at(malta, 5 * plane + to) = real(0.0f);
      }
    }
    barrier_group();
    UNROLL for (int k = 0; k < COLUMN_CHUNK; ++k) window[k] = window[k + COLUMN_CHUNK];
    own = wrapped(own + COLUMN_CHUNK, ring);
  }
}
#endif

// ---------------------------------------------------------------------------------------------------------------------
// Both directions at once, four columns a thread. A thread keeps the rows that the blur along columns looks at, blurred
// along rows, and walks down QUAD_CHUNK rows at a time.
#define QUAD_CHUNK 4

// window[4 * to ...] = a row of four columns, blurred along rows; `i` is the index of its quad.
#define BLUR_QUAD_ROW(NAME, blur, quads, i, to)                                                          \
  {                                                                                                      \
    real samples[(2 * (quads) + 1) * 4];                                                                 \
    UNROLL for (int q = 0; q < 2 * (quads) + 1; ++q) {                                                   \
      const real4 quad = at(from, (i) - (quads) + q);                                                    \
      UNPACK(samples, q * 4, quad)                                                                       \
    }                                                                                                    \
    UNROLL for (int j = 0; j < 4; ++j) {                                                                 \
      BLUR_##NAME(SAMPLE_##NAME, window[(to) * 4 + j]) if (is_cut(x + j, BLUR_##NAME##_RADIUS, width)) { \
        const real scale = at(numbers, column_scales(blur, width, height) + min(x + j, width - 1));      \
        BLUR_##NAME##_EDGE(SAMPLE_##NAME, scale, window[(to) * 4 + j])                                   \
      }                                                                                                  \
    }                                                                                                    \
  }

// results[4] = row k of the chunk that begins at row n, blurred along columns too.
#define BLUR_QUAD_COLUMN(NAME, blur)                                                                 \
  UNROLL for (int j = 0; j < 4; ++j) {                                                               \
    BLUR_##NAME(WINDOW_QUAD_##NAME, results[j]) if (is_cut(n + k, BLUR_##NAME##_RADIUS, height)) {   \
      const real scale = at(numbers, row_scales(blur, width, height) + clamp(n + k, 0, height - 1)); \
      BLUR_##NAME##_EDGE(WINDOW_QUAD_##NAME, scale, results[j])                                      \
    }                                                                                                \
  }

// Splits the high bands, a plane of `from` (X and Y of both pictures) for each local_y, and compares them: rows y_begin
// to y_end - 1. middle: the differences of the middle bands. activity: of both pictures. difference: of all but the low
// bands, pixel by pixel. malta: as combine wants it.
#if KERNEL_HERE(split_high)
#define HIGH_WALK 32
#define HIGH_ROWS (2 * BLUR_HIGH_RADIUS + QUAD_CHUNK)
#define SAMPLE_HIGH(i) samples[j + 4 + (i)]
#define WINDOW_QUAD_HIGH(i) window[(k + BLUR_HIGH_RADIUS + (i)) * 4 + j]
SHARED(real4, soft, 4 * QUAD_CHUNK * 32)
KERNEL(split_high, 32, 4, f32x4_in from, f32x4_in middle, f32x4_out activities, f32x4_out difference, f32x4_out malta,
       f32_in numbers, real xmul, int width, int height, int y_begin, int y_end, int ring, int stride) {
  const int x = global_x() * 4;
  const int quads = stride / 4;
  const int plane = ring * quads;
  const int column = local_y() * plane + global_x();
  const int top = y_begin + group_y() * HIGH_WALK;
  const int end = min(top + HIGH_WALK, y_end);
  int own = ring_slot(top, ring);
  int slot = ring_slot(top - BLUR_HIGH_RADIUS, ring);
  real window[HIGH_ROWS * 4];
  UNROLL for (int k = 0; k < 2 * BLUR_HIGH_RADIUS; ++k) {
    BLUR_QUAD_ROW(HIGH, SCALES_HIGH, 1, column + slot * quads, k)
    slot = wrapped(slot + 1, ring);
  }
  for (int n = top; n < end; n += QUAD_CHUNK) {
    UNROLL for (int k = 0; k < QUAD_CHUNK; ++k) {
      BLUR_QUAD_ROW(HIGH, SCALES_HIGH, 1, column + slot * quads, 2 * BLUR_HIGH_RADIUS + k)
      slot = wrapped(slot + 1, ring);
    }
    UNROLL for (int k = 0; k < QUAD_CHUNK; ++k) {
      real results[4];
      BLUR_QUAD_COLUMN(HIGH, SCALES_HIGH)
      soft[(local_y() * QUAD_CHUNK + k) * 32 + local_x()] = to_real4(results[0], results[1], results[2], results[3]);
    }
    UNROLL for (int k = 0; k < 2 * BLUR_HIGH_RADIUS * 4; ++k) window[k] = window[k + QUAD_CHUNK * 4];
    barrier_group();
    const int y = n + local_y();
    if (x < width && y < end) {
      const int to = wrapped(own + local_y(), ring) * quads + global_x();
      real high[16];
      real blurred[16];
      real middles[12];
      UNROLL for (int p = 0; p < 4; ++p) {
        const real4 whole_quad = at(from, p * plane + to);
        const real4 soft_quad = soft[(p * QUAD_CHUNK + local_y()) * 32 + local_x()];
        UNPACK(high, p * 4, whole_quad)
        UNPACK(blurred, p * 4, soft_quad)
      }
      UNROLL for (int p = 0; p < 3; ++p) {
        const real4 quad = at(middle, p * plane + to);
        UNPACK(middles, p * 4, quad)
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
        split_high_x(high[j], blurred[j], x1, ultra_x1);
        split_high_y(high[4 + j], blurred[4 + j], y1, ultra_y1);
        split_high_x(high[8 + j], blurred[8 + j], x2, ultra_x2);
        split_high_y(high[12 + j], blurred[12 + j], y2, ultra_y2);
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
        const real of_x = band_difference(middles[j], MIDDLE_X_WEIGHT, x1, x2, at(numbers, NUMBER_PIXEL_HIGH_X),
                                          at(numbers, NUMBER_PIXEL_HIGH_X + 1));
        const real of_y = band_difference(middles[4 + j], MIDDLE_Y_WEIGHT, y1, y2, at(numbers, NUMBER_PIXEL_HIGH_Y),
                                          at(numbers, NUMBER_PIXEL_HIGH_Y + 1));
        differences[j] = pixel_difference(of_x, of_y, middles[8 + j], xmul);
      }
      const bool row_inside = inside(y, height);
      at(activities, to) = PACK(activity1, x, width, row_inside);
      at(activities, plane + to) = PACK(activity2, x, width, row_inside);
      at(difference, to) = PACK(differences, x, width, row_inside);
      at(malta, to) = PACK(malta_ultra_x, x, width, row_inside);
      at(malta, plane + to) = PACK(malta_high_x, x, width, row_inside);
      at(malta, 3 * plane + to) = PACK(malta_ultra_y, x, width, row_inside);
      at(malta, 4 * plane + to) = PACK(malta_high_y, x, width, row_inside);
    }
    barrier_group();
    own = wrapped(own + QUAD_CHUNK, ring);
  }
}
#endif

// Blurs the activity of both pictures, one after the other down the groups: rows y_begin to y_end - 1.
#if KERNEL_HERE(blur_activity)
#define MASK_WALK 16
#define MASK_ROWS (2 * BLUR_MASK_RADIUS + QUAD_CHUNK)
#define SAMPLE_MASK(i) samples[j + 8 + (i)]
#define WINDOW_QUAD_MASK(i) window[(k + BLUR_MASK_RADIUS + (i)) * 4 + j]
KERNEL(blur_activity, 32, 4, f32x4_in from, f32x4_out to, f32_in numbers, int width, int height, int y_begin, int y_end,
       int ring, int stride) {
  const int groups_down = (y_end - y_begin + 4 * MASK_WALK - 1) / (4 * MASK_WALK);
  const int x = global_x() * 4;
  const int quads = stride / 4;
  const int column = (group_y() / groups_down) * ring * quads + global_x();
  const int top = y_begin + ((group_y() % groups_down) * 4 + local_y()) * MASK_WALK;
  const int end = min(top + MASK_WALK, y_end);
  if (x < width && top < end) {
    int own = ring_slot(top, ring);
    int slot = ring_slot(top - BLUR_MASK_RADIUS, ring);
    real window[MASK_ROWS * 4];
    UNROLL for (int k = 0; k < 2 * BLUR_MASK_RADIUS; ++k) {
      BLUR_QUAD_ROW(MASK, SCALES_MASK, 2, column + slot * quads, k)
      slot = wrapped(slot + 1, ring);
    }
    for (int n = top; n < end; n += QUAD_CHUNK) {
      UNROLL for (int k = 0; k < QUAD_CHUNK; ++k) {
        BLUR_QUAD_ROW(MASK, SCALES_MASK, 2, column + slot * quads, 2 * BLUR_MASK_RADIUS + k)
        slot = wrapped(slot + 1, ring);
      }
      UNROLL for (int k = 0; k < QUAD_CHUNK; ++k) {
        real results[4];
        BLUR_QUAD_COLUMN(MASK, SCALES_MASK)
        if (n + k < end) at(to, column + own * quads) = PACK(results, x, width, true);
        own = wrapped(own + 1, ring);
      }
      UNROLL for (int k = 0; k < 2 * BLUR_MASK_RADIUS * 4; ++k) window[k] = window[k + QUAD_CHUNK * 4];
    }
  }
}
#endif

// ---------------------------------------------------------------------------------------------------------------------
// The map of one resolution. A thread makes four neighbours. malta: inputs of the line filters, ultra-high, high and
// middle of X, then of Y. activity: blurred, of both pictures. map: rows of map_stride floats.
#if KERNEL_HERE(combine)
#define SAMPLE(dx, dy) samples[((dy) + 4) * 12 + 4 + j + (dx)]
#define ROW_OF_THREE(dx, dy) three(SAMPLE((dx) - 1, dy), SAMPLE(dx, dy), SAMPLE((dx) + 1, dy))
#define COLUMN_OF_THREE(dx, dy) three(SAMPLE(dx, (dy) - 1), SAMPLE(dx, dy), SAMPLE(dx, (dy) + 1))

// Adds the line sums of a plane, which begins at quad `first`, to totals[4].
#define ADD_LINES(LINES, first)                                             \
  {                                                                         \
    real samples[9 * 12];                                                   \
    UNROLL for (int k = 0; k < 9; ++k) {                                    \
      UNROLL for (int q = 0; q < 3; ++q) {                                  \
        const real4 quad = at(malta, (first) + rows[k] + q - 1);            \
        UNPACK(samples, k * 12 + q * 4, quad)                               \
      }                                                                     \
    }                                                                       \
    UNROLL for (int j = 0; j < 4; ++j) {                                    \
      real lines;                                                           \
      LINES(lines)                                                          \
      totals[j] = c == 0 ? fma(lines, xmul, totals[j]) : totals[j] + lines; \
    }                                                                       \
  }
#define NINE_LINES(result) MALTA_NINE(SAMPLE, ROW_OF_THREE, COLUMN_OF_THREE, result)
#define FIVE_LINES(result) MALTA_FIVE(SAMPLE, result)

KERNEL(combine, 32, 8, f32x4_in malta, f32x4_in activities, f32x4_in difference, f32x4_in low, f32x4_out map, real xmul,
       int width, int height, int y_begin, int y_end, int ring, int stride, int map_stride) {
  const int x = global_x() * 4;
  const int y = y_begin + global_y();
  if (x < width && y < y_end) {
    const int quads = stride / 4;
    const int plane = ring * quads;
    int rows[9];  // from four above to four below
    int slot = ring_slot(y - 4, ring);
    UNROLL for (int k = 0; k < 9; ++k) {
      rows[k] = slot * quads + global_x();
      slot = wrapped(slot + 1, ring);
    }
    real totals[4];
    const real4 pixelwise = at(difference, rows[4]);
    UNPACK(totals, 0, pixelwise)
    for (int c = 0; c < 2; ++c) {
      ADD_LINES(NINE_LINES, 3 * c * plane)
      for (int band = 1; band < 3; ++band) ADD_LINES(FIVE_LINES, (3 * c + band) * plane)
    }
    real mask[3 * 12];  // of the reference: rows y - 3, y and y + 3, from four columns before
    UNROLL for (int k = 0; k < 3; ++k) {
      UNROLL for (int q = 0; q < 3; ++q) {
        const real4 quad = at(activities, rows[1 + 3 * k] + q - 1);
        UNPACK(mask, k * 12 + q * 4, quad)
      }
    }
    real other[4];
    const real4 other_quad = at(activities, plane + rows[4]);
    UNPACK(other, 0, other_quad)
    real lows[4];
    const real4 low_quad = at(low, rows[4]);
    UNPACK(lows, 0, low_quad)
    real results[4];
    UNROLL for (int j = 0; j < 4; ++j) {
      const real here = mask[12 + 4 + j];
      real smallest = here;
      real second = here + here;
      real third = second;
      UNROLL for (int k = 0; k < 3; ++k) {
        UNROLL for (int i = 0; i < 3; ++i) {
          if (k != 1 || i != 1) {
            const bool there = inside(y + 3 * (k - 1), height) && inside(x + j + 3 * (i - 1), width);
            erode(there ? mask[k * 12 + 4 + j + 3 * (i - 1)] : real(ERODED_NOTHING), smallest, second, third);
          }
        }
      }
      results[j] = masked_difference(eroded(smallest, second, third), lows[j], totals[j], here - other[j]);
    }
    at(map, (y * map_stride + x) / 4) = PACK(results, x, width, true);
  }
}
#endif

// ---------------------------------------------------------------------------------------------------------------------
// The norms of a tile; 32 threads, one a column. half_map: of the half resolution, where half_stride is not 0.
// remembered: a map whose larger values count, where `larger` is not 0. Where `keep` is not 0 the map that results
// takes the place of the full resolution's. tiles: seven floats each, as TileNorms. p is 0 where no p-norm is asked
// for; otherwise the map must be kept.
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
  real largest = real(0.0f);
  UNROLL for (int k = 0; k < 64; ++k) {
    const bool there = global_x() < width && top + k < height;
    if (keep != 0 && there) at(map, (top + k) * stride + x) = values[k];
    values[k] = there ? values[k] : real(0.0f);
    largest = max(largest, values[k]);
  }
  UNROLL for (int half_way = 16; half_way >= 1; half_way = half_way / 2) {
    largest = max(largest, shuffle_xor(largest, half_way));
  }
  const real scale = tile_scale(largest);
  real sums[6];
  UNROLL for (int i = 0; i < 6; ++i) sums[i] = real(0.0f);
  UNROLL for (int k = 0; k < 64; ++k) {
    real terms[3];
    norm_terms(values[k] * scale, terms[0], terms[1], terms[2]);
    UNROLL for (int i = 0; i < 3; ++i) sums[i] = sums[i] + terms[i];
  }
  if (p > real(0.0f) && global_x() < width) {
    for (int y = top; y < min(top + 64, height); ++y) {
      real terms[3];
      power_norm_terms(at(map, y * stride + x) * scale, p, terms[0], terms[1], terms[2]);
      UNROLL for (int i = 0; i < 3; ++i) sums[3 + i] = sums[3 + i] + terms[i];
    }
  }
  UNROLL for (int i = 0; i < 6; ++i) SUM_TILE_COLUMNS(sums[i]) if (local_x() == 0) {
    const int tile = (group_y() * ((width + 31) / 32) + group_x()) * 7;
    at(tiles, tile) = largest;
    UNROLL for (int i = 0; i < 6; ++i) at(tiles, tile + 1 + i) = sums[i];
  }
}
#endif
