// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA2 on the GPU. A scale is worked through in bands of rows, three kernels a band: pixels to XYB (and the next
// scale's linear light), the row filter, and the column filter with the error maps and their sums. The column filter's
// state lives in memory between bands. Rows of a band's planes are kept in rings, so that a band finds the last rows of
// the one above it; XYB has more of them than the blurred planes, as it is made ahead.
//
// prepared_kernels.h has the filters for a reference that is prepared, small_kernels.h all three for small pictures:
// drivers compile a file as a whole, and few programs need more than one.
#include "lang/dialect.h"

#include "metrics/pixels.h"
#include "metrics/tile_sums.h"
#include "metrics/ssimulacra2/math.h"
#include "metrics/ssimulacra2/gaussian.h"
#include "metrics/ssimulacra2/filters.h"

// XYB of a band: three planes a picture, `ring` rows each, row y at y % ring.
FUNCTION int ring_index(int plane, int y, int ring, int stride, int x) {
  return (plane * ring + y % ring) * stride + x;
}

FUNCTION void store_xyb(f32_out xyb, int image, int x, int y, int ring, int stride, Pixel pixel) {
  real values[3];
  positive_xyb(pixel.red, pixel.green, pixel.blue, values[0], values[1], values[2]);
  for (int c = 0; c < 3; ++c) at(xyb, ring_index(image * 3 + c, y, ring, stride, x)) = values[c];
}

// One thread makes the pixels of a quad (2 x 2) of one picture; a launch of twice as many groups does so for a second,
// whose planes follow those of the first everywhere. The band's rows run from y_begin, which is even, to y_end; row
// y_first of the samples comes first. next: planes of linear light of the next scale, row next_first first, next_plane
// floats a plane; none if next_plane is 0.
#if KERNEL_HERE(make_pixels)
KERNEL(make_pixels, 32, 8, samples_in samples, f32_in table, f32_out xyb, f32_out next, int form, int extent,
       int y_first, int width, int height, int y_begin, int y_end, int ring, int stride, int next_first,
       int next_plane) {
  const int groups_down = (y_end - y_begin + 15) / 16;
  const int image = group_y() / groups_down;
  const int x = global_x() * 2;
  const int y = y_begin + ((group_y() % groups_down) * 8 + local_y()) * 2;
  if (x < width && y < y_end) {
    const int planes = image * 3 * extent;
    Pixel quad[4];
    FETCH_PIXELS(quad, 4, samples, table, form, extent,
                 planes + (min(y + k / 2, height - 1) - y_first) * width + min(x + k % 2, width - 1))
    UNROLL for (int k = 0; k < 4; ++k) {
      if (x + k % 2 < width && y + k / 2 < height) {
        store_xyb(xyb, image, x + k % 2, y + k / 2, ring, stride, quad[k]);
      }
    }
    if (next_plane > 0) {
      const int i = image * 3 * next_plane + (y / 2 - next_first) * ((width + 1) / 2) + x / 2;
      at(next, i) = mean_of_quad(quad[0].red, quad[1].red, quad[2].red, quad[3].red);
      at(next, i + next_plane) = mean_of_quad(quad[0].green, quad[1].green, quad[2].green, quad[3].green);
      at(next, i + 2 * next_plane) = mean_of_quad(quad[0].blue, quad[1].blue, quad[2].blue, quad[3].blue);
    }
  }
}
#endif

#if KERNEL_HERE(filter_rows)
KERNEL(filter_rows, 32, 5, f32_in reference, f32_in distorted, f32_out blurred, int width, int y_begin, int y_end,
       int xyb_ring, int ring, int stride) {
  filter_rows_at(reference, distorted, blurred, 5, 0, 0, 0, group_y(), width, y_begin + group_x() * 32, y_end, xyb_ring,
                 xyb_ring, ring, stride);
}
#endif

#if KERNEL_HERE(filter_columns)
KERNEL(filter_columns, 32, 6, f32_in reference, f32_in distorted, f32x4_in blurred, f32_out state, f32_out tiles,
       int width, int height, int n_begin, int n_end, int xyb_ring, int ring, int stride) {
  filter_columns_at(reference, distorted, blurred, blurred, state, tiles, false, 0, 0, 0, 0, group_y(), group_x(),
                    width, height, n_begin, n_end, xyb_ring, xyb_ring, ring, stride);
}
#endif
