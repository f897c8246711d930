// SPDX-License-Identifier: BSD-2-Clause-Patent
// Under a sanitizer or an emulator everything takes many times as long. Tests that send hundreds of values through the
// same code send some of them there; the release build sends all.
#ifndef ACUITY_TESTS_SUPPORT_SLOW_MACHINE_H
#define ACUITY_TESTS_SUPPORT_SLOW_MACHINE_H

namespace acuity::tests {

#ifdef ACUITY_SLOW_MACHINE
inline constexpr bool kSlowMachine = true;
#else
inline constexpr bool kSlowMachine = false;
#endif

}  // namespace acuity::tests

#endif
