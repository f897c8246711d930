// SPDX-License-Identifier: BSD-2-Clause-Patent
// Luma in steps of 8 bit: its PSNR, its anti-noise ratios, its moments.
#include <algorithm>
#include <memory>
#include <utility>

#include "base/powers.h"
#include "base/try.h"
#include "frames/frame_checks.h"
#include "metrics/psnr_yuv/ansnr.h"
#include "metrics/psnr_yuv/feature.h"
#include "metrics/psnr_yuv/sums.h"

namespace acuity {
namespace {

constexpr double kLeastNoise = 1e-10;

// What is known of the frames before they are there.
struct Format {
  double pixels = 0;
  double steps = 1;  // of a sample in one of 8 bit
  double peak_squared = 0;
  double most = 0;  // the largest ratio there is, in dB

  explicit Format(const Feature::Setup& setup)
      : pixels(static_cast<double>(setup.format.width) * setup.format.height),
        steps(1 << (setup.format.depth - 8)),
        most(6 * setup.format.depth + 12) {
    const double peak = ((1 << setup.format.depth) - 1) / steps;
    peak_squared = peak * peak;
  }
};

class FloatPsnrWorker final : public FeatureWorker {
 public:
  explicit FloatPsnrWorker(const Feature::Setup& setup) : format_(setup) {}
  size_t bytes() const override { return 0; }

  Status measure(const FrameWindow& window, std::span<double> values) override {
    const auto sum = psnr_yuv::rounded_squared_differences(*window.reference[0], *window.distorted[0]);
    const double noise = static_cast<double>(sum) / (format_.steps * format_.steps) / format_.pixels;
    values[0] = std::min(10 * libm_log10(format_.peak_squared / std::max(noise, kLeastNoise)), format_.most);
    return {};
  }

 private:
  Format format_;
};

class FloatAnsnrWorker final : public FeatureWorker {
 public:
  FloatAnsnrWorker(const Feature::Setup& setup, psnr_yuv::AntiNoise anti_noise)
      : format_(setup), anti_noise_(std::move(anti_noise)) {}
  size_t bytes() const override { return anti_noise_.bytes(); }

  Status measure(const FrameWindow& window, std::span<double> values) override {
    const auto [signal, noise] = anti_noise_.energies(*window.reference[0], *window.distorted[0]);
    // A reference without any signal has no ratio; libvmaf says minus infinity.
    const double ratio = std::max(static_cast<double>(signal / noise), kLeastNoise);
    values[0] = noise == 0 ? format_.most : 10 * libm_log10(ratio);
    const double psnr =
        10 * libm_log10(format_.peak_squared * format_.pixels / std::max(static_cast<double>(noise), kLeastNoise));
    values[1] = std::min(psnr, format_.most);
    return {};
  }

 private:
  Format format_;
  psnr_yuv::AntiNoise anti_noise_;
};

class FloatMomentWorker final : public FeatureWorker {
 public:
  explicit FloatMomentWorker(const Feature::Setup& setup) : format_(setup) {}
  size_t bytes() const override { return 0; }

  Status measure(const FrameWindow& window, std::span<double> values) override {
    const std::array<const FrameView*, 2> frames{window.reference[0], window.distorted[0]};
    for (size_t i = 0; i < 2; ++i) {
      const psnr_yuv::Moments moments = psnr_yuv::moments(*frames[i]);
      values[i] = static_cast<double>(moments.sum) / format_.steps / format_.pixels;
      values[2 + i] = static_cast<double>(moments.squares) / (format_.steps * format_.steps) / format_.pixels;
    }
    return {};
  }

 private:
  Format format_;
};

using Worker = Result<std::unique_ptr<FeatureWorker>>;

Worker create_psnr_worker(const Feature::Setup& setup) {
  return std::unique_ptr<FeatureWorker>(std::make_unique<FloatPsnrWorker>(setup));
}

Worker create_ansnr_worker(const Feature::Setup& setup) {
  Result<psnr_yuv::AntiNoise> anti_noise = psnr_yuv::AntiNoise::create(setup.format.width);
  if (!anti_noise.ok()) return anti_noise.status();
  return std::unique_ptr<FeatureWorker>(std::make_unique<FloatAnsnrWorker>(setup, std::move(*anti_noise)));
}

Worker create_moment_worker(const Feature::Setup& setup) {
  return std::unique_ptr<FeatureWorker>(std::make_unique<FloatMomentWorker>(setup));
}

// A feature without options: its outputs, and who measures them.
class LumaFeature final : public Feature {
 public:
  LumaFeature(const Setup& setup, std::vector<FeatureOutput> outputs, Worker (*worker_maker)(const Setup&))
      : setup_(setup), outputs_(std::move(outputs)), create_worker_(worker_maker) {}

  const std::vector<FeatureOutput>& outputs() const override { return outputs_; }
  Result<std::unique_ptr<FeatureWorker>> create_worker() const override { return create_worker_(setup_); }

 private:
  Setup setup_;
  std::vector<FeatureOutput> outputs_;
  Worker (*create_worker_)(const Setup&);
};

Result<std::unique_ptr<Feature>> create(const MetricInfo& info, const Feature::Setup& setup,
                                        std::vector<FeatureOutput> outputs,
                                        Worker (*create_worker)(const Feature::Setup&)) {
  ACUITY_TRY(check_depth(info.name, setup, {8, 10, 12, 16}));
  ACUITY_TRY(check_sides(info.name, setup, info.minimum_side));
  return std::unique_ptr<Feature>(std::make_unique<LumaFeature>(setup, std::move(outputs), create_worker));
}

MetricInfo luma_info(std::string name, std::string title) {
  return {.name = std::move(name),
          .version = "libvmaf 3.2.0",
          .title = std::move(title),
          .better = Better::higher,
          .identical_says = "60 where samples have 8 bits, 72 for 10, 84 for 12, 108 for 16",
          .alpha_rule = ""};
}

MetricInfo float_psnr_info() { return luma_info("float_psnr", "peak signal-to-noise ratio of luma, in dB"); }

MetricInfo float_ansnr_info() {
  MetricInfo info = luma_info("float_ansnr", "signal-to-noise ratio of luma once fine noise is smoothed away, in dB");
  info.identical_says = "no fixed value: the two are smoothed differently";
  info.minimum_side = 3;  // the filters mirror two pixels at each edge
  return info;
}

MetricInfo float_moment_info() {
  MetricInfo info = luma_info("float_moment", "means of luma and of its square, of both videos");
  info.identical_says = "no fixed value: it is the mean of the reference's luma";
  return info;
}

}  // namespace

FeatureEntry float_psnr_entry() {
  return {.info = float_psnr_info(), .create = [](const Feature::Setup& setup) {
            return create(float_psnr_info(), setup, {{"float_psnr"}}, create_psnr_worker);
          }};
}

FeatureEntry float_ansnr_entry() {
  return {.info = float_ansnr_info(), .create = [](const Feature::Setup& setup) {
            return create(float_ansnr_info(), setup, {{"float_ansnr"}, {"float_anpsnr"}}, create_ansnr_worker);
          }};
}

FeatureEntry float_moment_entry() {
  return {.info = float_moment_info(), .create = [](const Feature::Setup& setup) {
            return create(
                float_moment_info(), setup,
                {{"float_moment_ref1st"}, {"float_moment_dis1st"}, {"float_moment_ref2nd"}, {"float_moment_dis2nd"}},
                create_moment_worker);
          }};
}

}  // namespace acuity
