// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernel dialect for NVIDIA, compiled by clang to PTX.
#include "lang/gpu.h"

FUNCTION int local_x() { return __nvvm_read_ptx_sreg_tid_x(); }
FUNCTION int local_y() { return __nvvm_read_ptx_sreg_tid_y(); }
FUNCTION int group_x() { return __nvvm_read_ptx_sreg_ctaid_x(); }
FUNCTION int group_y() { return __nvvm_read_ptx_sreg_ctaid_y(); }
FUNCTION int global_x() { return group_x() * __nvvm_read_ptx_sreg_ntid_x() + local_x(); }
FUNCTION int global_y() { return group_y() * __nvvm_read_ptx_sreg_ntid_y() + local_y(); }
FUNCTION void barrier_group() { __syncthreads(); }

#define SHUFFLES(threads)
FUNCTION real shuffle_xor(real value, int mask) { return __nvvm_shfl_sync_bfly_f32(0xFFFFFFFF, value, mask, 31); }
