// SPDX-License-Identifier: BSD-2-Clause-Patent
// DSSIM on the GPU. The picture is worked through in bands of rows, all scales of a band together: pixels to Lab
// (make_lab, a launch for each picture), the blur of a and b (blur_chroma), the errors and their sums by tiles
// (score_tiles). Rows of Lab are kept in rings, so that a band finds the last rows of the one above it; errors are kept
// for the whole picture, since pooling looks at them twice (sum_deviations).
//
// prepared_kernels.h has what takes the place of score_tiles with a prepared reference: drivers compile a file as a
// whole, and few programs need both.
#include "lang/dialect.h"

#include "device/pixels/pixels.h"
#include "sums/tile_sums.h"
#include "metrics/dssim/math.h"
#include "metrics/dssim/layout.h"

// ---------------------------------------------------------------------------------------------------------------------
// A group makes 32 x 32 pixels of one picture and what the smaller scales make of them: means of 2 x 2 do not reach
// beyond. lab: planes image * 3 + channel of each scale. alpha: floats, one a pixel; none if has_alpha is 0.

#if KERNEL_HERE(make_lab)
#define BLOCK 32
#define LIGHT 1365  // pixels of all scales, 1024 + 256 + 64 + 16 + 4, and one lest all lie in the same banks
SHARED(float, light, 4 * LIGHT)  // red, green, blue, alpha

FUNCTION void store_lab(f32_out lab, int to, int plane, int x, int y, int has_alpha, real red, real green, real blue,
                        real alpha) {
  if (has_alpha != 0) put_on_pattern(x, y, alpha, red, green, blue);
  real lightness;
  real a;
  real b;
  lab_of(red, green, blue, lightness, a, b);
  at(lab, to) = lightness;
  at(lab, to + plane) = a;
  at(lab, to + 2 * plane) = b;
}

FUNCTION real mean_of_quad(int i, int side) {
  return mean_of_four(light[i], light[i + 1], light[i + side], light[i + side + 1]);
}

KERNEL(make_lab, 32, 8, samples_in samples, f32_in table, samples_in alpha_samples, f32_out lab, int format,
       int table_last, int plane_stride, int has_alpha, int y_first, int image, int width, int height, int y_begin,
       int y_end, int band) {
  const int x = group_x() * BLOCK + local_x();
  const int top = y_begin + group_y() * BLOCK;
  Pixel pixels[4];
  FETCH_PIXELS(pixels, 4, samples, table, format, table_last, plane_stride,
               (min(top + local_y() + k * 8, y_end - 1) - y_first) * width + min(x, width - 1))
  const int ring = ring_of(height, band, 0);
  const int stride = stride_of(width, 0);
  const int slot = top % ring;
  UNROLL for (int k = 0; k < 4; ++k) {
    const int row = local_y() + k * 8;
    const int y = top + row;
    real alpha = real(1.0f);
    if (has_alpha != 0) {
      alpha = float_at(alpha_samples, (min(y, y_end - 1) - y_first) * width + min(x, width - 1));
      alpha = min(max(alpha, real(0.0f)), real(1.0f));
      pixels[k].red = pixels[k].red * alpha;
      pixels[k].green = pixels[k].green * alpha;
      pixels[k].blue = pixels[k].blue * alpha;
    }
    const int i = row * BLOCK + local_x();
    light[i] = pixels[k].red;
    light[LIGHT + i] = pixels[k].green;
    light[2 * LIGHT + i] = pixels[k].blue;
    light[3 * LIGHT + i] = alpha;
    if (x < width && y < y_end) {
      store_lab(lab, (image * 3 * ring + ring_row(y, top, slot, ring)) * stride + x, ring * stride, x, y, has_alpha,
                pixels[k].red, pixels[k].green, pixels[k].blue, alpha);
    }
  }
  int from = 0;
  for (int s = 1; has_scale(width, height, s); ++s) {
    barrier_group();
    const int side = BLOCK >> s;
    const int number = local_y() * 32 + local_x();
    const int to = from + 4 * side * side;
    if (number < side * side) {
      const int column = number & (side - 1);
      const int row = number >> (5 - s);
      const int i = from + 4 * side * row + 2 * column;
      const real red = mean_of_quad(i, 2 * side);
      const real green = mean_of_quad(LIGHT + i, 2 * side);
      const real blue = mean_of_quad(2 * LIGHT + i, 2 * side);
      const real alpha = mean_of_quad(3 * LIGHT + i, 2 * side);
      light[to + number] = red;
      light[LIGHT + to + number] = green;
      light[2 * LIGHT + to + number] = blue;
      light[3 * LIGHT + to + number] = alpha;
      const int smaller_x = group_x() * side + column;
      const int smaller_y = (top >> s) + row;
      if (smaller_x < width >> s && smaller_y < y_end >> s) {
        const int smaller_ring = ring_of(height, band, s);
        const int smaller_stride = stride_of(width, s);
        const int to_row = image * 3 * smaller_ring + smaller_y % smaller_ring;
        store_lab(lab, 6 * floats_before(width, height, band, s) + to_row * smaller_stride + smaller_x,
                  smaller_ring * smaller_stride, smaller_x, smaller_y, has_alpha, red, green, blue, alpha);
      }
    }
    from = to;
  }
}
#endif

// ---------------------------------------------------------------------------------------------------------------------
// One thread blurs a column of 32 rows of one plane: a or b of the reference or of the distorted picture. ready: these
// four planes of each scale. first_picture, pictures: those to be blurred.

#if KERNEL_HERE(blur_chroma)
#define TOGETHER 8  // rows fetched at once

#define BLURRED_ROW(BLUR, PLACE, y)                                                           \
  BLUR(at(lab, from + PLACE(0, y)), at(lab, from + PLACE(1, y)), at(lab, from + PLACE(2, y)), \
       at(lab, from + PLACE(3, y)), at(lab, from + PLACE(4, y)))

#define BLUR_WALK(ROW_BLUR, COLUMN_BLUR, PLACE, STORE)                                                       \
  UNROLL for (int k = 0; k < 4; ++k) window[TOGETHER + k] = BLURRED_ROW(ROW_BLUR, PLACE, y_from - 2 + k);    \
  for (int y_block = y_from; y_block < y_to; y_block += TOGETHER) {                                          \
    UNROLL for (int k = 0; k < 4; ++k) window[k] = window[TOGETHER + k];                                     \
    UNROLL for (int k = 0; k < TOGETHER; ++k) window[4 + k] = BLURRED_ROW(ROW_BLUR, PLACE, y_block + 2 + k); \
    UNROLL for (int k = 0; k < TOGETHER; ++k) {                                                              \
      const int y = y_block + k;                                                                             \
      STORE(COLUMN_BLUR(window[k], window[k + 1], window[k + 2], window[k + 3], window[k + 4]))              \
    }                                                                                                        \
  }
#define STORE_INSIDE(value) at(ready, to + (slot + y - first) * stride) = value;
#define STORE_ANY(value) \
  if (x < columns && y < y_to) at(ready, to + ring_row(y, first, slot, ring) * stride) = value;

KERNEL(blur_chroma, 32, 4, f32_in lab, f32_out ready, int width, int height, int y_begin, int y_end, int band,
       int first_picture, int pictures) {
  int s = 0;
  int group = group_y();
  for (int n = blur_groups(y_begin, y_end, height, pictures, 0); group >= n;
       n = blur_groups(y_begin, y_end, height, pictures, s)) {
    group -= n;
    ++s;
  }
  const int columns = width >> s;
  const int rows = height >> s;
  const int x = global_x();
  const int planes = 2 * pictures;
  const int plane_number = 2 * first_picture + local_y() % planes;
  const int y_from = blurred_rows(y_begin, height, s) + (4 * group + local_y()) / planes * BLUR_ROWS;
  const int y_to = min(y_from + BLUR_ROWS, blurred_rows(y_end, height, s));
  if (group_x() * 32 < columns && y_from < y_to) {
    const int stride = stride_of(width, s);
    const int ring = ring_of(height, band, s);
    const int plane = ring * stride;
    const int before = floats_before(width, height, band, s);
    const int from = 6 * before + (plane_number / 2 * 3 + 1 + plane_number % 2) * plane;
    const int to = 4 * before + plane_number * plane + x;
    const int first = max(y_from - 2, 0);
    const int slot = first % ring;
    real window[TOGETHER + 4];
    if (is_inside(columns, rows, y_from, BLUR_ROWS, slot, ring) && y_from + BLUR_ROWS == y_to) {
      BLUR_WALK(INSIDE_ROW, INSIDE_COLUMN, INSIDE_PLACE, STORE_INSIDE)
    } else {
      const int last = min(y_to + 1, rows - 1);
      int column[5];
      UNROLL for (int t = 0; t < 5; ++t) column[t] = clamp(x + t - 2, 0, columns - 1);
      BLUR_WALK(ANY_ROW, ANY_COLUMN, ANY_PLACE, STORE_ANY)
    }
  }
}
#endif

// ---------------------------------------------------------------------------------------------------------------------
// The errors of a pair.

#if KERNEL_HERE(score_tiles)
#define PAIR_MOMENTS 15  // of each of three planes: both pictures, both squares, the product
SHARED(float, tile_errors, TILE_ROWS * 32)
SHUFFLES(128)

// Row y + 2 of the pictures comes into the window at k, and the errors of row y are made if that is one of this walk.
#define SCORE_ROW(ROW_BLUR, COLUMN_BLUR, PLACE, k)                                                                  \
  UNROLL for (int c = 0; c < 3; ++c) {                                                                              \
    real p[5];                                                                                                      \
    real q[5];                                                                                                      \
    UNROLL for (int t = 0; t < 5; ++t) {                                                                            \
      if (c == 0) {                                                                                                 \
        p[t] = at(lab, lightness + PLACE(t, y + 2));                                                                \
        q[t] = at(lab, lightness + 3 * plane + PLACE(t, y + 2));                                                    \
      } else {                                                                                                      \
        p[t] = at(ready, chroma + (c - 1) * plane + PLACE(t, y + 2));                                               \
        q[t] = at(ready, chroma + (c + 1) * plane + PLACE(t, y + 2));                                               \
      }                                                                                                             \
    }                                                                                                               \
    IN_WINDOW(k, c * 5) = ROW_BLUR(p[0], p[1], p[2], p[3], p[4]);                                                   \
    IN_WINDOW(k, c * 5 + 1) = ROW_BLUR(q[0], q[1], q[2], q[3], q[4]);                                               \
    IN_WINDOW(k, c * 5 + 2) = ROW_BLUR(p[0] * p[0], p[1] * p[1], p[2] * p[2], p[3] * p[3], p[4] * p[4]);            \
    IN_WINDOW(k, c * 5 + 3) = ROW_BLUR(q[0] * q[0], q[1] * q[1], q[2] * q[2], q[3] * q[3], q[4] * q[4]);            \
    IN_WINDOW(k, c * 5 + 4) = ROW_BLUR(p[0] * q[0], p[1] * q[1], p[2] * q[2], p[3] * q[3], p[4] * q[4]);            \
  }                                                                                                                 \
  if (y >= walk) {                                                                                                  \
    real square1 = real(0.0f);                                                                                      \
    real square2 = real(0.0f);                                                                                      \
    real mixed = real(0.0f);                                                                                        \
    real variance1 = real(0.0f);                                                                                    \
    real variance2 = real(0.0f);                                                                                    \
    real covariance = real(0.0f);                                                                                   \
    UNROLL for (int c = 0; c < 3; ++c) {                                                                            \
      add_plane(BLUR_COLUMN(COLUMN_BLUR, k, c * 5), BLUR_COLUMN(COLUMN_BLUR, k, c * 5 + 1),                         \
                BLUR_COLUMN(COLUMN_BLUR, k, c * 5 + 2), BLUR_COLUMN(COLUMN_BLUR, k, c * 5 + 3),                     \
                BLUR_COLUMN(COLUMN_BLUR, k, c * 5 + 4), square1, square2, mixed, variance1, variance2, covariance); \
    }                                                                                                               \
    const real error = ssim_error(square1, square2, mixed, variance1, variance2, covariance);                       \
    tile_errors[(y - top) * 32 + local_x()] = x < columns ? error : real(0.0f);                                     \
    if (x < columns && y < rows) at(errors, to + y * columns) = error;                                              \
  }

KERNEL(score_tiles, 32, 4, f32_in lab, f32_in ready, f32_out errors, f32_out tiles, int width, int height, int y_begin,
       int y_end, int band) {
  int group = group_y();
  const int s = scale_of_scores(group, y_begin, y_end, height);
  const int columns = width >> s;
  const int rows = height >> s;
  const int x = global_x();
  const int tile_row = scored_tiles(y_begin, height, s) + group;
  const int top = tile_row * TILE_ROWS;
  const int walk = top + local_y() * WALK_ROWS;
  if (group_x() * 32 < columns && walk < rows) {
    const int stride = stride_of(width, s);
    const int ring = ring_of(height, band, s);
    const int plane = ring * stride;
    const int before = floats_before(width, height, band, s);
    const int to = errors_before(width, height, s) + x;
    const int first = max(walk - 2, 0);
    const int slot = first % ring;
    real window[5 * PAIR_MOMENTS];
    const int lightness = 6 * before;
    const int chroma = 4 * before;
    if (is_inside(columns, rows, walk, WALK_ROWS, slot, ring)) {
      for (int j = 0; j < WALK_ROWS + 4; j += 5) {
        UNROLL for (int k = 0; k < 5; ++k) {
          const int y = walk + j + k - 4;
          SCORE_ROW(INSIDE_ROW, INSIDE_COLUMN, INSIDE_PLACE, k)
        }
      }
    } else {
      const int last = rows - 1;
      int column[5];
      UNROLL for (int t = 0; t < 5; ++t) column[t] = clamp(x + t - 2, 0, columns - 1);
      // Few groups come here, and compilers take long for what is unrolled: rows move through the window instead.
      for (int y = walk - 4; y < walk + WALK_ROWS; ++y) {
        UNROLL for (int m = 0; m < PAIR_MOMENTS; ++m) {
          UNROLL for (int k = 0; k < 4; ++k) IN_WINDOW(k, m) = IN_WINDOW(k + 1, m);
        }
        SCORE_ROW(ANY_ROW, ANY_COLUMN, ANY_PLACE, 4)
      }
    }
  }
  STORE_TILE(tile_errors, tiles)
}
#endif

// ---------------------------------------------------------------------------------------------------------------------
// Sums by tiles of how far the errors of each scale are from what was expected there: a tile by 32 threads, four tiles
// in a row by a group, all scales in one launch.

#if KERNEL_HERE(sum_deviations)
#define FETCHED 16
SHUFFLES(128)

KERNEL(sum_deviations, 32, 4, f32_in errors, f32_out tiles, real expected0, real expected1, real expected2,
       real expected3, real expected4, int width, int height) {
  int s = 0;
  int tile_row = group_y();
  for (int n = tiles_down(height, 0); tile_row >= n; n = tiles_down(height, s)) {
    tile_row -= n;
    ++s;
  }
  const real expected = s == 0 ? expected0 : s == 1 ? expected1 : s == 2 ? expected2 : s == 3 ? expected3 : expected4;
  const int columns = width >> s;
  const int rows = min((height >> s) - tile_row * TILE_ROWS, TILE_ROWS);
  const int tile = group_x() * 4 + local_y();
  const int x = tile * 32 + local_x();
  const int from = errors_before(width, height, s) + tile_row * TILE_ROWS * columns + x;
  real sum = real(0.0f);
  if (x < columns) {
    for (int y = 0; y < rows; y += FETCHED) {
      real error[FETCHED];
      UNROLL for (int k = 0; k < FETCHED; ++k) error[k] = at(errors, from + min(y + k, rows - 1) * columns);
      UNROLL for (int k = 0; k < FETCHED; ++k) {
        if (y + k < rows) sum = sum + deviation(error[k], expected);
      }
    }
  }
  SUM_TILE_COLUMNS(sum)
  if (local_x() == 0 && tile < tiles_across(width, s)) {
    at(tiles, tiles_before(width, height, s) + tile_row * tiles_across(width, s) + tile) = sum;
  }
}
#endif
