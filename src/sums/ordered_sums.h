// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sums of floats from the first to the last, as a plain loop makes them, by many threads at once and to the same bits.
// For references that add up a whole picture in one float. In the kernel dialect; no term may be negative.
//
// As long as the sum stays between two powers of two it is a whole number of units, its last place, and so is what a
// term adds to it: the term in units, rounded. That does not depend on the sum, except where a term lies in the middle
// between two units: then the sum becomes even. So what terms add, one or a thousand, is known from two numbers: by how
// many units an even sum grows, and an odd one. These of neighbouring terms can be found apart and then put together.
// A sum that reaches the next power of two is added to term by term there.

#define SUM_UNITS_END whole(16777216) /* a sum has fewer units than 2^24 */
#define SUM_GROWTH_MOST whole(33554432)

struct SumGrowth {
  whole even;
  whole odd;
};

/// Whether sums so small are added to by units at all; zero is not.
FUNCTION bool sum_has_units(real sum) { return sum >= real(8.27180613e-25f); /* 2^-80 */ }

/// How many units a sum has, and a sum of so many units with the exponent of another.
FUNCTION whole units_of_sum(real sum) { return (bits_of(sum) & whole(0x7FFFFF)) | whole(0x800000); }
FUNCTION real sum_of_units(real like, whole units) {
  return from_bits((bits_of(like) & whole(0x7F800000)) | (units & whole(0x7FFFFF)));
}

/// What a term is multiplied with to be in units of the sum.
FUNCTION real units_scale(real sum) { return from_bits((277 - (bits_of(sum) >> 23)) << 23); }

FUNCTION SumGrowth no_growth() {
  SumGrowth growth;
  growth.even = whole(0);
  growth.odd = whole(0);
  return growth;
}

/// At most 60 times in a row.
FUNCTION void add_term(INOUT(SumGrowth) growth, real term, real scale) {
  const real units = min(term * scale, real(33554432.0f));
  const whole down = to_whole(units);
  const real rest = units - to_real(down);
  if (rest == real(0.5f)) {
    growth.even += down + ((growth.even + down) & whole(1));
    growth.odd += down + ((growth.odd + down + whole(1)) & whole(1));
  } else {
    const whole nearest = rest > real(0.5f) ? down + whole(1) : down;
    growth.even += nearest;
    growth.odd += nearest;
  }
}

/// For sums without units: whether there is anything to add.
FUNCTION void note_term(INOUT(SumGrowth) growth, real term) {
  if (term > real(0.0f)) {
    growth.even = SUM_GROWTH_MOST;
    growth.odd = SUM_GROWTH_MOST;
  }
}

FUNCTION SumGrowth limited(SumGrowth growth) {
  SumGrowth result;
  result.even = min(growth.even, SUM_GROWTH_MOST);
  result.odd = min(growth.odd, SUM_GROWTH_MOST);
  return result;
}

/// That of the first terms and then that of the terms behind them.
FUNCTION SumGrowth then_growth(SumGrowth first, SumGrowth second) {
  SumGrowth both;
  both.even = first.even + ((first.even & whole(1)) == whole(0) ? second.even : second.odd);
  both.odd = first.odd + ((first.odd & whole(1)) == whole(0) ? second.odd : second.even);
  return limited(both);
}

FUNCTION whole units_after(whole units, SumGrowth growth) {
  return units + ((units & whole(1)) == whole(0) ? growth.even : growth.odd);
}
