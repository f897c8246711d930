// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/zensim/map.h"

#include <algorithm>
#include <cmath>

namespace acuity::zensim {
namespace {

constexpr std::array<double, kChannels> kBalanced = {0.15, 0.70, 0.15};
constexpr int kMaskRadius = 5;

// Sums of absolute weights of one scale and channel, by the items of the basic block they belong to.
struct ItemWeights {
  std::array<double, 13> items{};
  double sum(size_t first, size_t last) const {
    double total = 0;
    for (size_t i = first; i <= last; ++i) total += items[i];
    return total;
  }
};

ItemWeights item_weights(Profile profile, size_t scale, size_t channel) {
  ItemWeights of;
  for (size_t i = 0; i < of.items.size(); ++i) {
    of.items[i] = std::abs(weights_of(profile)[(scale * kChannels + channel) * of.items.size() + i]);
  }
  return of;
}

// Means over the windows that lie around each place of a row, as far as the row goes.
void window_sums(std::span<const double> from, std::span<double> to) {
  const auto count = static_cast<int>(from.size());
  for (int i = 0; i < count; ++i) {
    double sum = 0;
    for (int k = std::max(i - kMaskRadius, 0); k <= std::min(i + kMaskRadius, count - 1); ++k) {
      sum += from[static_cast<size_t>(k)];
    }
    to[static_cast<size_t>(i)] = sum;
  }
}

// The variance of Y around each pixel, of the window as far as it lies inside.
std::vector<float> variances(std::span<const float> luma, int stride, Size size) {
  const auto width = static_cast<size_t>(size.width);
  std::vector<float> variance(width * static_cast<size_t>(size.height));
  std::vector<double> sums(width), squares(width), row_sums(width), row_squares(width);
  for (int y = 0; y < size.height; ++y) {
    std::fill(sums.begin(), sums.end(), 0.0);
    std::fill(squares.begin(), squares.end(), 0.0);
    const int top = std::max(y - kMaskRadius, 0), bottom = std::min(y + kMaskRadius, size.height - 1);
    for (int k = top; k <= bottom; ++k) {
      const float* row = luma.data() + static_cast<ptrdiff_t>(k) * stride;
      for (size_t x = 0; x < width; ++x) {
        const double value = static_cast<double>(row[x]);
        sums[x] += value;
        squares[x] += value * value;
      }
    }
    window_sums(sums, row_sums);
    window_sums(squares, row_squares);
    for (int x = 0; x < size.width; ++x) {
      const int columns = std::min(x + kMaskRadius, size.width - 1) - std::max(x - kMaskRadius, 0) + 1;
      const double count = static_cast<double>(columns) * (bottom - top + 1);
      const auto i = static_cast<size_t>(x);
      const double mean = row_sums[i] / count;
      variance[static_cast<size_t>(y) * width + i] =
          static_cast<float>(std::max(row_squares[i] / count - mean * mean, 0.0));
    }
  }
  return variance;
}

}  // namespace

MapWeights map_weights(Profile profile, const MapOptions& options) {
  MapWeights weights;
  double all = 0;
  std::array<double, kScales> of_scale{};
  for (size_t s = 0; s < kScales; ++s) {
    for (size_t c = 0; c < kChannels; ++c) of_scale[s] += item_weights(profile, s, c).sum(0, 12);
    all += of_scale[s];
  }
  for (size_t s = 0; s < kScales; ++s) {
    std::array<std::array<double, kMapTerms>, kChannels> terms{};
    double total = 0;
    for (size_t c = 0; c < kChannels; ++c) {
      const ItemWeights of = item_weights(profile, s, c);
      terms[c][0] = options.balanced ? kBalanced[c] : of.sum(0, 2);
      if (options.all_terms) {
        // Gain is what edges and high frequencies have in common, and so is loss.
        const double share = kBalanced[c];
        terms[c][1] = options.balanced ? 2 * share : of.sum(3, 5) + of.sum(12, 12);
        terms[c][2] = options.balanced ? 2 * share : of.sum(6, 8) + of.sum(10, 10);
        terms[c][3] = options.balanced ? share : of.sum(9, 9);
        terms[c][4] = options.balanced ? share : of.sum(11, 11);
      }
      for (const double term : terms[c]) total += term;
    }
    for (size_t c = 0; c < kChannels; ++c) {
      // Where the profile leaves out structure, the reference's map has nothing of the channel.
      const bool left_out = skips(profile, (s * kChannels + c) * 13);
      for (size_t t = 0; t < kMapTerms; ++t) {
        weights.scales[s][c][t] = left_out || total == 0 ? 0.0f : static_cast<float>(terms[c][t] / total);
      }
    }
    weights.blend[s] = static_cast<float>(options.balanced ? 0.25 : of_scale[s] / all);
  }
  return weights;
}

DifferenceMap blended_map(const Layout& layout, const MapWeights& weights, const MapOptions& options,
                          const std::array<std::vector<float>, kScales>& scales, std::span<const float> luma) {
  const Size size = layout.picture;
  DifferenceMap map{size.width, size.height,
                    std::vector<float>(static_cast<size_t>(size.width) * static_cast<size_t>(size.height))};
  for (size_t s = 0; s < kScales; ++s) {
    const Size scale = layout.sizes[s];
    // The last rows of odd heights have no part in smaller scales.
    for (int y = 0; y < std::min(size.height, scale.height << s); ++y) {
      const float* from = scales[s].data() + static_cast<ptrdiff_t>(y >> s) * scale.width;
      float* to = map.values.data() + static_cast<ptrdiff_t>(y) * size.width;
      for (int x = 0; x < size.width; ++x) to[x] += weights.blend[s] * from[x >> s];
    }
  }
  if (options.masking > 0) {
    const std::vector<float> variance = variances(luma, layout.sizes[0].width, layout.mirrored);
    for (int y = 0; y < size.height; ++y) {
      for (int x = 0; x < size.width; ++x) {
        const double busy = static_cast<double>(
            variance[static_cast<size_t>(y) * static_cast<size_t>(layout.mirrored.width) + static_cast<size_t>(x)]);
        float& value = map.values[static_cast<size_t>(y) * static_cast<size_t>(size.width) + static_cast<size_t>(x)];
        value = static_cast<float>(static_cast<double>(value) / (1 + options.masking * busy));
      }
    }
  }
  if (options.square_root) {
    for (float& value : map.values) value = std::sqrt(value);
  }
  return map;
}

}  // namespace acuity::zensim
