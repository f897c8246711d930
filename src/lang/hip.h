// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernel dialect for AMD, compiled by clang to code objects.
#include "lang/gpu.h"

FUNCTION int local_x() { return __builtin_amdgcn_workitem_id_x(); }
FUNCTION int local_y() { return __builtin_amdgcn_workitem_id_y(); }
FUNCTION int group_x() { return __builtin_amdgcn_workgroup_id_x(); }
FUNCTION int group_y() { return __builtin_amdgcn_workgroup_id_y(); }
FUNCTION int global_x() { return group_x() * __builtin_amdgcn_workgroup_size_x() + local_x(); }
FUNCTION int global_y() { return group_y() * __builtin_amdgcn_workgroup_size_y() + local_y(); }
FUNCTION void barrier_group() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
