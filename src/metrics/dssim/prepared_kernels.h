// SPDX-License-Identifier: BSD-2-Clause-Patent
// DSSIM on the GPU with a prepared reference: what is prepared of it (prepare_reference), and the errors of a distorted
// picture against that (score_prepared_tiles). Both come after make_lab and blur_chroma of kernels.h.
//
// Kept is the whole picture, all scales, as a ring of one band. Numbers that are read together lie together, which
// takes fewer instructions: prepared_samples has of each pixel lightness, a and b, the latter two blurred, and the
// variance that the three come to; prepared_means has the blurred three, and the sum of their squares.
#include "lang/dialect.h"

#include "sums/tile_sums.h"
#include "metrics/dssim/math.h"
#include "metrics/dssim/layout.h"

// ---------------------------------------------------------------------------------------------------------------------

#if KERNEL_HERE(prepare_reference)
#define REFERENCE_MOMENTS 6  // of each of three planes: the samples, their squares

#define PREPARE_WALK(ROW_BLUR, COLUMN_BLUR, PLACE)                                                                     \
  for (int j = 0; j < WALK_ROWS + 4; j += 5) {                                                                         \
    UNROLL for (int k = 0; k < 5; ++k) {                                                                               \
      const int y = walk + j + k - 4;                                                                                  \
      UNROLL for (int c = 0; c < 3; ++c) {                                                                             \
        real p[5];                                                                                                     \
        UNROLL for (int t = 0; t < 5; ++t) {                                                                           \
          if (c == 0) {                                                                                                \
            p[t] = at(lab, lightness + PLACE(t, y + 2));                                                               \
          } else {                                                                                                     \
            p[t] = at(ready, chroma + (c - 1) * plane + PLACE(t, y + 2));                                              \
          }                                                                                                            \
        }                                                                                                              \
        IN_WINDOW(k, c * 2) = ROW_BLUR(p[0], p[1], p[2], p[3], p[4]);                                                  \
        IN_WINDOW(k, c * 2 + 1) = ROW_BLUR(p[0] * p[0], p[1] * p[1], p[2] * p[2], p[3] * p[3], p[4] * p[4]);           \
      }                                                                                                                \
      if (j + k >= 4 && x < columns && y < rows) {                                                                     \
        real mean[3];                                                                                                  \
        real square = real(0.0f);                                                                                      \
        real variance = real(0.0f);                                                                                    \
        UNROLL for (int c = 0; c < 3; ++c) {                                                                           \
          mean[c] = BLUR_COLUMN(COLUMN_BLUR, k, c * 2);                                                                \
          add_picture(mean[c], BLUR_COLUMN(COLUMN_BLUR, k, c * 2 + 1), square, variance);                              \
        }                                                                                                              \
        const int from = PLACE(2, y);                                                                                  \
        at(prepared_samples, to + y * stride) =                                                                        \
            to_real4(at(lab, lightness + from), at(ready, chroma + from), at(ready, chroma + plane + from), variance); \
        at(prepared_means, to + y * stride) = to_real4(mean[0], mean[1], mean[2], square);                             \
      }                                                                                                                \
    }                                                                                                                  \
  }

KERNEL(prepare_reference, 32, 4, f32_in lab, f32_in ready, f32x4_out prepared_samples, f32x4_out prepared_means,
       int width, int height, int y_begin, int y_end, int band) {
  int group = group_y();
  const int s = scale_of_scores(group, y_begin, y_end, height);
  const int columns = width >> s;
  const int rows = height >> s;
  const int x = global_x();
  const int walk = (scored_tiles(y_begin, height, s) + group) * TILE_ROWS + local_y() * WALK_ROWS;
  if (group_x() * 32 < columns && walk < rows) {
    const int stride = stride_of(width, s);
    const int ring = ring_of(height, band, s);
    const int plane = ring * stride;
    const int before = floats_before(width, height, band, s);
    const int lightness = 6 * before;
    const int chroma = 4 * before;
    const int to = floats_before(width, height, height, s) + x;
    const int first = max(walk - 2, 0);
    const int slot = first % ring;
    real window[5 * REFERENCE_MOMENTS];
    if (is_inside(columns, rows, walk, WALK_ROWS, slot, ring)) {
      PREPARE_WALK(INSIDE_ROW, INSIDE_COLUMN, INSIDE_PLACE)
    } else {
      const int last = rows - 1;
      int column[5];
      UNROLL for (int t = 0; t < 5; ++t) column[t] = clamp(x + t - 2, 0, columns - 1);
      PREPARE_WALK(ANY_ROW, ANY_COLUMN, ANY_PLACE)
    }
  }
}
#endif

// ---------------------------------------------------------------------------------------------------------------------

#if KERNEL_HERE(score_prepared_tiles)
#define PREPARED_MOMENTS 9  // of each of three planes: the distorted picture, its squares, the product of both pictures
#define VARIANCE 9          // of the reference, behind these in the window
#define CHANNEL(four, c) ((c) == 0 ? (four).x : (c) == 1 ? (four).y : (four).z)
SHARED(float, tile_errors, TILE_ROWS * 32)
SHUFFLES(128)

// The means of a row are fetched with the samples, not after the wait for them; while the first rows fill the window,
// those that will be needed first. The variance of a row comes two rows early.
#define PREPARED_WALK(ROW_BLUR, COLUMN_BLUR, PLACE, PREPARED_PLACE)                                                 \
  for (int j = 0; j < WALK_ROWS + 4; j += 5) {                                                                      \
    UNROLL for (int k = 0; k < 5; ++k) {                                                                            \
      const int y = walk + j + k - 4;                                                                               \
      const real4 means1 = at(prepared_means, prepared + PREPARED_PLACE(2, max(y, walk)));                          \
      real4 pixels1[5];                                                                                             \
      UNROLL for (int t = 0; t < 5; ++t) pixels1[t] = at(prepared_samples, prepared + PREPARED_PLACE(t, y + 2));    \
      IN_WINDOW(k, VARIANCE) = pixels1[2].w;                                                                        \
      UNROLL for (int c = 0; c < 3; ++c) {                                                                          \
        real p[5];                                                                                                  \
        real q[5];                                                                                                  \
        UNROLL for (int t = 0; t < 5; ++t) {                                                                        \
          p[t] = CHANNEL(pixels1[t], c);                                                                            \
          if (c == 0) {                                                                                             \
            q[t] = at(lab, lightness + PLACE(t, y + 2));                                                            \
          } else {                                                                                                  \
            q[t] = at(ready, chroma + (c - 1) * plane + PLACE(t, y + 2));                                           \
          }                                                                                                         \
        }                                                                                                           \
        IN_WINDOW(k, c * 3) = ROW_BLUR(q[0], q[1], q[2], q[3], q[4]);                                               \
        IN_WINDOW(k, c * 3 + 1) = ROW_BLUR(q[0] * q[0], q[1] * q[1], q[2] * q[2], q[3] * q[3], q[4] * q[4]);        \
        IN_WINDOW(k, c * 3 + 2) = ROW_BLUR(p[0] * q[0], p[1] * q[1], p[2] * q[2], p[3] * q[3], p[4] * q[4]);        \
      }                                                                                                             \
      if (j + k >= 4) {                                                                                             \
        real square2 = real(0.0f);                                                                                  \
        real mixed = real(0.0f);                                                                                    \
        real variance2 = real(0.0f);                                                                                \
        real covariance = real(0.0f);                                                                               \
        UNROLL for (int c = 0; c < 3; ++c) {                                                                        \
          const real mean2 = BLUR_COLUMN(COLUMN_BLUR, k, c * 3);                                                    \
          add_picture(mean2, BLUR_COLUMN(COLUMN_BLUR, k, c * 3 + 1), square2, variance2);                           \
          add_both(CHANNEL(means1, c), mean2, BLUR_COLUMN(COLUMN_BLUR, k, c * 3 + 2), mixed, covariance);           \
        }                                                                                                           \
        const real error = ssim_error(means1.w, square2, mixed, IN_WINDOW(k + 3, VARIANCE), variance2, covariance); \
        tile_errors[(y - top) * 32 + local_x()] = x < columns ? error : real(0.0f);                                 \
        if (x < columns && y < rows) at(errors, to + y * columns) = error;                                          \
      }                                                                                                             \
    }                                                                                                               \
  }

KERNEL(score_prepared_tiles, 32, 4, f32_in lab, f32_in ready, f32x4_in prepared_samples, f32x4_in prepared_means,
       f32_out errors, f32_out tiles, int width, int height, int y_begin, int y_end, int band) {
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
    const int lightness = 6 * before + 3 * plane;
    const int chroma = 4 * before + 2 * plane;
    const int prepared = floats_before(width, height, height, s);
    const int to = errors_before(width, height, s) + x;
    const int first = max(walk - 2, 0);
    const int slot = first % ring;
    real window[5 * (PREPARED_MOMENTS + 1)];
    if (is_inside(columns, rows, walk, WALK_ROWS, slot, ring)) {
      PREPARED_WALK(INSIDE_ROW, INSIDE_COLUMN, INSIDE_PLACE, INSIDE_PREPARED)
    } else {
      const int last = rows - 1;
      int column[5];
      UNROLL for (int t = 0; t < 5; ++t) column[t] = clamp(x + t - 2, 0, columns - 1);
      PREPARED_WALK(ANY_ROW, ANY_COLUMN, ANY_PLACE, ANY_PREPARED)
    }
  }
  STORE_TILE(tile_errors, tiles)
}
#endif
