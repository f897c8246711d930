// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_vif/feature.h"

#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/try.h"
#include "engine/device_feature.h"
#include "lang/targets.h"
#include "frames/feature_options.h"
#include "metrics/float_vif/worker.h"
#include "frames/frame_checks.h"
#include "frames/gaussian_windows.h"
#include "metrics/vif/scores.h"

namespace acuity {
namespace {

using float_vif::Noise;
using float_vif::Parameters;

constexpr int kWidestBilinear = 7680;  // libvmaf's limit

MetricInfo info() {
  const char* const floor_help = "the minimum of the scale's value";
  return {.name = "float_vif",
          .version = "libvmaf 3.2.0",
          .title = "visual information fidelity in floats (luma, four scales)",
          .identical_says = "1, or up to 0.0001 less by rounding",
          .minimum_side = 16,
          .alpha_rule = "frames of video have none",
          .options = {vif::gain_limit_option(),
                      number_option("vif_kernelscale", "ks", "how much wider the windows are", "1", 0.1, 4),
                      number_option("vif_prescale", "ps", "factor by which frames are scaled first", "1", 0.1, 4),
                      number_option("vif_scale1_min_val", "s1miv", floor_help, "0", 0, 1),
                      number_option("vif_scale2_min_val", "s2miv", floor_help, "0", 0, 1),
                      number_option("vif_scale3_min_val", "s3miv", floor_help, "0", 0, 1),
                      word_option("vif_prescale_method", "pm", "how frames are scaled first",
                                  {"nearest", "bilinear", "bicubic", "lanczos4"}),
                      number_option("vif_sigma_nsq", "snsq", "the variance of the eye's noise", "2", 0, 5),
                      vif::skip_option()}};
}

Noise noise_of(double variance, double gain_limit) {
  Noise noise{.variance = variance, .gain_limit = static_cast<float>(gain_limit)};
  int exponent = 0;
  noise.inverse = std::frexp(variance, &exponent) == 0.5 ? 1 / variance : 0;
  noise.quiet = static_cast<float>(variance);
  if (static_cast<double>(noise.quiet) < variance) {
    noise.quiet = std::nextafter(noise.quiet, std::numeric_limits<float>::infinity());
  }
  const auto rounded = static_cast<double>(static_cast<float>(variance));
  noise.flat_factor = static_cast<float>(static_cast<double>(static_cast<float>(rounded * rounded)) / (255.0 * 255.0));
  return noise;
}

class FloatVif final : public Feature {
 public:
  FloatVif(Parameters parameters, const OptionValues& options)
      : parameters_(std::move(parameters)), outputs_(vif::outputs("VMAF_feature_", "", info(), options)) {}

  const std::vector<FeatureOutput>& outputs() const override { return outputs_; }
  size_t headline() const override { return vif::kHeadline; }
  Result<std::unique_ptr<FeatureWorker>> create_worker() const override {
    return float_vif::create_worker(parameters_);
  }

  bool reads(Role, int plane) const override { return plane == 0; }
  Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device) const override {
    return float_vif::create_device_worker(device, parameters_);
  }

 private:
  const Parameters parameters_;
  const std::vector<FeatureOutput> outputs_;
};

Result<std::unique_ptr<Feature>> create(const Feature::Setup& setup) {
  ACUITY_TRY(prepare_cpu());
  const auto option = [&](const char* name) { return *setup.options.number(name); };
  const double scale = option("vif_prescale"), kernel_scale = option("vif_kernelscale");
  ACUITY_TRY(check_depth("float_vif", setup, {8, 10, 12, 16}));
  if (!is_kernel_scale(kernel_scale)) {
    return Status(StatusCode::usage, fmt::format("float_vif has no windows for vif_kernelscale={:g}; use one of {}",
                                                 kernel_scale, kernel_scales()));
  }
  Parameters parameters;
  parameters.width = setup.format.width;
  parameters.height = setup.format.height;
  parameters.scaled_width = static_cast<int>(setup.format.width * scale + 0.5);
  parameters.scaled_height = static_cast<int>(setup.format.height * scale + 0.5);
  parameters.scaling = setup.options.text("vif_prescale_method");
  parameters.noise = noise_of(option("vif_sigma_nsq"), option("vif_enhn_gain_limit"));
  parameters.skip_scale0 = is_on(setup.options, "vif_skip_scale0");
  parameters.least = {std::numeric_limits<double>::lowest(), option("vif_scale1_min_val"), option("vif_scale2_min_val"),
                      option("vif_scale3_min_val")};
  std::array<int, 4> radius{};
  for (size_t i = 0; i < 4; ++i) {
    parameters.kernels[i] = float_vif::kernel_of(static_cast<int>(i), static_cast<float>(kernel_scale));
    radius[i] = parameters.kernels[i].radius();
  }
  Feature::Setup scaled = setup;
  scaled.format.width = parameters.scaled_width;
  scaled.format.height = parameters.scaled_height;
  ACUITY_TRY(check_sides("float_vif", scaled, vif::least_side(radius)));
  if (parameters.scaling == "bilinear" && parameters.scaled_width > kWidestBilinear) {
    return Status(StatusCode::usage,
                  fmt::format("frames would be scaled to a width of {}, and bilinear scaling of float_vif stops at {}; "
                              "use another vif_prescale_method or a smaller vif_prescale",
                              parameters.scaled_width, kWidestBilinear));
  }
  return std::unique_ptr<Feature>(std::make_unique<FloatVif>(std::move(parameters), setup.options));
}

}  // namespace

FeatureEntry float_vif_entry() { return {.info = info(), .create = create, .on_gpu = true, .cpu_ns = 12}; }

}  // namespace acuity
