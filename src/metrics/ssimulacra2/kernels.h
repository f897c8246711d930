// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA2 on the GPU. A scale is cut into bands of rows, and those into cells of columns. Three kernels see to a
// cell: pixels to XYB (and the next scale's linear light), the row filter, and the column filter with the error maps
// and their sums. The row filter's state goes from cell to cell in memory, the column filter's from band to band; so
// one launch does the cells of a diagonal, those with band + cell == step, which need nothing of each other. Planes
// hold only as many rows as that takes: they are rings, row y at y % ring, so that a band finds the last rows of the
// one above it.
//
// prepared_kernels.h has the filters for a prepared reference, small_kernels.h all three for small pictures: drivers
// compile a file as a whole, and few programs need both.
#include "lang/dialect.h"

#include "device/pixels/pixels.h"
#include "sums/tile_sums.h"
#include "metrics/ssimulacra2/math.h"
#include "metrics/ssimulacra2/gaussian.h"
#include "metrics/ssimulacra2/filters.h"

// One thread makes eight pixels (4 x 2) of one picture: the upper half of the groups those of the reference, the lower
// half those of the distorted picture. Samples lie in rings of rows too. XYB: plane image * 3 + channel. next: the same
// planes of linear light of the next scale; none if next_ring is 0. Cells are multiples of 128 columns.
#if KERNEL_HERE(make_pixels)
KERNEL(make_pixels, 32, 8, samples_in reference, samples_in distorted, f32_in reference_table, f32_in distorted_table,
       f32x4_out xyb, f32_out next, int reference_format, int reference_table_last, int reference_plane_stride,
       int reference_ring, int distorted_format, int distorted_table_last, int distorted_plane_stride,
       int distorted_ring, int width, int height, int step, int first_cell, int band_rows, int cell_columns,
       int xyb_ring, int next_ring) {
  const int groups_down = band_rows / 16;
  const int groups_across = cell_columns / 128;
  const int image = group_y() / groups_down;
  const int cell = first_cell + group_x() / groups_across;
  const int x = cell * cell_columns + ((group_x() % groups_across) * 32 + local_x()) * 4;
  const int y = (step - cell) * band_rows + ((group_y() % groups_down) * 8 + local_y()) * 2;
  if (x < width && y < height) {
    const int stride = (width + 31) / 32 * 32;
    const int below = y + 1 < height ? width : 0;
    Pixel pixels[8];
    if (image == 0) {
      FETCH_PIXELS(pixels, 8, reference, reference_table, reference_format, reference_table_last,
                   reference_plane_stride, (y % reference_ring) * width + (k / 4) * below + min(x + k % 4, width - 1))
    } else {
      FETCH_PIXELS(pixels, 8, distorted, distorted_table, distorted_format, distorted_table_last,
                   distorted_plane_stride, (y % distorted_ring) * width + (k / 4) * below + min(x + k % 4, width - 1))
    }
    // Beyond the picture there is room, which nobody looks at.
    const int to = ((image * 3 * xyb_ring + y % xyb_ring) * stride + x) / 4;
    UNROLL for (int row = 0; row < 2; ++row) {
      real values[12];
      UNROLL for (int k = 0; k < 4; ++k) {
        const Pixel pixel = pixels[row * 4 + k];
        positive_xyb(pixel.red, pixel.green, pixel.blue, values[k], values[4 + k], values[8 + k]);
      }
      UNROLL for (int c = 0; c < 3; ++c) {
        at(xyb, to + (c * xyb_ring + row) * (stride / 4)) =
            to_real4(values[c * 4], values[c * 4 + 1], values[c * 4 + 2], values[c * 4 + 3]);
      }
    }
    if (next_ring > 0) {
      const int next_width = (width + 1) / 2;
      const int plane = next_ring * next_width;
      const int i = image * 3 * plane + (y / 2 % next_ring) * next_width + x / 2;
      UNROLL for (int k = 0; k < 2; ++k) {
        if (x / 2 + k < next_width) {
          const Pixel a = pixels[2 * k];
          const Pixel b = pixels[2 * k + 1];
          const Pixel c = pixels[4 + 2 * k];
          const Pixel d = pixels[5 + 2 * k];
          at(next, i + k) = mean_of_quad(a.red, b.red, c.red, d.red);
          at(next, i + k + plane) = mean_of_quad(a.green, b.green, c.green, d.green);
          at(next, i + k + 2 * plane) = mean_of_quad(a.blue, b.blue, c.blue, d.blue);
        }
      }
    }
  }
}
#endif

// state: as many rows as there are bands on a diagonal, one for each cell.
#if KERNEL_HERE(filter_rows)
KERNEL(filter_rows, 32, 5, f32_in xyb, f32_out blurred, f32_out state, int width, int height, int step, int first_cell,
       int band_rows, int cell_columns, int xyb_ring, int ring) {
  const int groups_down = band_rows / 32;
  const int cell = first_cell + group_x() / groups_down;
  const int y = (step - cell) * band_rows + (group_x() % groups_down) * 32;
  const int saved_rows = (width + cell_columns - 1) / cell_columns * band_rows;
  if (y < height) {
    const int stride = (width + 31) / 32 * 32;
    filter_rows_at(xyb, xyb, blurred, state, 5, 0, 3 * xyb_ring * stride, 0, group_y(), width, cell * cell_columns,
                   min((cell + 1) * cell_columns, width), y, height, xyb_ring, xyb_ring, ring, stride, y % saved_rows,
                   saved_rows);
  }
}
#endif

#if KERNEL_HERE(filter_columns)
KERNEL(filter_columns, 32, 6, f32_in xyb, f32x4_in blurred, f32_out state, f32_out tiles, int width, int height,
       int step, int first_cell, int band_rows, int cell_columns, int xyb_ring, int ring) {
  const int groups_across = cell_columns / 32;
  const int cell = first_cell + group_x() / groups_across;
  const int column = cell * groups_across + group_x() % groups_across;
  const int y = (step - cell) * band_rows;
  if (column * 32 < width) {
    const int stride = (width + 31) / 32 * 32;
    filter_columns_at(xyb, xyb, blurred, blurred, state, tiles, false, 0, 3 * xyb_ring * stride, 0, 0, group_y(),
                      column, width, height, y - GAUSSIAN_AHEAD,
                      y + band_rows >= height ? height : y + band_rows - GAUSSIAN_AHEAD, xyb_ring, xyb_ring, ring,
                      stride);
  }
}
#endif
