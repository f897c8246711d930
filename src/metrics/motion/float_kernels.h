// SPDX-License-Identifier: BSD-2-Clause-Patent
// How much two planes differ once both are blurred, in floats, on the GPU: the sum of each row. Blurred planes are not
// kept; a frame is blurred again for the next one, which is less work than to write it and to read it back.
#include "lang/dialect.h"

#include "frames/plane_samples.h"
#include "frames/row_chains.h"
#include "metrics/motion/float_math.h"

// Where a plane's samples are, and how it is blurred.
struct Plane {
  int bits;
  real scale;  // to steps of 8 bit
  int step;    // samples from row to row
  int width;
  int height;
  real outer;
  real inner;
  real middle;
};

FUNCTION real blurred(samples_in samples, Plane plane, int x, int y) {
  real values[25];  // column by column
  FETCH_VALUES(values, 25, samples, plane.bits, plane.scale, real(-128.0f),
               mirrored_index(y + i % 5 - 2, plane.height) * plane.step + mirrored_index(x + i / 5 - 2, plane.width))
  real down[5];
  UNROLL for (int k = 0; k < 5; ++k) {
    down[k] = weighted(plane.outer, plane.inner, plane.middle, values[k * 5], values[k * 5 + 1], values[k * 5 + 2],
                       values[k * 5 + 3], values[k * 5 + 4]);
  }
  return weighted(plane.outer, plane.inner, plane.middle, down[0], down[1], down[2], down[3], down[4]);
}

#if KERNEL_HERE(sum_blurred_rows)
CHAIN(differences)

KERNEL(sum_blurred_rows, 32, 8, samples_in before, samples_in now, f32_out sums, int bits, real scale, int before_step,
       int now_step, real outer, real inner, real middle, int width, int height) {
  Plane plane;
  plane.bits = bits;
  plane.scale = scale;
  plane.width = width;
  plane.height = height;
  plane.outer = outer;
  plane.inner = inner;
  plane.middle = middle;
  const int y = min(global_y(), height - 1);
  real sum = real(0.0f);
  for (int begin = 0; begin < width; begin += CHAIN_COLUMNS) {
    const int x = min(begin + local_x(), width - 1);
    plane.step = before_step;
    const real value = blurred(before, plane, x, y);
    plane.step = now_step;
    PUT_TERM(differences, abs(value - blurred(now, plane, x, y)))
    barrier_group();
    if (local_x() == 0) {
      ADD_TERMS(differences, min(CHAIN_COLUMNS, width - begin), sum)
    }
    barrier_group();
  }
  if (local_x() == 0 && global_y() < height) at(sums, global_y()) = sum;
}
#endif

#if KERNEL_HERE(sum_halved_rows)
#define NEEDS_sum_halved_rows ~, needs_double
CHAIN(halved_differences)

// Where a row or column of a plane at half its size comes from: between two that lie next to each other. `ratio` is
// the size by half of it.
struct HalfPlace {
  int first;
  int second;
  real fraction;
};

FUNCTION HalfPlace half_place(int i, real ratio) {
  const real place = to_real((to_wide(i) + WIDE(0.5)) * to_wide(ratio) - WIDE(0.5));
  HalfPlace result;
  result.first = to_whole(place);
  result.fraction = place - to_real(result.first);
  result.second = result.fraction > real(0.0f) ? result.first + 1 : result.first;
  return result;
}

FUNCTION real between(samples_in samples, Plane plane, HalfPlace column, HalfPlace row) {
  const real dx = column.fraction;
  const real dy = row.fraction;
  const real one = real(1.0f);
  return (((one - dy) * (one - dx) * blurred(samples, plane, column.first, row.first) +
           (one - dy) * dx * blurred(samples, plane, column.second, row.first)) +
          dy * (one - dx) * blurred(samples, plane, column.first, row.second)) +
         dy * dx * blurred(samples, plane, column.second, row.second);
}

// The same of both planes at half their size, which is (width + 1) / 2 and (height + 1) / 2.
KERNEL(sum_halved_rows, 32, 8, samples_in before, samples_in now, f32_out sums, int bits, real scale, int before_step,
       int now_step, real outer, real inner, real middle, int width, int height) {
  Plane plane;
  plane.bits = bits;
  plane.scale = scale;
  plane.width = width;
  plane.height = height;
  plane.outer = outer;
  plane.inner = inner;
  plane.middle = middle;
  const int half_width = (width + 1) / 2;
  const int half_height = (height + 1) / 2;
  const HalfPlace row = half_place(min(global_y(), half_height - 1), divide(to_real(height), to_real(half_height)));
  const real ratio = divide(to_real(width), to_real(half_width));
  real sum = real(0.0f);
  for (int begin = 0; begin < half_width; begin += CHAIN_COLUMNS) {
    const HalfPlace column = half_place(min(begin + local_x(), half_width - 1), ratio);
    plane.step = before_step;
    const real value = between(before, plane, column, row);
    plane.step = now_step;
    PUT_TERM(halved_differences, abs(value - between(now, plane, column, row)))
    barrier_group();
    if (local_x() == 0) {
      ADD_TERMS(halved_differences, min(CHAIN_COLUMNS, half_width - begin), sum)
    }
    barrier_group();
  }
  if (local_x() == 0 && global_y() < half_height) at(sums, global_y()) = sum;
}
#endif
