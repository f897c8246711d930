// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/psnr_hvs/feature.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "base/powers.h"
#include "base/try.h"
#include "frames/frame_checks.h"
#include "frames/frame_rows.h"
#include "metrics/psnr_hvs/cpu.h"
#include "metrics/psnr_hvs/gpu.h"

namespace acuity {
namespace {

using psnr_hvs::DeviceVisibleError;
using psnr_hvs::VisibleError;

// Where no error can be seen the ratio is infinite, which is no score. It is 200 dB at most.
double decibels(double error) { return 10 * -libm_log10(std::max(error, 1e-20)); }

// What the errors of the planes come to.
void conclude_errors(const std::array<double, 3>& errors, std::span<double> values) {
  for (size_t p = 0; p < 3; ++p) values[p] = decibels(errors[p]);
  values[3] = decibels(errors[0] * 0.8 + 0.1 * (errors[1] + errors[2]));
}

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
    conclude_errors(errors, values);
    return {};
  }

 private:
  VisibleError error_;
};

class PsnrHvsDeviceWorker final : public DeviceFeatureWorker {
 public:
  explicit PsnrHvsDeviceWorker(DeviceVisibleError error) : error_(std::move(error)) {}
  size_t bytes() const override { return error_.bytes(); }
  size_t scratch_bytes() const override { return error_.scratch_bytes(); }
  size_t result_bytes() const override { return 4 * sizeof(float); }

  Status submit(Queue& queue, const DeviceWindow& window, uint64_t results) override {
    return error_.submit(queue, window, results);
  }

  Status finish(std::span<const std::byte> results, std::span<double> numbers) override {
    std::array<float, 3> sums{};
    std::memcpy(sums.data(), results.data(), sizeof sums);
    std::array<double, 3> errors;
    for (int p = 0; p < 3; ++p) {
      const auto at = static_cast<size_t>(p);
      errors[at] = static_cast<double>(error_.mean(sums[at], p));
    }
    conclude_errors(errors, numbers);
    return {};
  }

 private:
  DeviceVisibleError error_;
};

class PsnrHvs final : public Feature {
 public:
  explicit PsnrHvs(const FrameShape& shape) : shape_(shape) {}

  const std::vector<FeatureOutput>& outputs() const override { return outputs_; }
  size_t headline() const override { return 3; }

  Result<std::unique_ptr<FeatureWorker>> create_worker() const override {
    Result<VisibleError> error = VisibleError::create(shape_.width);
    if (!error.ok()) return error.status();
    return std::unique_ptr<FeatureWorker>(std::make_unique<PsnrHvsWorker>(std::move(*error)));
  }

  Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device) const override {
    Result<DeviceVisibleError> error = DeviceVisibleError::create(device, shape_);
    if (!error.ok()) return error.status();
    return std::unique_ptr<DeviceFeatureWorker>(std::make_unique<PsnrHvsDeviceWorker>(std::move(*error)));
  }

 private:
  FrameShape shape_;
  std::vector<FeatureOutput> outputs_{{"psnr_hvs_y"}, {"psnr_hvs_cb"}, {"psnr_hvs_cr"}, {"psnr_hvs"}};
};

Result<std::unique_ptr<Feature>> create_psnr_hvs(const Feature::Setup& setup) {
  ACUITY_TRY(check_depth("psnr_hvs", setup, {8, 9, 10, 11, 12}));
  ACUITY_TRY(check_chroma("psnr_hvs", setup));
  // The colour planes have to hold a block too.
  const bool halved = setup.format.subsampling != Subsampling::yuv444;
  ACUITY_TRY(check_sides("psnr_hvs", setup, halved ? 2 * psnr_hvs::kBlock : psnr_hvs::kBlock));
  return std::unique_ptr<Feature>(std::make_unique<PsnrHvs>(setup.format));
}

}  // namespace

FeatureEntry psnr_hvs_entry() {
  return {.info = {.name = "psnr_hvs",
                   .version = "libvmaf 3.2.0",
                   .title = "PSNR of the visible part of errors in blocks of 8 x 8 pixels, in dB",
                   .better = Better::higher,
                   .identical = 200,
                   .minimum_side = psnr_hvs::kBlock,
                   .minimum_says = "from 8 x 8 pixels, with subsampled colour from 16 x 16",
                   .alpha_rule = ""},
          .create = create_psnr_hvs,
          .on_gpu = true,
          .cpu_ns = 20};
}

}  // namespace acuity
