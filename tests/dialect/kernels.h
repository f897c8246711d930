// SPDX-License-Identifier: BSD-2-Clause-Patent
// Kernels that show what integers and doubles of the dialect do on a device, for device.cc.
#include "lang/dialect.h"

#include "operations.h"
#include "sums/whole_sums.h"

// What kernels can do besides; rows of a table in expected.cc as well.
#define KERNEL_INTEGER_OPERATIONS 28
FUNCTION natural64 integer_kernel_answer(int operation, natural64 a, natural64 b) {
  const whole x = to_whole(a);
  const whole y = to_whole(b);
  const natural p = to_natural(a);
  const natural q = to_natural(b);
  const whole64 v = to_whole64(a);
  const whole64 w = to_whole64(b);
  const real r = from_bits(x);

  if (operation == 0) return to_natural64(x / y);
  if (operation == 1) return to_natural64(x % y);
  if (operation == 2) return to_natural64(clamp(x, -1000, 1000000));
  if (operation == 3) return to_natural64(x <= y && x != y ? 1 : x >= y ? 2 : 3);
  if (operation == 4) return to_natural64(p / q);
  if (operation == 5) return to_natural64(p % q);
  if (operation == 6) return to_natural64(clamp(p, 1000u, 3000000000u));
  if (operation == 7) return to_natural64(p <= q && p != q ? 1 : p >= q ? 2 : 3);
  if (operation == 8) return to_natural64(~p);
  if (operation == 9) return to_natural64(leading_zeros(p));
  if (operation == 10) return to_natural64(leading_zeros(a));
  if (operation == 11) return to_natural64(count_ones(p));
  if (operation == 12) return a * b;
  if (operation == 13) return a / b;
  if (operation == 14) return a % b;
  if (operation == 15) return to_natural64(v * w);
  if (operation == 16) return to_natural64(v / w);
  if (operation == 17) return to_natural64(clamp(v, -5000000000L, 6000000000L));
  if (operation == 18) return to_natural64(v <= w && v != w ? 1 : v >= w ? 2 : 3);
  if (operation == 19) return to_natural64(bits_of(to_real(p)));
  if (operation == 20) return to_natural64(bits_of(to_real(v)));
  if (operation == 21) return to_natural64(bits_of(to_real(a)));
  if (operation == 22) return to_natural64(to_natural(r));
  if (operation == 23) return to_natural64(to_whole64(r));
  if (operation == 24) return to_natural64(r);
  natural64 sum = a;
  if (operation == 25) {
    sum += b;
    sum *= natural64(3UL);
    return sum;
  }
  if (operation == 26) {
    sum -= b;
    sum |= natural64(1UL);
    return sum;
  }
  return ~sum;
}

#define KERNEL_WIDE_OPERATIONS 5
FUNCTION natural64 wide_kernel_answer(int operation, natural64 a, natural64 b) {
  const wide d = wide_from_bits(to_whole64(a));
  const wide e = wide_from_bits(to_whole64(b));
  if (operation == 0) return to_natural64(bits_of_wide(to_wide(a)));
  if (operation == 1) return to_natural64(to_natural(d));
  if (operation == 2) return to_natural64(d);
  if (operation == 3) return to_natural64(d != e ? 1 : 0);
  wide sum = d;
  sum += e;
  sum *= d;
  return to_natural64(bits_of_wide(sum));
}

#if KERNEL_HERE(integers)
#define NEEDS_integers ~, needs_int64
// numbers: `count` pairs. answers: all pairs' of the first operation, then of the next.
KERNEL(integers, 64, 1, u64_in numbers, u64_out answers, int count, int bits) {
  const int i = global_x();
  if (i < count) {
    const natural64 a = at(numbers, 2 * i);
    const natural64 b = at(numbers, 2 * i + 1);
    for (int n = 0; n < SHARED_INTEGER_OPERATIONS; ++n) at(answers, n * count + i) = integer_answer(n, a, b, bits);
    for (int n = 0; n < KERNEL_INTEGER_OPERATIONS; ++n) {
      at(answers, (SHARED_INTEGER_OPERATIONS + n) * count + i) = integer_kernel_answer(n, a, b);
    }
  }
}
#endif

#if KERNEL_HERE(doubles)
#define NEEDS_doubles ~, needs_int64 | needs_double
KERNEL(doubles, 64, 1, u64_in numbers, u64_out answers, int count) {
  const int i = global_x();
  if (i < count) {
    const natural64 a = at(numbers, 2 * i);
    const natural64 b = at(numbers, 2 * i + 1);
    for (int n = 0; n < SHARED_WIDE_OPERATIONS; ++n) at(answers, n * count + i) = wide_answer(n, a, b);
    for (int n = 0; n < KERNEL_WIDE_OPERATIONS; ++n) {
      at(answers, (SHARED_WIDE_OPERATIONS + n) * count + i) = wide_kernel_answer(n, a, b);
    }
  }
}
#endif

#if KERNEL_HERE(small_buffers)
#define NEEDS_small_buffers ~, needs_storage8 | needs_storage16
// Each result is 3 x + 1, cut to what the buffer holds.
KERNEL(small_buffers, 64, 1, u8_in bytes, u8_out new_bytes, u16_in halves, u16_out new_halves, i16_in signed_halves,
       i16_out new_signed_halves, int count) {
  const int i = global_x();
  if (i < count) {
    store_u8(new_bytes, i, whole_at(bytes, i) * 3 + 1);
    store_u16(new_halves, i, whole_at(halves, i) * 3 + 1);
    store_i16(new_signed_halves, i, whole_at(signed_halves, i) * 3 + 1);
  }
}
#endif

#if KERNEL_HERE(large_buffers)
#define NEEDS_large_buffers ~, needs_int64 | needs_double
// Adds an argument of its type to each number. The arguments leave holes between them.
KERNEL(large_buffers, 64, 1, i32_in wholes, i32_out new_wholes, u32_in naturals, u32_out new_naturals, i64_in wholes64,
       i64_out new_wholes64, f64_in wides, f64_out new_wides, int count, wide add_wide, natural add_natural,
       whole64 add_whole64, whole add_whole) {
  const int i = global_x();
  if (i < count) {
    at(new_wholes, i) = at(wholes, i) + add_whole;
    at(new_naturals, i) = at(naturals, i) + add_natural;
    at(new_wholes64, i) = at(wholes64, i) + add_whole64;
    at(new_wides, i) = at(wides, i) + add_wide;
  }
}
#endif

#if KERNEL_HERE(sums_of_32)
#define NEEDS_sums_of_32 ~, needs_int64
GROUP_SUMS(32)

// The sum of each group's numbers, as each of its threads sees it.
KERNEL(sums_of_32, 32, 1, i64_in numbers, i64_out seen) {
  const int i = global_x();
  at(seen, i) = group_sum(at(numbers, i));
}
#endif

#if KERNEL_HERE(sums_of_256)
#define NEEDS_sums_of_256 ~, needs_int64
GROUP_SUMS(256)

// The same, and the sum of all numbers less that of their places, added to totals[0] and totals[1].
KERNEL(sums_of_256, 32, 8, i64_in numbers, i64_out seen, i64_out totals) {
  const int i = group_x() * 256 + local_y() * 32 + local_x();
  at(seen, i) = group_sum(at(numbers, i));
  ADD_GROUP_SUM(totals, 0, at(numbers, i))
  ADD_GROUP_SUM(totals, 1, to_whole64(-i))
}
#endif

#if KERNEL_HERE(count_digits)
SHARED(natural, digit_counts, 10)
SHUFFLES(64)

// How often each digit is the last one of a number: counted by a group in shared memory, then over all groups. And each
// number with that of the thread 31 - i; and the sum of the floats nearest to those of 32 threads.
KERNEL(count_digits, 64, 1, u32_in numbers, u32_out counts, i32_out sum, i32_out swapped, f32_out sums) {
  const int i = global_x();
  const natural number = at(numbers, i);
  if (local_x() < 10) digit_counts[local_x()] = 0u;
  barrier_group();
  atomic_add(digit_counts[to_whole(number % 10u)], 1u);
  atomic_add(at(sum, 0), to_whole(number % 1000u) - 500);
  barrier_group();
  if (local_x() < 10) atomic_add(at(counts, local_x()), digit_counts[local_x()]);
  whole other = to_whole(number);
  UNROLL for (int distance = 16; distance >= 1; distance = distance / 2) other = shuffle_xor(other, distance);
  at(swapped, i) = other;
  at(sums, i) = sum_of_32(to_real(number));
}
#endif
