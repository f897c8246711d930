// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "base/powers.h"
#include "base/try.h"
#include "frames/frame_checks.h"
#include "frames/frame_rows.h"
#include "metrics/psnr_yuv/feature.h"
#include "metrics/psnr_yuv/gpu.h"
#include "metrics/psnr_yuv/sums.h"

namespace acuity {
namespace {

constexpr std::array<const char*, 3> kPlaneNames{"y", "cb", "cr"};

struct Plane {
  double pixels = 0;
  double most = 0;  // the largest PSNR there is
};

// What a worker needs to know.
struct Settings {
  double peak_squared = 0;
  bool mse = false;
  bool apsnr = false;
  std::vector<Plane> planes;
};

// What the sums of squared differences of the planes come to.
void conclude_sums(const Settings& settings, std::span<const uint64_t> sums, std::span<double> numbers) {
  auto next = numbers.begin();
  auto kept = numbers.end() - static_cast<ptrdiff_t>(settings.apsnr ? settings.planes.size() : 0);
  for (size_t p = 0; p < settings.planes.size(); ++p) {
    const auto sum = static_cast<double>(sums[p]);
    const double mse = sum / settings.planes[p].pixels;
    *next++ = std::min(10 * libm_log10(settings.peak_squared / std::max(mse, 1e-16)), settings.planes[p].most);
    if (settings.mse) *next++ = mse;
    if (settings.apsnr) *kept++ = sum;
  }
}

class PsnrWorker final : public FeatureWorker {
 public:
  explicit PsnrWorker(const Settings& settings) : settings_(settings) {}
  size_t bytes() const override { return 0; }

  Status measure(const FrameWindow& window, std::span<double> numbers) override {
    const FrameView &reference = *window.reference[0], &distorted = *window.distorted[0];
    std::array<uint64_t, 3> sums{};
    for (size_t p = 0; p < settings_.planes.size(); ++p) {
      const int plane = static_cast<int>(p);
      sums[p] = p == 0 ? psnr_yuv::squared_differences(reference, distorted, plane)
                       : psnr_yuv::squared_differences(with_even_chroma(reference), with_even_chroma(distorted), plane);
    }
    conclude_sums(settings_, sums, numbers);
    return {};
  }

 private:
  const Settings& settings_;
};

class PsnrDeviceWorker final : public DeviceFeatureWorker {
 public:
  PsnrDeviceWorker(const Settings& settings, const FrameShape& frame) : settings_(settings), frame_(frame) {}
  size_t bytes() const override { return 0; }
  size_t result_bytes() const override { return settings_.planes.size() * sizeof(uint64_t); }

  Status submit(Queue& queue, const DeviceWindow& window, uint64_t results) override {
    FrameShape frame = frame_;
    added_bits_ = frame_.depth - window.depth;
    frame.depth = window.depth;
    for (size_t p = 0; p < settings_.planes.size(); ++p) {
      ACUITY_TRY(psnr_yuv::add_squared_differences(queue, p == 0 ? frame : with_even_chroma(frame), static_cast<int>(p),
                                                   *window.reference[0], *window.distorted[0],
                                                   results + p * sizeof(uint64_t)));
    }
    return {};
  }

  Status finish(std::span<const std::byte> results, std::span<double> numbers) override {
    std::array<uint64_t, 3> sums{};
    std::memcpy(sums.data(), results.data(), results.size());
    for (uint64_t& sum : sums) sum <<= 2 * added_bits_;
    conclude_sums(settings_, sums, numbers);
    return {};
  }

 private:
  const Settings& settings_;
  FrameShape frame_;
  int added_bits_ = 0;
};

class Psnr final : public Feature {
 public:
  explicit Psnr(const Setup& setup) : frame_(setup.format) {
    const bool reduced = is_on(setup.options, "reduced_hbd_peak");
    const double peak = reduced ? 255.0 * (1 << (setup.format.depth - 8)) : (1 << setup.format.depth) - 1;
    settings_.peak_squared = peak * peak;
    settings_.mse = is_on(setup.options, "enable_mse");
    settings_.apsnr = is_on(setup.options, "enable_apsnr");
    const int planes = is_on(setup.options, "enable_chroma") ? frame_.planes_count() : 1;
    for (int p = 0; p < planes; ++p) {
      const FrameShape shape = p == 0 ? frame_ : with_even_chroma(frame_);
      const double pixels = static_cast<double>(shape.plane_width(p)) * shape.plane_height(p);
      settings_.planes.push_back({pixels, most(setup, pixels)});
      const std::string name = kPlaneNames[static_cast<size_t>(p)];
      outputs_.push_back({"psnr_" + name});
      if (settings_.mse) outputs_.push_back({"mse_" + name});
    }
  }

  const std::vector<FeatureOutput>& outputs() const override { return outputs_; }
  // For the PSNR of the whole sequence, the sums of the squared errors as well.
  size_t value_count() const override { return outputs_.size() + (settings_.apsnr ? settings_.planes.size() : 0); }

  Result<std::unique_ptr<FeatureWorker>> create_worker() const override {
    return std::unique_ptr<FeatureWorker>(std::make_unique<PsnrWorker>(settings_));
  }

  bool reads(Role, int plane) const override { return plane < static_cast<int>(settings_.planes.size()); }
  Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device) const override {
    ACUITY_TRY(psnr_yuv::prepare_squares(device));
    return std::unique_ptr<DeviceFeatureWorker>(std::make_unique<PsnrDeviceWorker>(settings_, frame_));
  }

  std::vector<NamedValue> aggregates(const FeatureSeries& series) const override {
    std::vector<NamedValue> result;
    if (!settings_.apsnr || series.front().empty()) return result;
    for (size_t p = 0; p < settings_.planes.size(); ++p) {
      double sum = 0;
      for (const double frame : series[outputs_.size() + p]) sum += frame;
      const double pixels = settings_.planes[p].pixels * static_cast<double>(series.front().size());
      const double largest = std::ceil(10 * libm_log10(settings_.peak_squared * pixels * 2));
      const double apsnr =
          sum == 0 ? largest : 10 * (libm_log10(settings_.peak_squared) + libm_log10(pixels) - libm_log10(sum));
      result.push_back({std::string("apsnr_") + kPlaneNames[p], std::min(apsnr, largest)});
    }
    return result;
  }

 private:
  double most(const Setup& setup, double pixels) const {
    const double least_sum = *setup.options.number("min_sse");
    if (least_sum == 0) return 6 * setup.format.depth + 12;
    return std::ceil(10 * libm_log10(settings_.peak_squared / (least_sum / pixels)));
  }

  FrameShape frame_;
  Settings settings_;
  std::vector<FeatureOutput> outputs_;
};

Result<std::unique_ptr<Feature>> create_psnr(const Feature::Setup& setup) {
  ACUITY_TRY(check_depth("psnr", setup, {8, 10, 12, 16}));
  const bool halved =
      setup.format.subsampling == Subsampling::yuv420 || setup.format.subsampling == Subsampling::yuv422;
  if (halved && is_on(setup.options, "enable_chroma")) ACUITY_TRY(check_sides("psnr", setup, 2));
  return std::unique_ptr<Feature>(std::make_unique<Psnr>(setup));
}

}  // namespace

FeatureEntry psnr_yuv_entry() {
  MetricInfo info{.name = "psnr",
                  .version = "libvmaf 3.2.0",
                  .title = "peak signal-to-noise ratio of the planes of frames, in dB",
                  .better = Better::higher,
                  .identical_says = "60 with 8-bit samples, 72 with 10 bits, 84 with 12, 108 with 16",
                  .alpha_rule = ""};
  info.options = {switch_option("enable_chroma", "", "the colour planes as well", true),
                  switch_option("enable_mse", "", "the mean squared errors as well", false),
                  switch_option("enable_apsnr", "", "the ratio of the whole sequence as well", false),
                  switch_option("reduced_hbd_peak", "", "above 8 bits, use 255 as the peak, scaled", false),
                  {.name = "min_sse",
                   .help = "the sum of squared errors that gives the largest ratio; 0: by the depth",
                   .default_value = "0",
                   .minimum = 0,
                   .maximum = std::numeric_limits<double>::max()}};
  return {.info = std::move(info), .create = create_psnr, .on_gpu = true, .cpu_ns = 0.3};
}

}  // namespace acuity
