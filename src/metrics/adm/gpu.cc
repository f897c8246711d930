// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/adm/gpu.h"

#include <cstring>
#include <memory>

#include "base/memory.h"
#include "base/try.h"
#include "lang/host.h"
#include "metrics/adm/row_ends.h"

namespace acuity {

extern const KernelFile adm_kernels;

namespace adm {
namespace kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &adm_kernels;
#include "metrics/adm/kernels.h"

}  // namespace kernels

namespace {

constexpr int kCellColumns = 61, kCellRows = 14, kCellsOfScale0 = 4;
constexpr size_t kRowSums = 3 * kSubbands;

int groups(int size, int cell) { return (size + cell - 1) / cell; }

class Worker final : public DeviceFeatureWorker {
 public:
  Worker(const Plan<IntegerOptions>& plan, const FrameShape& frame)
      : plan_(plan), frame_(frame), shapes_(scale_shapes(plan.width, plan.height)) {
    for (size_t s = 0; s < kScales; ++s) rules_[s] = scale_rules(static_cast<int>(s), shapes_[s], plan.options);
  }

  size_t bytes() const override { return 0; }
  size_t scratch_bytes() const override { return approximation_at(kScales - 1) + 2 * kBehindBytes; }
  size_t result_bytes() const override { return sums_at(kScales); }

  Status submit(Queue& queue, const DeviceWindow& window, uint64_t results) override {
    ACUITY_TRY(submit_scale_0(queue, window, results));
    for (size_t s = 1; s < kScales; ++s) {
      const ScaleShape& shape = shapes_[s];
      const ScaleRules& rules = rules_[s];
      const auto& kernel = s == 1 ? kernels::measure_scale_1 : kernels::measure_scale_2;
      const bool has_next = s + 1 < kScales;
      const int flags = common_flags(s) | (s > 1 ? 8 : 0) | (has_next ? 16 : 0);
      const uint64_t behind = window.scratch + approximation_at(kScales - 1);
      const uint64_t next = has_next ? window.scratch + approximation_at(s) : window.scratch;
      ACUITY_TRY(queue.run(kernel, groups(shape.width, kCellColumns), groups(shape.height, kCellRows),
                           DeviceArray<const int32_t>{window.scratch + approximation_at(s - 1)},
                           DeviceArray<int32_t>{next}, DeviceArray<int64_t>{results + sums_at(s)},
                           DeviceArray<const int32_t>{behind + s % 2 * kBehindBytes},
                           DeviceArray<int32_t>{behind + (s + 1) % 2 * kBehindBytes}, plan_.options.gain,
                           shape.input_width, shape.input_height, shape.left, shape.right, shape.top, shape.bottom,
                           rules.decouple.factors[0], rules.decouple.factors[2], rules.long_mask.cube_bits,
                           rules.reference.square_bits, rules.reference.cube_bits, s == 2 ? 16 : 15, flags));
    }
    return {};
  }

  Status finish(std::span<const std::byte> results, std::span<double> values) override {
    std::array<ScaleNumbers, kScales> numbers;
    for (size_t s = 0; s < kScales; ++s) {
      const ScaleShape& shape = shapes_[s];
      ScaleSums sums;
      for (int row = shape.top; row < shape.bottom; ++row) {
        std::array<SubbandSums, 3> of_row;
        std::memcpy(of_row.data(), results.data() + sums_at(s) + static_cast<size_t>(row) * kRowBytes, kRowBytes);
        add_rounded(of_row[0], rules_[s].reference_row_bits, sums.reference);
        add_rounded(of_row[1], rules_[s].mask_row_bits, sums.kept);
        if (!plan_.options.skip_aim) add_rounded(of_row[2], rules_[s].mask_row_bits, sums.added);
      }
      numbers[s] = conclude_scale(static_cast<int>(s), shape, plan_.options, rules_[s], sums);
    }
    combine(numbers, plan_.width, plan_.height, plan_.combination, values);
    return {};
  }

 private:
  static constexpr size_t kRowBytes = kRowSums * sizeof(uint64_t);
  static constexpr size_t kBehindBytes = 256;

  bool has_details(size_t s) const { return !(s == 0 && plan_.options.skip_scale0); }

  // In the results: those of the rows of a scale.
  size_t sums_at(size_t scale) const {
    size_t bytes = 0;
    for (size_t s = 0; s < scale; ++s) bytes += static_cast<size_t>(shapes_[s].height) * kRowBytes;
    return bytes;
  }

  // In the scratch: that of both pictures, in one word for scale 0 and two for the others.
  size_t approximation_at(size_t scale) const {
    size_t bytes = 0;
    for (size_t s = 0; s < scale; ++s) {
      const size_t places = static_cast<size_t>(shapes_[s].width) * static_cast<size_t>(shapes_[s].height);
      bytes += round_up(places * sizeof(int32_t) * (s == 0 ? 1 : 2), 256);
    }
    return bytes;
  }

  int common_flags(size_t s) const {
    const bool is_followed = has_details(s) && runs_on(static_cast<int>(s), shapes_[s].width, frame_.depth);
    return (has_details(s) ? 1 : 0) | (plan_.options.skip_aim ? 2 : 0) | (is_followed ? 4 : 0);
  }

  Status submit_scale_0(Queue& queue, const DeviceWindow& window, uint64_t results) {
    const DevicePlane &reference = window.reference[0]->front(), &distorted = window.distorted[0]->front();
    const ScaleShape& shape = shapes_[0];
    const DecoupleRule& rule = rules_[0].decouple;
    return queue.run(
        kernels::measure_scale_0, groups(shape.width, kCellsOfScale0 * kCellColumns), groups(shape.height, kCellRows),
        DeviceArray<const unsigned char>{reference.address}, DeviceArray<const unsigned char>{distorted.address},
        DeviceArray<uint32_t>{window.scratch}, DeviceArray<int64_t>{results}, plan_.options.gain, reference.row_bytes,
        distorted.row_bytes, window.depth == 8 ? 8 : 16, frame_.depth - window.depth, frame_.depth, shape.input_width,
        shape.input_height, shape.left, shape.right, shape.top, shape.bottom, static_cast<int>(rule.factors[0]),
        static_cast<int>(rule.factors[2]), rule.rounded_columns, rule.saturated_columns, rule.wide_columns,
        rules_[0].short_mask.cubes[0].cube_bits + 4, common_flags(0));
  }

  Plan<IntegerOptions> plan_;
  FrameShape frame_;
  ScaleShapes shapes_;
  std::array<ScaleRules, kScales> rules_;
};

}  // namespace

Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device, const Plan<IntegerOptions>& plan,
                                                                  const FrameShape& frame) {
  ACUITY_TRY(device.prepare(kernels::measure_scale_0));
  ACUITY_TRY(device.prepare(kernels::measure_scale_1));
  ACUITY_TRY(device.prepare(kernels::measure_scale_2));
  return std::unique_ptr<DeviceFeatureWorker>(std::make_unique<Worker>(plan, frame));
}

}  // namespace adm
}  // namespace acuity
