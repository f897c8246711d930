// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which instruction set the CPU code runs with. Every one gives the same bits; only speed differs.
#ifndef ACUITY_LANG_TARGETS_H
#define ACUITY_LANG_TARGETS_H

#include <string>
#include <vector>

#include "acuity/status.h"

namespace acuity {

/// Must succeed before code compiled through lang/cpu.h runs: applies the environment variable ACUITY_CPU
/// ("sse4", "avx2", "avx512", "neon": nothing faster than that) and refuses processors older than the lowest target.
Status prepare_cpu();

/// The target in use, e.g. "AVX2".
std::string cpu_target();

/// Names, as ACUITY_CPU takes them, of the targets compiled in that this processor can run, fastest first.
std::vector<std::string> cpu_targets();

/// For tests: use this target from now on ("" undoes it).
Status limit_cpu(const std::string& name);

}  // namespace acuity

#endif
