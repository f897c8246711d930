// SPDX-License-Identifier: BSD-2-Clause-Patent
// How a group of threads walks along a strip, for sum_strips of kernels.h and sum_weighted_strips of
// weighted_kernels.h; they have an array `turned` of TURN floats for each plane of windows. Include it after places.h.
//
// One group sums one strip of one channel. sums: for each strip of all scales, and each channel of it, ALL_SUMS floats,
// ALL_SUMS more that the first lack, MAXIMA maxima.

#define WALK_COLUMNS 32            // of a chunk
#define WALK_ROWS 42               // that the windows of a strip look at
#define TURN_ROWS (WALK_ROWS + 5)  // in shared memory, where the means of windows take the place of what is above them
#define TURN_STRIDE (WALK_COLUMNS + 1)
#define TURN (TURN_ROWS * TURN_STRIDE)
#define CHUNKS_OF_CELL (CELL_COLUMNS / WALK_COLUMNS)
#define FETCHED 8  // rows that the windows go down at a time

// Turns of the first stage: 8 columns. before[8 + i] is column x + i.
#define FETCH_EIGHT(to, first, row, from_x)                          \
  {                                                                  \
    const real4 low_four = at(planes4, ((row) + (from_x)) / 4);      \
    const real4 high_four = at(planes4, ((row) + (from_x)) / 4 + 1); \
    to[(first)] = low_four.x;                                        \
    to[(first) + 1] = low_four.y;                                    \
    to[(first) + 2] = low_four.z;                                    \
    to[(first) + 3] = low_four.w;                                    \
    to[(first) + 4] = high_four.x;                                   \
    to[(first) + 5] = high_four.y;                                   \
    to[(first) + 6] = high_four.z;                                   \
    to[(first) + 7] = high_four.w;                                   \
  }

// The group's strip: which scale, which strip, where its rows lie.
#define FIND_STRIP                                                                                    \
  int s = 0;                                                                                          \
  int number = group_y();                                                                             \
  for (int n = ready_strips(y_end, height, 0) - ready_strips(y_begin, height, 0); number >= n;        \
       n = ready_strips(y_end, height, s) - ready_strips(y_begin, height, s)) {                       \
    number -= n;                                                                                      \
    ++s;                                                                                              \
  }                                                                                                   \
  const int strip = ready_strips(y_begin, height, s) + number;                                        \
  const int channel = group_x();                                                                      \
  const int columns = scale_width(width, s);                                                          \
  const int stride = stride_of(width, s);                                                             \
  const int ring = ring_of(height, band, s);                                                          \
  const int above = strip == 0 ? 0 : WINDOW_RADIUS;                                                   \
  const int first = strip * STRIP_ROWS - above;                                                       \
  const int count = min(scale_height(height, s) - strip * STRIP_ROWS, STRIP_ROWS);                    \
  const int rows = min(strip * STRIP_ROWS + count + WINDOW_RADIUS, scale_height(height, s)) - first;  \
  const int slot = first % ring;                                                                      \
  const int reference = 6 * floats_before(width, height, band, s) + channel * ring * stride + BESIDE; \
  const int distorted = reference + 3 * ring * stride;                                                \
  const int thread = local_y() * 32 + local_x();

// First stage: a thread carries the windows' sums along one row. Rows are those the windows look at, threads beyond
// them repeat the last.
#define BEGIN_ROWS                                                                         \
  const int own_row = ring_row(first + min(thread, rows - 1), first, slot, ring) * stride; \
  real mean1 = real(0.0f);                                                                 \
  real mean2 = real(0.0f);                                                                 \
  real squares = real(0.0f);                                                               \
  real product = real(0.0f);                                                               \
  if (thread < WALK_ROWS) {                                                                \
    for (int i = -WINDOW_RADIUS; i <= WINDOW_RADIUS; ++i) {                                \
      const real a = at(planes, reference + own_row + i);                                  \
      const real b = at(planes, distorted + own_row + i);                                  \
      mean1 = mean1 + a;                                                                   \
      mean2 = mean2 + b;                                                                   \
      squares = squares_begin(squares, a, b);                                              \
      product = product_begin(product, a, b);                                              \
    }                                                                                      \
  }

#define WALK_ALONG_ROWS                                                            \
  if (thread < rows) {                                                             \
    real a[24];                                                                    \
    real b[24];                                                                    \
    UNROLL for (int i = 0; i < 24; i += 8) {                                       \
      FETCH_EIGHT(a, i, reference + own_row, begin - 8 + i)                        \
      FETCH_EIGHT(b, i, distorted + own_row, begin - 8 + i)                        \
    }                                                                              \
    const int to = (thread + WINDOW_RADIUS) * TURN_STRIDE;                         \
    UNROLL for (int part = 0; part < WALK_COLUMNS; part += 8) {                    \
      real next_a[8];                                                              \
      real next_b[8];                                                              \
      if (part + 8 < WALK_COLUMNS) {                                               \
        FETCH_EIGHT(next_a, 0, reference + own_row, begin + part + 16)             \
        FETCH_EIGHT(next_b, 0, distorted + own_row, begin + part + 16)             \
      }                                                                            \
      UNROLL for (int k = 0; k < 8; ++k) {                                         \
        turned[to + part + k] = window_mean(mean1);                                \
        turned[TURN + to + part + k] = window_mean(mean2);                         \
        turned[2 * TURN + to + part + k] = window_mean(squares);                   \
        turned[3 * TURN + to + part + k] = window_mean(product);                   \
        mean1 = window_step(mean1, a[14 + k], a[3 + k]);                           \
        mean2 = window_step(mean2, b[14 + k], b[3 + k]);                           \
        squares = squares_step(squares, a[14 + k], b[14 + k], a[3 + k], b[3 + k]); \
        product = product_step(product, a[14 + k], b[14 + k], a[3 + k], b[3 + k]); \
      }                                                                            \
      if (part + 8 < WALK_COLUMNS) {                                               \
        UNROLL for (int i = 0; i < 16; ++i) {                                      \
          a[i] = a[i + 8];                                                         \
          b[i] = b[i + 8];                                                         \
        }                                                                          \
        UNROLL for (int i = 0; i < 8; ++i) {                                       \
          a[16 + i] = next_a[i];                                                   \
          b[16 + i] = next_b[i];                                                   \
        }                                                                          \
      }                                                                            \
    }                                                                              \
  }

// Second stage: a thread carries a sum down one column of one of the planes that the first left.
FUNCTION int gained_row(int n, int rows) {
  const int next = n + WINDOW_RADIUS + 1;
  return clamp(next < rows ? next : 2 * (rows - 1) - next, 0, WALK_ROWS - 1);
}

#define WALK_DOWN_COLUMNS(planes_turned)                                                             \
  if (thread < (planes_turned) * WALK_COLUMNS) {                                                     \
    const int column = (thread / WALK_COLUMNS) * TURN + WINDOW_RADIUS * TURN_STRIDE + local_x();     \
    real sum = real(0.0f);                                                                           \
    UNROLL for (int i = -WINDOW_RADIUS; i <= WINDOW_RADIUS; ++i) {                                   \
      sum = sum + turned[column + (i < 0 ? -i : i) * TURN_STRIDE];                                   \
    }                                                                                                \
    for (int n = 0; n < rows; n += FETCHED) {                                                        \
      real gained[FETCHED];                                                                          \
      real lost[FETCHED];                                                                            \
      UNROLL for (int k = 0; k < FETCHED; ++k) {                                                     \
        const int back = n + k - WINDOW_RADIUS;                                                      \
        gained[k] = turned[column + gained_row(n + k, rows) * TURN_STRIDE];                          \
        lost[k] = turned[column + min(back < 0 ? -back : back, WALK_ROWS - 1) * TURN_STRIDE];        \
      }                                                                                              \
      UNROLL for (int k = 0; k < FETCHED; ++k) {                                                     \
        if (n + k < rows) turned[column + (n + k - WINDOW_RADIUS) * TURN_STRIDE] = window_mean(sum); \
        sum = window_step(sum, gained[k], lost[k]);                                                  \
      }                                                                                              \
    }                                                                                                \
  }

// Third stage: a thread adds up four pixels of a column. The fetches stand before the barrier.
#define FETCH_PIXELS_OF_CHUNK                                                                            \
  const int x = begin + local_x();                                                                       \
  real own_a[SLOT_ROWS];                                                                                 \
  real own_b[SLOT_ROWS];                                                                                 \
  UNROLL for (int k = 0; k < SLOT_ROWS; ++k) {                                                           \
    const int from_row =                                                                                 \
        ring_row(first + above + min(local_y() * SLOT_ROWS + k, count - 1), first, slot, ring) * stride; \
    own_a[k] = at(planes, reference + from_row + min(x, columns - 1));                                   \
    own_b[k] = at(planes, distorted + from_row + min(x, columns - 1));                                   \
  }

#define OF_PIXEL(plane) turned[(plane) * TURN + (above + local_y() * SLOT_ROWS + k) * TURN_STRIDE + local_x()]

#define SUM_PIXELS(ADD_MORE)                                                                     \
  if (x < columns) {                                                                             \
    const real counted = s == 0 && x < mirrored_side(width) ? real(1.0f) : real(0.0f);           \
    UNROLL for (int k = 0; k < SLOT_ROWS; ++k) {                                                 \
      if (local_y() * SLOT_ROWS + k < count) {                                                   \
        const real m1 = OF_PIXEL(0);                                                             \
        const real m2 = OF_PIXEL(1);                                                             \
        const real loss = structure_loss(m1, m2, OF_PIXEL(2), OF_PIXEL(3));                      \
        const real rest1 = own_a[k] - m1;                                                        \
        const real rest2 = own_b[k] - m2;                                                        \
        const real change = edge_change(rest1, rest2);                                           \
        ADD_BASIC(own_sums, own_maxima, loss, change, own_a[k], own_b[k], rest1, rest2, counted) \
        ADD_MORE                                                                                 \
      }                                                                                          \
    }                                                                                            \
  }

#define CLOSE_CELL(count_of_sums)                      \
  UNROLL for (int i = 0; i < (count_of_sums); ++i) {   \
    add_to_pair(own_sums[i], own_high[i], own_low[i]); \
    own_sums[i] = real(0.0f);                          \
  }

// Adds the pairs of all columns by halves, then those of the slots from the top down, of some sums at a time: a thread
// each column's, then a thread each slot's. Shared memory holds 512 floats for each sum.
#define CLOSE_SUMS(first_sum, how_many)                                                               \
  {                                                                                                   \
    barrier_group();                                                                                  \
    UNROLL for (int i = 0; i < (how_many); ++i) {                                                     \
      turned[i * 512 + thread] = own_high[(first_sum) + i];                                           \
      turned[i * 512 + 256 + thread] = own_low[(first_sum) + i];                                      \
    }                                                                                                 \
    barrier_group();                                                                                  \
    real highs[16];                                                                                   \
    real lows[16];                                                                                    \
    const int from = min(thread / SLOTS, (how_many) - 1) * 512 + thread % SLOTS * LANES;              \
    UNROLL for (int i = 0; i < 16; ++i) {                                                             \
      highs[i] = turned[from + i];                                                                    \
      lows[i] = turned[from + 256 + i];                                                               \
      add_pairs(turned[from + 16 + i], turned[from + 256 + 16 + i], highs[i], lows[i]);               \
    }                                                                                                 \
    UNROLL for (int i = 0; i < 8; ++i) add_pairs(highs[i + 8], lows[i + 8], highs[i], lows[i]);       \
    UNROLL for (int i = 0; i < 4; ++i) add_pairs(highs[i + 4], lows[i + 4], highs[i], lows[i]);       \
    UNROLL for (int i = 0; i < 2; ++i) add_pairs(highs[i + 2], lows[i + 2], highs[i], lows[i]);       \
    add_pairs(highs[1], lows[1], highs[0], lows[0]);                                                  \
    barrier_group();                                                                                  \
    turned[2 * thread] = highs[0];                                                                    \
    turned[2 * thread + 1] = lows[0];                                                                 \
    barrier_group();                                                                                  \
    if (thread < (how_many)) {                                                                        \
      real high = turned[2 * thread * SLOTS];                                                         \
      real low = turned[2 * thread * SLOTS + 1];                                                      \
      for (int k = 1; k < SLOTS; ++k) {                                                               \
        add_pairs(turned[2 * (thread * SLOTS + k)], turned[2 * (thread * SLOTS + k) + 1], high, low); \
      }                                                                                               \
      at(sums, to_sums + (first_sum) + thread) = high;                                                \
      at(sums, to_sums + ALL_SUMS + (first_sum) + thread) = low;                                      \
    }                                                                                                 \
  }

#define CLOSE_MAXIMA                                                                      \
  barrier_group();                                                                        \
  UNROLL for (int i = 0; i < MAXIMA; ++i) turned[i * 256 + thread] = own_maxima[i];       \
  barrier_group();                                                                        \
  real most = real(0.0f);                                                                 \
  if (thread < MAXIMA * SLOTS) {                                                          \
    for (int i = 0; i < LANES; ++i) most = max(most, turned[thread * LANES + i]);         \
  }                                                                                       \
  barrier_group();                                                                        \
  turned[thread] = most;                                                                  \
  barrier_group();                                                                        \
  if (thread < MAXIMA) {                                                                  \
    real of_strip = real(0.0f);                                                           \
    for (int i = 0; i < SLOTS; ++i) of_strip = max(of_strip, turned[thread * SLOTS + i]); \
    at(sums, to_sums + 2 * ALL_SUMS + thread) = of_strip;                                 \
  }

#define FIND_SUMS const int to_sums = ((strips_before(height, s) + strip) * 3 + channel) * (2 * ALL_SUMS + MAXIMA);
