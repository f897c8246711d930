// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/speed/algebra.h"

#include <algorithm>
#include <cmath>

#ifndef ACUITY_METRICS_SPEED_ALGEBRA_ONCE
#define ACUITY_METRICS_SPEED_ALGEBRA_ONCE
namespace acuity::speed {

// A matrix with nothing but a diagonal and the numbers beside it.
struct Tridiagonal {
  float diagonal[kSide];
  float beside[kSide];
};

inline float sign_of(float value) { return value >= 0 ? 1.0f : -1.0f; }
inline float hypotenuse(float a, float b) { return std::sqrt(a * a + b * b); }

}  // namespace acuity::speed
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/speed/algebra.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::speed {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

constexpr int kVectors = kRow / kLanes;

// By Householder's reflections. What is left to do stays exactly symmetric, so that columns can be read as rows.
void MakeTridiagonal(Matrix& a, Tridiagonal& out) {
  alignas(64) float v[kRow] = {}, x[kRow] = {};
  for (int i = 0; i < kSide - 2; ++i) {
    const int first = i + 1;
    float squares = 0;
    for (int j = first + 1; j < kSide; ++j) squares += a.at[j][i] * a.at[j][i];
    const float norm = std::sqrt(squares);
    out.diagonal[i] = a.at[i][i];
    out.beside[i] = a.at[first][i];
    if (norm == 0) continue;
    const float alpha = a.at[first][i], beta = -sign_of(alpha) * hypotenuse(alpha, norm);
    const float tau = (beta - alpha) / beta, divisor = alpha - beta;
    out.beside[i] = beta;
    std::fill(v, v + first, 0.0f);
    v[first] = 1;
    for (int j = first + 1; j < kSide; ++j) v[j] = a.at[j][i] / divisor;
    real product[kVectors];
    for (real& p : product) p = real(0.0f);
    for (int j = first; j < kSide; ++j) {
      for (int n = 0; n < kVectors; ++n) {
        product[n] = product[n] + real(tau) * load(a.at[j] + n * kLanes) * real(v[j]);
      }
    }
    for (int n = 0; n < kVectors; ++n) store(product[n], x + n * kLanes);
    float along = 0;
    for (int j = first; j < kSide; ++j) along += x[j] * v[j];
    const float half = -0.5f * tau * along;
    for (int j = first; j < kSide; ++j) x[j] += half * v[j];
    std::fill(x, x + first, 0.0f);
    for (int j = first; j < kSide; ++j) {
      for (int n = 0; n < kVectors; ++n) {
        float* row = a.at[j] + n * kLanes;
        const real change = real(x[j]) * load(v + n * kLanes) + real(v[j]) * load(x + n * kLanes);
        store(load(row) - change, row);
      }
    }
  }
  for (int i = kSide - 2; i < kSide; ++i) out.diagonal[i] = a.at[i][i];
  out.beside[kSide - 2] = a.at[kSide - 1][kSide - 2];
}

// (1 - 2 v v') * in, where v has nothing before `first`: the rows from there on, the others do not change.
void Reflect(const float* v, int first, const Matrix& in, Matrix& out) {
  for (int i = first; i < kSide; ++i) {
    real sum[kVectors];
    for (real& s : sum) s = real(0.0f);
    for (int k = first; k < kSide; ++k) {
      const float factor = -2 * v[i] * v[k];
      const real weight(k == i ? factor + 1 : factor);
      for (int n = 0; n < kVectors; ++n) sum[n] = sum[n] + weight * load(in.at[k] + n * kLanes);
    }
    for (int n = 0; n < kVectors; ++n) store(sum[n], out.at[i] + n * kLanes);
  }
}

void Multiply(const Matrix& a, const Matrix& b, Matrix& out) {
  for (int i = 0; i < kSide; ++i) {
    real sum[kVectors];
    for (real& s : sum) s = real(0.0f);
    for (int k = 0; k < kSide; ++k) {
      for (int n = 0; n < kVectors; ++n) sum[n] = sum[n] + real(a.at[i][k]) * load(b.at[k] + n * kLanes);
    }
    for (int n = 0; n < kVectors; ++n) store(sum[n], out.at[i] + n * kLanes);
  }
}

// matrix = q' * r, with r upper triangular, by Householder's reflections.
void Decompose(const Matrix& matrix, Matrix& q, Matrix& r) {
  Matrix rest = matrix, changed;
  for (int i = 0; i < kSide; ++i) {
    std::fill(q.at[i], q.at[i] + kRow, 0.0f);
    q.at[i][i] = 1;
  }
  for (int k = 0; k < kSide - 1; ++k) {
    float v[kSide] = {}, squares = 0;
    for (int i = k; i < kSide; ++i) {
      v[i] = rest.at[i][k];
      squares += v[i] * v[i];
    }
    // The sign is that of the matrix to begin with, not of what is left of it.
    v[k] += sign_of(matrix.at[k][k]) * std::sqrt(squares);
    squares = 0;
    for (int i = k; i < kSide; ++i) squares += v[i] * v[i];
    const float norm = std::sqrt(squares);
    for (int i = k; i < kSide; ++i) v[i] /= norm;
    Reflect(v, k, rest, changed);
    for (int i = k; i < kSide; ++i) std::copy_n(changed.at[i], kRow, rest.at[i]);
    Reflect(v, k, q, changed);
    for (int i = k; i < kSide; ++i) std::copy_n(changed.at[i], kRow, q.at[i]);
  }
  Multiply(q, matrix, r);
}

bool Solve(const Matrix& matrix, const float* b, int columns, int stride, float* x) {
  Matrix q, r;
  Decompose(matrix, q, r);
  for (int i = 0; i < kSide; ++i) {
    if (!(static_cast<double>(std::abs(r.at[i][i])) >= 1e-6)) return false;
  }
  for (int c = 0; c < columns; c += kLanes) {
    for (int i = kSide - 1; i >= 0; --i) {
      real term(0.0f);
      for (int k = 0; k < kSide; ++k) term = term + real(q.at[i][k]) * load(b + k * stride + c);
      for (int k = i + 1; k < kSide; ++k) term = term - load(x + k * stride + c) * real(r.at[i][k]);
      store(term / real(r.at[i][i]), x + i * stride + c);
    }
  }
  return true;
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::speed
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::speed {

HWY_EXPORT(MakeTridiagonal);
HWY_EXPORT(Solve);

namespace {

constexpr double kNegligible = 1e-6;
constexpr int kMostSteps = 500;

void drop_negligible(float* diagonal, float* beside, int size) {
  for (int i = 0; i + 1 < size; ++i) {
    const float around = std::abs(diagonal[i]) + std::abs(diagonal[i + 1]);
    if (static_cast<double>(std::abs(beside[i])) < kNegligible * static_cast<double>(around)) beside[i] = 0;
  }
}

// Of the last two rows, the eigenvalue next to the last number.
float trailing_eigenvalue(const float* diagonal, const float* beside, int size) {
  const float last = diagonal[size - 1], off = beside[size - 2];
  const float half = (diagonal[size - 2] - last) / 2;
  if (half > 0) return last - off * (off / (half + hypotenuse(half, off)));
  if (half == 0) return last - std::abs(off);
  return last + off * (off / (-half + hypotenuse(half, off)));
}

struct Rotation {
  float c = 1;
  float s = 0;
};

// That which takes (a, b) to (r, 0).
Rotation rotation_for(float a, float b) {
  if (b == 0) return {};
  const auto cosine = [](float t) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(1 + t * t))); };
  if (std::abs(b) > std::abs(a)) {
    const float t = -a / b, s = cosine(t);
    return {s * t, s};
  }
  const float t = -b / a, c = cosine(t);
  return {c, c * t};
}

// A step of the QR method with a shift: rotations chase a number out of the three diagonals.
void step(float* diagonal, float* beside, int size) {
  float shift = trailing_eigenvalue(diagonal, beside, size);
  if (kNegligible * static_cast<double>(std::abs(shift)) >
      static_cast<double>(std::abs(diagonal[0]) + std::abs(beside[0]))) {
    shift = 0;
  }
  float x = diagonal[0] - shift, z = beside[0];
  float before = 0, chased = 0;  // what the last rotation left beside the diagonal, and outside
  float p = diagonal[0], pq = beside[0], q = diagonal[1], next = size > 2 ? beside[1] : 0;
  for (int k = 0; k + 1 < size; ++k) {
    const auto [c, s] = rotation_for(x, z);
    if (k > 0) beside[k - 1] = c * before - s * chased;
    const float p_new = c * (c * p - s * pq) + s * (s * q - c * pq);
    const float pq_new = c * (s * p + c * pq) - s * (s * pq + c * q);
    const float q_new = s * (s * p + c * pq) + c * (s * pq + c * q);
    diagonal[k] = p_new;
    before = x = pq_new;
    chased = z = -s * next;
    p = q_new;
    pq = c * next;
    if (k + 2 < size) {
      q = diagonal[k + 2];
      beside[k + 1] = pq;
    }
    if (k + 3 < size) next = beside[k + 2];
  }
  diagonal[size - 1] = p;
  beside[size - 2] = before;
}

}  // namespace

void find_eigenvalues(const Matrix& matrix, float* values) {
  Matrix work = matrix;
  Tridiagonal rest{};
  HWY_DYNAMIC_DISPATCH(MakeTridiagonal)(work, rest);
  drop_negligible(rest.diagonal, rest.beside, kSide);
  int last = kSide - 1;
  for (int steps = 0; last > 0 && steps < kMostSteps;) {
    if (rest.beside[last - 1] == 0) {
      --last;
      continue;
    }
    // The largest part that does not fall apart already.
    int first = last - 1;
    while (first > 0 && rest.beside[first - 1] != 0) --first;
    const int size = last - first + 1;
    step(rest.diagonal + first, rest.beside + first, size);
    drop_negligible(rest.diagonal + first, rest.beside + first, size);
    ++steps;
  }
  std::copy_n(rest.diagonal, kSide, values);
}

bool solve(const Matrix& matrix, const float* b, int columns, int stride, float* x) {
  return HWY_DYNAMIC_DISPATCH(Solve)(matrix, b, columns, stride, x);
}

}  // namespace acuity::speed
#endif
