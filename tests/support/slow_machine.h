// SPDX-License-Identifier: BSD-2-Clause-Patent
// Under a sanitizer or an emulator everything takes many times as long. Tests that send hundreds of values through the
// same code send some of them there; the release build sends all.
#ifndef ACUITY_TESTS_SUPPORT_SLOW_MACHINE_H
#define ACUITY_TESTS_SUPPORT_SLOW_MACHINE_H

#include <string_view>

namespace acuity::tests {

#ifdef ACUITY_SLOW_MACHINE
inline constexpr bool kSlowMachine = true;
#else
inline constexpr bool kSlowMachine = false;
#endif

/// lavapipe under an emulator compiles kernels for minutes, so that only those of few metrics are used there. What the
/// kernels of the others compute does not depend on the processor.
#ifdef ACUITY_EMULATED_MACHINE
inline constexpr bool kEmulatedMachine = true;
#else
inline constexpr bool kEmulatedMachine = false;
#endif
inline bool is_left_out_on_gpu(std::string_view metric) {
  return kEmulatedMachine && metric != "mse" && metric != "dssim";
}

}  // namespace acuity::tests

#endif
