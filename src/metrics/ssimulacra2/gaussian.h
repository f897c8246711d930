// SPDX-License-Identifier: BSD-2-Clause-Patent
// The Gaussian of sigma 1.5 as the reference runs it, in the kernel dialect: the recursive filter of Charalampidis
// (2016), three second-order sections with poles on the unit circle. In exact arithmetic its response is nine taps
// long; in float the rounding errors of the recursion live on along the row, and every published score contains them.
// Hence the operation order of the reference (libjxl, tools/gauss_blur.cc) is part of the definition:
// - along a row, outputs 0..7 and those of the last few columns one by one, all others in blocks of four;
// - down a column, one by one, with another order of the terms.
// Output n takes the sum of the inputs n - 6 and n + 4; inputs outside the picture are zero.
//
// The third section has a pole at exactly i; the reference carries cos(pi/2) = 6e-17 through it. Terms with that factor
// are left out here: they change no float sum above 1e-9.
//
// tests/metrics/gaussian_test.cc derives the figures anew.

#define GAUSSIAN_BEHIND 6
#define GAUSSIAN_AHEAD 4

// Section 1 and 2: n = gain, d = -2 cos(omega); the blocks of four need their powers.
#define GAUSSIAN_1_N 0.0552952364f
#define GAUSSIAN_1_D -1.90211308f
#define GAUSSIAN_2_N -0.0588366874f
#define GAUSSIAN_2_D -1.17557049f
#define GAUSSIAN_3_N 0.0129558193f

// The last two outputs of each section: p is the last, q the one before.
struct GaussianState {
  real p1, q1, p2, q2, p3, q3;
};

FUNCTION GaussianState gaussian_start() {
  GaussianState state;
  state.p1 = state.q1 = state.p2 = state.q2 = state.p3 = state.q3 = real(0.0f);
  return state;
}

// One output down a column.
FUNCTION real gaussian_column_step(INOUT(GaussianState) state, real sum) {
  const real y1 = fma(real(GAUSSIAN_1_N), sum, fma(real(-(GAUSSIAN_1_D)), state.p1, -state.q1));
  const real y2 = fma(real(GAUSSIAN_2_N), sum, fma(real(-(GAUSSIAN_2_D)), state.p2, -state.q2));
  const real y3 = fma(real(GAUSSIAN_3_N), sum, -state.q3);
  state.q1 = state.p1;
  state.q2 = state.p2;
  state.q3 = state.p3;
  state.p1 = y1;
  state.p2 = y2;
  state.p3 = y3;
  return y1 + (y2 + y3);
}

// One output of one section along a row.
FUNCTION real section_1_step(INOUT(real) p, INOUT(real) q, real sum) {
  const real y = fma(real(-(GAUSSIAN_1_D)), p, sum * real(GAUSSIAN_1_N) - q);
  q = p;
  p = y;
  return y;
}

FUNCTION real section_2_step(INOUT(real) p, INOUT(real) q, real sum) {
  const real y = fma(real(-(GAUSSIAN_2_D)), p, sum * real(GAUSSIAN_2_N) - q);
  q = p;
  p = y;
  return y;
}

FUNCTION real section_3_step(INOUT(real) p, INOUT(real) q, real sum) {
  const real y = sum * real(GAUSSIAN_3_N) - q;
  q = p;
  p = y;
  return y;
}

// Four outputs of one section along a row, each straight from the inputs and the state before the block.
#define GAUSSIAN_SECTION_FOUR(in1, in2, in3, in4, prev1, prev2, prev3, prev4)                                   \
  o0 = fma(real(prev1), p, s0 * real(in1) - q);                                                                 \
  o1 = fma(real(prev2), p, fma(real(-(prev1)), q, fma(real(in1), s1, s0 * real(in2))));                         \
  o2 = fma(real(prev3), p, fma(real(-(prev2)), q, fma(real(in1), s2, fma(real(in2), s1, s0 * real(in3)))));     \
  o3 = fma(real(prev4), p,                                                                                      \
           fma(real(-(prev3)), q, fma(real(in1), s3, fma(real(in2), s2, fma(real(in3), s1, s0 * real(in4)))))); \
  q = o2;                                                                                                       \
  p = o3;

FUNCTION void section_1_four(INOUT(real) p, INOUT(real) q, real s0, real s1, real s2, real s3, INOUT(real) o0,
                             INOUT(real) o1, INOUT(real) o2,
                             INOUT(real) o3){GAUSSIAN_SECTION_FOUR(GAUSSIAN_1_N, 0.10517779f, 0.144764811f, 0.17018123f,
                                                                   1.90211308f, 2.61803389f, 3.07768345f, 3.23606801f)}

FUNCTION void section_2_four(INOUT(real) p, INOUT(real) q, real s0, real s1, real s2, real s3, INOUT(real) o0,
                             INOUT(real) o1, INOUT(real) o2, INOUT(real) o3){
    GAUSSIAN_SECTION_FOUR(GAUSSIAN_2_N, -0.0691666752f, -0.0224736147f, 0.042747356f, 1.17557049f, 0.381966025f,
                          -0.726542532f, -1.23606801f)}

FUNCTION void section_3_four(INOUT(real) p, INOUT(real) q, real s0, real s1, real s2, real s3, INOUT(real) o0,
                             INOUT(real) o1, INOUT(real) o2, INOUT(real) o3) {
  o0 = s0 * real(GAUSSIAN_3_N) - q;
  o1 = s1 * real(GAUSSIAN_3_N) - p;
  o2 = fma(real(GAUSSIAN_3_N), s2, s0 * real(-(GAUSSIAN_3_N))) + q;
  o3 = fma(real(GAUSSIAN_3_N), s3, s1 * real(-(GAUSSIAN_3_N))) + p;
  q = o2;
  p = o3;
}

// All three sections: one output along a row, and four.
FUNCTION real gaussian_row_step(INOUT(GaussianState) state, real sum) {
  const real y1 = section_1_step(state.p1, state.q1, sum);
  const real y2 = section_2_step(state.p2, state.q2, sum);
  const real y3 = section_3_step(state.p3, state.q3, sum);
  return y1 + (y2 + y3);
}

FUNCTION void gaussian_row_four(INOUT(GaussianState) state, real s0, real s1, real s2, real s3, INOUT(real) o0,
                                INOUT(real) o1, INOUT(real) o2, INOUT(real) o3) {
  real a0;
  real a1;
  real a2;
  real a3;
  section_2_four(state.p2, state.q2, s0, s1, s2, s3, o0, o1, o2, o3);
  section_3_four(state.p3, state.q3, s0, s1, s2, s3, a0, a1, a2, a3);
  o0 = o0 + a0;
  o1 = o1 + a1;
  o2 = o2 + a2;
  o3 = o3 + a3;
  section_1_four(state.p1, state.q1, s0, s1, s2, s3, a0, a1, a2, a3);
  o0 = a0 + o0;
  o1 = a1 + o1;
  o2 = a2 + o2;
  o3 = a3 + o3;
}
