// SPDX-License-Identifier: BSD-2-Clause-Patent
// VIF in whole numbers on the GPU: one kernel for each scale. What they leave is what metrics/vif/cpu.h calls Totals,
// four numbers for each scale, and the samples of the next scale: both pictures in one word, the distorted one in the
// upper half.
#include "lang/dialect.h"

#include "frames/plane_samples.h"
#include "metrics/vif/math.h"

#define CELL_COLUMNS 112
#define CELL_ROWS 8
#define THREAD_PIXELS 7  // of a row, which 16 threads share
#define ROW_STRIDE 144   // so that two rows that are read at once lie in different banks
#define MOMENT_STRIDE (CELL_ROWS * ROW_STRIDE)
#define ROWS (CELL_ROWS + 2 * RADIUS)

GROUP_SUMS(128)
SHARED(natural, moments, 4 * CELL_ROWS * ROW_STRIDE)     // both means in one word, then the squares and the product
SHARED(natural, next_means, CELL_ROWS / 2 * ROW_STRIDE)  // both in one word

#define WEIGHT_17(distance)                                                                   \
  ((distance) < 4    ? ((distance) < 2 ? ((distance) == 0 ? natural(7784u) : natural(7455u))  \
                                       : ((distance) == 2 ? natural(6547u) : natural(5274u))) \
   : (distance) < 6  ? ((distance) == 4 ? natural(3896u) : natural(2640u))                    \
   : (distance) == 6 ? natural(1640u)                                                         \
                     : ((distance) == 7 ? natural(935u) : natural(489u)))
#define WEIGHT_9(distance)                                                \
  ((distance) < 2 ? ((distance) == 0 ? natural(14692u) : natural(12590u)) \
                  : ((distance) == 2 ? natural(7925u) : ((distance) == 3 ? natural(3663u) : natural(1244u))))
#define WEIGHT_5(distance) ((distance) == 0 ? natural(26386u) : ((distance) == 1 ? natural(16004u) : natural(3571u)))
#define WEIGHT_3(distance) ((distance) == 0 ? natural(43728u) : natural(10904u))

// Both pictures of a scale that a kernel made.
#define FETCH_PAIRS                                                                                           \
  UNROLL for (int i = 0; i < ROWS; ++i) a[i] = at(samples, mirrored_index(top + i, height) * width + column); \
  UNROLL for (int i = 0; i < ROWS; ++i) {                                                                     \
    b[i] = a[i] >> 16;                                                                                        \
    a[i] = a[i] & natural(65535u);                                                                            \
  }

#if KERNEL_HERE(measure_bytes)
#define NEEDS_measure_bytes ~, needs_int64 | needs_double
#define RADIUS 8
#define WEIGHT WEIGHT_17
#define NEXT_RADIUS 4
#define NEXT_WEIGHT WEIGHT_9
#define FETCH                                                                                               \
  UNROLL for (int i = 0; i < ROWS; ++i) {                                                                   \
    a[i] = to_natural(code8_at(reference, mirrored_index(top + i, height) * reference_row_bytes + column)); \
  }                                                                                                         \
  UNROLL for (int i = 0; i < ROWS; ++i) {                                                                   \
    b[i] = to_natural(code8_at(distorted, mirrored_index(top + i, height) * distorted_row_bytes + column)); \
  }
#define SQUARE natural
#define ADD_SQUARE(sum, weight, x) sum += (weight) * (x)
#define MEAN_SHIFT 8
#define SQUARE_SHIFT 0
#define SQUARE_HALF natural(0u)
KERNEL(measure_bytes, 128, 1, samples_in reference, samples_in distorted, u32_out next, i64_out totals, wide gain_limit,
       int first_total, int reference_row_bytes, int distorted_row_bytes, int width, int height, int measured) {
#include "metrics/vif/scale_kernel.h"
}
#undef RADIUS
#undef WEIGHT
#undef NEXT_RADIUS
#undef NEXT_WEIGHT
#undef FETCH
#undef SQUARE
#undef ADD_SQUARE
#undef MEAN_SHIFT
#undef SQUARE_SHIFT
#undef SQUARE_HALF
#endif

// From here on, products have 32 bits.
#define SQUARE natural64
#define ADD_SQUARE(sum, weight, x) sum += multiply_64(weight, x)

#if KERNEL_HERE(measure_words)
#define NEEDS_measure_words ~, needs_int64 | needs_double
#define RADIUS 8
#define WEIGHT WEIGHT_17
#define NEXT_RADIUS 4
#define NEXT_WEIGHT WEIGHT_9
#define FETCH                                                                            \
  whole fetched[ROWS];                                                                   \
  FETCH_COLUMN(fetched, ROWS, reference, reference_row_bytes, bits, column, top, height) \
  UNROLL for (int i = 0; i < ROWS; ++i) a[i] = to_natural(fetched[i]) << added_bits;     \
  FETCH_COLUMN(fetched, ROWS, distorted, distorted_row_bytes, bits, column, top, height) \
  UNROLL for (int i = 0; i < ROWS; ++i) b[i] = to_natural(fetched[i]) << added_bits;
#define MEAN_SHIFT depth
#define SQUARE_SHIFT (2 * (depth - 8))
#define SQUARE_HALF ((natural64(1UL) << SQUARE_SHIFT) >> 1)
// Samples of 8 or 16 `bits` in memory are shifted by `added_bits`, which makes them `depth` bits, more than 8.
KERNEL(measure_words, 128, 1, samples_in reference, samples_in distorted, u32_out next, i64_out totals, wide gain_limit,
       int first_total, int reference_row_bytes, int distorted_row_bytes, int width, int height, int measured, int bits,
       int added_bits, int depth) {
#include "metrics/vif/scale_kernel.h"
}
#undef RADIUS
#undef WEIGHT
#undef NEXT_RADIUS
#undef NEXT_WEIGHT
#undef FETCH
#undef MEAN_SHIFT
#undef SQUARE_SHIFT
#undef SQUARE_HALF
#endif

#define FETCH FETCH_PAIRS
#define MEAN_SHIFT 16
#define SQUARE_SHIFT 16
#define SQUARE_HALF natural64(32768UL)
#define measured 1

#if KERNEL_HERE(measure_scale_1)
#define NEEDS_measure_scale_1 ~, needs_int64 | needs_double
#define RADIUS 4
#define WEIGHT WEIGHT_9
#define NEXT_RADIUS 2
#define NEXT_WEIGHT WEIGHT_5
KERNEL(measure_scale_1, 128, 1, u32_in samples, u32_out next, i64_out totals, wide gain_limit, int first_total,
       int width, int height) {
#include "metrics/vif/scale_kernel.h"
}
#undef RADIUS
#undef WEIGHT
#undef NEXT_RADIUS
#undef NEXT_WEIGHT
#endif

#if KERNEL_HERE(measure_scale_2)
#define NEEDS_measure_scale_2 ~, needs_int64 | needs_double
#define RADIUS 2
#define WEIGHT WEIGHT_5
#define NEXT_RADIUS 1
#define NEXT_WEIGHT WEIGHT_3
KERNEL(measure_scale_2, 128, 1, u32_in samples, u32_out next, i64_out totals, wide gain_limit, int first_total,
       int width, int height) {
#include "metrics/vif/scale_kernel.h"
}
#undef RADIUS
#undef WEIGHT
#undef NEXT_RADIUS
#undef NEXT_WEIGHT
#endif

#if KERNEL_HERE(measure_scale_3)
#define NEEDS_measure_scale_3 ~, needs_int64 | needs_double
#define RADIUS 1
#define WEIGHT WEIGHT_3
#define NEXT_RADIUS 0
KERNEL(measure_scale_3, 128, 1, u32_in samples, i64_out totals, wide gain_limit, int first_total, int width,
       int height) {
#include "metrics/vif/scale_kernel.h"
}
#endif
#undef RADIUS
#undef WEIGHT
#undef NEXT_RADIUS
#undef FETCH
#undef SQUARE
#undef ADD_SQUARE
#undef MEAN_SHIFT
#undef SQUARE_SHIFT
#undef SQUARE_HALF
#undef measured
#undef ROWS
