// SPDX-License-Identifier: BSD-2-Clause-Patent
// SpEED, spatial efficient entropic differencing, of colour and of motion, as libvmaf 3.2.0 defines it.
#include "metrics/speed/feature.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/try.h"
#include "frames/feature_options.h"
#include "frames/frame_checks.h"
#include "frames/gaussian_windows.h"
#include "metrics/speed/gpu.h"
#include "metrics/speed/shrink.h"
#include "metrics/speed/texture.h"

namespace acuity {
namespace speed {
namespace {

constexpr int kLeastSide = 80;  // 5 samples after shrinking by 16

struct Settings {
  Geometry geometry;
  double kernel_scale = 1;
  std::string method;
  float noise = 0;
  float floor = 0;
  double largest = 0;
  int weighting = 0;
  bool reference_only = false;  // of the present frame, both differences take the reference
};

std::vector<MetricOption> common_options() {
  return {
      number_option("speed_kernelscale", "ks", "width of the filters", "1", 0.1, 4),
      number_option("speed_prescale", "ps", "scale the frame first", "1", 0.1, 4),
      word_option("speed_prescale_method", "psm", "how to scale it", {"nearest", "bilinear", "bicubic", "lanczos4"}),
      number_option("speed_sigma_nn", "snn", "standard deviation of the eye's noise", "0.29", 0.1, 2),
      number_option("speed_nn_floor", "nnf", "share of that noise below which nothing counts", "0", 0, 1),
      number_option("speed_max_val", "mxv", "larger values are reduced to this", "1000", 0, 1000),
  };
}

MetricInfo make_info(std::string name, std::string title, std::string minimum_says, MetricOption last) {
  MetricInfo info{.name = std::move(name),
                  .version = "libvmaf 3.2.0",
                  .title = std::move(title),
                  .better = Better::lower,
                  .identical = 0,
                  .minimum_side = 1,
                  .minimum_says = std::move(minimum_says),
                  .alpha_rule = "",
                  .options = common_options()};
  info.options.push_back(std::move(last));
  return info;
}

const MetricInfo& chroma_info() {
  static const MetricInfo info = make_info(
      "speed_chroma", "difference in information between the colours of two frames",
      fmt::format("with colour planes from {0} x {0} samples after speed_prescale: of 4:2:0 from {1} x {1} pixels",
                  kLeastSide, 2 * kLeastSide),
      whole_option("speed_weight_var_mode", "wvm", "whose variance weighs the entropies, in one of seven ways", "0", 0,
                   6));
  return info;
}

const MetricInfo& temporal_info() {
  static const MetricInfo info = [] {
    MetricOption last =
        switch_option("speed_use_ref_diff", "urd", "use the current frame of the reference for both", false);
    last.in_names = true;
    return make_info("speed_temporal", "difference in information between the motion of two videos",
                     fmt::format("from {0} x {0} pixels after speed_prescale", kLeastSide), last);
  }();
  return info;
}

ShrinkTaps taps_of(const Settings& settings) {
  return shrink_taps(settings.geometry, settings.kernel_scale, settings.method);
}

// How far two planes are apart.
struct Outcome {
  float score = 0;
  bool singular = false;  // of either plane
};
Outcome compare(const Texture& reference, const Texture& distorted, const Settings& settings) {
  const bool singular = reference.singular || distorted.singular;
  // One that could not be measured would make the other seem far away.
  if (reference.singular != distorted.singular) return {0, singular};
  return {distance(reference, distorted, settings.noise, settings.floor, settings.weighting), singular};
}

// Measures pairs of planes, with memory of its own.
class Meter {
 public:
  static Result<Meter> create(const Settings& settings) {
    Meter meter(settings);
    Result<Shrinker> shrinker = Shrinker::create(settings.geometry, taps_of(settings));
    if (!shrinker.ok()) return shrinker.status();
    meter.shrinker_ = std::make_unique<Shrinker>(std::move(*shrinker));
    ACUITY_TRY_ASSIGN(meter.finder_,
                      TextureFinder::create(settings.geometry.small_width, settings.geometry.small_height));
    const size_t floats =
        static_cast<size_t>(meter.shrinker_->small_stride()) * static_cast<size_t>(settings.geometry.small_height);
    ACUITY_TRY_ASSIGN(meter.arena_, Arena::create(Arena::cost<float>(floats)));
    meter.small_ = meter.arena_.take<float>(floats);
    std::fill_n(meter.small_, floats, 0.0f);
    return meter;
  }

  Outcome measure(const PlaneReader& reference, const PlaneReader& distorted) {
    find(reference, reference_);
    find(distorted, distorted_);
    return compare(reference_, distorted_, settings_);
  }

  size_t bytes() const {
    return arena_.size() + shrinker_->bytes() + finder_.bytes() +
           4 * sizeof(float) * static_cast<size_t>(finder_.blocks());
  }

 private:
  explicit Meter(const Settings& settings) : settings_(settings) {}

  void find(const PlaneReader& reader, Texture& out) {
    shrinker_->shrink(reader, small_);
    finder_.find(small_, shrinker_->small_stride(), settings_.noise, out);
  }

  Settings settings_;
  std::unique_ptr<Shrinker> shrinker_;
  TextureFinder finder_;
  Arena arena_;
  float* small_ = nullptr;
  Texture reference_, distorted_;
};

void fill_chroma(const Outcome& u, const Outcome& v, double largest, std::span<double> values) {
  // A plane that could not be measured, a flat one for instance, is taken to be as far away as the other.
  float both = static_cast<float>(static_cast<double>(u.score + v.score) / 2);
  if (u.singular != v.singular) both = u.singular ? v.score : u.score;
  values[0] = std::min(static_cast<double>(u.score), largest);
  values[1] = std::min(static_cast<double>(v.score), largest);
  values[2] = std::min(static_cast<double>(both), largest);
}

class ChromaWorker final : public FeatureWorker {
 public:
  ChromaWorker(Meter meter, double largest) : meter_(std::move(meter)), largest_(largest) {}
  size_t bytes() const override { return meter_.bytes(); }

  Status measure(const FrameWindow& window, std::span<double> values) override {
    const auto plane = [&](int number) {
      return meter_.measure({window.reference[0], nullptr, number}, {window.distorted[0], nullptr, number});
    };
    fill_chroma(plane(1), plane(2), largest_, values);
    return {};
  }

 private:
  Meter meter_;
  double largest_;
};

class TemporalWorker final : public FeatureWorker {
 public:
  TemporalWorker(Meter meter, bool reference_only) : meter_(std::move(meter)), reference_only_(reference_only) {}
  size_t bytes() const override { return meter_.bytes(); }

  Status measure(const FrameWindow& window, std::span<double> values) override {
    values[0] = 0;
    if (window.reference[1] == nullptr) return {};
    const FrameView* now = reference_only_ ? window.reference[0] : window.distorted[0];
    values[0] = static_cast<double>(
        meter_.measure({window.reference[1], window.reference[0], 0}, {window.distorted[1], now, 0}).score);
    return {};
  }

 private:
  Meter meter_;
  bool reference_only_;
};

// Planes are in pairs, that of the reference first.
class SpeedDeviceWorker final : public DeviceFeatureWorker {
 public:
  SpeedDeviceWorker(DeviceTextures textures, const Settings& settings, bool temporal)
      : textures_(std::move(textures)), settings_(settings), temporal_(temporal) {}

  size_t bytes() const override { return textures_.bytes(); }
  size_t scratch_bytes() const override { return textures_.scratch_bytes(); }
  size_t result_bytes() const override { return textures_.result_bytes(); }

  Status submit(Queue& queue, const DeviceWindow& window, uint64_t results) override {
    std::vector<DeviceReader> readers;
    if (temporal_) {
      measures_ = window.reference[1] != nullptr;
      if (!measures_) return {};
      const DeviceFrame& now = *(settings_.reference_only ? window.reference : window.distorted)[0];
      readers = {{(*window.reference[1])[0], (*window.reference[0])[0]}, {(*window.distorted[1])[0], now[0]}};
    } else {
      for (const size_t p : {1, 2}) {
        for (const DeviceFrame* frame : {window.reference[0], window.distorted[0]})
          readers.push_back({(*frame)[p], {}});
      }
    }
    return textures_.submit(queue, readers, window.depth, window.scratch, results);
  }

  Status finish(std::span<const std::byte> results, std::span<double> values) override {
    const auto outcome = [&](size_t pair) {
      textures_.conclude(results, 2 * pair, settings_.noise, reference_);
      textures_.conclude(results, 2 * pair + 1, settings_.noise, distorted_);
      return compare(reference_, distorted_, settings_);
    };
    if (temporal_) {
      values[0] = measures_ ? static_cast<double>(outcome(0).score) : 0;
    } else {
      const Outcome u = outcome(0);
      fill_chroma(u, outcome(1), settings_.largest, values);
    }
    return {};
  }

 private:
  DeviceTextures textures_;
  Settings settings_;
  bool temporal_;
  bool measures_ = false;
  Texture reference_, distorted_;
};

class Speed final : public Feature {
 public:
  Speed(std::vector<FeatureOutput> outputs, Settings settings, bool temporal)
      : outputs_(std::move(outputs)), settings_(std::move(settings)), temporal_(temporal) {}

  const std::vector<FeatureOutput>& outputs() const override { return outputs_; }
  size_t headline() const override { return outputs_.size() - 1; }
  int history() const override { return temporal_ ? 1 : 0; }

  Result<std::unique_ptr<FeatureWorker>> create_worker() const override {
    Result<Meter> meter = Meter::create(settings_);
    if (!meter.ok()) return meter.status();
    if (temporal_) {
      return std::unique_ptr<FeatureWorker>(
          std::make_unique<TemporalWorker>(std::move(*meter), settings_.reference_only));
    }
    return std::unique_ptr<FeatureWorker>(std::make_unique<ChromaWorker>(std::move(*meter), settings_.largest));
  }

  bool reads(Role, int plane) const override { return temporal_ == (plane == 0); }
  Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device) const override {
    Result<DeviceTextures> textures =
        DeviceTextures::create(device, settings_.geometry, taps_of(settings_), temporal_ ? 2 : 4);
    if (!textures.ok()) return textures.status();
    return std::unique_ptr<DeviceFeatureWorker>(
        std::make_unique<SpeedDeviceWorker>(std::move(*textures), settings_, temporal_));
  }

 private:
  std::vector<FeatureOutput> outputs_;
  Settings settings_;
  bool temporal_;
};

// For planes of that size.
Result<Settings> read_settings(std::string_view feature, const OptionValues& options, int width, int height) {
  Settings settings;
  settings.kernel_scale = *options.number("speed_kernelscale");
  settings.method = options.text("speed_prescale_method");
  settings.noise = static_cast<float>(*options.number("speed_sigma_nn"));
  settings.floor = static_cast<float>(*options.number("speed_nn_floor"));
  settings.largest = *options.number("speed_max_val");
  if (!is_kernel_scale(settings.kernel_scale)) {
    return Status(StatusCode::usage, fmt::format("{} has no filters for speed_kernelscale={:g}; use one of {}", feature,
                                                 settings.kernel_scale, kernel_scales()));
  }
  settings.geometry = geometry_of(width, height, *options.number("speed_prescale"));
  if (std::min(settings.geometry.small_width, settings.geometry.small_height) < kBlockSide) {
    return Status(StatusCode::input,
                  fmt::format("{} needs planes of at least {} x {} samples, and these are {} x {}{}; use larger frames",
                              feature, kLeastSide, kLeastSide, width, height,
                              settings.geometry.scaled
                                  ? fmt::format(", {} x {} after speed_prescale", settings.geometry.scaled_width,
                                                settings.geometry.scaled_height)
                                  : std::string()));
  }
  return settings;
}

Result<std::unique_ptr<Feature>> create_chroma(const Feature::Setup& setup) {
  ACUITY_TRY(check_depth("speed_chroma", setup, {8, 10, 12, 16}));
  ACUITY_TRY(check_chroma("speed_chroma", setup));
  // Halves are rounded down: the last column of colour in odd frames does not count.
  const int width = setup.format.subsampling == Subsampling::yuv444 ? setup.format.width : setup.format.width / 2;
  const int height = setup.format.subsampling == Subsampling::yuv420 ? setup.format.height / 2 : setup.format.height;
  Settings settings;
  ACUITY_TRY_ASSIGN(settings, read_settings("speed_chroma", setup.options, width, height));
  settings.weighting = static_cast<int>(*setup.options.number("speed_weight_var_mode"));
  std::vector<FeatureOutput> outputs;
  for (const char* part : {"u", "v", "uv"}) {
    const std::string name = fmt::format("Speed_chroma_feature_speed_chroma_{}_score", part);
    outputs.push_back({.name = output_name(name, chroma_info(), setup.options)});
  }
  return std::unique_ptr<Feature>(std::make_unique<Speed>(std::move(outputs), std::move(settings), false));
}

Result<std::unique_ptr<Feature>> create_temporal(const Feature::Setup& setup) {
  ACUITY_TRY(check_depth("speed_temporal", setup, {8, 10, 12, 16}));
  Settings settings;
  ACUITY_TRY_ASSIGN(settings, read_settings("speed_temporal", setup.options, setup.format.width, setup.format.height));
  settings.reference_only = is_on(setup.options, "speed_use_ref_diff");
  const std::string name = output_name("Speed_temporal_feature_speed_temporal_score", temporal_info(), setup.options);
  return std::unique_ptr<Feature>(
      std::make_unique<Speed>(std::vector<FeatureOutput>{{.name = name}}, std::move(settings), true));
}

}  // namespace
}  // namespace speed

FeatureEntry speed_chroma_entry() {
  return {.info = speed::chroma_info(), .create = speed::create_chroma, .on_gpu = true, .cpu_ns = 1.5};
}
FeatureEntry speed_temporal_entry() {
  return {.info = speed::temporal_info(), .create = speed::create_temporal, .on_gpu = true, .cpu_ns = 1.5};
}

}  // namespace acuity
