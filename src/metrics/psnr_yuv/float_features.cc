// SPDX-License-Identifier: BSD-2-Clause-Patent
// Luma in steps of 8 bit: its PSNR, its anti-noise ratios, its moments.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "base/powers.h"
#include "base/try.h"
#include "frames/frame_checks.h"
#include "frames/row_sums.h"
#include "metrics/psnr_yuv/ansnr.h"
#include "metrics/psnr_yuv/feature.h"
#include "metrics/psnr_yuv/gpu.h"
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

// What the sums come to. A worker of either kind makes them.
void conclude_psnr(const Format& format, uint64_t squares, std::span<double> values) {
  const double noise = static_cast<double>(squares) / (format.steps * format.steps) / format.pixels;
  values[0] = std::min(10 * libm_log10(format.peak_squared / std::max(noise, kLeastNoise)), format.most);
}

void conclude_ansnr(const Format& format, const psnr_yuv::Energies& energies, std::span<double> values) {
  const auto [signal, noise] = energies;
  // A reference without any signal has no ratio; libvmaf says minus infinity.
  const double ratio = std::max(static_cast<double>(signal / noise), kLeastNoise);
  values[0] = noise == 0 ? format.most : 10 * libm_log10(ratio);
  const double psnr =
      10 * libm_log10(format.peak_squared * format.pixels / std::max(static_cast<double>(noise), kLeastNoise));
  values[1] = std::min(psnr, format.most);
}

void conclude_moments(const Format& format, const std::array<psnr_yuv::Moments, 2>& moments, std::span<double> values) {
  for (size_t i = 0; i < 2; ++i) {
    values[i] = static_cast<double>(moments[i].sum) / format.steps / format.pixels;
    values[2 + i] = static_cast<double>(moments[i].squares) / (format.steps * format.steps) / format.pixels;
  }
}

class FloatPsnrWorker final : public FeatureWorker {
 public:
  explicit FloatPsnrWorker(const Feature::Setup& setup) : format_(setup) {}
  size_t bytes() const override { return 0; }

  Status measure(const FrameWindow& window, std::span<double> values) override {
    conclude_psnr(format_, psnr_yuv::rounded_squared_differences(*window.reference[0], *window.distorted[0]), values);
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
    conclude_ansnr(format_, anti_noise_.energies(*window.reference[0], *window.distorted[0]), values);
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
    conclude_moments(format_, {psnr_yuv::moments(*window.reference[0]), psnr_yuv::moments(*window.distorted[0])},
                     values);
    return {};
  }

 private:
  Format format_;
};

// What the workers on a device share: samples there may have fewer bits than the feature was set up for.
class LumaDeviceWorker : public DeviceFeatureWorker {
 public:
  explicit LumaDeviceWorker(const Feature::Setup& setup) : format_(setup), shape_(setup.format), depth_(shape_.depth) {}
  size_t bytes() const override { return 0; }

 protected:
  // With the depth that samples have there.
  const FrameShape& shape_of(const DeviceWindow& window) {
    shape_.depth = window.depth;
    return shape_;
  }
  int added_bits() const { return depth_ - shape_.depth; }
  const Format& format() const { return format_; }
  int height() const { return shape_.height; }

 private:
  Format format_;
  FrameShape shape_;
  int depth_;
};

class FloatPsnrDeviceWorker final : public LumaDeviceWorker {
 public:
  using LumaDeviceWorker::LumaDeviceWorker;
  size_t result_bytes() const override { return sizeof(uint64_t); }

  Status submit(Queue& queue, const DeviceWindow& window, uint64_t results) override {
    return psnr_yuv::add_squared_differences(queue, shape_of(window), 0, *window.reference[0], *window.distorted[0],
                                             results, true);
  }

  Status finish(std::span<const std::byte> results, std::span<double> numbers) override {
    uint64_t sum = 0;
    std::memcpy(&sum, results.data(), sizeof sum);
    conclude_psnr(format(), sum << (2 * added_bits()), numbers);
    return {};
  }
};

class FloatAnsnrDeviceWorker final : public LumaDeviceWorker {
 public:
  using LumaDeviceWorker::LumaDeviceWorker;
  size_t result_bytes() const override { return 2 * static_cast<size_t>(height()) * sizeof(float); }

  Status submit(Queue& queue, const DeviceWindow& window, uint64_t results) override {
    return psnr_yuv::sum_anti_noise_rows(queue, shape_of(window), *window.reference[0], *window.distorted[0], results);
  }

  Status finish(std::span<const std::byte> results, std::span<double> numbers) override {
    const std::span<const std::byte> signal = results.first(results.size() / 2);
    conclude_ansnr(format(), {total_of_rows(signal), total_of_rows(results.subspan(signal.size()))}, numbers);
    return {};
  }
};

class FloatMomentDeviceWorker final : public LumaDeviceWorker {
 public:
  using LumaDeviceWorker::LumaDeviceWorker;
  size_t result_bytes() const override { return 4 * sizeof(uint64_t); }

  Status submit(Queue& queue, const DeviceWindow& window, uint64_t results) override {
    ACUITY_TRY(psnr_yuv::add_moments(queue, shape_of(window), *window.reference[0], results));
    return psnr_yuv::add_moments(queue, shape_of(window), *window.distorted[0], results + 2 * sizeof(uint64_t));
  }

  Status finish(std::span<const std::byte> results, std::span<double> numbers) override {
    std::array<uint64_t, 4> sums{};
    std::memcpy(sums.data(), results.data(), sizeof sums);
    std::array<psnr_yuv::Moments, 2> moments;
    for (size_t i = 0; i < 2; ++i) {
      moments[i] = {sums[2 * i] << added_bits(), sums[2 * i + 1] << (2 * added_bits())};
    }
    conclude_moments(format(), moments, numbers);
    return {};
  }
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

template <class Made>
std::unique_ptr<DeviceFeatureWorker> make_device_worker(const Feature::Setup& setup) {
  return std::make_unique<Made>(setup);
}

// Who measures a feature, here and on a device.
struct Makers {
  Worker (*worker)(const Feature::Setup&);
  Status (*prepare)(Device&);
  std::unique_ptr<DeviceFeatureWorker> (*device_worker)(const Feature::Setup&);
};
constexpr Makers kPsnrMakers{create_psnr_worker, psnr_yuv::prepare_squares, make_device_worker<FloatPsnrDeviceWorker>};
constexpr Makers kAnsnrMakers{create_ansnr_worker, psnr_yuv::prepare_anti_noise,
                              make_device_worker<FloatAnsnrDeviceWorker>};
constexpr Makers kMomentMakers{create_moment_worker, psnr_yuv::prepare_moments,
                               make_device_worker<FloatMomentDeviceWorker>};

// A feature without options: its outputs, and who measures them.
class LumaFeature final : public Feature {
 public:
  LumaFeature(const Setup& setup, std::vector<FeatureOutput> outputs, const Makers& makers)
      : setup_(setup), outputs_(std::move(outputs)), makers_(makers) {}

  const std::vector<FeatureOutput>& outputs() const override { return outputs_; }
  Result<std::unique_ptr<FeatureWorker>> create_worker() const override { return makers_.worker(setup_); }

  bool reads(Role, int plane) const override { return plane == 0; }
  Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device) const override {
    ACUITY_TRY(makers_.prepare(device));
    return makers_.device_worker(setup_);
  }

 private:
  Setup setup_;
  std::vector<FeatureOutput> outputs_;
  Makers makers_;
};

Result<std::unique_ptr<Feature>> create(const MetricInfo& info, const Feature::Setup& setup,
                                        std::vector<FeatureOutput> outputs, const Makers& makers) {
  ACUITY_TRY(check_depth(info.name, setup, {8, 10, 12, 16}));
  ACUITY_TRY(check_sides(info.name, setup, info.minimum_side));
  return std::unique_ptr<Feature>(std::make_unique<LumaFeature>(setup, std::move(outputs), makers));
}

MetricInfo luma_info(std::string name, std::string title) {
  return {.name = std::move(name),
          .version = "libvmaf 3.2.0",
          .title = std::move(title),
          .better = Better::higher,
          .identical_says = "60 with 8-bit samples, 72 with 10 bits, 84 with 12, 108 with 16",
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
  info.better = Better::neither;
  info.identical_says = "no fixed value: it is the mean of the reference's luma";
  return info;
}

}  // namespace

FeatureEntry float_psnr_entry() {
  return {
      .info = float_psnr_info(),
      .create =
          [](const Feature::Setup& setup) { return create(float_psnr_info(), setup, {{"float_psnr"}}, kPsnrMakers); },
      .on_gpu = true,
      .cpu_ns = 0.3};
}

FeatureEntry float_ansnr_entry() {
  return {.info = float_ansnr_info(),
          .create =
              [](const Feature::Setup& setup) {
                return create(float_ansnr_info(), setup, {{"float_ansnr"}, {"float_anpsnr"}}, kAnsnrMakers);
              },
          .on_gpu = true,
          .cpu_ns = 4};
}

FeatureEntry float_moment_entry() {
  return {
      .info = float_moment_info(),
      .create =
          [](const Feature::Setup& setup) {
            return create(
                float_moment_info(), setup,
                {{"float_moment_ref1st"}, {"float_moment_dis1st"}, {"float_moment_ref2nd"}, {"float_moment_dis2nd"}},
                kMomentMakers);
          },
      .on_gpu = true,
      .cpu_ns = 0.3};
}

}  // namespace acuity
