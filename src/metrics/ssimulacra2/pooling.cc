// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ssimulacra2/pooling.h"

#include <cmath>

#include <fmt/format.h>

#include "base/powers.h"

namespace acuity::ssimulacra2 {
namespace {

// The weights of version 2.1, from libjxl, tools/ssimulacra2.cc. A row is a scale, finest first: ssim, ringing and blur
// by the mean, then the three by the 4-norm.
// clang-format off
constexpr std::array<double, kChannels * kScales * kNorms * kMaps> kWeights = {
    // X
    0.0, 0.0007376606707406586, 0.0, 0.0, 0.0007793481682867309, 0.0,
    0.0, 0.0004371155730107379, 0.0, 1.1041726426657346, 0.00066284834129271, 0.00015231632783718752,
    0.0, 0.0016406437456599754, 0.0, 1.8422455520539298, 11.441172603757666, 0.0,
    0.0007989109436015163, 0.000176816438078653, 0.0, 1.8787594979546387, 10.94906990605142, 0.0,
    0.0007289346991508072, 0.9677937080626833, 0.0, 0.00014003424285435884, 0.9981766977854967, 0.00031949755934435053,
    0.0004550992113792063, 0.0, 0.0, 0.0013648766163243398, 0.0, 0.0,
    // Y
    0.0, 0.0, 0.0, 7.466890328078848, 0.0, 17.445833984131262,
    0.0006235601634041466, 0.0, 0.0, 6.683678146179332, 0.00037724407979611296, 1.027889937768264,
    225.20515300849274, 0.0, 0.0, 19.213238186143016, 0.0011401524586618361, 0.001237755635509985,
    176.39317598450694, 0.0, 0.0, 24.43300999870476, 0.28520802612117757, 0.0004485436923833408,
    0.0, 0.0, 0.0, 34.77906344483772, 44.835625328877896, 0.0,
    0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    // B
    0.0, 0.0008680556573291698, 0.0, 0.0, 0.0, 0.0,
    0.0, 0.0005313191874358747, 0.0, 0.00016533814161379112, 0.0, 0.0,
    0.0, 0.0, 0.0, 0.0004179171803251336, 0.0017290828234722833, 0.0,
    0.0020827005846636437, 0.0, 0.0, 8.826982764996862, 23.19243343998926, 0.0,
    95.1080498811086, 0.9863978034400682, 0.9834382792465353, 0.0012286405048278493, 171.2667255897307, 0.9807858872435379,
    0.0, 0.0, 0.0, 0.0005130064588990679, 0.0, 0.00010854057858411537,
};
// clang-format on

}  // namespace

std::vector<Size> scale_sizes(int width, int height) {
  std::vector<Size> sizes;
  Size size{width, height};
  while (sizes.size() < kScales) {
    sizes.push_back(size);
    if (size.width < kMinimumSide || size.height < kMinimumSide) break;
    size = {(size.width + 1) / 2, (size.height + 1) / 2};
  }
  return sizes;
}

ScaleErrors pool_tiles(std::span<const TileSums> tiles, Size size) {
  std::array<double, kChannels * kSums> total{};
  for (const TileSums& tile : tiles) {
    for (size_t i = 0; i < total.size(); ++i) total[i] += static_cast<double>(tile[i]);
  }
  const double per_pixel = 1.0 / (static_cast<double>(size.width) * static_cast<double>(size.height));
  ScaleErrors errors{};
  for (int c = 0; c < kChannels; ++c) {
    for (int map = 0; map < kMaps; ++map) {
      const double* sums = &total[static_cast<size_t>(c * kSums + map * kNorms)];
      errors.value[c][kMean][map] = per_pixel * sums[0];
      errors.value[c][kFourth][map] = std::sqrt(std::sqrt(per_pixel * sums[1]));
    }
  }
  return errors;
}

std::vector<ScaleErrors> pool_scales(const TileSums* tiles, std::span<const Size> sizes) {
  std::vector<ScaleErrors> errors;
  for (const Size size : sizes) {
    const size_t count = tile_count(size.width, size.height);
    errors.push_back(pool_tiles({tiles, count}, size));
    tiles += count;
  }
  return errors;
}

double weight(int scale_count, int channel, int scale, Norm norm, Map map) {
  return kWeights[static_cast<size_t>(((channel * scale_count + scale) * kNorms + norm) * kMaps + map)];
}

namespace {

template <typename Visit>
void for_each_error(std::span<const ScaleErrors> scales, Visit visit) {
  const int count = static_cast<int>(scales.size());
  for (int c = 0; c < kChannels; ++c) {
    for (int s = 0; s < count; ++s) {
      for (int n = 0; n < kNorms; ++n) {
        for (int m = 0; m < kMaps; ++m) {
          visit(c, s, n, m, scales[static_cast<size_t>(s)].value[c][n][m],
                weight(count, c, s, static_cast<Norm>(n), static_cast<Map>(m)));
        }
      }
    }
  }
}

}  // namespace

double score_of(std::span<const ScaleErrors> scales) {
  double sum = 0;
  for_each_error(scales, [&](int, int, int, int, double error, double factor) { sum += factor * error; });
  sum *= 0.9562382616834844;
  sum = 2.326765642916932 * sum - 0.020884521182843837 * sum * sum + 6.248496625763138e-05 * sum * sum * sum;
  return sum > 0 ? 100.0 - 10.0 * exact_power(sum, 0.6276336467831387) : 100.0;
}

namespace {

// Made once: a device scores a small picture in little more time than it takes to write them all.
const std::string& name_of(int channel, int scale, int norm, int map) {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const char* c : {"x", "y", "b"}) {
      for (int s = 0; s < kScales; ++s) {
        for (const char* n : {"mean", "norm4"}) {
          for (const char* m : {"ssim", "ringing", "blur"}) all.push_back(fmt::format("{}_scale{}_{}_{}", c, s, n, m));
        }
      }
    }
    return all;
  }();
  return names[static_cast<size_t>(((channel * kScales + scale) * kNorms + norm) * kMaps + map)];
}

}  // namespace

std::vector<NamedValue> named_errors(std::span<const ScaleErrors> scales) {
  std::vector<NamedValue> values;
  values.reserve(scales.size() * kChannels * kNorms * kMaps);
  for_each_error(scales, [&](int c, int s, int n, int m, double error, double) {
    values.push_back({name_of(c, s, n, m), error});
  });
  return values;
}

MapWeights map_weights(std::span<const ScaleErrors> scales, int scale) {
  const int count = static_cast<int>(scales.size());
  MapWeights weights;
  for (size_t c = 0; c < kChannels; ++c) {
    for (size_t m = 0; m < kMaps; ++m) {
      const auto weight_of = [&](Norm norm) {
        return weight(count, static_cast<int>(c), scale, norm, static_cast<Map>(m));
      };
      const double fourth = scales[static_cast<size_t>(scale)].value[c][kFourth][m];
      weights.linear[c][m] = static_cast<float>(weight_of(kMean));
      // The mean of e^4 / norm^3 over the pixels is the 4-norm itself.
      weights.quartic[c][m] = fourth > 0 ? static_cast<float>(weight_of(kFourth) / (fourth * fourth * fourth)) : 0.0f;
    }
  }
  return weights;
}

}  // namespace acuity::ssimulacra2
