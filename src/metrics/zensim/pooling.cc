// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/zensim/pooling.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/powers.h"

namespace acuity::zensim {
namespace {

constexpr double kEighthScale = 0x1p72;  // of EIGHTH_SCALE in math.h
constexpr double kFlat = 1e-10;          // below it there is no detail to compare with

constexpr size_t kBasicItems = 13;
constexpr size_t kOtherItems = 6;
constexpr size_t kPeakFirst = 156;
constexpr std::array<const char*, kBasicItems> kBasicNames = {
    "ssim_mean", "ssim_l4", "ssim_l2", "art_mean",       "art_l4",      "art_l2",        "det_mean",
    "det_l4",    "det_l2",  "mse",     "hf_energy_loss", "hf_mag_loss", "hf_energy_gain"};
constexpr std::array<const char*, kOtherItems> kPeakNames = {"ssim_max", "art_max", "det_max",
                                                             "ssim_l8",  "art_l8",  "det_l8"};
constexpr std::array<const char*, kOtherItems> kWeightedNames = {"ssim_mean", "ssim_l4", "ssim_l2",
                                                                 "art_l4",    "det_l4",  "mse"};

// One channel of one scale, all strips together, divided by the number of pixels.
struct Means {
  std::array<double, kSums> mean{};
  std::array<double, kMaxima> maxima{};
};

double fourth_root(double x) { return std::sqrt(std::sqrt(x)); }
double eighth_root(double x) { return std::sqrt(fourth_root(x)); }

Means means_of(std::span<const StripSums> strips, double pixels) {
  Means means;
  for (const StripSums& strip : strips) {
    for (size_t i = 0; i < kSums; ++i) {
      means.mean[i] += static_cast<double>(strip.high[i]) + static_cast<double>(strip.low[i]);
    }
    for (size_t i = 0; i < kMaxima; ++i) {
      means.maxima[i] = std::max(means.maxima[i], static_cast<double>(strip.maxima[i]));
    }
  }
  for (double& mean : means.mean) mean /= pixels;
  return means;
}

std::array<double, kBasicItems> basic_items(const Means& of) {
  std::array<double, kBasicItems> items{};
  for (size_t kind = 0; kind < 3; ++kind) {
    items[3 * kind] = of.mean[4 * kind];
    items[3 * kind + 1] = fourth_root(of.mean[4 * kind + 2]);
    items[3 * kind + 2] = std::sqrt(of.mean[4 * kind + 1]);
  }
  items[9] = of.mean[12];
  const double energy = of.mean[13] > kFlat ? of.mean[14] / of.mean[13] : 1;
  const double magnitude = of.mean[15] > kFlat ? of.mean[16] / of.mean[15] : 1;
  items[10] = std::max(0.0, 1 - energy);
  items[11] = std::max(0.0, 1 - magnitude);
  items[12] = std::max(0.0, energy - 1);
  return items;
}

// The reference's eighth powers are floats, which are 0 below 2^-150.
bool eighth_power_vanishes(double x) {
  const double fourth = x * x * x * x;
  return fourth * fourth <= 0x1p-150;
}

std::array<double, kOtherItems> peak_items(const Means& of) {
  std::array<double, kOtherItems> items{};
  for (size_t kind = 0; kind < 3; ++kind) {
    items[kind] = of.maxima[kind];
    if (eighth_power_vanishes(of.maxima[kind])) continue;
    items[3 + kind] = eighth_root(of.mean[4 * kind + 3] / kEighthScale);
  }
  return items;
}

std::array<double, kOtherItems> weighted_items(const Means& of, size_t first) {
  const double* mean = of.mean.data() + first;
  return {mean[0], fourth_root(mean[2]), std::sqrt(mean[1]), fourth_root(mean[3]), fourth_root(mean[4]), mean[5]};
}

// Places the items of a scale and a channel in the block that begins at `first`.
template <size_t count>
void place(std::span<double> features, size_t first, size_t scale, size_t channel,
           const std::array<double, count>& items) {
  for (size_t i = 0; i < count; ++i) {
    const bool finite = std::isfinite(items[i]);
    features[first + (scale * kChannels + channel) * count + i] = finite ? items[i] : 0;
  }
}

// Longer sides count with the columns that were added; see the reference's row stride.
int padded_width(int width) {
  const int rounded = (width + 15) / 16 * 16;
  return rounded >= 512 && rounded / 16 % 2 == 0 ? rounded + 16 : rounded;
}

// Whether every pixel of the first scale is the same in both pictures.
bool is_identical(const ScaleSums& sums) {
  for (const std::vector<StripSums>& channel : sums) {
    for (const StripSums& strip : channel) {
      if (strip.high[12] != 0) return false;
    }
  }
  return true;
}

}  // namespace

Layout::Layout(int width, int height)
    : picture{width, height}, mirrored{std::max(width, kMinimumSide), std::max(height, kMinimumSide)} {
  Size size{padded_width(mirrored.width), mirrored.height};
  for (Size& scale : sizes) {
    scale = size;
    size = {size.width / 2, size.height / 2};
  }
}

Pooled pool(const Layout& layout, const std::array<ScaleSums, kScales>& sums) {
  Pooled pooled;
  pooled.features.resize(kAllFeatures);
  pooled.identical = is_identical(sums[0]);
  if (pooled.identical) return pooled;
  for (size_t s = 0; s < kScales; ++s) {
    const double pixels = static_cast<double>(layout.sizes[s].width) * layout.sizes[s].height;
    for (size_t c = 0; c < kChannels; ++c) {
      const Means means = means_of(sums[s][c], pixels);
      place(pooled.features, 0, s, c, basic_items(means));
      place(pooled.features, kPeakFirst, s, c, peak_items(means));
      place(pooled.features, kBasicFeatures, s, c, weighted_items(means, 18));
      place(pooled.features, kExtendedFeatures, s, c, weighted_items(means, 24));
      if (s == 0) {
        const double real = static_cast<double>(layout.mirrored.width) * layout.mirrored.height;
        pooled.offset[c] = means.mean[17] * pixels / real;
      }
    }
  }
  return pooled;
}

const std::vector<std::string>& feature_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    const auto add = [&](const char* block, std::span<const char* const> items) {
      for (size_t s = 0; s < kScales; ++s) {
        for (const char channel : {'x', 'y', 'b'}) {
          for (const char* item : items) list.push_back(fmt::format("{}_s{}_{}_{}", block, s, channel, item));
        }
      }
    };
    add("basic", kBasicNames);
    add("peak", kPeakNames);
    add("masked", kWeightedNames);
    add("iw", kWeightedNames);
    return list;
  }();
  return names;
}

bool skips(Profile profile, size_t feature) {
  // What the reference computes together for a scale and a channel: a kind none of whose weights counts is left out,
  // unless a kind computed with it is needed.
  constexpr double kCounts = 0.001;
  if (feature >= kBasicFeatures) return false;
  const std::array<double, kBasicFeatures>& weights = weights_of(profile);
  const bool peak = feature >= kPeakFirst;
  const size_t place = peak ? (feature - kPeakFirst) / kOtherItems : feature / kBasicItems;
  const size_t item = peak ? (feature - kPeakFirst) % kOtherItems : feature % kBasicItems;
  const auto counts = [&](std::initializer_list<size_t> basic, std::initializer_list<size_t> peaks) {
    const auto heavy = [&](size_t i) { return std::abs(weights[i]) > kCounts; };
    return std::any_of(basic.begin(), basic.end(), [&](size_t i) { return heavy(place * kBasicItems + i); }) ||
           std::any_of(peaks.begin(), peaks.end(),
                       [&](size_t i) { return heavy(kPeakFirst + place * kOtherItems + i); });
  };
  const bool ssim = counts({0, 1, 2}, {0, 3});
  if (ssim) return false;
  const bool edge = counts({3, 4, 5, 6, 7, 8, 10, 11, 12}, {1, 2, 4, 5});
  if (edge) return peak ? item == 0 || item == 3 : item < 3;
  return peak || item != 9 || !counts({9}, {});
}

double raw_distance(Profile profile, std::span<const double> features) {
  const std::array<double, kBasicFeatures>& weights = weights_of(profile);
  double sum = 0;
  for (size_t i = 0; i < kBasicFeatures; ++i) {
    if (!skips(profile, i)) sum += weights[i] * features[i];
  }
  return sum / 4;
}

double score_of(double raw_distance) { return raw_distance <= 0 ? 100 : 100 - 18 * exact_power(raw_distance, 0.7); }

}  // namespace acuity::zensim
