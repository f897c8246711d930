// SPDX-License-Identifier: BSD-2-Clause-Patent
// The motion between two planes on the GPU, in whole numbers: both are blurred, and what they differ by is summed.
#include "lang/dialect.h"

#include "frames/plane_samples.h"
#include "metrics/motion/math.h"
#include "sums/whole_sums.h"

#if KERNEL_HERE(sum_blurred_difference)
#define NEEDS_sum_blurred_difference ~, needs_int64
GROUP_SUMS(256)

#define GROUP_COLUMNS 128
#define THREAD_ROWS 8
SHARED(whole, blurred_down, 2 * THREAD_ROWS * GROUP_COLUMNS)
#define BLURRED_DOWN(row, column) blurred_down[(local_y() * THREAD_ROWS + (row)) * GROUP_COLUMNS + (column)]

// A group makes a cell of 124 columns and 16 rows. A thread first blurs its column of differences downwards, for 8
// rows, then the same 8 places along their rows. The sum, in 256ths of an 8-bit step, is added to number `index` of
// `sums`. Samples of 8 or 16 bits in memory are shifted by `added_bits`, which makes them `depth` bits.
KERNEL(sum_blurred_difference, 128, 2, samples_in before, samples_in now, i64_out sums, int index, int before_row_bytes,
       int now_row_bytes, int bits, int added_bits, int depth, int width, int height) {
  const int x = group_x() * (GROUP_COLUMNS - 4) + local_x() - 2;
  const int y = group_y() * (2 * THREAD_ROWS) + local_y() * THREAD_ROWS;
  const int column = mirrored_index(x, width);
  whole d[THREAD_ROWS + 4];
  whole other[THREAD_ROWS + 4];
  FETCH_COLUMN(d, THREAD_ROWS + 4, before, before_row_bytes, bits, column, y - 2, height)
  FETCH_COLUMN(other, THREAD_ROWS + 4, now, now_row_bytes, bits, column, y - 2, height)
  UNROLL for (int i = 0; i < THREAD_ROWS + 4; ++i) d[i] = (d[i] - other[i]) * (1 << added_bits);
  UNROLL for (int r = 0; r < THREAD_ROWS; ++r) {
    const whole sum = half_sum(d[r] + d[r + 4], d[r + 1] + d[r + 3], d[r + 2]);
    BLURRED_DOWN(r, local_x()) = (sum + (1 << (depth - 2))) >> (depth - 1);
  }
  barrier_group();
  whole total = whole(0);
  if (local_x() >= 2 && local_x() < GROUP_COLUMNS - 2 && x < width) {
    UNROLL for (int r = 0; r < THREAD_ROWS; ++r) {
      const whole sum =
          half_sum(BLURRED_DOWN(r, local_x() - 2) + BLURRED_DOWN(r, local_x() + 2),
                   BLURRED_DOWN(r, local_x() - 1) + BLURRED_DOWN(r, local_x() + 1), BLURRED_DOWN(r, local_x()));
      if (y + r < height) total += abs((sum + (1 << 14)) >> 15);
    }
  }
  ADD_GROUP_SUM(sums, index, to_whole64(total))
}
#endif
