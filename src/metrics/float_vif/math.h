// SPDX-License-Identifier: BSD-2-Clause-Patent
// From the moments of a window to the information its pixel holds, in the kernel dialect.

// What becomes of the reference's signal on its way to the distorted picture.
struct Channel {
  real variance1;
  real variance2;
  real covariance;
  real gain;
  real rest;
};

FUNCTION Channel channel_of(real mean1, real mean2, real square1, real square2, real product, float gain_limit) {
  const real zero = real(0.0f);
  const real epsilon = real(1.0e-10f);
  Channel c;
  c.variance1 = max(square1 - mean1 * mean1, zero);
  c.variance2 = max(square2 - mean2 * mean2, zero);
  c.covariance = product - mean1 * mean2;
  c.gain = divide(c.covariance, c.variance1 + epsilon);
  c.rest = c.variance2 - c.gain * c.covariance;
  const truth flat1 = c.variance1 < epsilon;
  const truth flat2 = c.variance2 < epsilon;
  c.gain = select(flat1, zero, c.gain);
  c.rest = select(flat1, c.variance2, c.rest);
  c.variance1 = select(flat1, zero, c.variance1);
  c.gain = select(flat2, zero, c.gain);
  c.rest = select(flat2, zero, c.rest);
  const truth opposed = c.gain < zero;
  c.rest = max(select(opposed, c.variance2, c.rest), epsilon);
  c.gain = min(select(opposed, zero, c.gain), real(gain_limit));
  return c;
}

// libvmaf's log2: the exponent, and a polynomial of the mantissa less 1 without a constant term. Parts of it, because
// the CPU works on several step by step.
FUNCTION real mantissa_less_1(whole bits) {
  return from_bits((bits & whole(0x7fffff)) | whole(0x3f800000)) - real(1.0f);
}
FUNCTION real exponent_of(whole bits) { return to_real((SHIFT_RIGHT(bits, 23) & whole(255)) - whole(127)); }
FUNCTION float log_coefficient(int step) {
  return step == 0   ? -0.0126716355f
         : step == 1 ? 0.0648411810f
         : step == 2 ? -0.157048836f
         : step == 3 ? 0.257167727f
         : step == 4 ? -0.353800565f
         : step == 5 ? 0.480131418f
         : step == 6 ? -0.721314311f
                     : 1.44269478f;
}
