// SPDX-License-Identifier: BSD-2-Clause-Patent
// How the two pictures of a task are made comparable, as the options of the command state it.
#ifndef ACUITY_SCHEDULE_PAIR_RULES_H
#define ACUITY_SCHEDULE_PAIR_RULES_H

#include <optional>

#include "media/crop.h"
#include "media/meaning.h"
#include "media/video.h"

namespace acuity {

struct PairRules {
  MeaningOptions meaning{};
  std::optional<Crop> crop_reference{};  // before scaling
  std::optional<Crop> crop_distorted{};
  std::optional<bool> scale_reference{};  // which side is brought to the size of the other; none: neither
  Scaler scaler = Scaler::bicubic;
};

}  // namespace acuity

#endif
