// SPDX-License-Identifier: BSD-2-Clause-Patent
// Butteraugli's blurs but for that of opsin dynamics, in the kernel dialect, along rows first and then along columns.
// As in math.h, the order of operations is the definition.
//
// AT(i) is the sample i places after the pixel, 0 outside the picture. A pixel whose window lies inside the picture is
// blurred by BLUR_*. A pixel nearer to an edge than the radius is blurred by BLUR_*_EDGE: the samples inside from the
// first to the last by the weights of BLUR_*_EACH, then times `scale`, which is 1 / (the weights inside, added in float
// from the first to the last); blur_edge_scale in parameters.h computes it.

// Of the low band, sigma 7.156. Here alone are products rounded before they are added, in four partial sums as libjxl
// does: XYB is large beside what is left when the blurred XYB is taken away, and flat pictures are nothing but
// rounding.
#define BLUR_LOW_RADIUS 16
#define BLUR_LOW(AT, result)                                         \
  {                                                                  \
    real sum0 = (AT(-16) + AT(16)) * real(0.00467616227f);           \
    real sum1 = (AT(-15) + AT(15)) * real(0.00632916577f);           \
    real sum2 = (AT(-14) + AT(14)) * real(0.0084008323f);            \
    real sum3 = (AT(-13) + AT(13)) * real(0.0109349554f);            \
    sum0 = sum0 + (AT(-12) + AT(12)) * real(0.0139582399f);          \
    sum1 = sum1 + (AT(-11) + AT(11)) * real(0.0174728278f);          \
    sum2 = sum2 + (AT(-10) + AT(10)) * real(0.0214493759f);          \
    sum3 = sum3 + (AT(-9) + AT(9)) * real(0.0258217137f);            \
    sum0 = sum0 + (AT(-8) + AT(8)) * real(0.030484166f);             \
    sum1 = sum1 + (AT(-7) + AT(7)) * real(0.0352925062f);            \
    sum2 = sum2 + (AT(-6) + AT(6)) * real(0.0400690995f);            \
    sum3 = sum3 + (AT(-5) + AT(5)) * real(0.044612404f);             \
    sum0 = sum0 + (AT(-4) + AT(4)) * real(0.048710268f);             \
    sum1 = sum1 + (AT(-3) + AT(3)) * real(0.0521560051f);            \
    sum2 = sum2 + (AT(-2) + AT(2)) * real(0.0547655001f);            \
    sum3 = sum3 + (AT(-1) + AT(1)) * real(0.056393452f);             \
    result = AT(0) * real(0.056946788f) + sum0 + sum1 + sum2 + sum3; \
  }
// clang-format off
#define BLUR_LOW_EACH(TAP, AT)                                                                                  \
  TAP(AT, -16, 0.0821145922f) TAP(AT, -15, 0.111141749f)  TAP(AT, -14, 0.147520736f)  TAP(AT, -13, 0.19202058f) \
  TAP(AT, -12, 0.245110229f)  TAP(AT, -11, 0.306827277f)  TAP(AT, -10, 0.376656473f)  TAP(AT, -9, 0.453435808f) \
  TAP(AT, -8, 0.535309672f)   TAP(AT, -7, 0.619745314f)   TAP(AT, -6, 0.703623533f)   TAP(AT, -5, 0.783405066f) \
  TAP(AT, -4, 0.855364621f)   TAP(AT, -3, 0.915872633f)   TAP(AT, -2, 0.961696029f)   TAP(AT, -1, 0.99028331f)  \
  TAP(AT, 0, 1.0f)            TAP(AT, 1, 0.99028331f)     TAP(AT, 2, 0.961696029f)    TAP(AT, 3, 0.915872633f)  \
  TAP(AT, 4, 0.855364621f)    TAP(AT, 5, 0.783405066f)    TAP(AT, 6, 0.703623533f)    TAP(AT, 7, 0.619745314f)  \
  TAP(AT, 8, 0.535309672f)    TAP(AT, 9, 0.453435808f)    TAP(AT, 10, 0.376656473f)   TAP(AT, 11, 0.306827277f) \
  TAP(AT, 12, 0.245110229f)   TAP(AT, 13, 0.19202058f)    TAP(AT, 14, 0.147520736f)   TAP(AT, 15, 0.111141749f) \
  TAP(AT, 16, 0.0821145922f)
// clang-format on
#define BLUR_LOW_TAP(AT, i, weight) sum = sum + AT(i) * real(weight);
#define BLUR_LOW_EDGE(AT, scale, result) \
  {                                      \
    real sum = real(0.0f);               \
    BLUR_LOW_EACH(BLUR_LOW_TAP, AT)      \
    result = sum * scale;                \
  }

// Of the middle band, sigma 3.225, of the high band, sigma 1.564, and of the mask, sigma 2.7.
#define BLUR_MIDDLE_RADIUS 7
#define BLUR_MIDDLE(AT, result)                             \
  {                                                         \
    real sum = AT(0) * real(0.126172677f);                  \
    sum = fma(AT(-1) + AT(1), real(0.120250173f), sum);     \
    sum = fma(AT(-2) + AT(2), real(0.104099087f), sum);     \
    sum = fma(AT(-3) + AT(3), real(0.0818557069f), sum);    \
    sum = fma(AT(-4) + AT(4), real(0.0584644414f), sum);    \
    sum = fma(AT(-5) + AT(5), real(0.0379293561f), sum);    \
    sum = fma(AT(-6) + AT(6), real(0.0223511513f), sum);    \
    result = fma(AT(-7) + AT(7), real(0.0119636906f), sum); \
  }
// clang-format off
#define BLUR_MIDDLE_EACH(TAP, AT)                                                                            \
  TAP(AT, -7, 0.0948199779f) TAP(AT, -6, 0.177147314f)  TAP(AT, -5, 0.300614655f)  TAP(AT, -4, 0.463368475f) \
  TAP(AT, -3, 0.648759365f)  TAP(AT, -2, 0.825052559f)  TAP(AT, -1, 0.953060329f)  TAP(AT, 0, 1.0f)          \
  TAP(AT, 1, 0.953060329f)   TAP(AT, 2, 0.825052559f)   TAP(AT, 3, 0.648759365f)   TAP(AT, 4, 0.463368475f)  \
  TAP(AT, 5, 0.300614655f)   TAP(AT, 6, 0.177147314f)   TAP(AT, 7, 0.0948199779f)
// clang-format on

#define BLUR_HIGH_RADIUS 3
#define BLUR_HIGH(AT, result)                               \
  {                                                         \
    real sum = AT(0) * real(0.261008143f);                  \
    sum = fma(AT(-1) + AT(1), real(0.21276471f), sum);      \
    sum = fma(AT(-2) + AT(2), real(0.115248762f), sum);     \
    result = fma(AT(-3) + AT(3), real(0.0414824188f), sum); \
  }
// clang-format off
#define BLUR_HIGH_EACH(TAP, AT)                                                                  \
  TAP(AT, -3, 0.158931509f) TAP(AT, -2, 0.441552371f) TAP(AT, -1, 0.815165043f) TAP(AT, 0, 1.0f) \
  TAP(AT, 1, 0.815165043f)  TAP(AT, 2, 0.441552371f)  TAP(AT, 3, 0.158931509f)
// clang-format on

#define BLUR_MASK_RADIUS 6
#define BLUR_MASK(AT, result)                               \
  {                                                         \
    real sum = AT(0) * real(0.150077745f);                  \
    sum = fma(AT(-1) + AT(1), real(0.140129417f), sum);     \
    sum = fma(AT(-2) + AT(2), real(0.114069179f), sum);     \
    sum = fma(AT(-3) + AT(3), real(0.0809530616f), sum);    \
    sum = fma(AT(-4) + AT(4), real(0.0500869155f), sum);    \
    sum = fma(AT(-5) + AT(5), real(0.0270172581f), sum);    \
    result = fma(AT(-6) + AT(6), real(0.0127052814f), sum); \
  }
// clang-format off
#define BLUR_MASK_EACH(TAP, AT)                                                                              \
  TAP(AT, -6, 0.0846579969f) TAP(AT, -5, 0.180021748f)  TAP(AT, -4, 0.333739787f)  TAP(AT, -3, 0.539407492f) \
  TAP(AT, -2, 0.760067225f)  TAP(AT, -1, 0.933712125f)  TAP(AT, 0, 1.0f)           TAP(AT, 1, 0.933712125f)  \
  TAP(AT, 2, 0.760067225f)   TAP(AT, 3, 0.539407492f)   TAP(AT, 4, 0.333739787f)   TAP(AT, 5, 0.180021748f)  \
  TAP(AT, 6, 0.0846579969f)
// clang-format on

#define BLUR_FUSED_TAP(AT, i, weight) sum = fma(AT(i), real(weight), sum);
#define BLUR_FUSED_EDGE(EACH, AT, scale, result) \
  {                                              \
    real sum = real(0.0f);                       \
    EACH(BLUR_FUSED_TAP, AT)                     \
    result = sum * scale;                        \
  }
#define BLUR_MIDDLE_EDGE(AT, scale, result) BLUR_FUSED_EDGE(BLUR_MIDDLE_EACH, AT, scale, result)
#define BLUR_HIGH_EDGE(AT, scale, result) BLUR_FUSED_EDGE(BLUR_HIGH_EACH, AT, scale, result)
#define BLUR_MASK_EDGE(AT, scale, result) BLUR_FUSED_EDGE(BLUR_MASK_EACH, AT, scale, result)
