// SPDX-License-Identifier: BSD-2-Clause-Patent
// How a group of threads walks along a strip, for sum_strips of kernels.h and sum_weighted_strips of
// weighted_kernels.h; they have an array `turned` of WALK_FLOATS, and define FIRST_STRIDE. Include it after places.h.
//
// One group sums one strip of one channel. sums: for each strip of all scales, and each channel of it, ALL_SUMS floats,
// ALL_SUMS more that the first lack, MAXIMA maxima.

#define WALK_COLUMNS 32   // of a chunk
#define WALK_ROWS 42      // that the windows of a strip look at
#define CHUNK_STRIDE 33   // floats from row to row of a plane, odd so that threads each in a row find different banks
#define STAGED_STRIDE 43  // of a plane where the samples stand first, with those that the windows look at beside
#define CHUNKS_OF_CELL (CELL_COLUMNS / WALK_COLUMNS)
#define FETCHED 8  // columns, or rows, that the windows go on at a time

// Planes in shared memory: the windows of the reference and of the distorted picture, of squares, of products, and of
// activity. FIRST_STRIDE is that of the first, which is wider where activity is measured.
#define SECOND_PLANE (WALK_ROWS * FIRST_STRIDE)
#define LATER_PLANE(plane) (SECOND_PLANE + WALK_ROWS * STAGED_STRIDE + ((plane) - 2) * WALK_ROWS * CHUNK_STRIDE)
#define WALK_FLOATS(planes_walked) (LATER_PLANE(planes_walked) + CHUNK_STRIDE)

FUNCTION int plane_begin(int plane) { return plane == 0 ? 0 : plane == 1 ? SECOND_PLANE : LATER_PLANE(plane); }

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

// Before the first stage all threads fetch a chunk's samples, from five columns before it on.
#define FIND_STAGED                                                                                            \
  int staged_from[6];                                                                                          \
  UNROLL for (int k = 0; k < 6; ++k) {                                                                         \
    staged_from[k] =                                                                                           \
        reference +                                                                                            \
        ring_row(first + looked_at(min(local_y() + k * 8, WALK_ROWS - 1), rows), first, slot, ring) * stride + \
        local_x() - WINDOW_RADIUS;                                                                             \
  }
#define STAGE_SAMPLES                                                                                   \
  UNROLL for (int k = 0; k < 6; ++k) {                                                                  \
    const real sample_a = at(planes, staged_from[k] + begin);                                           \
    const real sample_b = at(planes, staged_from[k] + begin + to_distorted);                            \
    const real beside_a = at(planes, staged_from[k] + begin + 32);                                      \
    const real beside_b = at(planes, staged_from[k] + begin + to_distorted + 32);                       \
    const int staged_row = local_y() + k * 8;                                                           \
    if (staged_row < WALK_ROWS) {                                                                       \
      turned[staged_row * FIRST_STRIDE + local_x()] = sample_a;                                         \
      turned[SECOND_PLANE + staged_row * STAGED_STRIDE + local_x()] = sample_b;                         \
      if (local_x() + 32 < FIRST_STRIDE) turned[staged_row * FIRST_STRIDE + 32 + local_x()] = beside_a; \
      if (local_x() + 32 < STAGED_STRIDE) {                                                             \
        turned[SECOND_PLANE + staged_row * STAGED_STRIDE + 32 + local_x()] = beside_b;                  \
      }                                                                                                 \
    }                                                                                                   \
  }

// First stage: a thread carries the windows' sums along one row.
#define BEGIN_ROWS                                                                                               \
  real mean1 = real(0.0f);                                                                                       \
  real mean2 = real(0.0f);                                                                                       \
  real squares = real(0.0f);                                                                                     \
  real product = real(0.0f);                                                                                     \
  const int own_row = ring_row(first + looked_at(min(thread, WALK_ROWS - 1), rows), first, slot, ring) * stride; \
  if (thread < WALK_ROWS) {                                                                                      \
    for (int i = -WINDOW_RADIUS; i <= WINDOW_RADIUS; ++i) {                                                      \
      const real a = at(planes, reference + own_row + i);                                                        \
      const real b = at(planes, reference + to_distorted + own_row + i);                                         \
      mean1 = mean1 + a;                                                                                         \
      mean2 = mean2 + b;                                                                                         \
      squares = squares_begin(squares, a, b);                                                                    \
      product = product_begin(product, a, b);                                                                    \
    }                                                                                                            \
  }

// The means take the place of the samples that the windows have lost. ALSO is done for each eight columns before that.
#define WALK_ALONG_ROWS(ALSO)                                                            \
  if (thread < WALK_ROWS) {                                                              \
    for (int part = 0; part < WALK_COLUMNS; part += FETCHED) {                           \
      const int place_a = thread * FIRST_STRIDE + part;                                  \
      const int place_b = SECOND_PLANE + thread * STAGED_STRIDE + part;                  \
      const int place = thread * CHUNK_STRIDE + part;                                    \
      real gained_a[FETCHED];                                                            \
      real gained_b[FETCHED];                                                            \
      real lost_a[FETCHED];                                                              \
      real lost_b[FETCHED];                                                              \
      UNROLL for (int k = 0; k < FETCHED; ++k) {                                         \
        lost_a[k] = turned[place_a + k];                                                 \
        lost_b[k] = turned[place_b + k];                                                 \
        gained_a[k] = turned[place_a + k + 2 * WINDOW_RADIUS + 1];                       \
        gained_b[k] = turned[place_b + k + 2 * WINDOW_RADIUS + 1];                       \
      }                                                                                  \
      ALSO UNROLL for (int k = 0; k < FETCHED; ++k) {                                    \
        turned[place_a + k] = window_mean(mean1);                                        \
        turned[place_b + k] = window_mean(mean2);                                        \
        turned[LATER_PLANE(2) + place + k] = window_mean(squares);                       \
        turned[LATER_PLANE(3) + place + k] = window_mean(product);                       \
        mean1 = window_step(mean1, gained_a[k], lost_a[k]);                              \
        mean2 = window_step(mean2, gained_b[k], lost_b[k]);                              \
        squares = squares_step(squares, gained_a[k], gained_b[k], lost_a[k], lost_b[k]); \
        product = product_step(product, gained_a[k], gained_b[k], lost_a[k], lost_b[k]); \
      }                                                                                  \
    }                                                                                    \
  }

// Second stage: a thread carries a sum down one column of one of the planes that the first left. The mean of a window
// takes the place of the sample it has lost, five rows above; the first five, which only the first strip needs, go
// behind its 37 rows.
#define WALK_DOWN(row_stride)                                                                             \
  {                                                                                                       \
    real held[11];                                                                                        \
    UNROLL for (int i = 0; i < 11; ++i) held[i] = turned[column + i * (row_stride)];                      \
    real sum = real(0.0f);                                                                                \
    UNROLL for (int i = 5; i >= 0; --i) sum = sum + held[i];                                              \
    UNROLL for (int i = 1; i <= 5; ++i) sum = sum + held[i];                                              \
    UNROLL for (int n = 0; n < WINDOW_RADIUS; ++n) {                                                      \
      if (above == 0) turned[column + (WALK_ROWS - WINDOW_RADIUS + n) * (row_stride)] = window_mean(sum); \
      sum = window_step(sum, held[n + 6], held[5 - n]);                                                   \
    }                                                                                                     \
    for (int n = 0; n < STRIP_ROWS; n += FETCHED) {                                                       \
      real gained[FETCHED];                                                                               \
      real lost[FETCHED];                                                                                 \
      const int from = column + n * (row_stride);                                                         \
      UNROLL for (int k = 0; k < FETCHED; ++k) {                                                          \
        lost[k] = turned[from + k * (row_stride)];                                                        \
        gained[k] = turned[from + (k + 11) * (row_stride)];                                               \
      }                                                                                                   \
      UNROLL for (int k = 0; k < FETCHED; ++k) {                                                          \
        turned[from + k * (row_stride)] = window_mean(sum);                                               \
        sum = window_step(sum, gained[k], lost[k]);                                                       \
      }                                                                                                   \
    }                                                                                                     \
  }

#define WALK_DOWN_COLUMNS(planes_walked)               \
  if (thread < (planes_walked) * WALK_COLUMNS) {       \
    const int plane = thread / WALK_COLUMNS;           \
    const int column = plane_begin(plane) + local_x(); \
    if (plane == 0)                                    \
      WALK_DOWN(FIRST_STRIDE)                          \
    else if (plane == 1)                               \
      WALK_DOWN(STAGED_STRIDE)                         \
    else                                               \
      WALK_DOWN(CHUNK_STRIDE)                          \
  }

// Third stage: a thread adds up four pixels of a column. The fetches stand before the barrier.
#define FIND_OWN                                                                                                   \
  int own_from[SLOT_ROWS];                                                                                         \
  int mean_row[SLOT_ROWS];                                                                                         \
  UNROLL for (int k = 0; k < SLOT_ROWS; ++k) {                                                                     \
    const int row = min(local_y() * SLOT_ROWS + k, count - 1);                                                     \
    own_from[k] = reference + ring_row(first + above + row, first, slot, ring) * stride;                           \
    mean_row[k] = above != 0 ? row : row >= WINDOW_RADIUS ? row - WINDOW_RADIUS : row + WALK_ROWS - WINDOW_RADIUS; \
  }
#define FETCH_PIXELS_OF_CHUNK                                                \
  const int x = begin + local_x();                                           \
  real own_a[SLOT_ROWS];                                                     \
  real own_b[SLOT_ROWS];                                                     \
  UNROLL for (int k = 0; k < SLOT_ROWS; ++k) {                               \
    own_a[k] = at(planes, own_from[k] + min(x, columns - 1));                \
    own_b[k] = at(planes, own_from[k] + to_distorted + min(x, columns - 1)); \
  }

#define OF_PIXEL(begin_of_plane, row_stride) turned[(begin_of_plane) + mean_row[k] * (row_stride) + local_x()]

#define SUM_PIXELS(ADD_MORE)                                                                                        \
  if (x < columns) {                                                                                                \
    const real counted = s == 0 && x < mirrored_side(width) ? real(1.0f) : real(0.0f);                              \
    UNROLL for (int k = 0; k < SLOT_ROWS; ++k) {                                                                    \
      if (local_y() * SLOT_ROWS + k < count) {                                                                      \
        const real m1 = OF_PIXEL(0, FIRST_STRIDE);                                                                  \
        const real m2 = OF_PIXEL(SECOND_PLANE, STAGED_STRIDE);                                                      \
        const real loss =                                                                                           \
            structure_loss(m1, m2, OF_PIXEL(LATER_PLANE(2), CHUNK_STRIDE), OF_PIXEL(LATER_PLANE(3), CHUNK_STRIDE)); \
        const real rest1 = own_a[k] - m1;                                                                           \
        const real rest2 = own_b[k] - m2;                                                                           \
        const real change = edge_change(rest1, rest2);                                                              \
        ADD_BASIC(own_sums, own_maxima, loss, change, own_a[k], own_b[k], rest1, rest2, counted)                    \
        ADD_MORE                                                                                                    \
      }                                                                                                             \
    }                                                                                                               \
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
