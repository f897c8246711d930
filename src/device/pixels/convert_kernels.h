// SPDX-License-Identifier: BSD-2-Clause-Patent
// Samples that no single table describes, converted on the device as Rows::read converts them on the CPU.
#include "lang/dialect.h"

#include "lang/exact.h"
#include "colour/math.h"

#define TYPE_BYTES 0
#define TYPE_WORDS 1
#define TYPE_FLOATS 2

// Where the parameters are in `numbers`.
#define NUMBER_A 0  // of the curve
#define NUMBER_B 1
#define NUMBER_BACKGROUND 2
#define NUMBER_MIXING 3   // 14 of them, in the order of Mixing
#define NUMBER_TABLES 17  // of integer samples, or the table of floats

#if KERNEL_HERE(convert_pixels)
FUNCTION int code_at(samples_in samples, int type, int index) {
  return type == TYPE_BYTES ? code8_at(samples, index) : code16_at(samples, index);
}

// One thread makes one pixel, of grey or RGB samples with or without alpha. Sample c of pixel (x, y) is number
// first + y * row_step + x * pixel_step + c * channel_step. Tables of integer samples have table_step entries; 0 means
// one for all channels. last_code is that of integer samples; of floats it is negative where there is no table. planes:
// three of `plane` floats.
KERNEL(convert_pixels, 32, 8, samples_in samples, f32_in numbers, f32_out planes, int type, int channels, int first,
       int row_step, int pixel_step, int channel_step, int curve, int to_codes, int steps, int last_code,
       int table_step, int width, int rows, int plane) {
  const int x = global_x();
  const int y = global_y();
  if (x < width && y < rows) {
    const int pixel = first + y * row_step + x * pixel_step;
    const int colours = channels > 2 ? 3 : 1;
    const real largest = to_real(last_code);
    const real background = at(numbers, NUMBER_BACKGROUND);
    real alpha = real(1.0f);
    bool opaque = true;
    if (colours < channels) {
      const int i = pixel + colours * channel_step;
      if (type == TYPE_FLOATS) {
        alpha = float_at(samples, i);
      } else {
        alpha = divide(to_real(min(code_at(samples, type, i), last_code)), largest);
      }
      alpha = fraction_of(alpha);
      opaque = alpha == real(1.0f);
    }
    real red = real(0.0f);
    real green = real(0.0f);
    real blue = real(0.0f);
    for (int c = 0; c < colours; ++c) {
      const int i = pixel + c * channel_step;
      real value;
      if (type != TYPE_FLOATS && opaque) {
        value = at(numbers, NUMBER_TABLES + c * table_step + min(code_at(samples, type, i), last_code));
      } else {
        real encoded;
        if (type == TYPE_FLOATS) {
          encoded = float_at(samples, i);
        } else {
          encoded = divide(to_real(min(code_at(samples, type, i), last_code)), largest);
        }
        if (!opaque) encoded = alpha * fraction_of(encoded) + (real(1.0f) - alpha) * background;
        real place = real(-1.0f);
        if (opaque && last_code >= 0) place = code_place(encoded);
        if (place >= real(0.0f)) {
          value = at(numbers, NUMBER_TABLES + to_whole(place));
        } else {
          value = light_of_sample(curve, at(numbers, NUMBER_A), at(numbers, NUMBER_B), encoded);
          if (to_codes != 0) value = srgb_code(value);
        }
      }
      if (c == 0) red = value;
      if (c == 1) green = value;
      if (c == 2) blue = value;
    }
    if (colours == 1) {
      green = red;
      blue = red;
    }
    if (steps != 0) {
      Mixing mixing;
      mixing.hlg_red = at(numbers, NUMBER_MIXING);
      mixing.hlg_green = at(numbers, NUMBER_MIXING + 1);
      mixing.hlg_blue = at(numbers, NUMBER_MIXING + 2);
      mixing.hlg_exponent = at(numbers, NUMBER_MIXING + 3);
      mixing.hlg_scale = at(numbers, NUMBER_MIXING + 4);
      mixing.red_red = at(numbers, NUMBER_MIXING + 5);
      mixing.red_green = at(numbers, NUMBER_MIXING + 6);
      mixing.red_blue = at(numbers, NUMBER_MIXING + 7);
      mixing.green_red = at(numbers, NUMBER_MIXING + 8);
      mixing.green_green = at(numbers, NUMBER_MIXING + 9);
      mixing.green_blue = at(numbers, NUMBER_MIXING + 10);
      mixing.blue_red = at(numbers, NUMBER_MIXING + 11);
      mixing.blue_green = at(numbers, NUMBER_MIXING + 12);
      mixing.blue_blue = at(numbers, NUMBER_MIXING + 13);
      mix(steps, mixing, red, green, blue);
    }
    const int to = y * width + x;
    at(planes, to) = red;
    at(planes, plane + to) = green;
    at(planes, 2 * plane + to) = blue;
  }
}
#endif
