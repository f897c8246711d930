// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/float_adm/gpu.h"

#include <array>

#include "base/try.h"
#include "device/table.h"
#include "device/workspace.h"
#include "lang/host.h"
#include "metrics/float_adm/reciprocals.h"

namespace acuity {

extern const KernelFile float_adm_kernels;

namespace float_adm {
namespace kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &float_adm_kernels;
#include "metrics/float_adm/kernels.h"

}  // namespace kernels

namespace {

class DeviceWorker final : public DeviceFeatureWorker {
 public:
  explicit DeviceWorker(const adm::Plan<Options>& plan)
      : plan_(plan), shapes_(adm::scale_shapes(plan.width, plan.height)) {}

  Status prepare(Device& device) {
    ACUITY_TRY(device.prepare(kernels::filter_picture));
    ACUITY_TRY(device.prepare(kernels::sum_rows));
    ACUITY_TRY_ASSIGN(reciprocals_, send_table(device, std::as_bytes(std::span(kReciprocalBits))));
    return {};
  }

  size_t bytes() const override { return reciprocals_->size(); }

  // Of both pictures: approximations of two scales by turns, and details of one scale.
  size_t scratch_bytes() const override {
    return 2 * (plane_bytes(0) + plane_bytes(1)) + 2 * kSubbands * plane_bytes(0);
  }

  size_t result_bytes() const override {
    size_t bytes = 0;
    for (const adm::ScaleShape& shape : shapes_) bytes += sums_bytes(shape);
    return bytes;
  }

  Status submit(Queue& queue, const DeviceWindow& window, uint64_t results) override {
    const int bits = window.depth == 8 ? 8 : 16;
    for (size_t s = 0; s < adm::kScales; ++s) {
      const adm::ScaleShape& shape = shapes_[s];
      uint64_t free = window.scratch + (s % 2 == 0 ? 0 : 2 * plane_bytes(0));
      const uint64_t details = window.scratch + 2 * (plane_bytes(0) + plane_bytes(1));
      for (size_t picture = 0; picture < 2; ++picture) {
        const DevicePlane& plane = picture == 0 ? (*window.reference[0])[0] : (*window.distorted[0])[0];
        const bool is_first = s == 0;
        ACUITY_TRY(queue.run(kernels::filter_picture, groups(shape.width, 32), groups(shape.height, 8),
                             DeviceArray<const unsigned char>{is_first ? plane.address : approximations_[picture]},
                             DeviceArray<float>{free},
                             DeviceArray<float>{details + picture * kSubbands * plane_bytes(0)}, is_first ? bits : 32,
                             1.0f / static_cast<float>(1 << (window.depth - 8)),
                             is_first ? plane.row_bytes / (bits / 8) : shape.input_width, shape.input_width,
                             shape.input_height, shape.width, shape.height));
        approximations_[picture] = free;
        free += plane_bytes(s % 2);
      }
      if (s > 0 || !plan_.options.skip_scale0) ACUITY_TRY(sum(queue, s, details, results));
      results += sums_bytes(shape);
    }
    return {};
  }

  Status finish(std::span<const std::byte> results, std::span<double> numbers) override {
    std::array<adm::ScaleNumbers, adm::kScales> scales;
    for (size_t s = 0; s < adm::kScales; ++s) {
      const size_t rows_bytes = static_cast<size_t>(rows(shapes_[s])) * sizeof(float);
      std::array<float, 3 * kSubbands> totals{};
      for (size_t i = 0; i < totals.size(); ++i) {
        totals[i] = total_of_rows(results.subspan(i * rows_bytes, rows_bytes));
      }
      results = results.subspan(sums_bytes(shapes_[s]));
      scales[s] = numbers_of(totals, static_cast<int>(s), shapes_[s], plan_.options);
    }
    adm::combine(scales, plan_.width, plan_.height, plan_.combination, numbers);
    return {};
  }

 private:
  static int rows(const adm::ScaleShape& shape) { return shape.bottom - shape.top; }
  static size_t sums_bytes(const adm::ScaleShape& shape) {
    return round_up(3 * kSubbands * static_cast<size_t>(rows(shape)) * sizeof(float), 8);
  }
  size_t plane_bytes(size_t scale) const {
    const adm::ScaleShape& shape = shapes_[scale];
    return round_up(static_cast<size_t>(shape.width) * static_cast<size_t>(shape.height) * sizeof(float), 256);
  }

  Status sum(Queue& queue, size_t scale, uint64_t details, uint64_t sums) const {
    const adm::ScaleShape& shape = shapes_[scale];
    const Options& options = plan_.options;
    const adm::Sensitivity& sensitivity = options.sensitivities[scale];
    return queue.run(kernels::sum_rows, 1, groups(rows(shape), 8), DeviceArray<const float>{details},
                     DeviceArray<const float>{details + kSubbands * plane_bytes(0)},
                     DeviceArray<const int32_t>{reciprocals_->address()}, DeviceArray<float>{sums}, options.gain,
                     sensitivity.of(0), sensitivity.of(2), static_cast<float>(options.exponent),
                     options.no_masking ? 0 : 1, shape.width, shape.height, shape.left, shape.right, shape.top,
                     shape.bottom);
  }

  adm::Plan<Options> plan_;
  adm::ScaleShapes shapes_;
  std::unique_ptr<DeviceMemory> reciprocals_;
  std::array<uint64_t, 2> approximations_{};
};

}  // namespace

Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device, const adm::Plan<Options>& plan) {
  auto worker = std::make_unique<DeviceWorker>(plan);
  ACUITY_TRY(worker->prepare(device));
  return std::unique_ptr<DeviceFeatureWorker>(std::move(worker));
}

}  // namespace float_adm
}  // namespace acuity
