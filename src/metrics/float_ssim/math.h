// SPDX-License-Identifier: BSD-2-Clause-Patent
// Sums of products as libvmaf's SSIM takes them, in the kernel dialect. There each product is rounded to float, the
// sum of them is taken in double, and that is rounded to float. Scores contain these roundings: a variance is the small
// difference of two large means.
//
// Here the sum is two floats instead of a double: `high` begins at a number larger than all the sums, so that what a
// product loses when it is added is found by two subtractions, and goes to `low`.

#define SAMPLES_BEGIN real(4096.0f)
#define SQUARES_BEGIN real(1048576.0f)

FUNCTION void add_exactly(real product, INOUT(real) high, INOUT(real) low) {
  const real sum = high + product;
  low = sum_by_multiplier(low, product - sum_by_multiplier(sum, -high));
  high = sum;
}

FUNCTION real rounded_sum(real begin, real high, real low) { return (high - begin) + low; }
