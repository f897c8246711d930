// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sums over planes on the GPU. Those of integers are exact, so that threads and groups may add them in any order.
#include "lang/dialect.h"

#include "frames/plane_samples.h"
#include "frames/row_chains.h"
#include "metrics/psnr_yuv/math.h"
#include "sums/whole_sums.h"

// The square of a number of 16 bits, rounded to a float where libvmaf has it as one.
FUNCTION whole64 square_of(whole a, int rounded) {
  if (rounded != 0) return to_whole64(to_real(a) * to_real(a));
  return multiply_64(a, a);
}

#if KERNEL_HERE(sum_squared_differences)
#define NEEDS_sum_squared_differences ~, needs_int64
GROUP_SUMS(256)

FUNCTION whole squared_difference_8(natural a, natural b, int shift) {
  const whole difference = to_whole((a >> shift) & natural(255u)) - to_whole((b >> shift) & natural(255u));
  return difference * difference;
}
FUNCTION whole64 squared_difference_16(natural a, natural b, int shift, int rounded) {
  return square_of(to_whole((a >> shift) & natural(65535u)) - to_whole((b >> shift) & natural(65535u)), rounded);
}

// A thread adds up 8 words that lie 8 rows apart: a group has 32 words across and 64 rows. Samples have 8 or 16 bits,
// and rows begin at whole words. The sum is added to `sums`: a frame has fewer than 2^31 samples, so
// that it stays below 2^63.
KERNEL(sum_squared_differences, 32, 8, u32_in reference, u32_in distorted, i64_out sums, int rounded, int bits,
       int reference_words, int distorted_words, int width, int height) {
  const int x = global_x();
  const int count = clamp(width - x * (32 / bits), 0, 32 / bits);  // samples of the word that lie in the row
  const int column = count > 0 ? x : 0;
  const int y_begin = group_y() * 64 + local_y();
  natural a[8];
  natural b[8];
  UNROLL for (int i = 0; i < 8; ++i) {
    const int y = min(y_begin + i * 8, height - 1);
    a[i] = at(reference, y * reference_words + column);
    b[i] = at(distorted, y * distorted_words + column);
  }
  natural inside = natural(0u);
  if (count > 0) inside = natural(0xFFFFFFFFu) >> (32 - count * bits);
  whole64 sum = whole64(0L);
  UNROLL for (int i = 0; i < 8; ++i) {
    if (y_begin + i * 8 < height) {
      const natural one = a[i] & inside;
      const natural other = b[i] & inside;
      if (bits == 8) {
        sum += to_whole64(squared_difference_8(one, other, 0) + squared_difference_8(one, other, 8) +
                          squared_difference_8(one, other, 16) + squared_difference_8(one, other, 24));
      } else {
        sum += squared_difference_16(one, other, 0, rounded) + squared_difference_16(one, other, 16, rounded);
      }
    }
  }
  ADD_GROUP_SUM(sums, 0, sum)
}
#endif

#if KERNEL_HERE(sum_moments)
#define NEEDS_sum_moments ~, needs_int64
GROUP_SUMS(256)

// Adds the samples of a plane to number 0 of `sums`, and their squares to number 1. A group has 32 columns and 64 rows.
KERNEL(sum_moments, 32, 8, samples_in plane, i64_out sums, int bits, int row_step, int width, int height) {
  const int x = min(global_x(), width - 1);
  whole codes[8];
  UNROLL for (int i = 0; i < 8; ++i) {
    const int y = min(group_y() * 64 + local_y() + i * 8, height - 1);
    if (bits == 8) {
      codes[i] = code8_at(plane, y * row_step + x);
    } else {
      codes[i] = code16_at(plane, y * row_step + x);
    }
  }
  whole64 sum = whole64(0L);
  whole64 squares = whole64(0L);
  UNROLL for (int i = 0; i < 8; ++i) {
    if (global_x() < width && group_y() * 64 + local_y() + i * 8 < height) {
      sum += to_whole64(codes[i]);
      squares += square_of(codes[i], 1);
    }
  }
  ADD_GROUP_SUM(sums, 0, sum)
  ADD_GROUP_SUM(sums, 1, squares)
}
#endif

#if KERNEL_HERE(sum_anti_noise_rows)
CHAIN(signal_terms)
CHAIN(noise_terms)

// At the start of a row or column the first sample is not repeated by the mirror, at its end the last one is.
FUNCTION int unevenly_mirrored(int i, int size) { return i < 0 ? -i : i >= size ? 2 * size - 1 - i : i; }

// Sums of each row: of the signal's squares, and behind them, of the noise's.
KERNEL(sum_anti_noise_rows, 32, 8, samples_in reference, samples_in distorted, f32_out sums, int bits, real scale,
       int reference_step, int distorted_step, int width, int height) {
  const int row = min(global_y(), height - 1);
  real sum = real(0.0f);
  for (int begin = 0; begin < width; begin += CHAIN_COLUMNS) {
    const int x = min(begin + local_x(), width - 1);
    real a[9];
    real b[25];
    FETCH_VALUES(a, 9, reference, bits, scale, real(-128.0f),
                 unevenly_mirrored(row + i / 3 - 1, height) * reference_step + unevenly_mirrored(x + i % 3 - 1, width))
    FETCH_VALUES(b, 25, distorted, bits, scale, real(-128.0f),
                 unevenly_mirrored(row + i / 5 - 2, height) * distorted_step + unevenly_mirrored(x + i % 5 - 2, width))
    const real signal =
        sum_of_3(SMOOTH_OUTER(a[0], a[1], a[2]), SMOOTH_MIDDLE(a[3], a[4], a[5]), SMOOTH_OUTER(a[6], a[7], a[8]));
    const real noise =
        signal - sum_of_5(BLUR_OUTER(b[0], b[1], b[2], b[3], b[4]), BLUR_INNER(b[5], b[6], b[7], b[8], b[9]),
                          BLUR_MIDDLE(b[10], b[11], b[12], b[13], b[14]), BLUR_INNER(b[15], b[16], b[17], b[18], b[19]),
                          BLUR_OUTER(b[20], b[21], b[22], b[23], b[24]));
    PUT_TERM(signal_terms, signal * signal)
    PUT_TERM(noise_terms, noise * noise)
    barrier_group();
    const int count = min(CHAIN_COLUMNS, width - begin);
    if (local_x() == 0) {
      ADD_TERMS(signal_terms, count, sum)
    } else if (local_x() == 1) {
      ADD_TERMS(noise_terms, count, sum)
    }
    barrier_group();
  }
  if (local_x() < 2 && global_y() < height) at(sums, local_x() * height + global_y()) = sum;
}
#endif
