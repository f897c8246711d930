// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA2 of small pictures on the GPU: each of the three steps does all scales in one launch, lest launches take
// longer than the work. The scales lie one behind the other in memory, which is nowhere a ring.
#include "lang/dialect.h"

#include "device/pixels/pixels.h"
#include "sums/tile_sums.h"
#include "metrics/ssimulacra2/math.h"
#include "metrics/ssimulacra2/gaussian.h"
#include "metrics/ssimulacra2/filters.h"

struct Place {
  int width;
  int height;
  int stride;     // floats a row
  int rows;       // of a plane
  int xyb;        // where its planes begin
  int blurred;    // likewise
  int tile;       // its first
  int row_group;  // the group that takes its first rows
  int column;     // the group that takes its first columns
};

FUNCTION Place place_at(int width, int height, int first, int tile, int row_group, int column) {
  Place place;
  place.width = width;
  place.height = height;
  place.stride = (width + 31) / 32 * 32;
  place.rows = (height + 31) / 32 * 32;
  place.xyb = first;
  place.blurred = first + 6 * place.rows * place.stride;
  place.tile = tile;
  place.row_group = row_group;
  place.column = column;
  return place;
}
FUNCTION int end_of(Place place) { return place.blurred + 15 * place.rows * place.stride; }
FUNCTION Place place_of_first(int width, int height) { return place_at(width, height, 0, 0, 0, 0); }
FUNCTION Place place_after(Place before) {
  return place_at((before.width + 1) / 2, (before.height + 1) / 2, end_of(before),
                  before.tile + (before.stride / 32) * ((before.height + 63) / 64), before.row_group + before.rows / 32,
                  before.column + before.stride / 32);
}

#if KERNEL_HERE(make_scales)
SHARED(float, light, 2 * 3 * 16 * 16)  // of two scales, which take turns

FUNCTION Pixel light_at(int from, int i) {
  Pixel pixel;
  pixel.red = light[from + i];
  pixel.green = light[from + 256 + i];
  pixel.blue = light[from + 512 + i];
  return pixel;
}

// A group takes 32 x 32 pixels of one picture, of which the second has its groups below those of the first, and what
// becomes of them in `scales` scales. A thread makes a quad of the first.
KERNEL(make_scales, 16, 16, samples_in reference, samples_in distorted, f32_in reference_table, f32_in distorted_table,
       f32_out xyb, int reference_format, int reference_table_last, int reference_plane_stride, int distorted_format,
       int distorted_table_last, int distorted_plane_stride, int width, int height, int scales) {
  const int groups_down = (height + 31) / 32;
  const int image = group_y() / groups_down;
  const int tile_y = group_y() % groups_down;
  Place place = place_of_first(width, height);
  int side = 32;  // of the tile
  int from = 0;
  int to = 3 * 256;
  for (int s = 0; s < scales; ++s) {
    const int left = group_x() * side;
    const int top = tile_y * side;
    const int x_end = min(left + side, place.width);
    const int y_end = min(top + side, place.height);
    const int x = left + local_x() * 2;
    const int y = top + local_y() * 2;
    if (x < x_end && y < y_end) {
      Pixel quad[4];
      if (s > 0) {
        UNROLL for (int k = 0; k < 4; ++k) {
          quad[k] = light_at(from, (min(y + k / 2, y_end - 1) - top) * 16 + min(x + k % 2, x_end - 1) - left);
        }
      } else if (image == 0) {
        FETCH_PIXELS(quad, 4, reference, reference_table, reference_format, reference_table_last,
                     reference_plane_stride, min(y + k / 2, y_end - 1) * width + min(x + k % 2, x_end - 1))
      } else {
        FETCH_PIXELS(quad, 4, distorted, distorted_table, distorted_format, distorted_table_last,
                     distorted_plane_stride, min(y + k / 2, y_end - 1) * width + min(x + k % 2, x_end - 1))
      }
      UNROLL for (int k = 0; k < 4; ++k) {
        if (x + k % 2 < x_end && y + k / 2 < y_end) {
          real values[3];
          positive_xyb(quad[k].red, quad[k].green, quad[k].blue, values[0], values[1], values[2]);
          UNROLL for (int c = 0; c < 3; ++c) {
            at(xyb, place.xyb + ((image * 3 + c) * place.rows + y + k / 2) * place.stride + x + k % 2) = values[c];
          }
        }
      }
      const int i = to + local_y() * 16 + local_x();
      light[i] = mean_of_quad(quad[0].red, quad[1].red, quad[2].red, quad[3].red);
      light[i + 256] = mean_of_quad(quad[0].green, quad[1].green, quad[2].green, quad[3].green);
      light[i + 512] = mean_of_quad(quad[0].blue, quad[1].blue, quad[2].blue, quad[3].blue);
    }
    barrier_group();
    side = side / 2;
    from = to;
    to = 3 * 256 - to;
    place = place_after(place);
  }
}
#endif

#if KERNEL_HERE(filter_rows_of_scales)
KERNEL(filter_rows_of_scales, 32, 5, f32_in xyb, f32_out blurred, int width, int height) {
  Place place = place_of_first(width, height);
  while (group_x() >= place.row_group + place.rows / 32) place = place_after(place);
  filter_rows_at(xyb, xyb, blurred, blurred, 5, place.xyb, place.xyb + 3 * place.rows * place.stride, place.blurred,
                 group_y(), place.width, 0, place.width, (group_x() - place.row_group) * 32, place.height, place.rows,
                 place.rows, place.rows, place.stride, 0, 0);
}
#endif

#if KERNEL_HERE(filter_columns_of_scales)
KERNEL(filter_columns_of_scales, 32, 6, f32_in xyb, f32x4_in blurred, f32_out tiles, int width, int height) {
  Place place = place_of_first(width, height);
  while (group_x() >= place.column + place.stride / 32) place = place_after(place);
  filter_columns_at(xyb, xyb, blurred, blurred, tiles, tiles, false, place.xyb,
                    place.xyb + 3 * place.rows * place.stride, place.blurred, place.tile, group_y(),
                    group_x() - place.column, place.width, place.height, -4, place.height, place.rows, place.rows,
                    place.rows, place.stride);
}
#endif
