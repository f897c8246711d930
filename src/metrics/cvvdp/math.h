// SPDX-License-Identifier: BSD-2-Clause-Patent
// The arithmetic of ColorVideoVDP's pixels, in the kernel dialect. Include it after the dialect.

// Added before each power is taken.
#define POWER_OFFSET 1e-5f

// What parameters.h comes to in 32-bit floats; a test derives them. The blur of what masks differences, from the
// centre: along rows, and down columns with the scale of masking, which stands alone where there is no blur.
#define BLUR_0 0.137022823f
#define BLUR_1 0.129618034f
#define BLUR_2 0.109719291f
#define BLUR_3 0.0831085369f
#define BLUR_4 0.0563317649f
#define BLUR_5 0.0341669433f
#define BLUR_6 0.018544022f
#define SCALED_BLUR_0 0.021942988f
#define SCALED_BLUR_1 0.0207571778f
#define SCALED_BLUR_2 0.017570572f
#define SCALED_BLUR_3 0.0133090951f
#define SCALED_BLUR_4 0.0090210326f
#define SCALED_BLUR_5 0.0054715327f
#define SCALED_BLUR_6 0.00296966056f
#define MASK_SCALE 0.160141125f
#define DIFFERENCE_POWER 2.26435518f
#define LARGEST_DIFFERENCE 366.644745f
// Of what masks, by channel; and how much channel k masks channel c, as MASKING_kc.
#define MASK_POWER_0 1.30262268f
#define MASK_POWER_1 2.88859081f
#define MASK_POWER_2 3.68077135f
#define MASK_POWER_3 3.58878732f
#define MASKING_00 0.876908958f
#define MASKING_01 0.0160403438f
#define MASKING_02 0.0501242988f
#define MASKING_03 0.2620368f
#define MASKING_10 5.9198451f
#define MASKING_11 1.26932991f
#define MASKING_12 0.151811555f
#define MASKING_13 0.708557844f
#define MASKING_20 14.0435638f
#define MASKING_21 0.498211205f
#define MASKING_22 0.697692096f
#define MASKING_23 0.675784528f
#define MASKING_30 0.00752146076f
#define MASKING_31 0.0216851216f
#define MASKING_32 0.0877387673f
#define MASKING_33 0.235198393f
// log2 of a luminance times this plus that is its place among those of the sensitivity tables.
#define LUMINANCE_STEP 1.48101652f
#define LUMINANCE_OFFSET 11.3206778f

// Within 2e-7 and 3e-7 of the exact values, which is far less than what the score shows; for positive x that are not
// subnormal, and for results below 2^126.
FUNCTION real quick_log_2(real x) {
  const whole exponent = SHIFT_RIGHT(bits_of(x) - whole(0x3F3504F3), 23);
  const real f = from_bits(bits_of(x) - SHIFT_LEFT(exponent, 23)) - real(1.0f);
  real p = fma(real(-0.14275974f), f, real(0.232652575f));
  p = fma(p, f, real(-0.249271825f));
  p = fma(p, f, real(0.287288874f));
  p = fma(p, f, real(-0.360225171f));
  p = fma(p, f, real(0.480916709f));
  p = fma(p, f, real(-0.721352935f));
  p = fma(p, f, real(1.44269502f));
  return fma(p, f, to_real(exponent));
}

FUNCTION real quick_exp_2(real x) {
  const real limited = max(min(x, real(126.0f)), real(-126.0f));
  // Adding and taking away 1.5 * 2^23 rounds to whole numbers.
  const real shifted = limited + real(12582912.0f);
  const real r = limited - (shifted - real(12582912.0f));
  real p = fma(real(0.00133908633f), r, real(0.00967603177f));
  p = fma(p, r, real(0.0555035695f));
  p = fma(p, r, real(0.240221068f));
  p = fma(p, r, real(0.693147182f));
  p = fma(p, r, real(1.00000012f));
  // The low bits of the shifted number are the exponent.
  return from_bits(bits_of(p) + SHIFT_LEFT(bits_of(shifted), 23));
}

// (x + e)^power, from which the caller takes away e^power.
FUNCTION real raised(real x, real power) { return quick_exp_2(power * quick_log_2(x + real(POWER_OFFSET))); }

// Samples of the scale above to one of the next, down columns first. All sums of the pyramid are the reference's,
// product by product. Beyond edges are zeros, and what the edge adds then is rounded by itself.
FUNCTION real reduce_five(real a, real b, real c, real d, real e) {
  const real sum = fma(real(0.4f), c, fma(real(0.25f), b, real(0.05f) * a));
  return fma(real(0.05f), e, fma(real(0.25f), d, sum));
}
// At the first edge and at the last of an odd number; at the last of an even number.
FUNCTION real edge_of_odd(real edge, real inside) { return real(0.25f) * edge + real(0.05f) * inside; }
FUNCTION real edge_of_even(real edge) { return real(0.05f) * edge; }

// Samples of the next scale to one of this scale, down columns first: at an even place, and at an odd one.
FUNCTION real expand_even(real before, real here, real after) {
  return fma(real(0.1f), after, fma(real(0.8f), here, real(0.1f) * before));
}
FUNCTION real expand_odd(real here, real after) { return real(0.5f) * (here + after); }

FUNCTION real background_of(real expanded) { return max(expanded, real(0.01f)); }
FUNCTION real contrast_of(real value, real expanded, real reciprocal) {
  return min((value - expanded) * reciprocal, real(1000.0f));
}

// What is seen of a difference in the presence of masking: d * p / (d + d * m + p), d being the largest difference that
// counts.
FUNCTION real seen_difference(real p, real m, real largest) {
  return divide_ordinary(largest * p, fma(largest, m, largest) + p);
}

// Where a background lies among the luminances of the sensitivity tables.
FUNCTION real luminance_place(real background) {
  const real place = fma(quick_log_2(background), real(LUMINANCE_STEP), real(LUMINANCE_OFFSET));
  return min(max(place, real(0.0f)), real(31.0f));
}

// The reference's square.
FUNCTION real offset_square(real x) { return x * (x + real(2e-5f)); }

// Its fourth power, without taking away e^4, which is too small to show, and the inverse.
FUNCTION real offset_fourth(real x) {
  const real square = (x + real(POWER_OFFSET)) * (x + real(POWER_OFFSET));
  return square * square;
}
FUNCTION real offset_fourth_root(real x) { return sqrt(sqrt(x + real(POWER_OFFSET))) - sqrt(sqrt(real(POWER_OFFSET))); }

// Light of encoded samples from 0 to 1, as a fraction of the display's range.
FUNCTION real fraction_of_range(real value) { return min(max(value, real(0.0f)), real(1.0f)); }
FUNCTION real quick_power(real x, real exponent) { return quick_exp_2(exponent * quick_log_2(x)); }
// Within 5e-7 of the exact values for v from 0 to 1.
FUNCTION real srgb_light(real v) {
  const real t = v - real(0.5f);
  real p = fma(real(0.5896985f), t, real(-0.14409468f));
  p = fma(p, t, real(-0.24479005f));
  p = fma(p, t, real(-0.013927528f));
  p = fma(p, t, real(0.08968082f));
  p = fma(p, t, real(-0.03381629f));
  p = fma(p, t, real(0.03839917f));
  p = fma(p, t, real(-0.076049946f));
  p = fma(p, t, real(0.28064987f));
  p = fma(p, t, real(1.1674142f));
  p = fma(p, t, real(0.9255815f));
  p = fma(p, t, real(0.21404107f));
  return select(v > real(0.04045f), p, v * real(0.0773993805f));
}
// Of the scene.
FUNCTION real hlg_light(real v) {
  // exp((v - c) / a) as a power of 2.
  const real curved = quick_exp_2(fma(v, real(8.06728566f), real(-4.5169598f)));
  return select(v > real(0.5f), (curved + real(0.28466892f)) * real(0.0833333333f), v * v * real(0.333333333f));
}

// In nit. The reference rounds after every step, and one unit in the last place of t is worth up to 5e-5 of the light,
// so t is what a good power rounds it to: 1 + (2^y - 1), with what y and the logarithm of 2 lack as floats. What
// follows t may be quick.
FUNCTION real pq_light(real v) {
  // Below 2^-21 there is no light.
  const real logarithm = quick_log_2(max(v, real(4.76837158e-7f)));
  const real y = real(0.0126833133f) * logarithm;
  const real lost = fma(real(0.0126833133f), logarithm, real(0.0f) - y);
  real p = fma(real(0.000154035304f), y, real(0.00133335581f));
  p = fma(p, y, real(0.00961812911f));
  p = fma(p, y, real(0.0555041087f));
  p = fma(p, y, real(0.240226507f));
  const real rest = fma(y * y, p, fma(y, real(-1.90465429e-9f), lost * real(0.693147182f)));
  const real t = real(1.0f) + fma(y, real(0.693147182f), rest);
  const real ratio = divide(max(t - real(0.8359375f), real(0.0f)), real(18.8515625f) - real(18.6875f) * t);
  return real(10000.0f) * quick_power(max(ratio, real(1e-30f)), real(6.27739477f));
}

// How a display makes light, as Photometry has it. The values of Eotf are these.
#define EOTF_SRGB 0
#define EOTF_GAMMA 1
#define EOTF_PQ 2
#define EOTF_HLG 3
#define EOTF_LINEAR 4
struct Light {
  int eotf;
  bool exposed;  // the exposure is not 1
  real gamma;
  real exposure;
  real range;
  real black;
  real reflection;
  real least;
  real peak;
  real hlg_exponent;
};

FUNCTION real light_of_fraction(Light light, real fraction) {
  real exposed = fraction;
  if (light.exposed) exposed = fraction_of_range(fraction * light.exposure);
  return (light.range * exposed + light.black) + light.reflection;
}

// The light of a sample in nit; of HLG that of the scene, before show_hlg, which needs lang/exact.h.
FUNCTION real light_of_sample(Light light, real value) {
  if (light.eotf == EOTF_LINEAR) {
    return min(max(value * light.exposure, light.least), light.peak) + light.reflection;
  }
  const real v = fraction_of_range(value);
  if (light.eotf == EOTF_SRGB) return light_of_fraction(light, srgb_light(v));
  if (light.eotf == EOTF_GAMMA) return light_of_fraction(light, fraction_of_range(quick_power(v, light.gamma)));
  if (light.eotf == EOTF_HLG) return hlg_light(v);
  return (min(max(pq_light(v) * light.exposure, real(0.005f)), light.peak) + light.black) + light.reflection;
}

// Floats that are codes of 8 bits are looked up as such, for the reference's powers differ in the last place from those
// above. The code that a sample may be, and whether it is.
FUNCTION whole code_near(real value) { return to_whole(fma(fraction_of_range(value), real(255.0f), real(0.5f))); }
FUNCTION truth is_code(real value, whole code) { return divide(to_real(code), real(255.0f)) == value; }

// Light of the scene to light of the display.
FUNCTION void show_hlg(Light light, INOUT(real) red, INOUT(real) green, INOUT(real) blue) {
  const real luminance = fma(real(0.0593f), blue, fma(real(0.6780f), green, real(0.2627f) * red));
  const real factor = power(luminance, light.hlg_exponent);
  red = light_of_fraction(light, factor * red);
  green = light_of_fraction(light, factor * green);
  blue = light_of_fraction(light, factor * blue);
}

// A channel of light, by a row of the matrix.
FUNCTION real mix_light(real from_red, real from_green, real from_blue, real red, real green, real blue) {
  return fma(from_blue, blue, fma(from_green, green, from_red * red));
}

// What masks, blurred: of the row or column through a pixel its own value, and the sums of those one to six away.
FUNCTION real blurred_down(real centre, real one, real two, real three, real four, real five, real six) {
  real sum = real(SCALED_BLUR_0) * centre;
  sum = fma(real(SCALED_BLUR_1), one, sum);
  sum = fma(real(SCALED_BLUR_2), two, sum);
  sum = fma(real(SCALED_BLUR_3), three, sum);
  sum = fma(real(SCALED_BLUR_4), four, sum);
  sum = fma(real(SCALED_BLUR_5), five, sum);
  return fma(real(SCALED_BLUR_6), six, sum);
}
FUNCTION real blurred_along(real centre, real one, real two, real three, real four, real five, real six) {
  real sum = real(BLUR_0) * centre;
  sum = fma(real(BLUR_1), one, sum);
  sum = fma(real(BLUR_2), two, sum);
  sum = fma(real(BLUR_3), three, sum);
  sum = fma(real(BLUR_4), four, sum);
  sum = fma(real(BLUR_5), five, sum);
  return fma(real(BLUR_6), six, sum);
}

// By channel: its power where it masks; and how much of all that masks counts there, of still pictures and of frames.
FUNCTION real mask_power(int channel) {
  if (channel == 0) return real(MASK_POWER_0);
  if (channel == 1) return real(MASK_POWER_1);
  return channel == 2 ? real(MASK_POWER_2) : real(MASK_POWER_3);
}
FUNCTION real masking_of(int channel, real first, real second, real third) {
  if (channel == 0) {
    return fma(third, real(MASKING_20), fma(second, real(MASKING_10), first * real(MASKING_00)));
  }
  if (channel == 1) {
    return fma(third, real(MASKING_21), fma(second, real(MASKING_11), first * real(MASKING_01)));
  }
  if (channel == 2) {
    return fma(third, real(MASKING_22), fma(second, real(MASKING_12), first * real(MASKING_02)));
  }
  return fma(third, real(MASKING_23), fma(second, real(MASKING_13), first * real(MASKING_03)));
}
FUNCTION real masking_of_transient(int channel, real sum, real transient) {
  if (channel == 0) return fma(transient, real(MASKING_30), sum);
  if (channel == 1) return fma(transient, real(MASKING_31), sum);
  return fma(transient, channel == 2 ? real(MASKING_32) : real(MASKING_33), sum);
}
