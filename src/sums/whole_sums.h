// SPDX-License-Identifier: BSD-2-Clause-Patent
// The contract for sums of whole numbers in kernels, beside that for floats (sums/tiles.h): they are exact, so
// nobody minds their order. Threads add up as many as they like, a group adds up its threads, and groups add to one
// place, in whichever order they end. Who writes the kernel sees to it that no sum leaves 64 bits.
//
// A kernel that uses this says GROUP_SUMS(threads) before, with the number of threads in its group, a multiple of 32,
// and NEEDS_<kernel> has needs_int64.

// Adds what `value`, a whole64, comes to over the group to number `index` of `sums`, an i64_out that was cleared before
// the launch. All threads of the group must come here, as to a barrier, with the same index.
#define ADD_GROUP_SUM(sums, index, value)                                           \
  {                                                                                 \
    const whole64 sum_of_group = group_sum(value);                                  \
    if (local_x() == 0 && local_y() == 0) atomic_add_64(sums, index, sum_of_group); \
  }
