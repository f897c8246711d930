// SPDX-License-Identifier: BSD-2-Clause-Patent
// zensim on the GPU. The picture is worked through in bands of rows: pixels to planes of all scales (make_planes, a
// launch for each picture), then the strips that have all their rows, of all scales and channels, one group each
// (sum_strips). A group walks along its strip in chunks of 32 columns, as the sums of windows have to: they are carried
// from the first column to the last. Rows are kept in rings, so that a band finds the last rows of the one above it.
#include "lang/dialect.h"

#include "lang/exact.h"
#include "device/pixels/pixels.h"
#include "metrics/zensim/math.h"
#include "metrics/zensim/places.h"
#define FIRST_STRIDE STAGED_STRIDE
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
  if (count == 1) return 0;
  const int turn = i % (2 * (count - 1));
  return min(turn, 2 * (count - 1) - turn);
}

// A sample, and the one beside the row that mirrors it.
FUNCTION void store_sample(f32_out planes, int row, int x, int columns, real value) {
  at(planes, row + BESIDE + x) = value;
  if (x > 0 && x < BESIDE) at(planes, row + BESIDE - x) = value;
  const int mirror = 2 * (columns - 1) - x;
  if (mirror >= columns && mirror < columns + BESIDE) at(planes, row + BESIDE + mirror) = value;
}

FUNCTION real mean_of_quad(int i, int side) {
  return mean_of_four(made[i], made[i + 1], made[i + side], made[i + side + 1]);
}

KERNEL(make_planes, 32, 8, samples_in samples, f32_in table, samples_in alpha_samples, f32_in pattern, f32_out planes,
       int form, int extent, int has_alpha, int y_first, int image, int width, int height, int y_begin, int y_end,
       int band, real nits) {
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
  FETCH_PIXELS(pixels, 4, samples, table, form, extent, from[k])
  const int ring = ring_of(height, band, 0);
  const int stride = stride_of(width, 0);
  const int slot = top % ring;
  UNROLL for (int k = 0; k < 4; ++k) {
    const int row = local_y() + k * 8;
    const int y = top + row;
    if (has_alpha != 0) {
      const real alpha = min(max(float_at(alpha_samples, from[k]), real(0.0f)), real(1.0f));
      const real grey = at(pattern, (inside ^ ((min(y, y_end - 1) & 4095) * 2481)) & 4095);
      pixels[k].red = over_grey(pixels[k].red, alpha, grey);
      pixels[k].green = over_grey(pixels[k].green, alpha, grey);
      pixels[k].blue = over_grey(pixels[k].blue, alpha, grey);
    }
    real a;
    real b;
    real c;
    if (nits == real(0.0f)) {
      planes_of(pixels[k].red, pixels[k].green, pixels[k].blue, a, b, c);
    } else {
      planes_of_nits(pixels[k].red * nits, pixels[k].green * nits, pixels[k].blue * nits, a, b, c);
    }
    const int i = row * BLOCK + local_x();
    made[i] = a;
    made[MADE + i] = b;
    made[2 * MADE + i] = c;
    if (x < columns && y < y_end) {
      const int to = (image * 3 * ring + ring_row(y, top, slot, ring)) * stride;
      store_sample(planes, to, x, columns, a);
      store_sample(planes, to + ring * stride, x, columns, b);
      store_sample(planes, to + 2 * ring * stride, x, columns, c);
    }
  }
  int from_scale = 0;
  for (int s = 1; s < SCALES; ++s) {
    barrier_group();
    const int side = BLOCK >> s;
    const int number = local_y() * 32 + local_x();
    const int to_scale = from_scale + 4 * side * side;
    if (number < side * side) {
      const int column = number & (side - 1);
      const int row = number >> (5 - s);
      const int i = from_scale + 4 * side * row + 2 * column;
      const int smaller_x = group_x() * side + column;
      const int smaller_y = (top >> s) + row;
      const int smaller_columns = scale_width(width, s);
      const int smaller_stride = stride_of(width, s);
      const int smaller_ring = ring_of(height, band, s);
      const bool wanted = smaller_x < smaller_columns && smaller_y < (y_end >> s);
      UNROLL for (int c = 0; c < 3; ++c) {
        const real mean = mean_of_quad(c * MADE + i, 2 * side);
        made[c * MADE + to_scale + number] = mean;
        if (wanted) {
          store_sample(planes,
                       6 * floats_before(width, height, band, s) +
                           ((image * 3 + c) * smaller_ring + smaller_y % smaller_ring) * smaller_stride,
                       smaller_x, smaller_columns, mean);
        }
      }
    }
    from_scale = to_scale;
  }
}
#endif

// ---------------------------------------------------------------------------------------------------------------------

#if KERNEL_HERE(sum_strips)
SHARED(float, turned, WALK_FLOATS(4))
#define ROOM_sum_strips ~, 2

KERNEL(sum_strips, 32, 8, f32_in planes, f32_out sums, int width, int height, int y_begin, int y_end, int band) {
  FIND_STRIP
  FIND_STAGED
  FIND_OWN
  BEGIN_ROWS
  real own_sums[BASIC_SUMS];
  real own_high[BASIC_SUMS];
  real own_low[BASIC_SUMS];
  real own_maxima[MAXIMA];
  UNROLL for (int i = 0; i < BASIC_SUMS; ++i) {
    own_sums[i] = real(0.0f);
    own_high[i] = real(0.0f);
    own_low[i] = real(0.0f);
  }
  UNROLL for (int i = 0; i < MAXIMA; ++i) own_maxima[i] = real(0.0f);
  for (int begin = 0; begin < columns; begin += WALK_COLUMNS) {
    STAGE_SAMPLES
    barrier_group();
    WALK_ALONG_ROWS()
    barrier_group();
    WALK_DOWN_COLUMNS(4)
    FETCH_PIXELS_OF_CHUNK
    barrier_group();
    SUM_PIXELS()
    barrier_group();
    if ((begin & (CELL_COLUMNS - 1)) == CELL_COLUMNS - WALK_COLUMNS) {
      CLOSE_CELL(BASIC_SUMS)
    }
  }
  // Where the last cell was complete, this adds zeros.
  CLOSE_CELL(BASIC_SUMS)
  FIND_SUMS
  CLOSE_SUMS(0, 9)
  CLOSE_SUMS(9, 9)
  CLOSE_MAXIMA
}
#endif
