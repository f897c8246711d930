// SPDX-License-Identifier: BSD-2-Clause-Patent
// A picture's pixels as kernels find them where device/pixels/reader.h says: include it after lang/dialect.h.

// What a launch is told of them: their form, and with it an extent.
#define FORM_BYTES 0   // packed RGB codes of 8 bit, to be looked up in a table whose last index is the extent
#define FORM_WORDS 1   // the same of 16 bit; codes beyond the table stand for its last value
#define FORM_PLANES 2  // three planes of floats in the working space, extent floats from one to the next

struct Pixel {
  real red;
  real green;
  real blue;
};

// Pixel number `index`, row by row from the first row sent, in one form each.
FUNCTION Pixel pixel_of_bytes(samples_in samples, f32_in table, int index) {
  Pixel pixel;
  pixel.red = at(table, code8_at(samples, index * 3));
  pixel.green = at(table, code8_at(samples, index * 3 + 1));
  pixel.blue = at(table, code8_at(samples, index * 3 + 2));
  return pixel;
}
FUNCTION Pixel pixel_of_words(samples_in samples, f32_in table, int extent, int index) {
  Pixel pixel;
  pixel.red = at(table, min(code16_at(samples, index * 3), extent));
  pixel.green = at(table, min(code16_at(samples, index * 3 + 1), extent));
  pixel.blue = at(table, min(code16_at(samples, index * 3 + 2), extent));
  return pixel;
}
FUNCTION Pixel pixel_of_planes(samples_in samples, int extent, int index) {
  Pixel pixel;
  pixel.red = float_at(samples, index);
  pixel.green = float_at(samples, extent + index);
  pixel.blue = float_at(samples, 2 * extent + index);
  return pixel;
}

// The same in whichever form, which is one for a whole launch: the branches cost next to nothing.
FUNCTION Pixel pixel_at(samples_in samples, f32_in table, int form, int extent, int index) {
  if (form == FORM_BYTES) return pixel_of_bytes(samples, table, index);
  if (form == FORM_WORDS) return pixel_of_words(samples, table, extent, index);
  return pixel_of_planes(samples, extent, index);
}

// Several at once: pixels[k] for k from 0 to count - 1, of which `index` is an expression. Between the branches of
// pixel_at one pixel's table would be waited for before the next one's codes are fetched.
#define FETCH_PIXELS(pixels, count, samples, table, form, extent, index)                                \
  if ((form) == FORM_BYTES) {                                                                           \
    UNROLL for (int k = 0; k < (count); ++k) pixels[k] = pixel_of_bytes(samples, table, index);         \
  } else if ((form) == FORM_WORDS) {                                                                    \
    UNROLL for (int k = 0; k < (count); ++k) pixels[k] = pixel_of_words(samples, table, extent, index); \
  } else {                                                                                              \
    UNROLL for (int k = 0; k < (count); ++k) pixels[k] = pixel_of_planes(samples, extent, index);       \
  }
