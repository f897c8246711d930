// SPDX-License-Identifier: BSD-2-Clause-Patent
// CAMBI's maps, which the metric writes itself: its option heatmaps_path names a folder.
#ifndef ACUITY_CLI_HEATMAPS_H
#define ACUITY_CLI_HEATMAPS_H

#include <span>
#include <string>

#include "acuity/score.h"
#include "acuity/status.h"

namespace acuity::cli {

/// Whether none of the maps that those options ask for would take the place of an input.
Status check_heatmaps(std::span<const OptionValue> options, std::span<const std::string> inputs);

/// A refusal if those options ask for maps: several videos would write the same files.
Status refuse_heatmaps(std::span<const OptionValue> options);

}  // namespace acuity::cli

#endif
