// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIM of Y' at five scales.
#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/powers.h"
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

constexpr int kScales = 5;
constexpr int kMinimumSide = kWindow << (kScales - 1);
// The exponents of contrast and structure at each scale, and of luminance at the last; libvmaf has them in float.
constexpr std::array<float, kScales> kExponents = {0.0448f, 0.2856f, 0.3001f, 0.2363f, 0.1333f};

double score_of(const std::array<Similarity, kScales>& scales) {
  double score = exact_power(scales.back().luminance, double{kExponents.back()});
  for (size_t i = 0; i < kScales; ++i) {
    // Pictures that are each other's negatives: the power does not exist, and goes to zero before.
    if (scales[i].structure <= 0) return 0;
    score *= exact_power(scales[i].contrast, double{kExponents[i]});
    score *= exact_power(scales[i].structure, double{kExponents[i]});
  }
  return score;
}

// What is asked for of the similarities.
struct Settings {
  bool factors;
  Decibels decibels;

  explicit Settings(const Feature::Setup& setup) : factors(is_on(setup.options, "enable_lcs")), decibels(setup) {}

  void conclude(const std::array<Similarity, kScales>& scales, std::span<double> values) const {
    values[0] = decibels.of(score_of(scales));
    if (!factors) return;
    for (size_t i = 0; i < kScales; ++i) {
      values[1 + i] = scales[i].luminance;
      values[1 + kScales + i] = scales[i].contrast;
      values[1 + 2 * kScales + i] = scales[i].structure;
    }
  }
};

/// A scale, and what makes its rows into those of the next.
class Level {
 public:
  Level(int width, int height, Arena& arena)
      : scale_(width, height, arena), halvers_{Halver(width, height, arena), Halver(width, height, arena)} {
    for (float*& row : halved_) row = arena.take<float>(padded_row(width));
  }
  static size_t bytes(int width) {
    return Scale::bytes(width) + 2 * Halver::bytes(width) + 2 * Arena::cost<float>(padded_row(width));
  }

  void begin() {
    scale_.begin();
    for (Halver& halver : halvers_) halver.begin();
  }
  /// `below`: the levels after this one.
  void push(const float* reference, const float* distorted, std::span<Level> below) {
    scale_.push(reference, distorted);
    if (below.empty()) return;
    halvers_[0].push(reference);
    halvers_[1].push(distorted);
    while (halvers_[0].pull(halved_[0]) && halvers_[1].pull(halved_[1])) {
      below.front().push(halved_[0], halved_[1], below.subspan(1));
    }
  }
  Similarity similarity() const { return scale_.similarity(); }

 private:
  Scale scale_;
  std::array<Halver, 2> halvers_;
  std::array<float*, 2> halved_{};
};

class Worker final : public FeatureWorker {
 public:
  Worker(const Feature::Setup& setup, Arena arena)
      : height_(setup.format.height), settings_(setup), arena_(std::move(arena)) {
    for (float*& row : rows_) {
      row = arena_.take<float>(padded_row(setup.format.width));
      std::fill(row, row + padded_row(setup.format.width), 0.0f);
    }
    int width = setup.format.width, height = setup.format.height;
    for (int i = 0; i < kScales; ++i, width = Halver::half(width), height = Halver::half(height)) {
      levels_.emplace_back(width, height, arena_);
    }
  }

  static size_t bytes_needed(int width) {
    size_t bytes = 2 * Arena::cost<float>(padded_row(width));
    for (int i = 0; i < kScales; ++i, width = Halver::half(width)) bytes += Level::bytes(width);
    return bytes;
  }

  size_t bytes() const override { return arena_.size(); }

  Status measure(const FrameWindow& window, std::span<double> values) override {
    for (Level& level : levels_) level.begin();
    for (int y = 0; y < height_; ++y) {
      read_frame_row(*window.reference[0], 0, y, 0.0f, rows_[0]);
      read_frame_row(*window.distorted[0], 0, y, 0.0f, rows_[1]);
      levels_.front().push(rows_[0], rows_[1], std::span(levels_).subspan(1));
    }
    std::array<Similarity, kScales> scales;
    for (size_t i = 0; i < kScales; ++i) scales[i] = levels_[i].similarity();
    settings_.conclude(scales, values);
    return {};
  }

 private:
  int height_;
  Settings settings_;
  Arena arena_;
  std::array<float*, 2> rows_{};
  std::vector<Level> levels_;
};

class DeviceWorker final : public DeviceFeatureWorker {
 public:
  explicit DeviceWorker(const Feature::Setup& setup) : settings_(setup) {
    int width = setup.format.width, height = setup.format.height;
    for (DeviceSums& scale : scales_) {
      scale = {width, height};
      width = Halver::half(width);
      height = Halver::half(height);
    }
  }

  size_t bytes() const override { return 0; }
  size_t scratch_bytes() const override {
    size_t bytes = sums_bytes();
    for (size_t i = 1; i < kScales; ++i) bytes += 2 * halved(i, 0).bytes();
    return bytes;
  }
  size_t result_bytes() const override {
    size_t bytes = 0;
    for (const DeviceSums& scale : scales_) bytes += scale.result_bytes();
    return bytes;
  }

  Status submit(Queue& queue, const DeviceWindow& window, uint64_t results) override {
    std::array<DevicePicture, 2> pictures;
    for (size_t side = 0; side < 2; ++side) {
      pictures[side] = DevicePicture::of_frame(side == 0 ? *window.reference[0] : *window.distorted[0], window.depth,
                                               scales_[0].width, scales_[0].height);
    }
    uint64_t free = window.scratch + sums_bytes();
    for (size_t i = 0; i < kScales; ++i) {
      if (i > 0) {
        for (DevicePicture& picture : pictures) {
          const DevicePicture to = halved(i, free);
          ACUITY_TRY(halve(queue, picture, to));
          picture = to;
          free += to.bytes();
        }
      }
      ACUITY_TRY(scales_[i].submit(queue, pictures[0], pictures[1], window.scratch, results));
      results += scales_[i].result_bytes();
    }
    return {};
  }

  Status finish(std::span<const std::byte> results, std::span<double> numbers) override {
    std::array<Similarity, kScales> scales;
    for (size_t i = 0; i < kScales; ++i) {
      scales[i] = scales_[i].finish(results);
      results = results.subspan(scales_[i].result_bytes());
    }
    settings_.conclude(scales, numbers);
    return {};
  }

 private:
  size_t sums_bytes() const { return round_up(scales_[0].scratch_bytes(), 256); }
  DevicePicture halved(size_t scale, uint64_t address) const {
    return DevicePicture::of_floats(address, scales_[scale].width, scales_[scale].height);
  }

  Settings settings_;
  std::array<DeviceSums, kScales> scales_;
};

class FloatMsSsim final : public Feature {
 public:
  explicit FloatMsSsim(const Setup& setup) : setup_(setup) {
    outputs_.push_back({"float_ms_ssim"});
    if (!Settings(setup).factors) return;
    for (const char* factor : {"l", "c", "s"}) {
      for (int i = 0; i < kScales; ++i) outputs_.push_back({fmt::format("float_ms_ssim_{}_scale{}", factor, i)});
    }
  }

  const std::vector<FeatureOutput>& outputs() const override { return outputs_; }

  Result<std::unique_ptr<FeatureWorker>> create_worker() const override {
    Result<Arena> arena = Arena::create(Worker::bytes_needed(setup_.format.width));
    if (!arena.ok()) return arena.status();
    return std::unique_ptr<FeatureWorker>(std::make_unique<Worker>(setup_, std::move(*arena)));
  }

  bool reads(Role, int plane) const override { return plane == 0; }
  Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device) const override {
    ACUITY_TRY(prepare_halving(device));
    ACUITY_TRY(prepare_sums(device));
    return std::unique_ptr<DeviceFeatureWorker>(std::make_unique<DeviceWorker>(setup_));
  }

 private:
  Setup setup_;
  std::vector<FeatureOutput> outputs_;
};

Result<std::unique_ptr<Feature>> create(const Feature::Setup& setup) {
  ACUITY_TRY(check_depth("float_ms_ssim", setup, {8, 10, 12, 16}));
  ACUITY_TRY(check_sides("float_ms_ssim", setup, kMinimumSide));
  return std::unique_ptr<Feature>(std::make_unique<FloatMsSsim>(setup));
}

}  // namespace
}  // namespace float_ssim

FeatureEntry float_ms_ssim_entry() {
  return {.info = {.name = "float_ms_ssim",
                   .version = "libvmaf 3.2.0",
                   .title = "structural similarity of Y' over five scales",
                   .better = Better::higher,
                   .identical_says = "1, or up to 1e-6 less by rounding",
                   .minimum_side = float_ssim::kMinimumSide,
                   .alpha_rule = "",
                   .options = float_ssim::shared_options("MS-SSIM")},
          .create = float_ssim::create,
          .on_gpu = true,
          .cpu_ns = 15};
}

}  // namespace acuity
