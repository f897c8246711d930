// SPDX-License-Identifier: BSD-2-Clause-Patent
// Butteraugli on the GPU, from pixels to the middle bands. A resolution is worked through in bands of rows, seven
// kernels a band: here light to XYB, and the blur of the low band along rows and along columns.
#include "lang/dialect.h"

#include "lang/exact.h"
#include "metrics/pixels.h"
#include "metrics/butteraugli/math.h"
#include "metrics/butteraugli/blurs.h"
#include "metrics/butteraugli/planes.h"

// ---------------------------------------------------------------------------------------------------------------------
// Light to XYB, and to the light of the half resolution. A group takes 32 x 32 pixels, a thread eight rows of a column.
// Rows of light wrap around after as many as a plane holds. xyb: three planes. halved: three planes of halved_ring
// rows without gaps, none if that is 0.
#if KERNEL_HERE(make_xyb)
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

KERNEL(make_xyb, 32, 4, samples_in samples, f32_in table, f32_out xyb, f32_out halved, int form, int extent,
       int y_first, int halved_ring, real nits, int width, int height, int y_begin, int y_end, int slot_begin, int ring,
       int stride) {
  const int left = group_x() * 32;
  const int top = y_begin + group_y() * 32;
  const int thread = local_y() * 32 + local_x();
  const int light_ring = form == FORM_PLANES ? extent / width : 1 << 30;
  // Most columns, a row for each local_y, and then the last four.
  int rows[LIGHT_SIDE / 4];
  UNROLL for (int k = 0; k < LIGHT_SIDE / 4; ++k) {
    rows[k] = light_row(top - 2 + local_y() + 4 * k, width, height, y_first, y_end, light_ring);
  }
  const int column = light_column(left - 2 + local_x(), width);
  Pixel pixels[LIGHT_SIDE / 4];
  FETCH_PIXELS(pixels, LIGHT_SIDE / 4, samples, table, form, extent, rows[k] + column)
  UNROLL for (int k = 0; k < LIGHT_SIDE / 4; ++k) {
    store_light((local_y() + 4 * k) * LIGHT_SIDE + local_x(), pixels[k]);
  }
  for (int i = thread; i < 4 * LIGHT_SIDE; i += 128) {
    const int from =
        light_row(top - 2 + i / 4, width, height, y_first, y_end, light_ring) + light_column(left + 30 + i % 4, width);
    store_light((i / 4) * LIGHT_SIDE + 32 + i % 4, pixel_at(samples, table, form, extent, from));
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
        real values[3];
        const int centre = i + (r - 2) * LIGHT_SIDE + 2;
        opsin_dynamics(light[centre], light[LIGHT_PLANE + centre], light[2 * LIGHT_PLANE + centre],
                       blur_opsin(soft[r], soft[r + 1], soft[r + 2], soft[r + 3], soft[r + 4]),
                       blur_opsin(soft[r + 6], soft[r + 7], soft[r + 8], soft[r + 9], soft[r + 10]),
                       blur_opsin(soft[r + 12], soft[r + 13], soft[r + 14], soft[r + 15], soft[r + 16]), nits,
                       values[0], values[1], values[2]);
        if (x < width && top + first + k + r - 4 < y_end) {
          UNROLL for (int c = 0; c < 3; ++c) at(xyb, (c * ring + slot) * stride + x) = values[c];
        }
        slot = wrapped(slot + 1, ring);
      }
    }
  }
}
#endif

// ---------------------------------------------------------------------------------------------------------------------
// The blur of the low band along rows: a group takes 128 columns of a row of six planes, a thread four neighbours.
#if KERNEL_HERE(blur_low_rows)
#define WINDOW_ROW_LOW(i) window[j + 16 + (i)]
KERNEL(blur_low_rows, 32, 6, f32x4_in from, f32x4_out to, f32_in numbers, int width, int height, int y_begin, int y_end,
       int slot_begin, int ring, int stride) {
  const int x = global_x() * 4;
  const int y = y_begin + group_y();
  if (x < width && y < y_end) {
    const int row = ((local_y() * ring + wrapped(slot_begin + group_y(), ring)) * stride + x) / 4;
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
          const real scale = at(numbers, column_scales(SCALES_LOW, width, height) + min(x + j, width - 1));
          BLUR_LOW_EDGE(WINDOW_ROW_LOW, scale, results[j])
        }
      }
    }
    at(to, row) = PACK(results, 0, x, width, inside(y, height));
  }
}
#endif

// The blur of the low band along columns. A group takes 32 columns of all six planes, local_y is the plane, and walks
// down LOW_WALK rows, LOW_CHUNK at a time; the rows that it reads at once lie one after the other in the ring. Makes
// rows y_begin, a multiple of LOW_CHUNK, to y_end - 1 of the difference of the low bands, and in the place of XYB the
// middle bands.
#if KERNEL_HERE(split_low)
#define LOW_WALK 64
#define LOW_CHUNK 8
#define WINDOW_COLUMN_LOW(i) window[k + 16 + (i)]
SHARED(float, chunks, 6 * LOW_CHUNK * 32)  // of all planes, blurred

FUNCTION real blurred_at(int plane, int k) { return chunks[(plane * LOW_CHUNK + k) * 32 + local_x()]; }

KERNEL(split_low, 32, 6, f32_in rows, f32_out xyb, f32_out low, f32_in numbers, real xmul, int width, int height,
       int y_begin, int y_end, int slot_begin, int ring, int stride) {
  const int x = global_x();
  const int column = local_y() * ring * stride + x;
  const int top = y_begin + group_y() * LOW_WALK;
  const int end = min(top + LOW_WALK, y_end);
  int own = wrapped(slot_begin + group_y() * LOW_WALK, ring);
  int slot = slot_before(own, 16, ring);
  real window[32 + LOW_CHUNK];
  UNROLL for (int i = 0; i < 32; i += LOW_CHUNK) {
    UNROLL for (int k = 0; k < LOW_CHUNK; ++k) window[i + k] = at(rows, column + (slot + k) * stride);
    slot = wrapped(slot + LOW_CHUNK, ring);
  }
  // The rows of the next chunk are on their way while one is worked on.
  real coming[LOW_CHUNK];
  UNROLL for (int k = 0; k < LOW_CHUNK; ++k) coming[k] = at(rows, column + (slot + k) * stride);
  for (int n = top; n < end; n += LOW_CHUNK) {
    UNROLL for (int k = 0; k < LOW_CHUNK; ++k) window[32 + k] = coming[k];
    slot = wrapped(slot + LOW_CHUNK, ring);
    UNROLL for (int k = 0; k < LOW_CHUNK; ++k) coming[k] = at(rows, column + (slot + k) * stride);
    real whole_band[LOW_CHUNK];
    UNROLL for (int k = 0; k < LOW_CHUNK; ++k) whole_band[k] = at(xyb, column + (own + k) * stride);
    real results[LOW_CHUNK];
    UNROLL for (int k = 0; k < LOW_CHUNK; ++k) { BLUR_LOW(WINDOW_COLUMN_LOW, results[k]) }
    if (is_cut(n, BLUR_LOW_RADIUS, height - LOW_CHUNK + 1)) {
      UNROLL for (int k = 0; k < LOW_CHUNK; ++k) {
        if (is_cut(n + k, BLUR_LOW_RADIUS, height)) {
          const real scale = at(numbers, row_scales(SCALES_LOW, width, height) + clamp(n + k, 0, height - 1));
          BLUR_LOW_EDGE(WINDOW_COLUMN_LOW, scale, results[k])
        }
        if (!inside(n + k, height)) results[k] = whole_band[k];
      }
    }
    UNROLL for (int k = 0; k < LOW_CHUNK; ++k) { chunks[(local_y() * LOW_CHUNK + k) * 32 + local_x()] = results[k]; }
    // Beside the picture both are 0.
    UNROLL for (int k = 0; k < LOW_CHUNK; ++k) {
      if (n + k < end) at(xyb, column + (own + k) * stride) = whole_band[k] - results[k];
    }
    barrier_group();
    for (int k = local_y(); k < min(LOW_CHUNK, end - n); k += 6) {
      real x1 = blurred_at(0, k);
      real y1 = blurred_at(1, k);
      real b1 = blurred_at(2, k);
      real x2 = blurred_at(3, k);
      real y2 = blurred_at(4, k);
      real b2 = blurred_at(5, k);
      low_values(x1, y1, b1);
      low_values(x2, y2, b2);
      at(low, (own + k) * stride + x) = low_difference(x1 - x2, y1 - y2, b1 - b2, xmul);
    }
    barrier_group();
    UNROLL for (int k = 0; k < 32; ++k) window[k] = window[k + LOW_CHUNK];
    own = wrapped(own + LOW_CHUNK, ring);
  }
}
#endif
