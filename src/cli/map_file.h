// SPDX-License-Identifier: BSD-2-Clause-Patent
// Difference maps as files: colours for people (.png) or the values themselves (.pfm).
#ifndef ACUITY_CLI_MAP_FILE_H
#define ACUITY_CLI_MAP_FILE_H

#include <array>
#include <cstdint>
#include <string>

#include "acuity/score.h"
#include "acuity/scorer.h"
#include "acuity/status.h"

namespace acuity::cli {

/// Whether the name of the file says what to write.
Status check_map_name(const std::string& path);

/// Writes the map and says, for people, how its values are shown.
Result<std::string> write_map(const std::string& path, const MetricInfo& metric, const DifferenceMap& map);

/// The sRGB colour for a place from 0 to 1 on the scale: from black over violet and red to pale yellow, in equal steps
/// of perceived lightness.
std::array<uint8_t, 3> map_colour(double place);

/// The colour of a value on the scale that Butteraugli's own tools use: from black over blue to green where good values
/// end, over yellow to red where bad ones begin, then purple and pastel to white.
std::array<uint8_t, 3> threshold_colour(double value, double good, double bad);

}  // namespace acuity::cli

#endif
