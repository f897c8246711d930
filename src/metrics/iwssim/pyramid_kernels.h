// SPDX-License-Identifier: BSD-2-Clause-Patent
// The pyramids of IW-SSIM and MS-SSIM on the GPU: luma (make_luma, enlarge), levels (reduce_twice, or halve for
// MS-SSIM), subbands (make_subbands).
#include "lang/dialect.h"

#include "lang/exact.h"
#include "device/pixels/pixels.h"
#include "metrics/iwssim/luma.h"
#include "metrics/iwssim/ssim_window.h"
#include "metrics/iwssim/math.h"
#include "metrics/iwssim/layout.h"

// ---------------------------------------------------------------------------------------------------------------------
// Luma of rows of a picture. A thread makes four pixels.

#if KERNEL_HERE(make_luma)
KERNEL(make_luma, 32, 8, samples_in samples, f32_in table, f32_in ties, f32_out luma, int format, int table_last,
       int plane_stride, int y_first, int width, int y_begin, int y_end, int stride) {
  const int x = global_x();
  const int top = y_begin + group_y() * 32 + local_y();
  Pixel pixels[4];
  FETCH_PIXELS(pixels, 4, samples, table, format, table_last, plane_stride,
               (min(top + k * 8, y_end - 1) - y_first) * width + min(x, width - 1))
  UNROLL for (int k = 0; k < 4; ++k) {
    const int y = top + k * 8;
    real value = luma_of(pixels[k].red, pixels[k].green, pixels[k].blue);
    if (is_whole(pixels[k].red, pixels[k].green, pixels[k].blue)) {
      const real place = luma_tie_place(value, pixels[k].red, pixels[k].green);
      value = nearest_whole(value);
      if (place >= real(0.0f)) value = value + at(ties, to_whole(place));
    }
    if (x < width && y < y_end) at(luma, y * stride + x) = value - real(LUMA_MIDDLE);
  }
}
#endif

// A small picture made large enough. places: for each column, then each row, two samples and how far from the first to
// the second.
#if KERNEL_HERE(enlarge)
KERNEL(enlarge, 32, 8, f32_in luma, f32_in places, f32_out pyramid, int source_width, int width, int height) {
  const int x = global_x();
  const int y = global_y();
  if (x < width && y < height) {
    const int left = to_whole(at(places, 3 * x));
    const int right = to_whole(at(places, 3 * x + 1));
    const real across = at(places, 3 * x + 2);
    const int line = 3 * (width + y);
    const int upper = to_whole(at(places, line)) * source_width;
    const int lower = to_whole(at(places, line + 1)) * source_width;
    const real first = between(at(luma, upper + left), at(luma, upper + right), across);
    const real second = between(at(luma, lower + left), at(luma, lower + right), across);
    at(pyramid, y * stride_of(width, 0) + x) = between(first, second, at(places, line + 2));
  }
}
#endif

// ---------------------------------------------------------------------------------------------------------------------
// Two levels of the Gaussian pyramid at a time: a group makes 32 x 32 samples of the first and 16 x 16 of the second.
// Threads stay in a column, of which the first step needs 35.

#if KERNEL_HERE(reduce_twice)
#define ONCE_SIDE 35    // of the first level, that the second needs
#define SOURCE_ROWS 73  // that the first needs
#define ROWS_AT_ONCE 7  // by 256 threads, in 35 columns
#define TWICE_SIDE 16
SHARED(float, source_rows, SOURCE_ROWS * 35)
SHARED(float, once, ONCE_SIDE * 35)
SHARED(float, once_rows, ONCE_SIDE * 16)

KERNEL(reduce_twice, 32, 8, f32_out pyramid, int width, int height, int s, int first_group) {
  const int number = local_y() * 32 + local_x();
  const int left = group_x() * 32 - 2;  // of the first level
  const int top = (first_group + group_y()) * 32 - 2;
  const int column = number % ONCE_SIDE;
  const int first_row = number / ONCE_SIDE;
  const int once_width = side_of(width, s + 1);
  const int once_height = side_of(height, s + 1);
  if (first_row < ROWS_AT_ONCE) {
    const int source_width = side_of(width, s);
    const int source_height = side_of(height, s);
    const int stride = stride_of(width, s);
    const int x = 2 * clamp(reflected(left + column, once_width), 0, once_width - 1);
    const int source = level_at(width, height, s);
    int from[5];
    UNROLL for (int c = 0; c < 5; ++c) from[c] = source + reflected(x + c - 2, source_width);
    // Eleven rows, of which the last may be none; so many fetches are on their way together.
    UNROLL for (int k = 0; k < 11; ++k) {
      const int row = first_row + k * ROWS_AT_ONCE;
      const int line = clamp(reflected(2 * top - 2 + row, source_height), 0, source_height - 1) * stride;
      const real sum =
          reduce_five(at(pyramid, from[0] + line), at(pyramid, from[1] + line), at(pyramid, from[2] + line),
                      at(pyramid, from[3] + line), at(pyramid, from[4] + line));
      if (row < SOURCE_ROWS) source_rows[row * ONCE_SIDE + column] = sum;
    }
  }
  barrier_group();
  if (first_row < ROWS_AT_ONCE) {
    const int x = left + column;
    const int to = level_at(width, height, s + 1) + x;
    UNROLL for (int k = 0; k < ONCE_SIDE / ROWS_AT_ONCE; ++k) {
      const int row = first_row + k * ROWS_AT_ONCE;
      const int y = top + row;
      const int here = clamp(reflected(y, once_height), max(top, 0), min(top + ONCE_SIDE, once_height) - 1);
      const int i = 2 * (here - top) * ONCE_SIDE + column;
      const real value = reduced(reduce_five(source_rows[i], source_rows[i + ONCE_SIDE], source_rows[i + 2 * ONCE_SIDE],
                                             source_rows[i + 3 * ONCE_SIDE], source_rows[i + 4 * ONCE_SIDE]));
      once[row * ONCE_SIDE + column] = value;
      if (column >= 2 && column < 34 && x < once_width && row >= 2 && row < 34 && y < once_height) {
        at(pyramid, to + y * stride_of(width, s + 1)) = value;
      }
    }
  }
  barrier_group();
  for (int i = number; i < ONCE_SIDE * TWICE_SIDE; i += 256) {
    const int from = i / TWICE_SIDE * ONCE_SIDE + 2 * (i % TWICE_SIDE);
    once_rows[i] = reduce_five(once[from], once[from + 1], once[from + 2], once[from + 3], once[from + 4]);
  }
  barrier_group();
  const int from = 2 * (number / TWICE_SIDE) * TWICE_SIDE + number % TWICE_SIDE;
  const int x = group_x() * TWICE_SIDE + number % TWICE_SIDE;
  const int y = (first_group + group_y()) * TWICE_SIDE + number / TWICE_SIDE;
  if (x < side_of(width, s + 2) && y < side_of(height, s + 2)) {
    at(pyramid, level_at(width, height, s + 2) + y * stride_of(width, s + 2) + x) =
        reduced(reduce_five(once_rows[from], once_rows[from + TWICE_SIDE], once_rows[from + 2 * TWICE_SIDE],
                            once_rows[from + 3 * TWICE_SIDE], once_rows[from + 4 * TWICE_SIDE]));
  }
}
#endif

// ---------------------------------------------------------------------------------------------------------------------
// All four subbands. A thread makes 2 x 2 samples, of which the next level has one. Of a band, 16 rows of groups work
// on the first scale, 8 on the second and so on.

#define SUBBAND_GROUPS 30

#if KERNEL_HERE(make_subbands)
FUNCTION int expanded_place(int i, int next_length, int length) {
  if (i < 0) return 1;
  return i < next_length ? i : length % 2 == 0 ? next_length - 1 : next_length - 2;
}

KERNEL(make_subbands, 32, 8, f32_out pyramid, int width, int height, int first_band) {
  int s = 0;
  int group = group_y() % SUBBAND_GROUPS;
  for (int n = 16; group >= n; n = n / 2) {
    group -= n;
    ++s;
  }
  const int columns = side_of(width, s);
  const int rows = side_of(height, s);
  const int next_columns = side_of(width, s + 1);
  const int next_rows = side_of(height, s + 1);
  const int x = global_x();
  const int y = (first_band + group_y() / SUBBAND_GROUPS) * (BAND_ROWS / 2 >> s) + group * 8 + local_y();
  if (x < next_columns && y < next_rows) {
    // As plane_at and level_at have it, with less arithmetic.
    const int to_plane = plane_at(width, height, s);
    const int levels = plane_at(width, height, SCALES);
    const int from_level = s == 0 ? 0 : levels + to_plane - plane_floats(width, height, 0);
    const int next = s == 0            ? levels
                     : s == SCALES - 2 ? to_plane + plane_floats(width, height, s)
                                       : from_level + plane_floats(width, height, s);
    const int next_stride = stride_of(width, s + 1);
    const int before = next + expanded_place(y - 1, next_rows, rows) * next_stride;
    const int here = next + y * next_stride;
    const int after = next + expanded_place(y + 1, next_rows, rows) * next_stride;
    real even_row[3];
    real odd_row[3];
    UNROLL for (int k = 0; k < 3; ++k) {
      const int column = expanded_place(x - 1 + k, next_columns, columns);
      const real middle = at(pyramid, here + column);
      const real below = at(pyramid, after + column);
      even_row[k] = expand_even(at(pyramid, before + column), middle, below);
      odd_row[k] = expand_odd(middle, below);
    }
    const int stride = stride_of(width, s);
    const int from = from_level + 2 * y * stride + 2 * x;
    const int to = to_plane + 2 * y * stride + 2 * x;
    // Rows are as long as to have room for the last pair.
    const int below = 2 * y + 1 < rows ? stride : 0;
    const real level0 = at(pyramid, from);
    const real level1 = at(pyramid, from + 1);
    const real level2 = at(pyramid, from + below);
    const real level3 = at(pyramid, from + below + 1);
    at(pyramid, to) = subband_of(level0, expand_even(even_row[0], even_row[1], even_row[2]));
    at(pyramid, to + 1) = subband_of(level1, expand_odd(even_row[1], even_row[2]));
    if (below != 0) {
      at(pyramid, to + stride) = subband_of(level2, expand_even(odd_row[0], odd_row[1], odd_row[2]));
      at(pyramid, to + stride + 1) = subband_of(level3, expand_odd(odd_row[1], odd_row[2]));
    }
  }
}
#endif

// ---------------------------------------------------------------------------------------------------------------------
// All levels of MS-SSIM: a group makes them from 32 x 32 samples of luma.

#if KERNEL_HERE(halve)
#define HALVED_SIDE 32
SHARED(float, halved, 1365)  // 32 x 32, then 16 x 16 and so on

KERNEL(halve, 32, 8, f32_out pyramid, int width, int height, int first_group) {
  const int left = group_x() * HALVED_SIDE;
  const int top = (first_group + group_y()) * HALVED_SIDE;
  UNROLL for (int k = 0; k < 4; ++k) {
    const int row = local_y() + k * 8;
    halved[row * HALVED_SIDE + local_x()] =
        at(pyramid, min(top + row, height - 1) * stride_of(width, 0) + min(left + local_x(), width - 1));
  }
  const int number = local_y() * 32 + local_x();
  int from = 0;
  for (int s = 1; s < SCALES; ++s) {
    barrier_group();
    const int side = HALVED_SIDE >> s;
    const int to = from + 4 * side * side;
    if (number < side * side) {
      const int column = number % side;
      const int row = number / side;
      const int x = (left >> s) + column;
      const int y = (top >> s) + row;
      const int upper = from + 4 * side * row + 2 * column;
      // An odd length repeats its last sample.
      const int lower = upper + (2 * y + 1 < side_of(height, s - 1) ? 2 * side : 0);
      const int beside = 2 * x + 1 < side_of(width, s - 1) ? 1 : 0;
      const real value = mean_of_four(halved[upper], halved[upper + beside], halved[lower], halved[lower + beside]);
      halved[to + number] = value;
      if (x < side_of(width, s) && y < side_of(height, s)) {
        at(pyramid, plane_at(width, height, s) + y * stride_of(width, s) + x) = value;
      }
    }
    from = to;
  }
}
#endif
