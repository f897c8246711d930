// SPDX-License-Identifier: BSD-2-Clause-Patent
// The names of all outputs that a metric may have, known before the first score, so that columns never shift.
#ifndef ACUITY_CLI_OUTPUT_NAMES_H
#define ACUITY_CLI_OUTPUT_NAMES_H

#include <string>
#include <vector>

#include "acuity/status.h"
#include "cli/lists.h"

namespace acuity::cli {

/// Found by scoring two drawn pictures that are large enough for every scale; of cvvdp by what the display can show. A
/// smaller picture has some of them.
Result<std::vector<std::string>> output_names(const MetricChoice& metric);

}  // namespace acuity::cli

#endif
