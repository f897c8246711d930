// SPDX-License-Identifier: BSD-2-Clause-Patent
// SpEED on the GPU: from planes to small pictures, and the products of those that covariances are made of. Sums have
// the order that they have on the CPU. Pictures lie one behind the other; group_y() tells which.
#include "lang/dialect.h"

#include "frames/plane_samples.h"

#if KERNEL_HERE(shrink_plane)
FUNCTION real value_at(samples_in plane, int row_bytes, int bits, real scale, int x, int y) {
  const whole code = bits == 8 ? code8_at(plane, y * row_bytes + x) : code16_at(plane, y * (row_bytes / 2) + x);
  return to_real(code) * scale - real(128.0f);
}

// A thread makes one sample of the small picture: blurred down, then across, of a plane or of what it differs by from
// another, scaled before if there are `scaling_taps`: then `places` and `weights` have those of the lines, and behind
// them those of the columns.
KERNEL(shrink_plane, 32, 8, samples_in plane, samples_in subtracted, i32_in places, f32_in weights, f32_in blur,
       f32_out small, real scale, int row_bytes, int subtracted_row_bytes, int bits, int subtracts, int taps,
       int scaling_taps, int width, int height, int small_width, int small_height) {
  const int to_x = global_x();
  const int to_y = global_y();
  if (to_x >= small_width || to_y >= small_height) return;
  real across = real(0.0f);
  for (int k = 0; k < taps; ++k) {
    const int x = mirrored_index(to_x * 16 - taps / 2 + k, width);
    real down = real(0.0f);
    for (int n = 0; n < taps; ++n) {
      const int y = mirrored_index(to_y * 16 - taps / 2 + n, height);
      real value = real(0.0f);
      if (scaling_taps == 0) {
        value = value_at(plane, row_bytes, bits, scale, x, y);
        if (subtracts != 0) value = value - value_at(subtracted, subtracted_row_bytes, bits, scale, x, y);
      } else {
        real weight_sum = real(0.0f);
        for (int j = 0; j < scaling_taps; ++j) {
          for (int i = 0; i < scaling_taps; ++i) {
            const int line = y * scaling_taps + j;
            const int column = (height + x) * scaling_taps + i;
            const real weight = at(weights, line) * at(weights, column);
            real part = value_at(plane, row_bytes, bits, scale, at(places, column), at(places, line));
            if (subtracts != 0) {
              part =
                  part - value_at(subtracted, subtracted_row_bytes, bits, scale, at(places, column), at(places, line));
            }
            value = value + part * weight;
            weight_sum = weight_sum + weight;
          }
        }
        if (scaling_taps == 9) value = divide(value, weight_sum);
      }
      down = down + at(blur, n) * value;
    }
    across = across + at(blur, k) * down;
  }
  at(small, to_y * small_width + to_x) = across;
}
#endif

#if KERNEL_HERE(subtract_local_mean)
// `stride` is from one picture to the next, in floats.
KERNEL(subtract_local_mean, 32, 8, f32_in small, f32_in local_filter, f32_out centred, int taps, int width, int height,
       int rows_of_groups, int stride, int centred_stride) {
  const int picture = group_y() / rows_of_groups;
  const int x = global_x();
  const int y = (group_y() - picture * rows_of_groups) * 8 + local_y();
  if (x >= width || y >= height) return;
  real mean = real(0.0f);
  for (int k = 0; k < taps; ++k) {
    const int column = mirrored_index(x - taps / 2 + k, width);
    real down = real(0.0f);
    for (int n = 0; n < taps; ++n) {
      const int row = mirrored_index(y - taps / 2 + n, height);
      down = down + at(local_filter, n) * at(small, picture * stride + row * width + column);
    }
    mean = mean + at(local_filter, k) * down;
  }
  at(centred, picture * centred_stride + y * width + x) = at(small, picture * stride + y * width + x) - mean;
}
#endif

// Blocks have 5 x 5 samples; `across` x `down` places of the picture begin one.

#if KERNEL_HERE(find_means)
// A thread sums up one of the 25 samples of a block over all places.
KERNEL(find_means, 32, 1, f32_in centred, f32_out means, int width, int across, int down, int stride) {
  if (local_x() >= 25) return;
  const int first = group_y() * stride + local_x() / 5 * width + local_x() % 5;
  real sum = real(0.0f);
  for (int y = 0; y < down; ++y) {
    for (int x = 0; x < across; ++x) sum = sum + at(centred, first + y * width + x);
  }
  at(means, group_y() * 32 + local_x()) = divide(sum, to_real(across * down));
}
#endif

#if KERNEL_HERE(find_covariances)
#define NEEDS_find_covariances ~, needs_double
// A thread sums up the products of one of 325 pairs of samples of a block, every eighth place of a part of the picture:
// parts are rows, or pieces of rows, of up to `together` columns, `rows_together` of them.
KERNEL(find_covariances, 64, 1, f32_in centred, f32_in means, f64_out sums, int width, int across, int down, int stride,
       int sums_stride, int together, int rows_together) {
  const int number = global_x();
  if (number >= 325 * 8) return;
  const int pair = number / 8;
  const int lane = number - pair * 8;
  int i = 0;
  while ((i + 1) * (i + 2) / 2 <= pair) ++i;
  const int j = pair - i * (i + 1) / 2;
  const int picture = group_y() * stride;
  const int from_i = picture + i / 5 * width + i % 5;
  const int from_j = picture + j / 5 * width + j % 5;
  const wide mean_i = to_wide(at(means, group_y() * 32 + i));
  const wide mean_j = to_wide(at(means, group_y() * 32 + j));
  wide sum = WIDE(0.0);
  for (int top = 0; top < down; top += rows_together) {
    const int bottom = min(top + rows_together, down);
    for (int left = 0; left < across; left += together) {
      const int columns = min(together, across - left);
      int x = lane;
      int y = top;
      while (x >= columns) {
        x -= columns;
        ++y;
      }
      while (y < bottom) {
        const int place = y * width + left + x;
        const wide a = to_wide(at(centred, from_i + place)) - mean_i;
        const wide b = to_wide(at(centred, from_j + place)) - mean_j;
        sum = sum + a * b;
        x += 8;
        while (x >= columns) {
          x -= columns;
          ++y;
        }
      }
    }
  }
  at(sums, group_y() * sums_stride + number) = sum;
}
#endif
