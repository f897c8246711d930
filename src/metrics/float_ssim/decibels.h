// SPDX-License-Identifier: BSD-2-Clause-Patent
// Similarity in decibels, as libvmaf writes it with enable_db.
#ifndef ACUITY_METRICS_FLOAT_SSIM_DECIBELS_H
#define ACUITY_METRICS_FLOAT_SSIM_DECIBELS_H

#include <string>
#include <vector>

#include "engine/feature.h"

namespace acuity::float_ssim {

/// The options both features have.
std::vector<MetricOption> shared_options(const std::string& name);

class Decibels {
 public:
  explicit Decibels(const Feature::Setup& setup);
  /// The score as it was asked for.
  double of(double similarity) const;

 private:
  bool wanted_, clipped_;
  double most_;
};

}  // namespace acuity::float_ssim

#endif
