// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/psnr_hvs/feature.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/powers.h"
#include "base/try.h"
#include "frames/frame_checks.h"
#include "frames/frame_rows.h"
#include "metrics/psnr_hvs/cpu.h"

namespace acuity {
namespace {

using psnr_hvs::VisibleError;

// Where no error can be seen the ratio is infinite, which is no score. It is 200 dB at most.
double decibels(double error) { return 10 * -libm_log10(std::max(error, 1e-20)); }

class PsnrHvsWorker final : public FeatureWorker {
 public:
  explicit PsnrHvsWorker(VisibleError error) : error_(std::move(error)) {}
  size_t bytes() const override { return error_.bytes(); }

  Status measure(const FrameWindow& window, std::span<double> values) override {
    std::array<double, 3> errors;
    const FrameView &reference = *window.reference[0], &distorted = *window.distorted[0];
    const FrameView reference_chroma = with_even_chroma(reference), distorted_chroma = with_even_chroma(distorted);
    errors[0] = static_cast<double>(error_.mean(reference, distorted, 0));
    errors[1] = static_cast<double>(error_.mean(reference_chroma, distorted_chroma, 1));
    errors[2] = static_cast<double>(error_.mean(reference_chroma, distorted_chroma, 2));
    for (size_t p = 0; p < 3; ++p) values[p] = decibels(errors[p]);
    values[3] = decibels(errors[0] * 0.8 + 0.1 * (errors[1] + errors[2]));
    return {};
  }

 private:
  VisibleError error_;
};

class PsnrHvs final : public Feature {
 public:
  explicit PsnrHvs(int width) : width_(width) {}

  const std::vector<FeatureOutput>& outputs() const override { return outputs_; }
  size_t headline() const override { return 3; }

  Result<std::unique_ptr<FeatureWorker>> create_worker() const override {
    Result<VisibleError> error = VisibleError::create(width_);
    if (!error.ok()) return error.status();
    return std::unique_ptr<FeatureWorker>(std::make_unique<PsnrHvsWorker>(std::move(*error)));
  }

 private:
  int width_;
  std::vector<FeatureOutput> outputs_{{"psnr_hvs_y"}, {"psnr_hvs_cb"}, {"psnr_hvs_cr"}, {"psnr_hvs"}};
};

Result<std::unique_ptr<Feature>> create_psnr_hvs(const Feature::Setup& setup) {
  ACUITY_TRY(check_depth("psnr_hvs", setup, {8, 9, 10, 11, 12}));
  ACUITY_TRY(check_chroma("psnr_hvs", setup));
  // The colour planes have to hold a block too.
  const bool halved = setup.format.subsampling != Subsampling::yuv444;
  ACUITY_TRY(check_sides("psnr_hvs", setup, halved ? 2 * psnr_hvs::kBlock : psnr_hvs::kBlock));
  return std::unique_ptr<Feature>(std::make_unique<PsnrHvs>(setup.format.width));
}

}  // namespace

FeatureEntry psnr_hvs_entry() {
  return {.info = {.name = "psnr_hvs",
                   .version = "libvmaf 3.2.0",
                   .title = "PSNR of what of an error can be seen in blocks of 8 x 8 pixels, in dB",
                   .better = Better::higher,
                   .identical = 200,
                   .minimum_side = psnr_hvs::kBlock,
                   .alpha_rule = ""},
          .create = create_psnr_hvs};
}

}  // namespace acuity
