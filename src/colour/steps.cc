// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "colour/steps.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "colour/steps.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::colour {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;  // the dialect

#include "lang/exact.h"
#include "colour/math.h"

constexpr int kTogether = 256;

// Calls step for each whole vector of pixels, and for one made of those left over.
template <size_t channels, class Step>
void EachVector(const std::array<float*, channels>& samples, int count, Step step) {
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    std::array<float*, channels> here = samples;
    for (float*& channel : here) channel += i;
    step(here);
  }
  if (i == count) return;
  float rest[channels][kLanes] = {};
  std::array<float*, channels> here;
  for (size_t c = 0; c < channels; ++c) {
    std::copy(samples[c] + i, samples[c] + count, rest[c]);
    here[c] = rest[c];
  }
  step(here);
  for (size_t c = 0; c < channels; ++c) std::copy(rest[c], rest[c] + (count - i), samples[c] + i);
}

// Each step goes over some samples before the next one does: the steps of one vector are a long chain, and a processor
// finds others to overlap it with only nearby.
void DecodeSome(const SampleConversion& steps, const float* table, float* samples, int count) {
  const real a(steps.a);
  float values[kTogether];
  std::copy_n(samples, count, values);
  EachVector<1>({values}, count, [&](const std::array<float*, 1>& here) {
    store_unaligned(light_of_sample(steps.curve, a, load_unaligned(here[0])), here[0]);
  });
  if (steps.to_codes) {
    EachVector<1>({values}, count, [&](const std::array<float*, 1>& here) {
      store_unaligned(srgb_code(load_unaligned(here[0])), here[0]);
    });
  }
  if (table == nullptr) {
    std::copy_n(values, count, samples);
    return;
  }
  EachVector<2>({samples, values}, count, [&](const std::array<float*, 2>& here) {
    real value = load_unaligned(here[1]);
    const real place = code_place(load_unaligned(here[0]));
    const truth found = place >= real(0.0f);
    if (!hn::AllFalse(RealTag(), found.m)) {
      const real looked_up{hn::GatherIndex(RealTag(), table, to_whole(max(place, real(0.0f))).v)};
      value = select(found, looked_up, value);
    }
    store_unaligned(value, here[0]);
  });
}

void DecodeSamples(const SampleConversion& steps, const float* table, float* samples, int count) {
  for (int begin = 0; begin < count; begin += kTogether) {
    DecodeSome(steps, table, samples + begin, std::min(kTogether, count - begin));
  }
}

void SettleFractions(float* quotients, int count) {
  EachVector<1>({quotients}, count, [](const std::array<float*, 1>& here) {
    store_unaligned(fraction_of(load_unaligned(here[0])), here[0]);
  });
}

void FindBytes(float* quotients, int count) {
  EachVector<1>({quotients}, count,
                [](const std::array<float*, 1>& here) { store_unaligned(byte_of(load_unaligned(here[0])), here[0]); });
}

void MixChannels(const PixelConversion& steps, float* red, float* green, float* blue, int count) {
  const auto& w = steps.hlg_weights;
  const auto& m = steps.matrix;
  const Mixing mixing{real(w[0]),
                      real(w[1]),
                      real(w[2]),
                      real(steps.hlg_exponent),
                      real(steps.hlg_scale),
                      real(m[0]),
                      real(m[1]),
                      real(m[2]),
                      real(m[3]),
                      real(m[4]),
                      real(m[5]),
                      real(m[6]),
                      real(m[7]),
                      real(m[8])};
  EachVector<3>({red, green, blue}, count, [&](const std::array<float*, 3>& here) {
    real r = load_unaligned(here[0]), g = load_unaligned(here[1]), b = load_unaligned(here[2]);
    mix(steps.steps, mixing, r, g, b);
    store_unaligned(r, here[0]);
    store_unaligned(g, here[1]);
    store_unaligned(b, here[2]);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace acuity::colour
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity {
namespace colour {
namespace {
HWY_EXPORT(DecodeSamples);
HWY_EXPORT(MixChannels);
HWY_EXPORT(SettleFractions);
HWY_EXPORT(FindBytes);

// Asked for here, because HWY_DYNAMIC_DISPATCH takes no qualified name where only one target is compiled.
auto* decoder() { return &HWY_DYNAMIC_DISPATCH(DecodeSamples); }
auto* mixer() { return &HWY_DYNAMIC_DISPATCH(MixChannels); }
auto* fraction_settler() { return &HWY_DYNAMIC_DISPATCH(SettleFractions); }
auto* byte_finder() { return &HWY_DYNAMIC_DISPATCH(FindBytes); }

}  // namespace
}  // namespace colour

void decode_samples(const SampleConversion& steps, const float* table, float* samples, int count) {
  if (steps.curve == CURVE_SCALE && steps.a == 1 && !steps.to_codes) return;
  colour::decoder()(steps, table, samples, count);
}

void settle_fractions(float* quotients, int count) { colour::fraction_settler()(quotients, count); }

void find_bytes(float* quotients, int count) { colour::byte_finder()(quotients, count); }

void mix_channels(const PixelConversion& steps, float* red, float* green, float* blue, int count) {
  if (steps.steps == 0) return;
  colour::mixer()(steps, red, green, blue, count);
}

}  // namespace acuity
#endif
