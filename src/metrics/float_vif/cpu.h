// SPDX-License-Identifier: BSD-2-Clause-Patent
// Bands of rows of VIF in floats, on the CPU. Every sum is in libvmaf's order, so that its results come out bit by bit.
#ifndef ACUITY_METRICS_FLOAT_VIF_CPU_H
#define ACUITY_METRICS_FLOAT_VIF_CPU_H

#include <cstddef>

#include "metrics/float_vif/kernel.h"

namespace acuity::float_vif {

inline constexpr size_t kRowSlack = 32;  // floats that may be read or written behind a row's end

/// How many rows of results a band has: a column of them is a vector.
int band_rows();

/// Floats that a band works in.
size_t band_scratch(int radius);

struct Noise {
  double variance = 2;  // of the eye
  float gain_limit = 100;
  double inverse = 0.5;   // 1 / variance where that is exact, else 0
  float quiet = 2;        // variance as float: below it, the reference is nearly flat
  float flat_factor = 0;  // what variance of the distorted picture counts for where the reference is nearly flat
};

/// The rows that a band's results are made of, from kernel.radius() above the first result to as many below the last.
/// Those past the picture's ends are mirrored; past the mirror any row will do. Pointers are aligned.
struct Window {
  const float* const* reference = nullptr;
  const float* const* distorted = nullptr;
  int width = 0;
};

/// What each row of the band adds up to.
void measure_band(const Window& window, const Kernel& kernel, const Noise& noise, float* scratch, float* numerators,
                  float* denominators);

/// Filters both pictures and keeps every other column and row: result r is centred on row 2 r of the window's inner
/// part, which has twice as many rows here. Results are written to band_rows() rows, `stride` apart.
void halve_band(const Window& window, const Kernel& kernel, float* scratch, float* reference, float* distorted,
                size_t stride);

}  // namespace acuity::float_vif

#endif
