// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/vif/feature.h"

#include <array>
#include <cstring>
#include <utility>

#include "base/memory.h"
#include "base/try.h"
#include "lang/targets.h"
#include "frames/frame_checks.h"
#include "metrics/vif/cpu.h"
#include "metrics/vif/filters.h"
#include "metrics/vif/gpu.h"
#include "metrics/vif/scores.h"

namespace acuity {
namespace {

using vif::kScales;

size_t next_stride(int width) { return round_up(static_cast<size_t>(width) + vif::kRowSlack, 32); }

// In nearly flat places of the reference the numerator is 1 less what the distorted picture has there, in the share
// of the largest variance libvmaf gives it.
vif::ScaleScore score_of(const vif::Totals& totals) {
  const auto flat_pixels = static_cast<double>(totals.flat_pixels);
  const double lost = static_cast<double>(totals.flat_variance) / 16384.0 / 65025.0;
  vif::ScaleScore score;
  score.numerator = static_cast<float>(static_cast<double>(totals.numerator_logs) / 2048.0 + (flat_pixels - lost));
  score.denominator = static_cast<float>(static_cast<double>(totals.denominator_logs) / 2048.0 + flat_pixels);
  score.ratio = static_cast<double>(score.numerator / score.denominator);
  return score;
}

class Worker final : public FeatureWorker {
 public:
  static Result<std::unique_ptr<FeatureWorker>> create(const Feature::Setup& setup) {
    auto worker = std::make_unique<Worker>(setup);
    size_t bytes = Arena::cost<int16_t>(vif::scratch_units(setup.format.width));
    for (int scale = 1; scale < kScales; ++scale) bytes += 2 * Arena::cost<uint16_t>(worker->next_samples(scale));
    ACUITY_TRY_ASSIGN(worker->arena_, Arena::create(bytes));
    worker->scratch_ = worker->arena_.take<int16_t>(vif::scratch_units(setup.format.width));
    for (int scale = 1; scale < kScales; ++scale) {
      vif::NextPlanes& planes = worker->planes_[static_cast<size_t>(scale)];
      planes.reference = worker->arena_.take<uint16_t>(worker->next_samples(scale));
      planes.distorted = worker->arena_.take<uint16_t>(worker->next_samples(scale));
      planes.stride = next_stride(setup.format.width >> scale);
    }
    return std::unique_ptr<FeatureWorker>(std::move(worker));
  }

  explicit Worker(const Feature::Setup& setup)
      : width_(setup.format.width),
        height_(setup.format.height),
        gain_limit_(*setup.options.number("vif_enhn_gain_limit")),
        skip_scale0_(is_on(setup.options, "vif_skip_scale0")) {}

  size_t bytes() const override { return arena_.size(); }

  Status measure(const FrameWindow& window, std::span<double> values) override {
    std::array<vif::ScaleScore, kScales> scores{};
    vif::Planes planes = source(*window.reference[0], *window.distorted[0]);
    for (int scale = 0; scale < kScales; ++scale) {
      const vif::NextPlanes* next = scale + 1 < kScales ? &planes_[static_cast<size_t>(scale) + 1] : nullptr;
      const vif::Totals totals =
          vif::measure_scale(scale, planes, gain_limit_, scale == 0 && skip_scale0_, next, scratch_);
      scores[static_cast<size_t>(scale)] = score_of(totals);
      if (next == nullptr) break;
      const auto stride = static_cast<ptrdiff_t>(next->stride * sizeof(uint16_t));
      planes = {reinterpret_cast<const std::byte*>(next->reference),
                reinterpret_cast<const std::byte*>(next->distorted),
                stride,
                stride,
                planes.width / 2,
                planes.height / 2,
                16};
    }
    vif::fill_values(scores, skip_scale0_, values);
    return {};
  }

 private:
  size_t next_samples(int scale) const { return next_stride(width_ >> scale) * static_cast<size_t>(height_ >> scale); }

  static vif::Planes source(const FrameView& reference, const FrameView& distorted) {
    return {reference.planes[0], distorted.planes[0], reference.row_strides[0], distorted.row_strides[0],
            reference.width,     reference.height,    reference.depth};
  }

  const int width_, height_;
  const double gain_limit_;
  const bool skip_scale0_;
  Arena arena_;
  int16_t* scratch_ = nullptr;
  std::array<vif::NextPlanes, kScales> planes_{};  // [0] is not used
};

class DeviceWorker final : public DeviceFeatureWorker {
 public:
  explicit DeviceWorker(const Feature::Setup& setup)
      : task_{.shape = setup.format,
              .gain_limit = *setup.options.number("vif_enhn_gain_limit"),
              .skip_scale0 = is_on(setup.options, "vif_skip_scale0")} {}

  size_t bytes() const override { return 0; }
  size_t scratch_bytes() const override { return vif::device_scratch_bytes(task_.shape); }
  size_t result_bytes() const override { return sizeof(totals_); }

  Status submit(Queue& queue, const DeviceWindow& window, uint64_t results) override {
    task_.depth = window.depth;
    return vif::add_totals(queue, task_, window.reference[0]->front(), window.distorted[0]->front(), window.scratch,
                           results);
  }

  Status finish(std::span<const std::byte> results, std::span<double> values) override {
    std::memcpy(totals_.data(), results.data(), sizeof(totals_));
    std::array<vif::ScaleScore, kScales> scores{};
    for (size_t scale = 0; scale < kScales; ++scale) scores[scale] = score_of(totals_[scale]);
    vif::fill_values(scores, task_.skip_scale0, values);
    return {};
  }

 private:
  vif::DeviceTask task_;
  std::array<vif::Totals, kScales> totals_{};
};

MetricInfo info() {
  return {.name = "vif",
          .version = "libvmaf 3.2.0",
          .title = "visual information fidelity in whole numbers (luma, four scales)",
          .identical_says = "1, or up to 0.0001 less by rounding",
          .minimum_side = 16,
          .alpha_rule = "frames of video have none",
          .options = {vif::gain_limit_option(), vif::skip_option()}};
}

class Vif final : public Feature {
 public:
  explicit Vif(const Setup& setup)
      : setup_(setup), outputs_(vif::outputs("VMAF_integer_feature_", "integer_", info(), setup.options)) {}

  const std::vector<FeatureOutput>& outputs() const override { return outputs_; }
  size_t headline() const override { return vif::kHeadline; }
  Result<std::unique_ptr<FeatureWorker>> create_worker() const override { return Worker::create(setup_); }

  bool reads(Role, int plane) const override { return plane == 0; }
  Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device) const override {
    ACUITY_TRY(vif::prepare(device));
    return std::unique_ptr<DeviceFeatureWorker>(std::make_unique<DeviceWorker>(setup_));
  }

 private:
  const Setup setup_;
  const std::vector<FeatureOutput> outputs_;
};

Result<std::unique_ptr<Feature>> create(const Feature::Setup& setup) {
  ACUITY_TRY(prepare_cpu());
  ACUITY_TRY(check_depth("vif", setup, {8, 10, 12, 16}));
  ACUITY_TRY(check_sides("vif", setup, vif::least_side(vif::kRadius)));
  return std::unique_ptr<Feature>(std::make_unique<Vif>(setup));
}

}  // namespace

FeatureEntry vif_entry() { return {.info = info(), .create = create, .on_gpu = true, .cpu_ns = 3}; }

}  // namespace acuity
