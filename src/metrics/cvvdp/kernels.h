// SPDX-License-Identifier: BSD-2-Clause-Patent
// ColorVideoVDP of still pictures on the GPU. The picture is worked through in bands of rows. For each: the rows of the
// second scale that its samples complete, of both pictures (reduce_pictures), then those of each further scale
// (reduce_scale), then a comparison of all subbands as far as they go (compare_stills). Scales from the second on are
// kept whole; of the first there are only samples, which become light wherever they are read.
#include "lang/dialect.h"

#include "lang/exact.h"
#include "sums/tile_sums.h"
#include "metrics/cvvdp/math.h"

#define CHANNELS 3
#define FIRST_KEPT 1
#include "metrics/cvvdp/places.h"
#include "metrics/cvvdp/compare.h"

// How samples lie. Rows of planes, which are made as they are needed, go round in a ring.
#define SAMPLES_BYTES 0         // packed RGB codes of 8 bits
#define SAMPLES_WORDS 1         // the same of 16 bits; codes beyond the table stand for its last value
#define SAMPLES_CODE_PLANES 2   // three planes of codes as fractions of the last
#define SAMPLES_FLOAT_PLANES 3  // three planes of any numbers
#define SAMPLES_LIGHT_PLANES 4  // three planes of light

// Where things are in `constants`; tables of light follow.
#define CONSTANT_GAMMA 0
#define CONSTANT_EXPOSURE 1
#define CONSTANT_RANGE 2
#define CONSTANT_BLACK 3
#define CONSTANT_REFLECTION 4
#define CONSTANT_LEAST 5
#define CONSTANT_PEAK 6
#define CONSTANT_HLG_EXPONENT 7
#define CONSTANT_MATRIX 8  // row by row
#define CONSTANT_TABLES 32

FUNCTION Light light_at(f32_in constants, int eotf) {
  Light light;
  light.eotf = eotf;
  light.exposed = at(constants, CONSTANT_EXPOSURE) != real(1.0f);
  light.gamma = at(constants, CONSTANT_GAMMA);
  light.exposure = at(constants, CONSTANT_EXPOSURE);
  light.range = at(constants, CONSTANT_RANGE);
  light.black = at(constants, CONSTANT_BLACK);
  light.reflection = at(constants, CONSTANT_REFLECTION);
  light.least = at(constants, CONSTANT_LEAST);
  light.peak = at(constants, CONSTANT_PEAK);
  light.hlg_exponent = at(constants, CONSTANT_HLG_EXPONENT);
  return light;
}

struct Shown {
  real red;
  real green;
  real blue;
};

FUNCTION real light_of_float(f32_in constants, int eotf, int table, real value) {
  const int code = code_near(value);
  if (eotf != EOTF_LINEAR && is_code(value, code)) return at(constants, table + code);
  return light_of_sample(light_at(constants, eotf), value);
}
FUNCTION int code_of_plane(samples_in samples, int index, int table_last) {
  return to_whole(fma(float_at(samples, index), to_real(table_last), real(0.5f)));
}

// The light of pixel number `index`; planes have `plane` floats, the table of light ends with number `table_last`.
FUNCTION Shown shown_at(samples_in samples, f32_in constants, int format, int table, int table_last, int plane,
                        int eotf, int index) {
  Shown shown;
  if (format == SAMPLES_BYTES) {
    shown.red = at(constants, table + code8_at(samples, index * 3));
    shown.green = at(constants, table + code8_at(samples, index * 3 + 1));
    shown.blue = at(constants, table + code8_at(samples, index * 3 + 2));
  } else if (format == SAMPLES_WORDS) {
    shown.red = at(constants, table + min(code16_at(samples, index * 3), table_last));
    shown.green = at(constants, table + min(code16_at(samples, index * 3 + 1), table_last));
    shown.blue = at(constants, table + min(code16_at(samples, index * 3 + 2), table_last));
  } else if (format == SAMPLES_CODE_PLANES) {
    shown.red = at(constants, table + code_of_plane(samples, index, table_last));
    shown.green = at(constants, table + code_of_plane(samples, plane + index, table_last));
    shown.blue = at(constants, table + code_of_plane(samples, 2 * plane + index, table_last));
  } else if (format == SAMPLES_LIGHT_PLANES) {
    shown.red = float_at(samples, index);
    shown.green = float_at(samples, plane + index);
    shown.blue = float_at(samples, 2 * plane + index);
  } else {
    shown.red = light_of_float(constants, eotf, table, float_at(samples, index));
    shown.green = light_of_float(constants, eotf, table, float_at(samples, plane + index));
    shown.blue = light_of_float(constants, eotf, table, float_at(samples, 2 * plane + index));
  }
  if (eotf == EOTF_HLG) show_hlg(light_at(constants, eotf), shown.red, shown.green, shown.blue);
  return shown;
}

// A pixel of a picture, by the arguments that all kernels have.
#define SHOWN_AT(picture, row, column)                                                                                \
  shown_at(picture, constants, picture##_format, picture##_table, picture##_table_last, picture##_ring* samples_step, \
           eotf, (row) % picture##_ring * samples_step + (column))

// The channels of light; c is a constant.
FUNCTION real channel_of(f32_in constants, Shown shown, int c) {
  return mix_light(at(constants, CONSTANT_MATRIX + 3 * c), at(constants, CONSTANT_MATRIX + 3 * c + 1),
                   at(constants, CONSTANT_MATRIX + 3 * c + 2), shown.red, shown.green, shown.blue);
}

#if KERNEL_HERE(reduce_pictures)
REDUCE_SHARED

#define FETCH_SAMPLE(to_channels, first, row, column) \
  Shown shown;                                        \
  if (picture == 0) {                                 \
    shown = SHOWN_AT(reference, row, column);         \
  } else {                                            \
    shown = SHOWN_AT(distorted, row, column);         \
  }                                                   \
  UNROLL for (int c = 0; c < CHANNELS; ++c) to_channels[(first) + c] = channel_of(constants, shown, c);

KERNEL(reduce_pictures, 128, 1, samples_in reference, samples_in distorted, f32_in constants, f32_out planes,
       int reference_format, int reference_table, int reference_table_last, int reference_ring, int distorted_format,
       int distorted_table, int distorted_table_last, int distorted_ring, int samples_step, int eotf, int width,
       int height, int y_begin, int y_end, int rows_each) {
  const int picture = group_y() & 1;
  const int s = 0;
  REDUCE(FETCH_SAMPLE)
}
#endif

#if KERNEL_HERE(reduce_scale)
KERNEL(reduce_scale, 32, 8, f32_out planes, int width, int height, int y_begin, int y_end, int s) {
  const int x = global_x();
  REDUCE_KEPT
}
#endif

// Pictures that are too small for a second scale: the first, kept.
#if KERNEL_HERE(show_pictures)
KERNEL(show_pictures, 32, 4, samples_in reference, samples_in distorted, f32_in constants, f32_out planes,
       int reference_format, int reference_table, int reference_table_last, int reference_ring, int distorted_format,
       int distorted_table, int distorted_table_last, int distorted_ring, int samples_step, int eotf, int width,
       int height) {
  const int x = global_x();
  const int y = global_y();
  if (x < width && y < height) {
    const Shown first = SHOWN_AT(reference, y, x);
    const Shown second = SHOWN_AT(distorted, y, x);
    const int to = y * row_floats(width, 0) + x;
    const int plane = plane_floats(width, height, 0);
    UNROLL for (int c = 0; c < CHANNELS; ++c) {
      at(planes, c * plane + to) = channel_of(constants, first, c);
      at(planes, (CHANNELS + c) * plane + to) = channel_of(constants, second, c);
    }
  }
}
#endif

#if KERNEL_HERE(compare_stills)
COMPARE_SHARED
#define ROOM_compare_stills ~, 3

#define FETCH_SHOWN(k, row, column)                                             \
  {                                                                             \
    const Shown first = SHOWN_AT(reference, row, column);                       \
    const Shown second = SHOWN_AT(distorted, row, column);                      \
    UNROLL for (int c = 0; c < CHANNELS; ++c) {                                 \
      fetched[(k) * 2 * CHANNELS + c] = channel_of(constants, first, c);        \
      fetched[((k) * 2 + 1) * CHANNELS + c] = channel_of(constants, second, c); \
    }                                                                           \
  }

#define STORE_SQUARE(c, row, value) \
  at(squares, squares_before(width, height, s) + (c) * plane_size + (row) * row_step + left + local_x()) = value;

KERNEL(compare_stills, 160, 1, samples_in reference, samples_in distorted, f32_in constants, f32x4_in sensitivities,
       f32_in planes, f32_out sums, f32_out squares, int reference_format, int reference_table,
       int reference_table_last, int reference_ring, int distorted_format, int distorted_table,
       int distorted_table_last, int distorted_ring, int samples_step, int eotf, int width, int height, int y_begin,
       int y_end, int part_rows) {
  int group = group_y();
  COMPARE(FETCH_SHOWN)
}
#endif

// Sums by tiles of the squares of small pictures, which many groups have found: a tile by 32 threads, four tiles in a
// row by a group, all channels and subbands in one launch.
#if KERNEL_HERE(sum_squares)
#define SUMMED 16
SHUFFLES(128)

KERNEL(sum_squares, 32, 4, f32_in squares, f32_out sums, int width, int height) {
  const int channel = group_y() % CHANNELS;
  int s = 0;
  int tile_row = group_y() / CHANNELS;
  for (int n = tiles_down(height, 0); tile_row >= n; n = tiles_down(height, s)) {
    tile_row -= n;
    ++s;
  }
  const int columns = scale_side(width, s);
  const int rows = min(scale_side(height, s) - tile_row * TILE_ROWS, TILE_ROWS);
  const int tile = group_x() * 4 + local_y();
  const int x = tile * 32 + local_x();
  const int step = row_floats(width, s);
  const int from = squares_before(width, height, s) + channel * plane_floats(width, height, s) +
                   tile_row * TILE_ROWS * step + min(x, columns - 1);
  real sum = real(0.0f);
  for (int y = 0; y < rows; y += SUMMED) {
    real square[SUMMED];
    UNROLL for (int i = 0; i < SUMMED; ++i) square[i] = at(squares, from + min(y + i, rows - 1) * step);
    UNROLL for (int i = 0; i < SUMMED; ++i) {
      if (y + i < rows && x < columns) sum = sum + square[i];
    }
  }
  SUM_TILE_COLUMNS(sum)
  if (local_x() == 0 && x < columns) {
    const int number = tiles_before(width, height, s) + tile_row * tiles_across(width, s) + tile;
    at(sums, number * CHANNELS + channel) = sum;
  }
}
#endif
