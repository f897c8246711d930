// SPDX-License-Identifier: BSD-2-Clause-Patent
// Samples of a plane on a device (engine/device_feature.h), in the kernel dialect: include it after lang/dialect.h.

// The index inside of a row or column for one that may be past its ends, which are mirrored without being repeated.
// Farther out than that: any index inside, so that threads whose results nobody wants may fetch as well.
FUNCTION int mirrored_index(int i, int size) {
  const int from_start = i < 0 ? -i : i;
  return clamp(from_start >= size ? 2 * size - 2 - from_start : from_start, 0, size - 1);
}

// Fetches `count` samples of column x, those of the rows y, y + 1 .. into the array `values`, mirrored at the ends of
// the column. Samples have 8 or 16 `bits` in memory. All fetches are on their way before the first is waited for.
#define FETCH_COLUMN(values, count, plane, row_bytes, bits, x, y, height)                      \
  if ((bits) == 8) {                                                                           \
    UNROLL for (int i = 0; i < (count); ++i) {                                                 \
      values[i] = code8_at(plane, mirrored_index((y) + i, height) * (row_bytes) + (x));        \
    }                                                                                          \
  } else {                                                                                     \
    UNROLL for (int i = 0; i < (count); ++i) {                                                 \
      values[i] = code16_at(plane, mirrored_index((y) + i, height) * ((row_bytes) / 2) + (x)); \
    }                                                                                          \
  }

// Sample number `index` of a plane whose samples have 8 or 16 `bits` in memory, times `scale`: 1 for samples of 8 bits,
// 1/4 for 10, and so on, which gives steps of 8 bit without rounding, as read_frame_row() does.
FUNCTION real sample_at(samples_in plane, int bits, real scale, int index) {
  whole code = whole(0);
  if (bits == 8) {
    code = code8_at(plane, index);
  } else {
    code = code16_at(plane, index);
  }
  return to_real(code) * scale;
}

// Fetches `count` such samples into the array `values`; `index` tells the place of number i. As FETCH_COLUMN, with one
// branch for all of them, so that no fetch waits for another.
#define FETCH_SAMPLES(values, count, plane, bits, scale, index)                                      \
  if ((bits) == 8) {                                                                                 \
    UNROLL for (int i = 0; i < (count); ++i) values[i] = to_real(code8_at(plane, index)) * (scale);  \
  } else {                                                                                           \
    UNROLL for (int i = 0; i < (count); ++i) values[i] = to_real(code16_at(plane, index)) * (scale); \
  }

// The same of a picture that may have floats, for 32 bits; codes are moved by `offset`.
#define FETCH_VALUES(values, count, plane, bits, scale, offset, index)           \
  if ((bits) == 32) {                                                            \
    UNROLL for (int i = 0; i < (count); ++i) values[i] = float_at(plane, index); \
  } else {                                                                       \
    FETCH_SAMPLES(values, count, plane, bits, scale, index)                      \
    UNROLL for (int i = 0; i < (count); ++i) values[i] = values[i] + (offset);   \
  }
