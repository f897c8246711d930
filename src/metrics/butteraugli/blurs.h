// SPDX-License-Identifier: BSD-2-Clause-Patent
// Butteraugli's blurs but for that of opsin dynamics, in the kernel dialect, along rows first and then along columns.
// As in math.h, the order of operations is the definition.
//
// AT(i) is the sample i places after the pixel, 0 outside the picture. A pixel whose window lies inside the picture is
// blurred by BLUR_*. A pixel nearer to an edge than the radius is blurred by BLUR_*_EDGE: the samples inside from the
// first to the last by the weights of BLUR_*_EACH, then times `scale`, which is 1 / (the weights inside, added in float
// from the first to the last); blur_edge_scale in parameters.h computes it.

// Of the low subband, sigma 7.156. Here alone are products rounded before they are added, in four partial sums as
// libjxl does: XYB is large beside what is left when the blurred XYB is taken away, and flat pictures are nothing but
// rounding.
#define BLUR_LOW_RADIUS 16
// clang-format off
#define BLUR_LOW_PAIRS(FIRST, NEXT, AT)                                   \
  FIRST(AT, 16, sum0, 0.00467616227f) FIRST(AT, 15, sum1, 0.00632916577f) \
  FIRST(AT, 14, sum2, 0.0084008323f)  FIRST(AT, 13, sum3, 0.0109349554f)  \
  NEXT(AT, 12, sum0, 0.0139582399f)   NEXT(AT, 11, sum1, 0.0174728278f)   \
  NEXT(AT, 10, sum2, 0.0214493759f)   NEXT(AT, 9, sum3, 0.0258217137f)    \
  NEXT(AT, 8, sum0, 0.030484166f)     NEXT(AT, 7, sum1, 0.0352925062f)    \
  NEXT(AT, 6, sum2, 0.0400690995f)    NEXT(AT, 5, sum3, 0.044612404f)     \
  NEXT(AT, 4, sum0, 0.048710268f)     NEXT(AT, 3, sum1, 0.0521560051f)    \
  NEXT(AT, 2, sum2, 0.0547655001f)    NEXT(AT, 1, sum3, 0.056393452f)
// clang-format on
#define BLUR_LOW_FIRST(AT, i, sum, weight) real sum = (AT(-(i)) + AT(i)) * real(weight);
#define BLUR_LOW_NEXT(AT, i, sum, weight) sum = sum + (AT(-(i)) + AT(i)) * real(weight);
#define BLUR_LOW_CENTRE 0.056946788f
#define BLUR_LOW(AT, result)                                            \
  {                                                                     \
    BLUR_LOW_PAIRS(BLUR_LOW_FIRST, BLUR_LOW_NEXT, AT)                   \
    result = AT(0) * real(BLUR_LOW_CENTRE) + sum0 + sum1 + sum2 + sum3; \
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

// Of the middle subband, sigma 3.225, of the high subband, sigma 1.564, and of the mask, sigma 2.7.
// The centre first, then pairs of equal weight from the inside out, each by an fma.
#define BLUR_FUSED_NEXT(AT, i, weight) sum = fma(AT(-(i)) + AT(i), real(weight), sum);
#define BLUR_FUSED(PAIRS, centre, AT, result) \
  {                                           \
    real sum = AT(0) * real(centre);          \
    PAIRS(BLUR_FUSED_NEXT, AT)                \
    result = sum;                             \
  }

#define BLUR_MIDDLE_RADIUS 7
#define BLUR_MIDDLE_CENTRE 0.126172677f
// clang-format off
#define BLUR_MIDDLE_PAIRS(NEXT, AT)                                                \
  NEXT(AT, 1, 0.120250173f)  NEXT(AT, 2, 0.104099087f)  NEXT(AT, 3, 0.0818557069f) \
  NEXT(AT, 4, 0.0584644414f) NEXT(AT, 5, 0.0379293561f) NEXT(AT, 6, 0.0223511513f) \
  NEXT(AT, 7, 0.0119636906f)
// clang-format on
#define BLUR_MIDDLE(AT, result) BLUR_FUSED(BLUR_MIDDLE_PAIRS, BLUR_MIDDLE_CENTRE, AT, result)
// clang-format off
#define BLUR_MIDDLE_EACH(TAP, AT)                                                                            \
  TAP(AT, -7, 0.0948199779f) TAP(AT, -6, 0.177147314f)  TAP(AT, -5, 0.300614655f)  TAP(AT, -4, 0.463368475f) \
  TAP(AT, -3, 0.648759365f)  TAP(AT, -2, 0.825052559f)  TAP(AT, -1, 0.953060329f)  TAP(AT, 0, 1.0f)          \
  TAP(AT, 1, 0.953060329f)   TAP(AT, 2, 0.825052559f)   TAP(AT, 3, 0.648759365f)   TAP(AT, 4, 0.463368475f)  \
  TAP(AT, 5, 0.300614655f)   TAP(AT, 6, 0.177147314f)   TAP(AT, 7, 0.0948199779f)
// clang-format on

#define BLUR_HIGH_RADIUS 3
#define BLUR_HIGH_CENTRE 0.261008143f
// clang-format off
#define BLUR_HIGH_PAIRS(NEXT, AT) \
  NEXT(AT, 1, 0.21276471f)   NEXT(AT, 2, 0.115248762f)  NEXT(AT, 3, 0.0414824188f)
// clang-format on
#define BLUR_HIGH(AT, result) BLUR_FUSED(BLUR_HIGH_PAIRS, BLUR_HIGH_CENTRE, AT, result)
// clang-format off
#define BLUR_HIGH_EACH(TAP, AT)                                                                  \
  TAP(AT, -3, 0.158931509f) TAP(AT, -2, 0.441552371f) TAP(AT, -1, 0.815165043f) TAP(AT, 0, 1.0f) \
  TAP(AT, 1, 0.815165043f)  TAP(AT, 2, 0.441552371f)  TAP(AT, 3, 0.158931509f)
// clang-format on

#define BLUR_MASK_RADIUS 6
#define BLUR_MASK_CENTRE 0.150077745f
// clang-format off
#define BLUR_MASK_PAIRS(NEXT, AT)                                                  \
  NEXT(AT, 1, 0.140129417f)  NEXT(AT, 2, 0.114069179f)  NEXT(AT, 3, 0.0809530616f) \
  NEXT(AT, 4, 0.0500869155f) NEXT(AT, 5, 0.0270172581f) NEXT(AT, 6, 0.0127052814f)
// clang-format on
#define BLUR_MASK(AT, result) BLUR_FUSED(BLUR_MASK_PAIRS, BLUR_MASK_CENTRE, AT, result)
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
