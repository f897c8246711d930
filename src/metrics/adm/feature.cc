// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/adm/feature.h"

#include <cmath>

#include <fmt/format.h>

#include "base/try.h"
#include "lang/targets.h"
#include "metrics/adm/csf.h"
#include "metrics/adm/gpu.h"
#include "metrics/adm/integer_scale.h"
#include "metrics/adm/outputs.h"
#include "metrics/adm/scaled_feature.h"
#include "frames/feature_options.h"
#include "frames/frame_checks.h"

namespace acuity {
namespace adm {
namespace {

// What adm_csf_mode may be besides 2, a blend of these.
constexpr int kWatson = 0, kBarten = 1, kBlendMae = 3;

// Details of closer views do not fit the 16-bit arithmetic.
constexpr double kLeastHeights = 3.0 * 1080;

Status usage(std::string message) { return Status(StatusCode::usage, std::move(message)); }

const MetricInfo& info() {
  static const MetricInfo info = [] {
    MetricInfo made{
        .name = "adm",
        .version = "libvmaf 3.2.0",
        .title = "Detail loss and additive impairments, in whole numbers",
        .better = Better::higher,
        .identical_says = "1, up to 0.001 less or more by rounding, and less in some frames up to 532 pixels wide",
        .minimum_side = kLeastSide,
        .alpha_rule = "",
        .options = common_options()};
    made.options.push_back(whole_option("adm_ref_display_height", "rdh", "rows of the display", "1080", 1, 4320));
    made.options.push_back(whole_option("adm_csf_mode", "csf",
                                        "contrast sensitivity: 0 Watson, 1 Barten, 2 and 3 blends of them", "0", 0, 3));
    made.options.push_back(switch_option("adm_skip_aim", "", "leave added details out; aim is 0 then", false));
    return made;
  }();
  return info;
}

Result<Sensitivities> sensitivities_of(const OptionValues& options) {
  const Viewing viewing = viewing_of(options);
  if (viewing.distance * viewing.height < kLeastHeights) {
    return usage(
        fmt::format("adm is set to a display of {} rows seen from {} times its height, and whole numbers hold only "
                    "what is seen from "
                    "{} rows and more; set adm_norm_view_dist or adm_ref_display_height higher, or use float_adm",
                    viewing.height, viewing.distance, kLeastHeights));
  }
  const auto mode = static_cast<int>(*options.number("adm_csf_mode"));
  Sensitivities result = watson_sensitivities(viewing);
  if (mode == kBarten) {
    result = barten_sensitivities(viewing, *options.number("adm_csf_scale"), *options.number("adm_csf_diag_scale"));
  } else if (mode != kWatson) {
    const std::optional<Sensitivities> blend = blended_sensitivities(viewing, mode == kBlendMae);
    if (!blend) {
      return usage(
          fmt::format("adm_csf_mode={} knows displays of 1080 rows seen from 3 or 5 times their height, of 2160 "
                      "from 1.5, 3 or 5, and of 720 from 5, but adm is set to {} rows from {}; use one of those, or "
                      "adm_csf_mode=0",
                      mode, viewing.height, viewing.distance));
    }
    result = *blend;
  }
  // They become whole numbers: of 16 bit, after 21 or 23 bits behind the point, for scale 0, and of 32 for the others.
  for (size_t s = 0; s < kScales; ++s) {
    const float straight = s == 0 ? 0x1p-5f : 1, diagonal = s == 0 ? 0x1p-7f : 1;
    if (result[s].straight < straight && result[s].diagonal < diagonal) continue;
    return usage(
        fmt::format("the contrast sensitivity of scale {} comes to {} for straight and {} for diagonal details, "
                    "and whole numbers hold less than {} and {}; set adm_csf_scale and adm_csf_diag_scale lower, "
                    "or use float_adm",
                    s, result[s].straight, result[s].diagonal, straight, diagonal));
  }
  return result;
}

class Adm final : public ScaledFeature<IntegerScale, IntegerOptions> {
 public:
  Adm(const Plan<IntegerOptions>& plan, const Feature::Setup& setup)
      : ScaledFeature(plan, output_list(info(), setup.options, true)), frame_(setup.format) {}

  Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device) const override {
    return adm::create_device_worker(device, plan(), frame_);
  }

 private:
  FrameShape frame_;
};

Result<std::unique_ptr<Feature>> create(const Feature::Setup& setup) {
  ACUITY_TRY(prepare_cpu());
  ACUITY_TRY(check_sides("adm", setup, kLeastSide));
  Result<Sensitivities> sensitivities = sensitivities_of(setup.options);
  if (!sensitivities.ok()) return sensitivities.status();
  const Viewing viewing = viewing_of(setup.options);
  const bool usual = std::abs(viewing.distance * viewing.height - kLeastHeights) < 1e-8 &&
                     *setup.options.number("adm_csf_mode") == kWatson;
  const Plan<IntegerOptions> plan{.width = setup.format.width,
                                  .height = setup.format.height,
                                  .options = {.sensitivities = *sensitivities,
                                              .usual_viewing = usual,
                                              .gain = *setup.options.number("adm_enhn_gain_limit"),
                                              .noise_weight = *setup.options.number("adm_noise_weight"),
                                              .skip_aim = is_on(setup.options, "adm_skip_aim"),
                                              .skip_scale0 = is_on(setup.options, "adm_skip_scale0")},
                                  .combination = combination_of(setup.options)};
  return std::unique_ptr<Feature>(std::make_unique<Adm>(plan, setup));
}

}  // namespace
}  // namespace adm

FeatureEntry adm_entry() { return {.info = adm::info(), .create = adm::create, .on_gpu = true, .cpu_ns = 1.6}; }

}  // namespace acuity
