// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernel dialect for AMD, compiled by clang to code objects.
#include "lang/gpu.h"

#define LAUNCH_BOUNDS(name, threads) launch_bounds(threads)

FUNCTION int local_x() { return __builtin_amdgcn_workitem_id_x(); }
FUNCTION int local_y() { return __builtin_amdgcn_workitem_id_y(); }
FUNCTION int group_x() { return __builtin_amdgcn_workgroup_id_x(); }
FUNCTION int group_y() { return __builtin_amdgcn_workgroup_id_y(); }
FUNCTION int global_x() { return group_x() * __builtin_amdgcn_workgroup_size_x() + local_x(); }
FUNCTION int global_y() { return group_y() * __builtin_amdgcn_workgroup_size_y() + local_y(); }
FUNCTION real divide_ordinary(real a, real b) { return a / b; }
FUNCTION real sqrt_ordinary(real a) { return sqrt(a); }
FUNCTION void barrier_group() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// A wave has 32 or 64 threads; 32 that stand at a multiple of 32 are together in either.
#define SHUFFLES(threads)
FUNCTION whole shuffle_xor(whole value, int mask) {
  const int lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
  return __builtin_amdgcn_ds_bpermute((lane ^ mask) * 4, value);
}
FUNCTION real shuffle_xor(real value, int mask) { return from_bits(shuffle_xor(bits_of(value), mask)); }

FUNCTION int group_threads() { return __builtin_amdgcn_workgroup_size_x() * __builtin_amdgcn_workgroup_size_y(); }
FUNCTION int thread_in_group() { return local_y() * __builtin_amdgcn_workgroup_size_x() + local_x(); }
#include "lang/gpu_sums.h"
