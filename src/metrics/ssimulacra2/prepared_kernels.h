// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA2 on the GPU with a prepared reference, of which XYB and the blurred planes mu1 and s11 are there whole:
// the filters that make these planes, and those that do the rest, a diagonal of cells at a time as in kernels.h.
#include "lang/dialect.h"

#include "sums/tile_sums.h"
#include "metrics/ssimulacra2/math.h"
#include "metrics/ssimulacra2/gaussian.h"
#include "metrics/ssimulacra2/filters.h"

// Planes of a reference have `rows` rows each. The reference stands in for the distorted picture here: mu1 and s11 are
// made as mu2 and s22 are.
#if KERNEL_HERE(filter_reference_rows)
KERNEL(filter_reference_rows, 32, 2, f32_in xyb, f32_out prepared_blurs, int width, int height, int rows, int stride) {
  filter_rows_at(xyb, xyb, prepared_blurs, prepared_blurs, 2, 0, 0, 0, group_y(), width, 0, width, group_x() * 32,
                 height, rows, rows, rows, stride, 0, 0);
}
#endif

// In place: a group takes 32 columns of mu1 and s11 of one channel. Row n goes to n + 4, where the last input lay that
// it needs. Columns beyond the picture are filtered too, as nobody looks at what comes of it.
#if KERNEL_HERE(filter_reference_columns)
KERNEL(filter_reference_columns, 32, 2, f32x4_out prepared_blurs, int height, int rows, int stride) {
  const int from = (group_y() * 2 + local_y()) * rows * (stride / 4) + global_x() * 8;
  GaussianState recursion = gaussian_start();
  real before[CHUNK];
  real now[CHUNK];
  UNROLL for (int k = 0; k < CHUNK; ++k) before[k] = real(0.0f);
  // Two chunks are in flight.
  real next[CHUNK];
  FETCH_CHUNK(now, prepared_blurs, from, 0, height)
  FETCH_CHUNK(next, prepared_blurs, from, CHUNK, height - CHUNK)
  for (int slot = 0; slot < height + GAUSSIAN_AHEAD; slot += CHUNK) {
    real later[CHUNK];
    FETCH_CHUNK(later, prepared_blurs, from, slot + 2 * CHUNK, height - (slot + 2 * CHUNK))
    const int first4 = from + (slot / 32 * 32 * stride + slot % 32) / 4;
    UNROLL for (int k = 0; k < CHUNK; k += 4) {
      const real o0 = COLUMN_STEP(recursion, before, now, k);
      const real o1 = COLUMN_STEP(recursion, before, now, k + 1);
      const real o2 = COLUMN_STEP(recursion, before, now, k + 2);
      const real o3 = COLUMN_STEP(recursion, before, now, k + 3);
      at(prepared_blurs, first4 + k / 4) = to_real4(o0, o1, o2, o3);
    }
    UNROLL for (int k = 0; k < CHUNK; ++k) {
      before[k] = now[k];
      now[k] = next[k];
      next[k] = later[k];
    }
  }
}
#endif

#if KERNEL_HERE(filter_rows_prepared)
KERNEL(filter_rows_prepared, 32, 3, f32_in reference, f32_in distorted, f32_out blurred, f32_out state, int width,
       int height, int step, int first_cell, int band_rows, int cell_columns, int reference_rows, int xyb_ring,
       int ring) {
  const int groups_down = band_rows / 32;
  const int cell = first_cell + group_x() / groups_down;
  const int y = (step - cell) * band_rows + (group_x() % groups_down) * 32;
  const int saved_rows = (width + cell_columns - 1) / cell_columns * band_rows;
  if (y < height) {
    filter_rows_at(reference, distorted, blurred, state, 3, 0, 0, 0, group_y(), width, cell * cell_columns,
                   min((cell + 1) * cell_columns, width), y, height, reference_rows, xyb_ring, ring,
                   (width + 31) / 32 * 32, y % saved_rows, saved_rows);
  }
}
#endif

#if KERNEL_HERE(filter_columns_prepared)
KERNEL(filter_columns_prepared, 32, 6, f32_in reference, f32_in distorted, f32x4_in blurred, f32x4_in prepared_blurs,
       f32_out state, f32_out tiles, int width, int height, int step, int first_cell, int band_rows, int cell_columns,
       int reference_rows, int xyb_ring, int ring) {
  const int groups_across = cell_columns / 32;
  const int cell = first_cell + group_x() / groups_across;
  const int column = cell * groups_across + group_x() % groups_across;
  const int y = (step - cell) * band_rows;
  if (column * 32 < width) {
    filter_columns_at(reference, distorted, blurred, prepared_blurs, state, tiles, true, 0, 0, 0, 0, group_y(), column,
                      width, height, y - GAUSSIAN_AHEAD,
                      y + band_rows >= height ? height : y + band_rows - GAUSSIAN_AHEAD, reference_rows, xyb_ring, ring,
                      (width + 31) / 32 * 32);
  }
}
#endif
