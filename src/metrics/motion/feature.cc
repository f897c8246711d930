// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/motion/feature.h"

#include <cstring>
#include <memory>
#include <utility>

#include "base/try.h"
#include "frames/frame_checks.h"
#include "metrics/motion/difference.h"
#include "metrics/motion/gpu.h"
#include "metrics/motion/weighing.h"

namespace acuity {
namespace {

using motion::BlurredDifference;
using motion::Weighing;

constexpr int kMinimumSide = 3;  // the blur mirrors two pixels at each edge

// What a sum of differences comes to, in 8-bit steps.
double motion_of(uint64_t sum, const FrameShape& frame, const Weighing& weighing) {
  return weighing.clip(static_cast<double>(sum) / 256 / (static_cast<double>(frame.width) * frame.height) *
                       weighing.fps_weight);
}

class MotionWorker final : public FeatureWorker {
 public:
  MotionWorker(BlurredDifference difference, const Weighing& weighing, size_t back)
      : difference_(std::move(difference)), weighing_(weighing), back_(back) {}

  size_t bytes() const override { return difference_.bytes(); }

  Status measure(const FrameWindow& window, std::span<double> values) override {
    const FrameView* before = window.reference[back_];
    const FrameView& now = *window.reference[0];
    double motion = 0;
    if (before != nullptr && !weighing_.force_zero) {
      motion = motion_of(difference_.sum(*before, now), now, weighing_);
    }
    std::fill(values.begin(), values.end(), motion);
    return {};
  }

 private:
  BlurredDifference difference_;
  Weighing weighing_;
  size_t back_;
};

class MotionDeviceWorker final : public DeviceFeatureWorker {
 public:
  MotionDeviceWorker(const FrameShape& frame, const Weighing& weighing, size_t back)
      : frame_(frame), weighing_(weighing), back_(back) {}

  size_t bytes() const override { return 0; }
  size_t result_bytes() const override { return sizeof(uint64_t); }

  Status submit(Queue& queue, const DeviceWindow& window, uint64_t results) override {
    const DeviceFrame* before = window.reference[back_];
    measures_ = before != nullptr && !weighing_.force_zero;
    if (!measures_) return {};
    return motion::add_blurred_difference(queue, frame_, window.depth, before->front(), window.reference[0]->front(),
                                          results);
  }

  Status finish(std::span<const std::byte> results, std::span<double> numbers) override {
    uint64_t sum = 0;
    std::memcpy(&sum, results.data(), sizeof sum);
    std::fill(numbers.begin(), numbers.end(), measures_ ? motion_of(sum, frame_, weighing_) : 0);
    return {};
  }

 private:
  FrameShape frame_;
  Weighing weighing_;
  size_t back_;
  bool measures_ = false;
};

// The outputs are the motion since the frame before (and the same once more, in libvmaf's debug mode), the lesser of
// this and the next frame's, and that blended.
class Motion final : public Feature {
 public:
  Motion(std::vector<FeatureOutput> outputs, const Setup& setup)
      : outputs_(std::move(outputs)),
        frame_(setup.format),
        weighing_(setup.options),
        back_(is_on(setup.options, "motion_five_frame_window") ? 2 : 1),
        moving_average_(is_on(setup.options, "motion_moving_average")) {}

  const std::vector<FeatureOutput>& outputs() const override { return outputs_; }
  size_t headline() const override { return outputs_.size() - 2; }
  int history() const override { return static_cast<int>(back_); }

  Result<std::unique_ptr<FeatureWorker>> create_worker() const override {
    Result<BlurredDifference> difference = BlurredDifference::create(frame_.width);
    if (!difference.ok()) return difference.status();
    return std::unique_ptr<FeatureWorker>(std::make_unique<MotionWorker>(std::move(*difference), weighing_, back_));
  }

  bool reads(Role role, int plane) const override { return role == Role::reference && plane == 0; }
  Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device) const override {
    ACUITY_TRY(motion::prepare(device));
    return std::unique_ptr<DeviceFeatureWorker>(std::make_unique<MotionDeviceWorker>(frame_, weighing_, back_));
  }

  int numbers_before() const override { return moving_average_ ? back() : back() - 1; }
  int numbers_after() const override { return back(); }

  void conclude(const MeasuredWindow& window, std::span<double> values) const override {
    std::copy(window[0].begin(), window[0].end(), values.begin());
    double& motion2 = values[values.size() - 2];
    double& motion3 = values[values.size() - 1];
    motion2 = window.index < back() ? 0 : lesser(window, 0);
    motion3 = blended(window, 0);
    if (moving_average_ && window.index >= back()) motion3 = (motion3 + blended(window, -1)) / 2;
  }

 private:
  int back() const { return static_cast<int>(back_); }

  // Of a frame, the motion into it (with a window of five, into the one before it) and out of it.
  double lesser(const MeasuredWindow& window, int offset) const {
    if (!window.has(offset + 1)) return window[offset].front();
    const int into = offset + 1 - back();
    const double out_of = window[offset + 1].front();
    return window.index + into < back() ? out_of : std::min(window[into].front(), out_of);
  }

  // Frames that have none before them are given the motion of the first that has.
  double blended(const MeasuredWindow& window, int offset) const {
    const auto index = static_cast<int>(std::min<int64_t>(window.index + offset, back()));
    if (index == back()) return weighing_.blend(lesser(window, offset));
    const int first = offset + back() - index;
    return window.has(first) ? weighing_.blend(window[first].front()) : 0;
  }

  std::vector<FeatureOutput> outputs_;
  FrameShape frame_;
  Weighing weighing_;
  size_t back_;  // which frame before is compared
  bool moving_average_;
};

MetricInfo motion_info() {
  MetricInfo info{.name = "motion",
                  .version = "libvmaf 3.2.0",
                  .title = "how much moves in the reference, in whole numbers",
                  .better = Better::neither,
                  .identical_says = "no fixed value: it measures only the reference",
                  .minimum_side = kMinimumSide,
                  .alpha_rule = "",
                  .options = motion::weighing_options()};
  info.options.push_back(
      motion::named_switch("motion_five_frame_window", "mffw", "compare with the frame before the last"));
  info.options.push_back(motion::named_switch("motion_moving_average", "mma", "make motion3 the mean of two frames"));
  return info;
}

MetricInfo motion_v2_info() {
  MetricInfo info = motion_info();
  info.name = "motion_v2";
  info.version = "c2a3c7e";
  info.title = "motion under the names of the lusoris fork of libvmaf";
  return info;
}

Result<std::unique_ptr<Feature>> create_motion(const Feature::Setup& setup) {
  ACUITY_TRY(check_sides("motion", setup, kMinimumSide));
  const MetricInfo info = motion_info();
  const auto name = [&](const char* output) {
    return output_name(std::string("VMAF_integer_feature_") + output + "_score", info, setup.options);
  };
  return std::unique_ptr<Feature>(std::make_unique<Motion>(
      std::vector<FeatureOutput>{{name("motion_sad")}, {name("motion"), true}, {name("motion2")}, {name("motion3")}},
      setup));
}

Result<std::unique_ptr<Feature>> create_motion_v2(const Feature::Setup& setup) {
  ACUITY_TRY(check_sides("motion_v2", setup, kMinimumSide));
  if (is_on(setup.options, "motion_five_frame_window")) {
    return Status(StatusCode::usage, "motion_v2 has no window of five frames; use motion with the same options");
  }
  const MetricInfo info = motion_v2_info();
  const auto name = [&](const char* output) {
    return output_name(std::string("VMAF_integer_feature_") + output + "_score", info, setup.options);
  };
  return std::unique_ptr<Feature>(std::make_unique<Motion>(
      std::vector<FeatureOutput>{{name("motion_v2_sad")}, {name("motion2_v2")}, {name("motion3_v2")}}, setup));
}

}  // namespace

FeatureEntry motion_entry() { return {.info = motion_info(), .create = create_motion, .on_gpu = true, .cpu_ns = 0.2}; }
FeatureEntry motion_v2_entry() {
  return {.info = motion_v2_info(), .create = create_motion_v2, .on_gpu = true, .cpu_ns = 0.2};
}

}  // namespace acuity
