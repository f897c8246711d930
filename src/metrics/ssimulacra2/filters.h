// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the kernels of SSIMULACRA2 have in common: both filters, the error maps and their sums. A channel has five
// blurred planes: 0 mu2, 1 s22, 2 s12, 3 mu1, 4 s11. Of a prepared reference the last two are there already, so that
// three are left to be blurred.

// Six values of a filter in memory, `apart` floats from one to the next.
FUNCTION GaussianState saved_filter(f32_out state, int first, int apart) {
  GaussianState recursion;
  recursion.p1 = at(state, first);
  recursion.q1 = at(state, first + apart);
  recursion.p2 = at(state, first + 2 * apart);
  recursion.q2 = at(state, first + 3 * apart);
  recursion.p3 = at(state, first + 4 * apart);
  recursion.q3 = at(state, first + 5 * apart);
  return recursion;
}

FUNCTION void save_filter(f32_out state, int first, int apart, GaussianState recursion) {
  at(state, first) = recursion.p1;
  at(state, first + apart) = recursion.q1;
  at(state, first + 2 * apart) = recursion.p2;
  at(state, first + 3 * apart) = recursion.q2;
  at(state, first + 4 * apart) = recursion.p3;
  at(state, first + 5 * apart) = recursion.q3;
}

// The row filter: a group takes 32 rows of one channel and walks from left to right in chunks of 32 columns. local_x is
// the row, local_y the blurred plane. Bands and rings are multiples of 32, so the rows of a group lie one after the
// other. What it makes is written as it is made, column by column: 32 rows of a plane are `stride` columns of 32.
#if KERNEL_HERE(filter_rows) || KERNEL_HERE(filter_rows_of_scales) || KERNEL_HERE(filter_reference_rows) || \
    KERNEL_HERE(filter_rows_prepared)
#define PITCH 33                  // odd, so that neighbouring rows lie in different banks
#define BOTH (2 * 32 * PITCH)     // a chunk of both pictures
SHARED(float, arrived, 2 * BOTH)  // fetched by columns, read by rows; two, so that threads meet once a chunk

#define MOST_FETCHES 16  // of a thread, for a chunk of one picture: 32 rows, shared by at least two planes

// This thread's part of the chunk at `column`.
#define FETCH_COLUMNS(fetched1, fetched2, column)                        \
  UNROLL for (int k = 0; k < MOST_FETCHES; ++k) {                        \
    if (k * planes < 32) {                                               \
      fetched1[k] = at(reference, reference_row + offset[k] + (column)); \
      fetched2[k] = at(distorted, distorted_row + offset[k] + (column)); \
    }                                                                    \
  }

// Filters the chunk at x, whose part of this thread was fetched before, and fetches the chunk after the next. The two
// chunks in flight have arrays of their own: NVIDIA's Vulkan does not unroll a loop with a barrier in it, and puts what
// such a loop indexes into memory.
#define FILTER_CHUNK(fetched1, fetched2, chunk, x)                                                        \
  if ((x) < x_end) {                                                                                      \
    const bool inside = (x) + 4 + local_x() < width;                                                      \
    UNROLL for (int k = 0; k < MOST_FETCHES; ++k) {                                                       \
      const int r = k * planes + plane;                                                                   \
      if (k * planes < 32 && ((k + 1) * planes <= 32 || r < 32)) { /* known but for the last */           \
        const int i = (chunk) + r * PITCH + local_x();                                                    \
        arrived[i] = inside ? fetched1[k] : real(0.0f);                                                   \
        arrived[i + 32 * PITCH] = inside ? fetched2[k] : real(0.0f);                                      \
      }                                                                                                   \
    }                                                                                                     \
    const int column = min((x) + 64 + 4 + local_x(), last_column);                                        \
    FETCH_COLUMNS(fetched1, fetched2, column)                                                             \
    barrier_group();                                                                                      \
    filter_chunk(blurred, to + (x) * 32, recursion, window, square, product, (chunk) + mine, (x), width); \
  }

// The ten inputs before a chunk.
struct RowWindow {
  real inputs[10];
};

// Filters a row of the chunk at x, which lies in `arrived` from `first` on. to: where its first output goes.
FUNCTION void filter_chunk(f32_out blurred, int to, INOUT(GaussianState) recursion, INOUT(RowWindow) window,
                           bool square, bool product, int first, int x, int width) {
  real inputs[42];
  UNROLL for (int i = 0; i < 10; ++i) inputs[i] = window.inputs[i];
  UNROLL for (int i = 0; i < 32; ++i) inputs[10 + i] = arrived[first + i];
  if (square) {
    UNROLL for (int i = 10; i < 42; ++i) inputs[i] = inputs[i] * inputs[i];
  }
  if (product) {
    UNROLL for (int i = 0; i < 32; ++i) inputs[10 + i] = inputs[10 + i] * arrived[first + 32 * PITCH + i];
  }
  UNROLL for (int i = 0; i < 10; ++i) window.inputs[i] = inputs[32 + i];
  if (x >= 8 && x + 28 <= width - 8) {
    UNROLL for (int i = 0; i < 32; i += 4) {
      real o0;
      real o1;
      real o2;
      real o3;
      gaussian_row_four(recursion, inputs[i] + inputs[i + 10], inputs[i + 1] + inputs[i + 11],
                        inputs[i + 2] + inputs[i + 12], inputs[i + 3] + inputs[i + 13], o0, o1, o2, o3);
      at(blurred, to + i * 32) = o0;
      at(blurred, to + i * 32 + 32) = o1;
      at(blurred, to + i * 32 + 64) = o2;
      at(blurred, to + i * 32 + 96) = o3;
    }
  } else {
    // The first and the last chunks: some outputs one by one.
    UNROLL for (int i = 0; i < 32; i += 4) {
      real o[4];
      const real s0 = inputs[i] + inputs[i + 10];
      const real s1 = inputs[i + 1] + inputs[i + 11];
      const real s2 = inputs[i + 2] + inputs[i + 12];
      const real s3 = inputs[i + 3] + inputs[i + 13];
      if (x + i >= 8 && x + i <= width - 8) {
        gaussian_row_four(recursion, s0, s1, s2, s3, o[0], o[1], o[2], o[3]);
      } else {
        o[0] = gaussian_row_step(recursion, s0);
        o[1] = gaussian_row_step(recursion, s1);
        o[2] = gaussian_row_step(recursion, s2);
        o[3] = gaussian_row_step(recursion, s3);
      }
      UNROLL for (int j = 0; j < 4; ++j) at(blurred, to + (i + j) * 32) = o[j];
    }
  }
}

// Makes columns x_begin .. x_end - 1 of rows from y on. planes: how many are made, a constant. reference_first,
// distorted_first, blurred_first: where the planes of the scale begin. The state of a row lies at `saved` + its number
// in the group, for each channel and plane 6 filter values, saved_rows from one to the next.
FUNCTION void filter_rows_at(f32_in reference, f32_in distorted, f32_out blurred, f32_out state, int planes,
                             int reference_first, int distorted_first, int blurred_first, int channel, int width,
                             int x_begin, int x_end, int y, int y_end, int reference_ring, int distorted_ring, int ring,
                             int stride, int saved, int saved_rows) {
  const int plane = local_y();
  const int rows = min(32, y_end - y);
  const int reference_row = reference_first + (channel * reference_ring + y % reference_ring) * stride;
  const int distorted_row = distorted_first + (channel * distorted_ring + y % distorted_ring) * stride;
  // What the plane is made of: one picture, or a product.
  const bool of_distorted = plane < 2;
  const bool square = plane == 1 || plane == 4;
  const bool product = plane == 2;
  const int mine = local_x() * PITCH + (of_distorted ? 32 * PITCH : 0);
  const int to = blurred_first + ((channel * planes + plane) * ring + y % ring) * stride + local_x();
  const int state_at = saved + (channel * planes + plane) * 6 * saved_rows + local_x();
  // The ten inputs before the chunk: columns -6 .. 3 from its first. Addresses are kept inside the picture, here and
  // below, so that no fetch waits for another.
  RowWindow window;
  const int line = min(local_x(), rows - 1) * stride;
  UNROLL for (int i = 0; i < 10; ++i) {
    const int x = x_begin - 6 + i;
    const int column = line + clamp(x, 0, width - 1);
    // Unless three planes are made, both pictures are in one array, and only the address depends on the plane.
    real value = real(0.0f);
    if (planes == 3) value = at(distorted, distorted_row + column);
    if (planes != 3) value = at(reference, (of_distorted ? distorted_row : reference_row) + column);
    if (square) value = value * value;
    if (product) value = value * at(reference, (planes == 3 ? reference_row : distorted_row) + column);
    window.inputs[i] = x >= 0 && x < width ? value : real(0.0f);
  }
  GaussianState recursion = gaussian_start();
  if (x_begin == 0) {
    UNROLL for (int i = 6; i < 10; ++i) gaussian_row_step(recursion, window.inputs[i]);
  } else {
    recursion = saved_filter(state, state_at, saved_rows);
  }
  // A chunk of both pictures is fetched while those before it are filtered, its rows in turn by each plane's threads;
  // memory answers later than one chunk takes, so two chunks are in flight. What was fetched from beyond the picture's
  // right end is dropped later; rows beyond its lower end are never looked at.
  const int last_column = min(x_end + GAUSSIAN_AHEAD, width) - 1;
  int offset[MOST_FETCHES];
  real even1[MOST_FETCHES];
  real even2[MOST_FETCHES];
  real odd1[MOST_FETCHES];
  real odd2[MOST_FETCHES];
  UNROLL for (int k = 0; k < MOST_FETCHES; ++k) offset[k] = min(k * planes + plane, rows - 1) * stride;
  FETCH_COLUMNS(even1, even2, min(x_begin + 4 + local_x(), last_column))
  FETCH_COLUMNS(odd1, odd2, min(x_begin + 32 + 4 + local_x(), last_column))
  for (int x = x_begin; x < x_end; x += 64) {
    FILTER_CHUNK(even1, even2, 0, x)
    FILTER_CHUNK(odd1, odd2, BOTH, x + 32)
  }
  if (x_end < width) save_filter(state, state_at, saved_rows, recursion);
}
#endif

// The column filter and the error maps: a group takes 32 columns of one channel; local_y is the blurred plane while
// filtering and the sum while adding up (six of them, so the last idles at first). state: for each channel 5 * 6 filter
// values and 6 column sums, `stride` floats each. Makes output rows n_begin .. n_end - 1, sixteen at a time; n_begin is
// four less than a multiple of sixteen.
#if KERNEL_HERE(filter_columns) || KERNEL_HERE(filter_columns_of_scales) || KERNEL_HERE(filter_columns_prepared) || \
    KERNEL_HERE(filter_reference_columns)
#define CHUNK 16

FUNCTION int next_slot(int slot, int ring) { return slot + CHUNK >= ring ? slot + CHUNK - ring : slot + CHUNK; }

// A chunk's inputs in `buffer`, of the column at `from`: `slot` is where its first row lies in the ring, a multiple of
// sixteen, `rows` how many of them the picture has, if any; beyond them there is nothing.
#define FETCH_CHUNK(values, buffer, from, slot, rows)                                         \
  UNROLL for (int k = 0; k < CHUNK; ++k) values[k] = real(0.0f);                              \
  if ((rows) > 0) {                                                                           \
    const int first4 = from + ((slot) / 32 * 32 * stride + (slot) % 32) / 4;                  \
    UNROLL for (int k = 0; k < CHUNK / 4; ++k) {                                              \
      const real4 four = at(buffer, first4 + k);                                              \
      values[k * 4] = four.x;                                                                 \
      values[k * 4 + 1] = four.y;                                                             \
      values[k * 4 + 2] = four.z;                                                             \
      values[k * 4 + 3] = four.w;                                                             \
    }                                                                                         \
    if ((rows) < CHUNK) {                                                                     \
      UNROLL for (int k = 0; k < CHUNK; ++k) values[k] = k < (rows) ? values[k] : real(0.0f); \
    }                                                                                         \
  }

// Output k of a chunk: it needs the input four rows below it and the one six rows above it, which was the lower one ten
// outputs before.
#define COLUMN_STEP(recursion, before, now, k) \
  gaussian_column_step(recursion, ((k) < 10 ? before[((k) + 6) % CHUNK] : now[((k) + 6) % CHUNK]) + now[k])
#endif

#if KERNEL_HERE(filter_columns) || KERNEL_HERE(filter_columns_of_scales) || KERNEL_HERE(filter_columns_prepared)
SHARED(float, filtered, 5 * CHUNK * 32)
SHARED(float, errors, 2 * CHUNK * 32)  // ssim, edge
SHUFFLES(6 * 32)

// Adds rows k_begin .. k_end - 1 of the chunk to one of the six sums: ssim, ringing, blur, each plain and to the fourth
// power.
FUNCTION real add_rows(int part, int k_begin, int k_end, real sum) {
  const int first = (part < 2 ? 0 : CHUNK * 32) + local_x();
  const real sign = real(part < 4 ? 1.0f : -1.0f);
  const bool fourth = part % 2 == 1;
  if (k_end - k_begin == CHUNK) {
    UNROLL for (int k = 0; k < CHUNK; ++k) {
      const real error = max(sign * errors[first + k * 32], real(0.0f));
      sum = sum + (fourth ? fourth_power(error) : error);
    }
  } else {
    for (int k = k_begin; k < k_end; ++k) {
      const real error = max(sign * errors[first + k * 32], real(0.0f));
      sum = sum + (fourth ? fourth_power(error) : error);
    }
  }
  return sum;
}

// Where a row of pixels lies in the ring, from where the row four below it does.
FUNCTION int pixel_slot(int below, int ring) {
  return below < GAUSSIAN_AHEAD ? below - GAUSSIAN_AHEAD + ring : below - GAUSSIAN_AHEAD;
}

// Stores one sum of the tile that ends above row `end`.
FUNCTION void close_tile(f32_out tiles, int first_tile, int column, int part, int end, int channel, int width,
                         real sum) {
  SUM_TILE_COLUMNS(sum)
  if (local_x() == 0) {
    const int tile = first_tile + ((end - 1) / 64) * ((width + 31) / 32) + column;
    at(tiles, tile * 18 + channel * 6 + part) = sum;
  }
}

// Pixels number j of this thread, in row y, which is row part + 6 * j of the chunk whose first lower input lies at
// xyb_slot of the ring.
#define FETCH_PIXEL(image1, image2, y)                                         \
  image1[j] = real(0.0f);                                                      \
  image2[j] = real(0.0f);                                                      \
  if (inside && (y) >= 0 && (y) < n_end) {                                     \
    const int row = pixel_slot(xyb_slot + part + 6 * j, xyb_ring);             \
    image1[j] = at(reference, reference_at + (prepared ? (y) : row) * stride); \
    image2[j] = at(distorted, distorted_at + row * stride);                    \
  }

// prepared: a constant; the last two planes are then blurred already and come from `prepared_blurs`, where row n lies
// at n + 4, and XYB of the reference lies in planes of as many rows. reference_first, distorted_first, blurred_first,
// first_tile: where the planes and tiles of the scale begin; column: of tiles.
FUNCTION void filter_columns_at(f32_in reference, f32_in distorted, f32x4_in blurred, f32x4_in prepared_blurs,
                                f32_out state, f32_out tiles, bool prepared, int reference_first, int distorted_first,
                                int blurred_first, int first_tile, int channel, int column, int width, int height,
                                int n_begin, int n_end, int reference_ring, int xyb_ring, int ring, int stride) {
  const int x = column * 32 + local_x();
  const int part = local_y();
  const bool inside = x < width;
  const int saved = channel * 36 * stride + x;
  const bool filters = part < (prepared ? 3 : 5);
  const bool fetches_prepared = prepared && (part == 3 || part == 4);
  const int from = (blurred_first + (channel * (prepared ? 3 : 5) + part) * ring * stride + x * 32) / 4;
  const int from_prepared = ((channel * 2 + part - 3) * reference_ring * (stride / 4)) + x * 8;
  GaussianState recursion = gaussian_start();
  real sum = real(0.0f);
  if (inside && n_begin > -4) {
    if (filters) recursion = saved_filter(state, saved + part * 6 * stride, stride);
    sum = at(state, saved + (30 + part) * stride);
  }
  // Inputs of the chunk before and of this one are at hand; those of the next are in flight.
  real before[CHUNK];
  real now[CHUNK];
  // Of the chunk's first lower input, in the ring; chunks never straddle its end.
  int slot = (n_begin + GAUSSIAN_AHEAD) % ring;
  const int slot_before = slot < CHUNK ? slot - CHUNK + ring : slot - CHUNK;
  FETCH_CHUNK(before, blurred, from, slot_before, filters && n_begin > 0 ? CHUNK : 0)
  if (fetches_prepared) {
    FETCH_CHUNK(now, prepared_blurs, from_prepared, n_begin + GAUSSIAN_AHEAD, height - n_begin)
  } else {
    FETCH_CHUNK(now, blurred, from, slot, filters ? height - (n_begin + GAUSSIAN_AHEAD) : 0)
  }
  int xyb_slot = (n_begin + GAUSSIAN_AHEAD) % xyb_ring;
  const int reference_at = reference_first + channel * reference_ring * stride + x;
  const int distorted_at = distorted_first + channel * xyb_ring * stride + x;
  real image1[3];
  real image2[3];
  UNROLL for (int j = 0; j < 3; ++j) { FETCH_PIXEL(image1, image2, n_begin + part + 6 * j) }
  for (int n = n_begin; n < n_end; n += CHUNK) {
    const int rows = min(CHUNK, n_end - n);
    slot = next_slot(slot, ring);
    xyb_slot = next_slot(xyb_slot, xyb_ring);
    real next[CHUNK];
    if (fetches_prepared) {
      FETCH_CHUNK(next, prepared_blurs, from_prepared, n + CHUNK + GAUSSIAN_AHEAD,
                  n + CHUNK < n_end ? height - (n + CHUNK) : 0)
    } else {
      FETCH_CHUNK(next, blurred, from, slot, filters && n + CHUNK < n_end ? height - (n + CHUNK + GAUSSIAN_AHEAD) : 0)
    }
    // The pixels this thread compares in the next chunk, whose first row lies four above its first lower input.
    real next1[3];
    real next2[3];
    UNROLL for (int j = 0; j < 3; ++j) { FETCH_PIXEL(next1, next2, n + CHUNK + part + 6 * j) }
    if (filters) {
      UNROLL for (int k = 0; k < CHUNK; ++k) {
        filtered[(part * CHUNK + k) * 32 + local_x()] = COLUMN_STEP(recursion, before, now, k);
      }
    }
    if (fetches_prepared) {
      UNROLL for (int k = 0; k < CHUNK; ++k) filtered[(part * CHUNK + k) * 32 + local_x()] = now[k];
    }
    barrier_group();
    UNROLL for (int j = 0; j < 3; ++j) {
      const int k = part + 6 * j;
      if (k < rows) {
        const int i = k * 32 + local_x();
        real ssim = real(0.0f);
        real edge = real(0.0f);
        if (inside && n + k >= 0) {
          const real mu1 = filtered[3 * CHUNK * 32 + i];
          const real mu2 = filtered[i];
          ssim = ssim_error(mu1, mu2, filtered[4 * CHUNK * 32 + i], filtered[CHUNK * 32 + i],
                            filtered[2 * CHUNK * 32 + i]);
          edge = edge_error(image1[j], mu1, image2[j], mu2);
        }
        errors[i] = ssim;
        errors[CHUNK * 32 + i] = edge;
      }
    }
    barrier_group();
    // A row of tiles ends within a chunk, after four of its rows, or with the picture.
    const int first_end = (n + 4) % 64 == 0 ? min(4, rows) : rows;
    sum = add_rows(part, 0, first_end, sum);
    const int end = n + first_end;
    if (end > 0 && (end % 64 == 0 || end == height)) {
      close_tile(tiles, first_tile, column, part, end, channel, width, sum);
      sum = real(0.0f);
    }
    if (first_end < rows) {
      sum = add_rows(part, first_end, rows, sum);
      if (n + rows == height) close_tile(tiles, first_tile, column, part, height, channel, width, sum);
    }
    UNROLL for (int k = 0; k < CHUNK; ++k) {
      before[k] = now[k];
      now[k] = next[k];
    }
    UNROLL for (int j = 0; j < 3; ++j) {
      image1[j] = next1[j];
      image2[j] = next2[j];
    }
  }
  if (inside && n_end < height) {
    if (filters) save_filter(state, saved + part * 6 * stride, stride, recursion);
    at(state, saved + (30 + part) * stride) = sum;
  }
}
#endif
