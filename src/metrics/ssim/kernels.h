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

// The similarities are added up by three launches, in pieces of 4096, a piece being 256 threads x 16 of them: roughly,
// which tells what the sum about is before each piece; from that, what each piece does to such a sum; and then from
// piece to piece. Where that was not the sum after all, or its unit may change, the last one looks at the terms
// themselves.
#define RUN 16 /* terms of a thread */
#define PIECE 4096
#define GROWTH_NUMBERS 5

#if KERNEL_HERE(sum_pieces_roughly)
#define NEEDS_sum_pieces_roughly ~, needs_double
SHARED(wide, rough_parts, 256)

KERNEL(sum_pieces_roughly, 256, 1, f64_in terms, f64_out rough_sums, int count) {
  wide sum = WIDE(0.0);
  UNROLL for (int i = 0; i < RUN; ++i) {
    const int place = group_x() * PIECE + i * 256 + local_x();
    const wide term = at(terms, min(place, count - 1));
    sum += place < count ? term : WIDE(0.0);
  }
  rough_parts[local_x()] = sum;
  barrier_group();
  for (int half_way = 128; half_way >= 1; half_way = half_way / 2) {
    if (local_x() < half_way) rough_parts[local_x()] += rough_parts[local_x() + half_way];
    barrier_group();
  }
  if (local_x() == 0) at(rough_sums, group_x()) = rough_parts[0];
}
#endif

#if KERNEL_HERE(find_growth) || KERNEL_HERE(sum_in_order)
SHARED(whole64, even_growth, 256)
SHARED(whole64, odd_growth, 256)
SHARED(whole64, rises, 256)
SHARED(whole64, falls, 256)

FUNCTION WideGrowth growth_at(int i) {
  WideGrowth growth;
  growth.even = even_growth[i];
  growth.odd = odd_growth[i];
  growth.rise = rises[i];
  growth.fall = falls[i];
  return growth;
}

FUNCTION void put_growth(int i, WideGrowth growth) {
  even_growth[i] = growth.even;
  odd_growth[i] = growth.odd;
  rises[i] = growth.rise;
  falls[i] = growth.fall;
}

// What the terms from `begin` on, before `end`, add to the sum; a run at most.
FUNCTION WideGrowth growth_of_run(f64_in terms, int begin, int end, wide sum) {
  wide own_terms[16];
  UNROLL for (int i = 0; i < RUN; ++i) own_terms[i] = at(terms, min(begin + i, end - 1));
  const bool has_units = wide_sum_has_units(sum);
  const wide scale = has_units ? wide_units_scale(sum) : WIDE(1.0);
  WideGrowth growth = no_wide_growth();
  UNROLL for (int i = 0; i < RUN; ++i) {
    if (begin + i < end) {
      if (has_units) {
        add_wide_term(growth, own_terms[i], scale);
      } else {
        note_wide_term(growth, own_terms[i]);
      }
    }
  }
  return limited_wide(growth);
}

// What all threads of the group add, in their order, at place 0. All must come here, as to a barrier.
FUNCTION void join_growth(WideGrowth own) {
  barrier_group();
  put_growth(local_x(), own);
  WideGrowth joined = own;
  for (int apart = 1; apart < 256; apart = apart * 2) {
    barrier_group();
    const bool joins = (local_x() & (2 * apart - 1)) == 0;
    if (joins) joined = then_wide_growth(joined, growth_at(local_x() + apart));
    barrier_group();
    if (joins) put_growth(local_x(), joined);
  }
  barrier_group();
}

// The sign and the exponent of a sum; zero for one without units.
FUNCTION whole64 magnitude_of(wide sum) {
  return wide_sum_has_units(sum) ? (bits_of_wide(sum) >> 52) & whole64(4095L) : whole64(0L);
}
#endif

#if KERNEL_HERE(find_growth)
#define NEEDS_find_growth ~, needs_double | needs_int64
SHARED(wide, sums_before, 256)

// For each piece: what its growth belongs to, and the growth.
KERNEL(find_growth, 256, 1, f64_in terms, f64_in rough_sums, i64_out growth_of_pieces, int count) {
  wide before = WIDE(0.0);
  for (int i = local_x(); i < group_x(); i += 256) before += at(rough_sums, i);
  sums_before[local_x()] = before;
  barrier_group();
  for (int half_way = 128; half_way >= 1; half_way = half_way / 2) {
    if (local_x() < half_way) sums_before[local_x()] += sums_before[local_x() + half_way];
    barrier_group();
  }
  before = sums_before[0];
  join_growth(growth_of_run(terms, group_x() * PIECE + local_x() * RUN, count, before));
  if (local_x() == 0) {
    const WideGrowth growth = growth_at(0);
    const int place = group_x() * GROWTH_NUMBERS;
    at(growth_of_pieces, place) = magnitude_of(before);
    at(growth_of_pieces, place + 1) = growth.even;
    at(growth_of_pieces, place + 2) = growth.odd;
    at(growth_of_pieces, place + 3) = growth.rise;
    at(growth_of_pieces, place + 4) = growth.fall;
  }
}
#endif

#if KERNEL_HERE(sum_in_order)
#define NEEDS_sum_in_order ~, needs_double | needs_int64
SHARED(whole64, known_growth, 128 * 5)
SHARED(wide, sum_reached, 1)
SHARED(whole, place_reached, 1)

FUNCTION wide wide_sum_after(wide sum, WideGrowth growth) {
  if (!wide_sum_has_units(sum)) return sum;
  return wide_sum_of_units(sum, wide_units_after(units_of_wide_sum(sum), growth));
}
FUNCTION bool is_plain(wide sum, WideGrowth growth) {
  return wide_growth_is_plain(wide_sum_has_units(sum), units_of_wide_sum(sum), growth);
}

// One group.
KERNEL(sum_in_order, 256, 1, f64_in terms, i64_in growth_of_pieces, f64_out sums, int count) {
  const int pieces = (count + PIECE - 1) / PIECE;
  wide sum = WIDE(0.0);
  for (int piece = 0; piece < pieces; ++piece) {
    if (piece % 128 == 0) {
      // What is known of the next 128 pieces.
      barrier_group();
      for (int i = local_x(); i < 128 * GROWTH_NUMBERS; i += 256) {
        known_growth[i] = at(growth_of_pieces, min(piece * GROWTH_NUMBERS + i, pieces * GROWTH_NUMBERS - 1));
      }
      barrier_group();
    }
    const int from = piece % 128 * GROWTH_NUMBERS;
    WideGrowth known;
    known.even = known_growth[from + 1];
    known.odd = known_growth[from + 2];
    known.rise = known_growth[from + 3];
    known.fall = known_growth[from + 4];
    if (magnitude_of(sum) == known_growth[from] && is_plain(sum, known)) {
      sum = wide_sum_after(sum, known);
    } else {
      int place = piece * PIECE;
      const int end = min(place + PIECE, count);
      while (place < end) {
        // All go on to the first run where the sum may leave its unit; that one is added term by term.
        const WideGrowth own = growth_of_run(terms, place + local_x() * RUN, end, sum);
        join_growth(own);
        const WideGrowth growth = growth_at(0);
        if (is_plain(sum, growth)) {
          sum = wide_sum_after(sum, growth);
          place = end;
        } else {
          barrier_group();
          put_growth(local_x(), own);
          barrier_group();
          if (local_x() == 0) {
            wide total = sum;
            int at_term = place;
            bool goes_on = true;
            while (goes_on) {
              const WideGrowth next = growth_at((at_term - place) / RUN);
              goes_on = at_term + RUN < end && is_plain(total, next);
              if (goes_on) {
                total = wide_sum_after(total, next);
                at_term += RUN;
              }
            }
            for (int k = at_term; k < min(at_term + RUN, end); ++k) total = total + at(terms, k);
            sum_reached[0] = total;
            place_reached[0] = at_term + RUN;
          }
          barrier_group();
          sum = sum_reached[0];
          place = place_reached[0];
        }
      }
    }
  }
  if (local_x() == 0) at(sums, 0) = sum;
}
#endif
