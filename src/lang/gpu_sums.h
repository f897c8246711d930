// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sums over threads, for CUDA and HIP: 32 at a time swap their shares; of whole numbers over a group the parts then
// meet in shared memory. What cuda.h and hip.h define is used here.

FUNCTION real sum_of_32(real value) {
  UNROLL for (int half_way = 16; half_way >= 1; half_way /= 2) value = value + shuffle_xor(value, half_way);
  return value;
}

#define GROUP_SUMS(threads)
static __attribute__((shared)) natural64 group_sum_parts[32];

FUNCTION whole64 group_sum(whole64 value) {
  natural64 sum = to_natural64(value);
  UNROLL for (int half_way = 16; half_way >= 1; half_way /= 2) {
    const whole low = shuffle_xor(to_whole(sum), half_way);
    const whole high = shuffle_xor(to_whole(sum >> 32), half_way);
    sum += to_natural64(to_natural(low)) | to_natural64(to_natural(high)) << 32;
  }
  barrier_group();  // the parts of an earlier sum have been read
  if (thread_in_group() % 32 == 0) group_sum_parts[thread_in_group() / 32] = sum;
  barrier_group();
  sum = group_sum_parts[0];
  for (int i = 1; i < group_threads() / 32; ++i) sum += group_sum_parts[i];
  return to_whole64(sum);
}
