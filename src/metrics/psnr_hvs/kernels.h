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

#if KERNEL_HERE(sum_squares_in_order)
SHUFFLES(256)
SHARED(whole, even_steps, 256)
SHARED(whole, odd_steps, 256)
SHARED(real, sum_reached, 1)
SHARED(whole, place_reached, 1)

// What the terms of 32 threads add, in their order; every thread has the result.
FUNCTION SumSteps joined(SumSteps own) {
  SumSteps steps = own;
  UNROLL for (int bit = 1; bit <= 16; bit = bit * 2) {
    SumSteps other;
    other.even = shuffle_xor(steps.even, bit);
    other.odd = shuffle_xor(steps.odd, bit);
    if ((local_x() & bit) == 0) {
      steps = then_steps(steps, other);
    } else {
      steps = then_steps(other, steps);
    }
  }
  return steps;
}

// The sum of a plane for each group: of the 64 squares of `luma_blocks`, then twice of `chroma_blocks`. A thread has 32
// terms, half a block, at a time.
KERNEL(sum_squares_in_order, 256, 1, f32x4_in squares, f32_out sums, int luma_blocks, int chroma_blocks) {
  int place = group_x() == 0 ? 0 : luma_blocks * 2 + (group_x() - 1) * chroma_blocks * 2;
  const int end = place + (group_x() == 0 ? luma_blocks : chroma_blocks) * 2;
  real sum = real(0.0f);
  real4 terms[8];
  UNROLL for (int i = 0; i < 8; ++i) terms[i] = at(squares, min(place + local_x(), end - 1) * 8 + i);
  while (place < end) {
    const bool has_units = sum_has_units(sum);
    SumSteps own = no_steps();
    if (place + local_x() < end) {
      if (has_units) {
        const real scale = units_scale(sum);
        UNROLL for (int i = 0; i < 8; ++i) {
          add_term(own, terms[i].x, scale);
          add_term(own, terms[i].y, scale);
          add_term(own, terms[i].z, scale);
          add_term(own, terms[i].w, scale);
        }
      } else {
        UNROLL for (int i = 0; i < 8; ++i) {
          note_term(own, max(max(terms[i].x, terms[i].y), max(terms[i].z, terms[i].w)));
        }
      }
    }
    own = limited(own);
    // Those of the next round are on their way while this one is put together.
    UNROLL for (int i = 0; i < 8; ++i) terms[i] = at(squares, min(place + 256 + local_x(), end - 1) * 8 + i);
    const SumSteps of_32 = joined(own);
    barrier_group();
    if ((local_x() & 31) == 0) {
      even_steps[local_x() / 32] = of_32.even;
      odd_steps[local_x() / 32] = of_32.odd;
    }
    barrier_group();
    SumSteps steps = no_steps();
    for (int i = 0; i < 8; ++i) {
      SumSteps next;
      next.even = even_steps[i];
      next.odd = odd_steps[i];
      steps = then_steps(steps, next);
    }
    const whole units = units_of_sum(sum);
    if (has_units && units_after(units, steps) < SUM_UNITS_END) {
      sum = sum_of_units(sum, units_after(units, steps));
      place += 256;
    } else if (!has_units && steps.even == whole(0)) {
      place += 256;
    } else {
      // One thread goes on to the segment where the sum's unit changes, and adds that one term by term.
      barrier_group();
      even_steps[local_x()] = own.even;
      odd_steps[local_x()] = own.odd;
      barrier_group();
      if (local_x() == 0) {
        int i = 0;
        whole reached = units;
        bool goes_on = true;
        while (goes_on) {
          SumSteps next;
          next.even = even_steps[i];
          next.odd = odd_steps[i];
          const whole after = units_after(reached, next);
          goes_on = i < 255 && (has_units ? after < SUM_UNITS_END : next.even == whole(0));
          if (goes_on) {
            reached = has_units ? after : reached;
            ++i;
          }
        }
        real total = has_units ? sum_of_units(sum, reached) : sum;
        for (int k = 0; k < 8; ++k) {
          const real4 four = at(squares, min(place + i, end - 1) * 8 + k);
          total = (((total + four.x) + four.y) + four.z) + four.w;
        }
        sum_reached[0] = total;
        place_reached[0] = place + i + 1;
      }
      barrier_group();
      sum = sum_reached[0];
      place = place_reached[0];
      UNROLL for (int i = 0; i < 8; ++i) terms[i] = at(squares, min(place + local_x(), end - 1) * 8 + i);
    }
  }
  if (local_x() == 0) at(sums, group_x()) = sum;
}
#endif
