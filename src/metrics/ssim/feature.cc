// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIM of Y' with a window of whole weights.
#include "metrics/ssim/feature.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "base/try.h"
#include "frames/frame_checks.h"
#include "metrics/ssim/gpu.h"
#include "metrics/ssim/rows.h"

namespace acuity {
namespace ssim {
namespace {

constexpr int kLines = 2 * kReach + 1;

// The weights of a window about `place` that lie in a side of that length.
double weight_inside(int place, int side) {
  int weight = 0;
  for (int k = -kReach; k <= kReach; ++k) {
    if (place + k >= 0 && place + k < side) weight += kWeights[static_cast<size_t>(std::abs(k))];
  }
  return weight;
}

// The square of the largest sample, as an int of 32 bits holds it: for 16 bits that is -131071, and scores contain it.
double square_of_peak(int depth) { return depth == 16 ? -131071.0 : double{(1 << depth) - 1.0} * ((1 << depth) - 1); }

double c1_of(int depth) { return square_of_peak(depth) * (0.01 * 0.01); }
double c2_of(int depth) { return square_of_peak(depth) * (0.03 * 0.03); }

// What all windows of a frame weigh.
double weight_of_windows(const FrameShape& frame) {
  double along = 0, down = 0;
  for (int x = 0; x < frame.width; ++x) along += weight_inside(x, frame.width);
  for (int y = 0; y < frame.height; ++y) down += weight_inside(y, frame.height);
  return along * down;
}

class Worker final : public FeatureWorker {
 public:
  Worker(const Feature::Setup& setup, Arena arena)
      : width_(setup.format.width),
        height_(setup.format.height),
        depth_(setup.format.depth),
        weight_(weight_of_windows(setup.format)),
        line_bytes_(padded_row(setup.format.width) * element_bytes(setup.format.depth)),
        arena_(std::move(arena)),
        lines_(zeros(kMoments * (kLines + 1) * line_bytes_)),
        scratch_(zeros(kMoments * line_bytes_)),
        weights_(arena_.take<double>(padded_row(width_))),
        similarities_(arena_.take<double>(padded_row(width_))) {
    std::fill(weights_, weights_ + padded_row(width_), 1.0);
    for (int x = 0; x < width_; ++x) weights_[x] = weight_inside(x, width_);
  }

  static size_t bytes_needed(int width, int depth) {
    const size_t line = padded_row(width) * element_bytes(depth);
    return Arena::cost<std::byte>(kMoments * (kLines + 1) * line) + Arena::cost<std::byte>(kMoments * line) +
           2 * Arena::cost<double>(padded_row(width));
  }

  size_t bytes() const override { return arena_.size(); }

  Status measure(const FrameWindow& window, std::span<double> values) override {
    const FrameView& a = *window.reference[0];
    const FrameView& b = *window.distorted[0];
    double sum = 0;
    for (int y = 0; y < height_ + kReach; ++y) {
      if (y < height_) {
        std::array<void*, kMoments> sums;
        for (size_t m = 0; m < kMoments; ++m) sums[m] = line(m, y % kLines);
        sum_along_row(a.planes[0] + y * a.row_strides[0], b.planes[0] + y * b.row_strides[0], depth_, width_, scratch_,
                      sums);
      }
      if (y >= kReach) sum = add_row(y - kReach, sum);
    }
    values[0] = sum / weight_;
    return {};
  }

 private:
  std::byte* zeros(size_t bytes) {
    std::byte* memory = arena_.take<std::byte>(bytes);
    std::memset(memory, 0, bytes);
    return memory;
  }
  // Lines kLines are zero, and stand for those outside the picture.
  std::byte* line(size_t moment, int slot) const {
    return lines_ + (moment * (kLines + 1) + static_cast<size_t>(slot)) * line_bytes_;
  }

  double add_row(int y, double sum) {
    WindowRow row{.sums = {},
                  .weights_along = weights_,
                  .weight_down = weight_inside(y, height_),
                  .c1 = c1_of(depth_),
                  .c2 = c2_of(depth_)};
    for (size_t m = 0; m < kMoments; ++m) {
      for (int k = -kReach; k <= kReach; ++k) {
        const bool inside = y + k >= 0 && y + k < height_;
        row.sums[m][static_cast<size_t>(kReach + k)] = line(m, inside ? (y + k) % kLines : kLines);
      }
    }
    compare_row(row, depth_, width_, similarities_);
    // One after the other, as the definition adds them.
    for (int x = 0; x < width_; ++x) sum += similarities_[x];
    return sum;
  }

  int width_, height_, depth_;
  double weight_;
  size_t line_bytes_;
  Arena arena_;
  std::byte* lines_;
  std::byte* scratch_;
  double* weights_;
  double* similarities_;
};

class DeviceWorker final : public DeviceFeatureWorker {
 public:
  explicit DeviceWorker(const FrameShape& shape) : shape_(shape), weight_(weight_of_windows(shape)) {}
  size_t bytes() const override { return 0; }
  size_t scratch_bytes() const override { return ssim::scratch_bytes(shape_); }
  size_t result_bytes() const override { return sizeof(double); }

  Status submit(Queue& queue, const DeviceWindow& window, uint64_t results) override {
    return sum(queue, shape_, window, c1_of(shape_.depth), c2_of(shape_.depth), results);
  }

  Status finish(std::span<const std::byte> results, std::span<double> numbers) override {
    double sum = 0;
    std::memcpy(&sum, results.data(), sizeof sum);
    numbers[0] = sum / weight_;
    return {};
  }

 private:
  FrameShape shape_;
  double weight_;
};

class Ssim final : public Feature {
 public:
  explicit Ssim(const Setup& setup) : setup_(setup) {}

  const std::vector<FeatureOutput>& outputs() const override { return outputs_; }

  Result<std::unique_ptr<FeatureWorker>> create_worker() const override {
    Result<Arena> arena = Arena::create(Worker::bytes_needed(setup_.format.width, setup_.format.depth));
    if (!arena.ok()) return arena.status();
    return std::unique_ptr<FeatureWorker>(std::make_unique<Worker>(setup_, std::move(*arena)));
  }

  bool reads(Role, int plane) const override { return plane == 0; }
  Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device) const override {
    ACUITY_TRY(prepare(device));
    return std::unique_ptr<DeviceFeatureWorker>(std::make_unique<DeviceWorker>(setup_.format));
  }

 private:
  Setup setup_;
  std::vector<FeatureOutput> outputs_ = {{"ssim"}};
};

Result<std::unique_ptr<Feature>> create(const Feature::Setup& setup) {
  ACUITY_TRY(check_depth("ssim", setup, {8, 10, 12, 16}));
  return std::unique_ptr<Feature>(std::make_unique<Ssim>(setup));
}

}  // namespace
}  // namespace ssim

FeatureEntry ssim_entry() {
  return {.info = {.name = "ssim",
                   .version = "libvmaf 3.2.0",
                   .title = "structural similarity of Y', in whole numbers",
                   .better = Better::higher,
                   .identical = 1,
                   .minimum_side = 1,
                   .alpha_rule = ""},
          .create = ssim::create,
          .on_gpu = true,
          .cpu_ns = 8};
}

}  // namespace acuity
