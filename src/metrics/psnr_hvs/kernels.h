// SPDX-License-Identifier: BSD-2-Clause-Patent
// PSNR-HVS on the GPU: a thread works on a block, then one group a plane adds up all squares in libvmaf's order.
#include "lang/dialect.h"

#include "metrics/psnr_hvs/math.h"
#include "sums/ordered_sums.h"

#define GROUPS_ACROSS 32768 /* of a launch; more go into a further row of it */

#if KERNEL_HERE(square_visible_errors)
SHARED(whole, values_of_blocks, 2 * 64 * 32)

// Value i of a block of the group, of the reference (side 0) or the distorted frame. Blocks lie beside each other,
// turned a little, so that the threads' own values lie in different banks, and so do those of one block.
#define VALUE(side, i, block) values_of_blocks[(side) * 2048 + (i) * 32 + (((block) + (i)) & 31)]
#define OWN(side, i) VALUE(side, i, local_x())

FUNCTION whole sum_of_quarter(int side, int first) {
  whole sum = whole(0);
  UNROLL for (int i = 0; i < 4; ++i) { UNROLL for (int j = 0; j < 4; ++j) sum += OWN(side, first + i * 8 + j); }
  return sum;
}

FUNCTION real own_spread(int side) {
  Variances variances = variances_about(sum_of_quarter(side, 0), sum_of_quarter(side, 32), sum_of_quarter(side, 4),
                                        sum_of_quarter(side, 36));
  UNROLL for (int half_block = 0; half_block < 2; ++half_block) {
    for (int i = half_block * 4; i < half_block * 4 + 4; ++i) {
      UNROLL for (int j = 0; j < 8; ++j) add_sample(variances, to_real(OWN(side, i * 8 + j)), half_block + j / 4 * 2);
    }
  }
  return spread_of(variances);
}

// Eight values from `first` on, `step` apart.
FUNCTION void transform_own(int side, int first, int step) {
  whole x[8];
  UNROLL for (int k = 0; k < 8; ++k) x[k] = OWN(side, first + k * step);
  transform(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
  UNROLL for (int k = 0; k < 8; ++k) OWN(side, first + k * step) = x[k];
}

FUNCTION real own_energy(int side, f32_in weights, int masking) {
  real energy = real(0.0f);
  for (int i = 1; i < 64; ++i) {
    const real value = to_real(OWN(side, i));
    energy = energy + value * value * at(weights, masking + i);
  }
  return energy;
}

// The 64 squares of each block, from left to right and from the top down. `weights`: 64 of visibility and 64 of masking
// from `first_weight` on. Samples are widened by `added_bits`.
KERNEL(square_visible_errors, 32, 1, samples_in reference, samples_in distorted, f32_in weights, f32_out squares,
       int bits, int added_bits, int reference_step, int distorted_step, int across, int blocks, int first_weight) {
  const int group = group_y() * GROUPS_ACROSS + group_x();
  const int block = min(group * 32 + local_x(), blocks - 1);
  const int top = block / across * 7;
  const int left = block % across * 7;
  for (int i = 0; i < 8; ++i) {
    const int a = (top + i) * reference_step + left;
    const int b = (top + i) * distorted_step + left;
    whole x[8];
    whole y[8];
    if (bits == 8) {
      UNROLL for (int j = 0; j < 8; ++j) {
        x[j] = code8_at(reference, a + j);
        y[j] = code8_at(distorted, b + j);
      }
    } else {
      UNROLL for (int j = 0; j < 8; ++j) {
        x[j] = code16_at(reference, a + j);
        y[j] = code16_at(distorted, b + j);
      }
    }
    UNROLL for (int j = 0; j < 8; ++j) {
      OWN(0, i * 8 + j) = x[j] << added_bits;
      OWN(1, i * 8 + j) = y[j] << added_bits;
    }
  }
  real spreads[2];
  real energies[2];
  UNROLL for (int side = 0; side < 2; ++side) {
    spreads[side] = own_spread(side);
    for (int i = 0; i < 8; ++i) transform_own(side, i, 8);
    for (int i = 0; i < 8; ++i) transform_own(side, i * 8, 1);
    energies[side] = own_energy(side, weights, first_weight + 64);
  }
  const real mask = mask_of(energies[0], spreads[0], energies[1], spreads[1]);
  for (int i = 0; i < 64; ++i) {
    const real error = abs(to_real(OWN(0, i) - OWN(1, i)));
    const real hidden = i == 0 ? real(0.0f) : divide(mask, at(weights, first_weight + 64 + i));
    OWN(0, i) = bits_of(visible_square(error, hidden, at(weights, first_weight + i)));
  }
  barrier_group();
  // Each 32 threads write half a block after the other.
  for (int k = 0; k < 64; ++k) {
    const int written = group * 32 + k / 2;
    const int i = k % 2 * 32 + local_x();
    if (written < blocks) at(squares, written * 64 + i) = from_bits(VALUE(0, i, k / 2));
  }
}
#endif

// The squares of a plane are added up by three launches, in pieces of 8192, a piece being 256 threads x 32 squares:
// roughly, which tells what the sum about is before each piece; from that, what each piece does to such a sum; and then
// from piece to piece. Where that was not the sum after all, or its unit changes, the last one looks at the squares
// themselves.
#define PIECE_RUNS 256 /* of 32 squares */

// Where a plane begins, and how long it is, in runs: that of `luma_blocks`, then two of `chroma_blocks`.
FUNCTION int plane_begin(int plane, int luma_blocks, int chroma_blocks) {
  return plane == 0 ? 0 : luma_blocks * 2 + (plane - 1) * chroma_blocks * 2;
}
FUNCTION int plane_runs(int plane, int luma_blocks, int chroma_blocks) {
  return (plane == 0 ? luma_blocks : chroma_blocks) * 2;
}

#if KERNEL_HERE(sum_pieces_roughly)
SHUFFLES(256)
SHARED(real, rough_parts, 8)

// A group for each piece (across) of each plane (down).
KERNEL(sum_pieces_roughly, 256, 1, f32x4_in squares, f32_out rough_sums, int luma_blocks, int chroma_blocks,
       int pieces) {
  const int runs = plane_runs(group_y(), luma_blocks, chroma_blocks);
  const int run = group_x() * PIECE_RUNS + local_x();
  const int from = (plane_begin(group_y(), luma_blocks, chroma_blocks) + min(run, runs - 1)) * 8;
  real sum = real(0.0f);
  UNROLL for (int i = 0; i < 8; ++i) {
    const real4 four = at(squares, from + i);
    sum = sum + ((four.x + four.y) + (four.z + four.w));
  }
  if (run >= runs) sum = real(0.0f);
  UNROLL for (int bit = 1; bit <= 16; bit = bit * 2) sum = sum + shuffle_xor(sum, bit);
  if ((local_x() & 31) == 0) rough_parts[local_x() / 32] = sum;
  barrier_group();
  if (local_x() == 0) {
    for (int i = 1; i < 8; ++i) sum = sum + rough_parts[i];
    at(rough_sums, group_y() * pieces + group_x()) = sum;
  }
}
#endif

#if KERNEL_HERE(find_growth) || KERNEL_HERE(sum_squares_in_order)
// What the terms of 32 threads add, in their order; every thread has the result.
#define JOIN_GROWTH(growth)                            \
  UNROLL for (int bit = 1; bit <= 16; bit = bit * 2) { \
    SumGrowth other;                                   \
    other.even = shuffle_xor(growth.even, bit);        \
    other.odd = shuffle_xor(growth.odd, bit);          \
    if ((local_x() & bit) == 0) {                      \
      growth = then_growth(growth, other);             \
    } else {                                           \
      growth = then_growth(other, growth);             \
    }                                                  \
  }

// What the 32 squares of a run add to the sum.
FUNCTION SumGrowth growth_of_run(f32x4_in squares, int run, real sum) {
  real4 terms[8];
  UNROLL for (int i = 0; i < 8; ++i) terms[i] = at(squares, run * 8 + i);
  SumGrowth growth = no_growth();
  if (sum_has_units(sum)) {
    const real scale = units_scale(sum);
    UNROLL for (int i = 0; i < 8; ++i) {
      add_term(growth, terms[i].x, scale);
      add_term(growth, terms[i].y, scale);
      add_term(growth, terms[i].z, scale);
      add_term(growth, terms[i].w, scale);
    }
  } else {
    UNROLL for (int i = 0; i < 8; ++i) {
      note_term(growth, max(max(terms[i].x, terms[i].y), max(terms[i].z, terms[i].w)));
    }
  }
  return limited(growth);
}
#endif

#if KERNEL_HERE(find_growth)
SHUFFLES(256)
SHARED(real, sums_before, 8)
SHARED(whole, even_of_32, 8)
SHARED(whole, odd_of_32, 8)

// For each piece: the exponent that its growth belongs to, and the growth.
KERNEL(find_growth, 256, 1, f32x4_in squares, f32_in rough_sums, i32_out growth_of_pieces, int luma_blocks,
       int chroma_blocks, int pieces) {
  real before = real(0.0f);
  for (int i = local_x(); i < group_x(); i += 256) before = before + at(rough_sums, group_y() * pieces + i);
  UNROLL for (int bit = 1; bit <= 16; bit = bit * 2) before = before + shuffle_xor(before, bit);
  if ((local_x() & 31) == 0) sums_before[local_x() / 32] = before;
  barrier_group();
  before = sums_before[0];
  for (int i = 1; i < 8; ++i) before = before + sums_before[i];
  const int runs = plane_runs(group_y(), luma_blocks, chroma_blocks);
  const int run = group_x() * PIECE_RUNS + local_x();
  SumGrowth growth = no_growth();
  if (run < runs) {
    growth = growth_of_run(squares, plane_begin(group_y(), luma_blocks, chroma_blocks) + run, before);
  }
  JOIN_GROWTH(growth)
  if ((local_x() & 31) == 0) {
    even_of_32[local_x() / 32] = growth.even;
    odd_of_32[local_x() / 32] = growth.odd;
  }
  barrier_group();
  if (local_x() == 0) {
    for (int i = 1; i < 8; ++i) {
      SumGrowth next;
      next.even = even_of_32[i];
      next.odd = odd_of_32[i];
      growth = then_growth(growth, next);
    }
    const int place = (group_y() * pieces + group_x()) * 4;
    at(growth_of_pieces, place) = sum_has_units(before) ? bits_of(before) >> 23 : whole(0);
    at(growth_of_pieces, place + 1) = growth.even;
    at(growth_of_pieces, place + 2) = growth.odd;
  }
}
#endif

#if KERNEL_HERE(sum_squares_in_order)
SHUFFLES(256)
SHARED(whole, known_exponents, 256)
SHARED(whole, even_growth, 256)
SHARED(whole, odd_growth, 256)
SHARED(whole, known_even, 256)
SHARED(whole, known_odd, 256)
SHARED(real, sum_reached, 1)
SHARED(whole, place_reached, 1)

// Whether a sum keeps its unit all the way; without units, whether nothing is added to it.
FUNCTION bool growth_is_plain(real sum, SumGrowth growth) {
  if (!sum_has_units(sum)) return growth.even == whole(0);
  return units_after(units_of_sum(sum), growth) < SUM_UNITS_END;
}
FUNCTION real sum_after(real sum, SumGrowth growth) {
  if (!sum_has_units(sum)) return sum;
  return sum_of_units(sum, units_after(units_of_sum(sum), growth));
}

// A group for each plane.
KERNEL(sum_squares_in_order, 256, 1, f32x4_in squares, i32_in growth_of_pieces, f32_out sums, int luma_blocks,
       int chroma_blocks, int pieces) {
  const int first = plane_begin(group_x(), luma_blocks, chroma_blocks);
  const int runs = plane_runs(group_x(), luma_blocks, chroma_blocks);
  const int own_pieces = (runs + PIECE_RUNS - 1) / PIECE_RUNS;
  real sum = real(0.0f);
  for (int piece = 0; piece < own_pieces; ++piece) {
    if (piece % 256 == 0) {
      // What is known of the next 256 pieces.
      barrier_group();
      const int from = (group_x() * pieces + min(piece + local_x(), own_pieces - 1)) * 4;
      known_exponents[local_x()] = at(growth_of_pieces, from);
      known_even[local_x()] = at(growth_of_pieces, from + 1);
      known_odd[local_x()] = at(growth_of_pieces, from + 2);
      barrier_group();
    }
    SumGrowth known;
    known.even = known_even[piece % 256];
    known.odd = known_odd[piece % 256];
    const whole exponent = sum_has_units(sum) ? bits_of(sum) >> 23 : whole(0);
    if (exponent == known_exponents[piece % 256] && growth_is_plain(sum, known)) {
      sum = sum_after(sum, known);
    } else {
      int place = piece * PIECE_RUNS;
      const int end = min(place + PIECE_RUNS, runs);
      while (place < end) {
        // All go on to the first run where the sum's unit changes; that one is added term by term.
        SumGrowth own = no_growth();
        if (place + local_x() < end) own = growth_of_run(squares, first + place + local_x(), sum);
        SumGrowth of_32 = own;
        JOIN_GROWTH(of_32)
        barrier_group();
        if ((local_x() & 31) == 0) {
          even_growth[local_x() / 32] = of_32.even;
          odd_growth[local_x() / 32] = of_32.odd;
        }
        barrier_group();
        SumGrowth growth = no_growth();
        for (int i = 0; i < 8; ++i) {
          SumGrowth next;
          next.even = even_growth[i];
          next.odd = odd_growth[i];
          growth = then_growth(growth, next);
        }
        if (growth_is_plain(sum, growth)) {
          sum = sum_after(sum, growth);
          place = end;
        } else {
          barrier_group();
          even_growth[local_x()] = own.even;
          odd_growth[local_x()] = own.odd;
          barrier_group();
          if (local_x() == 0) {
            real total = sum;
            int i = 0;
            bool goes_on = true;
            while (goes_on) {
              SumGrowth next;
              next.even = even_growth[i];
              next.odd = odd_growth[i];
              goes_on = i < end - 1 - place && growth_is_plain(total, next);
              if (goes_on) {
                total = sum_after(total, next);
                ++i;
              }
            }
            for (int k = 0; k < 8; ++k) {
              const real4 four = at(squares, (first + place + i) * 8 + k);
              total = (((total + four.x) + four.y) + four.z) + four.w;
            }
            sum_reached[0] = total;
            place_reached[0] = place + i + 1;
          }
          barrier_group();
          sum = sum_reached[0];
          place = place_reached[0];
        }
      }
    }
  }
  if (local_x() == 0) at(sums, group_x()) = sum;
}
#endif
