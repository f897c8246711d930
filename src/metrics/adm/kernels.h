// SPDX-License-Identifier: BSD-2-Clause-Patent
// ADM in whole numbers on the GPU: one kernel for each scale. Each adds nine numbers for each row of details: the third
// powers of the reference, of what is visible of the restored part, and of the added part, three subbands of each.
// These sums are rounded row by row, which the host does. `runs_on` and `behind` are those of metrics/adm/row_ends.h.
#include "lang/dialect.h"

#include "frames/plane_samples.h"
#include "metrics/adm/math.h"

#define CELL_COLUMNS 61
#define CELL_ROWS 14
#define ROW_SUMS 9

SHUFFLES(256)
SHARED(natural, around, 2 * 16 * 64)
#define AROUND(part, row, column) around[((part) * 16 + (row)) * 64 + (column)]

// The row or column an index past the ends stands for: at the upper end without doubling the first.
FUNCTION int input_index(int i, int size) { return i < 0 ? -i : (i >= size ? 2 * size - 1 - i : i); }

// A column filtered down, of both pictures.
struct Filtered {
  whole low_a;
  whole high_a;
  whole low_b;
  whole high_b;
};

// The sum of 32 threads that have the same local_y().
FUNCTION whole64 row_sum(whole64 value) {
  natural64 sum = to_natural64(value);
  UNROLL for (int half_way = 16; half_way >= 1; half_way /= 2) {
    const whole low = shuffle_xor(to_whole(sum), half_way);
    const whole high = shuffle_xor(to_whole(sum >> 32), half_way);
    sum += to_natural64(to_natural(low)) | to_natural64(to_natural(high)) << 32;
  }
  return to_whole64(sum);
}

// ---------------------------------------------------------------------------------------------------------------------
// Scale 0: samples, counted from the middle of their range. Filtered columns have 16 bits, the low one in the lower
// half of a word. So do the approximations: that of the reference is in the lower half.

#if KERNEL_HERE(measure_scale_0)
#define NEEDS_measure_scale_0 ~, needs_int64 | needs_double
#define ROOM_measure_scale_0 ~, 2
#define IS_SCALE_0 1
#define GROUP_CELLS 4
SHARED(natural, filtered, 2 * 8 * 128)
#define FETCH_FOUR(x, rows)                                                                                    \
  if (bits == 8) {                                                                                             \
    UNROLL for (int f = 0; f < 4; ++f) a[f] = code8_at(reference, rows[f] * reference_row_bytes + (x));        \
    UNROLL for (int f = 0; f < 4; ++f) b[f] = code8_at(distorted, rows[f] * distorted_row_bytes + (x));        \
  } else {                                                                                                     \
    UNROLL for (int f = 0; f < 4; ++f) a[f] = code16_at(reference, rows[f] * (reference_row_bytes / 2) + (x)); \
    UNROLL for (int f = 0; f < 4; ++f) b[f] = code16_at(distorted, rows[f] * (distorted_row_bytes / 2) + (x)); \
  }                                                                                                            \
  UNROLL for (int f = 0; f < 4; ++f) {                                                                         \
    a[f] = (a[f] << added_bits) - (1 << (depth - 1));                                                          \
    b[f] = (b[f] << added_bits) - (1 << (depth - 1));                                                          \
  }
#define FILTER_DOWN                                                         \
  const whole half_down = 1 << (depth - 1);                                 \
  down.low_a = (low_filter(a[0], a[1], a[2], a[3]) + half_down) >> depth;   \
  down.high_a = (high_filter(a[0], a[1], a[2], a[3]) + half_down) >> depth; \
  down.low_b = (low_filter(b[0], b[1], b[2], b[3]) + half_down) >> depth;   \
  down.high_b = (high_filter(b[0], b[1], b[2], b[3]) + half_down) >> depth;
#define PACK_PAIR(low, high) (to_natural(low) & natural(65535u)) | (to_natural(high) << 16)
#define STORE_FILTERED(k)                                               \
  filtered[local_y() * 128 + (k)] = PACK_PAIR(down.low_a, down.high_a); \
  filtered[(local_y() + 8) * 128 + (k)] = PACK_PAIR(down.low_b, down.high_b);
#define LOAD_FILTERED(k)                                        \
  const natural pair_a = filtered[local_y() * 128 + (k)];       \
  const natural pair_b = filtered[(local_y() + 8) * 128 + (k)]; \
  down.low_a = wrapped_16(to_whole(pair_a));                    \
  down.high_a = to_whole(pair_a) >> 16;                         \
  down.low_b = wrapped_16(to_whole(pair_b));                    \
  down.high_b = to_whole(pair_b) >> 16;
#define FILTER_LOW(v) ((low_filter(v[0], v[1], v[2], v[3]) + 32768) >> 16)
#define FILTER_HIGH(v) ((high_filter(v[0], v[1], v[2], v[3]) + 32768) >> 16)
#define STORE_APPROXIMATION(place, of_a, of_b) at(next, place) = PACK_PAIR(of_a, of_b);

// Samples of 8 or 16 `bits` in memory are shifted by `added_bits`, which makes them `depth` bits.
KERNEL(measure_scale_0, 32, 8, samples_in reference, samples_in distorted, u32_out next, i64_out row_sums, wide gain,
       int reference_row_bytes, int distorted_row_bytes, int bits, int added_bits, int depth, int input_width,
       int input_height, int left, int right, int top, int bottom, int straight_factor, int diagonal_factor,
       int rounded_columns, int saturated_columns, int wide_columns, int mask_bits, int flags) {
  const int width = (input_width + 1) / 2;
  const int height = (input_height + 1) / 2;
  const int has_details = flags & 1;
  const int skips_aim = flags & 2;
  const int runs_on = flags & 4;
  const int has_next = 1;
#include "metrics/adm/scale_kernel.h"
}
#undef IS_SCALE_0
#undef GROUP_CELLS
#undef FETCH_FOUR
#undef FILTER_DOWN
#undef STORE_FILTERED
#undef LOAD_FILTERED
#undef FILTER_LOW
#undef FILTER_HIGH
#undef STORE_APPROXIMATION
#endif

// ---------------------------------------------------------------------------------------------------------------------
// The other scales: approximations, of which those of scale 0 have 16 bits, both pictures in a word, and others 32 bits
// in two words. Filtered columns have 32 bits.

#if KERNEL_HERE(measure_scale_1) || KERNEL_HERE(measure_scale_2)
#define IS_SCALE_0 0
#define GROUP_CELLS 1
SHARED(whole, filtered_long, 4 * 8 * 128)
#define FILTERED_LONG(part, k) filtered_long[((part) * 8 + local_y()) * 128 + (k)]
#define STORE_FILTERED(k)            \
  FILTERED_LONG(0, k) = down.low_a;  \
  FILTERED_LONG(1, k) = down.high_a; \
  FILTERED_LONG(2, k) = down.low_b;  \
  FILTERED_LONG(3, k) = down.high_b;
#define LOAD_FILTERED(k)             \
  down.low_a = FILTERED_LONG(0, k);  \
  down.high_a = FILTERED_LONG(1, k); \
  down.low_b = FILTERED_LONG(2, k);  \
  down.high_b = FILTERED_LONG(3, k);
#define FILTER_LOW(v) rounded_shift(low_filter_64(v[0], v[1], v[2], v[3]), column_bits)
#define FILTER_HIGH(v) rounded_shift(high_filter_64(v[0], v[1], v[2], v[3]), column_bits)
#define STORE_APPROXIMATION(place, of_a, of_b) \
  at(next, 2 * (place)) = of_a;                \
  at(next, 2 * (place) + 1) = of_b;
#define UNPACK_FLAGS                         \
  const int width = (input_width + 1) / 2;   \
  const int height = (input_height + 1) / 2; \
  const int has_details = 1;                 \
  const int skips_aim = flags & 2;           \
  const int runs_on = flags & 4;             \
  const int has_behind = flags & 8;          \
  const int has_next = flags & 16;
#endif

#if KERNEL_HERE(measure_scale_1)
#define NEEDS_measure_scale_1 ~, needs_int64 | needs_double
#define ROOM_measure_scale_1 ~, 2
#define FETCH_FOUR(x, rows)                                                        \
  UNROLL for (int f = 0; f < 4; ++f) a[f] = at(from, rows[f] * input_width + (x)); \
  UNROLL for (int f = 0; f < 4; ++f) {                                             \
    b[f] = a[f] >> 16;                                                             \
    a[f] = wrapped_16(a[f]);                                                       \
  }
#define FILTER_DOWN                                  \
  down.low_a = low_filter(a[0], a[1], a[2], a[3]);   \
  down.high_a = high_filter(a[0], a[1], a[2], a[3]); \
  down.low_b = low_filter(b[0], b[1], b[2], b[3]);   \
  down.high_b = high_filter(b[0], b[1], b[2], b[3]);
KERNEL(measure_scale_1, 32, 8, i32_in from, i32_out next, i64_out row_sums, i32_in behind, i32_out behind_out,
       wide gain, int input_width, int input_height, int left, int right, int top, int bottom, natural straight_factor,
       natural diagonal_factor, int mask_bits, int square_bits, int cube_bits, int column_bits, int flags){UNPACK_FLAGS
#include "metrics/adm/scale_kernel.h"
}
#undef FETCH_FOUR
#undef FILTER_DOWN
#endif

#if KERNEL_HERE(measure_scale_2)
#define NEEDS_measure_scale_2 ~, needs_int64 | needs_double
#define ROOM_measure_scale_2 ~, 2
#define FETCH_FOUR(x, rows)                                                              \
  UNROLL for (int f = 0; f < 4; ++f) a[f] = at(from, 2 * (rows[f] * input_width + (x))); \
  UNROLL for (int f = 0; f < 4; ++f) b[f] = at(from, 2 * (rows[f] * input_width + (x)) + 1);
#define FILTER_DOWN                                                        \
  down.low_a = rounded_shift(low_filter_64(a[0], a[1], a[2], a[3]), 16);   \
  down.high_a = rounded_shift(high_filter_64(a[0], a[1], a[2], a[3]), 16); \
  down.low_b = rounded_shift(low_filter_64(b[0], b[1], b[2], b[3]), 16);   \
  down.high_b = rounded_shift(high_filter_64(b[0], b[1], b[2], b[3]), 16);
// Scale 3 as well.
KERNEL(measure_scale_2, 32, 8, i32_in from, i32_out next, i64_out row_sums, i32_in behind, i32_out behind_out,
       wide gain, int input_width, int input_height, int left, int right, int top, int bottom, natural straight_factor,
       natural diagonal_factor, int mask_bits, int square_bits, int cube_bits, int column_bits, int flags) {
  UNPACK_FLAGS
#include "metrics/adm/scale_kernel.h"
}
#undef FETCH_FOUR
#undef FILTER_DOWN
#endif

#undef IS_SCALE_0
#undef GROUP_CELLS
#undef STORE_FILTERED
#undef LOAD_FILTERED
#undef FILTER_LOW
#undef FILTER_HIGH
#undef STORE_APPROXIMATION
#undef ROW_SUMS
#undef CELL_COLUMNS
#undef CELL_ROWS
#undef AROUND
