// SPDX-License-Identifier: BSD-2-Clause-Patent
// What Butteraugli's files of kernels have in common: include it after lang/dialect.h.
//
// Planes hold `ring` rows, row y at y % ring, so that a band finds the last rows of the one above it; row y_begin of a
// launch lies at slot_begin. Rows are stride_of(width) floats, with columns of zeros on either side; the host passes
// the address of column 0. Rows of zeros stand above the first row and below the last where a filter looks at them: a
// kernel that is told to make rows outside the picture makes zeros.

// Two pictures; or the reference alone, to prepare all that depends on nothing else: subbands as they are compared, the
// blurred activity and the mask's gains; or the distorted one against a prepared reference. Prepared planes hold all
// rows of the picture, and none beside it.
#define WORK_PAIR 0
#define WORK_PREPARE 1
#define WORK_PREPARED 2

// The planes from the split of the middle subbands on, which share a ring.
#define PLANE_HIGH 0              // X and Y of both pictures
#define PLANE_BLURRED_ACTIVITY 0  // of both pictures, where the high subbands have been split
#define PLANE_DIFFERENCE 4        // pixel by pixel: of the middle subbands, later of all but the low ones
#define PLANE_MALTA 5             // inputs of the line filters: ultra-high, high and middle of X, then of Y
#define PLANE_ACTIVITY 11         // of both pictures
#define LATE_PLANES 13

#define COLUMN_UNIT 128  // a row has room for a multiple of this
#define MARGIN 32        // columns of zeros on either side

FUNCTION int groups_of(int count, int unit) { return (count + unit - 1) / unit; }
FUNCTION int stride_of(int width) { return groups_of(width, COLUMN_UNIT) * COLUMN_UNIT + 2 * MARGIN; }
FUNCTION int map_stride_of(int width) { return groups_of(width, COLUMN_UNIT) * COLUMN_UNIT; }

// What the host passes in `constants`: the weights that depend on options, then blur_edge_scale for the columns and
// rows of each blur.
#define CONSTANT_MALTA_ULTRA_X 0
#define CONSTANT_MALTA_ULTRA_Y 2
#define CONSTANT_MALTA_HIGH_X 4
#define CONSTANT_MALTA_HIGH_Y 6
#define CONSTANT_PIXEL_HIGH_X 8
#define CONSTANT_PIXEL_HIGH_Y 10
#define CONSTANT_SCALES 12
#define SCALES_LOW 0
#define SCALES_MIDDLE 1
#define SCALES_HIGH 2
#define SCALES_MASK 3

FUNCTION int column_scales(int blur, int width, int height) { return CONSTANT_SCALES + blur * (width + height); }
FUNCTION int row_scales(int blur, int width, int height) { return column_scales(blur, width, height) + width; }

FUNCTION bool inside(int position, int size) { return position >= 0 && position < size; }
// Whether an edge cuts a blur.
FUNCTION bool is_cut(int position, int radius, int size) { return position < radius || position >= size - radius; }

// Rows follow one another in a ring. The host says where the first row of a launch lies: divisions are slow.
FUNCTION int wrapped(int slot, int ring) { return slot >= ring ? slot - ring : slot; }
FUNCTION int slot_before(int slot, int rows, int ring) { return slot < rows ? slot - rows + ring : slot - rows; }

#define UNPACK(array, first, quad) \
  {                                \
    array[first] = quad.x;         \
    array[(first) + 1] = quad.y;   \
    array[(first) + 2] = quad.z;   \
    array[(first) + 3] = quad.w;   \
  }
// Four neighbours, 0 outside the picture.
#define PACK(array, first, x, width, row_inside)                                \
  to_real4((row_inside) ? array[first] : real(0.0f),                            \
           (row_inside) && (x) + 1 < (width) ? array[(first) + 1] : real(0.0f), \
           (row_inside) && (x) + 2 < (width) ? array[(first) + 2] : real(0.0f), \
           (row_inside) && (x) + 3 < (width) ? array[(first) + 3] : real(0.0f))
