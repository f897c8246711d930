// SPDX-License-Identifier: BSD-2-Clause-Patent
// CIEDE2000 on the GPU, chunk by chunk of 256 columns of a row. Chunks with few colours go to the host as lists of
// these (few_colours.h); of the others the differences are added up as on the CPU (rows.h).
#include "lang/dialect.h"

#include "frames/plane_samples.h"
#include "metrics/ciede2000/functions.h"
#include "metrics/ciede2000/math.h"

#define CHUNK 256
#define MOST_COLOURS 8

FUNCTION whole code_at(samples_in plane, int bits, int index) {
  whole code = whole(0);
  if (bits == 8) {
    code = code8_at(plane, index);
  } else {
    code = code16_at(plane, index);
  }
  return code;
}

// Samples of a colour plane beside Y' at (x, y), as libvmaf takes them. `across` is the number of columns per sample:
// 1 for 4:4:4, 2 for 4:2:0, and 0 for 4:2:2, of which libvmaf reads half of the rows, past their ends, through zeros up
// to a multiple of 32 samples, into the rows below.
FUNCTION whole chroma_at(samples_in plane, int bits, int step, int across, int x, int y, int width, int height) {
  whole code = whole(0);
  if (across > 0) {
    code = code_at(plane, bits, y / across * step + x / across);
  } else {
    const int count = (width + 1) / 2;
    const int stride = (count + 31) / 32 * 32;
    if (x < count) {
      code = code_at(plane, bits, y / 2 * step + x);
    } else if (x >= stride && y / 2 + 1 < height) {
      code = code_at(plane, bits, (y / 2 + 1) * step + x - stride);
    }
  }
  return code;
}

#if KERNEL_HERE(find_few_colours)
// A thread goes through a chunk until it has found too many colours. counts: how many, or one more than may be; lists:
// four words for each colour, Y', Cb and Cr of the reference with those of the distorted frame in the upper halves, and
// the number of pixels.
KERNEL(find_few_colours, 64, 1, samples_in luma1, samples_in cb1, samples_in cr1, samples_in luma2, samples_in cb2,
       samples_in cr2, u32_out counts, u32_out lists, int bits, int luma_step1, int chroma_step1, int luma_step2,
       int chroma_step2, int across, int width, int height) {
  const int chunks = (width + CHUNK - 1) / CHUNK;
  if (global_x() < chunks * height) {
    const int y = global_x() / chunks;
    const int begin = global_x() % chunks * CHUNK;
    const int end = min(begin + CHUNK, width);
    natural luma[8];
    natural cb[8];
    natural cr[8];
    natural pixels[8];
    UNROLL for (int i = 0; i < MOST_COLOURS; ++i) {
      luma[i] = natural(0u);
      cb[i] = natural(0u);
      cr[i] = natural(0u);
      pixels[i] = natural(0u);
    }
    int count = 0;
    for (int x = begin; x < end && count <= MOST_COLOURS; ++x) {
      const natural this_luma = to_natural(code_at(luma1, bits, y * luma_step1 + x)) |
                                (to_natural(code_at(luma2, bits, y * luma_step2 + x)) << 16);
      const natural this_cb = to_natural(chroma_at(cb1, bits, chroma_step1, across, x, y, width, height)) |
                              (to_natural(chroma_at(cb2, bits, chroma_step2, across, x, y, width, height)) << 16);
      const natural this_cr = to_natural(chroma_at(cr1, bits, chroma_step1, across, x, y, width, height)) |
                              (to_natural(chroma_at(cr2, bits, chroma_step2, across, x, y, width, height)) << 16);
      const natural low = natural(65535u);
      const bool differs = (this_luma & low) != (this_luma >> 16) || (this_cb & low) != (this_cb >> 16) ||
                           (this_cr & low) != (this_cr >> 16);
      if (differs) {
        bool known = false;
        UNROLL for (int i = 0; i < MOST_COLOURS; ++i) {
          if (i < count && luma[i] == this_luma && cb[i] == this_cb && cr[i] == this_cr) {
            known = true;
            pixels[i] += natural(1u);
          }
        }
        if (!known) {
          UNROLL for (int i = 0; i < MOST_COLOURS; ++i) {
            if (i == count) {
              luma[i] = this_luma;
              cb[i] = this_cb;
              cr[i] = this_cr;
              pixels[i] = natural(1u);
            }
          }
          ++count;
        }
      }
    }
    at(counts, global_x()) = to_natural(count);
    if (count <= MOST_COLOURS) {
      UNROLL for (int i = 0; i < MOST_COLOURS; ++i) {
        if (i < count) {
          const int place = (global_x() * MOST_COLOURS + i) * 4;
          at(lists, place) = luma[i];
          at(lists, place + 1) = cb[i];
          at(lists, place + 2) = cr[i];
          at(lists, place + 3) = pixels[i];
        }
      }
    }
  }
}
#endif

#if KERNEL_HERE(sum_differences)
#define NEEDS_sum_differences ~, needs_double
SHARED(wide, differences, 256)

// The sum of a chunk that has many colours.
KERNEL(sum_differences, 256, 1, samples_in luma1, samples_in cb1, samples_in cr1, samples_in luma2, samples_in cb2,
       samples_in cr2, u32_in counts, f64_out sums, int bits, real scale, int luma_step1, int chroma_step1,
       int luma_step2, int chroma_step2, int across, int width, int height) {
  const int y = group_y();
  const int chunk = y * ((width + CHUNK - 1) / CHUNK) + group_x();
  if (at(counts, chunk) > natural(8u)) {
    const int x = min(global_x(), width - 1);
    real l[2];
    real a[2];
    real b[2];
    UNROLL for (int side = 0; side < 2; ++side) {
      real luma = real(0.0f);
      real cb = real(0.0f);
      real cr = real(0.0f);
      if (side == 0) {
        luma = to_real(code_at(luma1, bits, y * luma_step1 + x)) * scale;
        cb = to_real(chroma_at(cb1, bits, chroma_step1, across, x, y, width, height)) * scale;
        cr = to_real(chroma_at(cr1, bits, chroma_step1, across, x, y, width, height)) * scale;
      } else {
        luma = to_real(code_at(luma2, bits, y * luma_step2 + x)) * scale;
        cb = to_real(chroma_at(cb2, bits, chroma_step2, across, x, y, width, height)) * scale;
        cr = to_real(chroma_at(cr2, bits, chroma_step2, across, x, y, width, height)) * scale;
      }
      find_lab(linear_red(luma, cr), linear_green(luma, cb, cr), linear_blue(luma, cb), l[side], a[side], b[side]);
    }
    real least_chroma = real(0.0f);
    widen(a[0], b[0], a[1], b[1], least_chroma);
    const real result = colour_difference(l[0], l[1], length(a[0], b[0]), length(a[1], b[1]), hue_of(a[0], b[0]),
                                          hue_of(a[1], b[1]), least_chroma);
    differences[local_x()] = global_x() < width ? to_wide(result) : WIDE(0.0);
    barrier_group();
    wide sum = WIDE(0.0);
    if (local_x() < 16) {
      for (int k = 0; k < 16; ++k) sum += differences[k * 16 + local_x()];
    }
    for (int half_way = 8; half_way >= 1; half_way = half_way / 2) {
      barrier_group();
      if (local_x() < 16) differences[local_x()] = sum;
      barrier_group();
      if (local_x() < half_way) sum += differences[local_x() + half_way];
    }
    if (local_x() == 0) at(sums, chunk) = sum;
  }
}
#endif
