// SPDX-License-Identifier: BSD-2-Clause-Patent
// Luma of sRGB codes, in the kernel dialect: include it after the dialect, like a metric's math.h.

// Mid-grey, from which luma is counted lest float lose digits.
#define LUMA_MIDDLE 128.0f

// To the nearest whole number, halves to the even one, for |x| < 2^22.
FUNCTION real nearest_whole(real x) { return (x + real(12582912.0f)) - real(12582912.0f); }

// 0.2989 R + 0.5870 G + 0.1140 B of codes 0 .. 255, as MATLAB and its followers weigh them. The sum in ten thousandths
// is exact for whole codes, and so is every quotient half-way between two whole numbers.
FUNCTION real luma_of(real red, real green, real blue) {
  const real ten_thousandths = fma(real(2989.0f), red, fma(real(5870.0f), green, real(1140.0f) * blue));
  return divide(ten_thousandths, real(10000.0f));
}

// Luma of pixels whose three codes are whole numbers, as those of 8-bit pictures are, is rounded, for the references
// round it; that of others is not. So it does not matter in how many bits equal pixels come.
FUNCTION truth is_whole(real red, real green, real blue) {
  const real apart = max(abs(red - nearest_whole(red)), abs(green - nearest_whole(green)));
  return max(apart, abs(blue - nearest_whole(blue))) == real(0.0f);
}

// Half-way cases need care: in the references' double arithmetic the sum falls to either side of the middle, or on it.
// They occur only for multiples of ten in red, and then with at most one blue for each green: a table of
// LUMA_TIES entries (luma_ties() of luma_rows.h) holds what has to be added to nearest_whole(luma) there. This is the
// place in it, or -1 where luma is no half-way case.
#define LUMA_TIES (26 * 256)
FUNCTION truth is_half_way(real luma) { return abs(luma - nearest_whole(luma)) == real(0.5f); }
FUNCTION real luma_tie_place(real luma, real red, real green) {
  const real tens = nearest_whole(min(max(red * real(0.1f), real(0.0f)), real(25.0f)));
  const real column = nearest_whole(min(max(green, real(0.0f)), real(255.0f)));
  const real place = fma(tens, real(256.0f), column);
  const real if_column = select(column == green, place, real(-1.0f));
  const real if_tens = select(tens * real(10.0f) == red, if_column, real(-1.0f));
  return select(is_half_way(luma), if_tens, real(-1.0f));
}
