// SPDX-License-Identifier: BSD-2-Clause-Patent
// How a scale of ADM in whole numbers rounds, and what its sums come to: the same on the CPU and on devices.
#ifndef ACUITY_METRICS_ADM_SCALE_RULES_H
#define ACUITY_METRICS_ADM_SCALE_RULES_H

#include "metrics/adm/csf.h"
#include "metrics/adm/decouple.h"
#include "metrics/adm/masking.h"
#include "metrics/adm/outputs.h"
#include "metrics/adm/scales.h"

namespace acuity::adm {

struct IntegerOptions {
  Sensitivities sensitivities{};
  bool usual_viewing = false;  // whose factors of scale 0 libvmaf has as constants
  double gain = 100;
  double noise_weight = 0.03125;
  bool skip_aim = false;
  bool skip_scale0 = false;
};

struct ScaleRules {
  DecoupleRule decouple;
  ShortMaskRule short_mask;       // of scale 0
  CubeRule long_mask, reference;  // of the others
  // Cut off the sums of each row, rounded.
  int reference_row_bits = 0;
  int mask_row_bits = 0;
};
ScaleRules scale_rules(int index, const ScaleShape& shape, const IntegerOptions& options);

void add_rounded(const SubbandSums& row, int bits, SubbandSums& sums);

/// Over all rows: third powers of the reference's details, of what is visible of the restored part and of the added.
struct ScaleSums {
  SubbandSums reference{}, kept{}, added{};
};
ScaleNumbers conclude_scale(int index, const ScaleShape& shape, const IntegerOptions& options, const ScaleRules& rules,
                            const ScaleSums& sums);

}  // namespace acuity::adm

#endif
