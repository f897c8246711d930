// SPDX-License-Identifier: BSD-2-Clause-Patent
// From sums over pixels to features, and from those to a score. Host code, the same for all devices.
#ifndef ACUITY_METRICS_ZENSIM_POOLING_H
#define ACUITY_METRICS_ZENSIM_POOLING_H

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace acuity::zensim {

inline constexpr size_t kScales = 4;
inline constexpr size_t kChannels = 3;   // X, Y, B
inline constexpr int kMinimumSide = 64;  // pictures are mirrored up to it
inline constexpr size_t kBasicFeatures = 228;
inline constexpr size_t kExtendedFeatures = 300;
inline constexpr size_t kAllFeatures = 372;
inline constexpr size_t kSums = 30;  // ALL_SUMS of math.h
inline constexpr size_t kMaxima = 3;

/// What one strip of one channel adds up to; each sum in two floats. math.h says which they are.
struct StripSums {
  std::array<float, kSums> high{}, low{};
  std::array<float, kMaxima> maxima{};
};

struct Size {
  int width = 0;
  int height = 0;
};

/// How a picture is laid out: mirrored up to 64 pixels a side, then its rows made longer, as the reference pads them.
struct Layout {
  Size picture;                     // as it came
  Size mirrored;                    // at least 64 each way
  std::array<Size, kScales> sizes;  // of the planes; they count with the columns that were added

  explicit Layout(int width, int height);
};

/// Rows of a strip, the unit of all work and every sum. Windows look at five more on either side.
inline constexpr int kStripRows = 32;
inline int strips_of(int height) { return (height + kStripRows - 1) / kStripRows; }

using ScaleSums = std::array<std::vector<StripSums>, kChannels>;  // by channel, the strips from the top down

struct Pooled {
  std::vector<double> features;            // kAllFeatures; zeros where nobody asked for them
  std::array<double, kChannels> offset{};  // mean of reference minus distorted
  bool identical = false;                  // both pictures are the same everywhere
};

/// The features. Where both pictures are the same everywhere, all are 0.
Pooled pool(const Layout& layout, const std::array<ScaleSums, kScales>& sums);

/// "basic_s0_x_ssim_mean": the block a feature belongs to, its scale, its channel, and what it is.
const std::vector<std::string>& feature_names();

enum class Profile { preview1, preview2 };
const std::array<double, kBasicFeatures>& weights_of(Profile profile);

/// Whether the profile leaves a feature at 0, because nothing of its kind has weight at that scale and channel.
bool skips(Profile profile, size_t feature);

/// The weighted sum of the features, and the score that comes of it.
double raw_distance(Profile profile, std::span<const double> features);
double score_of(double raw_distance);

}  // namespace acuity::zensim

#endif
