// SPDX-License-Identifier: BSD-2-Clause-Patent
// sum_strips of kernels.h with the features that are weighted by activity. The threads that carry the windows' sums
// along the rows do so for the activity of the reference, |a - its window along the row|, too, for which they look six
// columns ahead.
#include "lang/dialect.h"

#include "lang/exact.h"
#include "metrics/zensim/math.h"
#include "metrics/zensim/places.h"
#undef FIRST_STRIDE
#define FIRST_STRIDE 49  // activity is measured six columns ahead
#include "metrics/zensim/walk.h"

#if KERNEL_HERE(sum_weighted_strips)
SHARED(float, turned, WALK_FLOATS(5))
#define ROOM_sum_weighted_strips ~, 2

// Sums of activity, of the window it is measured from, six columns ahead, and the last eleven of the former.
#define BEGIN_ACTIVITY                                                                                         \
  real ahead = real(0.0f);                                                                                     \
  real active_sum = real(0.0f);                                                                                \
  real activity[11];                                                                                           \
  UNROLL for (int i = 0; i < 11; ++i) activity[i] = real(0.0f);                                                \
  if (thread < WALK_ROWS) {                                                                                    \
    for (int i = -WINDOW_RADIUS; i <= WINDOW_RADIUS; ++i) ahead = ahead + at(planes, reference + own_row + i); \
    UNROLL for (int i = 0; i <= WINDOW_RADIUS; ++i) {                                                          \
      activity[5 + i] = abs(at(planes, reference + own_row + i) - window_mean(ahead));                         \
      activity[5 - i] = activity[5 + i];                                                                       \
      ahead = window_step(ahead, at(planes, reference + own_row + i + WINDOW_RADIUS + 1),                      \
                          at(planes, reference + own_row + i - WINDOW_RADIUS));                                \
    }                                                                                                          \
    UNROLL for (int i = 0; i < 11; ++i) active_sum = active_sum + activity[i];                                 \
  }

// Of eight columns. Beyond the last column activity is mirrored.
#define WALK_ACTIVITY                                                \
  real ahead_gained[FETCHED];                                        \
  real ahead_lost[FETCHED];                                          \
  UNROLL for (int k = 0; k < FETCHED; ++k) {                         \
    ahead_gained[k] = turned[place_a + k + WINDOW_RADIUS + 12];      \
    ahead_lost[k] = turned[place_a + k + WINDOW_RADIUS + 1];         \
  }                                                                  \
  real around[19];                                                   \
  UNROLL for (int i = 0; i < 11; ++i) around[i] = activity[i];       \
  UNROLL for (int k = 0; k < FETCHED; ++k) {                         \
    turned[LATER_PLANE(4) + place + k] = window_mean(active_sum);    \
    const int beyond = begin + part + k + 6 - columns;               \
    around[k + 11] = abs(gained_a[k] - window_mean(ahead));          \
    if (beyond >= 0) {                                               \
      around[k + 11] = beyond == 0   ? around[k + 9]                 \
                       : beyond == 1 ? around[k + 7]                 \
                       : beyond == 2 ? around[k + 5]                 \
                       : beyond == 3 ? around[k + 3]                 \
                                     : around[k + 1];                \
    }                                                                \
    ahead = window_step(ahead, ahead_gained[k], ahead_lost[k]);      \
    active_sum = window_step(active_sum, around[k + 11], around[k]); \
  }                                                                  \
  UNROLL for (int i = 0; i < 11; ++i) activity[i] = around[i + 8];

#define ADD_BOTH_WEIGHTED                                             \
  const real busy = busyness(OF_PIXEL(LATER_PLANE(4), CHUNK_STRIDE)); \
  const real calm = divide_ordinary(real(1.0f), busy);                \
  ADD_WEIGHTED(own_sums, 18, calm, loss, change, own_a[k], own_b[k])  \
  ADD_WEIGHTED(own_sums, 24, busy, loss, change, own_a[k], own_b[k])

KERNEL(sum_weighted_strips, 32, 8, f32_in planes, f32_out sums, int width, int height, int y_begin, int y_end,
       int band) {
  FIND_STRIP
  FIND_STAGED
  FIND_OWN
  BEGIN_ROWS
  BEGIN_ACTIVITY
  real own_sums[ALL_SUMS];
  real own_high[ALL_SUMS];
  real own_low[ALL_SUMS];
  real own_maxima[MAXIMA];
  UNROLL for (int i = 0; i < ALL_SUMS; ++i) {
    own_sums[i] = real(0.0f);
    own_high[i] = real(0.0f);
    own_low[i] = real(0.0f);
  }
  UNROLL for (int i = 0; i < MAXIMA; ++i) own_maxima[i] = real(0.0f);
  for (int begin = 0; begin < columns; begin += WALK_COLUMNS) {
    STAGE_SAMPLES
    barrier_group();
    WALK_ALONG_ROWS(WALK_ACTIVITY)
    barrier_group();
    WALK_DOWN_COLUMNS(5)
    FETCH_PIXELS_OF_CHUNK
    barrier_group();
    SUM_PIXELS(ADD_BOTH_WEIGHTED)
    barrier_group();
    if ((begin & (CELL_COLUMNS - 1)) == CELL_COLUMNS - WALK_COLUMNS) {
      CLOSE_CELL(ALL_SUMS)
    }
  }
  CLOSE_CELL(ALL_SUMS)
  FIND_SUMS
  CLOSE_SUMS(0, 15)
  CLOSE_SUMS(15, 15)
  CLOSE_MAXIMA
}
#endif
