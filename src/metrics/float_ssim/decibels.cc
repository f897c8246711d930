// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_ssim/decibels.h"

#include <algorithm>
#include <cmath>

#include "base/powers.h"

namespace acuity::float_ssim {

std::vector<MetricOption> shared_options(const std::string& name) {
  return {switch_option("enable_lcs", "", "luminance, contrast and structure too", false),
          switch_option("enable_db", "", name + " in decibels: -10 log10(1 - similarity)", false),
          switch_option("clip_db", "", "decibels end at what half a step in one sample would be", false)};
}

Decibels::Decibels(const Feature::Setup& setup)
    : wanted_(is_on(setup.options, "enable_db")), clipped_(is_on(setup.options, "clip_db")) {
  const double peak = (1 << setup.format.depth) - 1;
  const double least_error = 0.5 / (static_cast<double>(setup.format.width) * setup.format.height);
  most_ = std::ceil(10.0 * libm_log10(peak * peak / least_error));
}

double Decibels::of(double similarity) const {
  if (!wanted_) return similarity;
  // Infinitely many are no score. Rounding can take a similarity past 1.
  if (similarity >= 1) return most_;
  const double decibels = -10.0 * libm_log10(1.0 - similarity);
  return clipped_ ? std::min(decibels, most_) : decibels;
}

}  // namespace acuity::float_ssim
