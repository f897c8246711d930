// SPDX-License-Identifier: BSD-2-Clause-Patent
// The body of a kernel that measures one scale of ADM and makes the approximation of the next; metrics/adm/kernels.h
// includes it for scale 0 and for the others, with these macros:
//
//   IS_SCALE_0            1 or 0
//   FETCH_FOUR(x, rows)   fills a[] and b[], samples of both pictures in column x and four rows
//   FILTER_DOWN           of these into `down`, a Filtered
//   STORE_FILTERED(k)     shares that as column k of the thread's row; LOAD_FILTERED(k) gets it back
//   FILTER_LOW(v), FILTER_HIGH(v)  across, rounded
//   STORE_APPROXIMATION(place, a, b)
//
// A group of 32 x 8 threads makes cells of 61 x 14 places, and what their neighbours add to the thresholds: 63 x 16
// places. 32 threads make the rows y and y + 8 of those, one after the other. They first filter 128 columns down, four
// each, then two places across, which they decouple and keep until the group has shared all that masks. The sums of a
// row are added up over some cells that follow one another.

natural64 sums[2 * ROW_SUMS];
UNROLL for (int i = 0; i < 2 * ROW_SUMS; ++i) sums[i] = natural64(0UL);
const int first_row = group_y() * CELL_ROWS - 1;  // of 16

for (int cell = 0; cell < GROUP_CELLS; ++cell) {
  const int first_column = (group_x() * GROUP_CELLS + cell) * CELL_COLUMNS - 1;  // of 63
  // What is asked of this cell; the same for all threads.
  const bool is_inside = first_column + 1 < width;
  const bool has_masks = is_inside && has_details != 0 && first_row + 1 < bottom && first_row + 1 + CELL_ROWS > top &&
                         first_column + 1 < right && first_column + 1 + CELL_COLUMNS > left;
  if (!(has_masks || (is_inside && has_next != 0))) continue;

  whole restored[12];  // by row, column and subband
  whole added[12];
  whole more_restored[4];
  whole more_added[4];
  UNROLL for (int r = 0; r < 2; ++r) {
    // Thresholds past the ends: the second row once more, and the last.
    const int row = first_row + local_y() + 8 * r;
    const int at_row = row < 0 ? 1 : min(row, height - 1);
    int input_rows[4];
    UNROLL for (int i = 0; i < 4; ++i) input_rows[i] = input_index(2 * at_row - 1 + i, input_height);
    barrier_group();  // the rows before have been used
    UNROLL for (int n = 0; n < 4; ++n) {
      const int k = local_x() + 32 * n;
      const int x = clamp(input_index(2 * first_column - 1 + k, input_width), 0, input_width - 1);
      whole a[4];
      whole b[4];
      FETCH_FOUR(x, input_rows)
      Filtered down;
      FILTER_DOWN
      STORE_FILTERED(k)
    }
    barrier_group();
#if !IS_SCALE_0
    // What the next scale finds behind its rows (metrics/adm/row_ends.h).
    if (first_column < 0 && row == height - 1 && local_x() < 2) {
      const int k = local_x() + (input_width % 2 == 0 ? 0 : 2) + 3;
      at(behind_out, local_x()) = FILTERED_LONG(2, k);
    }
#endif
    UNROLL for (int c = 0; c < 2; ++c) {
      const int j = local_x() + 32 * c;
      const int column = first_column + j;
      const int at_column = column < 0 ? 1 : min(column, width - 1);
      const int first_k = 2 * clamp(at_column - first_column, 0, 62);
      whole lows_a[4];
      whole highs_a[4];
      whole lows_b[4];
      whole highs_b[4];
      UNROLL for (int i = 0; i < 4; ++i) {
        Filtered down;
        LOAD_FILTERED(first_k + i)
        lows_a[i] = down.low_a;
        highs_a[i] = down.high_a;
        lows_b[i] = down.low_b;
        highs_b[i] = down.high_b;
      }
      if (runs_on != 0 && at_column == width - 1) {
        UNROLL for (int i = 2; i < 4; ++i) {
          const int past = 2 * at_column - 1 + i - input_width;
          if (past >= 0) {
            whole a[4];
            whole b[4];
            FETCH_FOUR(past, input_rows)
            Filtered down;
            FILTER_DOWN
            lows_a[i] = down.high_a;
            lows_b[i] = down.high_b;
#if IS_SCALE_0
            highs_a[i] = 0;
            highs_b[i] = 0;
#else
            highs_a[i] = down.low_b;
            highs_b[i] = has_behind != 0 ? at(behind, past) : 0;
#endif
          }
        }
      }
      const bool is_own = j >= 1 && j <= CELL_COLUMNS && column < width && row > first_row &&
                          row <= first_row + CELL_ROWS && row < height;
      if (has_next != 0 && is_own) {
        STORE_APPROXIMATION(row * width + column, FILTER_LOW(lows_a), FILTER_LOW(lows_b))
      }
      if (has_masks) {
        whole o[3];
        whole t[3];
        o[0] = FILTER_LOW(highs_a);
        o[1] = FILTER_HIGH(lows_a);
        o[2] = FILTER_HIGH(highs_a);
        t[0] = FILTER_LOW(highs_b);
        t[1] = FILTER_HIGH(lows_b);
        t[2] = FILTER_HIGH(highs_b);
        const whole64 dot = multiply_64(o[0], t[0]) + multiply_64(o[1], t[1]);
        const whole64 o_square = multiply_64(o[0], o[0]) + multiply_64(o[1], o[1]);
        const whole64 t_square = multiply_64(t[0], t[0]) + multiply_64(t[1], t[1]);
        const bool same = has_same_direction(to_real(dot), to_real(o_square), to_real(t_square));
        const bool counts = is_own && row >= top && row < bottom && column >= left && column < right;
#if IS_SCALE_0
        const bool is_rounded = at_column < rounded_columns;
        const bool saturates = at_column < saturated_columns;
        const bool is_wide = at_column < wide_columns && at_row > 0 && at_row < height - 1;
#else
        const bool is_rounded = false;
#endif
        natural around_restored = natural(0u);
        natural around_added = natural(0u);
        whole own_restored = 0;
        whole own_added = 0;
        UNROLL for (int subband = 0; subband < 3; ++subband) {
          const whole left_over = restore(o[subband], t[subband], same, gain, is_rounded);
          const whole come = t[subband] - left_over;
          const int n = 6 * r + 3 * c + subband;
#if IS_SCALE_0
          const whole factor = subband < 2 ? straight_factor : diagonal_factor;
          const Influence by_restored = short_influence(left_over, factor, subband < 2, saturates, is_wide);
          const Influence by_added = short_influence(come, factor, subband < 2, saturates, is_wide);
          restored[n] = abs(left_over) * factor;
          added[n] = abs(come) * factor;
          const natural size = to_natural(abs(o[subband]));
          if (counts) sums[ROW_SUMS * r + subband] += multiply_64(size * size, size);
#else
          const natural factor = subband < 2 ? straight_factor : diagonal_factor;
          const natural weighed_restored = weigh_long(left_over, factor);
          const natural weighed_added = weigh_long(come, factor);
          const Influence by_restored = long_influence(weighed_restored);
          const Influence by_added = long_influence(weighed_added);
          restored[n] = to_whole(weighed_restored);
          added[n] = to_whole(weighed_added);
          if (counts) {
            sums[ROW_SUMS * r + subband] +=
                cube_of(to_natural(abs(o[subband])), natural64(1UL) << square_bits, square_bits, cube_bits);
          }
#endif
          around_restored += to_natural(by_restored.around);
          around_added += to_natural(by_added.around);
          own_restored += by_restored.more;
          own_added += by_added.more;
        }
        more_restored[2 * r + c] = own_restored;
        more_added[2 * r + c] = own_added;
        AROUND(0, local_y() + 8 * r, j) = around_restored;
        AROUND(1, local_y() + 8 * r, j) = around_added;
      }
    }
  }
  if (!has_masks) continue;
  barrier_group();
  UNROLL for (int r = 0; r < 2; ++r) {
    UNROLL for (int c = 0; c < 2; ++c) {
      const int i = local_y() + 8 * r;
      const int j = local_x() + 32 * c;
      const int row = first_row + i;
      const int column = first_column + j;
      if (i >= 1 && i <= CELL_ROWS && j >= 1 && j <= CELL_COLUMNS && row >= top && row < bottom && column >= left &&
          column < right) {
        natural by_restored = to_natural(more_restored[2 * r + c]);
        natural by_added = to_natural(more_added[2 * r + c]);
        UNROLL for (int y = -1; y <= 1; ++y) {
          UNROLL for (int x = -1; x <= 1; ++x) {
            by_restored += AROUND(0, i + y, j + x);
            by_added += AROUND(1, i + y, j + x);
          }
        }
        UNROLL for (int subband = 0; subband < 3; ++subband) {
          const int n = 6 * r + 3 * c + subband;
#if IS_SCALE_0
          const int threshold_bits = subband < 2 ? 10 : 12;
          const int bits_of_square = subband < 2 ? 29 : 30;
          const int bits_of_cube = mask_bits - (subband < 2 ? 4 : 3);
#else
          const int threshold_bits = 0;
          const int bits_of_square = 30;
          const int bits_of_cube = mask_bits;
#endif
          const natural64 half_square = natural64(1UL) << (bits_of_square - 1);
          const natural kept = above_threshold(to_natural(restored[n]), by_added << threshold_bits);
          sums[ROW_SUMS * r + 3 + subband] += cube_of(kept, half_square, bits_of_square, bits_of_cube);
          if (skips_aim == 0) {
            const natural come = above_threshold(to_natural(added[n]), by_restored << threshold_bits);
            sums[ROW_SUMS * r + 6 + subband] += cube_of(come, half_square, bits_of_square, bits_of_cube);
          }
        }
      }
    }
  }
}
UNROLL for (int r = 0; r < 2; ++r) {
  const int row = first_row + local_y() + 8 * r;
  const bool counts = row > first_row && row <= first_row + CELL_ROWS && row >= top && row < bottom;
  UNROLL for (int i = 0; i < ROW_SUMS; ++i) {
    const whole64 sum = row_sum(to_whole64(sums[ROW_SUMS * r + i]));
    if (counts && local_x() == 0) atomic_add_64(row_sums, row * ROW_SUMS + i, sum);
  }
}
