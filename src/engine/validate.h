// SPDX-License-Identifier: BSD-2-Clause-Patent
// Everything that can be wrong with a view is found here, once, so that no metric has to look.
#ifndef ACUITY_ENGINE_VALIDATE_H
#define ACUITY_ENGINE_VALIDATE_H

#include <string_view>

#include "acuity/image.h"
#include "acuity/scorer.h"
#include "acuity/status.h"
#include "base/threads.h"
#include "engine/options.h"

namespace acuity {

/// `role` is "reference" or "distorted", for messages.
Status validate_view(const ImageView& view, std::string_view role, int width, int height, const Threads& threads);

/// Whether a metric with these options can work on pictures of this size at all.
Status validate_size(const MetricInfo& metric, const OptionValues& options, int width, int height);

}  // namespace acuity

#endif
