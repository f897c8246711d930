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

#include "lang/exact.h"
#include "metrics/cvvdp/math.h"

HWY_INLINE real clipped(real value) { return min(max(value, real(0.0f)), real(1.0f)); }

void ShowSamples(const Photometry& photometry, int width, float* samples) {
  const real exposure = photometry.exposure(), range = photometry.range(), black = photometry.black();
  const real reflection = photometry.reflection(), peak = photometry.peak();
  const bool exposed = photometry.exposure() != 1;
  const auto each = [&](auto&& light_of) {
    for (int x = 0; x < width; x += kLanes) store(light_of(load(samples + x)), samples + x);
  };
  const auto shown = [&](real fraction) {
    return (range * (exposed ? clipped(fraction * exposure) : fraction) + black) + reflection;
  };
  switch (photometry.eotf()) {
    case Eotf::srgb:
      return each([&](real v) { return shown(srgb_light(clipped(v))); });
    case Eotf::gamma: {
      const real gamma = photometry.gamma();
      return each([&](real v) { return shown(clipped(quick_power(clipped(v), gamma))); });
    }
    case Eotf::pq:
      return each([&](real v) {
        const real t = power(clipped(v), real(0.0126833133f));
        const real ratio = divide(max(t - real(0.8359375f), real(0.0f)), real(18.8515625f) - real(18.6875f) * t);
        const real nits = real(10000.0f) * power(ratio, real(6.27739477f));
        return (min(max(nits * exposure, real(0.005f)), peak) + black) + reflection;
      });
    case Eotf::hlg:
      return each([&](real v) { return hlg_light(clipped(v)); });
    case Eotf::linear: {
      const real least = photometry.least();
      return each([&](real v) { return min(max(v * exposure, least), peak) + reflection; });
    }
  }
}

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

HWY_EXPORT(ShowSamples);
HWY_EXPORT(FilterRow);
HWY_EXPORT(FilterRowTwice);

void show_row(const Photometry& photometry, int width, const std::array<float*, kStillChannels>& rows) {
  for (float* row : rows) HWY_DYNAMIC_DISPATCH(ShowSamples)(photometry, width, row);
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
  for (float* row : out) set_ends(row, width);
}

}  // namespace acuity::cvvdp
#endif
