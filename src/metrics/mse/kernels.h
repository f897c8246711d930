// SPDX-License-Identifier: BSD-2-Clause-Patent
// Squared differences on the GPU: a thread sums one column of a tile, a group the whole tile.
#include "lang/dialect.h"

#include "metrics/mse/math.h"
#include "metrics/pixels.h"

#if KERNEL_HERE(sum_tiles)
SHARED(float, column_sums, 3 * 32)

// Both pictures as pixel_at finds them. sums: three a tile, row of tiles by row.
KERNEL(sum_tiles, 32, 1, samples_in reference, samples_in distorted, f32_in reference_table, f32_in distorted_table,
       f32_out sums, int reference_form, int reference_extent, int distorted_form, int distorted_extent, int width,
       int height) {
  const int x = global_x();
  const int y_end = min((group_y() + 1) * 64, height);
  real red = real(0.0f);
  real green = real(0.0f);
  real blue = real(0.0f);
  for (int y = group_y() * 64; y < y_end && x < width; ++y) {
    const int i = y * width + x;
    const Pixel a = pixel_at(reference, reference_table, reference_form, reference_extent, i);
    const Pixel b = pixel_at(distorted, distorted_table, distorted_form, distorted_extent, i);
    red = red + squared_difference(a.red, b.red);
    green = green + squared_difference(a.green, b.green);
    blue = blue + squared_difference(a.blue, b.blue);
  }
  column_sums[local_x()] = red;
  column_sums[32 + local_x()] = green;
  column_sums[64 + local_x()] = blue;
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
