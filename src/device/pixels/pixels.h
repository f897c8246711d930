// SPDX-License-Identifier: BSD-2-Clause-Patent
// A picture's pixels as kernels find them where device/pixels/reader.h says: include it after lang/dialect.h.

// What a launch is told of them: their format, of codes the last index of their table, of planes how far apart they
// are.
#define FORMAT_BYTES 0   // packed RGB codes of 8 bit, to be looked up in a table
#define FORMAT_WORDS 1   // the same of 16 bit; codes beyond table_last stand for the table's last value
#define FORMAT_PLANES 2  // three planes of floats in the working space, plane_stride floats from one to the next

struct Pixel {
  real red;
  real green;
  real blue;
};

// Pixel number `index`, row by row from the first row sent, in one format each.
FUNCTION Pixel pixel_of_bytes(samples_in samples, f32_in table, int index) {
  Pixel pixel;
  pixel.red = at(table, code8_at(samples, index * 3));
  pixel.green = at(table, code8_at(samples, index * 3 + 1));
  pixel.blue = at(table, code8_at(samples, index * 3 + 2));
  return pixel;
}
FUNCTION Pixel pixel_of_words(samples_in samples, f32_in table, int table_last, int index) {
  Pixel pixel;
  pixel.red = at(table, min(code16_at(samples, index * 3), table_last));
  pixel.green = at(table, min(code16_at(samples, index * 3 + 1), table_last));
  pixel.blue = at(table, min(code16_at(samples, index * 3 + 2), table_last));
  return pixel;
}
FUNCTION Pixel pixel_of_planes(samples_in samples, int plane_stride, int index) {
  Pixel pixel;
  pixel.red = float_at(samples, index);
  pixel.green = float_at(samples, plane_stride + index);
  pixel.blue = float_at(samples, 2 * plane_stride + index);
  return pixel;
}

// The same in whichever format, which is one for a whole launch: the branches cost next to nothing.
FUNCTION Pixel pixel_at(samples_in samples, f32_in table, int format, int table_last, int plane_stride, int index) {
  if (format == FORMAT_BYTES) return pixel_of_bytes(samples, table, index);
  if (format == FORMAT_WORDS) return pixel_of_words(samples, table, table_last, index);
  return pixel_of_planes(samples, plane_stride, index);
}

// Several at once: pixels[k] for k from 0 to count - 1, of which `index` is an expression. Between the branches of
// pixel_at one pixel's table would be waited for before the next one's codes are fetched.
#define FETCH_PIXELS(pixels, count, samples, table, format, table_last, plane_stride, index)                \
  if ((format) == FORMAT_BYTES) {                                                                           \
    UNROLL for (int k = 0; k < (count); ++k) pixels[k] = pixel_of_bytes(samples, table, index);             \
  } else if ((format) == FORMAT_WORDS) {                                                                    \
    UNROLL for (int k = 0; k < (count); ++k) pixels[k] = pixel_of_words(samples, table, table_last, index); \
  } else {                                                                                                  \
    UNROLL for (int k = 0; k < (count); ++k) pixels[k] = pixel_of_planes(samples, plane_stride, index);     \
  }
