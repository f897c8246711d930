// SPDX-License-Identifier: BSD-2-Clause-Patent
// Where values are float and where they are double is part of the definition: the factors are cut to whole numbers
// afterwards.
#include "metrics/adm/csf.h"

#include <cmath>
#include <numbers>

#include "base/powers.h"

namespace acuity::adm {
namespace {

float pixels_per_degree(const Viewing& viewing) {
  return static_cast<float>(viewing.distance * viewing.height * std::numbers::pi / 180.0);
}

// The nominal frequency of a scale, in cycles per degree.
float frequency(const Viewing& viewing, int scale) {
  return static_cast<float>(pixels_per_degree(viewing) / static_cast<double>(2 << scale));
}

// The quantisation step of the 9/7 wavelet that is just not seen in luma (equation 9 of the paper, tables IV and V).
float watson_step(const Viewing& viewing, int scale, bool diagonal) {
  constexpr float kA = 0.495f, kK = 0.466f, kF0 = 0.401f;
  constexpr float kG[2] = {1.0f, 0.534f};
  constexpr float kAmplitudes[kScales][2] = {
      {0.67234f, 0.72709f}, {0.41317f, 0.49428f}, {0.22727f, 0.28688f}, {0.11792f, 0.15214f}};
  const double ratio = static_cast<double>(2 << scale) * static_cast<double>(kF0) * static_cast<double>(kG[diagonal]) /
                       static_cast<double>(pixels_per_degree(viewing));
  const auto logarithm = static_cast<float>(exact_log10(ratio));
  const double power = exact_power(10, static_cast<double>(kK * logarithm * logarithm));
  return static_cast<float>(2.0 * static_cast<double>(kA) * power / static_cast<double>(kAmplitudes[scale][diagonal]));
}

// What Barten's model has of luminance: parameters between those fitted at 20 and at 150 cd/m2.
constexpr double kLuminance = 100;

float at_luminance(float at_20, float at_150) {
  const auto from = static_cast<float>(exact_log10(20)), to = static_cast<float>(exact_log10(150)),
             at = static_cast<float>(exact_log10(kLuminance));
  return at_20 + ((at_150 - at_20) / (to - from)) * (at - from);
}

float rod_and_cone_sensitivity() {
  constexpr float kPeak = 30.162f, kDrop = 4.0627f, kTransition = 1.6596f, kLowSlope = 0.2712f;
  const double drop = exact_power(static_cast<double>(kDrop / static_cast<float>(kLuminance)), kTransition);
  return static_cast<float>(kPeak * exact_power(drop + 1, -static_cast<double>(kLowSlope)));
}

// How much of the contrast the optics of the eye let through.
float optics(float frequency) {
  constexpr float kWeights[4] = {0.424838596301290f, 0.572435103936480f, 0.000167576239164937f, 0.00255872352306433f};
  constexpr float kFalls[4] = {0.028f, 0.37f, 37, 360};
  float sum = 0;
  for (int i = 0; i < 4; ++i) {
    sum = static_cast<float>(sum + kWeights[i] * exact_exp(static_cast<double>(-kFalls[i] * frequency)));
  }
  return sum;
}

float barten_sensitivity(float frequency, double factor) {
  const float p0 = at_luminance(0.334278f, 0.394533f), p1 = at_luminance(3.79542f, 2.7755f),
              p2 = at_luminance(1.07327f, 1.16577f), p3 = at_luminance(6.4635f, 7.45665f);
  const auto a = static_cast<float>(1.0 + exact_power(static_cast<double>(p0 * frequency), p1));
  const double seventh = static_cast<double>(frequency / 7);
  const double low = 1 - exact_exp(-(seventh * seventh));
  const auto b = static_cast<float>(1.0 / exact_power(low, p2));
  const auto neural = static_cast<float>(p3 / std::sqrt(static_cast<double>(a * b)));
  return static_cast<float>(static_cast<double>(neural * optics(frequency) * rod_and_cone_sensitivity()) * factor);
}

// Not inlined: two frequencies next to each other would be vectorised by GCC 12, which then leaves out that they are
// rounded to float.
[[gnu::noinline]] float native_sensitivity(float frequency) {
  const auto f = static_cast<double>(frequency);
  return static_cast<float>((0.31 + 0.69 * f) * exact_exp(-0.29 * f));
}

template <class Function>
Sensitivities each_scale(const Function& function) {
  Sensitivities result;
  for (int s = 0; s < kScales; ++s) result[static_cast<size_t>(s)] = function(s);
  return result;
}

struct Blend {
  double distance;
  int height;
  Sensitivities plain;
  Sensitivities mae;
};

constexpr Sensitivities k1080At3{
    {{0.01183f, 0.004302f}, {0.025026f, 0.011778f}, {0.04295f, 0.023918f}, {0.058621f, 0.035901f}}};
constexpr Sensitivities k1080At3Mae{
    {{0.011249f, 0.004097f}, {0.022606f, 0.010921f}, {0.035930f, 0.021430f}, {0.045673f, 0.031313f}}};

// Those libvmaf has for closer views, its integer arithmetic refuses.
constexpr Blend kBlends[] = {
    {3.0, 1080, k1080At3, k1080At3Mae},
    {1.5, 2160, k1080At3, k1080At3Mae},  // as many pixels per degree
    {5.0,
     1080,
     {{{0.004212f, 0.000984f}, {0.014809f, 0.005852f}, {0.029642f, 0.0146f}, {0.047464f, 0.027574f}}},
     {{{0.004052f, 0.000927f}, {0.013939f, 0.005544f}, {0.026298f, 0.013415f}, {0.038833f, 0.024515f}}}},
    {3.0,
     2160,
     {{{0.00226f, 0.000479f}, {0.01183f, 0.004302f}, {0.025026f, 0.011778f}, {0.04295f, 0.023918f}}},
     {{{0.002166f, 0.000447f}, {0.011249f, 0.004097f}, {0.022606f, 0.010921f}, {0.035930f, 0.021430f}}}},
    {5.0,
     2160,
     {{{0.000092f, 0.000050f}, {0.004212f, 0.000984f}, {0.014809f, 0.005852f}, {0.029642f, 0.0146f}}},
     {{{0.000077f, 0.000045f}, {0.004052f, 0.000927f}, {0.013939f, 0.005544f}, {0.026298f, 0.013415f}}}},
    {5.0,
     720,
     {{{0.010144f, 0.003463f}, {0.022561f, 0.010282f}, {0.040309f, 0.021839f}, {0.05672f, 0.034641f}}},
     {{{0.009689f, 0.003302f}, {0.020577f, 0.009579f}, {0.034162f, 0.019661f}, {0.044523f, 0.030318f}}}},
};

}  // namespace

Sensitivities watson_sensitivities(const Viewing& viewing) {
  return each_scale([&](int scale) {
    return Sensitivity{1.0f / watson_step(viewing, scale, false), 1.0f / watson_step(viewing, scale, true)};
  });
}

Sensitivities barten_sensitivities(const Viewing& viewing, double straight, double diagonal) {
  return each_scale([&](int scale) {
    const float at = frequency(viewing, scale);
    return Sensitivity{barten_sensitivity(at, straight), barten_sensitivity(at, diagonal)};
  });
}

Sensitivities native_sensitivities(const Viewing& viewing) {
  return each_scale([&](int scale) {
    const float at = frequency(viewing, scale);
    // The eye sees diagonal details less: as if they were finer.
    return Sensitivity{native_sensitivity(at), native_sensitivity(static_cast<float>(static_cast<double>(at) / 0.7))};
  });
}

std::optional<Sensitivities> blended_sensitivities(const Viewing& viewing, bool mae) {
  for (const Blend& blend : kBlends) {
    if (blend.distance == viewing.distance && blend.height == viewing.height) return mae ? blend.mae : blend.plain;
  }
  return std::nullopt;
}

}  // namespace acuity::adm
