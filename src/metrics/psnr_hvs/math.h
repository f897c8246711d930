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
