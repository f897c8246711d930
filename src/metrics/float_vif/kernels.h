// SPDX-License-Identifier: BSD-2-Clause-Patent
// VIF in floats on the GPU: a scale's sums of rows, and the picture of the next scale. Every sum is in libvmaf's order.
#include "lang/dialect.h"

#include "frames/plane_samples.h"
#include "frames/row_chains.h"
#include "metrics/float_vif/math.h"

// Samples of a picture: codes of 8 or 16 bits, as steps of 8 bit about zero, or floats for 32.
FUNCTION real value_at(samples_in picture, int bits, real scale, int index) {
  real value = real(0.0f);
  if (bits == 32) {
    value = float_at(picture, index);
  } else {
    value = sample_at(picture, bits, scale, index) + real(-128.0f);
  }
  return value;
}

#if KERNEL_HERE(measure_rows)
#define NEEDS_measure_rows ~, needs_double
SHARED(real, filtered_down, 5 * 8 * 97) /* windows have 65 taps at most */
CHAIN(numerators)
CHAIN(denominators)
#define FILTERED(moment, column) filtered_down[((moment) * 8 + local_y()) * 97 + (column)]

FUNCTION real rough_log(real x) {
  const whole bits = bits_of(x);
  const real rest = mantissa_less_1(bits);
  real sum = real(log_coefficient(0));
  UNROLL for (int step = 1; step < 8; ++step) sum = sum * rest + real(log_coefficient(step));
  return exponent_of(bits) + sum * rest;
}

// sums: of each row the numerator, and behind all of these the denominators. `quiet` and `flat_factor`: see Noise.
KERNEL(measure_rows, 32, 8, samples_in reference, samples_in distorted, f32_in weights, f32_out sums, wide variance,
       int first_weight, int taps, int bits, real scale, real gain_limit, real quiet, real flat_factor,
       int reference_step, int distorted_step, int width, int height) {
  const int radius = taps / 2;
  const int y = min(global_y(), height - 1);
  real sum = real(0.0f);
  for (int begin = 0; begin < width; begin += CHAIN_COLUMNS) {
    for (int column = local_x(); column < CHAIN_COLUMNS + 2 * radius; column += CHAIN_COLUMNS) {
      const int x = mirrored_index(begin + column - radius, width);
      real moments[5];
      UNROLL for (int m = 0; m < 5; ++m) moments[m] = real(0.0f);
      for (int first = 0; first < taps; first += 4) {
        real a[4];
        real b[4];
        FETCH_VALUES(a, 4, reference, bits, scale, real(-128.0f),
                     mirrored_index(y + first + i - radius, height) * reference_step + x)
        FETCH_VALUES(b, 4, distorted, bits, scale, real(-128.0f),
                     mirrored_index(y + first + i - radius, height) * distorted_step + x)
        UNROLL for (int i = 0; i < 4; ++i) {
          if (first + i < taps) {
            const real weight = at(weights, first_weight + first + i);
            moments[0] = moments[0] + weight * a[i];
            moments[1] = moments[1] + weight * b[i];
            moments[2] = moments[2] + weight * (a[i] * a[i]);
            moments[3] = moments[3] + weight * (b[i] * b[i]);
            moments[4] = moments[4] + weight * (a[i] * b[i]);
          }
        }
      }
      UNROLL for (int m = 0; m < 5; ++m) FILTERED(m, column) = moments[m];
    }
    barrier_group();
    real moments[5];
    UNROLL for (int m = 0; m < 5; ++m) moments[m] = real(0.0f);
    for (int t = 0; t < taps; ++t) {
      const real weight = at(weights, first_weight + t);
      UNROLL for (int m = 0; m < 5; ++m) moments[m] = moments[m] + weight * FILTERED(m, local_x() + t);
    }
    const Channel c = channel_of(moments[0], moments[1], moments[2], moments[3], moments[4], gain_limit);
    real numerator = real(1.0f) - c.variance2 * flat_factor;
    real denominator = real(1.0f);
    if (!(c.variance1 < quiet)) {
      const real signal = c.gain * c.gain * c.variance1;
      const real kept = to_real(WIDE(1.0) + divide(to_wide(signal), to_wide(c.rest) + variance));
      numerator = c.covariance < real(0.0f) ? real(0.0f) : rough_log(kept);
      denominator = rough_log(to_real(WIDE(1.0) + divide(to_wide(c.variance1), variance)));
    }
    PUT_TERM(numerators, numerator)
    PUT_TERM(denominators, denominator)
    barrier_group();
    const int count = min(CHAIN_COLUMNS, width - begin);
    if (local_x() == 0) {
      ADD_TERMS(numerators, count, sum)
    } else if (local_x() == 1) {
      ADD_TERMS(denominators, count, sum)
    }
  }
  if (local_x() < 2 && global_y() < height) at(sums, local_x() * height + global_y()) = sum;
}
#endif

#if KERNEL_HERE(halve)
SHARED(real, columns_down, 8 * 99) /* 35 taps at most */

// Filters a picture and keeps every other column and row.
KERNEL(halve, 32, 8, samples_in picture, f32_in weights, f32_out halved, int first_weight, int taps, int bits,
       real scale, int step, int width, int height, int halved_width, int halved_height) {
  const int radius = taps / 2;
  const int y = 2 * min(global_y(), halved_height - 1);
  for (int column = local_x(); column < 63 + taps; column += 32) {
    const int x = mirrored_index(group_x() * 64 + column - radius, width);
    real sum = real(0.0f);
    for (int t = 0; t < taps; ++t) {
      const int row = mirrored_index(y + t - radius, height);
      sum = sum + at(weights, first_weight + t) * value_at(picture, bits, scale, row * step + x);
    }
    columns_down[local_y() * 99 + column] = sum;
  }
  barrier_group();
  real sum = real(0.0f);
  for (int t = 0; t < taps; ++t) {
    sum = sum + at(weights, first_weight + t) * columns_down[local_y() * 99 + 2 * local_x() + t];
  }
  if (global_x() < halved_width && global_y() < halved_height) {
    at(halved, global_y() * halved_width + global_x()) = sum;
  }
}
#endif

#if KERNEL_HERE(scale_picture)
// What scale_row() does: each sample is made of taps x taps others, at these places with these weights.
KERNEL(scale_picture, 32, 8, samples_in picture, i32_in line_places, f32_in line_weights, i32_in column_places,
       f32_in column_weights, f32_out scaled, int taps, int bits, real scale, int step, int scaled_width,
       int scaled_height) {
  const int x = min(global_x(), scaled_width - 1);
  const int y = min(global_y(), scaled_height - 1);
  real value = real(0.0f);
  real sum = real(0.0f);
  for (int j = 0; j < taps; ++j) {
    const int row = at(line_places, y * taps + j) * step;
    for (int i = 0; i < taps; ++i) {
      const real weight = at(line_weights, y * taps + j) * at(column_weights, x * taps + i);
      value = value + value_at(picture, bits, scale, row + at(column_places, x * taps + i)) * weight;
      sum = sum + weight;
    }
  }
  if (taps == 9) value = divide(value, sum);
  if (global_x() < scaled_width && global_y() < scaled_height) at(scaled, y * scaled_width + x) = value;
}
#endif
