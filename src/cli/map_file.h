// SPDX-License-Identifier: BSD-2-Clause-Patent
// Difference maps as files: colours for people (.png) or the values themselves (.pfm).
#ifndef ACUITY_CLI_MAP_FILE_H
#define ACUITY_CLI_MAP_FILE_H

#include <span>
#include <string>
#include <vector>

#include "acuity/score.h"
#include "acuity/scorer.h"
#include "acuity/status.h"
#include "cli/lists.h"
#include "cli/map_colours.h"
#include "cli/request.h"

namespace acuity::cli {

struct MapPlan {
  std::string pattern;  // as given; empty: no maps
  MapColours colours;
  std::string distogram;      // a file; empty: none
  double distogram_max = 10;  // the loss in JOD of its brightest colour; 0: fitted to the video
  bool over_context = false;  // in the colours of metrics that show theirs over the picture
};

const std::vector<Option>& map_options();

/// What the options say of maps. `inputs` are all files that are read: every map must have a place of its own, at which
/// it can be written and which is none of these.
Result<MapPlan> plan_maps(const Request& request, std::span<const std::string> distorted,
                          std::span<const MetricChoice> metrics, std::span<const std::string> inputs);

/// The name of one map.
std::string map_path(const std::string& pattern, const std::string& distorted, const std::string& metric_label);

/// Writes the map and says, for people, how its values are shown.
Result<std::string> write_map(const std::string& path, const MetricInfo& metric, const DifferenceMap& map,
                              std::span<const float> context, const MapColours& colours);

}  // namespace acuity::cli

#endif
