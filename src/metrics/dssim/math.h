// SPDX-License-Identifier: BSD-2-Clause-Patent
// The arithmetic of DSSIM for one pixel, in the kernel dialect. Figures and operation order are those of
// dssim-core 3.5, found by measuring it: in flat parts of a picture its scores are made of rounding errors, so these
// are part of the definition.

// Cube root by a quadratic guess and two steps of Halley's method, which leaves an error of up to 4e-6 around 0.07. The
// guess is good up to 2. More light than that is beyond any SDR picture, hence beyond the reference; it is brought down
// by 8 or 64 and its root up by 2 or 4.
FUNCTION real light_root(real light) {
  const truth bright = light > real(2.0f);
  const truth brightest = light > real(16.0f);
  const real x = light * select(brightest, real(0.015625f), select(bright, real(0.125f), real(1.0f)));
  real y = fma(fma(real(-0.5f), x, real(1.51f)), x, real(0.2f));
  UNROLL
  for (int step = 0; step < 2; ++step) {
    const real cube = y * y * y;
    y = divide_ordinary(y * fma(real(2.0f), x, cube), fma(real(2.0f), cube, x));
  }
  return y * select(brightest, real(4.0f), select(bright, real(2.0f), real(1.0f)));
}

// One of X, Y, Z, with white at 1, to the scale of CIE Lab, black at 0. There is no negative light, and from 128 times
// white on all is alike.
FUNCTION real lab_response(real red, real green, real blue, real of_red, real of_green, real of_blue) {
  const real sum = fma(blue, of_blue, fma(green, of_green, red * of_red));
  const real light = min(max(sum, real(0.0f)), real(128.0f));
  return select(light > real(0.00885645207f), light_root(light) - real(0.137931034f), light * real(7.7870369f));
}

// Linear-light BT.709, white at 1, to the reference's variant of CIE Lab.
FUNCTION void lab_of(real red, real green, real blue, INOUT(real) lightness, INOUT(real) a, INOUT(real) b) {
  const real x = lab_response(red, green, blue, real(0.433876902f), real(0.376223028f), real(0.189900056f));
  const real y = lab_response(red, green, blue, real(0.212599993f), real(0.715200007f), real(0.0722000003f));
  const real z = lab_response(red, green, blue, real(0.017722683f), real(0.109458216f), real(0.872819126f));
  lightness = y * real(1.05f);
  a = fma(x - y, real(2.27272725f), real(0.391818166f));
  b = fma(y - z, real(0.909090936f), real(0.490454555f));
}

// Puts a transparent pixel, premultiplied and in linear light, on a pattern of colours keyed by its place. Every scale
// has its own pattern.
FUNCTION void put_on_pattern(whole x, whole y, real alpha, INOUT(real) red, INOUT(real) green, INOUT(real) blue) {
  const whole right = x + whole(11);
  const whole down = y + whole(11);
  const whole key = (right | down) - (right & down);  // exclusive or
  const real through = real(1.0f) - alpha;
  red = red + select((key & whole(16)) == whole(0), real(0.0f), through);
  green = green + select((key & whole(8)) == whole(0), real(0.0f), through);
  blue = blue + select((key & whole(32)) == whole(0), real(0.0f), through);
}

// The next scale's pixel: the mean of two in a row and the two below them.
FUNCTION real mean_of_four(real left, real right, real below_left, real below_right) {
  return (((left + right) + below_left) + below_right) * real(0.25f);
}

// The blur is [s c s] twice along the rows, then twice along the columns, with s = 0.30875886 and c = 0.3824828;
// samples outside repeat the outermost each time. The reference does both times at once, and the three below, in the
// order of the samples, are what comes of it: inside a line, and for the first and the last sample of it. Next to
// those, one of the five repeats the outermost sample. In lines of one or two samples, those that do not exist repeat
// the nearest; a line of one has a first sample only.
FUNCTION real blur_inside(real a, real b, real c, real d, real e) {
  return ((a + e) * real(0.0953320339f) + (b + d) * real(0.236189902f)) + c * real(0.336957157f);
}
FUNCTION real blur_first(real first, real second, real third) {
  return (first * real(0.573147058f) + second * real(0.331521928f)) + third * real(0.0953320339f);
}
FUNCTION real blur_last(real third_last, real second_last, real last) {
  return (third_last * real(0.0953320339f) + second_last * real(0.331521928f)) + last * real(0.573147058f);
}

// Adds one plane (lightness, a, b, in this order) to what all three come to. `mean` are blurred samples, `product`
// blurred products of samples. All sums start at zero. Of one picture:
FUNCTION void add_picture(real mean, real product, INOUT(real) square, INOUT(real) variance) {
  const real mean_squared = mean * mean;
  square = square + mean_squared;
  variance = variance + (product - mean_squared);
}
// Of the reference (1) and the distorted picture (2) together:
FUNCTION void add_both(real mean1, real mean2, real product12, INOUT(real) mixed, INOUT(real) covariance) {
  const real mean12 = mean1 * mean2;
  mixed = mixed + mean12;
  covariance = covariance + (product12 - mean12);
}
// All of this.
FUNCTION void add_plane(real mean1, real mean2, real product11, real product22, real product12, INOUT(real) square1,
                        INOUT(real) square2, INOUT(real) mixed, INOUT(real) variance1, INOUT(real) variance2,
                        INOUT(real) covariance) {
  add_picture(mean1, product11, square1, variance1);
  add_picture(mean2, product22, square2, variance2);
  add_both(mean1, mean2, product12, mixed, covariance);
}

// 1 - SSIM of a pixel, from the sums over the three planes. Rounding leaves variances less than c2 below zero, so that
// the divisor is an ordinary number.
FUNCTION real ssim_error(real square1, real square2, real mixed, real variance1, real variance2, real covariance) {
  const real third = real(0.333333343f);
  const real c1 = real(0.0001f);
  const real c2 = real(0.0009f);
  const real mean_mixed = mixed * third;
  const real mean_covariance = covariance * third;
  const real above = ((mean_mixed + mean_mixed) + c1) * ((mean_covariance + mean_covariance) + c2);
  const real below = ((square1 * third + square2 * third) + c1) * ((variance1 * third + variance2 * third) + c2);
  return real(1.0f) - divide_ordinary(above, below);
}

// How far a pixel's error is from what the whole picture made expect.
FUNCTION real deviation(real error, real expected) { return abs(error - expected); }
