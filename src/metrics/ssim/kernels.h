// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIM with a window of whole weights, on the GPU. Sums under a window are whole numbers below 2^53, and so exact in
// double in any order. The similarities are then added up one after the other, as the definition has it.
#include "lang/dialect.h"

#include "sums/ordered_wide_sums.h"

#define REACH 4

#if KERNEL_HERE(compare_windows)
#define NEEDS_compare_windows ~, needs_double
#define COLUMNS 32
#define WIDER 40 /* columns with those that windows reach */
SHARED(wide, sums_down, 5 * 8 * 41)
#define DOWN(moment, column) sums_down[((moment) * 8 + local_y()) * 41 + (column)]

FUNCTION int weight_of(int k) {
  const int from_middle = k < 0 ? -k : k;
  return from_middle == 0 ? 68 : from_middle == 1 ? 55 : from_middle == 2 ? 28 : from_middle == 3 ? 9 : 2;
}

FUNCTION int weight_inside(int place, int side) {
  int weight = 0;
  UNROLL for (int k = -REACH; k <= REACH; ++k) weight += place + k >= 0 && place + k < side ? weight_of(k) : 0;
  return weight;
}

// Products and sums are those of the definition, in its order: they are not exact.
FUNCTION wide similarity(wide a, wide b, wide squares_a, wide squares_b, wide products, wide weight, wide c1_unit,
                         wide c2_unit) {
  const wide c1 = c1_unit * weight * weight;
  const wide c2 = c2_unit * weight * weight;
  const wide aa = a * a;
  const wide bb = b * b;
  const wide ab = a * b;
  const wide covariance = products * weight - ab;
  const wide variances = ((squares_a * weight - aa) + squares_b * weight) - bb;
  const wide above = (weight * (WIDE(2.0) * ab + c1)) * (c2 + WIDE(2.0) * covariance);
  const wide below = ((aa + bb) + c1) * (variances + c2);
  return divide(above, below);
}

// The similarity of each window, times its weight, in raster order.
KERNEL(compare_windows, 32, 8, samples_in reference, samples_in distorted, f64_out similarities, wide c1, wide c2,
       int bits, int added_bits, int reference_step, int distorted_step, int width, int height) {
  const int y = min(global_y(), height - 1);
  for (int column = local_x(); column < WIDER; column += COLUMNS) {
    const int x = group_x() * COLUMNS + column - REACH;
    wide moments[5];
    UNROLL for (int m = 0; m < 5; ++m) moments[m] = WIDE(0.0);
    if (x >= 0 && x < width) {
      UNROLL for (int k = -REACH; k <= REACH; ++k) {
        if (y + k >= 0 && y + k < height) {
          whole code_a = whole(0);
          whole code_b = whole(0);
          if (bits == 8) {
            code_a = code8_at(reference, (y + k) * reference_step + x);
            code_b = code8_at(distorted, (y + k) * distorted_step + x);
          } else {
            code_a = code16_at(reference, (y + k) * reference_step + x);
            code_b = code16_at(distorted, (y + k) * distorted_step + x);
          }
          const wide a = to_wide(code_a << added_bits);
          const wide b = to_wide(code_b << added_bits);
          const wide weight = to_wide(weight_of(k));
          const wide weighed_a = a * weight;
          const wide weighed_b = b * weight;
          moments[0] += weighed_a;
          moments[1] += weighed_b;
          moments[2] += weighed_a * a;
          moments[3] += weighed_b * b;
          moments[4] += weighed_a * b;
        }
      }
    }
    UNROLL for (int m = 0; m < 5; ++m) DOWN(m, column) = moments[m];
  }
  barrier_group();
  wide sums[5];
  UNROLL for (int m = 0; m < 5; ++m) {
    sums[m] = DOWN(m, local_x() + REACH) * WIDE(68.0);
    UNROLL for (int k = 1; k <= REACH; ++k) {
      sums[m] += (DOWN(m, local_x() + REACH - k) + DOWN(m, local_x() + REACH + k)) * to_wide(weight_of(k));
    }
  }
  if (global_x() < width && global_y() < height) {
    const wide weight = to_wide(weight_inside(global_x(), width) * weight_inside(y, height));
    at(similarities, y * width + global_x()) = similarity(sums[0], sums[1], sums[2], sums[3], sums[4], weight, c1, c2);
  }
}
#endif

#if KERNEL_HERE(sum_in_order)
#define NEEDS_sum_in_order ~, needs_double | needs_int64
#define SEGMENT 32 /* terms of a thread */
#define THREADS 256
SHARED(whole64, even_steps, 256)
SHARED(whole64, odd_steps, 256)
SHARED(whole64, rises, 256)
SHARED(whole64, falls, 256)
SHARED(wide, sum_reached, 1)
SHARED(whole, place_reached, 1)

FUNCTION WideSteps steps_at(int i) {
  WideSteps steps;
  steps.even = even_steps[i];
  steps.odd = odd_steps[i];
  steps.rise = rises[i];
  steps.fall = falls[i];
  return steps;
}

FUNCTION void put_steps(int i, WideSteps steps) {
  even_steps[i] = steps.even;
  odd_steps[i] = steps.odd;
  rises[i] = steps.rise;
  falls[i] = steps.fall;
}

// One group: the sum of all terms from the first to the last.
KERNEL(sum_in_order, 256, 1, f64_in terms, f64_out sums, int count) {
  wide sum = WIDE(0.0);
  int place = 0;
  wide own_terms[32];
  UNROLL for (int i = 0; i < SEGMENT; ++i) own_terms[i] = at(terms, min(local_x() * SEGMENT + i, count - 1));
  while (place < count) {
    const int begin = place + local_x() * SEGMENT;
    const bool has_units = wide_sum_has_units(sum);
    const wide scale = has_units ? wide_units_scale(sum) : WIDE(1.0);
    WideSteps own = no_wide_steps();
    UNROLL for (int i = 0; i < SEGMENT; ++i) {
      if (begin + i < count) {
        if (has_units) {
          add_wide_term(own, own_terms[i], scale);
        } else {
          note_wide_term(own, own_terms[i]);
        }
      }
    }
    own = limited_wide(own);
    // Those of the next round are on their way while this one is put together.
    UNROLL for (int i = 0; i < SEGMENT; ++i) {
      own_terms[i] = at(terms, min(begin + THREADS * SEGMENT + i, count - 1));
    }
    barrier_group();  // what the round before left has been read
    put_steps(local_x(), own);
    // Neighbours are put together, two by two; what a thread found by itself is kept for the rare case below.
    WideSteps joined = own;
    for (int apart = 1; apart < THREADS; apart = apart * 2) {
      barrier_group();
      const bool joins = local_x() % (2 * apart) == 0;
      if (joins) {
        joined = then_wide_steps(joined, steps_at(local_x() + apart));
      }
      barrier_group();
      if (joins) put_steps(local_x(), joined);
    }
    barrier_group();
    const WideSteps steps = steps_at(0);
    const whole64 units = units_of_wide_sum(sum);
    if (wide_steps_are_plain(has_units, units, steps)) {
      if (has_units) sum = wide_sum_of_units(sum, wide_units_after(units, steps));
      place += THREADS * SEGMENT;
    } else {
      barrier_group();
      put_steps(local_x(), own);
      barrier_group();
      if (local_x() == 0) {
        int i = 0;
        whole64 reached = units;
        bool goes_on = true;
        while (goes_on) {
          goes_on = i < THREADS - 1 && wide_steps_are_plain(has_units, reached, steps_at(i));
          if (goes_on) {
            if (has_units) reached = wide_units_after(reached, steps_at(i));
            ++i;
          }
        }
        wide total = has_units ? wide_sum_of_units(sum, reached) : sum;
        const int first = place + i * SEGMENT;
        for (int k = first; k < min(first + SEGMENT, count); ++k) total = total + at(terms, k);
        sum_reached[0] = total;
        place_reached[0] = first + SEGMENT;
      }
      barrier_group();
      sum = sum_reached[0];
      place = place_reached[0];
      UNROLL for (int i = 0; i < SEGMENT; ++i) {
        own_terms[i] = at(terms, min(place + local_x() * SEGMENT + i, count - 1));
      }
    }
  }
  if (local_x() == 0) at(sums, 0) = sum;
}
#endif
