// SPDX-License-Identifier: BSD-2-Clause-Patent
// The transform of PSNR-HVS, in whole numbers: Daala's, an eight-point DCT of type II made of lifting steps, each of
// which adds a rounded multiple of one value to another.

/// Towards zero.
FUNCTION whole half_of(whole a) { return SHIFT_RIGHT(a - SHIFT_RIGHT(a, 31), 1); }

/// a times so many 32768ths, rounded.
FUNCTION whole scaled(whole a, int factor) { return SHIFT_RIGHT(a * whole(factor) + whole(16384), 15); }

/// Samples in their order become coefficients in theirs.
FUNCTION void transform(INOUT(whole) x0, INOUT(whole) x1, INOUT(whole) x2, INOUT(whole) x3, INOUT(whole) x4,
                        INOUT(whole) x5, INOUT(whole) x6, INOUT(whole) x7) {
  // Sums and differences of samples that lie opposite to each other. Of the pairs 0, 7 and 2, 5 the difference is whole
  // and the mean is halved, of the others the reverse, so that the steps below find both kinds.
  whole difference07 = x0 - x7;
  const whole half07 = half_of(difference07);
  whole even0 = x0 - half07;
  const whole sum16 = x1 + x6;
  const whole half16 = half_of(sum16);
  whole odd5 = x6 - half16;
  whole odd3 = x2 - x5;
  whole even2 = x2 - half_of(odd3);
  const whole sum34 = x3 + x4;
  const whole half34 = half_of(sum34);
  whole odd7 = half34 - x4;

  // The even half, a DCT of four points.
  even0 = even0 + half34;
  whole even6 = even0 - sum34;
  even2 = half16 - even2;
  whole even4 = even2 - sum16;
  even0 = even0 - scaled(even4, 13573);
  even4 = even4 + scaled(even0, 23170);
  even0 = even0 - scaled(even4, 13573);
  even6 = even6 - scaled(even2, 21895);
  even2 = even2 + scaled(even6, 30274);
  even6 = even6 - scaled(even2, 21895);

  // The odd half, a DST of type IV.
  odd3 = odd3 + scaled(odd5, 19195);
  odd5 = odd5 + scaled(odd3, 23170);
  odd3 = odd3 - scaled(odd5, 29956);
  odd7 = half_of(odd5) - odd7;
  odd5 = odd5 - odd7;
  odd3 = half07 - odd3;
  whole odd1 = difference07 - odd3;
  odd7 = odd7 + scaled(odd1, 3227);
  odd1 = odd1 - scaled(odd7, 6393);
  odd7 = odd7 + scaled(odd1, 3227);
  odd5 = odd5 + scaled(odd3, 9940);
  odd3 = odd3 - scaled(odd5, 18205);
  odd5 = odd5 + scaled(odd3, 9940);

  x0 = even0;
  x1 = odd1;
  x2 = even2;
  x3 = odd3;
  x4 = even4;
  x5 = odd5;
  x6 = even6;
  x7 = odd7;
}

/// Variances of a block and of its quarters, sample by sample.
struct Variances {
  real mean;
  real means[4];
  real whole_block;
  real quarters[4];
};

/// From the sums of the samples of the quarters: upper left, lower left, upper right, lower right.
FUNCTION Variances variances_about(whole sum0, whole sum1, whole sum2, whole sum3) {
  Variances result;
  result.mean = to_real(sum0 + sum1 + sum2 + sum3) * real(0.015625f);
  result.means[0] = to_real(sum0) * real(0.0625f);
  result.means[1] = to_real(sum1) * real(0.0625f);
  result.means[2] = to_real(sum2) * real(0.0625f);
  result.means[3] = to_real(sum3) * real(0.0625f);
  result.whole_block = real(0.0f);
  UNROLL for (int quarter = 0; quarter < 4; ++quarter) result.quarters[quarter] = real(0.0f);
  return result;
}

FUNCTION void add_sample(INOUT(Variances) variances, real value, int quarter) {
  const real from_mean = value - variances.mean;
  const real from_quarter = value - variances.means[quarter];
  variances.whole_block = variances.whole_block + from_mean * from_mean;
  variances.quarters[quarter] = variances.quarters[quarter] + from_quarter * from_quarter;
}

/// How those of the quarters compare with that of the whole: small where the block holds an edge.
FUNCTION real spread_of(Variances variances) {
  const real variance = variances.whole_block * real(1.01587307f);  // 64 / 63
  real sum = variances.quarters[0] * real(1.06666672f);             // 16 / 15
  UNROLL for (int quarter = 1; quarter < 4; ++quarter) sum = sum + variances.quarters[quarter] * real(1.06666672f);
  return select(variance > real(0.0f), divide(sum, variance), variance);
}

/// How much the blocks hide by their own detail: the larger of the two.
FUNCTION real mask_of(real reference_energy, real reference_spread, real distorted_energy, real distorted_spread) {
  return max(sqrt(reference_energy * reference_spread), sqrt(distorted_energy * distorted_spread)) * real(0.03125f);
}

/// The square of what remains visible of the error of a coefficient; that of the mean is not hidden.
FUNCTION real visible_square(real error, real hidden, real visibility) {
  const real visible = select(error < hidden, real(0.0f), error - hidden);
  const real weighed = visible * visibility;
  return weighed * weighed;
}
