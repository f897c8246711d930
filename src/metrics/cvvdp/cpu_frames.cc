// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/cpu_frames.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/cvvdp/cpu_frames.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::cvvdp {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

// One plane at a time: so many rows at once as all of them have are more than processors fetch ahead.
void FilterRow(const float* weights, const float* const* rows, size_t count, int width, float* out) {
  for (int x = 0; x < width; x += 2 * kLanes) {
    real first = real(0.0f), second = real(0.0f);
    for (size_t k = 0; k < count; ++k) {
      const real weight = weights[k];
      first = fma(weight, load(rows[k] + x), first);
      second = fma(weight, load(rows[k] + x + kLanes), second);
    }
    store(first, out + x);
    store(second, out + x + kLanes);
  }
}

// The same with two filters.
void FilterRowTwice(const float* weights, const float* other_weights, const float* const* rows, size_t count, int width,
                    float* out, float* other) {
  for (int x = 0; x < width; x += 2 * kLanes) {
    real first = real(0.0f), second = real(0.0f), other_first = real(0.0f), other_second = real(0.0f);
    for (size_t k = 0; k < count; ++k) {
      const real weight = weights[k], other_weight = other_weights[k];
      const real a = load(rows[k] + x), b = load(rows[k] + x + kLanes);
      first = fma(weight, a, first);
      second = fma(weight, b, second);
      other_first = fma(other_weight, a, other_first);
      other_second = fma(other_weight, b, other_second);
    }
    store(first, out + x);
    store(second, out + x + kLanes);
    store(other_first, other + x);
    store(other_second, other + x + kLanes);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::cvvdp
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::cvvdp {

HWY_EXPORT(FilterRow);
HWY_EXPORT(FilterRowTwice);

void show_row(const Photometry& photometry, std::span<const float> table, int width,
              const std::array<float*, kStillChannels>& rows) {
  for (float* row : rows) {
    if (table.empty()) {
      show_samples(photometry, width, row);
    } else {
      look_up(table, width, row);
    }
  }
  mix_rows(photometry, photometry.matrix(), width, rows);
}

void filter_row(const std::array<std::vector<float>, kChannels>& filters,
                const std::array<std::vector<const float*>, kStillChannels>& frames, int width,
                const std::array<float*, kChannels>& out) {
  const size_t count = filters[0].size();
  HWY_DYNAMIC_DISPATCH(FilterRowTwice)
  (filters[0].data(), filters[3].data(), frames[0].data(), count, width, out[0], out[3]);
  HWY_DYNAMIC_DISPATCH(FilterRow)(filters[1].data(), frames[1].data(), count, width, out[1]);
  HWY_DYNAMIC_DISPATCH(FilterRow)(filters[2].data(), frames[2].data(), count, width, out[2]);
}

}  // namespace acuity::cvvdp
#endif
