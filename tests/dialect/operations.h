// SPDX-License-Identifier: BSD-2-Clause-Patent
// What integers and doubles of the dialect can do on the CPU's vectors, on the host and on devices, and its ordinary
// quotients and roots. Operation number n is row n of a table in expected.cc. Numbers come and go as 64 bits, of which
// some operations use the lower 32. `bits` is from 0 to 31.

#define SHARED_INTEGER_OPERATIONS 65
FUNCTION natural64 integer_answer(int operation, natural64 a, natural64 b, int bits) {
  const whole x = to_whole(a);
  const whole y = to_whole(b);
  const natural p = to_natural(a);
  const natural q = to_natural(b);
  const whole64 v = to_whole64(a);
  const whole64 w = to_whole64(b);
  const natural count = q & natural(31u);
  const natural count64 = q & natural(63u);
  const natural yes = natural(1u);
  const natural no = natural(0u);
  const natural64 yes64 = natural64(1UL);
  const natural64 no64 = natural64(0UL);

  // whole
  if (operation == 0) return to_natural64(x + y);
  if (operation == 1) return to_natural64(x - y);
  if (operation == 2) return to_natural64(x * y);
  if (operation == 3) return to_natural64((x & y) ^ (x | y));
  if (operation == 4) return to_natural64(select(x < y, yes, no));
  if (operation == 5) return to_natural64(select(x > y, yes, no));
  if (operation == 6) return to_natural64(select(x == y, yes, no));
  if (operation == 7) return to_natural64(min(x, y));
  if (operation == 8) return to_natural64(max(x, y));
  if (operation == 9) return to_natural64(abs(x));
  if (operation == 10) return to_natural64(SHIFT_LEFT(x, 3));
  if (operation == 11) return to_natural64(SHIFT_RIGHT(x, 5));
  if (operation == 12) return to_natural64(shift_left(x, bits));
  if (operation == 13) return to_natural64(shift_right(x, bits));
  if (operation == 14) return to_natural64(shift_left(x, count));
  if (operation == 15) return to_natural64(shift_right(x, count));
  if (operation == 16) return to_natural64(bits_of(to_real(x)));
  if (operation == 17) return to_natural64(to_whole(from_bits(x)));
  // natural
  if (operation == 18) return to_natural64(p + q);
  if (operation == 19) return to_natural64(p - q);
  if (operation == 20) return to_natural64(p * q);
  if (operation == 21) return to_natural64((p & q) ^ (p | q));
  if (operation == 22) return to_natural64(select(p < q, yes, no));
  if (operation == 23) return to_natural64(select(p > q, yes, no));
  if (operation == 24) return to_natural64(select(p == q, yes, no));
  if (operation == 25) return to_natural64(min(p, q));
  if (operation == 26) return to_natural64(max(p, q));
  if (operation == 27) return to_natural64(SHIFT_LEFT(p, 3));
  if (operation == 28) return to_natural64(SHIFT_RIGHT(p, 5));
  if (operation == 29) return to_natural64(shift_left(p, bits));
  if (operation == 30) return to_natural64(shift_right(p, bits));
  if (operation == 31) return to_natural64(shift_left(p, count));
  if (operation == 32) return to_natural64(shift_right(p, count));
  // Two numbers of 16 bits in one, and the lower of them with its sign.
  if (operation == 33) return to_natural64((p & natural(65535u)) | SHIFT_LEFT(q, 16));
  if (operation == 34) return to_natural64(SHIFT_RIGHT(SHIFT_LEFT(x, 16), 16));
  // natural64
  if (operation == 35) return a + b;
  if (operation == 36) return a - b;
  if (operation == 37) return (a & b) ^ (a | b);
  if (operation == 38) return select(a < b, yes64, no64);
  if (operation == 39) return select(a == b, yes64, no64);
  if (operation == 40) return min(a, b);
  if (operation == 41) return max(a, b);
  if (operation == 42) return SHIFT_LEFT(a, 13);
  if (operation == 43) return SHIFT_RIGHT(a, 29);
  if (operation == 44) return shift_left(a, bits);
  if (operation == 45) return shift_right(a, bits);
  if (operation == 46) return shift_left(a, count64);
  if (operation == 47) return shift_right(a, count64);
  if (operation == 48) return a + natural64(0x123456789ABCDEF0UL);
  // whole64
  if (operation == 49) return to_natural64(v + w);
  if (operation == 50) return to_natural64(v - w);
  if (operation == 51) return select(v < w, yes64, no64);
  if (operation == 52) return to_natural64(min(v, w));
  if (operation == 53) return to_natural64(max(v, w));
  if (operation == 54) return to_natural64(abs(v));
  if (operation == 55) return to_natural64(SHIFT_RIGHT(v, 29));
  if (operation == 56) return to_natural64(shift_right(v, bits));
  if (operation == 57) return to_natural64(shift_right(v, count64));
  // Between them.
  if (operation == 58) return to_natural64(multiply_64(x, y));
  if (operation == 59) return multiply_64(p, q);
  if (operation == 60) return to_natural64(p);
  if (operation == 61) return to_natural64(to_whole64(p) - to_whole64(x));
  if (operation == 62) return to_natural64(to_natural(SHIFT_RIGHT(multiply_64(p, q) + natural64(2147483648UL), 32)));
  // Reals without a branch.
  if (operation == 63) return to_natural64(bits_of(divide_ordinary(from_bits(x), from_bits(y))));
  return to_natural64(bits_of(sqrt_ordinary(from_bits(x))));
}

#define SHARED_WIDE_OPERATIONS 25
FUNCTION natural64 wide_answer(int operation, natural64 a, natural64 b) {
  const whole x = to_whole(a);
  const wide d = wide_from_bits(to_whole64(a));
  const wide e = wide_from_bits(to_whole64(b));
  const wide yes = WIDE(1.0);
  const wide no = WIDE(0.0);
  const wide large = WIDE(6755399441055744.0);  // 1.5 * 2^52: a sum with it is whole

  if (operation == 0) return to_natural64(bits_of_wide(d + e));
  if (operation == 1) return to_natural64(bits_of_wide(d - e));
  if (operation == 2) return to_natural64(bits_of_wide(d * e));
  if (operation == 3) return to_natural64(bits_of_wide(divide(d, e)));
  if (operation == 4) return to_natural64(bits_of_wide(sqrt(abs(d))));
  if (operation == 5) return to_natural64(bits_of_wide(-d));
  if (operation == 6) return to_natural64(bits_of_wide(min(d, e)));
  if (operation == 7) return to_natural64(bits_of_wide(max(d, e)));
  if (operation == 8) return to_natural64(bits_of_wide(select(d < e, yes, no)));
  if (operation == 9) return to_natural64(bits_of_wide(select(d > e, yes, no)));
  if (operation == 10) return to_natural64(bits_of_wide(select(d <= e, yes, no)));
  if (operation == 11) return to_natural64(bits_of_wide(select(d >= e, yes, no)));
  if (operation == 12) return to_natural64(bits_of_wide(select(d == e, yes, no)));
  if (operation == 13) return to_natural64(bits_of_wide(d * e + d));
  if (operation == 14) return to_natural64(bits_of_wide(d * WIDE(1.6) - WIDE(0.1)));
  if (operation == 15) return to_natural64(bits_of_wide((d + large) - large));
  if (operation == 16) return to_natural64(bits_of(to_real(d)));
  if (operation == 17) return to_natural64(bits_of_wide(to_wide(from_bits(x))));
  if (operation == 18) return to_natural64(bits_of_wide(to_wide(x)));
  if (operation == 19) return to_natural64(bits_of_wide(to_wide(to_natural(a))));
  if (operation == 20) return to_natural64(bits_of_wide(to_wide(to_whole64(a))));
  if (operation == 21) return to_natural64(to_whole(d));
  if (operation == 22) return to_natural64(to_whole64(d));
  if (operation == 23) return to_natural64(bits_of_wide(to_wide(to_real(d))));
  return to_natural64(SHIFT_RIGHT(bits_of_wide(d), 52));
}
