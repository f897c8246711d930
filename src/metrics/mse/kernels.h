// SPDX-License-Identifier: BSD-2-Clause-Patent
// Squared differences on the GPU: a thread sums one column of a tile, a group the whole tile.
#include "lang/dialect.h"

#include "metrics/mse/math.h"
#include "device/pixels/pixels.h"
#include "sums/tile_sums.h"

#if KERNEL_HERE(sum_tiles)
SHUFFLES(32)

// Rows y_begin, a multiple of 64, to y_end - 1 of both pictures as pixel_at finds them, *_first being the row that lies
// first. sums: three a tile, row of tiles by row.
KERNEL(sum_tiles, 32, 1, samples_in reference, samples_in distorted, f32_in reference_table, f32_in distorted_table,
       f32_out sums, int reference_format, int reference_table_last, int reference_plane_stride, int reference_first,
       int distorted_format, int distorted_table_last, int distorted_plane_stride, int distorted_first, int width,
       int y_begin, int y_end) {
  const int x = global_x();
  const int top = y_begin + group_y() * 64;
  real red = real(0.0f);
  real green = real(0.0f);
  real blue = real(0.0f);
  for (int y = top; y < min(top + 64, y_end) && x < width; ++y) {
    const Pixel a = pixel_at(reference, reference_table, reference_format, reference_table_last, reference_plane_stride,
                             (y - reference_first) * width + x);
    const Pixel b = pixel_at(distorted, distorted_table, distorted_format, distorted_table_last, distorted_plane_stride,
                             (y - distorted_first) * width + x);
    red = red + squared_difference(a.red, b.red);
    green = green + squared_difference(a.green, b.green);
    blue = blue + squared_difference(a.blue, b.blue);
  }
  SUM_TILE_COLUMNS(red)
  SUM_TILE_COLUMNS(green)
  SUM_TILE_COLUMNS(blue)
  if (local_x() == 0) {
    const int tile = (top / 64) * ((width + 31) / 32) + group_x();
    at(sums, tile * 3) = red;
    at(sums, tile * 3 + 1) = green;
    at(sums, tile * 3 + 2) = blue;
  }
}
#endif
