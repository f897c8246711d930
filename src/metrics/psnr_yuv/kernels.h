// SPDX-License-Identifier: BSD-2-Clause-Patent
// Squared differences of two planes on the GPU. Sums of integers are exact, so that threads and groups may add them in
// any order.
#include "lang/dialect.h"

#include "sums/whole_sums.h"

#if KERNEL_HERE(sum_squared_differences)
#define NEEDS_sum_squared_differences ~, needs_int64
GROUP_SUMS(256)

FUNCTION whole squared_difference_8(natural a, natural b, int shift) {
  const whole difference = to_whole((a >> shift) & natural(255u)) - to_whole((b >> shift) & natural(255u));
  return difference * difference;
}
FUNCTION whole64 squared_difference_16(natural a, natural b, int shift) {
  const whole difference = to_whole((a >> shift) & natural(65535u)) - to_whole((b >> shift) & natural(65535u));
  return multiply_64(difference, difference);
}

// A thread adds up 8 words that lie 8 rows apart: a group has 32 words across and 64 rows. Samples have 8 or 16 bits,
// and rows begin at whole words. The sum is added to number `index` of `sums`: a frame has fewer than 2^31 samples, so
// that it stays below 2^63.
KERNEL(sum_squared_differences, 32, 8, u32_in reference, u32_in distorted, i64_out sums, int index, int bits,
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
        sum += squared_difference_16(one, other, 0) + squared_difference_16(one, other, 16);
      }
    }
  }
  ADD_GROUP_SUM(sums, index, sum)
}
#endif
