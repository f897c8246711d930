// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/map_file.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numbers>
#include <vector>

#include <fmt/format.h>

#include "cli/text.h"
#include "media/write.h"

namespace acuity::cli {
namespace {

constexpr int kColours = 256;

// Butteraugli's colours, at equal steps of the scale. Good values end at 0.3 of it, bad ones begin at 0.45, and what is
// beyond this many times the bad threshold has no more colours.
constexpr std::array<std::array<double, 3>, 12> kThresholdColours{{{0, 0, 0},
                                                                   {0, 0, 1},
                                                                   {0, 1, 1},
                                                                   {0, 1, 0},
                                                                   {1, 1, 0},
                                                                   {1, 0, 0},
                                                                   {1, 0, 1},
                                                                   {0.5, 0.5, 1},
                                                                   {1, 0.5, 0.5},
                                                                   {1, 1, 0.5},
                                                                   {1, 1, 1},
                                                                   {1, 1, 1}}};
constexpr double kGoodPlace = 0.3;
constexpr double kBadPlace = 0.45;
constexpr double kBeyond = 12 / 0.5;
// White is the last colour but one.
constexpr double kWhiteAt = 1 + (10.0 / 11 - kBadPlace) * kBeyond;

bool ends_in(const std::string& path, std::string_view ending) {
  return path.size() > ending.size() && std::equal(ending.rbegin(), ending.rend(), path.rbegin(), [](char a, char b) {
           return a == std::tolower(static_cast<unsigned char>(b));
         });
}

uint8_t srgb_code(double light) {
  light = std::clamp(light, 0.0, 1.0);
  const double encoded = light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
  return static_cast<uint8_t>(std::lround(255 * encoded));
}

double cube(double x) { return x * x * x; }

// What the brightest colour stands for. A few pixels are often far worse than all others, and would leave those black.
float top_of_scale(const std::vector<float>& values) {
  std::vector<float> sorted = values;
  const auto place = sorted.begin() + static_cast<ptrdiff_t>(sorted.size() - 1 - sorted.size() / 200);
  std::nth_element(sorted.begin(), place, sorted.end());
  return *place > 0 ? *place : *std::max_element(values.begin(), values.end());
}

// The colour of each value.
template <typename ColourOf>
std::vector<uint8_t> coloured(const DifferenceMap& map, ColourOf colour_of) {
  std::vector<uint8_t> rgb;
  rgb.reserve(map.values.size() * 3);
  for (const float value : map.values) {
    const std::array<uint8_t, 3> colour = colour_of(value);
    rgb.insert(rgb.end(), colour.begin(), colour.end());
  }
  return rgb;
}

// A map shown in colours, and what they mean.
struct Shown {
  std::vector<uint8_t> rgb;
  std::string scale;
};

Shown fitted(const DifferenceMap& map) {
  const float top = top_of_scale(map.values);
  std::array<std::array<uint8_t, 3>, kColours> colours;
  for (size_t i = 0; i < kColours; ++i) colours[i] = map_colour(static_cast<double>(i) / (kColours - 1));
  const auto colour_of = [&](float value) {
    const double place = top > 0 ? std::sqrt(std::clamp(static_cast<double>(value) / top, 0.0, 1.0)) : 0;
    return colours[static_cast<size_t>(std::lround(place * (kColours - 1)))];
  };
  return {coloured(map, colour_of),
          fmt::format("black is 0, pale yellow is {} or more, by square root between", short_number(top))};
}

Shown by_thresholds(const DifferenceMap& map, double good, double bad) {
  return {coloured(map, [&](float value) { return threshold_colour(value, good, bad); }),
          fmt::format("black is 0, green is {}, red is {}, white is {} or more", short_number(good), short_number(bad),
                      short_number(kWhiteAt * bad))};
}

}  // namespace

std::array<uint8_t, 3> map_colour(double place) {
  // A path through Oklab (B. Ottosson, 2020; the figures below are its published inverse): lightness rises evenly, the
  // hue turns from blue-violet over red to yellow, and the chroma is what sRGB can show along the way.
  const double lightness = 0.98 * place;
  const double hue = (280 + 190 * place) / 180 * std::numbers::pi;
  const double chroma = std::min({0.4 * place, 0.16, 0.085 + 0.5 * (1 - place)});
  const double a = chroma * std::cos(hue);
  const double b = chroma * std::sin(hue);
  const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
  const double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
  const double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
  return {srgb_code(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          srgb_code(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          srgb_code(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

std::array<uint8_t, 3> threshold_colour(double value, double good, double bad) {
  const double place = value < good  ? value / good * kGoodPlace
                       : value < bad ? kGoodPlace + (value - good) / (bad - good) * (kBadPlace - kGoodPlace)
                                     : kBadPlace + (value - bad) / (bad * kBeyond);
  const double step = std::clamp(place * (kThresholdColours.size() - 1), 0.0, kThresholdColours.size() - 2.0);
  const size_t below = static_cast<size_t>(step);
  const double mix = step - static_cast<double>(below);
  std::array<uint8_t, 3> colour;
  for (size_t c = 0; c < 3; ++c) {
    const double light = mix * kThresholdColours[below + 1][c] + (1 - mix) * kThresholdColours[below][c];
    colour[c] = static_cast<uint8_t>(std::lround(255 * std::sqrt(light)));
  }
  return colour;
}

Status check_map_name(const std::string& path) {
  if (ends_in(path, ".png") || ends_in(path, ".pfm")) return {};
  return Status(StatusCode::usage,
                fmt::format("--map is '{}'; its name must end in .png (colours) or .pfm (floats)", path));
}

Result<std::string> write_map(const std::string& path, const MetricInfo& metric, const DifferenceMap& map) {
  if (map.values.empty()) return Status(StatusCode::internal, fmt::format("{} gave no difference map", metric.name));
  if (ends_in(path, ".pfm")) {
    if (Status written = write_pfm(path, map.width, map.height, map.values); !written.ok()) return written;
    return fmt::format("map: {}, the largest value is {}", path,
                       short_number(*std::max_element(map.values.begin(), map.values.end())));
  }
  const Shown shown = metric.map_thresholds
                          ? by_thresholds(map, metric.map_thresholds->first, metric.map_thresholds->second)
                          : fitted(map);
  const std::string description = fmt::format("{} difference map: {}", metric.name, shown.scale);
  if (Status written = write_png(path, map.width, map.height, shown.rgb, description); !written.ok()) return written;
  return fmt::format("map: {}, {}", path, shown.scale);
}

}  // namespace acuity::cli
