// SPDX-License-Identifier: BSD-2-Clause-Patent
// sum_strips of kernels.h with the features that are weighted by activity. While some threads carry the windows' sums
// along the rows, others do so for the activity of the reference, |a - its window along the row|, for which they go six
// columns ahead.
#include "lang/dialect.h"

#include "lang/exact.h"
#include "metrics/zensim/math.h"
#include "metrics/zensim/places.h"
#include "metrics/zensim/walk.h"

#if KERNEL_HERE(sum_weighted_strips)
SHARED(float, turned, 5 * TURN)
#define FIRST_ACTIVE 64  // of the threads that do

// Sums of activity, of the window it is measured from, six columns ahead, and the last eleven of the former.
#define BEGIN_ACTIVITY                                                                                     \
  const int active_row =                                                                                   \
      reference + ring_row(first + clamp(thread - FIRST_ACTIVE, 0, rows - 1), first, slot, ring) * stride; \
  const bool is_active = thread >= FIRST_ACTIVE && thread - FIRST_ACTIVE < rows;                           \
  real ahead = real(0.0f);                                                                                 \
  real active_sum = real(0.0f);                                                                            \
  real activity[11];                                                                                       \
  UNROLL for (int i = 0; i < 11; ++i) activity[i] = real(0.0f);                                            \
  if (is_active) {                                                                                         \
    for (int i = -WINDOW_RADIUS; i <= WINDOW_RADIUS; ++i) ahead = ahead + at(planes, active_row + i);      \
    UNROLL for (int i = 0; i <= WINDOW_RADIUS; ++i) {                                                      \
      activity[5 + i] = abs(at(planes, active_row + i) - window_mean(ahead));                              \
      activity[5 - i] = activity[5 + i];                                                                   \
      ahead = window_step(ahead, at(planes, active_row + i + WINDOW_RADIUS + 1),                           \
                          at(planes, active_row + i - WINDOW_RADIUS));                                     \
    }                                                                                                      \
    UNROLL for (int i = 0; i < 11; ++i) active_sum = active_sum + activity[i];                             \
  }

// Beyond the last column activity is mirrored.
#define WALK_ACTIVITY                                                                                     \
  if (is_active) {                                                                                        \
    const int to = 4 * TURN + (thread - FIRST_ACTIVE + WINDOW_RADIUS) * TURN_STRIDE;                      \
    for (int part = 0; part < WALK_COLUMNS; part += 8) {                                                  \
      real a[24];                                                                                         \
      UNROLL for (int i = 0; i < 24; i += 8) FETCH_EIGHT(a, i, active_row, begin + part + i) real of[19]; \
      UNROLL for (int i = 0; i < 11; ++i) of[i] = activity[i];                                            \
      UNROLL for (int k = 0; k < 8; ++k) {                                                                \
        turned[to + part + k] = window_mean(active_sum);                                                  \
        const int beyond = begin + part + k + 6 - columns;                                                \
        of[k + 11] = abs(a[k + 6] - window_mean(ahead));                                                  \
        if (beyond >= 0) {                                                                                \
          of[k + 11] = beyond == 0   ? of[k + 9]                                                          \
                       : beyond == 1 ? of[k + 7]                                                          \
                       : beyond == 2 ? of[k + 5]                                                          \
                       : beyond == 3 ? of[k + 3]                                                          \
                                     : of[k + 1];                                                         \
        }                                                                                                 \
        ahead = window_step(ahead, a[k + 12], a[k + 1]);                                                  \
        active_sum = window_step(active_sum, of[k + 11], of[k]);                                          \
      }                                                                                                   \
      UNROLL for (int i = 0; i < 11; ++i) activity[i] = of[i + 8];                                        \
    }                                                                                                     \
  }

#define ADD_BOTH_WEIGHTED                                            \
  const real busy = busyness(OF_PIXEL(4));                           \
  const real calm = divide_ordinary(real(1.0f), busy);               \
  ADD_WEIGHTED(own_sums, 18, calm, loss, change, own_a[k], own_b[k]) \
  ADD_WEIGHTED(own_sums, 24, busy, loss, change, own_a[k], own_b[k])

KERNEL(sum_weighted_strips, 32, 8, f32_in planes, f32x4_in planes4, f32_out sums, int width, int height, int y_begin,
       int y_end, int band) {
  FIND_STRIP
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
    WALK_ALONG_ROWS
    WALK_ACTIVITY
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
