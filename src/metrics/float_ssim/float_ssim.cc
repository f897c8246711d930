// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIM of Y' at one scale.
#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/try.h"
#include "metrics/float_ssim/decibels.h"
#include "metrics/float_ssim/entries.h"
#include "metrics/float_ssim/gpu.h"
#include "metrics/float_ssim/scale.h"
#include "frames/frame_checks.h"
#include "frames/frame_rows.h"

namespace acuity {
namespace float_ssim {
namespace {

/// Means of factor x factor samples about every factor-th sample; the picture is mirrored at its edges.
struct Shrinking {
  int factor = 1;

  // libvmaf adds the odd sample whatever the factor is.
  int shrunk(int side) const { return factor == 1 ? side : side / factor + side % 2; }
  float weight() const { return 1.0f / static_cast<float>(factor * factor); }
  /// The first of the samples that make the one at `place`.
  int first(int place) const { return place * factor - factor / 2; }
  static int mirrored_at_edge(int place, int side) {
    return place < 0 ? -1 - place : place >= side ? 2 * side - 1 - place : place;
  }
};

Shrinking choose_shrinking(const Feature::Setup& setup) {
  const int factor = static_cast<int>(*setup.options.number("scale"));
  // By default the shorter side comes to about 256.
  return {factor > 0 ? factor : std::max(1, (std::min(setup.format.width, setup.format.height) + 128) / 256)};
}

// What is asked for of the similarity.
struct Settings {
  bool factors;
  Decibels decibels;

  explicit Settings(const Feature::Setup& setup) : factors(is_on(setup.options, "enable_lcs")), decibels(setup) {}

  void conclude(const Similarity& similarity, std::span<double> values) const {
    values[0] = decibels.of(similarity.ssim);
    if (!factors) return;
    values[1] = similarity.luminance;
    values[2] = similarity.contrast;
    values[3] = similarity.structure;
  }
};

class Worker final : public FeatureWorker {
 public:
  Worker(const Feature::Setup& setup, Shrinking shrinking, Arena arena)
      : width_(setup.format.width),
        height_(setup.format.height),
        shrinking_(shrinking),
        settings_(setup),
        arena_(std::move(arena)),
        scale_(shrinking.shrunk(width_), shrinking.shrunk(height_), arena_),
        row_(arena_.take<float>(padded_row(width_))),
        sums_(arena_.take<double>(padded_row(width_))) {
    for (float*& row : shrunk_) row = arena_.take<float>(padded_row(width_));
  }

  static size_t bytes_needed(int width, Shrinking shrinking) {
    return Scale::bytes(shrinking.shrunk(width)) + 3 * Arena::cost<float>(padded_row(width)) +
           Arena::cost<double>(padded_row(width));
  }

  size_t bytes() const override { return arena_.size(); }

  Status measure(const FrameWindow& window, std::span<double> values) override {
    scale_.begin();
    for (int y = 0; y < shrinking_.shrunk(height_); ++y) {
      read(*window.reference[0], y, shrunk_[0]);
      read(*window.distorted[0], y, shrunk_[1]);
      scale_.push(shrunk_[0], shrunk_[1]);
    }
    settings_.conclude(scale_.similarity(), values);
    return {};
  }

 private:
  void read(const FrameView& frame, int y, float* out) {
    if (shrinking_.factor == 1) return read_frame_row(frame, 0, y, 0.0f, out);
    std::fill(sums_, sums_ + padded_row(width_), 0.0);
    const int factor = shrinking_.factor;
    for (int k = 0; k < factor; ++k) {
      read_frame_row(frame, 0, Shrinking::mirrored_at_edge(shrinking_.first(y) + k, height_), 0.0f, row_);
      add_weighted(row_, shrinking_.weight(), width_, sums_);
    }
    for (int x = 0; x < shrinking_.shrunk(width_); ++x) {
      const int first = shrinking_.first(x);
      double sum = 0;
      if (first >= 0 && first + factor <= width_) {
        for (int k = 0; k < factor; ++k) sum += sums_[first + k];
      } else {
        for (int k = 0; k < factor; ++k) sum += sums_[Shrinking::mirrored_at_edge(first + k, width_)];
      }
      out[x] = static_cast<float>(sum);
    }
  }

  int width_, height_;
  Shrinking shrinking_;
  Settings settings_;
  Arena arena_;
  Scale scale_;
  float* row_;
  double* sums_;
  std::array<float*, 2> shrunk_{};
};

class DeviceWorker final : public DeviceFeatureWorker {
 public:
  DeviceWorker(const Feature::Setup& setup, Shrinking shrinking)
      : width_(setup.format.width),
        height_(setup.format.height),
        shrinking_(shrinking),
        settings_(setup),
        sums_{shrinking.shrunk(width_), shrinking.shrunk(height_)} {}

  size_t bytes() const override { return 0; }
  size_t scratch_bytes() const override {
    return round_up(sums_.scratch_bytes(), 256) + (shrinking_.factor == 1 ? 0 : 2 * shrunk(0).bytes());
  }
  size_t result_bytes() const override { return sums_.result_bytes(); }

  Status submit(Queue& queue, const DeviceWindow& window, uint64_t results) override {
    std::array<DevicePicture, 2> pictures;
    uint64_t free = window.scratch + round_up(sums_.scratch_bytes(), 256);
    for (size_t i = 0; i < 2; ++i) {
      pictures[i] =
          DevicePicture::of_frame(i == 0 ? *window.reference[0] : *window.distorted[0], window.depth, width_, height_);
      if (shrinking_.factor == 1) continue;
      const DevicePicture to = shrunk(free);
      ACUITY_TRY(shrink(queue, pictures[i], shrinking_.factor, shrinking_.weight(), to));
      pictures[i] = to;
      free += to.bytes();
    }
    return sums_.submit(queue, pictures[0], pictures[1], window.scratch, results);
  }

  Status finish(std::span<const std::byte> results, std::span<double> numbers) override {
    settings_.conclude(sums_.finish(results), numbers);
    return {};
  }

 private:
  DevicePicture shrunk(uint64_t address) const { return DevicePicture::of_floats(address, sums_.width, sums_.height); }

  int width_, height_;
  Shrinking shrinking_;
  Settings settings_;
  DeviceSums sums_;
};

class FloatSsim final : public Feature {
 public:
  FloatSsim(const Setup& setup, Shrinking shrinking) : setup_(setup), shrinking_(shrinking) {
    outputs_.push_back({"float_ssim"});
    if (!Settings(setup).factors) return;
    for (const char* factor : {"l", "c", "s"}) outputs_.push_back({fmt::format("float_ssim_{}", factor)});
  }

  const std::vector<FeatureOutput>& outputs() const override { return outputs_; }

  Result<std::unique_ptr<FeatureWorker>> create_worker() const override {
    Result<Arena> arena = Arena::create(Worker::bytes_needed(setup_.format.width, shrinking_));
    if (!arena.ok()) return arena.status();
    return std::unique_ptr<FeatureWorker>(std::make_unique<Worker>(setup_, shrinking_, std::move(*arena)));
  }

  bool reads(Role, int plane) const override { return plane == 0; }
  Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device) const override {
    if (shrinking_.factor > 1) ACUITY_TRY(prepare_shrinking(device));
    ACUITY_TRY(prepare_sums(device));
    return std::unique_ptr<DeviceFeatureWorker>(std::make_unique<DeviceWorker>(setup_, shrinking_));
  }

 private:
  Setup setup_;
  Shrinking shrinking_;
  std::vector<FeatureOutput> outputs_;
};

Result<std::unique_ptr<Feature>> create(const Feature::Setup& setup) {
  ACUITY_TRY(check_depth("float_ssim", setup, {8, 10, 12, 16}));
  ACUITY_TRY(check_sides("float_ssim", setup, kWindow));
  const Shrinking shrinking = choose_shrinking(setup);
  const int width = shrinking.shrunk(setup.format.width), height = shrinking.shrunk(setup.format.height);
  if (std::min(width, height) < kWindow) {
    return Status(StatusCode::input, fmt::format("float_ssim would shrink frames of {} x {} pixels by {} to {} x {}, "
                                                 "and its window is {} x {}; use a smaller scale",
                                                 setup.format.width, setup.format.height, shrinking.factor, width,
                                                 height, kWindow, kWindow));
  }
  return std::unique_ptr<Feature>(std::make_unique<FloatSsim>(setup, shrinking));
}

}  // namespace
}  // namespace float_ssim

FeatureEntry float_ssim_entry() {
  std::vector<MetricOption> options = float_ssim::shared_options("SSIM");
  options.push_back({.name = "scale",
                     .help = "shrink frames by this factor first; 0: until the shorter side is about 256",
                     .default_value = "0",
                     .minimum = 0,
                     .maximum = 10,
                     .whole = true});
  return {.info = {.name = "float_ssim",
                   .version = "libvmaf 3.2.0",
                   .title = "structural similarity of Y'",
                   .better = Better::higher,
                   .identical_says = "1, or up to 1e-6 less by rounding",
                   .minimum_side = float_ssim::kWindow,
                   .alpha_rule = "",
                   .options = std::move(options)},
          .create = float_ssim::create,
          .on_gpu = true,
          .cpu_ns = 1};
}

}  // namespace acuity
