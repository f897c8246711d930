// SPDX-License-Identifier: BSD-2-Clause-Patent
// ColorVideoVDP of frames on the GPU. Each frame becomes three channels of light once (show_frame), which stay in a
// ring while windows contain them, or show_resized does that at the size of the display. For each window: the filters
// over time (filter_frames), all scales (reduce_frames), the comparison of all subbands (compare_frames), and the base,
// for the host (keep_base).
#include "lang/dialect.h"

#include "lang/exact.h"
#include "device/pixels/chroma.h"
#include "sums/tile_sums.h"
#include "metrics/cvvdp/math.h"

#define CHANNELS 4
#define FIRST_KEPT 0
#include "metrics/cvvdp/places.h"
#include "metrics/cvvdp/compare.h"

// ---------------------------------------------------------------------------------------------------------------------
// One thread makes one pixel. Sample (x, y) of luma is number y * luma_step + x, and likewise for colour. Samples are
// shifted to more bits where the metric was set up for more. to: three planes.

#if KERNEL_HERE(show_frame) || KERNEL_HERE(show_resized)
// Where things are in `constants`.
#define CONSTANT_YUV 0     // 9 of them, in the order of YuvEquations
#define CONSTANT_LIMITS 9  // of luma, then of colour, then of red, green and blue: the least and the most
#define CONSTANT_LIGHT 15  // 8 of them, in the order of Light
#define CONSTANT_MIX 23    // the matrix, row by row
#define CONSTANT_TABLE 32  // the light of all codes, if frames are codes

FUNCTION int shifted_code(samples_in samples, int bits, int shift, int index) {
  return (bits == 8 ? code8_at(samples, index) : code16_at(samples, index)) << shift;
}

struct ColourPlaces {
  int step, width, height;
  int across, down;  // PLACED_...
};
FUNCTION ColourPlaces colour_places(int step, int width, int height, int across, int down) {
  ColourPlaces places;
  places.step = step;
  places.width = width;
  places.height = height;
  places.across = across;
  places.down = down;
  return places;
}

// Of the pixel in column x and row y.
FUNCTION void encoded_colours(samples_in luma, samples_in cb, samples_in cr, f32_in constants, int bits, int shift,
                              int luma_step, ColourPlaces places, int x, int y, INOUT(real) red, INOUT(real) green,
                              INOUT(real) blue) {
  const int limited = clamp(shifted_code(luma, bits, shift, y * luma_step + x),
                            to_whole(at(constants, CONSTANT_LIMITS)), to_whole(at(constants, CONSTANT_LIMITS + 1)));
  const real brightness = (to_real(limited) - at(constants, CONSTANT_YUV)) * at(constants, CONSTANT_YUV + 1);
  red = brightness;
  green = brightness;
  blue = brightness;
  if (places.across != PLACED_NONE) {
    const int least = to_whole(at(constants, CONSTANT_LIMITS + 2));
    const int most = to_whole(at(constants, CONSTANT_LIMITS + 3));
    const int near = nearer_sample(places.down, y) * places.step;
    const int other = other_sample(places.down, y, places.height) * places.step;
    const int x_near = nearer_sample(places.across, x);
    const int x_other = other_sample(places.across, x, places.width);
    const int weight = other_quarters(places.down, y);
    const int x_weight = other_quarters(places.across, x);
    const int cb_sum =
        (4 - x_weight) * ((4 - weight) * clamp(shifted_code(cb, bits, shift, near + x_near), least, most) +
                          weight * clamp(shifted_code(cb, bits, shift, other + x_near), least, most)) +
        x_weight * ((4 - weight) * clamp(shifted_code(cb, bits, shift, near + x_other), least, most) +
                    weight * clamp(shifted_code(cb, bits, shift, other + x_other), least, most));
    const int cr_sum =
        (4 - x_weight) * ((4 - weight) * clamp(shifted_code(cr, bits, shift, near + x_near), least, most) +
                          weight * clamp(shifted_code(cr, bits, shift, other + x_near), least, most)) +
        x_weight * ((4 - weight) * clamp(shifted_code(cr, bits, shift, near + x_other), least, most) +
                    weight * clamp(shifted_code(cr, bits, shift, other + x_other), least, most));
    const real blueness = (to_real(cb_sum) - at(constants, CONSTANT_YUV + 2)) * at(constants, CONSTANT_YUV + 3);
    const real redness = (to_real(cr_sum) - at(constants, CONSTANT_YUV + 2)) * at(constants, CONSTANT_YUV + 3);
    const real base = at(constants, CONSTANT_YUV + 8) * brightness;
    red = base + at(constants, CONSTANT_YUV + 4) * redness;
    green = brightness - at(constants, CONSTANT_YUV + 5) * blueness - at(constants, CONSTANT_YUV + 6) * redness;
    blue = base + at(constants, CONSTANT_YUV + 7) * blueness;
  }
  red = min(max(red, at(constants, CONSTANT_LIMITS + 4)), at(constants, CONSTANT_LIMITS + 5));
  green = min(max(green, at(constants, CONSTANT_LIMITS + 4)), at(constants, CONSTANT_LIMITS + 5));
  blue = min(max(blue, at(constants, CONSTANT_LIMITS + 4)), at(constants, CONSTANT_LIMITS + 5));
}

FUNCTION real light_of_code(f32_in constants, int table_last, real value) {
  return at(constants, CONSTANT_TABLE + to_whole(fma(value, to_real(table_last), real(0.5f))));
}

// Red, green and blue from 0 to 1 to the channels of their light, which is in the table if its last number is not 0.
FUNCTION void store_channels(f32_in constants, int eotf, int table_last, real red, real green, real blue, f32_out to,
                             int width, int height, int x, int y) {
  Light light;
  light.eotf = eotf;
  light.gamma = at(constants, CONSTANT_LIGHT);
  light.exposure = at(constants, CONSTANT_LIGHT + 1);
  light.exposed = light.exposure != real(1.0f);
  light.range = at(constants, CONSTANT_LIGHT + 2);
  light.black = at(constants, CONSTANT_LIGHT + 3);
  light.reflection = at(constants, CONSTANT_LIGHT + 4);
  light.least = at(constants, CONSTANT_LIGHT + 5);
  light.peak = at(constants, CONSTANT_LIGHT + 6);
  light.hlg_exponent = at(constants, CONSTANT_LIGHT + 7);
  if (table_last > 0) {
    red = light_of_code(constants, table_last, red);
    green = light_of_code(constants, table_last, green);
    blue = light_of_code(constants, table_last, blue);
  } else {
    red = light_of_sample(light, red);
    green = light_of_sample(light, green);
    blue = light_of_sample(light, blue);
  }
  if (eotf == EOTF_HLG) show_hlg(light, red, green, blue);
  UNROLL for (int c = 0; c < 3; ++c) {
    at(to, c * plane_floats(width, height, 0) + y * row_floats(width, 0) + x) =
        mix_light(at(constants, CONSTANT_MIX + 3 * c), at(constants, CONSTANT_MIX + 3 * c + 1),
                  at(constants, CONSTANT_MIX + 3 * c + 2), red, green, blue);
  }
}
#endif

#if KERNEL_HERE(show_frame)
KERNEL(show_frame, 32, 8, samples_in luma, samples_in cb, samples_in cr, f32_in constants, f32_out to, int bits,
       int shift, int luma_step, int chroma_step, int chroma_width, int chroma_height, int across, int down, int eotf,
       int table_last, int width, int height) {
  const int x = global_x();
  const int y = global_y();
  if (x < width && y < height) {
    const ColourPlaces places = colour_places(chroma_step, chroma_width, chroma_height, across, down);
    real red, green, blue;
    encoded_colours(luma, cb, cr, constants, bits, shift, luma_step, places, x, y, red, green, blue);
    store_channels(constants, eotf, table_last, red, green, blue, to, width, height, x, y);
  }
}
#endif

// The same for a pixel of the display that frames are scaled to. Of what samples a pixel is made along an axis is in
// `columns` and `rows`, for `length` pixels: where in the lists each begins and the last one ends; a list of places in
// the frame; their weights.
#if KERNEL_HERE(show_resized)
FUNCTION int list_begin(f32_in axis, int pixel) { return to_whole(at(axis, pixel)); }
FUNCTION int list_place(f32_in axis, int length, int i) { return to_whole(at(axis, length + 1 + i)); }
FUNCTION real list_weight(f32_in axis, int length, int i) {
  return at(axis, length + 1 + list_begin(axis, length) + i);
}

KERNEL(show_resized, 32, 8, samples_in luma, samples_in cb, samples_in cr, f32_in constants, f32_in columns,
       f32_in rows, f32_out to, int bits, int shift, int luma_step, int chroma_step, int chroma_width,
       int chroma_height, int across, int down, int eotf, int width, int height) {
  const int x = global_x();
  const int y = global_y();
  if (x < width && y < height) {
    const ColourPlaces places = colour_places(chroma_step, chroma_width, chroma_height, across, down);
    real red = real(0.0f);
    real green = real(0.0f);
    real blue = real(0.0f);
    for (int i = list_begin(columns, x); i < list_begin(columns, x + 1); ++i) {
      const int column = list_place(columns, width, i);
      real red_down = real(0.0f);
      real green_down = real(0.0f);
      real blue_down = real(0.0f);
      for (int k = list_begin(rows, y); k < list_begin(rows, y + 1); ++k) {
        const real weight = list_weight(rows, height, k);
        real one_red, one_green, one_blue;
        encoded_colours(luma, cb, cr, constants, bits, shift, luma_step, places, column, list_place(rows, height, k),
                        one_red, one_green, one_blue);
        red_down = red_down + weight * one_red;
        green_down = green_down + weight * one_green;
        blue_down = blue_down + weight * one_blue;
      }
      const real weight = list_weight(columns, width, i);
      red = red + weight * red_down;
      green = green + weight * green_down;
      blue = blue + weight * blue_down;
    }
    store_channels(constants, eotf, 0, fraction_of_range(red), fraction_of_range(green), fraction_of_range(blue), to,
                   width, height, x, y);
  }
}
#endif

// ---------------------------------------------------------------------------------------------------------------------
// One thread filters four pixels of a picture over time: the frame itself in slot `newest` of the ring, the one before
// in the slot before, and so on. `before` of them are there; from the first one the frames go forth to number `turn`
// and back again, so with 0 the first stays. A slot has the planes of both pictures. weights: of each channel in turn.

#if KERNEL_HERE(filter_frames)
FUNCTION real4 add_frame(real weight, real4 value, real4 sum) {
  return to_real4(fma(weight, value.x, sum.x), fma(weight, value.y, sum.y), fma(weight, value.z, sum.z),
                  fma(weight, value.w, sum.w));
}

KERNEL(filter_frames, 32, 8, f32x4_in frames, f32_in weights, f32x4_out planes, int length, int slots, int slot_fours,
       int newest, int before, int turn, int width, int height) {
  const int picture = group_y() & 1;
  const int x = global_x();
  const int y = (group_y() >> 1) * 8 + local_y();
  const int columns = row_floats(width, 0) / 4;
  const int plane = columns * height;
  if (x < columns && y < height) {
    real4 achromatic = to_real4(real(0.0f), real(0.0f), real(0.0f), real(0.0f));
    real4 red_green = to_real4(real(0.0f), real(0.0f), real(0.0f), real(0.0f));
    real4 violet_yellow = to_real4(real(0.0f), real(0.0f), real(0.0f), real(0.0f));
    real4 transient = to_real4(real(0.0f), real(0.0f), real(0.0f), real(0.0f));
    int slot = newest;
    int number = before;
    int step = -1;
    for (int k = 0; k < length; ++k) {
      const int from = slot * slot_fours + picture * 3 * plane + y * columns + x;
      const real4 first = at(frames, from);
      const real4 second = at(frames, from + plane);
      const real4 third = at(frames, from + 2 * plane);
      achromatic = add_frame(at(weights, k), first, achromatic);
      red_green = add_frame(at(weights, length + k), second, red_green);
      violet_yellow = add_frame(at(weights, 2 * length + k), third, violet_yellow);
      transient = add_frame(at(weights, 3 * length + k), first, transient);
      step = number == 0 ? min(turn, 1) : number == turn ? -1 : step;
      number += step;
      slot += step;
      slot = slot < 0 ? slots - 1 : slot == slots ? 0 : slot;
    }
    const int to = picture * CHANNELS * plane + y * columns + x;
    at(planes, to) = achromatic;
    at(planes, to + plane) = red_green;
    at(planes, to + 2 * plane) = violet_yellow;
    at(planes, to + 3 * plane) = transient;
  }
}
#endif

#if KERNEL_HERE(reduce_frames)
REDUCE_SHARED

#define FETCH_FILTERED(to_channels, first, row, column)                                           \
  UNROLL for (int c = 0; c < CHANNELS; ++c) {                                                     \
    to_channels[(first) + c] =                                                                    \
        at(planes, (picture * CHANNELS + c) * filtered_plane + (row) * filtered_step + (column)); \
  }

KERNEL(reduce_frames, 128, 1, f32_out planes, int width, int height, int y_begin, int y_end, int rows_each) {
  const int picture = group_y() & 1;
  const int s = 0;
  const int filtered_plane = plane_floats(width, height, 0);
  const int filtered_step = row_floats(width, 0);
  REDUCE(FETCH_FILTERED)
}
#endif

#if KERNEL_HERE(reduce_frame_scale)
KERNEL(reduce_frame_scale, 32, 8, f32_out planes, int width, int height, int y_begin, int y_end, int s) {
  const int x = global_x();
  REDUCE_KEPT
}
#endif

#if KERNEL_HERE(compare_frames)
COMPARE_SHARED
#define ROOM_compare_frames ~, 2
#define FETCH_NOTHING(k, row, column)
#define STORE_SQUARE(c, row, value)

KERNEL(compare_frames, 160, 1, f32x4_in sensitivities, f32_in planes, f32_out sums, int width, int height, int y_begin,
       int y_end) {
  int group = group_y();
  const int part_rows = TILE_ROWS;
  COMPARE(FETCH_NOTHING)
}
#endif

#if KERNEL_HERE(keep_base)
#define KEPT_BY_GROUP 4096
KERNEL(keep_base, 256, 1, f32_in planes, f32_out to, int from, int count) {
  for (int i = group_x() * KEPT_BY_GROUP + local_x(); i < min((group_x() + 1) * KEPT_BY_GROUP, count); i += 256) {
    at(to, i) = at(planes, from + i);
  }
}
#endif
