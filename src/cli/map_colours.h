// SPDX-License-Identifier: BSD-2-Clause-Patent
// How the values of a difference map become colours.
#ifndef ACUITY_CLI_MAP_COLOURS_H
#define ACUITY_CLI_MAP_COLOURS_H

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "acuity/score.h"
#include "acuity/scorer.h"

namespace acuity::cli {

using MapColour = std::array<uint8_t, 3>;

struct MapColours {
  bool own = true;  // those of the metric, where it has any; otherwise the common ones
  /// Of ColorVideoVDP's own colours those for differences that are plain to see.
  bool above_threshold = false;
  std::optional<std::pair<double, double>> range{};  // what black and pale yellow stand for; none: fitted to the map
};

/// A map in colours, and what they mean.
struct ColouredMap {
  std::vector<MapColour> palette;
  std::vector<uint8_t> pixels;   // places in the palette
  std::vector<MapColour> mixed;  // instead of both: the colour of each pixel
  std::string scale;
};

/// `context` is what the metric's own colours are shown over, from 0 to 1; empty: it has none.
ColouredMap coloured(const DifferenceMap& map, std::span<const float> context, const MetricInfo& metric,
                     const MapColours& colours);

/// The sRGB colour for a place from 0 to 1 on the scale: from black over violet and red to pale yellow, in equal steps
/// of perceived lightness.
MapColour map_colour(double place);

/// The colour of a value on the scale that Butteraugli's own tools use: from black over blue to green where good values
/// end, over yellow to red where bad ones begin, then purple and pastel to white.
MapColour threshold_colour(double value, double good, double bad);

}  // namespace acuity::cli

#endif
