// SPDX-License-Identifier: BSD-2-Clause-Patent
// The arithmetic of zensim for one pixel, in the kernel dialect: include it after lang/exact.h. Figures and operation
// order are the reference's: what it compares is the difference of numbers that nearly cancel, so its scores contain
// how each step is rounded.

// A third of a float's bits, rounded down.
#ifdef THIRD_OF  // the CPU has a shorter way to it
FUNCTION whole third_of(whole bits) { return THIRD_OF(bits); }
#else
FUNCTION whole third_of(whole bits) {
  // A float a little below it, and the third of what that lacks.
  const whole guess = to_whole(to_real(bits) * real(0.33333326f));
  const whole lack = bits - ((guess + guess) + guess);
  return guess + to_whole(to_real(lack) * real(0.333333343f));
}
#endif

// The cube root y of numbers x from 0.003 to 1, within 3 units in the last place: a guess from the bits, and two steps
// of Halley's method.
FUNCTION real cube_root_guess(real x) { return from_bits(third_of(bits_of(x)) + whole(709921837)); }
FUNCTION real cube_root_step(real x, real y) {
  const real cube = y * y * y;
  return y * divide_ordinary(cube + (x + x), (cube + cube) + x);
}

#define ROOT_OF_BIAS (-0.155954197f)  // minus the cube root of the bias, as the reference rounds it

// Linear light of BT.709 primaries, white at 1, to what the three kinds of cones absorb, at least 0.0037.
#define ABSORBED(of_red, of_green, of_blue, red, green, blue) \
  fma(of_red, red, fma(of_green, green, fma(of_blue, blue, real(0.00379307335f))))
FUNCTION void absorbed_of(real red, real green, real blue, INOUT(real) by_long, INOUT(real) by_middle,
                          INOUT(real) by_short) {
  const real r = min(max(red, real(0.0f)), real(1.0f));
  const real g = min(max(green, real(0.0f)), real(1.0f));
  const real b = min(max(blue, real(0.0f)), real(1.0f));
  by_long = ABSORBED(real(0.300000012f), real(0.621999979f), real(0.0780000016f), r, g, b);
  by_middle = ABSORBED(real(0.230000004f), real(0.691999972f), real(0.0780000016f), r, g, b);
  by_short = ABSORBED(real(0.243422687f), real(0.204767451f), real(0.551809847f), r, g, b);
}

// The cube roots of these to the three planes that are compared.
FUNCTION void planes_of_roots(real of_long, real of_middle, real of_short, INOUT(real) x, INOUT(real) y,
                              INOUT(real) b) {
  const real long_cones = of_long + real(ROOT_OF_BIAS);
  const real middle_cones = of_middle + real(ROOT_OF_BIAS);
  const real sum = (long_cones + middle_cones) * real(0.5f);
  x = fma((long_cones - middle_cones) * real(0.5f), real(14.0f), real(0.419999987f));
  y = sum + real(0.00999999978f);
  b = (of_short - sum) + real(0.550000012f);
}

// All of it.
FUNCTION void planes_of(real red, real green, real blue, INOUT(real) x, INOUT(real) y, INOUT(real) b) {
  real by_long, by_middle, by_short;
  absorbed_of(red, green, blue, by_long, by_middle, by_short);
  real of_long = cube_root_guess(by_long);
  real of_middle = cube_root_guess(by_middle);
  real of_short = cube_root_guess(by_short);
  UNROLL
  for (int step = 0; step < 2; ++step) {
    of_long = cube_root_step(by_long, of_long);
    of_middle = cube_root_step(by_middle, of_middle);
    of_short = cube_root_step(by_short, of_short);
  }
  planes_of_roots(of_long, of_middle, of_short, x, y, b);
}

// The perceptually uniform code of an absolute luminance (PU21, banding with glare), 1 at 100 nit or so.
FUNCTION real uniform_of(real nits) {
  const real q = power(min(max(nits, real(0.00499999989f)), real(10000.0f)), real(0.90625626f));
  const real base = divide(fma(real(0.37346586f), q, real(0.3534879f)), fma(real(8.277049e-05f), q, real(1.0f)));
  const real code = (power(base, real(0.09150303f)) - real(0.9099517f)) * real(596.3148f);
  return divide(max(code, real(0.0f)), real(256.299988f));
}

#define ABSORBED_PLAIN(of_red, of_green, of_blue, red, green, blue) \
  (((of_red * red + of_green * green) + of_blue * blue) + real(0.00379307335f))

// Linear light in nit to the planes of HDR pictures.
FUNCTION void planes_of_nits(real red, real green, real blue, INOUT(real) x, INOUT(real) y, INOUT(real) b) {
  const real long_cones =
      uniform_of(ABSORBED_PLAIN(real(0.300000012f), real(0.621999979f), real(0.0780000016f), red, green, blue));
  const real middle_cones =
      uniform_of(ABSORBED_PLAIN(real(0.230000004f), real(0.691999972f), real(0.0780000016f), red, green, blue));
  const real short_cones =
      uniform_of(ABSORBED_PLAIN(real(0.243422687f), real(0.204767451f), real(0.551809847f), red, green, blue));
  const real sum = (long_cones + middle_cones) * real(0.5f);
  x = (long_cones - middle_cones) * real(0.5f) * real(4.0f) + real(0.419999987f);
  y = sum + real(0.00999999978f);
  b = (short_cones - sum) + real(0.550000012f);
}

// What a transparent pixel, its colour not premultiplied, shows of a background that is grey there.
FUNCTION real over_grey(real colour, real alpha, real grey) {
  const real mixed = fma(colour, alpha, grey * (real(1.0f) - alpha));
  return select(alpha == real(0.0f), grey, select(alpha == real(1.0f), colour, mixed));
}

// sum - a * b, rounded once. The CPU has an instruction for it, which compilers do not find.
#ifndef MINUS_PRODUCT
#define MINUS_PRODUCT(sum, a, b) fma(-(a), b, sum)
#endif

// The next scale's pixel: the mean of two in a row and the two below them.
FUNCTION real mean_of_four(real left, real right, real below_left, real below_right) {
  return (((left + right) + below_left) + below_right) * real(0.25f);
}

// The window is a mean of eleven samples. Its sum is carried along: it gains a sample and loses one at each step, and
// begins anew at the start of a row, or at the first row that a strip looks at.
#define WINDOW_RADIUS 5
FUNCTION real window_mean(real sum) { return sum * real(0.0909090936f); }
FUNCTION real window_step(real sum, real gained, real lost) { return (sum + gained) - lost; }

// The same of a^2 + b^2 and of ab along a row.
FUNCTION real squares_begin(real sum, real a, real b) { return fma(a, a, fma(b, b, sum)); }
FUNCTION real squares_step(real sum, real gained_a, real gained_b, real lost_a, real lost_b) {
  return fma(gained_a, gained_a,
             fma(gained_b, gained_b, MINUS_PRODUCT(MINUS_PRODUCT(sum, lost_b, lost_b), lost_a, lost_a)));
}
FUNCTION real product_begin(real sum, real a, real b) { return fma(a, b, sum); }
FUNCTION real product_step(real sum, real gained_a, real gained_b, real lost_a, real lost_b) {
  return fma(gained_a, gained_b, MINUS_PRODUCT(sum, lost_a, lost_b));
}

// How different the structure is around a pixel; 0 where it is not, below 0 by rounding only. mean and squares and
// product: of the window.
FUNCTION real structure_loss(real mean1, real mean2, real squares, real product) {
  const real apart = mean1 - mean2;
  const real similar_means = MINUS_PRODUCT(real(1.0f), apart, apart);
  const real similar_structure = fma(real(2.0f), MINUS_PRODUCT(product, mean1, mean2), real(0.0009f));
  const real contrast = MINUS_PRODUCT(MINUS_PRODUCT(squares, mean1, mean1), mean2, mean2) + real(0.0009f);
  return real(1.0f) - divide_ordinary(similar_means * similar_structure, contrast);
}

// How much stronger (above 0) or weaker (below 0) detail is: rest1 and rest2 are what a pixel differs from its window.
FUNCTION real edge_change(real rest1, real rest2) {
  return divide_ordinary(real(1.0f) + abs(rest2), real(1.0f) + abs(rest1)) - real(1.0f);
}

// How busy the reference is around a pixel, from the window of its activity.
FUNCTION real busyness(real activity) { return fma(real(4.0f), activity, real(1.0f)); }

// What a pixel adds to the map, by five weights: of lost structure, of energy gained and lost in the detail, of the
// squared difference, and of detail that is weaker.
FUNCTION real map_value(real loss, real rest1, real rest2, real a, real b, real of_structure, real of_gain,
                        real of_loss, real of_error, real of_weaker) {
  const real change = rest2 * rest2 - rest1 * rest1;
  const real difference = a - b;
  real value = of_structure * max(loss, real(0.0f));
  value = fma(of_gain, max(change, real(0.0f)), value);
  value = fma(of_loss, max(-change, real(0.0f)), value);
  value = fma(of_error, difference * difference, value);
  return fma(of_weaker, max(abs(rest1) - abs(rest2), real(0.0f)), value);
}

// ---------------------------------------------------------------------------------------------------------------------
// Sums over pixels. The host, pooling.h, names them.

#define BASIC_SUMS 18
#define ALL_SUMS 30
#define MAXIMA 3

// The eighth powers are kept times 2^72: as they are they would leave the range of floats.
#define EIGHTH_SCALE 68719476736.0f

// Adds to sums[first] .. [first + 3] the first, second, fourth and eighth power of v.
#define ADD_POWERS(sums, first, v)                                       \
  {                                                                      \
    const real second_power = (v) * (v);                                 \
    const real fourth_power = second_power * second_power;               \
    const real scaled_power = fourth_power * real(EIGHTH_SCALE);         \
    sums[(first)] = sums[(first)] + (v);                                 \
    sums[(first) + 1] = sums[(first) + 1] + second_power;                \
    sums[(first) + 2] = sums[(first) + 2] + fourth_power;                \
    sums[(first) + 3] = sums[(first) + 3] + scaled_power * scaled_power; \
  }

// One pixel's part of the first 18, in three parts: of sums 0 to 3, 4 to 11 and 12 to 17. counted: 1, or 0 for columns
// that the picture does not have.
#define ADD_LOSS(sums, maxima, loss)         \
  {                                          \
    const real lost = max(loss, real(0.0f)); \
    ADD_POWERS(sums, 0, lost)                \
    maxima[0] = max(maxima[0], lost);        \
  }
#define ADD_CHANGE(sums, first, maxima, change)     \
  {                                                 \
    const real stronger = max(change, real(0.0f));  \
    const real weaker = max(-(change), real(0.0f)); \
    ADD_POWERS(sums, (first), stronger)             \
    ADD_POWERS(sums, (first) + 4, weaker)           \
    maxima[1] = max(maxima[1], stronger);           \
    maxima[2] = max(maxima[2], weaker);             \
  }
#define ADD_RESTS(sums, first, a, b, rest1, rest2, counted)          \
  {                                                                  \
    const real difference = (a) - (b);                               \
    sums[(first)] = sums[(first)] + difference * difference;         \
    sums[(first) + 1] = sums[(first) + 1] + (rest1) * (rest1);       \
    sums[(first) + 2] = sums[(first) + 2] + (rest2) * (rest2);       \
    sums[(first) + 3] = sums[(first) + 3] + abs(rest1);              \
    sums[(first) + 4] = sums[(first) + 4] + abs(rest2);              \
    sums[(first) + 5] = fma(difference, counted, sums[(first) + 5]); \
  }
#define ADD_BASIC(sums, maxima, loss, change, a, b, rest1, rest2, counted) \
  {ADD_LOSS(sums, maxima, loss) ADD_CHANGE(sums, 4, maxima, change) ADD_RESTS(sums, 12, a, b, rest1, rest2, counted)}

// One pixel's part of the six from `first` on, weighted.
#define ADD_WEIGHTED(sums, first, weight, loss, change, a, b)                     \
  {                                                                               \
    const real lost = max((loss) * (weight), real(0.0f));                         \
    const real lost2 = lost * lost;                                               \
    const real changed = (change) * (weight);                                     \
    const real stronger = max(changed, real(0.0f));                               \
    const real weaker = max(-changed, real(0.0f));                                \
    const real stronger2 = stronger * stronger;                                   \
    const real weaker2 = weaker * weaker;                                         \
    const real difference = (a) - (b);                                            \
    sums[(first)] = sums[(first)] + lost;                                         \
    sums[(first) + 1] = sums[(first) + 1] + lost2;                                \
    sums[(first) + 2] = sums[(first) + 2] + lost2 * lost2;                        \
    sums[(first) + 3] = sums[(first) + 3] + stronger2 * stronger2;                \
    sums[(first) + 4] = sums[(first) + 4] + weaker2 * weaker2;                    \
    sums[(first) + 5] = sums[(first) + 5] + (difference * difference) * (weight); \
  }

// Sums are made in three stages. Four rows of a strip in 128 columns are added up in each of 32 columns, those of all
// columns whose number is the same modulo 32, in plain floats. What comes of 128 columns is added to a pair of floats,
// the second of which keeps what the first cannot. The pairs of a strip are added at its end.
#define SLOT_ROWS 4
#define SLOTS 8
#define LANES 32
#define CELL_COLUMNS 128

// What high + value loses by rounding.
FUNCTION real lost_in_sum(real high, real value, real sum) {
  const real part = sum - high;
  return (high - (sum - part)) + (value - part);
}
FUNCTION void add_to_pair(real value, INOUT(real) high, INOUT(real) low) {
  const real sum = high + value;
  low = low + lost_in_sum(high, value, sum);
  high = sum;
}
FUNCTION void add_pairs(real other_high, real other_low, INOUT(real) high, INOUT(real) low) {
  const real sum = high + other_high;
  low = (low + other_low) + lost_in_sum(high, other_high, sum);
  high = sum;
}
