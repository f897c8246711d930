// SPDX-License-Identifier: BSD-2-Clause-Patent
// One scale of VIF in whole numbers on the CPU.
#ifndef ACUITY_METRICS_VIF_CPU_H
#define ACUITY_METRICS_VIF_CPU_H

#include <cstddef>
#include <cstdint>

namespace acuity::vif {

/// Samples of both pictures, of 8 bits in bytes or more in 16-bit units.
struct Planes {
  const std::byte* reference = nullptr;
  const std::byte* distorted = nullptr;
  ptrdiff_t reference_stride = 0;  // in bytes
  ptrdiff_t distorted_stride = 0;
  int width = 0;
  int height = 0;
  int depth = 8;  // 16 for all scales but the first
};

/// The next scale's samples, half as many each way.
struct NextPlanes {
  uint16_t* reference = nullptr;
  uint16_t* distorted = nullptr;
  size_t stride = 0;  // in samples; kRowSlack more than there are samples at least
};
inline constexpr size_t kRowSlack = 32;

/// What the pixels of a scale add up to. Logarithms are in units of 1/2048.
struct Totals {
  int64_t numerator_logs = 0;
  int64_t denominator_logs = 0;
  int64_t flat_variance = 0;  // of the distorted picture, in units of 1/65536, where the reference is nearly flat
  int64_t flat_pixels = 0;
};

/// 16-bit units that measure_scale works in.
size_t scratch_units(int width);

/// `skip_totals` leaves them 0; `next` is filled where it is not null.
Totals measure_scale(int scale, const Planes& planes, double gain_limit, bool skip_totals, const NextPlanes* next,
                     int16_t* scratch);

/// For tests: 2048 log2 of each of `count` numbers from 2^17 on, rounded; a multiple of 16 of them.
void scaled_logs(const int32_t* values, size_t count, int32_t* logs);

}  // namespace acuity::vif

#endif
