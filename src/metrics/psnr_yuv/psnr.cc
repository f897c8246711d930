// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "base/powers.h"
#include "base/try.h"
#include "metrics/frame_checks.h"
#include "metrics/frame_rows.h"
#include "metrics/psnr_yuv/feature.h"
#include "metrics/psnr_yuv/sums.h"

namespace acuity {
namespace {

constexpr std::array<const char*, 3> kPlaneNames{"y", "cb", "cr"};

struct Plane {
  double pixels = 0;
  double most = 0;  // the largest PSNR there is
};

// What a worker needs to know.
struct Form {
  double peak_squared = 0;
  bool mse = false;
  bool apsnr = false;
  std::vector<Plane> planes;
};

class PsnrWorker final : public FeatureWorker {
 public:
  explicit PsnrWorker(Form form) : form_(std::move(form)) {}
  size_t bytes() const override { return 0; }

  Status measure(const FrameWindow& window, std::span<double> values) override {
    auto next = values.begin();
    auto sums = values.end() - static_cast<ptrdiff_t>(form_.apsnr ? form_.planes.size() : 0);
    const FrameView &reference = *window.reference[0], &distorted = *window.distorted[0];
    for (size_t p = 0; p < form_.planes.size(); ++p) {
      const int plane = static_cast<int>(p);
      const double sum = static_cast<double>(
          p == 0 ? psnr_yuv::squared_differences(reference, distorted, plane)
                 : psnr_yuv::squared_differences(with_even_chroma(reference), with_even_chroma(distorted), plane));
      const double mse = sum / form_.planes[p].pixels;
      *next++ = std::min(10 * libm_log10(form_.peak_squared / std::max(mse, 1e-16)), form_.planes[p].most);
      if (form_.mse) *next++ = mse;
      if (form_.apsnr) *sums++ = sum;
    }
    return {};
  }

 private:
  Form form_;
};

class Psnr final : public Feature {
 public:
  explicit Psnr(const Setup& setup) {
    const bool reduced = is_on(setup.options, "reduced_hbd_peak");
    const double peak = reduced ? 255.0 * (1 << (setup.depth - 8)) : (1 << setup.depth) - 1;
    form_.peak_squared = peak * peak;
    form_.mse = is_on(setup.options, "enable_mse");
    form_.apsnr = is_on(setup.options, "enable_apsnr");
    FrameView format;
    format.width = setup.width;
    format.height = setup.height;
    format.subsampling = setup.subsampling;
    const int planes = is_on(setup.options, "enable_chroma") ? format.planes_count() : 1;
    for (int p = 0; p < planes; ++p) {
      const FrameView shape = p == 0 ? format : with_even_chroma(format);
      const double pixels = static_cast<double>(shape.plane_width(p)) * shape.plane_height(p);
      form_.planes.push_back({pixels, most(setup, pixels)});
      const std::string name = kPlaneNames[static_cast<size_t>(p)];
      outputs_.push_back({"psnr_" + name});
      if (form_.mse) outputs_.push_back({"mse_" + name});
    }
  }

  const std::vector<FeatureOutput>& outputs() const override { return outputs_; }
  // For the PSNR of the whole sequence, the sums of the squared errors as well.
  size_t value_count() const override { return outputs_.size() + (form_.apsnr ? form_.planes.size() : 0); }

  Result<std::unique_ptr<FeatureWorker>> create_worker() const override {
    return std::unique_ptr<FeatureWorker>(std::make_unique<PsnrWorker>(form_));
  }

  std::vector<NamedValue> aggregates(const FeatureSeries& series) const override {
    std::vector<NamedValue> result;
    if (!form_.apsnr || series.front().empty()) return result;
    for (size_t p = 0; p < form_.planes.size(); ++p) {
      double sum = 0;
      for (const double frame : series[outputs_.size() + p]) sum += frame;
      const double pixels = form_.planes[p].pixels * static_cast<double>(series.front().size());
      const double largest = std::ceil(10 * libm_log10(form_.peak_squared * pixels * 2));
      const double apsnr =
          sum == 0 ? largest : 10 * (libm_log10(form_.peak_squared) + libm_log10(pixels) - libm_log10(sum));
      result.push_back({std::string("apsnr_") + kPlaneNames[p], std::min(apsnr, largest)});
    }
    return result;
  }

 private:
  double most(const Setup& setup, double pixels) const {
    const double least_sum = *setup.options.number("min_sse");
    if (least_sum == 0) return 6 * setup.depth + 12;
    return std::ceil(10 * libm_log10(form_.peak_squared / (least_sum / pixels)));
  }

  Form form_;
  std::vector<FeatureOutput> outputs_;
};

Result<std::unique_ptr<Feature>> create_psnr(const Feature::Setup& setup) {
  ACUITY_TRY(check_depth("psnr", setup, {8, 10, 12, 16}));
  const bool halved = setup.subsampling == Subsampling::yuv420 || setup.subsampling == Subsampling::yuv422;
  if (halved && is_on(setup.options, "enable_chroma")) ACUITY_TRY(check_sides("psnr", setup, 2));
  return std::unique_ptr<Feature>(std::make_unique<Psnr>(setup));
}

}  // namespace

FeatureEntry psnr_yuv_entry() {
  MetricInfo info{.name = "psnr",
                  .version = "libvmaf 3.2.0",
                  .title = "peak signal-to-noise ratio of the planes of frames, in dB",
                  .better = Better::higher,
                  .identical_says = "60 where samples have 8 bits, 72 for 10, 84 for 12, 108 for 16",
                  .alpha_rule = ""};
  info.options = {switch_option("enable_chroma", "", "the colour planes as well", true),
                  switch_option("enable_mse", "", "the mean squared errors as well", false),
                  switch_option("enable_apsnr", "", "the ratio of the whole sequence as well", false),
                  switch_option("reduced_hbd_peak", "", "above 8 bits, take 255 as the peak, scaled", false),
                  {.name = "min_sse",
                   .help = "the sum of squared errors that gives the largest ratio there is; 0: as the depth has it",
                   .otherwise = "0",
                   .least = 0,
                   .most = std::numeric_limits<double>::max()}};
  return {.info = std::move(info), .create = create_psnr};
}

}  // namespace acuity
