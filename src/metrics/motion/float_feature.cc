// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <memory>
#include <utility>

#include "base/try.h"
#include "metrics/frame_checks.h"
#include "metrics/frame_rows.h"
#include "metrics/motion/feature.h"
#include "metrics/motion/float_difference.h"
#include "metrics/motion/weighing.h"

namespace acuity {
namespace {

using motion::FloatDifference;
using motion::Weighing;

constexpr int kMinimumSide = 3;  // the blur mirrors two pixels at each edge

// Every size but 1 and 3 means 5.
motion::Taps taps_of(double filter_size) {
  if (filter_size == 1) return {0, 0, 1, 0, 0};
  if (filter_size == 3) return {0, 0.166378498f, 0.667243004f, 0.166378498f, 0};
  return {0.054488685f, 0.244201342f, 0.402619947f, 0.244201342f, 0.054488685f};
}

class FloatMotionWorker final : public FeatureWorker {
 public:
  FloatMotionWorker(FloatDifference difference, int planes) : difference_(std::move(difference)), planes_(planes) {}

  size_t bytes() const override { return difference_.bytes(); }

  // Values are not weighed yet: the lesser of two is looked for first.
  Status measure(const FrameWindow& window, std::span<double> values) override {
    double motion = 0;
    if (window.reference[1] != nullptr) {
      const FrameView &before = *window.reference[1], &now = *window.reference[0];
      if (planes_ > 0) motion = static_cast<double>(difference_.mean(before, now, 0));
      for (int plane = 1; plane < planes_; ++plane) {
        motion += static_cast<double>(difference_.mean(with_even_chroma(before), with_even_chroma(now), plane));
      }
    }
    std::fill(values.begin(), values.end(), motion);
    return {};
  }

 private:
  FloatDifference difference_;
  int planes_;
};

class FloatMotion final : public Feature {
 public:
  FloatMotion(std::vector<FeatureOutput> outputs, const Setup& setup)
      : outputs_(std::move(outputs)),
        width_(setup.width),
        weighing_(setup.options),
        taps_(taps_of(*setup.options.number("motion_filter_size"))),
        add_half_size_(is_on(setup.options, "motion_add_scale1")),
        planes_(weighing_.force_zero                    ? 0
                : is_on(setup.options, "motion_add_uv") ? 3
                                                        : 1) {}

  const std::vector<FeatureOutput>& outputs() const override { return outputs_; }
  size_t headline() const override { return 1; }
  int history() const override { return 1; }

  Result<std::unique_ptr<FeatureWorker>> create_worker() const override {
    Result<FloatDifference> difference = FloatDifference::create(width_, taps_, add_half_size_);
    if (!difference.ok()) return difference.status();
    return std::unique_ptr<FeatureWorker>(std::make_unique<FloatMotionWorker>(std::move(*difference), planes_));
  }

  void conclude(FeatureSeries& series) const override {
    const std::vector<double> motion = series[0];
    const size_t frames = motion.size();
    for (size_t i = 0; i < frames; ++i) {
      const double next = i + 1 < frames ? motion[i + 1] : motion[i];
      const double lesser = (i == 0 ? next : std::min(motion[i], next)) * weighing_.fps_weight;
      series[0][i] = weighing_.clip(motion[i] * weighing_.fps_weight);
      series[1][i] = i == 0 ? 0 : weighing_.clip(lesser);
      series[2][i] = weighing_.blend(lesser);
    }
  }

 private:
  std::vector<FeatureOutput> outputs_;
  int width_;
  Weighing weighing_;
  motion::Taps taps_;
  bool add_half_size_;
  int planes_;
};

MetricInfo float_motion_info() {
  MetricInfo info{.name = "float_motion",
                  .version = "libvmaf 3.2.0",
                  .title = "how much moves in the reference, in floats",
                  .better = Better::lower,
                  .identical_says = "no fixed value: it measures the reference alone",
                  .minimum_side = kMinimumSide,
                  .alpha_rule = "",
                  .options = motion::weighing_options()};
  info.options.push_back(
      motion::named_switch("motion_add_scale1", "mdc", "add the motion of the frames at half their size"));
  MetricOption size = motion::number_option("motion_filter_size", "mfs", "taps of the blur: 1, 3 or 5", "5", 9);
  size.whole = true;
  info.options.push_back(size);
  info.options.push_back(motion::named_switch("motion_add_uv", "mau", "add the motion of the colour planes"));
  return info;
}

Result<std::unique_ptr<Feature>> create_float_motion(const Feature::Setup& setup) {
  const bool add_chroma = is_on(setup.options, "motion_add_uv");
  const bool narrow_chroma = add_chroma && setup.subsampling != Subsampling::yuv444;
  ACUITY_TRY(check_depth("float_motion", setup, {8, 10, 12, 16}));
  ACUITY_TRY(check_sides("float_motion", setup, narrow_chroma ? 2 * kMinimumSide : kMinimumSide));
  if (add_chroma) ACUITY_TRY(check_chroma("motion_add_uv of float_motion", setup));
  const MetricInfo info = float_motion_info();
  std::vector<FeatureOutput> outputs;
  for (const char* output : {"motion", "motion2", "motion3"}) {
    outputs.push_back({output_name(std::string("VMAF_feature_") + output + "_score", info, setup.options)});
  }
  return std::unique_ptr<Feature>(std::make_unique<FloatMotion>(std::move(outputs), setup));
}

}  // namespace

FeatureEntry float_motion_entry() { return {.info = float_motion_info(), .create = create_float_motion}; }

}  // namespace acuity
