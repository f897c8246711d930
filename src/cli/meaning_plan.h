// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the options say of what samples mean.
#ifndef ACUITY_CLI_MEANING_PLAN_H
#define ACUITY_CLI_MEANING_PLAN_H

#include <vector>

#include "acuity/status.h"
#include "cli/request.h"
#include "media/meaning.h"

namespace acuity::cli {

/// Those that say what the samples of a side mean; each has one value for both sides or two with a comma between.
const std::vector<Option>& sample_options();
/// Those that say how two sides with different meanings are compared.
const std::vector<Option>& comparison_options();

Result<MeaningOptions> plan_meaning(const Request& request);

}  // namespace acuity::cli

#endif
