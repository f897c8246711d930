// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIM in floats on the GPU, for one scale and for several. Sums are those of sums.h.
#include "lang/dialect.h"

#include "frames/plane_samples.h"

FUNCTION real sum_by_multiplier(real a, real b) { return a + b; }

#include "metrics/float_ssim/math.h"

// Samples of a picture are codes of 8 or 16 bits, times `scale`, or floats for 32.

// Past their ends rows and columns are mirrored, and the last sample is repeated.
FUNCTION int mirrored_at_edge(int place, int side) {
  return place < 0 ? -1 - place : place >= side ? 2 * side - 1 - place : place;
}

#if KERNEL_HERE(shrink)
#define NEEDS_shrink ~, needs_double

// Means of factor x factor samples about every factor-th sample. Their sum is exact in double, whatever the order.
KERNEL(shrink, 32, 8, samples_in picture, f32_out shrunk, int bits, real scale, int step, int width, int height,
       int factor, real weight, int shrunk_width, int shrunk_height) {
  const int x = min(global_x(), shrunk_width - 1);
  const int y = min(global_y(), shrunk_height - 1);
  wide sum = WIDE(0.0);
  for (int i = 0; i < factor; ++i) {
    const int row = mirrored_at_edge(y * factor - factor / 2 + i, height) * step;
    for (int j = 0; j < factor; ++j) {
      const int column = mirrored_at_edge(x * factor - factor / 2 + j, width);
      sum += to_wide(sample_at(picture, bits, scale, row + column) * weight);
    }
  }
  if (global_x() < shrunk_width && global_y() < shrunk_height) {
    at(shrunk, global_y() * shrunk_width + global_x()) = to_real(sum);
  }
}
#endif

#if KERNEL_HERE(compare_windows)
#define NEEDS_compare_windows ~, needs_double

// A group has a cell of 32 x 16 windows, a thread four of them that lie below each other.
#define CELL_LINES 26 /* rows that its windows cover */
SHARED(real, means, 5 * 26 * 32)
SHARED(wide, four_rows, 4 * 4 * 32)
#define MEAN(moment, row) means[((moment) * CELL_LINES + (row)) * 32 + local_x()]

// Four windows of a moment, below each other, from the lines that begin at row.
FUNCTION void window_down(int moment, int row, real begin, INOUT(real) r0, INOUT(real) r1, INOUT(real) r2,
                          INOUT(real) r3) {
  real high[4];
  real low[4];
  UNROLL for (int i = 0; i < 4; ++i) {
    high[i] = begin;
    low[i] = real(0.0f);
  }
  UNROLL for (int k = 0; k < 14; ++k) {
    const real line = MEAN(moment, row + k);
    UNROLL for (int i = 0; i < 4; ++i) {
      if (k >= i && k - i < WINDOW_SIDE) add_exactly(line * real(window_weight(k - i)), high[i], low[i]);
    }
  }
  r0 = rounded_sum(begin, high[0], low[0]);
  r1 = rounded_sum(begin, high[1], low[1]);
  r2 = rounded_sum(begin, high[2], low[2]);
  r3 = rounded_sum(begin, high[3], low[3]);
}

// cell_sums: four numbers for each cell, from left to right and from the top down.
KERNEL(compare_windows, 32, 4, samples_in reference, samples_in distorted, f64_out cell_sums, int bits, real scale,
       int reference_step, int distorted_step, int width, int height) {
  const int left = min(global_x(), width - WINDOW_SIDE);
  for (int line = local_y(); line < CELL_LINES; line += 4) {
    const int row = min(group_y() * 16 + line, height - 1);
    real a[11];
    real b[11];
    FETCH_VALUES(a, 11, reference, bits, scale, real(0.0f), row * reference_step + left + i)
    FETCH_VALUES(b, 11, distorted, bits, scale, real(0.0f), row * distorted_step + left + i)
    real high[5];
    real low[5];
    UNROLL for (int m = 0; m < 5; ++m) {
      high[m] = m < 2 ? SAMPLES_BEGIN : SQUARES_BEGIN;
      low[m] = real(0.0f);
    }
    UNROLL for (int k = 0; k < 11; ++k) {
      const real weight = real(window_weight(k));
      add_exactly(a[k] * weight, high[0], low[0]);
      add_exactly(b[k] * weight, high[1], low[1]);
      add_exactly(a[k] * a[k] * weight, high[2], low[2]);
      add_exactly(b[k] * b[k] * weight, high[3], low[3]);
      add_exactly(a[k] * b[k] * weight, high[4], low[4]);
    }
    UNROLL for (int m = 0; m < 5; ++m) {
      MEAN(m, line) = rounded_sum(m < 2 ? SAMPLES_BEGIN : SQUARES_BEGIN, high[m], low[m]);
    }
  }
  barrier_group();
  real moments[20];
  UNROLL for (int m = 0; m < 5; ++m) {
    window_down(m, local_y() * 4, m < 2 ? SAMPLES_BEGIN : SQUARES_BEGIN, moments[m * 4], moments[m * 4 + 1],
                moments[m * 4 + 2], moments[m * 4 + 3]);
  }
  wide sums[4];
  UNROLL for (int i = 0; i < 4; ++i) sums[i] = WIDE(0.0);
  UNROLL for (int i = 0; i < 4; ++i) {
    wide luminance = WIDE(0.0);
    wide contrast = WIDE(0.0);
    wide structure = WIDE(0.0);
    find_factors(moments[i], moments[4 + i], moments[8 + i], moments[12 + i], moments[16 + i], luminance, contrast,
                 structure);
    if (global_x() <= width - WINDOW_SIDE && group_y() * 16 + local_y() * 4 + i <= height - WINDOW_SIDE) {
      sums[0] += luminance * contrast * structure;
      sums[1] += luminance;
      sums[2] += contrast;
      sums[3] += structure;
    }
  }
  UNROLL for (int i = 0; i < 4; ++i) four_rows[(i * 4 + local_y()) * 32 + local_x()] = sums[i];
  barrier_group();
  // From here on a thread has a column of one of the sums.
  const int first = local_y() * 128 + local_x();
  wide sum = ((four_rows[first] + four_rows[first + 32]) + four_rows[first + 64]) + four_rows[first + 96];
  for (int half_way = 16; half_way >= 1; half_way = half_way / 2) {
    barrier_group();
    four_rows[first] = sum;
    barrier_group();
    if (local_x() < half_way) sum += four_rows[first + half_way];
  }
  const int across = (width - WINDOW_SIDE + 32) / 32;
  if (local_x() == 0) at(cell_sums, (group_y() * across + group_x()) * 4 + local_y()) = sum;
}
#endif

#if KERNEL_HERE(sum_cell_rows)
#define NEEDS_sum_cell_rows ~, needs_double

// A thread adds up one of the four sums of a row of cells.
KERNEL(sum_cell_rows, 4, 32, f64_in cell_sums, f64_out row_sums, int across, int down) {
  const int row = min(global_y(), down - 1);
  wide sum = WIDE(0.0);
  for (int cell = 0; cell < across; ++cell) sum += at(cell_sums, (row * across + cell) * 4 + local_x());
  if (global_y() < down) at(row_sums, row * 4 + local_x()) = sum;
}
#endif

#if KERNEL_HERE(halve)
// The nine samples of a row about `column`, and what they give to a halved row that lies `down` rows away from it; all
// threads have the same `down`.
FUNCTION void low_pass_row(int down, samples_in picture, int bits, real scale, int row, int column, int width,
                           INOUT(real) high, INOUT(real) low) {
  real s[9];
  FETCH_VALUES(s, 9, picture, bits, scale, real(0.0f), row + mirrored_at_edge(column + i - 4, width))
  if (down == 0) {
    low_pass(LOW_PASS_0, s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], high, low);
  } else if (down == 1) {
    low_pass(LOW_PASS_1, s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], high, low);
  } else if (down == 2) {
    low_pass(LOW_PASS_2, s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], high, low);
  } else if (down == 3) {
    low_pass(LOW_PASS_3, s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], high, low);
  } else {
    low_pass(LOW_PASS_4, s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], high, low);
  }
}

// The picture at half its size, (width + 1) / 2 x (height + 1) / 2. Rows are added in the order in which the CPU meets
// them: beyond an edge, those of the mirror image come together with the rows they mirror.
KERNEL(halve, 32, 8, samples_in picture, f32_out halved, int bits, real scale, int step, int width, int height) {
  const int halved_width = (width + 1) / 2;
  const int halved_height = (height + 1) / 2;
  const int x = min(global_x(), halved_width - 1);
  const int y = 2 * min(global_y(), halved_height - 1);
  real high = real(0.0f);
  real low = real(0.0f);
  for (int row = max(y - 4, 0); row <= min(y + 4, height - 1); ++row) {
    UNROLL for (int image = 0; image < 3; ++image) {
      const int place = image == 0 ? -1 - row : image == 1 ? row : 2 * height - 1 - row;
      const int down = place < y ? y - place : place - y;
      if (down <= 4) {
        real row_high = real(0.0f);
        real row_low = real(0.0f);
        low_pass_row(down, picture, bits, scale, row * step, 2 * x, width, row_high, row_low);
        high = high + row_high;
        low = low + row_low;
      }
    }
  }
  if (global_x() < halved_width && global_y() < halved_height) {
    at(halved, global_y() * halved_width + global_x()) = high + low;
  }
}
#endif
