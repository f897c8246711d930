// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a file of kernels includes first: the shim of whatever compiles it. docs/dialect.md describes the language.
#if defined(ACUITY_GLSL)
#include "lang/glsl.h"
#elif defined(ACUITY_CUDA)
#include "lang/cuda.h"
#elif defined(ACUITY_HIP)
#include "lang/hip.h"
#endif
// On the host lang/host.h has been included before; it declares the kernels without compiling them.
