// SPDX-License-Identifier: BSD-2-Clause-Patent
// Squared differences on the GPU: a thread sums one column of a tile, a group the whole tile.
#include "lang/dialect.h"

#include "metrics/mse/math.h"
#include "metrics/pixels.h"
#include "metrics/tile_sums.h"

#if KERNEL_HERE(sum_tiles)
SHUFFLES(32)

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
  SUM_TILE_COLUMNS(red)
  SUM_TILE_COLUMNS(green)
  SUM_TILE_COLUMNS(blue)
  if (local_x() == 0) {
    const int tile = group_y() * ((width + 31) / 32) + group_x();
    at(sums, tile * 3) = red;
    at(sums, tile * 3 + 1) = green;
    at(sums, tile * 3 + 2) = blue;
  }
}
#endif
