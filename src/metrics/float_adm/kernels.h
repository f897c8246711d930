// SPDX-License-Identifier: BSD-2-Clause-Patent
// ADM in float on the GPU: the wavelet of a scale, and the sums of its rows. See metrics/adm for the words.
#include "lang/dialect.h"

#include "frames/plane_samples.h"
#include "frames/row_chains.h"
#include "lang/exact.h"
#include "metrics/float_adm/math.h"

#if KERNEL_HERE(filter_picture)
// The picture is mirrored at its edges, at the upper and left ones without doubling the first sample.
FUNCTION int wavelet_index(int i, int size) { return i < 0 ? -i : i >= size ? 2 * size - 1 - i : i; }

// A picture of half the size, and its horizontal, vertical and diagonal details, one plane behind the other. Samples
// are codes of 8 or 16 bits, as steps of 8 bit about zero, or floats for 32 bits.
KERNEL(filter_picture, 32, 8, samples_in picture, f32_out approximation, f32_out details, int bits, real scale,
       int step, int input_width, int input_height, int width, int height) {
  const int x = min(global_x(), width - 1);
  const int y = min(global_y(), height - 1);
  real values[16];
  UNROLL for (int i = 0; i < 4; ++i) {
    const int row = wavelet_index(2 * y - 1 + i, input_height) * step;
    UNROLL for (int j = 0; j < 4; ++j) {
      const int place = row + wavelet_index(2 * x - 1 + j, input_width);
      if (bits == 32) {
        values[i * 4 + j] = float_at(picture, place);
      } else {
        values[i * 4 + j] = sample_at(picture, bits, scale, place) + real(-128.0f);
      }
    }
  }
  real low[4];
  real high[4];
  UNROLL for (int j = 0; j < 4; ++j) {
    low[j] = filter_low(values[j], values[4 + j], values[8 + j], values[12 + j]);
    high[j] = filter_high(values[j], values[4 + j], values[8 + j], values[12 + j]);
  }
  if (global_x() < width && global_y() < height) {
    const int place = y * width + x;
    const int plane = width * height;
    at(approximation, place) = filter_low(low[0], low[1], low[2], low[3]);
    at(details, place) = filter_low(high[0], high[1], high[2], high[3]);
    at(details, plane + place) = filter_high(low[0], low[1], low[2], low[3]);
    at(details, 2 * plane + place) = filter_high(high[0], high[1], high[2], high[3]);
  }
}
#endif

#if KERNEL_HERE(sum_rows)
#define NEEDS_sum_rows ~, needs_double
// Details of the cell and its neighbours, taken apart into what was restored and what was added: weighed, and
// thirtieths of that.
SHARED(real, weighed_parts, 6 * 10 * 35)
SHARED(real, thirtieth_parts, 6 * 10 * 35)
#define PART(part, subband, row, column) ((((part) * 3 + (subband)) * 10 + (row)) * 35 + (column))
SHARED(real, powers, 9 * 8 * 33)
#define POWER(sum) powers[((sum) * 8 + local_y()) * 33 + local_x()]

FUNCTION real reciprocal(real x, i32_in reciprocals) {
  const whole bits = bits_of(x);
  const natural start = to_natural(at(reciprocals, (bits >> 11) & 4095));
  const real first = from_bits(to_whole(start - (to_natural(bits) & natural(0xFF800000u))));
  return refined_reciprocal(x, first);
}

FUNCTION real times(real a, wide factor) { return to_real(to_wide(a) * factor); }

// All of t where that is weaker than o, and where it only became stronger, up to the gain.
FUNCTION real restored(real o, real t, bool same, wide gain, i32_in reciprocals) {
  const real part = part_left(o, t * reciprocal(o + real(1.0e-30f), reciprocals));
  real result = part;
  if (same) {
    const real stronger = times(part, gain);
    if (part < real(0.0f)) {
      result = max(stronger, t);
    } else if (part > real(0.0f)) {
      result = min(stronger, t);
    }
  }
  return result;
}

// What a part adds to the threshold of the other at the thread's pixel. The order of these additions is libvmaf's.
FUNCTION real threshold_of(int part, int subband) {
  const int above = PART(part, subband, local_y(), local_x());
  const int row = above + 35;
  const int below = row + 35;
  real sum =
      ((thirtieth_parts[above] + thirtieth_parts[above + 1]) + thirtieth_parts[above + 2]) + thirtieth_parts[row];
  sum = to_real(to_wide(sum) + to_wide(weighed_parts[row + 1]) * WIDE(0.0666666701)) + thirtieth_parts[row + 2];
  return ((sum + thirtieth_parts[below]) + thirtieth_parts[below + 1]) + thirtieth_parts[below + 2];
}

// sums: for each row from `top` to `bottom` that of the powers of the reference's details, subband by subband, then of
// those that were kept and of those that were added.
KERNEL(sum_rows, 32, 8, f32_in reference, f32_in distorted, i32_in reciprocals, f32_out sums, wide gain, real straight,
       real diagonal, real exponent, int masking, int width, int height, int left, int right, int top, int bottom) {
  const int plane = width * height;
  const int rows = bottom - top;
  const int first_row = top + group_y() * 8;
  real sum = real(0.0f);
  for (int begin = left; begin < right; begin += CHAIN_COLUMNS) {
    for (int i = local_y() * 32 + local_x(); i < 340; i += 256) {
      const int cell_row = i / 34;
      const int cell_column = i % 34;
      const int x = begin + cell_column - 1;
      const int y = first_row + cell_row - 1;
      const int column = x < 0 ? 1 : min(x, width - 1);
      const int place = (y < 0 ? 1 : min(y, height - 1)) * width + column;
      real o[3];
      real t[3];
      UNROLL for (int b = 0; b < 3; ++b) {
        o[b] = at(reference, b * plane + place);
        t[b] = at(distorted, b * plane + place);
      }
      const real product = o[0] * t[0] + o[1] * t[1];
      const bool same = product >= real(0.0f) && product * product >= angle_limit(o[0], o[1], t[0], t[1]);
      UNROLL for (int b = 0; b < 3; ++b) {
        const real factor = b < 2 ? straight : diagonal;
        const real kept = restored(o[b], t[b], same, gain, reciprocals);
        const real weighed_kept = abs(kept * factor);
        const real weighed_added = abs((t[b] - kept) * factor);
        weighed_parts[PART(0, b, cell_row, cell_column)] = weighed_kept;
        weighed_parts[PART(1, b, cell_row, cell_column)] = weighed_added;
        thirtieth_parts[PART(0, b, cell_row, cell_column)] = times(weighed_kept, WIDE(0.0333333351));
        thirtieth_parts[PART(1, b, cell_row, cell_column)] = times(weighed_added, WIDE(0.0333333351));
      }
    }
    barrier_group();
    const int own = min(first_row + local_y(), height - 1) * width + min(begin + local_x(), width - 1);
    UNROLL for (int b = 0; b < 3; ++b) {
      POWER(b) = power_of(abs((b < 2 ? straight : diagonal) * at(reference, b * plane + own)), exponent);
    }
    UNROLL for (int part = 0; part < 2; ++part) {
      real threshold = real(0.0f);
      if (masking != 0) {
        threshold = (threshold_of(1 - part, 0) + threshold_of(1 - part, 1)) + threshold_of(1 - part, 2);
      }
      UNROLL for (int b = 0; b < 3; ++b) {
        const real weighed = weighed_parts[PART(part, b, local_y() + 1, local_x() + 1)];
        POWER(3 + part * 3 + b) = power_of(max(weighed - threshold, real(0.0f)), exponent);
      }
    }
    barrier_group();
    if (local_x() < 9) {
      const int count = min(CHAIN_COLUMNS, right - begin);
      for (int k = 0; k < count; ++k) sum = sum + powers[(local_x() * 8 + local_y()) * 33 + k];
    }
  }
  const int row = group_y() * 8 + local_y();
  if (local_x() < 9 && row < rows) at(sums, local_x() * rows + row) = sum;
}
#endif
