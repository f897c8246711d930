// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cambi/meter.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/try.h"
#include "metrics/cambi/pool.h"
#include "metrics/cambi/rows.h"

namespace acuity::cambi {
namespace {

constexpr std::array<int, kScales> kScaleWeights{16, 8, 4, 2, 1};

int most(const Plan& plan, int View::* member) {
  return plan.full_reference ? std::max(plan.distorted.*member, plan.reference.*member) : plan.distorted.*member;
}

FrameReader reader_of(const Plan& plan, const View& view) {
  return FrameReader(plan.frame_width, plan.frame_height, view.width, view.height, plan.smooth, plan.halved);
}

int first_scale(const Plan& plan, int side) { return plan.halved ? (side + 1) / 2 : side; }

}  // namespace

int64_t pooled(const Plan& plan, int64_t samples) {
  return std::clamp<int64_t>(static_cast<int64_t>(plan.part * static_cast<double>(samples)), 1, samples);
}

double score_of(const std::array<double, kScales>& means, int window) {
  double score = 0;
  for (size_t scale = 0; scale < kScales; ++scale) score += means[scale] * kScaleWeights[scale];
  return score / (window * window);
}

double map_factor(const Plan& plan, int window) {
  const auto& weights = plan.contrast.weights;
  const int weight = *std::max_element(weights.begin(), weights.begin() + plan.contrast.count);
  return 65535.0 / (weight * window * window / 4);
}

Meter::Meter(const Plan& plan)
    : plan_(plan),
      steps_(plan.contrast),
      counts_(steps_, first_scale(plan, most(plan, &View::width)), most(plan, &View::window) / 2),
      distorted_(reader_of(plan, plan.distorted)) {
  if (plan.full_reference) reference_ = std::make_unique<FrameReader>(reader_of(plan, plan.reference));
  const int width = first_scale(plan, most(plan, &View::width)), height = first_scale(plan, most(plan, &View::height));
  image_.reshape(width, height);
  smaller_.reshape((width + 1) / 2, (height + 1) / 2);
  const auto stride = static_cast<size_t>(image_.stride);
  modes_.resize(3 * stride);
  filtered_.resize(stride);
  levels_.resize(static_cast<size_t>(most(plan, &View::window) + 1) * stride);
  most_contrasts_ = static_cast<size_t>(width) * static_cast<size_t>(height) + kBeyond;
  contrasts_ = std::make_unique_for_overwrite<float[]>(most_contrasts_);
  if (plan.heatmaps) map_row_.resize(stride);
}

size_t Meter::bytes() const {
  size_t samples = image_.samples.size() + smaller_.samples.size() + modes_.size() + filtered_.size() + levels_.size();
  return samples * sizeof(uint16_t) + (most_contrasts_ + map_row_.size()) * sizeof(float) + counts_.bytes() +
         distorted_.bytes() + (reference_ ? reference_->bytes() : 0);
}

Result<double> Meter::measure_distorted(const FrameView& frame, int64_t index) {
  return measure(distorted_, plan_.distorted, frame, plan_.heatmaps.get(), index);
}

Result<double> Meter::measure_reference(const FrameView& frame) {
  return measure(*reference_, plan_.reference, frame, nullptr, 0);
}

Result<double> Meter::measure(FrameReader& reader, const View& view, const FrameView& frame, Heatmaps* heatmaps,
                              int64_t index) {
  ACUITY_TRY(reader.read(frame, image_));
  std::array<double, kScales> means{};
  for (int scale = 0; scale < kScales; ++scale) {
    ACUITY_TRY_ASSIGN(means[static_cast<size_t>(scale)],
                      measure_scale(scale, view.window, scale + 1 == kScales, heatmaps, index));
    if (scale + 1 < kScales) std::swap(image_, smaller_);
  }
  return score_of(means, view.window);
}

// Row y of the picture, filtered; the first and the last one stay as they are. Rows are asked for in their order.
const uint16_t* Meter::filter_row(int y) {
  const auto mode = [&](int row) { return modes_.data() + row % 3 * image_.stride; };
  if (y + 1 < image_.height) mode_across(image_.row(y + 1), image_.width, mode(y + 1));
  if (y == 0) mode_across(image_.row(0), image_.width, mode(0));
  if (y == 0 || y + 1 == image_.height) return image_.row(y);
  mode_down(mode(y - 1), mode(y), mode(y + 1), image_.row(y), image_.width, filtered_.data());
  return filtered_.data();
}

// The mean contrast of image_. What the next scale begins with is left in smaller_.
Result<double> Meter::measure_scale(int scale, int window, bool last, Heatmaps* heatmaps, int64_t index) {
  const int width = image_.width, height = image_.height, reach = window / 2;
  smaller_.reshape((width + 1) / 2, (height + 1) / 2);
  counts_.begin(width, reach);
  const auto levels = [&](int y) { return levels_.data() + y % (window + 1) * image_.stride; };
  size_t count = 0;
  for (int entering = 0; entering < height + reach; ++entering) {
    const int y = entering - reach, leaving = y - reach - 1;
    if (entering < height) {
      const uint16_t* row = filter_row(entering);
      if (!last && entering % 2 == 0) halve(row, smaller_.width, smaller_.row(entering / 2));
      to_levels(row, steps_.levels, width, levels(entering));
    }
    counts_.move(entering < height ? levels(entering) : nullptr, leaving >= 0 ? levels(leaving) : nullptr);
    if (y < 0) continue;
    float* contrasts = contrasts_.get() + count;
    count += static_cast<size_t>(counts_.contrasts(levels(y), contrasts));
    if (heatmaps == nullptr) continue;
    ACUITY_TRY(write_row(scale, window, (index * height + y) * width, levels(y), contrasts));
  }
  if (heatmaps != nullptr) ACUITY_TRY(heatmaps->flush(scale));
  const int64_t wanted = pooled(plan_, static_cast<int64_t>(width) * height);
  return mean_of(sum_of_largest({contrasts_.get(), count}, wanted), wanted);
}

Status Meter::write_row(int scale, int window, int64_t first_sample, const uint16_t* levels, const float* contrasts) {
  const auto width = static_cast<size_t>(image_.width);
  for (size_t x = 0; x < width; ++x) {
    const bool counted = levels[x] >= steps_.lowest && levels[x] <= steps_.highest;
    map_row_[x] = counted ? *contrasts++ : 0;
  }
  return plan_.heatmaps->write(scale, first_sample, {map_row_.data(), width}, map_factor(plan_, window));
}

}  // namespace acuity::cambi
