// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/map_colours.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "cli/text.h"

namespace acuity::cli {
namespace {

constexpr int kLast = 255;  // of the common colours

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
constexpr int kWhiteStep = kThresholdColours.size() - 2;
constexpr double kWhiteAt = 1 + (kWhiteStep / 11.0 - kBadPlace) * kBeyond;
constexpr int kShades = 25;  // from one of them to the next

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

// Where a value stands among Butteraugli's colours, in steps from one to the next.
double threshold_step(double value, double good, double bad) {
  const double place = value < good  ? value / good * kGoodPlace
                       : value < bad ? kGoodPlace + (value - good) / (bad - good) * (kBadPlace - kGoodPlace)
                                     : kBadPlace + (value - bad) / (bad * kBeyond);
  return std::clamp(place * (kThresholdColours.size() - 1), 0.0, static_cast<double>(kWhiteStep));
}

MapColour colour_at(double step) {
  const size_t below = static_cast<size_t>(step);
  const double mix = step - static_cast<double>(below);
  MapColour colour;
  for (size_t c = 0; c < 3; ++c) {
    const double light = mix * kThresholdColours[below + 1][c] + (1 - mix) * kThresholdColours[below][c];
    colour[c] = static_cast<uint8_t>(std::lround(255 * std::sqrt(light)));
  }
  return colour;
}

template <typename PlaceOf>
std::vector<uint8_t> pixels_of(const DifferenceMap& map, PlaceOf place_of) {
  std::vector<uint8_t> pixels(map.values.size());
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(place_of(map.values[i]) + 0.5);
  return pixels;
}

ColouredMap by_thresholds(const DifferenceMap& map, double good, double bad) {
  ColouredMap result;
  for (int i = 0; i <= kWhiteStep * kShades; ++i) result.palette.push_back(colour_at(static_cast<double>(i) / kShades));
  result.pixels = pixels_of(map, [&](float value) { return kShades * threshold_step(value, good, bad); });
  result.scale = fmt::format("black is 0, green is {}, red is {}, white is {} or more", short_number(good),
                             short_number(bad), short_number(kWhiteAt * bad));
  return result;
}

ColouredMap by_range(const DifferenceMap& map, double low, double high, int root) {
  ColouredMap result;
  for (int i = 0; i <= kLast; ++i) result.palette.push_back(map_colour(static_cast<double>(i) / kLast));
  const double share = high > low ? 1 / (high - low) : 0;
  result.pixels = pixels_of(map, [&](float value) {
    const double square_root = std::sqrt(std::clamp((value - low) * share, 0.0, 1.0));
    return kLast * (root == 4 ? std::sqrt(square_root) : square_root);
  });
  result.scale = fmt::format("black is {}{}, pale yellow is {} or more, by {} root between", short_number(low),
                             low == 0 ? "" : " or less", short_number(high), root == 4 ? "fourth" : "square");
  return result;
}

// ColorVideoVDP's colours: at each of these values one of the same brightness. Beyond the last it goes on in the same
// direction, until a colour has no more or no less to give.
struct ContextColours {
  double step;  // between values, from 0
  std::vector<std::array<double, 3>> colours;
  const char* scale;
};
const ContextColours kThreshold{0.025,
                                {{0.2, 0.2, 1}, {0.2, 1, 1}, {0.2, 1, 0.2}, {1, 1, 0.2}, {1, 0.2, 0.2}},
                                "blue is 0, cyan 0.025, green 0.05, yellow 0.075, red 0.1, magenta 0.2 or more"};
const ContextColours kAboveThreshold{
    0.15, {{0.2, 1, 1}, {1, 1, 1}, {1, 1, 0.2}}, "cyan is 0, white 0.15, yellow 0.3 or more"};

ColouredMap over_context(const DifferenceMap& map, std::span<const float> context, ContextColours all) {
  for (std::array<double, 3>& colour : all.colours) {
    const double luma = 0.212656 * colour[0] + 0.715158 * colour[1] + 0.072186 * colour[2] + 1e-4;
    for (double& part : colour) part /= luma;
  }
  ColouredMap result;
  result.scale = all.scale;
  for (size_t i = 0; i < map.values.size(); ++i) {
    const double value = std::clamp(static_cast<double>(map.values[i]), 0.0, 1.0);
    const size_t below = std::min(all.colours.size() - 2, static_cast<size_t>(value / all.step));
    const double rest = (value - static_cast<double>(below) * all.step) / (all.step + 1e-6);
    MapColour& pixel = result.mixed.emplace_back();
    for (size_t c = 0; c < 3; ++c) {
      const double colour = (1 - rest) * all.colours[below][c] + rest * all.colours[below + 1][c];
      pixel[c] = static_cast<uint8_t>(255 * std::clamp(colour * static_cast<double>(context[i]), 0.0, 1.0));
    }
  }
  return result;
}

}  // namespace

MapColour map_colour(double place) {
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

MapColour threshold_colour(double value, double good, double bad) {
  return colour_at(threshold_step(value, good, bad));
}

ColouredMap coloured(const DifferenceMap& map, std::span<const float> context, const MetricInfo& metric,
                     const MapColours& colours) {
  if (colours.own && context.size() == map.values.size()) {
    return over_context(map, context, colours.above_threshold ? kAboveThreshold : kThreshold);
  }
  if (colours.own && metric.map_thresholds) {
    return by_thresholds(map, metric.map_thresholds->first, metric.map_thresholds->second);
  }
  if (colours.range) return by_range(map, colours.range->first, colours.range->second, metric.map_root);
  return by_range(map, 0, top_of_scale(map.values), metric.map_root);
}

}  // namespace acuity::cli
