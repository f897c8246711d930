// SPDX-License-Identifier: BSD-2-Clause-Patent
// zensim on the GPU. The picture is worked through in bands of rows: pixels to planes of all scales (make_planes, a
// launch for each picture), then the strips that have all their rows, of all scales and channels, one group each
// (sum_strips). A group walks along its strip in chunks of 32 columns, as the sums of windows have to: they are carried
// from the first column to the last. Rows are kept in rings, so that a band finds the last rows of the one above it.
#include "lang/dialect.h"

#include "lang/exact.h"
#include "device/pixels/pixels.h"
#undef THIRD_OF
#define THIRD_OF(bits) to_whole(to_natural(bits) / 3u)  // two instructions
#include "metrics/zensim/math.h"
#include "metrics/zensim/places.h"
#include "metrics/zensim/walk.h"

// ---------------------------------------------------------------------------------------------------------------------
// A group makes 32 x 32 pixels of one picture and what the smaller scales make of them: means of 2 x 2 do not reach
// beyond. planes: number image * 3 + channel of each scale. alpha: floats, one a pixel; none if has_alpha is 0. nits:
// what light of 1 is in HDR pictures; 0 for others.

#if KERNEL_HERE(make_planes)
#define BLOCK 32
#define MADE 1345  // samples of all scales, 1024 + 256 + 64, and one so that planes do not all lie in the same banks
SHARED(float, made, 3 * MADE)

FUNCTION int mirrored_place(int i, int count) {
  if (i < count) return i;
  if (count == 1) return 0;
  const int turn = i % (2 * (count - 1));
  return min(turn, 2 * (count - 1) - turn);
}

// The samples beside a row that mirror those near its ends; `is_beside` tells which these are.
FUNCTION bool is_beside(int x, int columns) { return x < BESIDE || x >= columns - BESIDE; }
FUNCTION void store_mirrored(f32_out planes, int row, int x, int columns, real value) {
  if (x > 0 && x < BESIDE) at(planes, row + BESIDE - x) = value;
  const int mirror = 2 * (columns - 1) - x;
  if (mirror >= columns && mirror < columns + BESIDE) at(planes, row + BESIDE + mirror) = value;
}

FUNCTION real mean_of_quad(int i, int side) {
  return mean_of_four(made[i], made[i + 1], made[i + side], made[i + side + 1]);
}

KERNEL(make_planes, 32, 8, samples_in samples, f32_in table, samples_in alpha_samples, f32_in pattern, f32_out planes,
       int format, int table_last, int plane_stride, int has_alpha, int y_first, int image, int width, int height,
       int y_begin, int y_end, int band, int slot0, int slot1, int slot2, int slot3, real nits) {
  const int x = group_x() * BLOCK + local_x();
  const int top = y_begin + group_y() * BLOCK;
  const int columns = scale_width(width, 0);
  // Columns that are added mirror those of the picture, which may itself be mirrored.
  const int inside = x < mirrored_side(width) ? x : max(2 * (mirrored_side(width) - 1) - x, 0);
  const int from_x = mirrored_place(inside, width);
  int from[4];
  UNROLL for (int k = 0; k < 4; ++k) {
    from[k] = (mirrored_place(min(top + local_y() + k * 8, y_end - 1), height) - y_first) * width + from_x;
  }
  Pixel pixels[4];
  FETCH_PIXELS(pixels, 4, samples, table, format, table_last, plane_stride, from[k])
  const int ring = ring_of(height, band, 0);
  const int stride = stride_of(width, 0);
  if (has_alpha != 0) {
    UNROLL for (int k = 0; k < 4; ++k) {
      const real alpha = min(max(float_at(alpha_samples, from[k]), real(0.0f)), real(1.0f));
      const int y = min(top + local_y() + k * 8, y_end - 1);
      const real grey = at(pattern, (inside ^ ((y & 4095) * 2481)) & 4095);
      pixels[k].red = over_grey(pixels[k].red, alpha, grey);
      pixels[k].green = over_grey(pixels[k].green, alpha, grey);
      pixels[k].blue = over_grey(pixels[k].blue, alpha, grey);
    }
  }
  real own[3 * 4];  // planes of the pixels
  if (nits == real(0.0f)) {
    UNROLL for (int k = 0; k < 4; ++k) {
      planes_of(pixels[k].red, pixels[k].green, pixels[k].blue, own[k], own[4 + k], own[8 + k]);
    }
  } else {
    UNROLL for (int k = 0; k < 4; ++k) {
      planes_of_nits(pixels[k].red * nits, pixels[k].green * nits, pixels[k].blue * nits, own[k], own[4 + k],
                     own[8 + k]);
    }
  }
  UNROLL for (int k = 0; k < 4; ++k) {
    const int row = local_y() + k * 8;
    const int y = top + row;
    UNROLL for (int c = 0; c < 3; ++c) made[c * MADE + row * BLOCK + local_x()] = own[c * 4 + k];
    if (x < columns && y < y_end) {
      const int to = (image * 3 * ring + ring_row(y, y_begin, slot0, ring)) * stride;
      UNROLL for (int c = 0; c < 3; ++c) at(planes, to + c * ring * stride + BESIDE + x) = own[c * 4 + k];
      if (is_beside(x, columns)) {
        UNROLL for (int c = 0; c < 3; ++c) store_mirrored(planes, to + c * ring * stride, x, columns, own[c * 4 + k]);
      }
    }
  }
  int from_scale = 0;
  int scale_begin = 6 * ring * stride;
  UNROLL for (int s = 1; s < SCALES; ++s) {
    barrier_group();
    const int side = BLOCK >> s;
    const int number = local_y() * 32 + local_x();
    const int to_scale = from_scale + 4 * side * side;
    const int smaller_stride = stride_of(width, s);
    const int smaller_ring = ring_of(height, band, s);
    if (number < side * side) {
      const int column = number & (side - 1);
      const int row = number >> (5 - s);
      const int i = from_scale + 4 * side * row + 2 * column;
      const int smaller_x = group_x() * side + column;
      const int smaller_y = (top >> s) + row;
      const int smaller_columns = scale_width(width, s);
      const int smaller_slot = s == 1 ? slot1 : s == 2 ? slot2 : slot3;
      const int to =
          scale_begin +
          (image * 3 * smaller_ring + ring_row(smaller_y, y_begin >> s, smaller_slot, smaller_ring)) * smaller_stride;
      const bool wanted = smaller_x < smaller_columns && smaller_y < (y_end >> s);
      UNROLL for (int c = 0; c < 3; ++c) {
        const real mean = mean_of_quad(c * MADE + i, 2 * side);
        made[c * MADE + to_scale + number] = mean;
        if (wanted) {
          const int to_plane = to + c * smaller_ring * smaller_stride;
          at(planes, to_plane + BESIDE + smaller_x) = mean;
          if (is_beside(smaller_x, smaller_columns)) {
            store_mirrored(planes, to_plane, smaller_x, smaller_columns, mean);
          }
        }
      }
    }
    scale_begin += 6 * smaller_ring * smaller_stride;
    from_scale = to_scale;
  }
}
#endif

// ---------------------------------------------------------------------------------------------------------------------

#if KERNEL_HERE(sum_strips)
#define FIRST_COLUMNS 48
#define PLANES_WALKED 4
#define SUMS_HELD BASIC_SUMS
#define HELD_MORE 0
SHARED(float, turned, WALK_FLOATS(PLANES_WALKED))
SHARED(int, row_from, WALK_ROWS)
#define ROOM_sum_strips ~, 1

KERNEL(sum_strips, 32, WALK_THREADS, f32_in planes, f32_out sums, int width, int height, int y_begin, int y_end,
       int band) {
  WALK_STRIP(, , )
  CLOSE_SUMS(0, 9)
  CLOSE_SUMS(9, 9)
  CLOSE_MAXIMA
}
#endif
