// SPDX-License-Identifier: BSD-2-Clause-Patent
// The pixels that metrics/upload.h sent, as kernels find them: include it after lang/dialect.h.

// What a launch is told of them: their form, and with it an extent.
#define FORM_BYTES 0   // packed RGB codes of 8 bit, to be looked up in a table whose last index is the extent
#define FORM_WORDS 1   // the same of 16 bit; codes beyond the table stand for its last value
#define FORM_PLANES 2  // three planes of floats in the working space, extent floats from one to the next

struct Pixel {
  real red;
  real green;
  real blue;
};

// Pixel number `index`, row by row from the first row sent. All that differs between forms is the same for a whole
// launch, so the branches cost next to nothing.
FUNCTION Pixel pixel_at(samples_in samples, f32_in table, int form, int extent, int index) {
  Pixel pixel;
  if (form == FORM_BYTES) {
    pixel.red = at(table, code8_at(samples, index * 3));
    pixel.green = at(table, code8_at(samples, index * 3 + 1));
    pixel.blue = at(table, code8_at(samples, index * 3 + 2));
  } else if (form == FORM_WORDS) {
    pixel.red = at(table, min(code16_at(samples, index * 3), extent));
    pixel.green = at(table, min(code16_at(samples, index * 3 + 1), extent));
    pixel.blue = at(table, min(code16_at(samples, index * 3 + 2), extent));
  } else {
    pixel.red = float_at(samples, index);
    pixel.green = float_at(samples, extent + index);
    pixel.blue = float_at(samples, 2 * extent + index);
  }
  return pixel;
}
