// SPDX-License-Identifier: BSD-2-Clause-Patent
// Planes of frames that a decoder or somebody else left on the device, brought to where features and
// device/pixels/convert_kernels.h expect samples.
#include "lang/dialect.h"

// One thread makes 4 bytes of a row: four samples of 8 bits, or two of more. Sample (x, y) is number
// first + y * row_step + x * pixel_step, without its `shift` lowest bits, and at most `largest`. Rows of the new plane
// lie row_words words apart.
KERNEL(unpack_plane, 32, 8, samples_in samples, u32_out words, int is_bytes, int first, int row_step, int pixel_step,
       int shift, int largest, int width, int rows, int row_words) {
  const int word = global_x();
  const int y = global_y();
  const int count = is_bytes != 0 ? 4 : 2;
  const int bits = is_bytes != 0 ? 8 : 16;
  if (word * count < width && y < rows) {
    natural value = natural(0u);
    for (int i = 0; i < count; ++i) {
      const int index = first + y * row_step + min(word * count + i, width - 1) * pixel_step;
      const whole code = is_bytes != 0 ? code8_at(samples, index) : code16_at(samples, index);
      value = value | (to_natural(min(code >> shift, largest)) << (i * bits));
    }
    at(words, y * row_words + word) = value;
  }
}
