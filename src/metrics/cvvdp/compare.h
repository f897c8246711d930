// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the kernels for still pictures and for frames have in common: from a scale to the next (REDUCE, REDUCE_KEPT),
// the comparison of all subbands (COMPARE). Both walk down their columns two rows at a time, so that the work on one
// row hides what the other waits for. Include it after metrics/cvvdp/math.h and places.h.

// Beyond an edge lies the mirror image, the edge itself not repeated.
FUNCTION int mirrored(int i, int count) {
  const int inside = min(i < 0 ? -i : i, count - 1 + REACH);
  return max(inside < count ? inside : 2 * (count - 1) - inside, 0);
}

// Sample i of the next scale from the five around sample 2 i of `count`. Those outside may be anything. `is_odd`: how
// the last edge continues, which the reference decides by the number of rows, along rows too.
FUNCTION real reduced_at(int i, int count, bool is_odd, real a, real b, real c, real d, real e) {
  real sum = reduce_five(i > 0 ? a : real(0.0f), i > 0 ? b : real(0.0f), c, 2 * i + 1 < count ? d : real(0.0f),
                         2 * i + 2 < count ? e : real(0.0f));
  if (i == 0) sum = sum + edge_of_odd(c, d);
  if (2 * i + 2 >= count) {
    const real edge = count % 2 == 0 ? d : c;
    sum = sum + (is_odd ? edge_of_odd(edge, count % 2 == 0 ? c : b) : edge_of_even(edge));
  }
  return sum;
}

// Samples of the next scale to one of this: at an odd place `first` is `here`.
FUNCTION real expanded_at(int odd, real first, real here, real after) {
  const real side = odd != 0 ? real(0.5f) : real(0.1f);
  return fma(side, after, fma(odd != 0 ? real(0.0f) : real(0.8f), here, side * first));
}

// ---------------------------------------------------------------------------------------------------------------------
// From the first scale to the second: one thread makes a column of it. Each thread holds the last rows of two columns
// of samples, and the group shares their sums, of one row and the row before in turn, so that one barrier does.
// FETCH(to, i, row, column): the channels of a sample to to[i] and so on. s is 0.

#define REDUCE_THREADS 128
#define REDUCED_SAMPLES 256  // of a row that a group fetches; it looks at one less
#define REDUCE_SHARED SHARED(float, reduced, 2 * CHANNELS * REDUCED_SAMPLES)

#define REDUCE(FETCH)                                                                                                 \
  const int columns = scale_side(width, s);                                                                           \
  const int rows = scale_side(height, s);                                                                             \
  const int next_columns = scale_side(width, s + 1);                                                                  \
  const int next_step = row_floats(width, s + 1);                                                                     \
  const int y_from = ready_rows(y_begin, height, s + 1) + (group_y() >> 1) * rows_each;                               \
  const int y_to = min(y_from + rows_each, ready_rows(y_end, height, s + 1));                                         \
  const int x = group_x() * REDUCED_COLUMNS + local_x();                                                              \
  const bool is_made = local_x() < REDUCED_COLUMNS && x < next_columns;                                               \
  const bool is_odd = rows % 2 != 0;                                                                                  \
  const int left = 2 * group_x() * REDUCED_COLUMNS - 2;                                                               \
  const int next_plane = plane_floats(width, height, s + 1);                                                          \
  const int to = floats_before(width, height, s + 1) + picture * CHANNELS * next_plane + x;                           \
  real held[2 * CHANNELS * 6];                                                                                        \
  UNROLL for (int i = 0; i < 2 * CHANNELS * 6; ++i) held[i] = real(0.0f);                                             \
  for (int y = y_from - 2; y < y_to; ++y) {                                                                           \
    real fetched[4 * CHANNELS];                                                                                       \
    UNROLL for (int j = 0; j < 4; ++j) {                                                                              \
      const int row = clamp(min(2 * y + 2 + j / 2, 2 * y_to), 0, rows - 1);                                           \
      const int column = clamp(left + local_x() + j % 2 * REDUCE_THREADS, 0, columns - 1);                            \
      FETCH(fetched, j* CHANNELS, row, column)                                                                        \
    }                                                                                                                 \
    const int shared_from = (y & 1) * CHANNELS * REDUCED_SAMPLES;                                                     \
    UNROLL for (int j = 0; j < 2; ++j) {                                                                              \
      UNROLL for (int c = 0; c < CHANNELS; ++c) {                                                                     \
        const int h = (j * CHANNELS + c) * 6;                                                                         \
        UNROLL for (int i = 0; i < 4; ++i) held[h + i] = held[h + i + 2];                                             \
        held[h + 4] = fetched[j * CHANNELS + c];                                                                      \
        held[h + 5] = fetched[(j + 2) * CHANNELS + c];                                                                \
        reduced[shared_from + c * REDUCED_SAMPLES + j * REDUCE_THREADS + local_x()] =                                 \
            reduced_at(y, rows, is_odd, held[h], held[h + 1], held[h + 2], held[h + 3], held[h + 4]);                 \
      }                                                                                                               \
    }                                                                                                                 \
    barrier_group();                                                                                                  \
    if (y >= y_from && is_made) {                                                                                     \
      UNROLL for (int c = 0; c < CHANNELS; ++c) {                                                                     \
        const int i = shared_from + c * REDUCED_SAMPLES + 2 * local_x();                                              \
        at(planes, to + c * next_plane + y * next_step) = reduced_at(x, columns, is_odd, reduced[i], reduced[i + 1],  \
                                                                     reduced[i + 2], reduced[i + 3], reduced[i + 4]); \
      }                                                                                                               \
    }                                                                                                                 \
  }

// ---------------------------------------------------------------------------------------------------------------------
// From a later scale to the next: one thread makes one sample of one plane. That goes down columns several times over,
// but nothing waits for anything, and small scales have little else to hide the waiting behind.

// Of a column of a plane at `first`.
FUNCTION real reduced_down(f32_out planes, int first, int step, int y, int rows) {
  const int here = first + 2 * y * step;
  const int above = y > 0 ? step : 0;
  return reduced_at(y, rows, rows % 2 != 0, at(planes, here - 2 * above), at(planes, here - above), at(planes, here),
                    at(planes, here + (2 * y + 1 < rows ? step : 0)),
                    at(planes, here + (2 * y + 2 < rows ? 2 * step : 0)));
}

#define REDUCE_KEPT                                                                                \
  const int first = ready_rows(y_begin, height, s + 1);                                            \
  const int end = ready_rows(y_end, height, s + 1);                                                \
  const int down = (end - first + 7) / 8;                                                          \
  const int plane = group_y() / down;                                                              \
  const int y = first + group_y() % down * 8 + local_y();                                          \
  const int next_columns = scale_side(width, s + 1);                                               \
  if (x < next_columns && y < end) {                                                               \
    const int columns = scale_side(width, s);                                                      \
    const int rows = scale_side(height, s);                                                        \
    const int step = row_floats(width, s);                                                         \
    const int from = floats_before(width, height, s) + plane * plane_floats(width, height, s);     \
    real value[5];                                                                                 \
    UNROLL for (int k = 0; k < 5; ++k) {                                                           \
      value[k] = reduced_down(planes, from + clamp(2 * x - 2 + k, 0, columns - 1), step, y, rows); \
    }                                                                                              \
    at(planes, floats_before(width, height, s + 1) + plane * plane_floats(width, height, s + 1) +  \
                   y * row_floats(width, s + 1) + x) =                                             \
        reduced_at(x, columns, rows % 2 != 0, value[0], value[1], value[2], value[3], value[4]);   \
  }

// ---------------------------------------------------------------------------------------------------------------------
// A group compares a row of four tiles of a subband, or part_rows rows of it, a part of 64. In turn: 72 columns of the
// next scale are brought to the height of two rows; a thread for each column, and for six more on either side, finds
// the contrasts there, and blurs what masks down its column, of which it holds 14 rows; a thread for each column blurs
// along the row, and adds up what is seen. FETCH_FIRST(k, row, column): the channels of a sample of the first scale of
// both pictures to fetched[]. STORE_SQUARE(c, row, value): keeps a square that cannot be added up, because others have
// the rows above.

#define COMPARE_THREADS 160
#define SEEN_COLUMNS 140
#define EXPANDED_COLUMNS 72
#define EXPANDED_BEFORE 4
#define EXPAND_THREADS 80  // for one of two rows
#define BLUR_HELD 14
#define DELAYED 8

#define COMPARE_SHARED                                         \
  SHARED(float, expanded, 2 * 2 * CHANNELS * EXPANDED_COLUMNS) \
  SHARED(float, down_blurred, 2 * CHANNELS * SEEN_COLUMNS)     \
  SHARED(float, differing, 2 * CHANNELS * SEEN_COLUMNS)        \
  SHUFFLES(COMPARE_THREADS)

#define CHANNEL_OF(four, c) ((c) == 0 ? four.x : (c) == 1 ? four.y : (c) == 2 ? four.z : four.w)

#if CHANNELS == 3
#define MASKING_OF(c) masking_of(c, masks[0], masks[1], masks[2])
#else
#define MASKING_OF(c) masking_of_transient(c, masking_of(c, masks[0], masks[1], masks[2]), masks[3])
#endif

// Rows y and y + 1 of the next scale's planes at this scale's height.
#define EXPAND_ROWS                                                                                                 \
  {                                                                                                                 \
    const int row = mirrored(y + local_x() / EXPAND_THREADS, rows);                                                 \
    const int odd = row & 1;                                                                                        \
    const int middle = row / 2;                                                                                     \
    const int here = next_from + middle * next_step + expanded_column;                                              \
    const int first = here - (odd != 0 || middle == 0 ? 0 : next_step);                                             \
    const int after = here + (middle + 1 < next_rows ? next_step : 0);                                              \
    UNROLL for (int p = 0; p < 2 * CHANNELS; ++p) {                                                                 \
      const int plane = p * next_plane;                                                                             \
      expanded_here[p] =                                                                                            \
          expanded_at(odd, at(planes, first + plane), at(planes, here + plane), at(planes, after + plane));         \
    }                                                                                                               \
    if (local_x() % EXPAND_THREADS < EXPANDED_COLUMNS) {                                                            \
      UNROLL for (int p = 0; p < 2 * CHANNELS; ++p) {                                                               \
        expanded[(local_x() / EXPAND_THREADS * 2 * CHANNELS + p) * EXPANDED_COLUMNS + local_x() % EXPAND_THREADS] = \
            expanded_here[p];                                                                                       \
      }                                                                                                             \
    }                                                                                                               \
  }

// What a thread's column has in row y + k: to held[] and delayed[].
#define SEE_ROW(k)                                                                                               \
  {                                                                                                              \
    real contrast_base[2 * CHANNELS];                                                                            \
    UNROLL for (int p = 0; p < 2 * CHANNELS; ++p) {                                                              \
      const int i = ((k) * 2 * CHANNELS + p) * EXPANDED_COLUMNS + seen_next;                                     \
      contrast_base[p] = expanded_at(seen_odd, expanded[i - 1 + seen_odd], expanded[i], expanded[i + 1]);        \
    }                                                                                                            \
    const real background = background_of(contrast_base[0]);                                                     \
    const real reciprocal = divide_ordinary(real(1.0f), background);                                             \
    const real reciprocal_distorted = divide_ordinary(real(1.0f), background_of(contrast_base[CHANNELS]));       \
    const real table_place = luminance_place(background);                                                        \
    const int table_index = to_whole(table_place);                                                               \
    const real fraction = table_place - to_real(table_index);                                                    \
    const real4 sensitivity = at(sensitivities, s * 64 + table_index);                                           \
    const real4 growth = at(sensitivities, s * 64 + 32 + table_index);                                           \
    UNROLL for (int c = 0; c < CHANNELS; ++c) {                                                                  \
      const real factor = quick_exp_2(fma(fraction, CHANNEL_OF(growth, c), CHANNEL_OF(sensitivity, c)));         \
      const real a = contrast_of(fetched[(k) * 2 * CHANNELS + c], contrast_base[c], reciprocal);                 \
      const real b =                                                                                             \
          contrast_of(fetched[((k) * 2 + 1) * CHANNELS + c], contrast_base[CHANNELS + c], reciprocal_distorted); \
      held[c * BLUR_HELD + BLUR_HELD - 2 + (k)] = min(abs(a), abs(b)) * factor;                                  \
      delayed[c * DELAYED + DELAYED - 2 + (k)] = abs(b - a) * factor;                                            \
    }                                                                                                            \
  }

#define HELD_PAIR(c, k, away) \
  (held[(c) * BLUR_HELD + REACH + (k) - (away)] + held[(c) * BLUR_HELD + REACH + (k) + (away)])
#define BLURRED_PAIR(i, away) (down_blurred[(i) - (away)] + down_blurred[(i) + (away)])

// The row k behind those that were seen: a thread's column is that of the output.
#define SUM_ROW(k)                                                                                                 \
  {                                                                                                                \
    real masks[CHANNELS];                                                                                          \
    UNROLL for (int c = 0; c < CHANNELS; ++c) {                                                                    \
      const int i = ((k) * CHANNELS + c) * SEEN_COLUMNS + local_x() + REACH;                                       \
      real mask = down_blurred[i];                                                                                 \
      if (is_blurred) {                                                                                            \
        mask = blurred_along(mask, BLURRED_PAIR(i, 1), BLURRED_PAIR(i, 2), BLURRED_PAIR(i, 3), BLURRED_PAIR(i, 4), \
                             BLURRED_PAIR(i, 5), BLURRED_PAIR(i, 6));                                              \
      }                                                                                                            \
      masks[c] = raised(mask, mask_power(c)) - raised(real(0.0f), mask_power(c));                                  \
    }                                                                                                              \
    UNROLL for (int c = 0; c < CHANNELS; ++c) {                                                                    \
      const real difference = differing[((k) * CHANNELS + c) * SEEN_COLUMNS + local_x() + REACH];                  \
      const real apart = raised(difference, real(DIFFERENCE_POWER)) - raised(real(0.0f), real(DIFFERENCE_POWER));  \
      const real seen = seen_difference(apart, MASKING_OF(c), real(LARGEST_DIFFERENCE));                           \
      if (part_rows == TILE_ROWS) {                                                                                \
        total[c] = total[c] + offset_square(seen);                                                                 \
      } else {                                                                                                     \
        STORE_SQUARE(c, y - REACH + (k), offset_square(seen))                                                      \
      }                                                                                                            \
    }                                                                                                              \
  }

// What is seen of a channel in a tile, without a loop: compilers do not unroll one with a barrier in it, and an array
// that it indexes is put in memory.
#define STORE_TOTAL(c)                                                                                                 \
  {                                                                                                                    \
    real sum = total[c];                                                                                               \
    SUM_TILE_COLUMNS(sum)                                                                                              \
    if (part_rows == TILE_ROWS && local_x() % 32 == 0 && local_x() < COMPARED_COLUMNS && left + local_x() < columns) { \
      const int tile = tile_row * tiles_across(width, s) + (left + local_x()) / 32;                                    \
      at(sums, (tiles_before(width, height, s) + tile) * CHANNELS + (c)) = sum;                                        \
    }                                                                                                                  \
  }
#if CHANNELS == 3
#define STORE_TOTALS STORE_TOTAL(0) STORE_TOTAL(1) STORE_TOTAL(2)
#else
#define STORE_TOTALS STORE_TOTAL(0) STORE_TOTAL(1) STORE_TOTAL(2) STORE_TOTAL(3)
#endif

#define COMPARE(FETCH_FIRST)                                                                                         \
  int s = 0;                                                                                                         \
  const int parts = TILE_ROWS / part_rows;                                                                           \
  for (int n = parts * compare_groups(y_begin, y_end, height, 0); group >= n;                                        \
       n = parts * compare_groups(y_begin, y_end, height, s)) {                                                      \
    group -= n;                                                                                                      \
    ++s;                                                                                                             \
  }                                                                                                                  \
  const int columns = scale_side(width, s);                                                                          \
  const int rows = scale_side(height, s);                                                                            \
  const int left = group_x() * COMPARED_COLUMNS;                                                                     \
  const int tile_row = ready_tiles(y_begin, height, s) + group / parts;                                              \
  const int top = tile_row * TILE_ROWS + group % parts * part_rows;                                                  \
  if (left < columns && top < rows) {                                                                                \
    const int next_columns = scale_side(width, s + 1);                                                               \
    const int next_rows = scale_side(height, s + 1);                                                                 \
    const int next_step = row_floats(width, s + 1);                                                                  \
    const int row_step = row_floats(width, s);                                                                       \
    const int plane_size = plane_floats(width, height, s);                                                           \
    const int from = floats_before(width, height, s);                                                                \
    const int next_plane = plane_floats(width, height, s + 1);                                                       \
    const int next_from = floats_before(width, height, s + 1);                                                       \
    const int bottom = min(top + part_rows, rows);                                                                   \
    const bool is_blurred = min(columns, rows) > REACH;                                                              \
    const int expanded_column = clamp(left / 2 - EXPANDED_BEFORE + local_x() % EXPAND_THREADS, 0, next_columns - 1); \
    const int seen_column = mirrored(left - REACH + min(local_x(), SEEN_COLUMNS - 1), columns);                      \
    const int seen_odd = seen_column & 1;                                                                            \
    const int seen_next = seen_column / 2 - left / 2 + EXPANDED_BEFORE;                                              \
    real held[CHANNELS * BLUR_HELD];                                                                                 \
    real delayed[CHANNELS * DELAYED];                                                                                \
    real total[CHANNELS];                                                                                            \
    UNROLL for (int i = 0; i < CHANNELS * BLUR_HELD; ++i) held[i] = real(0.0f);                                      \
    UNROLL for (int i = 0; i < CHANNELS * DELAYED; ++i) delayed[i] = real(0.0f);                                     \
    UNROLL for (int i = 0; i < CHANNELS; ++i) total[i] = real(0.0f);                                                 \
    for (int y = top - REACH; y < bottom + REACH; y += 2) {                                                          \
      real expanded_here[2 * CHANNELS];                                                                              \
      real fetched[4 * CHANNELS];                                                                                    \
      EXPAND_ROWS                                                                                                    \
      UNROLL for (int k = 0; k < 2; ++k) {                                                                           \
        const int row = mirrored(y + k, rows);                                                                       \
        if (s < FIRST_KEPT) {                                                                                        \
          FETCH_FIRST(k, row, seen_column)                                                                           \
        } else {                                                                                                     \
          UNROLL for (int p = 0; p < 2 * CHANNELS; ++p) {                                                            \
            fetched[k * 2 * CHANNELS + p] = at(planes, from + p * plane_size + row * row_step + seen_column);        \
          }                                                                                                          \
        }                                                                                                            \
      }                                                                                                              \
      barrier_group();                                                                                               \
      UNROLL for (int c = 0; c < CHANNELS; ++c) {                                                                    \
        UNROLL for (int i = 0; i < BLUR_HELD - 2; ++i) held[c * BLUR_HELD + i] = held[c * BLUR_HELD + i + 2];        \
        UNROLL for (int i = 0; i < DELAYED - 2; ++i) delayed[c * DELAYED + i] = delayed[c * DELAYED + i + 2];        \
      }                                                                                                              \
      SEE_ROW(0)                                                                                                     \
      SEE_ROW(1)                                                                                                     \
      if (local_x() < SEEN_COLUMNS) {                                                                                \
        UNROLL for (int k = 0; k < 2; ++k) {                                                                         \
          UNROLL for (int c = 0; c < CHANNELS; ++c) {                                                                \
            const int i = (k * CHANNELS + c) * SEEN_COLUMNS + local_x();                                             \
            const real centre = held[c * BLUR_HELD + REACH + k];                                                     \
            real down = real(MASK_SCALE) * centre;                                                                   \
            if (is_blurred) {                                                                                        \
              down = blurred_down(centre, HELD_PAIR(c, k, 1), HELD_PAIR(c, k, 2), HELD_PAIR(c, k, 3),                \
                                  HELD_PAIR(c, k, 4), HELD_PAIR(c, k, 5), HELD_PAIR(c, k, 6));                       \
            }                                                                                                        \
            down_blurred[i] = down;                                                                                  \
            differing[i] = delayed[c * DELAYED + k];                                                                 \
          }                                                                                                          \
        }                                                                                                            \
      }                                                                                                              \
      barrier_group();                                                                                               \
      if (y - REACH >= top && local_x() < COMPARED_COLUMNS && left + local_x() < columns) {                          \
        SUM_ROW(0)                                                                                                   \
        if (y - REACH + 1 < bottom) SUM_ROW(1)                                                                       \
      }                                                                                                              \
    }                                                                                                                \
    STORE_TOTALS                                                                                                     \
  }
