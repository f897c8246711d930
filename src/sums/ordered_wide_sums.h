// SPDX-License-Identifier: BSD-2-Clause-Patent
// As ordered_sums.h, for doubles, of which any may be negative. A sum below zero is turned round, and its terms with
// it. Whether a sum stays between two powers of two is known from how far it rises and falls at most.

#define WIDE_UNITS_END 0x20000000000000L   /* a sum has fewer units than 2^53 */
#define WIDE_UNITS_BEGIN 0x10000000000000L /* and not fewer than 2^52 */
#define WIDE_GROWTH_MOST 0x100000000000000L

struct WideGrowth {
  whole64 even;
  whole64 odd;
  whole64 rise;
  whole64 fall;
};

/// Whether a sum is added to by units at all; numbers next to zero are not.
FUNCTION bool wide_sum_has_units(wide sum) {
  return abs(sum) >= WIDE(8.271806125530277e-25) && abs(sum) < WIDE(1.0e100);  // 2^-80
}

/// How many units a sum has, without its sign, and a sum of so many units with the sign and exponent of another.
FUNCTION whole64 units_of_wide_sum(wide sum) {
  return (bits_of_wide(sum) & whole64(0xFFFFFFFFFFFFFL)) | whole64(WIDE_UNITS_BEGIN);
}
FUNCTION wide wide_sum_of_units(wide like, whole64 units) {
  const whole64 fraction = whole64(0xFFFFFFFFFFFFFL);
  return wide_from_bits((bits_of_wide(like) & ~fraction) | (units & fraction));
}

/// What a term is multiplied with to be in units of the sum, and of its sign.
FUNCTION wide wide_units_scale(wide sum) {
  const whole64 exponent = (bits_of_wide(sum) >> 52) & whole64(2047L);
  const wide scale = wide_from_bits((whole64(2098L) - exponent) << 52);
  return sum < WIDE(0.0) ? -scale : scale;
}

FUNCTION WideGrowth no_wide_growth() {
  WideGrowth growth;
  growth.even = whole64(0L);
  growth.odd = whole64(0L);
  growth.rise = whole64(0L);
  growth.fall = whole64(0L);
  return growth;
}

/// At most 60 times in a row.
FUNCTION void add_wide_term(INOUT(WideGrowth) growth, wide term, wide scale) {
  const wide units = max(min(term * scale, WIDE(18014398509481984.0)), WIDE(-18014398509481984.0));  // 2^54
  whole64 down = to_whole64(units);
  if (to_wide(down) > units) down -= whole64(1L);
  const wide rest = units - to_wide(down);
  if (rest == WIDE(0.5)) {
    growth.even += down + ((growth.even + down) & whole64(1L));
    growth.odd += down + ((growth.odd + down + whole64(1L)) & whole64(1L));
  } else {
    const whole64 nearest = rest > WIDE(0.5) ? down + whole64(1L) : down;
    growth.even += nearest;
    growth.odd += nearest;
  }
  // A term that is rounded rises by one more at most.
  growth.rise += max(down + whole64(1L), whole64(0L));
  growth.fall += max(-down, whole64(0L));
}

/// For sums without units: whether there is anything to add.
FUNCTION void note_wide_term(INOUT(WideGrowth) growth, wide term) {
  if (!(term == WIDE(0.0))) growth.rise = whole64(WIDE_GROWTH_MOST);
}

FUNCTION WideGrowth limited_wide(WideGrowth growth) {
  const whole64 most = whole64(WIDE_GROWTH_MOST);
  WideGrowth result;
  result.even = clamp(growth.even, -most, most);
  result.odd = clamp(growth.odd, -most, most);
  result.rise = min(growth.rise, most);
  result.fall = min(growth.fall, most);
  return result;
}

/// That of the first terms and then that of the terms behind them.
FUNCTION WideGrowth then_wide_growth(WideGrowth first, WideGrowth second) {
  WideGrowth both;
  both.even = first.even + ((first.even & whole64(1L)) == whole64(0L) ? second.even : second.odd);
  both.odd = first.odd + ((first.odd & whole64(1L)) == whole64(0L) ? second.odd : second.even);
  both.rise = first.rise + second.rise;
  both.fall = first.fall + second.fall;
  return limited_wide(both);
}

FUNCTION whole64 wide_units_after(whole64 units, WideGrowth growth) {
  return units + ((units & whole64(1L)) == whole64(0L) ? growth.even : growth.odd);
}

/// Whether a sum of so many units keeps its unit all the way; without units, whether nothing is added to it.
FUNCTION bool wide_growth_is_plain(bool has_units, whole64 units, WideGrowth growth) {
  if (!has_units) return growth.rise == whole64(0L);
  return units + growth.rise < whole64(WIDE_UNITS_END) && units - growth.fall >= whole64(WIDE_UNITS_BEGIN);
}
