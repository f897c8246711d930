// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "base/memory.h"
#include "base/try.h"
#include "device/table.h"
#include "device/workspace.h"
#include "engine/device_feature.h"
#include "frames/frame_scaling.h"
#include "frames/row_sums.h"
#include "lang/host.h"
#include "metrics/float_vif/worker.h"

namespace acuity {

extern const KernelFile float_vif_kernels;

namespace float_vif {
namespace kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &float_vif_kernels;
#include "metrics/float_vif/kernels.h"

}  // namespace kernels

namespace {

constexpr size_t kAlignment = 256;  // of arrays

struct Picture {
  uint64_t address = 0;
  int bits = 32;  // of a sample in memory: 8, 16, or 32 for floats
  float scale = 1;
  int step = 0;  // samples from row to row
  int width = 0;
  int height = 0;

  size_t bytes() const {
    return round_up(static_cast<size_t>(width) * static_cast<size_t>(height) * sizeof(float), kAlignment);
  }
};

Picture floats(int width, int height) { return {0, 32, 1, width, width, height}; }

// Numbers on the device that never change, one array behind the other.
class Tables {
 public:
  template <typename T>
  size_t add(const std::vector<T>& numbers) {
    const size_t place = bytes_.size();
    const std::span<const std::byte> added = std::as_bytes(std::span(numbers));  // may be empty
    bytes_.resize(round_up(place + added.size(), kAlignment));
    std::ranges::copy(added, bytes_.begin() + static_cast<ptrdiff_t>(place));
    return place;
  }
  Status send(Device& device) {
    ACUITY_TRY_ASSIGN(memory_, send_table(device, bytes_));
    return {};
  }
  size_t bytes() const { return memory_->size(); }
  template <typename T>
  DeviceArray<const T> at(size_t place) const {
    return {memory_->address() + place};
  }

 private:
  std::vector<std::byte> bytes_;
  std::unique_ptr<DeviceMemory> memory_;
};

class DeviceWorker final : public DeviceFeatureWorker {
 public:
  explicit DeviceWorker(const Parameters& parameters) : parameters_(parameters) {}

  Status prepare(Device& device) {
    const Parameters& p = parameters_;
    ACUITY_TRY(device.prepare(kernels::measure_rows));
    ACUITY_TRY(device.prepare(kernels::halve));
    std::vector<float> weights;
    for (size_t i = 0; i < kScales; ++i) {
      first_weights_[i] = static_cast<int>(weights.size());
      weights.insert(weights.end(), p.kernels[i].weights.begin(), p.kernels[i].weights.end());
    }
    weights_ = tables_.add(weights);
    if (p.scaled()) {
      ACUITY_TRY(device.prepare(kernels::scale_picture));
      const ScalingTaps lines = scaling_taps(p.scaling, p.height, p.scaled_height);
      const ScalingTaps columns = scaling_taps(p.scaling, p.width, p.scaled_width);
      scaling_ = {lines.count, tables_.add(lines.places), tables_.add(lines.weights), tables_.add(columns.places),
                  tables_.add(columns.weights)};
    }
    return tables_.send(device);
  }

  size_t bytes() const override { return tables_.bytes(); }

  size_t scratch_bytes() const override {
    size_t bytes = 0;
    for (int scale = parameters_.scaled() ? 0 : 1; scale < kScales; ++scale) bytes += 2 * picture_of(scale).bytes();
    return bytes;
  }

  size_t result_bytes() const override {
    size_t bytes = 0;
    for (int scale = 0; scale < kScales; ++scale) bytes += sums_bytes(scale);
    return bytes;
  }

  Status submit(Queue& queue, const DeviceWindow& window, uint64_t results) override {
    const Parameters& p = parameters_;
    std::array<Picture, 2> pictures;
    uint64_t free = window.scratch;
    const auto take = [&](int scale) {
      Picture picture = picture_of(scale);
      picture.address = free;
      free += picture.bytes();
      return picture;
    };
    for (size_t side = 0; side < 2; ++side) {
      const DevicePlane& plane = side == 0 ? (*window.reference[0])[0] : (*window.distorted[0])[0];
      const int bits = window.depth == 8 ? 8 : 16;
      pictures[side] = {
          plane.address, bits,    1.0f / static_cast<float>(1 << (window.depth - 8)), plane.row_bytes / (bits / 8),
          p.width,       p.height};
      if (!p.scaled()) continue;
      const Picture to = take(0);
      ACUITY_TRY(scale_picture(queue, pictures[side], to));
      pictures[side] = to;
    }
    for (int scale = 0; scale < kScales; ++scale) {
      if (scale > 0) {
        for (Picture& picture : pictures) {
          const Picture to = take(scale);
          ACUITY_TRY(halve(queue, picture, scale, to));
          picture = to;
        }
      }
      if (scale > 0 || !p.skip_scale0) ACUITY_TRY(measure(queue, pictures, scale, results));
      results += sums_bytes(scale);
    }
    return {};
  }

  Status finish(std::span<const std::byte> results, std::span<double> numbers) override {
    std::array<vif::ScaleScore, kScales> scores{};
    for (int scale = 0; scale < kScales; ++scale) {
      const size_t bytes = sums_bytes(scale) / 2;
      scores[static_cast<size_t>(scale)] = score_of(total_of_rows(results.first(bytes)),
                                                    total_of_rows(results.subspan(bytes, bytes)), scale, parameters_);
      results = results.subspan(2 * bytes);
    }
    vif::fill_values(scores, parameters_.skip_scale0, numbers);
    return {};
  }

 private:
  struct Scaling {
    int taps = 1;
    size_t line_places = 0, line_weights = 0, column_places = 0, column_weights = 0;
  };

  Picture picture_of(int scale) const {
    return floats(parameters_.scaled_width >> scale, parameters_.scaled_height >> scale);
  }
  // A float for each row, of numerators and of denominators.
  size_t sums_bytes(int scale) const {
    return 2 * static_cast<size_t>(parameters_.scaled_height >> scale) * sizeof(float);
  }
  DeviceArray<const float> weights() const { return tables_.at<float>(weights_); }
  int first_weight(int scale) const { return first_weights_[static_cast<size_t>(scale)]; }
  int taps(int scale) const { return parameters_.kernels[static_cast<size_t>(scale)].taps(); }

  Status scale_picture(Queue& queue, const Picture& from, const Picture& to) const {
    return queue.run(kernels::scale_picture, groups(to.width, 32), groups(to.height, 8),
                     DeviceArray<const unsigned char>{from.address}, tables_.at<int32_t>(scaling_.line_places),
                     tables_.at<float>(scaling_.line_weights), tables_.at<int32_t>(scaling_.column_places),
                     tables_.at<float>(scaling_.column_weights), DeviceArray<float>{to.address}, scaling_.taps,
                     from.bits, from.scale, from.step, to.width, to.height);
  }

  Status halve(Queue& queue, const Picture& from, int scale, const Picture& to) const {
    return queue.run(kernels::halve, groups(to.width, 32), groups(to.height, 8),
                     DeviceArray<const unsigned char>{from.address}, weights(), DeviceArray<float>{to.address},
                     first_weight(scale), taps(scale), from.bits, from.scale, from.step, from.width, from.height,
                     to.width, to.height);
  }

  Status measure(Queue& queue, const std::array<Picture, 2>& pictures, int scale, uint64_t sums) const {
    const auto& [reference, distorted] = pictures;
    const Noise& noise = parameters_.noise;
    return queue.run(kernels::measure_rows, 1, groups(reference.height, CHAIN_ROWS),
                     DeviceArray<const unsigned char>{reference.address},
                     DeviceArray<const unsigned char>{distorted.address}, weights(), DeviceArray<float>{sums},
                     noise.variance, first_weight(scale), taps(scale), reference.bits, reference.scale,
                     noise.gain_limit, noise.quiet, noise.flat_factor, reference.step, distorted.step, reference.width,
                     reference.height);
  }

  Parameters parameters_;
  Tables tables_;
  size_t weights_ = 0;
  std::array<int, kScales> first_weights_{};
  Scaling scaling_;
};

}  // namespace

Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device, const Parameters& parameters) {
  auto worker = std::make_unique<DeviceWorker>(parameters);
  ACUITY_TRY(worker->prepare(device));
  return std::unique_ptr<DeviceFeatureWorker>(std::move(worker));
}

}  // namespace float_vif
}  // namespace acuity
