// SPDX-License-Identifier: BSD-2-Clause-Patent
// How a group of threads walks along a strip, for sum_strips of kernels.h and sum_weighted_strips of
// weighted_kernels.h; they have an array `turned` of WALK_FLOATS. Include it after places.h.
//
// One group sums one strip of one channel. sums: for each strip of all scales, and each channel of it, ALL_SUMS floats,
// ALL_SUMS more that the first lack, MAXIMA maxima.
//
// Eight rows of 32 threads sum pixels, four rows of threads walk along the picture's rows: while the ones sum a chunk
// of columns, the others make the next. A thread either sums or walks, so both keep what they have in the same array,
// `held`, and in as many registers as the larger of the two needs.

#define WALK_COLUMNS 32  // of a chunk
#define WALK_ROWS 42     // that the windows of a strip look at
#define WALK_THREADS 12  // rows of threads: SLOTS, and four that walk
#define CHUNK_STRIDE 33  // floats from row to row of a plane, odd so that threads each in a row find different banks

// Planes in shared memory: the windows of the reference and of the distorted picture, of squares, of products, and of
// activity.
#define PLANE_FLOATS (WALK_ROWS * CHUNK_STRIDE)
#define WALK_FLOATS(planes_walked) ((planes_walked) * PLANE_FLOATS)

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
  const int to_distorted = 3 * ring * stride;                                                         \
  const int thread = local_y() * 32 + local_x();

// Rows that the windows look at: those below the last of a scale mirror it.
FUNCTION int looked_at(int row, int rows) { return row < rows ? row : max(2 * (rows - 1) - row, 0); }

// What a thread that walks holds: the last columns of its row of the reference, from eight before the next chunk on;
// sixteen of the distorted picture's row; its part of what is fetched for the next chunk. What else it holds comes
// behind. It is less than the three times SUMS_HELD floats of a thread that sums.
#define FIRST_KEPT (FIRST_COLUMNS - WALK_COLUMNS)
#define SECOND_COLUMNS 48
#define FETCHED_HELD (FIRST_KEPT + 16)
#define FETCHED 21  // rows of 32 samples that a thread has a part in: 84 of both pictures, by four
#define MORE_HELD (FETCHED_HELD + FETCHED)

// Two threads walk along a row, one with the means of both pictures, one with squares and products.
#define FIND_WALK                                                                                         \
  const bool sums_pixels = local_y() < SLOTS;                                                             \
  const bool walks_means = local_y() < SLOTS + 2;                                                         \
  const int walked = (local_y() & 1) * 32 + local_x();                                                    \
  const bool walks = !sums_pixels && walked < WALK_ROWS;                                                  \
  const int stage_row = max(local_y() - SLOTS, 0);                                                        \
  const int stage_place = stage_row * CHUNK_STRIDE + local_x();                                           \
  if (thread < WALK_ROWS) {                                                                               \
    row_from[thread] = reference + ring_row(first + looked_at(thread, rows), first, slot, ring) * stride; \
  }                                                                                                       \
  barrier_group();                                                                                        \
  real held[3 * SUMS_HELD];                                                                               \
  UNROLL for (int i = 0; i < 3 * SUMS_HELD; ++i) held[i] = real(0.0f);                                    \
  real walk1 = real(0.0f);                                                                                \
  real walk2 = real(0.0f);

// The threads that walk fetch the columns that the chunk beginning at `column` adds together, whole rows at a time: of
// the reference, then of the distorted picture, whose first row comes in the middle of the eleventh four.
#define FETCH_CHUNK(column)                                                            \
  UNROLL for (int i = 0; i < FETCHED; ++i) {                                           \
    const bool second = i == FETCHED / 2 ? !walks_means : i > FETCHED / 2;             \
    const int row = stage_row + (4 * i - (second ? WALK_ROWS : 0));                    \
    const int ahead = second ? to_distorted + 8 : FIRST_KEPT - 8;                      \
    held[FETCHED_HELD + i] = at(planes, row_from[row] + (column) + local_x() + ahead); \
  }

// They leave them where the windows of the same row will be, once for either thread that walks along it.
#define STAGE_CHUNK                                                                         \
  UNROLL for (int i = 0; i < FETCHED; ++i) {                                                \
    turned[stage_place + i * 4 * CHUNK_STRIDE] = held[FETCHED_HELD + i];                    \
    turned[stage_place + 2 * PLANE_FLOATS + i * 4 * CHUNK_STRIDE] = held[FETCHED_HELD + i]; \
  }

// The sums of the windows at the first column, and the samples for the first chunk.
#define BEGIN_WALK                                                                              \
  if (walks) {                                                                                  \
    UNROLL for (int i = 0; i < FIRST_KEPT; ++i) held[i] = at(planes, row_from[walked] + i - 8); \
    UNROLL for (int i = 0; i < 16; ++i) {                                                       \
      held[FIRST_KEPT + i] = at(planes, row_from[walked] + to_distorted + i - 8);               \
    }                                                                                           \
    UNROLL for (int i = 8 - WINDOW_RADIUS; i <= 8 + WINDOW_RADIUS; ++i) {                       \
      const real a = held[i];                                                                   \
      const real b = held[FIRST_KEPT + i];                                                      \
      walk1 = walks_means ? walk1 + a : squares_begin(walk1, a, b);                             \
      walk2 = walks_means ? walk2 + b : product_begin(walk2, a, b);                             \
    }                                                                                           \
  }                                                                                             \
  if (!sums_pixels) {                                                                           \
    FETCH_CHUNK(0)                                                                              \
  }

// A chunk: what the windows gain is six columns on, what they lose is five columns back. ALSO is done at each column by
// those who walk with the means.
#define WALK_CHUNK(ALSO)                                                                                \
  {                                                                                                     \
    const int place = (walks_means ? 0 : 2 * PLANE_FLOATS) + walked * CHUNK_STRIDE;                     \
    real row_a[FIRST_COLUMNS];                                                                          \
    real row_b[SECOND_COLUMNS];                                                                         \
    UNROLL for (int i = 0; i < FIRST_KEPT; ++i) row_a[i] = held[i];                                     \
    UNROLL for (int i = 0; i < WALK_COLUMNS; ++i) row_a[FIRST_KEPT + i] = turned[place + i];            \
    UNROLL for (int i = 0; i < FIRST_KEPT; ++i) held[i] = row_a[i + 32];                                \
    if (walks_means) {                                                                                  \
      UNROLL for (int k = 0; k < WALK_COLUMNS; ++k) {                                                   \
        turned[place + k] = window_mean(walk1);                                                         \
        walk1 = window_step(walk1, row_a[k + 14], row_a[k + 3]);                                        \
        ALSO                                                                                            \
      }                                                                                                 \
    }                                                                                                   \
    UNROLL for (int i = 0; i < 16; ++i) row_b[i] = held[FIRST_KEPT + i];                                \
    UNROLL for (int i = 0; i < WALK_COLUMNS; ++i) { row_b[16 + i] = turned[PLANE_FLOATS + place + i]; } \
    UNROLL for (int i = 0; i < 16; ++i) held[FIRST_KEPT + i] = row_b[i + 32];                           \
    if (walks_means) {                                                                                  \
      UNROLL for (int k = 0; k < WALK_COLUMNS; ++k) {                                                   \
        turned[PLANE_FLOATS + place + k] = window_mean(walk2);                                          \
        walk2 = window_step(walk2, row_b[k + 14], row_b[k + 3]);                                        \
      }                                                                                                 \
    } else {                                                                                            \
      UNROLL for (int k = 0; k < WALK_COLUMNS; ++k) {                                                   \
        turned[place + k] = window_mean(walk1);                                                         \
        turned[PLANE_FLOATS + place + k] = window_mean(walk2);                                          \
        walk1 = squares_step(walk1, row_a[k + 14], row_b[k + 14], row_a[k + 3], row_b[k + 3]);          \
        walk2 = product_step(walk2, row_a[k + 14], row_b[k + 14], row_a[k + 3], row_b[k + 3]);          \
      }                                                                                                 \
    }                                                                                                   \
  }

// A thread carries a sum down one column of one of the planes. The sum begins with the strip's first row mirrored; only
// the first strip's pixels begin there too, the others' five rows below.
#define WALK_DOWN                                                                                    \
  {                                                                                                  \
    const int column = local_y() * PLANE_FLOATS + local_x();                                         \
    real of_row[WALK_ROWS];                                                                          \
    UNROLL for (int i = 0; i < WALK_ROWS; ++i) of_row[i] = turned[column + i * CHUNK_STRIDE];        \
    real sum = real(0.0f);                                                                           \
    UNROLL for (int i = -WINDOW_RADIUS; i <= WINDOW_RADIUS; ++i) sum = sum + of_row[i < 0 ? -i : i]; \
    UNROLL for (int n = 0; n < WALK_ROWS - WINDOW_RADIUS; ++n) {                                     \
      turned[column + n * CHUNK_STRIDE] = window_mean(sum);                                          \
      if (n + WINDOW_RADIUS + 1 < WALK_ROWS) {                                                       \
        sum = window_step(sum, of_row[n + WINDOW_RADIUS + 1],                                        \
                          of_row[n < WINDOW_RADIUS ? WINDOW_RADIUS - n : n - WINDOW_RADIUS]);        \
      }                                                                                              \
    }                                                                                                \
  }

// A thread adds up four pixels of a column, a slot.
#define FIND_OWN                                                                          \
  int own_from[SLOT_ROWS];                                                                \
  UNROLL for (int k = 0; k < SLOT_ROWS; ++k) {                                            \
    const int row = min(local_y() * SLOT_ROWS + k, count - 1);                            \
    own_from[k] = reference + ring_row(first + above + row, first, slot, ring) * stride;  \
  }                                                                                       \
  const int own_mean = min(above + local_y() * SLOT_ROWS, 33) * CHUNK_STRIDE + local_x(); \
  real own_a[SLOT_ROWS];                                                                  \
  real own_b[SLOT_ROWS];                                                                  \
  real own_means[SLOT_ROWS * PLANES_WALKED];                                              \
  real own_maxima[MAXIMA];                                                                \
  UNROLL for (int i = 0; i < MAXIMA; ++i) own_maxima[i] = real(0.0f);

#define FETCH_PIXELS_OF_CHUNK                                                                \
  UNROLL for (int k = 0; k < SLOT_ROWS; ++k) {                                               \
    own_a[k] = at(planes, own_from[k] + min(begin + local_x(), columns - 1));                \
    own_b[k] = at(planes, own_from[k] + to_distorted + min(begin + local_x(), columns - 1)); \
  }

// Pixels that the strip does not have become such that add 0 to every sum.
#define FETCH_MEANS                                                                                                   \
  UNROLL for (int plane = 0; plane < PLANES_WALKED; ++plane) {                                                        \
    UNROLL for (int k = 0; k < SLOT_ROWS; ++k) {                                                                      \
      own_means[plane * SLOT_ROWS + k] = turned[plane * PLANE_FLOATS + own_mean + k * CHUNK_STRIDE];                  \
    }                                                                                                                 \
  }                                                                                                                   \
  if (begin + WALK_COLUMNS > columns || count < STRIP_ROWS) {                                                         \
    UNROLL for (int k = 0; k < SLOT_ROWS; ++k) {                                                                      \
      if (begin + local_x() >= columns || local_y() * SLOT_ROWS + k >= count) {                                       \
        own_a[k] = real(0.0f);                                                                                        \
        own_b[k] = real(0.0f);                                                                                        \
        UNROLL for (int plane = 0; plane < PLANES_WALKED; ++plane) { own_means[plane * SLOT_ROWS + k] = real(0.0f); } \
      }                                                                                                               \
    }                                                                                                                 \
  }

// Threads that walk have no pixels; saying so frees their registers.
#define FORGET_PIXELS                                                                   \
  UNROLL for (int k = 0; k < SLOT_ROWS; ++k) {                                          \
    own_a[k] = real(0.0f);                                                              \
    own_b[k] = real(0.0f);                                                              \
  }                                                                                     \
  UNROLL for (int i = 0; i < SLOT_ROWS * PLANES_WALKED; ++i) own_means[i] = real(0.0f); \
  UNROLL for (int i = MORE_HELD + HELD_MORE; i < 3 * SUMS_HELD; ++i) held[i] = real(0.0f);

// Some of the four pixels, of the chunk before the one that begins at `begin`.
#define SUM_PIXELS(first_pixel, end_pixel, ADD_MORE)                                                        \
  {                                                                                                         \
    const bool is_counted = s == 0 && begin - WALK_COLUMNS + local_x() < mirrored_side(width);              \
    const real counted = is_counted ? real(1.0f) : real(0.0f);                                              \
    UNROLL for (int k = (first_pixel); k < (end_pixel); ++k) {                                              \
      const real m1 = own_means[k];                                                                         \
      const real m2 = own_means[SLOT_ROWS + k];                                                             \
      const real loss = structure_loss(m1, m2, own_means[2 * SLOT_ROWS + k], own_means[3 * SLOT_ROWS + k]); \
      const real rest1 = own_a[k] - m1;                                                                     \
      const real rest2 = own_b[k] - m2;                                                                     \
      const real change = edge_change(rest1, rest2);                                                        \
      ADD_BASIC(held, own_maxima, loss, change, own_a[k], own_b[k], rest1, rest2, counted)                  \
      ADD_MORE                                                                                              \
    }                                                                                                       \
  }

// At the end of 128 columns. Behind its plain sums a thread holds the pairs of floats, all first ones before the
// others.
#define CLOSE_CELL                                                      \
  UNROLL for (int i = 0; i < SUMS_HELD; ++i) {                          \
    add_to_pair(held[i], held[SUMS_HELD + i], held[2 * SUMS_HELD + i]); \
    held[i] = real(0.0f);                                               \
  }

// Adds the pairs of all columns by halves, then those of the slots from the top down, of some sums at a time: a thread
// each column's, then a thread each slot's. Shared memory holds 512 floats for each sum.
#define CLOSE_SUMS(first_sum, how_many)                                                               \
  {                                                                                                   \
    barrier_group();                                                                                  \
    if (sums_pixels) {                                                                                \
      UNROLL for (int i = 0; i < (how_many); ++i) {                                                   \
        turned[i * 512 + thread] = held[SUMS_HELD + (first_sum) + i];                                 \
        turned[i * 512 + 256 + thread] = held[2 * SUMS_HELD + (first_sum) + i];                       \
      }                                                                                               \
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
  if (sums_pixels) {                                                                      \
    UNROLL for (int i = 0; i < MAXIMA; ++i) turned[i * 256 + thread] = own_maxima[i];     \
  }                                                                                       \
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

// All of it, but for the sums' end. A chunk is left in shared memory, walked along, walked down, and the windows of its
// pixels are taken to registers, which frees shared memory for the next; its pixels are summed while the first two of
// these happen to the next.
#define WALK_STRIP(BEGIN_MORE, WALK_MORE, ADD_MORE)                            \
  FIND_STRIP                                                                   \
  FIND_WALK                                                                    \
  FIND_OWN                                                                     \
  BEGIN_WALK                                                                   \
  BEGIN_MORE                                                                   \
  for (int begin = 0; begin - WALK_COLUMNS < columns; begin += WALK_COLUMNS) { \
    const bool is_last = begin >= columns;                                     \
    if (sums_pixels) {                                                         \
      if (begin > 0) SUM_PIXELS(0, 1, ADD_MORE)                                \
    } else if (!is_last) {                                                     \
      STAGE_CHUNK                                                              \
      FETCH_CHUNK(min(begin + WALK_COLUMNS, columns))                          \
    }                                                                          \
    barrier_group();                                                           \
    if (walks && !is_last) WALK_CHUNK(WALK_MORE)                               \
    if (sums_pixels && begin > 0) {                                            \
      SUM_PIXELS(1, SLOT_ROWS, ADD_MORE)                                       \
      if ((begin & (CELL_COLUMNS - 1)) == 0) {                                 \
        CLOSE_CELL                                                             \
      }                                                                        \
    }                                                                          \
    barrier_group();                                                           \
    if (local_y() < PLANES_WALKED) WALK_DOWN                                   \
    if (sums_pixels) {                                                         \
      FETCH_PIXELS_OF_CHUNK                                                    \
    }                                                                          \
    barrier_group();                                                           \
    if (sums_pixels) {                                                         \
      FETCH_MEANS                                                              \
    } else {                                                                   \
      FORGET_PIXELS                                                            \
    }                                                                          \
    barrier_group();                                                           \
  }                                                                            \
  /* Where the last cell was complete, this adds zeros. */                     \
  if (sums_pixels) {                                                           \
    CLOSE_CELL                                                                 \
  }                                                                            \
  const int to_sums = ((strips_before(height, s) + strip) * 3 + channel) * (2 * ALL_SUMS + MAXIMA);
