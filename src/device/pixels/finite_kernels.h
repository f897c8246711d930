// SPDX-License-Identifier: BSD-2-Clause-Patent
// Looks for NaN and infinity among float samples that are on a device.
#include "lang/dialect.h"

#if KERNEL_HERE(find_not_finite)
SHARED(int, first_found, 256)

// A group takes a row. Sample c of pixel (x, y) is number first + y * row_step + x * pixel_step + c * channel_step.
// found: two numbers a row. The first is one more than c * width + x of the first such sample, 0 if there is none; the
// second that sample's bits.
KERNEL(find_not_finite, 256, 1, samples_in samples, i32_out found, int channels, int first, int row_step,
       int pixel_step, int channel_step, int width) {
  const int row = first + group_x() * row_step;
  int mine = channels * width;
  for (int i = local_x(); i < mine; i += 256) {
    const whole bits = bits_of(float_at(samples, row + (i % width) * pixel_step + (i / width) * channel_step));
    if ((bits & 0x7F800000) == 0x7F800000) mine = i;
  }
  first_found[local_x()] = mine;
  barrier_group();
  if (local_x() == 0) {
    for (int i = 1; i < 256; ++i) mine = min(mine, first_found[i]);
    const bool is_found = mine < channels * width;
    whole bits = 0;
    if (is_found) {
      bits = bits_of(float_at(samples, row + (mine % width) * pixel_step + (mine / width) * channel_step));
    }
    at(found, group_x() * 2) = is_found ? mine + 1 : 0;
    at(found, group_x() * 2 + 1) = bits;
  }
}
#endif
