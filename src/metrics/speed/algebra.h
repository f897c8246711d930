// SPDX-License-Identifier: BSD-2-Clause-Patent
// Linear algebra for matrices of 25 x 25 floats, with each rounding where libvmaf has it: these matrices can be close
// to singular, and then the last bits of the result hang on the order of operations.
#ifndef ACUITY_METRICS_SPEED_ALGEBRA_H
#define ACUITY_METRICS_SPEED_ALGEBRA_H

namespace acuity::speed {

inline constexpr int kSide = 25;
inline constexpr int kRow = 32;  // floats from one row to the next; those past kSide are zero

struct alignas(64) Matrix {
  float at[kSide][kRow] = {};
};

/// Of a symmetric matrix, by way of a tridiagonal one, in no particular order.
void find_eigenvalues(const Matrix& matrix, float* values);

/// Solves matrix * x = b for `columns` columns, rows `stride` floats apart, a multiple of 16. False where it cannot be
/// done.
bool solve(const Matrix& matrix, const float* b, int columns, int stride, float* x);

}  // namespace acuity::speed

#endif
