// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_adm/feature.h"

#include <fmt/format.h>

#include "base/try.h"
#include "lang/targets.h"
#include "metrics/adm/csf.h"
#include "metrics/adm/outputs.h"
#include "metrics/adm/scaled_feature.h"
#include "metrics/adm/scales.h"
#include "frames/feature_options.h"
#include "metrics/float_adm/gpu.h"
#include "metrics/float_adm/scale.h"
#include "frames/frame_checks.h"

namespace acuity {
namespace float_adm {
namespace {

// What adm_csf_mode may be besides 0 and 3 to 9, which are Watson's model.
constexpr int kBarten = 1, kNative = 2;

std::string factor_name(int direction, int scale) { return fmt::format("adm_f{}s{}", direction, scale); }

const MetricInfo& info() {
  static const MetricInfo info = [] {
    MetricInfo made{.name = "float_adm",
                    .version = "libvmaf 3.2.0",
                    .title = "Detail loss and additive impairments, in float",
                    .better = Better::higher,
                    .identical = 1,
                    .minimum_side = adm::kLeastSide,
                    .alpha_rule = "",
                    .options = adm::common_options()};
    std::vector<MetricOption>& options = made.options;
    options.push_back(whole_option("adm_ref_display_height", "rdf", "rows of the display", "1080", 1, 4320));
    options.push_back(whole_option(
        "adm_csf_mode", "csf", "contrast sensitivity: 1 Barten, 2 that of the paper on ADM, others Watson", "0", 0, 9));
    options.push_back(whole_option("adm_bypass_cm", "bcm", "1: details do not mask each other", "0", 0, 1));
    options.push_back(switch_option("adm_adm3_apply_hm", "aah", "adm3 is the harmonic mean of adm2 and aim", false));
    options.back().in_names = true;
    options.push_back(number_option("adm_p_norm", "apn", "exponent of the sums over details", "3", 1, 20));
    for (int direction = 1; direction <= 2; ++direction) {
      for (int scale = 0; scale < adm::kScales; ++scale) {
        options.push_back(
            number_option(factor_name(direction, scale), fmt::format("f{}s{}", direction, scale),
                          fmt::format("sensitivity to {} details of scale {}; negative: that of the model",
                                      direction == 1 ? "straight" : "diagonal", scale),
                          "-1", -1, 10));
      }
    }
    options.push_back(whole_option("adm_skip_aim_scale", "sasc", "leave this scale out of aim; -1: none", "-1", -1, 3));
    return made;
  }();
  return info;
}

adm::Sensitivities sensitivities_of(const OptionValues& options) {
  const adm::Viewing viewing = adm::viewing_of(options);
  const auto mode = static_cast<int>(*options.number("adm_csf_mode"));
  adm::Sensitivities result = mode == kNative ? adm::native_sensitivities(viewing) : adm::watson_sensitivities(viewing);
  if (mode == kBarten) {
    result =
        adm::barten_sensitivities(viewing, *options.number("adm_csf_scale"), *options.number("adm_csf_diag_scale"));
  }
  for (int scale = 0; scale < adm::kScales; ++scale) {
    const double straight = *options.number(factor_name(1, scale)), diagonal = *options.number(factor_name(2, scale));
    adm::Sensitivity& sensitivity = result[static_cast<size_t>(scale)];
    if (straight >= 0) sensitivity.straight = static_cast<float>(straight);
    if (diagonal >= 0) sensitivity.diagonal = static_cast<float>(diagonal);
  }
  return result;
}

class FloatAdm final : public adm::ScaledFeature<Scale, Options> {
 public:
  using ScaledFeature::ScaledFeature;
  Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device) const override {
    return float_adm::create_device_worker(device, plan());
  }
};

Result<std::unique_ptr<Feature>> create(const Feature::Setup& setup) {
  ACUITY_TRY(prepare_cpu());
  ACUITY_TRY(check_sides("float_adm", setup, adm::kLeastSide));
  const OptionValues& options = setup.options;
  adm::Plan<Options> plan{.width = setup.format.width,
                          .height = setup.format.height,
                          .options = {.sensitivities = sensitivities_of(options),
                                      .gain = *options.number("adm_enhn_gain_limit"),
                                      .noise_weight = *options.number("adm_noise_weight"),
                                      .exponent = *options.number("adm_p_norm"),
                                      .no_masking = *options.number("adm_bypass_cm") == 1,
                                      .skip_scale0 = is_on(options, "adm_skip_scale0")},
                          .combination = adm::combination_of(options)};
  plan.combination.harmonic = is_on(options, "adm_adm3_apply_hm");
  plan.combination.skipped_scale = static_cast<int>(*options.number("adm_skip_aim_scale"));
  plan.combination.added_up_to_1 = true;
  return std::unique_ptr<Feature>(std::make_unique<FloatAdm>(plan, adm::output_list(info(), options, false)));
}

}  // namespace
}  // namespace float_adm

FeatureEntry float_adm_entry() {
  return {.info = float_adm::info(), .create = float_adm::create, .on_gpu = true, .cpu_ns = 6};
}

}  // namespace acuity
