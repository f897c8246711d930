// SPDX-License-Identifier: BSD-2-Clause-Patent
// Squared differences on the GPU: a thread sums one column of a tile, a group the whole tile.
#include "lang/dialect.h"

#include "metrics/mse/math.h"

#if KERNEL_HERE(sum_tiles)
SHARED(float, column_sums, 3 * 32)

// Planar pictures in the working space, `plane` floats from one channel to the next. sums: three a tile, row of tiles
// by row.
KERNEL(sum_tiles, 32, 1, f32_in reference, f32_in distorted, f32_out sums, int width, int height, int plane) {
  const int x = global_x();
  const int y_end = min((group_y() + 1) * 64, height);
  for (int c = 0; c < 3; ++c) {
    real sum = real(0.0f);
    for (int y = group_y() * 64; y < y_end && x < width; ++y) {
      const int i = c * plane + y * width + x;
      sum = sum + squared_difference(at(reference, i), at(distorted, i));
    }
    column_sums[c * 32 + local_x()] = sum;
  }
  for (int step = 16; step >= 1; step = step / 2) {
    barrier_group();
    if (local_x() < step) {
      for (int c = 0; c < 3; ++c) {
        const int i = c * 32 + local_x();
        column_sums[i] = column_sums[i] + column_sums[i + step];
      }
    }
  }
  barrier_group();
  if (local_x() < 3) {
    const int tiles_across = (width + 31) / 32;
    at(sums, (group_y() * tiles_across + group_x()) * 3 + local_x()) = column_sums[local_x() * 32];
  }
}
#endif
