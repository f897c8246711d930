// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_vif/worker.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "base/try.h"
#include "frames/frame_rows.h"
#include "frames/frame_scaling.h"
#include "metrics/vif/scores.h"

namespace acuity::float_vif {
namespace {

constexpr float kMiddle = -128;  // added to samples

size_t row_floats(int width) { return round_up(static_cast<size_t>(width) + kRowSlack, 16); }

struct Plane {
  float* samples = nullptr;
  size_t stride = 0;  // in floats
  int width = 0;
  int height = 0;
  float* row(int y) const { return samples + static_cast<size_t>(y) * stride; }
};

// The rows of a picture as floats: of a plane, or of a frame, whose rows are read as they are needed. They are needed
// from top to bottom, the last `capacity` of them at once.
class Rows {
 public:
  explicit Rows(const Plane& plane) : plane_(plane) {}
  Rows(const FrameView& frame, const Plane& ring) : plane_(ring), frame_(&frame) {}

  int width() const { return frame_ != nullptr ? frame_->width : plane_.width; }
  int height() const { return frame_ != nullptr ? frame_->height : plane_.height; }

  const float* row(int y) {
    if (frame_ == nullptr) return plane_.row(y);
    for (; read_ <= y; ++read_) read_frame_row(*frame_, 0, read_, kMiddle, plane_.row(read_ % plane_.height));
    return plane_.row(y % plane_.height);
  }

  /// Pointers to `count` rows from `first` on for windows of that radius.
  void window(int first, int count, int radius, std::vector<const float*>& rows) {
    rows.clear();
    for (int y = first; y < first + count; ++y) {
      rows.push_back(row(mirrored(std::min(y, height() - 1 + radius), height())));
    }
  }

 private:
  Plane plane_;
  const FrameView* frame_ = nullptr;
  int read_ = 0;
};

class Worker final : public FeatureWorker {
 public:
  explicit Worker(const Parameters& parameters) : parameters_(parameters) {
    for (const Kernel& kernel : parameters_.kernels) radius_ = std::max(radius_, kernel.radius());
  }

  Status allocate() {
    rows_ = band_rows();
    const Parameters& p = parameters_;
    // Of a frame that is not scaled, rows for two bands, which are halved together.
    const int ring = 2 * rows_ + 2 * radius_;
    std::vector<std::pair<Plane*, int>> planes;  // and rows
    for (size_t side = 0; side < 2; ++side) {
      source_[side] = {nullptr, 0, p.scaled_width, p.scaled() ? p.scaled_height : ring};
      planes.emplace_back(&source_[side], source_[side].height);
      for (int scale = 1; scale < kScales; ++scale) {
        Plane& plane = planes_[side][static_cast<size_t>(scale)];
        plane = {nullptr, 0, p.scaled_width >> scale, p.scaled_height >> scale};
        planes.emplace_back(&plane, plane.height + rows_);  // bands are written whole
      }
    }
    if (p.scaled()) {
      lines_ = scaling_taps(p.scaling, p.height, p.scaled_height);
      columns_ = scaling_taps(p.scaling, p.width, p.scaled_width);
      all_columns_.resize(static_cast<size_t>(p.scaled_width));
      std::iota(all_columns_.begin(), all_columns_.end(), 0);
      unscaled_ = {nullptr, 0, p.width, p.height};
      planes.emplace_back(&unscaled_, p.height);
    }
    size_t bytes = Arena::cost<float>(band_scratch(radius_));
    for (const auto& [plane, height] : planes) {
      plane->stride = row_floats(plane->width);
      bytes += Arena::cost<float>(plane->stride * static_cast<size_t>(height));
    }
    ACUITY_TRY_ASSIGN(arena_, Arena::create(bytes));
    scratch_ = arena_.take<float>(band_scratch(radius_));
    for (const auto& [plane, height] : planes) {
      plane->samples = arena_.take<float>(plane->stride * static_cast<size_t>(height));
    }
    return {};
  }

  size_t bytes() const override {
    return arena_.size() + lines_.bytes() + columns_.bytes() + all_columns_.size() * sizeof(int);
  }

  Status measure(const FrameWindow& window, std::span<double> values) override {
    const FrameView* frames[2] = {window.reference[0], window.distorted[0]};
    if (parameters_.scaled()) {
      for (size_t side = 0; side < 2; ++side) scale_frame(*frames[side], source_[side]);
    }
    std::array<vif::ScaleScore, kScales> scores{};
    for (size_t scale = 0; scale < kScales; ++scale) {
      const auto rows = [&](size_t side) {
        if (scale > 0) return Rows(planes_[side][scale]);
        return parameters_.scaled() ? Rows(source_[side]) : Rows(*frames[side], source_[side]);
      };
      scores[scale] = measure_scale(rows(0), rows(1), scale);
    }
    vif::fill_values(scores, parameters_.skip_scale0, values);
    return {};
  }

 private:
  void scale_frame(const FrameView& frame, const Plane& to) {
    for (int y = 0; y < frame.height; ++y) read_frame_row(frame, 0, y, kMiddle, unscaled_.row(y));
    const float* rows[kMostScalingTaps] = {};
    for (int y = 0; y < to.height; ++y) {
      for (int t = 0; t < lines_.count; ++t) {
        rows[t] = unscaled_.row(lines_.places[static_cast<size_t>(y * lines_.count + t)]);
      }
      scale_row(rows, lines_, y, columns_, all_columns_, to.row(y));
    }
  }

  // Goes through a scale band by band; after every other one, the next scale's rows between are made.
  vif::ScaleScore measure_scale(Rows reference, Rows distorted, size_t scale) {
    vif::ScaleScore score{0, 0, 0};
    const bool skipped = scale == 0 && parameters_.skip_scale0;
    for (int y = 0; y < reference.height(); y += rows_) {
      if (!skipped) measure_rows(reference, distorted, y, parameters_.kernels[scale], score);
      const bool second = y / rows_ % 2 == 1, last = y + rows_ >= reference.height();
      if (scale + 1 < kScales && (second || last)) {
        halve_rows(reference, distorted, y / (2 * rows_) * rows_, scale + 1);
      }
    }
    return score_of(score.numerator, score.denominator, static_cast<int>(scale), parameters_);
  }

  Window window(Rows& reference, Rows& distorted, int first, int count, int radius) {
    reference.window(first - radius, count + 2 * radius, radius, windows_[0]);
    distorted.window(first - radius, count + 2 * radius, radius, windows_[1]);
    return {windows_[0].data(), windows_[1].data(), reference.width()};
  }

  // Rows are added up as floats, one after the other.
  void measure_rows(Rows& reference, Rows& distorted, int y, const Kernel& kernel, vif::ScaleScore& score) {
    std::array<float, 16> numerators{}, denominators{};
    measure_band(window(reference, distorted, y, rows_, kernel.radius()), kernel, parameters_.noise, scratch_,
                 numerators.data(), denominators.data());
    for (int r = 0; r < std::min(rows_, reference.height() - y); ++r) {
      score.numerator += numerators[static_cast<size_t>(r)];
      score.denominator += denominators[static_cast<size_t>(r)];
    }
  }

  // `y` is the first row of the results.
  void halve_rows(Rows& reference, Rows& distorted, int y, size_t scale) {
    const Plane &to = planes_[0][scale], &other = planes_[1][scale];
    if (y >= to.height) return;
    const Kernel& kernel = parameters_.kernels[scale];
    halve_band(window(reference, distorted, 2 * y, 2 * rows_, kernel.radius()), kernel, scratch_, to.row(y),
               other.row(y), to.stride);
  }

  const Parameters parameters_;
  int radius_ = 0;
  int rows_ = 0;
  Arena arena_;
  float* scratch_ = nullptr;
  std::array<Plane, 2> source_{};  // the scaled picture, or a ring of rows
  Plane unscaled_{};
  ScalingTaps lines_, columns_;
  std::vector<int> all_columns_;
  std::array<std::array<Plane, kScales>, 2> planes_{};  // of the scales from 1 on
  std::array<std::vector<const float*>, 2> windows_;
};

}  // namespace

vif::ScaleScore score_of(float numerator, float denominator, int scale, const Parameters& parameters) {
  const double ratio = static_cast<double>(numerator) / static_cast<double>(denominator);
  return {numerator, denominator, std::max(ratio, parameters.least[static_cast<size_t>(scale)])};
}

Result<std::unique_ptr<FeatureWorker>> create_worker(const Parameters& parameters) {
  auto worker = std::make_unique<Worker>(parameters);
  ACUITY_TRY(worker->allocate());
  return std::unique_ptr<FeatureWorker>(std::move(worker));
}

}  // namespace acuity::float_vif
