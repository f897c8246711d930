// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <memory>
#include <utility>

#include "base/memory_pool.h"
#include "base/try.h"
#include "frames/frame_checks.h"
#include "frames/frame_rows.h"
#include "frames/row_sums.h"
#include "metrics/motion/feature.h"
#include "metrics/motion/float_difference.h"
#include "metrics/motion/float_gpu.h"
#include "metrics/motion/weighing.h"

namespace acuity {
namespace {

using motion::BlurredPlane;
using motion::FloatBlur;
using motion::FloatDifference;
using motion::Weighing;

constexpr int kMinimumSide = 3;  // the blur mirrors two pixels at each edge

// Every size but 1 and 3 means 5.
motion::Taps taps_of(double filter_size) {
  if (filter_size == 1) return {0, 0, 1};
  if (filter_size == 3) return {0, 0.166378498f, 0.667243004f};
  return {0.054488685f, 0.244201342f, 0.402619947f};
}

// What is kept of a frame of the reference.
class BlurredFrame final : public DerivedFrame {
 public:
  BlurredFrame(std::vector<BlurredPlane> planes, std::shared_ptr<const std::byte> memory, size_t bytes)
      : planes_(std::move(planes)), memory_(std::move(memory)), bytes_(bytes) {}
  size_t bytes() const override { return bytes_; }
  const std::vector<BlurredPlane>& planes() const { return planes_; }

 private:
  std::vector<BlurredPlane> planes_;
  std::shared_ptr<const std::byte> memory_;
  size_t bytes_;
};

// The planes of blurred frames, and memory for them.
struct Layout {
  std::vector<BlurredPlane> planes;
  MemoryPool memory;

  static std::vector<BlurredPlane> planes_of(const FrameShape& frame, int count) {
    std::vector<BlurredPlane> planes;
    for (int p = 0; p < count; ++p) {
      const FrameShape shape = p == 0 ? frame : with_even_chroma(frame);
      planes.push_back({shape.plane_width(p), shape.plane_height(p)});
    }
    return planes;
  }

  static size_t bytes_of(const std::vector<BlurredPlane>& planes) {
    size_t bytes = 0;
    for (const BlurredPlane& plane : planes) bytes += plane.count() * sizeof(float);
    return bytes;
  }

  Layout(const FrameShape& frame, int count) : planes(planes_of(frame, count)), memory(bytes_of(planes)) {}
};

class FloatMotionWorker final : public FeatureWorker {
 public:
  FloatMotionWorker(FloatBlur blur, FloatDifference difference, const Layout& layout)
      : blur_(std::move(blur)), difference_(std::move(difference)), layout_(layout) {}

  size_t bytes() const override { return blur_.bytes() + difference_.bytes(); }

  Result<std::shared_ptr<const DerivedFrame>> derive(Role, const FrameView& frame) override {
    std::shared_ptr<std::byte> memory;
    ACUITY_TRY_ASSIGN(memory, layout_.memory.take());
    std::vector<BlurredPlane> planes = layout_.planes;
    auto* values = reinterpret_cast<float*>(memory.get());
    for (size_t p = 0; p < planes.size(); ++p) {
      planes[p].values = values;
      values += planes[p].count();
      blur_.blur(p == 0 ? frame : with_even_chroma(frame), static_cast<int>(p), planes[p]);
    }
    return std::shared_ptr<const DerivedFrame>(
        std::make_shared<BlurredFrame>(std::move(planes), std::move(memory), layout_.memory.piece_bytes()));
  }

  // Numbers are not weighed yet: the lesser of two is looked for first.
  Status measure(const FrameWindow& window, std::span<double> numbers) override {
    const auto& derived = window.derived[static_cast<size_t>(Role::reference)];
    double motion = 0;
    if (derived[1] != nullptr) {
      const auto& before = static_cast<const BlurredFrame*>(derived[1])->planes();
      const auto& now = static_cast<const BlurredFrame*>(derived[0])->planes();
      for (size_t p = 0; p < now.size(); ++p) motion += static_cast<double>(difference_.mean(before[p], now[p]));
    }
    std::fill(numbers.begin(), numbers.end(), motion);
    return {};
  }

 private:
  FloatBlur blur_;
  FloatDifference difference_;
  const Layout& layout_;
};

class FloatMotionDeviceWorker final : public DeviceFeatureWorker {
 public:
  FloatMotionDeviceWorker(const Layout& layout, const motion::Taps& taps, bool add_half_size)
      : layout_(layout), taps_(taps), add_half_size_(add_half_size) {
    for (const BlurredPlane& plane : layout.planes) {
      rows_ += static_cast<size_t>(plane.height + (add_half_size ? (plane.height + 1) / 2 : 0));
    }
  }

  size_t bytes() const override { return 0; }
  size_t result_bytes() const override { return round_up(std::max<size_t>(rows_, 1) * sizeof(float), 8); }

  Status submit(Queue& queue, const DeviceWindow& window, uint64_t results) override {
    const DeviceFrame* before = window.reference[1];
    if (before == nullptr) return {};  // the sums stay zero
    const DeviceFrame& now = *window.reference[0];
    for (size_t p = 0; p < layout_.planes.size(); ++p) {
      const auto [width, height, values] = layout_.planes[p];
      const auto sum = [&](bool at_half_size, int rows) {
        const uint64_t sums = results;
        results += static_cast<uint64_t>(rows) * sizeof(float);
        return motion::sum_blurred_rows(queue, width, height, window.depth, taps_, (*before)[p], now[p], at_half_size,
                                        sums);
      };
      ACUITY_TRY(sum(false, height));
      if (add_half_size_) ACUITY_TRY(sum(true, (height + 1) / 2));
    }
    return {};
  }

  Status finish(std::span<const std::byte> results, std::span<double> numbers) override {
    double motion = 0;
    const auto mean = [&](int width, int height) {
      const std::span<const std::byte> rows = results.first(static_cast<size_t>(height) * sizeof(float));
      results = results.subspan(rows.size());
      return motion::mean_of(total_of_rows(rows), width, height);
    };
    for (const auto& [width, height, values] : layout_.planes) {
      float sum = mean(width, height);
      if (add_half_size_) sum += mean((width + 1) / 2, (height + 1) / 2);
      motion += static_cast<double>(sum);
    }
    std::fill(numbers.begin(), numbers.end(), motion);
    return {};
  }

 private:
  const Layout& layout_;
  motion::Taps taps_;
  bool add_half_size_;
  size_t rows_ = 0;
};

class FloatMotion final : public Feature {
 public:
  FloatMotion(std::vector<FeatureOutput> outputs, const Setup& setup)
      : outputs_(std::move(outputs)),
        width_(setup.format.width),
        weighing_(setup.options),
        taps_(taps_of(*setup.options.number("motion_filter_size"))),
        add_half_size_(is_on(setup.options, "motion_add_scale1")),
        layout_(setup.format, weighing_.force_zero                    ? 0
                              : is_on(setup.options, "motion_add_uv") ? 3
                                                                      : 1) {}

  const std::vector<FeatureOutput>& outputs() const override { return outputs_; }
  size_t headline() const override { return 1; }
  int history() const override { return 1; }

  bool derives(Role role) const override { return role == Role::reference && !layout_.planes.empty(); }

  Result<std::unique_ptr<FeatureWorker>> create_worker() const override {
    Result<FloatBlur> blur = FloatBlur::create(width_, taps_);
    if (!blur.ok()) return blur.status();
    Result<FloatDifference> difference = FloatDifference::create(width_, add_half_size_);
    if (!difference.ok()) return difference.status();
    return std::unique_ptr<FeatureWorker>(
        std::make_unique<FloatMotionWorker>(std::move(*blur), std::move(*difference), layout_));
  }

  bool reads(Role role, int plane) const override {
    return role == Role::reference && plane < static_cast<int>(layout_.planes.size());
  }
  Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device) const override {
    ACUITY_TRY(motion::prepare_float(device, add_half_size_));
    return std::unique_ptr<DeviceFeatureWorker>(
        std::make_unique<FloatMotionDeviceWorker>(layout_, taps_, add_half_size_));
  }

  int numbers_after() const override { return 1; }

  void conclude(const MeasuredWindow& window, std::span<double> values) const override {
    const double motion = window[0].front();
    const double next = window.has(1) ? window[1].front() : motion;
    const double lesser = (window.index == 0 ? next : std::min(motion, next)) * weighing_.fps_weight;
    values[0] = weighing_.clip(motion * weighing_.fps_weight);
    values[1] = window.index == 0 ? 0 : weighing_.clip(lesser);
    values[2] = weighing_.blend(lesser);
  }

 private:
  std::vector<FeatureOutput> outputs_;
  int width_;
  Weighing weighing_;
  motion::Taps taps_;
  bool add_half_size_;
  Layout layout_;
};

MetricInfo float_motion_info() {
  MetricInfo info{.name = "float_motion",
                  .version = "libvmaf 3.2.0",
                  .title = "how much moves in the reference, in floats",
                  .better = Better::neither,
                  .identical_says = "no fixed value: it measures only the reference",
                  .minimum_side = kMinimumSide,
                  .alpha_rule = "",
                  .options = motion::weighing_options()};
  info.options.push_back(motion::named_switch(
      "motion_add_scale1", "mdc", "add the motion of the frames at half their size; GPUs need doubles for it"));
  MetricOption size =
      motion::number_option("motion_filter_size", "mfs", "taps of the blur: 1 or 3; any other number means 5", "5", 9);
  size.whole = true;
  info.options.push_back(size);
  info.options.push_back(motion::named_switch("motion_add_uv", "mau", "add the motion of the colour planes"));
  return info;
}

Result<std::unique_ptr<Feature>> create_float_motion(const Feature::Setup& setup) {
  const bool add_chroma = is_on(setup.options, "motion_add_uv");
  const bool narrow_chroma = add_chroma && setup.format.subsampling != Subsampling::yuv444;
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

FeatureEntry float_motion_entry() {
  return {.info = float_motion_info(), .create = create_float_motion, .on_gpu = true, .cpu_ns = 2};
}

}  // namespace acuity
