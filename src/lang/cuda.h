// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernel dialect for NVIDIA, compiled by clang to PTX.
#include "lang/gpu.h"

// A kernel is to take no more registers than leave room for n of its groups on a multiprocessor at once, where the
// macro ROOM_<kernel> is `~, n`.
#define SECOND_OF(a, b, ...) b
#define SECOND(...) SECOND_OF(__VA_ARGS__, 0, 0)
#define LAUNCH_BOUNDS(name, threads) launch_bounds(threads, SECOND(ROOM_##name))

FUNCTION int local_x() { return __nvvm_read_ptx_sreg_tid_x(); }
FUNCTION int local_y() { return __nvvm_read_ptx_sreg_tid_y(); }
FUNCTION int group_x() { return __nvvm_read_ptx_sreg_ctaid_x(); }
FUNCTION int group_y() { return __nvvm_read_ptx_sreg_ctaid_y(); }
FUNCTION int global_x() { return group_x() * __nvvm_read_ptx_sreg_ntid_x() + local_x(); }
FUNCTION int global_y() { return group_y() * __nvvm_read_ptx_sreg_ntid_y() + local_y(); }
FUNCTION void barrier_group() { __syncthreads(); }

// What the compiler makes of a division and of a root, less the branch for operands that are not ordinary. That branch
// is taken for 0 too, and keeps neighbouring operations from being worked on side by side.
FUNCTION real divide_ordinary(real a, real b) {
  const real near = __nvvm_rcp_approx_ftz_f(b);
  const real reciprocal = fma(near, fma(-b, near, real(1.0f)), near);
  const real quotient = a * reciprocal;
  return fma(reciprocal, fma(-b, quotient, a), quotient);
}
FUNCTION real sqrt_ordinary(real a) {
  const real near = __nvvm_rsqrt_approx_ftz_f(a);
  const real root = a * near;
  return fma(fma(-root, root, a), near * real(0.5f), root);
}

#define SHUFFLES(threads)
FUNCTION real shuffle_xor(real value, int mask) { return __nvvm_shfl_sync_bfly_f32(0xFFFFFFFF, value, mask, 31); }
FUNCTION whole shuffle_xor(whole value, int mask) { return __nvvm_shfl_sync_bfly_i32(0xFFFFFFFF, value, mask, 31); }

FUNCTION int group_threads() { return __nvvm_read_ptx_sreg_ntid_x() * __nvvm_read_ptx_sreg_ntid_y(); }
FUNCTION int thread_in_group() { return local_y() * __nvvm_read_ptx_sreg_ntid_x() + local_x(); }
#include "lang/gpu_sums.h"
