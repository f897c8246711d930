// SPDX-License-Identifier: BSD-2-Clause-Patent
// Samples that no single table describes, converted on the device as Rows::read converts them on the CPU; and frames of
// Y'CbCr, as colour/yuv.h converts them and Rows::read what comes of that.
#include "lang/dialect.h"

#include "lang/exact.h"
#include "colour/math.h"
#include "device/pixels/chroma.h"

#define TYPE_BYTES 0
#define TYPE_WORDS 1
#define TYPE_FLOATS 2

// Where the parameters are in `constants`.
#define CONSTANT_A 0  // of the curve
#define CONSTANT_BACKGROUND 1
#define CONSTANT_MIXING 2   // 14 of them, in the order of Mixing
#define CONSTANT_YUV 16     // 9 of them, in the order of YuvEquations
#define CONSTANT_TABLES 25  // of integer samples, or the table of floats

#if KERNEL_HERE(convert_pixels) || KERNEL_HERE(convert_frame)
// A float sample in the working space. last_code is negative where there is no table of floats.
FUNCTION real light_of_float(f32_in constants, int curve, int to_codes, int last_code, real encoded) {
  real place = real(-1.0f);
  if (last_code >= 0) place = code_place(encoded);
  if (place >= real(0.0f)) return at(constants, CONSTANT_TABLES + to_whole(place));
  const real light = light_of_sample(curve, at(constants, CONSTANT_A), encoded);
  return to_codes != 0 ? srgb_code(light) : light;
}

// Pixel number `to` of three planes, once its channels are mixed.
FUNCTION void store_mixed(f32_in constants, f32_out planes, int steps, int to, int plane_stride, real red, real green,
                          real blue) {
  if (steps != 0) {
    Mixing mixing;
    mixing.hlg_red = at(constants, CONSTANT_MIXING);
    mixing.hlg_green = at(constants, CONSTANT_MIXING + 1);
    mixing.hlg_blue = at(constants, CONSTANT_MIXING + 2);
    mixing.hlg_exponent = at(constants, CONSTANT_MIXING + 3);
    mixing.hlg_scale = at(constants, CONSTANT_MIXING + 4);
    mixing.red_red = at(constants, CONSTANT_MIXING + 5);
    mixing.red_green = at(constants, CONSTANT_MIXING + 6);
    mixing.red_blue = at(constants, CONSTANT_MIXING + 7);
    mixing.green_red = at(constants, CONSTANT_MIXING + 8);
    mixing.green_green = at(constants, CONSTANT_MIXING + 9);
    mixing.green_blue = at(constants, CONSTANT_MIXING + 10);
    mixing.blue_red = at(constants, CONSTANT_MIXING + 11);
    mixing.blue_green = at(constants, CONSTANT_MIXING + 12);
    mixing.blue_blue = at(constants, CONSTANT_MIXING + 13);
    mix(steps, mixing, red, green, blue);
  }
  at(planes, to) = red;
  at(planes, plane_stride + to) = green;
  at(planes, 2 * plane_stride + to) = blue;
}

FUNCTION int code_at(samples_in samples, int type, int index) {
  return type == TYPE_BYTES ? code8_at(samples, index) : code16_at(samples, index);
}
#endif

#if KERNEL_HERE(convert_pixels)
// One thread makes one pixel, of grey or RGB samples with or without alpha. Sample c of pixel (x, y) is number
// first + y * row_step + x * pixel_step + c * channel_step. Tables of integer samples have table_step entries; 0 means
// one for all channels. last_code is that of integer samples; of floats it is negative where there is no table. planes:
// three, plane_stride floats apart.
KERNEL(convert_pixels, 32, 8, samples_in samples, f32_in constants, f32_out planes, int type, int channels, int first,
       int row_step, int pixel_step, int channel_step, int curve, int to_codes, int steps, int last_code,
       int table_step, int width, int rows, int plane_stride) {
  const int x = global_x();
  const int y = global_y();
  if (x < width && y < rows) {
    const int pixel = first + y * row_step + x * pixel_step;
    const int colours = channels > 2 ? 3 : 1;
    const real largest = to_real(last_code);
    const real background = at(constants, CONSTANT_BACKGROUND);
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
        value = at(constants, CONSTANT_TABLES + c * table_step + min(code_at(samples, type, i), last_code));
      } else {
        real encoded;
        if (type == TYPE_FLOATS) {
          encoded = float_at(samples, i);
        } else {
          encoded = divide(to_real(min(code_at(samples, type, i), last_code)), largest);
        }
        if (!opaque) encoded = alpha * fraction_of(encoded) + (real(1.0f) - alpha) * background;
        value = light_of_float(constants, curve, to_codes, opaque ? last_code : -1, encoded);
      }
      if (c == 0) red = value;
      if (c == 1) green = value;
      if (c == 2) blue = value;
    }
    if (colours == 1) {
      green = red;
      blue = red;
    }
    store_mixed(constants, planes, steps, y * width + x, plane_stride, red, green, blue);
  }
}
#endif

#if KERNEL_HERE(convert_frame)
FUNCTION real clip_sample(real value) { return min(max(value, real(0.0f)), real(1.0f)); }

// One thread makes one pixel. Sample (x, y) of luma is number y * luma_step + x; those of colour lie likewise from
// cb_first and cr_first on. The first row made is y_first. All else as for convert_pixels of floats.
KERNEL(convert_frame, 32, 8, samples_in samples, f32_in constants, f32_out planes, int type, int across, int down,
       int luma_step, int cb_first, int cr_first, int chroma_step, int chroma_width, int chroma_height, int curve,
       int to_codes, int steps, int last_code, int width, int y_first, int rows, int plane_stride) {
  const int x = global_x();
  const int row = global_y();
  if (x < width && row < rows) {
    const int y = y_first + row;
    const real luma = (to_real(code_at(samples, type, y * luma_step + x)) - at(constants, CONSTANT_YUV)) *
                      at(constants, CONSTANT_YUV + 1);
    real red;
    real green;
    real blue;
    if (across == PLACED_NONE) {
      red = light_of_float(constants, curve, to_codes, last_code, clip_sample(luma));
      green = red;
      blue = red;
    } else {
      const int x_near = nearer_sample(across, x);
      const int x_other = other_sample(across, x, chroma_width);
      const int x_weight = other_quarters(across, x);
      const int near = nearer_sample(down, y) * chroma_step;
      const int other = other_sample(down, y, chroma_height) * chroma_step;
      const int weight = other_quarters(down, y);
      int sums[2];  // of sixteenths
      UNROLL for (int c = 0; c < 2; ++c) {
        const int first = c == 0 ? cb_first : cr_first;
        const int here = (4 - weight) * code_at(samples, type, first + near + x_near) +
                         weight * code_at(samples, type, first + other + x_near);
        const int beside = (4 - weight) * code_at(samples, type, first + near + x_other) +
                           weight * code_at(samples, type, first + other + x_other);
        sums[c] = (4 - x_weight) * here + x_weight * beside;
      }
      const real cb = (to_real(sums[0]) - at(constants, CONSTANT_YUV + 2)) * at(constants, CONSTANT_YUV + 3);
      const real cr = (to_real(sums[1]) - at(constants, CONSTANT_YUV + 2)) * at(constants, CONSTANT_YUV + 3);
      const real base = at(constants, CONSTANT_YUV + 8) * luma;
      red = clip_sample(base + at(constants, CONSTANT_YUV + 4) * cr);
      green = clip_sample(luma - at(constants, CONSTANT_YUV + 5) * cb - at(constants, CONSTANT_YUV + 6) * cr);
      blue = clip_sample(base + at(constants, CONSTANT_YUV + 7) * cb);
      red = light_of_float(constants, curve, to_codes, last_code, red);
      green = light_of_float(constants, curve, to_codes, last_code, green);
      blue = light_of_float(constants, curve, to_codes, last_code, blue);
    }
    store_mixed(constants, planes, steps, row * width + x, plane_stride, red, green, blue);
  }
}
#endif
