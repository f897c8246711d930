// SPDX-License-Identifier: BSD-2-Clause-Patent
// Butteraugli on the GPU, from pixels to the middle subbands. A resolution is worked through in bands of rows, seven
// kernels a band: here light to XYB, and the blur of the low subband along rows and along columns.
#include "lang/dialect.h"

#include "lang/exact.h"
#include "device/pixels/pixels.h"
#include "metrics/butteraugli/math.h"
#include "metrics/butteraugli/blurs.h"
#include "metrics/butteraugli/planes.h"

// ---------------------------------------------------------------------------------------------------------------------
// Light to XYB, and to the light of the half resolution. A group takes 32 x 32 pixels, a thread eight rows of a column.
// Rows of light wrap around after as many as a plane holds. xyb: three planes. halved: three planes of halved_ring rows
// without gaps, none if that is 0.
#if KERNEL_HERE(make_xyb)
#define ROOM_make_xyb ~, 8
#define LIGHT_SIDE 36
#define LIGHT_PLANE (LIGHT_SIDE * LIGHT_SIDE)
SHARED(float, light, 3 * LIGHT_PLANE)

// Beyond an edge lies the mirrored picture, the edge repeated.
FUNCTION int mirrored(int position, int size) {
  return position < 0 ? -1 - position : position >= size ? 2 * size - 1 - position : position;
}

FUNCTION int light_row(int y, int width, int height, int y_first, int y_end, int light_ring) {
  return wrapped(mirrored(min(y, y_end + 1), height) - y_first, light_ring) * width;
}
FUNCTION int light_column(int x, int width) { return mirrored(min(x, width + 1), width); }

FUNCTION void store_light(int i, Pixel pixel) {
  light[i] = pixel.red;
  light[LIGHT_PLANE + i] = pixel.green;
  light[2 * LIGHT_PLANE + i] = pixel.blue;
}

FUNCTION real halved_light(int plane, int x, int y, bool right, bool below, real factor) {
  const int i = plane * LIGHT_PLANE + (2 * y + 2) * LIGHT_SIDE + 2 * x + 2;
  return halve(light[i], right ? light[i + 1] : real(0.0f), below ? light[i + LIGHT_SIDE] : real(0.0f),
               right && below ? light[i + LIGHT_SIDE + 1] : real(0.0f), factor);
}

FUNCTION real row_blurred_light(int i) {
  return blur_opsin(light[i], light[i + 1], light[i + 2], light[i + 3], light[i + 4]);
}

KERNEL(make_xyb, 32, 4, samples_in samples, f32_in table, f32_out xyb, f32_out halved, int format, int table_last,
       int plane_stride, int y_first, int halved_ring, real nits, int width, int height, int y_begin, int y_end,
       int slot_begin, int ring) {
  const int stride = stride_of(width);
  const int left = group_x() * 32;
  const int top = y_begin + group_y() * 32;
  const int thread = local_y() * 32 + local_x();
  const int light_ring = format == FORMAT_PLANES ? plane_stride / width : 1 << 30;
  // Most columns, a row for each local_y, and then the last four.
  int rows[LIGHT_SIDE / 4];
  UNROLL for (int k = 0; k < LIGHT_SIDE / 4; ++k) {
    rows[k] = light_row(top - 2 + local_y() + 4 * k, width, height, y_first, y_end, light_ring);
  }
  const int column = light_column(left - 2 + local_x(), width);
  Pixel pixels[LIGHT_SIDE / 4];
  FETCH_PIXELS(pixels, LIGHT_SIDE / 4, samples, table, format, table_last, plane_stride, rows[k] + column)
  UNROLL for (int k = 0; k < LIGHT_SIDE / 4; ++k) {
    store_light((local_y() + 4 * k) * LIGHT_SIDE + local_x(), pixels[k]);
  }
  for (int i = thread; i < 4 * LIGHT_SIDE; i += 128) {
    const int from =
        light_row(top - 2 + i / 4, width, height, y_first, y_end, light_ring) + light_column(left + 30 + i % 4, width);
    store_light((i / 4) * LIGHT_SIDE + 32 + i % 4, pixel_at(samples, table, format, table_last, plane_stride, from));
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
  int slot = wrapped(slot_begin + group_y() * 32 + first, ring);
  real soft[18];  // six rows of three channels, blurred along rows
  UNROLL for (int i = 0; i < 18; ++i) soft[i] = real(0.0f);
  for (int k = 0; k < 12; k += 2) {
    const int i = (first + k) * LIGHT_SIDE + local_x();
    UNROLL for (int c = 0; c < 3; ++c) {
      UNROLL for (int j = 0; j < 4; ++j) soft[c * 6 + j] = soft[c * 6 + j + 2];
      soft[c * 6 + 4] = row_blurred_light(c * LIGHT_PLANE + i);
      soft[c * 6 + 5] = row_blurred_light(c * LIGHT_PLANE + i + LIGHT_SIDE);
    }
    if (k >= 4) {
      UNROLL for (int r = 0; r < 2; ++r) {
        const int y = top + first + k + r - 4;
        real values[3];
        const int centre = i + (r - 2) * LIGHT_SIDE + 2;
        opsin_dynamics(light[centre], light[LIGHT_PLANE + centre], light[2 * LIGHT_PLANE + centre],
                       blur_opsin(soft[r], soft[r + 1], soft[r + 2], soft[r + 3], soft[r + 4]),
                       blur_opsin(soft[r + 6], soft[r + 7], soft[r + 8], soft[r + 9], soft[r + 10]),
                       blur_opsin(soft[r + 12], soft[r + 13], soft[r + 14], soft[r + 15], soft[r + 16]), nits,
                       values[0], values[1], values[2]);
        if (x < width && y < y_end) {
          UNROLL for (int c = 0; c < 3; ++c) at(xyb, (c * ring + slot) * stride + x) = values[c];
        }
        slot = wrapped(slot + 1, ring);
      }
    }
  }
}
#endif

// ---------------------------------------------------------------------------------------------------------------------
// The blur of the low subband along rows: a group takes 128 columns of a row of six planes, or of two rows of a
// picture's three, a thread four neighbours. `from` has a ring of its own.
#if KERNEL_HERE(blur_low_rows)
#define WINDOW_ROW_LOW(i) window[j + 16 + (i)]
KERNEL(blur_low_rows, 32, 6, f32x4_in from, f32x4_out to, f32_in constants, int work, int from_slot, int from_ring,
       int width, int height, int y_begin, int y_end, int slot_begin, int ring) {
  const int stride = stride_of(width);
  const int x = global_x() * 4;
  const int line = work == WORK_PAIR ? group_y() : group_y() * 2 + local_y() / 3;
  const int plane = work == WORK_PAIR ? local_y() : work == WORK_PREPARE ? local_y() % 3 : local_y() % 3 + 3;
  const int y = y_begin + line;
  if (x < width && y < y_end) {
    const int row = ((plane * from_ring + wrapped(from_slot + line, from_ring)) * stride + x) / 4;
    real window[36];
    UNROLL for (int k = 0; k < 9; ++k) {
      const real4 quad = at(from, row - 4 + k);
      UNPACK(window, k * 4, quad)
    }
    real results[4];
    UNROLL for (int j = 0; j < 4; ++j) { BLUR_LOW(WINDOW_ROW_LOW, results[j]) }
    if (is_cut(x, BLUR_LOW_RADIUS, width - 3)) {
      UNROLL for (int j = 0; j < 4; ++j) {
        if (is_cut(x + j, BLUR_LOW_RADIUS, width)) {
          const real scale = at(constants, column_scales(SCALES_LOW, width, height) + min(x + j, width - 1));
          BLUR_LOW_EDGE(WINDOW_ROW_LOW, scale, results[j])
        }
      }
    }
    at(to, ((plane * ring + wrapped(slot_begin + line, ring)) * stride + x) / 4) =
        PACK(results, 0, x, width, inside(y, height));
  }
}
#endif

// The blur of the low subband along columns. A group takes 32 columns of six planes, or of a picture's three at two
// places, a thread for each, and walks down `walk` rows, LOW_CHUNK at a time; the rows that it reads at once lie one
// after the other in the ring. Makes rows y_begin, a multiple of LOW_CHUNK, to y_end - 1 of the difference of the low
// subbands, and in the place of XYB the middle subbands. `rows` have a ring of their own. prepared: the low subbands of
// a prepared reference.
#if KERNEL_HERE(split_low)
#define LOW_CHUNK 8
#define WINDOW_COLUMN_LOW(i) window[k + 16 + (i)]
SHARED(float, chunks, 2 * 6 * LOW_CHUNK * 32)  // of both pictures' planes, blurred, at two places

FUNCTION int chunk_at(int place, int plane, int k) { return ((place * 6 + plane) * LOW_CHUNK + k) * 32 + local_x(); }

KERNEL(split_low, 32, 6, f32_in rows, f32_out xyb, f32_out low, f32_out prepared, f32_in constants, real xmul, int work,
       int walk, int rows_slot, int rows_ring, int width, int height, int y_begin, int y_end, int slot_begin,
       int ring) {
  const int stride = stride_of(width);
  const int x = global_x();
  const int place = work == WORK_PAIR ? 0 : local_y() / 3;
  const int channel = local_y() % 3;
  const int plane = work == WORK_PAIR ? local_y() : work == WORK_PREPARE ? channel : channel + 3;
  const int column = plane * ring * stride + x;
  const int rows_column = plane * rows_ring * stride + x;
  const int first_walk = work == WORK_PAIR ? group_y() : group_y() * 2;
  const int down = (first_walk + place) * walk;
  const int end = min(y_begin + down + walk, y_end);
  int own = wrapped(slot_begin + down, ring);
  int slot = slot_before(wrapped(rows_slot + down, rows_ring), 16, rows_ring);
  real window[32 + LOW_CHUNK];
  UNROLL for (int i = 0; i < 32; i += LOW_CHUNK) {
    UNROLL for (int k = 0; k < LOW_CHUNK; ++k) window[i + k] = at(rows, rows_column + (slot + k) * stride);
    slot = wrapped(slot + LOW_CHUNK, rows_ring);
  }
  // The rows of the next chunk are on their way while one is worked on.
  real coming[LOW_CHUNK];
  UNROLL for (int k = 0; k < LOW_CHUNK; ++k) coming[k] = at(rows, rows_column + (slot + k) * stride);
  // Both places come to the barriers as often, though the second may have no rows left.
  const int length = min(walk, y_end - y_begin - first_walk * walk);
  for (int i = 0; i < length; i += LOW_CHUNK) {
    const int n = y_begin + down + i;
    UNROLL for (int k = 0; k < LOW_CHUNK; ++k) window[32 + k] = coming[k];
    slot = wrapped(slot + LOW_CHUNK, rows_ring);
    UNROLL for (int k = 0; k < LOW_CHUNK; ++k) coming[k] = at(rows, rows_column + (slot + k) * stride);
    real whole_subband[LOW_CHUNK];
    UNROLL for (int k = 0; k < LOW_CHUNK; ++k) whole_subband[k] = at(xyb, column + (own + k) * stride);
    real known[LOW_CHUNK];
    if (work == WORK_PREPARED) {
      UNROLL for (int k = 0; k < LOW_CHUNK; ++k) {
        known[k] = at(prepared, (channel * height + clamp(n + k, 0, height - 1)) * stride + x);
      }
    }
    real results[LOW_CHUNK];
    UNROLL for (int k = 0; k < LOW_CHUNK; ++k) { BLUR_LOW(WINDOW_COLUMN_LOW, results[k]) }
    if (is_cut(n, BLUR_LOW_RADIUS, height - LOW_CHUNK + 1)) {
      UNROLL for (int k = 0; k < LOW_CHUNK; ++k) {
        if (is_cut(n + k, BLUR_LOW_RADIUS, height)) {
          const real scale = at(constants, row_scales(SCALES_LOW, width, height) + clamp(n + k, 0, height - 1));
          BLUR_LOW_EDGE(WINDOW_COLUMN_LOW, scale, results[k])
        }
        if (!inside(n + k, height)) whole_subband[k] = results[k];
      }
    }
    // Beside the picture both are 0.
    UNROLL for (int k = 0; k < LOW_CHUNK; ++k) {
      if (n + k < end) at(xyb, column + (own + k) * stride) = whole_subband[k] - results[k];
    }
    UNROLL for (int k = 0; k < LOW_CHUNK; ++k) chunks[chunk_at(place, plane, k)] = results[k];
    if (work == WORK_PREPARED) {
      UNROLL for (int k = 0; k < LOW_CHUNK; ++k) chunks[chunk_at(place, channel, k)] = known[k];
    }
    barrier_group();
    for (int k = work == WORK_PAIR ? local_y() : channel; k < min(LOW_CHUNK, end - n); k += work == WORK_PAIR ? 6 : 3) {
      real x1 = chunks[chunk_at(place, 0, k)];
      real y1 = chunks[chunk_at(place, 1, k)];
      real b1 = chunks[chunk_at(place, 2, k)];
      if (work != WORK_PREPARED) low_values(x1, y1, b1);
      if (work != WORK_PREPARE) {
        real x2 = chunks[chunk_at(place, 3, k)];
        real y2 = chunks[chunk_at(place, 4, k)];
        real b2 = chunks[chunk_at(place, 5, k)];
        low_values(x2, y2, b2);
        at(low, (own + k) * stride + x) = low_difference(x1 - x2, y1 - y2, b1 - b2, xmul);
      } else if (inside(n + k, height) && x < width) {
        at(prepared, (n + k) * stride + x) = x1;
        at(prepared, (height + n + k) * stride + x) = y1;
        at(prepared, (2 * height + n + k) * stride + x) = b1;
      }
    }
    barrier_group();
    UNROLL for (int k = 0; k < 32; ++k) window[k] = window[k + LOW_CHUNK];
    own = wrapped(own + LOW_CHUNK, ring);
  }
}
#endif
