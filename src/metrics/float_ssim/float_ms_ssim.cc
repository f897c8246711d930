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
  Worker(const Feature::Setup& setup, bool factors, Arena arena)
      : height_(setup.format.height), factors_(factors), decibels_(setup), arena_(std::move(arena)) {
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
    values[0] = decibels_.of(score_of(scales));
    if (!factors_) return {};
    for (size_t i = 0; i < kScales; ++i) {
      values[1 + i] = scales[i].luminance;
      values[1 + kScales + i] = scales[i].contrast;
      values[1 + 2 * kScales + i] = scales[i].structure;
    }
    return {};
  }

 private:
  int height_;
  bool factors_;
  Decibels decibels_;
  Arena arena_;
  std::array<float*, 2> rows_{};
  std::vector<Level> levels_;
};

class FloatMsSsim final : public Feature {
 public:
  explicit FloatMsSsim(const Setup& setup) : setup_(setup) {
    outputs_.push_back({"float_ms_ssim"});
    if (!factors()) return;
    for (const char* factor : {"l", "c", "s"}) {
      for (int i = 0; i < kScales; ++i) outputs_.push_back({fmt::format("float_ms_ssim_{}_scale{}", factor, i)});
    }
  }

  const std::vector<FeatureOutput>& outputs() const override { return outputs_; }

  Result<std::unique_ptr<FeatureWorker>> create_worker() const override {
    Result<Arena> arena = Arena::create(Worker::bytes_needed(setup_.format.width));
    if (!arena.ok()) return arena.status();
    return std::unique_ptr<FeatureWorker>(std::make_unique<Worker>(setup_, factors(), std::move(*arena)));
  }

 private:
  bool factors() const { return is_on(setup_.options, "enable_lcs"); }

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
          .create = float_ssim::create};
}

}  // namespace acuity
