// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/dssim/pooling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace acuity::dssim {
namespace {

constexpr std::array<double, kScales> kWeights = {0.028, 0.197, 0.322, 0.298, 0.155};
constexpr int kSmallestHalved = 8;

}  // namespace

std::vector<Size> scale_sizes(int width, int height) {
  std::vector<Size> sizes{{width, height}};
  while (sizes.size() < kScales && std::min(sizes.back().width, sizes.back().height) >= kSmallestHalved) {
    sizes.push_back({sizes.back().width / 2, sizes.back().height / 2});
  }
  return sizes;
}

double add_tiles(std::span<const float> tiles) {
  double sum = 0;
  for (const float tile : tiles) sum += static_cast<double>(tile);
  return sum;
}

float expected_error(double error_sum, Size size, size_t scale) {
  double mean = std::max(1 - error_sum / size.pixels(), 0.0);
  for (size_t i = 0; i < scale; ++i) mean = std::sqrt(mean);
  return static_cast<float>(1 - mean);
}

double scale_similarity(double deviation_sum, Size size) { return 1 - deviation_sum / size.pixels(); }

double weight(size_t scale, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += kWeights[i];
  return kWeights[scale] / sum;
}

double score_of(std::span<const double> similarities) {
  double similarity = 0;
  double weights = 0;
  for (size_t i = 0; i < similarities.size(); ++i) {
    similarity += kWeights[i] * similarities[i];
    weights += kWeights[i];
  }
  return 1 / std::max(similarity / weights, std::numeric_limits<double>::epsilon()) - 1;
}

DifferenceMap combined_map(std::span<const DifferenceMap> scales) {
  DifferenceMap map{scales[0].width, scales[0].height, std::vector<float>(scales[0].values.size())};
  for (size_t s = 0; s < scales.size(); ++s) {
    const DifferenceMap& scale = scales[s];
    const auto share = static_cast<float>(weight(s, scales.size()));
    for (int y = 0; y < map.height; ++y) {
      const size_t from = static_cast<size_t>(std::min(y >> s, scale.height - 1)) * static_cast<size_t>(scale.width);
      float* to = map.values.data() + static_cast<size_t>(y) * static_cast<size_t>(map.width);
      for (int x = 0; x < map.width; ++x) {
        to[x] += share * scale.values[from + static_cast<size_t>(std::min(x >> s, scale.width - 1))];
      }
    }
  }
  return map;
}

}  // namespace acuity::dssim
