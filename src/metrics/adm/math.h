// SPDX-License-Identifier: BSD-2-Clause-Patent
// The arithmetic of ADM in whole numbers, in the kernel dialect, one place at a time. wavelet.cc, decouple.cc and
// masking.cc have the same for the CPU, in vectors of 16 and 32 bits, with shortcuts for the usual case;
// tests/metrics/adm_math_test.cc holds both together.

// ---------------------------------------------------------------------------------------------------------------------
// The wavelet: Daubechies' of four taps, times 2^15.

FUNCTION whole low_filter(whole a, whole b, whole c, whole d) { return 15826 * a + 27411 * b + 7345 * c - 4240 * d; }
FUNCTION whole high_filter(whole a, whole b, whole c, whole d) { return 27411 * c - 4240 * a - 7345 * b - 15826 * d; }
FUNCTION whole64 low_filter_64(whole a, whole b, whole c, whole d) {
  return multiply_64(a, 15826) + multiply_64(b, 27411) + multiply_64(c, 7345) + multiply_64(d, -4240);
}
FUNCTION whole64 high_filter_64(whole a, whole b, whole c, whole d) {
  return multiply_64(a, -4240) + multiply_64(b, -7345) + multiply_64(c, 27411) + multiply_64(d, -15826);
}
FUNCTION whole rounded_shift(whole64 value, int bits) {
  return to_whole((value + (whole64(1L) << (bits - 1))) >> bits);
}

// ---------------------------------------------------------------------------------------------------------------------
// Decoupling.

// Whether the directions of horizontal and vertical details differ by less than a degree, from their products, each
// rounded to a float. The square of the cosine is one too.
FUNCTION bool has_same_direction(real dot, real o_square, real t_square) {
  const wide product = to_wide(dot);
  const wide bound = WIDE(0.9996954202651978) * to_wide(o_square) * to_wide(t_square);
  return dot >= real(0.0f) && product * product >= bound;
}

// A detail times the gain limit; its fraction is rounded to even, or cut off.
FUNCTION whole64 with_gain(whole size, wide gain, bool is_rounded) {
  const wide product = to_wide(size) * gain;
  const whole64 cut = to_whole64(product);
  const wide fraction = product - to_wide(cut);
  const bool rounds_up =
      is_rounded && (fraction > WIDE(0.5) || (fraction == WIDE(0.5) && (cut & whole64(1L)) != whole64(0L)));
  return rounds_up ? cut + whole64(1L) : cut;
}

// What is left of detail o in detail t, by the reference's arithmetic: a quotient of 15 bit after a divisor of 15 bit,
// and the product with that. Up to 16384 both are exact enough for t itself to come out.
FUNCTION whole restore(whole o, whole t, bool same_direction, wide gain, bool is_rounded) {
  const whole sign = o >> 31;
  const whole size = abs(o);
  const whole along = max((t ^ sign) - sign, 0);
  whole result = min(along, size);
  if (size > 16384) {
    const int beyond = max(17 - leading_zeros(to_natural(size)), 0);  // bits past 15
    const natural twice = to_natural(size) << 1;
    const natural divisor = ((twice >> beyond) + natural(1u)) >> 1;
    const natural inverse = natural(1073741824u) / divisor;
    const natural dividend = min(to_natural(along), twice);  // more gives 1 all the same
    const natural64 quotient = multiply_64(inverse, dividend) >> (beyond + 14);
    const natural ratio = min(to_natural((quotient + natural64(1UL)) >> 1), natural(32768u));
    const whole64 product = to_whole64(multiply_64(ratio, to_natural(size)));
    result = to_whole((product + to_whole64(16384 + sign)) >> 15);
  }
  if (same_direction) result = to_whole(min(with_gain(result, gain, is_rounded), to_whole64(along)));
  return (result ^ sign) - sign;
}

// ---------------------------------------------------------------------------------------------------------------------
// Contrast sensitivity, and what details of one part add to the thresholds that mask the other: to those around them,
// and how much more to that at their own place.

struct Influence {
  whole around;
  whole more;
};

FUNCTION whole wrapped_16(whole value) { return (value << 16) >> 16; }

// At scale 0, of details of one subband: `straight` for horizontal and vertical ones.
FUNCTION Influence short_influence(whole detail, whole factor, bool straight, bool saturates, bool is_wide) {
  const whole product = detail * factor;
  const whole weighed = straight ? (product + 16384) >> 15 : (product + 65535) >> 17;
  const whole size = abs(saturates ? clamp(weighed, -32768, 32767) : wrapped_16(weighed));
  const whole around = (4369 * size + 2048) >> 12;
  const whole centre = (8738 * size + 2048) >> 12;
  Influence influence;
  influence.around = saturates ? min(around, 32767) : wrapped_16(around);
  influence.more = (is_wide ? centre : wrapped_16(centre)) - influence.around;
  return influence;
}

// At the other scales: details times a factor of 2^-32, times 2^4, rounded as their sign says, and then without it.
FUNCTION natural weigh_long(whole detail, natural factor) {
  const natural64 rounding = to_natural64(to_natural(134217728 + (detail >> 31)));
  return to_natural((multiply_64(to_natural(abs(detail)), factor) + rounding) >> 28);
}

FUNCTION whole fraction_of(natural x, natural factor) {
  return to_whole(to_natural((multiply_64(x, factor) + natural64(2147483648UL)) >> 32));
}

// The reference takes 1 from what each subband adds, for its half of 2^32 became a negative number.
FUNCTION Influence long_influence(natural weighed) {
  Influence influence;
  const whole around = fraction_of(weighed, natural(143165577u));
  influence.around = around - 1;
  influence.more = fraction_of(weighed, natural(286331153u)) - around;
  return influence;
}

// ---------------------------------------------------------------------------------------------------------------------
// Third powers: ((x^2 + square_add) / 2^square_bits * x + half) / 2^cube_bits.

FUNCTION natural64 cube_of(natural x, natural64 square_add, int square_bits, int cube_bits) {
  const natural square = to_natural((multiply_64(x, x) + square_add) >> square_bits);
  return (multiply_64(square, x) + ((natural64(1UL) << cube_bits) >> 1)) >> cube_bits;
}

// What is above a threshold; both may have passed 31 bits.
FUNCTION natural above_threshold(natural size, natural threshold) {
  return to_natural(max(to_whole(size - threshold), 0));
}
