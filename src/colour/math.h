// SPDX-License-Identifier: BSD-2-Clause-Patent
// Colour for one sample, in the kernel dialect: include it after lang/exact.h.

// Light to sRGB codes, 0 .. 255: IEC 61966-2-1 with a relative error within 3e-7, odd for negative light.
FUNCTION real srgb_code(real linear) {
  const real x = abs(linear);
  const real curved = fma(power(x, real(0.416666667f)), real(269.025f), real(-14.025f));
  const real code = select(x <= real(0.00313080495f), x * real(3294.6f), curved);
  return select(linear < real(0.0f), -code, code);
}
