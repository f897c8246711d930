// SPDX-License-Identifier: BSD-2-Clause-Patent
// sum_strips of kernels.h with the features that are weighted by activity. The threads that carry the means along the
// rows do so for the activity of the reference, |a - its window along the row|, too, for which they look six columns
// ahead.
#include "lang/dialect.h"

#include "lang/exact.h"
#include "metrics/zensim/math.h"
#include "metrics/zensim/places.h"
#include "metrics/zensim/walk.h"

#if KERNEL_HERE(sum_weighted_strips)
#undef FIRST_COLUMNS
#undef PLANES_WALKED
#undef SUMS_HELD
#undef HELD_MORE
#define FIRST_COLUMNS 52
#define PLANES_WALKED 5
#define SUMS_HELD ALL_SUMS
#define HELD_MORE 13
SHARED(float, turned, WALK_FLOATS(PLANES_WALKED))
SHARED(int, row_from, WALK_ROWS)
#define ROOM_sum_weighted_strips ~, 1

// What else is held: activity's window before the next chunk, eleven of it, then its sum, and the sum of the window
// that it is measured from, six columns ahead.
#define ACTIVITY(i) held[MORE_HELD + (i)]
#define ACTIVITY_SUM held[MORE_HELD + 11]
#define AHEAD held[MORE_HELD + 12]

#define BEGIN_ACTIVITY                                                                           \
  real around[WALK_COLUMNS + 11];                                                                \
  if (walks) {                                                                                   \
    AHEAD = real(0.0f);                                                                          \
    ACTIVITY_SUM = real(0.0f);                                                                   \
    UNROLL for (int i = 8 - WINDOW_RADIUS; i <= 8 + WINDOW_RADIUS; ++i) AHEAD = AHEAD + held[i]; \
    UNROLL for (int i = 0; i <= WINDOW_RADIUS; ++i) {                                            \
      ACTIVITY(5 + i) = abs(held[8 + i] - window_mean(AHEAD));                                   \
      ACTIVITY(5 - i) = ACTIVITY(5 + i);                                                         \
      AHEAD = window_step(AHEAD, held[i + 14], held[i + 3]);                                     \
    }                                                                                            \
    UNROLL for (int i = 0; i < 11; ++i) ACTIVITY_SUM = ACTIVITY_SUM + ACTIVITY(i);               \
  }

// At column k of a chunk. Beyond the last column activity is mirrored.
#define WALK_ACTIVITY                                                  \
  if (k == 0) {                                                        \
    UNROLL for (int i = 0; i < 11; ++i) around[i] = ACTIVITY(i);       \
  }                                                                    \
  turned[4 * PLANE_FLOATS + place + k] = window_mean(ACTIVITY_SUM);    \
  const int beyond = begin + k + 6 - columns;                          \
  around[k + 11] = abs(row_a[k + 14] - window_mean(AHEAD));            \
  if (beyond >= 0) {                                                   \
    around[k + 11] = beyond == 0   ? around[k + 9]                     \
                     : beyond == 1 ? around[k + 7]                     \
                     : beyond == 2 ? around[k + 5]                     \
                     : beyond == 3 ? around[k + 3]                     \
                                   : around[k + 1];                    \
  }                                                                    \
  AHEAD = window_step(AHEAD, row_a[k + 20], row_a[k + 9]);             \
  ACTIVITY_SUM = window_step(ACTIVITY_SUM, around[k + 11], around[k]); \
  if (k == WALK_COLUMNS - 1) {                                         \
    UNROLL for (int i = 0; i < 11; ++i) ACTIVITY(i) = around[i + 32];  \
  }

#define ADD_BOTH_WEIGHTED                                        \
  const real busy = busyness(own_means[4 * SLOT_ROWS + k]);      \
  const real calm = divide_ordinary(real(1.0f), busy);           \
  ADD_WEIGHTED(held, 18, calm, loss, change, own_a[k], own_b[k]) \
  ADD_WEIGHTED(held, 24, busy, loss, change, own_a[k], own_b[k])

KERNEL(sum_weighted_strips, 32, WALK_THREADS, f32_in planes, f32_out sums, int width, int height, int y_begin,
       int y_end, int band) {
  WALK_STRIP(BEGIN_ACTIVITY, WALK_ACTIVITY, ADD_BOTH_WEIGHTED)
  CLOSE_SUMS(0, 10)
  CLOSE_SUMS(10, 10)
  CLOSE_SUMS(20, 10)
  CLOSE_MAXIMA
}
#endif
