// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernels of SSIMULACRA2 for pictures that are cut into bands, as the host knows them.
#ifndef ACUITY_METRICS_SSIMULACRA2_GPU_KERNELS_H
#define ACUITY_METRICS_SSIMULACRA2_GPU_KERNELS_H

#include "lang/host.h"

namespace acuity {

extern const KernelFile ssimulacra2_kernels;
extern const KernelFile ssimulacra2_prepared_kernels;

namespace ssimulacra2 {
namespace kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &ssimulacra2_kernels;
#include "metrics/ssimulacra2/kernels.h"

}  // namespace kernels

namespace prepared_kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &ssimulacra2_prepared_kernels;
#include "metrics/ssimulacra2/prepared_kernels.h"

}  // namespace prepared_kernels
}  // namespace ssimulacra2
}  // namespace acuity

#endif
