// SPDX-License-Identifier: BSD-2-Clause-Patent
// The arithmetic of one pixel, in the kernel dialect: included inside namespace acuity::HWY_NAMESPACE, after
// lang/cpu.h.

FUNCTION real squared_difference(real a, real b) {
  const real difference = a - b;
  return difference * difference;
}
