// SPDX-License-Identifier: BSD-2-Clause-Patent
// The body of a kernel that measures one scale and makes the samples of the next; metrics/vif/kernels.h includes it for
// each scale, with these macros:
//
//   RADIUS, WEIGHT(distance)            of the window of the scale
//   NEXT_RADIUS, NEXT_WEIGHT(distance)  of that which makes the next scale; NEXT_RADIUS is 0 where there is none
//   FETCH                               fills a[] and b[], ROWS samples of a column of each picture from row `top` on
//   SQUARE, ADD_SQUARE(sum, weight, x)  the type of a sum of weighed products, and how one is added to it
//   MEAN_SHIFT, SQUARE_SHIFT            by how many bits columns of means and of products are cut
//
// A group of 128 threads makes a cell of 112 x 8 pixels. A thread filters a column down, for 8 rows of means and
// products, which the group shares; then it filters 7 pixels of a row across.

const int x = group_x() * CELL_COLUMNS + local_x() - RADIUS;
const int top = group_y() * CELL_ROWS - RADIUS;
const int column = mirrored_index(x, width);
natural a[ROWS];
natural b[ROWS];
FETCH
if (measured != 0) {
  natural mean_a[CELL_ROWS];
  natural mean_b[CELL_ROWS];
  SQUARE aa[CELL_ROWS];
  SQUARE bb[CELL_ROWS];
  SQUARE ab[CELL_ROWS];
  UNROLL for (int r = 0; r < CELL_ROWS; ++r) {
    mean_a[r] = natural(0u);
    mean_b[r] = natural(0u);
    aa[r] = SQUARE(0);
    bb[r] = SQUARE(0);
    ab[r] = SQUARE(0);
  }
  UNROLL for (int i = 0; i < ROWS; ++i) {
    const natural square_a = a[i] * a[i];
    const natural square_b = b[i] * b[i];
    const natural product = a[i] * b[i];
    UNROLL for (int r = 0; r < CELL_ROWS; ++r) {
      if (i >= r && i - r <= 2 * RADIUS) {
        const natural weight = WEIGHT(abs(i - r - RADIUS));
        mean_a[r] += weight * a[i];
        mean_b[r] += weight * b[i];
        ADD_SQUARE(aa[r], weight, square_a);
        ADD_SQUARE(bb[r], weight, square_b);
        ADD_SQUARE(ab[r], weight, product);
      }
    }
  }
  UNROLL for (int r = 0; r < CELL_ROWS; ++r) {
    const int place = r * ROW_STRIDE + local_x();
    const natural half_mean = natural(1u) << (MEAN_SHIFT - 1);
    moments[place] = ((mean_a[r] + half_mean) >> MEAN_SHIFT) | ((mean_b[r] + half_mean) >> MEAN_SHIFT) << 16;
    moments[place + MOMENT_STRIDE] = to_natural((aa[r] + SQUARE_HALF) >> SQUARE_SHIFT);
    moments[place + 2 * MOMENT_STRIDE] = to_natural((bb[r] + SQUARE_HALF) >> SQUARE_SHIFT);
    moments[place + 3 * MOMENT_STRIDE] = to_natural((ab[r] + SQUARE_HALF) >> SQUARE_SHIFT);
  }
}
#if NEXT_RADIUS > 0
UNROLL for (int r = 0; r < CELL_ROWS; r += 2) {
  natural sum_a = natural(1u) << (MEAN_SHIFT - 1);
  natural sum_b = natural(1u) << (MEAN_SHIFT - 1);
  UNROLL for (int i = 0; i <= 2 * NEXT_RADIUS; ++i) {
    const natural weight = NEXT_WEIGHT(abs(i - NEXT_RADIUS));
    sum_a += weight * a[r + i + RADIUS - NEXT_RADIUS];
    sum_b += weight * b[r + i + RADIUS - NEXT_RADIUS];
  }
  next_means[r / 2 * ROW_STRIDE + local_x()] = (sum_a >> MEAN_SHIFT) | (sum_b >> MEAN_SHIFT) << 16;
}
#endif
barrier_group();
#if NEXT_RADIUS > 0
for (int n = local_x(); n < CELL_COLUMNS / 2 * (CELL_ROWS / 2); n += 128) {
  const int row = n / (CELL_COLUMNS / 2);
  const int next_x = n - row * (CELL_COLUMNS / 2);
  natural sum_a = natural(32768u);
  natural sum_b = natural(32768u);
  UNROLL for (int i = 0; i <= 2 * NEXT_RADIUS; ++i) {
    const natural weight = NEXT_WEIGHT(abs(i - NEXT_RADIUS));
    const natural means = next_means[row * ROW_STRIDE + 2 * next_x + i + RADIUS - NEXT_RADIUS];
    sum_a += weight * (means & natural(65535u));
    sum_b += weight * (means >> 16);
  }
  const int to_x = group_x() * (CELL_COLUMNS / 2) + next_x;
  const int to_y = group_y() * (CELL_ROWS / 2) + row;
  if (to_x < width / 2 && to_y < height / 2) at(next, to_y * (width / 2) + to_x) = (sum_a >> 16) | (sum_b >> 16) << 16;
}
#endif
if (measured != 0) {
  const int row = local_x() / 16;
  const int first = local_x() % 16 * THREAD_PIXELS;
  natural mean_a[THREAD_PIXELS];
  natural mean_b[THREAD_PIXELS];
  natural64 aa[THREAD_PIXELS];
  natural64 bb[THREAD_PIXELS];
  natural64 ab[THREAD_PIXELS];
  UNROLL for (int p = 0; p < THREAD_PIXELS; ++p) {
    mean_a[p] = natural(0u);
    mean_b[p] = natural(0u);
    aa[p] = natural64(32768UL);
    bb[p] = natural64(32768UL);
    ab[p] = natural64(32768UL);
  }
  UNROLL for (int i = 0; i < THREAD_PIXELS + 2 * RADIUS; ++i) {
    const int place = row * ROW_STRIDE + first + i;
    const natural means = moments[place];
    const natural square_a = moments[place + MOMENT_STRIDE];
    const natural square_b = moments[place + 2 * MOMENT_STRIDE];
    const natural product = moments[place + 3 * MOMENT_STRIDE];
    UNROLL for (int p = 0; p < THREAD_PIXELS; ++p) {
      if (i >= p && i - p <= 2 * RADIUS) {
        const natural weight = WEIGHT(abs(i - p - RADIUS));
        mean_a[p] += weight * (means & natural(65535u));
        mean_b[p] += weight * (means >> 16);
        aa[p] += multiply_64(weight, square_a);
        bb[p] += multiply_64(weight, square_b);
        ab[p] += multiply_64(weight, product);
      }
    }
  }
  // Sums of a group have 32 bits, but for the variance, which has 42. Two at a time are in one number.
  whole numerator_logs = 0;
  whole denominator_logs = 0;
  whole flat_pixels = 0;
  whole64 flat_variance = whole64(0L);
  UNROLL for (int p = 0; p < THREAD_PIXELS; ++p) {
    const natural variance_a = to_natural(aa[p] >> 16) - rounded_upper_product(mean_a[p], mean_a[p]);
    const natural variance_b = to_natural(bb[p] >> 16) - rounded_upper_product(mean_b[p], mean_b[p]);
    const natural covariance = to_natural(ab[p] >> 16) - rounded_upper_product(mean_a[p], mean_b[p]);
    if (group_x() * CELL_COLUMNS + first + p < width && top + RADIUS + row < height) {
      const PixelTotals pixel =
          totals_of_pixel(to_whole(variance_a), to_whole(variance_b), to_whole(covariance), gain_limit);
      numerator_logs += pixel.numerator_log;
      denominator_logs += pixel.denominator_log;
      flat_pixels += pixel.is_flat;
      flat_variance += to_whole64(pixel.flat_variance);
    }
  }
  const whole64 logs = group_sum(to_whole64(denominator_logs) << 32 | to_whole64(numerator_logs));
  const whole64 in_flat_places = group_sum(to_whole64(flat_pixels) << 48 | flat_variance);
  if (local_x() == 0) {
    atomic_add_64(totals, first_total, logs & whole64(4294967295L));
    atomic_add_64(totals, first_total + 1, logs >> 32);
    atomic_add_64(totals, first_total + 2, in_flat_places & whole64(281474976710655L));
    atomic_add_64(totals, first_total + 3, in_flat_places >> 48);
  }
}
