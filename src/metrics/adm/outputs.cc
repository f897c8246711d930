// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/adm/outputs.h"

#include <algorithm>

#include <fmt/format.h>

#include "frames/feature_options.h"

namespace acuity::adm {
namespace {

// Where the reference has no details at all, none were lost.
double ratio(double part, double whole) { return whole == 0 ? 1 : part / whole; }

}  // namespace

std::vector<MetricOption> common_options() {
  std::vector<MetricOption> options{
      number_option("adm_csf_scale", "scf", "factor of the sensitivity to straight details, in Barten's model", "1", 0,
                    50),
      number_option("adm_csf_diag_scale", "scfd", "factor of the sensitivity to diagonal details, in Barten's model",
                    "1", 0, 50),
      number_option("adm_dlm_weight", "dlmw",
                    "weight in adm3 of details that were kept; the rest is that of added ones", "0.5", 0, 1),
      number_option("adm_enhn_gain_limit", "egl", "how often stronger details may have become to count as kept", "100",
                    1, 100),
      number_option("adm_norm_view_dist", "nvd", "viewing distance in heights of the display", "3", 0.75, 24),
      number_option("adm_noise_weight", "nw", "weight of the noise that is always there", "0.03125", 0, 1500),
      switch_option("adm_skip_scale0", "ssz", "leave the finest scale out", false),
      number_option("adm_min_val", "min", "adm3 is at least this", "0", 0, 1)};
  for (MetricOption& option : options) option.in_names = true;
  return options;
}

Viewing viewing_of(const OptionValues& options) {
  return {*options.number("adm_norm_view_dist"), static_cast<int>(*options.number("adm_ref_display_height"))};
}

Combination combination_of(const OptionValues& options) {
  return {.kept_weight = *options.number("adm_dlm_weight"), .least = *options.number("adm_min_val")};
}

std::vector<FeatureOutput> output_list(const MetricInfo& info, const OptionValues& options, bool integer) {
  std::vector<FeatureOutput> list;
  const auto add = [&](std::string_view name, bool debug_only) {
    list.push_back({output_name(name, info, options), debug_only});
  };
  const std::string_view prefix = integer ? "VMAF_integer_feature_" : "VMAF_feature_";
  for (const char* name : {"adm2", "aim", "adm3"}) add(fmt::format("{}{}_score", prefix, name), false);
  for (int s = 0; s < kScales; ++s) {
    add(integer ? fmt::format("integer_adm_scale{}", s) : fmt::format("VMAF_feature_adm_scale{}_score", s), false);
  }
  const std::string_view debug_prefix = integer ? "integer_adm" : "adm";
  if (integer) {
    add(debug_prefix, true);
  } else {
    list.push_back({std::string(debug_prefix), true});  // libvmaf leaves the options out of this one
  }
  for (const char* name : {"num", "den"}) add(fmt::format("{}_{}", debug_prefix, name), true);
  for (int s = 0; s < kScales; ++s) {
    for (const char* name : {"num", "den"}) add(fmt::format("{}_{}_scale{}", debug_prefix, name, s), true);
  }
  return list;
}

void combine(const std::array<ScaleNumbers, kScales>& scales, int width, int height, const Combination& combination,
             std::span<double> values) {
  double kept = 0, reference = 0, added = 0, added_reference = 0;
  for (int s = 0; s < kScales; ++s) {
    const ScaleNumbers& scale = scales[static_cast<size_t>(s)];
    kept += static_cast<double>(scale.kept);
    reference += static_cast<double>(scale.reference);
    if (s == combination.skipped_scale) continue;
    added += static_cast<double>(scale.added);
    added_reference += static_cast<double>(scale.reference);
  }
  const double nothing = 1e-10 * (static_cast<double>(width) * height) / (1920.0 * 1080.0);
  if (kept < nothing) kept = 0;
  if (reference < nothing) reference = 0;

  const double adm2 = ratio(kept, reference);
  double aim = reference == 0 || added_reference == 0 ? 0 : added / added_reference;
  if (combination.added_up_to_1) aim = std::min(aim, 1.0);
  const double weight = combination.kept_weight;
  const double mean = combination.harmonic ? 2 * adm2 * aim / (adm2 + aim) : adm2 * weight + (1 - aim) * (1 - weight);
  const double adm3 = mean > combination.least ? mean : combination.least;  // also where both are 0

  size_t at = 0;
  for (const double value : {adm2, aim, adm3}) values[at++] = value;
  for (const ScaleNumbers& scale : scales) {
    values[at++] = ratio(static_cast<double>(scale.kept), static_cast<double>(scale.reference));
  }
  for (const double value : {adm2, kept, reference}) values[at++] = value;
  for (const ScaleNumbers& scale : scales) {
    values[at++] = static_cast<double>(scale.kept);
    values[at++] = static_cast<double>(scale.reference);
  }
}

}  // namespace acuity::adm
