// SPDX-License-Identifier: BSD-2-Clause-Patent
// IW-SSIM and MS-SSIM on the GPU, once there are pyramids: the products of the reference by tiles (sum_products), of
// which the host makes what the weights need, and the losses of all scales by tiles (compare_plain, compare_weighted).
#include "lang/dialect.h"

#include "lang/exact.h"
#include "sums/tile_sums.h"
#include "metrics/iwssim/luma.h"
#include "metrics/iwssim/ssim_window.h"
#include "metrics/iwssim/math.h"
#include "metrics/iwssim/layout.h"

// ---------------------------------------------------------------------------------------------------------------------
// The parent of a sample. Its column's place is the same for all rows; the places of a tile's rows are fetched once.

struct ParentColumn {
  int first;
  int second;
  real fraction;
};

FUNCTION ParentColumn parent_column(f32_in parents, int width, int height, int s, int x) {
  const int i = parents_at(width, height, s) + 2 * x;
  ParentColumn column;
  column.first = to_whole(at(parents, i));
  column.second = min(column.first + 1, side_of(width, s + 1) - 1);
  column.fraction = at(parents, i + 1);
  return column;
}

FUNCTION real parent_at(f32_in reference, int plane, int stride, int rows, ParentColumn column, real row,
                        real fraction) {
  const int upper = plane + to_whole(row) * stride;
  const int lower = plane + min(to_whole(row) + 1, rows - 1) * stride;
  return between(between(at(reference, upper + column.first), at(reference, lower + column.first), fraction),
                 between(at(reference, upper + column.second), at(reference, lower + column.second), fraction),
                 column.fraction);
}

#if KERNEL_HERE(sum_products) || KERNEL_HERE(compare_weighted)
SHARED(float, parent_rows, 2 * TILE_ROWS)

// The places of the parents of rows y .. y + TILE_ROWS - 1, for 256 threads to fetch.
FUNCTION void fetch_parent_rows(f32_in parents, int width, int height, int s, int y) {
  const int number = local_y() * 32 + local_x();
  if (number < 2 * TILE_ROWS) {
    const int row = min(y + number / 2, side_of(height, s) - 1);
    parent_rows[number] = s < PARENT_SCALES
                              ? at(parents, parents_at(width, height, s) + 2 * (side_of(width, s) + row) + number % 2)
                              : real(0.0f);
  }
}
#endif

// ---------------------------------------------------------------------------------------------------------------------
// Products. A group takes a tile of the reference, sixteen rows at a time. First a thread makes the values of two
// samples of a column; then it adds up some of the products of its column: 32 threads those of three patterns with
// three, of which there are six, or those of the parent with five values.

#if KERNEL_HERE(sum_products)
#define CHUNK_ROWS 16
#define PART_PRODUCTS 9
SHARED(float, chunk, VALUES* CHUNK_ROWS * 32)
SHUFFLES(256)

#define CHUNK_AT(value, row) (((value) * CHUNK_ROWS + (row)) * 32 + local_x())
// Without a loop: compilers do not unroll one with a barrier in it, and an array that it indexes is put in memory.
#define STORE_PRODUCT(i)                                                                        \
  {                                                                                             \
    real sum = x < columns ? sums[i] : real(0.0f);                                              \
    SUM_TILE_COLUMNS(sum)                                                                       \
    const int p = part < 6 ? p_first + (i) % 3 : 5 * (part - 6) + (i);                          \
    const int q = part < 6 ? q_first + (i) / 3 : PATTERNS;                                      \
    if (local_x() == 0 && p <= q && (part < 6 || (i) < 5)) at(products, to + PAIR(p, q)) = sum; \
  }

KERNEL(sum_products, 32, 8, f32_in reference, f32_in parents, f32_out products, int width, int height, int y_begin,
       int y_end) {
  int s = 0;
  int tile_row = group_y();
  for (int n = sum_groups(y_begin, y_end, height, 0); tile_row >= n; n = sum_groups(y_begin, y_end, height, s)) {
    tile_row -= n;
    ++s;
  }
  tile_row += summed_tiles(y_begin, height, s);
  const int columns = side_of(width, s) - PRODUCT_MARGIN;
  if (group_x() * 32 < columns) {
    const int x = global_x();
    const int top = tile_row * TILE_ROWS;
    const int rows = min(side_of(height, s) - PRODUCT_MARGIN - top, TILE_ROWS);
    const int stride = stride_of(width, s);
    const int plane = plane_at(width, height, s);
    const int from = plane + top * stride;
    const int parent_plane = plane + plane_floats(width, height, s);
    const int parent_stride = stride_of(width, s + 1);
    const int parent_height = side_of(height, s + 1);
    int column[3];
    UNROLL for (int c = 0; c < 3; ++c) column[c] = min(x + c, columns + 1);
    ParentColumn over;
    if (s < PARENT_SCALES) over = parent_column(parents, width, height, s, column[1]);
    fetch_parent_rows(parents, width, height, s, top + 1);
    // Which products: of values p_first .. p_first + 2 with q_first .. q_first + 2.
    const int part = local_y();
    const int p_first = part < 3 ? 3 * part : part == 5 ? 3 : 0;
    const int q_first = part < 3 ? 3 * part : part == 3 ? 3 : 6;
    real sums[PART_PRODUCTS];
    UNROLL for (int i = 0; i < PART_PRODUCTS; ++i) sums[i] = real(0.0f);
    for (int y = 0; y < rows; y += CHUNK_ROWS) {
      const int row = 2 * local_y();  // in the chunk
      real samples[12];
      UNROLL for (int k = 0; k < 4; ++k) {
        const int line = from + min(y + row + k, rows + 1) * stride;
        UNROLL for (int c = 0; c < 3; ++c) samples[3 * k + c] = at(reference, line + column[c]);
      }
      barrier_group();  // behind it are the rows' places, and nobody needs the last chunk any more
      real above[2];
      UNROLL for (int k = 0; k < 2; ++k) {
        above[k] = real(0.0f);
        if (s < PARENT_SCALES) {
          const int i = 2 * (y + row + k);
          above[k] = parent_at(reference, parent_plane, parent_stride, parent_height, over, parent_rows[i],
                               parent_rows[i + 1]);
        }
      }
      real along[12];
      UNROLL for (int k = 0; k < 4; ++k) {
        patterns_of_three(samples[3 * k], samples[3 * k + 1], samples[3 * k + 2], along[3 * k], along[3 * k + 1],
                          along[3 * k + 2]);
      }
      UNROLL for (int k = 0; k < 2; ++k) {
        const bool inside = y + row + k < rows;
        UNROLL for (int c = 0; c < 3; ++c) {
          real pattern[3];
          patterns_of_three(along[3 * k + c], along[3 * k + 3 + c], along[3 * k + 6 + c], pattern[0], pattern[1],
                            pattern[2]);
          UNROLL for (int i = 0; i < 3; ++i) chunk[CHUNK_AT(3 * c + i, row + k)] = inside ? pattern[i] : real(0.0f);
        }
        chunk[CHUNK_AT(PATTERNS, row + k)] = inside ? above[k] : real(0.0f);
      }
      barrier_group();
      if (part < 6) {
        UNROLL for (int k = 0; k < CHUNK_ROWS; ++k) {
          real p[3];
          real q[3];
          UNROLL for (int i = 0; i < 3; ++i) p[i] = chunk[CHUNK_AT(p_first + i, k)];
          UNROLL for (int i = 0; i < 3; ++i) q[i] = chunk[CHUNK_AT(q_first + i, k)];
          UNROLL for (int i = 0; i < 9; ++i) sums[i] = fma(p[i % 3], q[i / 3], sums[i]);
        }
      } else {
        UNROLL for (int k = 0; k < CHUNK_ROWS; ++k) {
          const real parent = chunk[CHUNK_AT(PATTERNS, k)];
          UNROLL for (int i = 0; i < 5; ++i) { sums[i] = fma(chunk[CHUNK_AT(5 * (part - 6) + i, k)], parent, sums[i]); }
        }
      }
    }
    const int to = (tiles_before(width, height, s, PRODUCT_MARGIN) + tile_row * tiles_across(width, s, PRODUCT_MARGIN) +
                    group_x()) *
                   VALUE_PAIRS;
    STORE_PRODUCT(0)
    STORE_PRODUCT(1)
    STORE_PRODUCT(2)
    STORE_PRODUCT(3)
    STORE_PRODUCT(4)
    STORE_PRODUCT(5)
    STORE_PRODUCT(6)
    STORE_PRODUCT(7)
    STORE_PRODUCT(8)
  }
}
#endif

// ---------------------------------------------------------------------------------------------------------------------
// Losses. A group takes a tile. First the sum of both pictures is filtered along rows into shared memory, by threads
// that make four neighbours of a row, and then down columns, by threads that make eight of a column; then the
// difference, in the same memory; and then losses and weights meet there to be added up.

#define THREAD_ROWS 8  // that a thread makes
#define FILTERED_ROWS (TILE_ROWS + WINDOW_MARGIN)
#define FILTERED_WIDTH 33                          // so that four rows of the same columns lie in different banks
#define FILTERED (FILTERED_ROWS * FILTERED_WIDTH)  // floats of a plane
#define TILE_FLOATS (TILE_ROWS * FILTERED_WIDTH)

#define PICTURES_SUM(a, b) ((a) + (b))
#define PICTURES_DIFFERENCE(a, b) ((b) - (a))

// Four sums or differences from index i of four on, into samples[k] to samples[k + 3].
#define COMBINE_FOUR(COMBINE, i, k)       \
  {                                       \
    const real4 a = at(reference4, i);    \
    const real4 b = at(distorted4, i);    \
    samples[k] = COMBINE(a.x, b.x);       \
    samples[(k) + 1] = COMBINE(a.y, b.y); \
    samples[(k) + 2] = COMBINE(a.z, b.z); \
    samples[(k) + 3] = COMBINE(a.w, b.w); \
  }

#define MEAN_OF_ELEVEN(v, k)                                                                         \
  window_mean(v[(k) + 5], v[(k) + 4] + v[(k) + 6], v[(k) + 3] + v[(k) + 7], v[(k) + 2] + v[(k) + 8], \
              v[(k) + 1] + v[(k) + 9], v[k] + v[(k) + 10])
#define MOMENTS_OF_ELEVEN(v, k, mean, variance)                                                                        \
  window_moments(v[(k) + 5], v[(k) + 4], v[(k) + 3], v[(k) + 2], v[(k) + 1], v[k], v[(k) + 6], v[(k) + 7], v[(k) + 8], \
                 v[(k) + 9], v[(k) + 10], mean, variance)

// Means of samples about zero and of their squares ...
#define FILTER_SUBBAND                                                              \
  UNROLL for (int k = 0; k < 4; ++k) filtered[to + k] = MEAN_OF_ELEVEN(samples, k); \
  UNROLL for (int k = 0; k < 14; ++k) samples[k] = samples[k] * samples[k];         \
  UNROLL for (int k = 0; k < 4; ++k) filtered[FILTERED + to + k] = MEAN_OF_ELEVEN(samples, k);
// ... or means of samples and their variances.
#define FILTER_LEVEL                               \
  UNROLL for (int k = 0; k < 4; ++k) {             \
    real mean;                                     \
    real variance;                                 \
    MOMENTS_OF_ELEVEN(samples, k, mean, variance); \
    filtered[to + k] = mean;                       \
    filtered[FILTERED + to + k] = variance;        \
  }

#define FILTER_ALONG(COMBINE, FILTER)                                                                          \
  for (int item = local_y() * 32 + local_x(); item < FILTERED_ROWS * 8; item += 256) {                         \
    const int row = plane + min(top + item / 8, rows - 1) * stride4;                                           \
    const int column = group_x() * 8 + item % 8;                                                               \
    const int to = item / 8 * FILTERED_WIDTH + item % 8 * 4;                                                   \
    real samples[16];                                                                                          \
    UNROLL for (int k = 0; k < 4; ++k) COMBINE_FOUR(COMBINE, row + min(column + k, stride4 - 1), 4 * k) FILTER \
  }

#define FETCH_COLUMN(v, from) \
  UNROLL for (int k = 0; k < THREAD_ROWS + WINDOW_MARGIN; ++k) v[k] = filtered[(from) + k * FILTERED_WIDTH];

// The variance, and the mean, in the windows of a thread's rows.
#define FILTER_SUBBAND_DOWN(mean, variance)                                                                   \
  {                                                                                                           \
    real v[THREAD_ROWS + WINDOW_MARGIN];                                                                      \
    FETCH_COLUMN(v, own_rows)                                                                                 \
    UNROLL for (int k = 0; k < THREAD_ROWS; ++k) mean[k] = MEAN_OF_ELEVEN(v, k);                              \
    FETCH_COLUMN(v, FILTERED + own_rows)                                                                      \
    UNROLL for (int k = 0; k < THREAD_ROWS; ++k) variance[k] = variance_about(mean[k], MEAN_OF_ELEVEN(v, k)); \
  }
#define FILTER_LEVEL_DOWN(mean, variance)                                                                      \
  {                                                                                                            \
    real v[THREAD_ROWS + WINDOW_MARGIN];                                                                       \
    real down[THREAD_ROWS];                                                                                    \
    FETCH_COLUMN(v, own_rows)                                                                                  \
    UNROLL for (int k = 0; k < THREAD_ROWS; ++k) MOMENTS_OF_ELEVEN(v, k, mean[k], down[k]);                    \
    FETCH_COLUMN(v, FILTERED + own_rows)                                                                       \
    UNROLL for (int k = 0; k < THREAD_ROWS; ++k) variance[k] = variance_within(MEAN_OF_ELEVEN(v, k), down[k]); \
  }

// Which scale, and which row of tiles of it, this group's is.
#define FIND_TILE(first_scale)                                               \
  int s = first_scale;                                                       \
  int tile_row = group_y();                                                  \
  for (int n = compare_groups(y_begin, y_end, height, s); tile_row >= n;     \
       n = compare_groups(y_begin, y_end, height, s)) {                      \
    tile_row -= n;                                                           \
    ++s;                                                                     \
  }                                                                          \
  tile_row += compared_tiles(y_begin, height, s);                            \
  const int columns = side_of(width, s) - WINDOW_MARGIN;                     \
  const int rows = side_of(height, s);                                       \
  const int top = tile_row * TILE_ROWS;                                      \
  const int stride4 = stride_of(width, s) / 4;                               \
  const int plane = plane_at(width, height, s) / 4;                          \
  const int own_rows = local_y() * THREAD_ROWS * FILTERED_WIDTH + local_x(); \
  const int x = global_x();

// Whether row k of the thread's, and its column, have a loss.
#define HAS_LOSS(k) (x < columns && top + local_y() * THREAD_ROWS + (k) < rows - WINDOW_MARGIN)
#define TILE_AT \
  (tiles_before(width, height, s, WINDOW_MARGIN) + tile_row * tiles_across(width, s, WINDOW_MARGIN) + group_x())

#if KERNEL_HERE(compare_plain) || KERNEL_HERE(compare_weighted)
SHARED(float, filtered, 2 * FILTERED)
SHUFFLES(256)
#endif

// Without weights; in the last scale with luminance.
#if KERNEL_HERE(compare_plain)
#define COMPARE_STRIP(FILTER, FILTER_DOWN)  \
  FILTER_ALONG(PICTURES_SUM, FILTER)        \
  barrier_group();                          \
  FILTER_DOWN(sum, sum_variance)            \
  barrier_group();                          \
  FILTER_ALONG(PICTURES_DIFFERENCE, FILTER) \
  barrier_group();                          \
  FILTER_DOWN(difference, difference_variance)

KERNEL(compare_plain, 32, 8, f32x4_in reference4, f32x4_in distorted4, f32_out tiles, int first_scale, int classic,
       real twice_middle, int width, int height, int y_begin, int y_end) {
  FIND_TILE(first_scale)
  if (group_x() * 32 < columns) {
    real sum[THREAD_ROWS];
    real sum_variance[THREAD_ROWS];
    real difference[THREAD_ROWS];
    real difference_variance[THREAD_ROWS];
    if (classic != 0 || s == SCALES - 1) {
      COMPARE_STRIP(FILTER_LEVEL, FILTER_LEVEL_DOWN)
    } else {
      COMPARE_STRIP(FILTER_SUBBAND, FILTER_SUBBAND_DOWN)
    }
    barrier_group();
    UNROLL for (int k = 0; k < THREAD_ROWS; ++k) {
      real loss = structure_loss(sum_variance[k], difference_variance[k]);
      if (s == SCALES - 1) loss = joint_loss(loss, luminance_loss(sum[k] + twice_middle, difference[k]));
      filtered[own_rows + k * FILTERED_WIDTH] = HAS_LOSS(k) ? loss : real(0.0f);
    }
    barrier_group();
    real total = real(0.0f);
    if (local_y() == 0) {
      for (int i = local_x(); i < TILE_FLOATS; i += FILTERED_WIDTH) total = total + filtered[i];
    }
    SUM_TILE_COLUMNS(total)
    if (local_x() == 0 && local_y() < 3) at(tiles, 3 * TILE_AT + local_y()) = total;
  }
}
#endif

// With weights: subbands only. information: for each scale the coefficients and, from number EIGENVALUES_AT on, the
// eigenvalues that math.h asks for.
#define INFORMATION_FOURS 17  // of a scale
#define EIGENVALUES_AT 56

#if KERNEL_HERE(compare_weighted)
SHARED(real4, numbers, INFORMATION_FOURS)

#define COMPONENT(v, i) ((i) % 4 == 0 ? v.x : (i) % 4 == 1 ? v.y : (i) % 4 == 2 ? v.z : v.w)
#define NUMBER(i) COMPONENT(numbers[(i) / 4], i)
#define EIGENVALUE(i) NUMBER(EIGENVALUES_AT + (i))

// Patterns along row y of both pictures' samples, in a window of four rows.
#define PATTERNS_ALONG(to, y)                                                                          \
  {                                                                                                    \
    const int i = 4 * plane + min(y, rows - 1) * stride + min(x, columns - 1) + WINDOW_MARGIN / 2 - 1; \
    const real a0 = at(reference, i);                                                                  \
    const real a1 = at(reference, i + 1);                                                              \
    const real a2 = at(reference, i + 2);                                                              \
    const real d0 = at(distorted, i) - a0;                                                             \
    const real d1 = at(distorted, i + 1) - a1;                                                         \
    const real d2 = at(distorted, i + 2) - a2;                                                         \
    patterns_of_three(a0, a1, a2, along[6 * (to)], along[6 * (to) + 1], along[6 * (to) + 2]);          \
    patterns_of_three(d0, d1, d2, along[6 * (to) + 3], along[6 * (to) + 4], along[6 * (to) + 5]);      \
  }

// What the weight of row k of the two is made of.
#define CHANNEL(k, values, residual, strength)                                                                       \
  {                                                                                                                  \
    real differences[VALUES];                                                                                        \
    UNROLL for (int c = 0; c < 3; ++c) {                                                                             \
      patterns_of_three(along[6 * (k) + c], along[6 * (k) + 6 + c], along[6 * (k) + 12 + c], values[3 * c],          \
                        values[3 * c + 1], values[3 * c + 2]);                                                       \
      patterns_of_three(along[6 * (k) + 3 + c], along[6 * (k) + 9 + c], along[6 * (k) + 15 + c], differences[3 * c], \
                        differences[3 * c + 1], differences[3 * c + 2]);                                             \
    }                                                                                                                \
    channel_of(values, differences, residual, strength);                                                             \
  }

KERNEL(compare_weighted, 32, 8, f32x4_in reference4, f32x4_in distorted4, f32_in reference, f32_in distorted,
       f32_in parents, f32x4_in information, f32_out tiles, int width, int height, int y_begin, int y_end) {
  FIND_TILE(0)
  if (group_x() * 32 < columns) {
    if (local_y() == 0 && local_x() < INFORMATION_FOURS) {
      numbers[local_x()] = at(information, s * INFORMATION_FOURS + local_x());
    }
    fetch_parent_rows(parents, width, height, s, top + WINDOW_MARGIN / 2);
    real mean[THREAD_ROWS];
    real sum_variance[THREAD_ROWS];
    real difference_variance[THREAD_ROWS];
    FILTER_ALONG(PICTURES_SUM, FILTER_SUBBAND)
    barrier_group();
    FILTER_SUBBAND_DOWN(mean, sum_variance)
    barrier_group();
    FILTER_ALONG(PICTURES_DIFFERENCE, FILTER_SUBBAND)
    barrier_group();
    FILTER_SUBBAND_DOWN(mean, difference_variance)
    barrier_group();
    UNROLL for (int k = 0; k < THREAD_ROWS; ++k) {
      const real loss = structure_loss(sum_variance[k], difference_variance[k]);
      filtered[own_rows + k * FILTERED_WIDTH] = HAS_LOSS(k) ? loss : real(0.0f);
    }

    const int stride = 4 * stride4;
    const int first = top + local_y() * THREAD_ROWS + WINDOW_MARGIN / 2;  // the first place, among the samples
    const int parent_plane = 4 * plane + stride * rows;
    const int parent_stride = stride_of(width, s + 1);
    const int parent_height = side_of(height, s + 1);
    ParentColumn over;
    if (s < PARENT_SCALES) over = parent_column(parents, width, height, s, min(x, columns - 1) + WINDOW_MARGIN / 2);
    real along[24];
    PATTERNS_ALONG(2, first - 1)
    PATTERNS_ALONG(3, first)
    for (int k = 0; k < THREAD_ROWS; k += 2) {
      // Two places at a time share each number that is fetched. The barrier keeps compilers from fetching all of them
      // ahead of the loop, into more registers than there are.
      barrier_group();
      UNROLL for (int i = 0; i < 12; ++i) along[i] = along[i + 12];
      PATTERNS_ALONG(2, first + k + 1)
      PATTERNS_ALONG(3, first + k + 2)
      real upper[VALUES];
      real lower[VALUES];
      upper[PATTERNS] = real(0.0f);
      lower[PATTERNS] = real(0.0f);
      if (s < PARENT_SCALES) {
        const int i = 2 * (local_y() * THREAD_ROWS + k);
        upper[PATTERNS] =
            parent_at(reference, parent_plane, parent_stride, parent_height, over, parent_rows[i], parent_rows[i + 1]);
        lower[PATTERNS] = parent_at(reference, parent_plane, parent_stride, parent_height, over, parent_rows[i + 2],
                                    parent_rows[i + 3]);
      }
      real upper_residual;
      real upper_strength;
      real lower_residual;
      real lower_strength;
      CHANNEL(0, upper, upper_residual, upper_strength)
      CHANNEL(1, lower, lower_residual, lower_strength)
      real upper_improbability = real(0.0f);
      real lower_improbability = real(0.0f);
      // Where there is no parent, its coefficients are zero.
      UNROLL for (int q = 0; q < VALUES;
                  ++q){ADD_IMPROBABILITY(upper_improbability, upper, q, NUMBER)
                           ADD_IMPROBABILITY(lower_improbability, lower, q, NUMBER)} real upper_weight;
      real lower_weight;
      if (s < PARENT_SCALES) {
        INFORMATION(upper_weight, upper_residual, upper_strength, upper_improbability, VALUES, EIGENVALUE)
        INFORMATION(lower_weight, lower_residual, lower_strength, lower_improbability, VALUES, EIGENVALUE)
      } else {
        INFORMATION(upper_weight, upper_residual, upper_strength, upper_improbability, PATTERNS, EIGENVALUE)
        INFORMATION(lower_weight, lower_residual, lower_strength, lower_improbability, PATTERNS, EIGENVALUE)
      }
      const int to = TILE_FLOATS + own_rows + k * FILTERED_WIDTH;
      filtered[to] = HAS_LOSS(k) ? upper_weight : real(0.0f);
      filtered[to + FILTERED_WIDTH] = HAS_LOSS(k + 1) ? lower_weight : real(0.0f);
    }
    barrier_group();
    real total = real(0.0f);
    if (local_y() < 3) {
      for (int i = local_x(); i < TILE_FLOATS; i += FILTERED_WIDTH) {
        const real loss = local_y() < 2 ? filtered[i] : real(1.0f);
        const real weight = local_y() > 0 ? filtered[TILE_FLOATS + i] : real(1.0f);
        total = total + weight * loss;
      }
    }
    SUM_TILE_COLUMNS(total)
    if (local_x() == 0 && local_y() < 3) at(tiles, 3 * TILE_AT + local_y()) = total;
  }
}
#endif
