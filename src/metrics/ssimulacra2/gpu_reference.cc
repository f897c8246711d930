// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ssimulacra2/gpu_reference.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/try.h"
#include "lang/host.h"
#include "metrics/ssimulacra2/scale.h"

namespace acuity {

extern const KernelFile ssimulacra2_prepared_kernels;

namespace ssimulacra2 {
namespace kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &ssimulacra2_prepared_kernels;
#include "metrics/ssimulacra2/prepared_kernels.h"

}  // namespace kernels

namespace {

constexpr int kBandRows = 256;

uint64_t plane_bytes(const KeptReference::Scale& scale) {
  return uint64_t{sizeof(float)} * static_cast<uint64_t>(scale.rows) * static_cast<uint64_t>(scale.stride);
}

}  // namespace

KeptReference::KeptReference(const Metric::Setup& setup) : setup_(setup) {
  for (const Size size : scale_sizes(setup.width, setup.height)) {
    scales_.push_back({.size = size, .stride = whole_units(size.width), .rows = whole_units(size.height + kAhead)});
  }
}

Result<std::unique_ptr<KeptReference>> KeptReference::create(const Metric::Setup& setup) {
  std::unique_ptr<KeptReference> reference(new KeptReference(setup));
  ACUITY_TRY(reference->allocate());
  return reference;
}

Status KeptReference::allocate() {
  // Kernels count the samples of three planes.
  if (kChannels * plane_bytes(scales_[0]) / sizeof(float) > uint64_t{std::numeric_limits<int>::max()}) {
    return Status(StatusCode::too_big,
                  fmt::format("a prepared reference of {}x{} pixels has more samples than the kernels can count; score "
                              "pairs, or use the device cpu",
                              setup_.width, setup_.height));
  }
  uint64_t bytes = 0;
  for (Scale& scale : scales_) {
    scale.xyb = bytes;
    scale.blurred = bytes + kChannels * plane_bytes(scale);
    bytes = scale.blurred + kChannels * kKeptPlanes * plane_bytes(scale);
  }
  ACUITY_TRY_ASSIGN(memory_, setup_.device->allocate(bytes));
  for (Scale& scale : scales_) {
    scale.xyb += memory_->address();
    scale.blurred += memory_->address();
  }
  ACUITY_TRY_ASSIGN(queue_, setup_.device->create_queue());
  ACUITY_TRY(setup_.device->prepare(kernels::filter_reference_rows));
  return setup_.device->prepare(kernels::filter_reference_columns);
}

// The next scale's light waits where the blurred planes of that scale will be.
PixelTarget KeptReference::target(size_t s) const {
  PixelTarget target{.xyb = {scales_[s].xyb}, .ring = scales_[s].rows, .stride = scales_[s].stride};
  if (s + 1 < scales_.size()) {
    const Scale& next = scales_[s + 1];
    target.next = {next.blurred};
    target.next_plane = next.size.width * next.size.height;
  }
  return target;
}

Status KeptReference::prepare(PixelBands& pixels, const Rows& reference) {
  ACUITY_TRY(pixels.begin({&reference, nullptr}, kBandRows));
  for (int band = 0; band * kBandRows < setup_.height; ++band) {
    ACUITY_TRY(pixels.await(*queue_, band));
    ACUITY_TRY(make_pixels(*queue_, pixels.sent(kReference), target(0), scales_[0].size, 1, band * kBandRows,
                           std::min((band + 1) * kBandRows, setup_.height)));
    ACUITY_TRY(pixels.release(*queue_, band));
  }
  for (size_t s = 0; s < scales_.size(); ++s) {
    const Scale& scale = scales_[s];
    const auto [width, height] = scale.size;
    if (s > 0) {
      ACUITY_TRY(make_pixels(*queue_, light_at(scale.blurred, width * height, 0), target(s), scale.size, 1, 0, height));
    }
    for (uint64_t c = 0; c < kChannels; ++c) {
      ACUITY_TRY(queue_->run(kernels::filter_reference_rows, groups(height, 32), 1,
                             DeviceArray<const float>{scale.xyb + c * plane_bytes(scale)},
                             DeviceArray<float>{scale.blurred + c * kKeptPlanes * plane_bytes(scale)}, width, height,
                             scale.rows, scale.stride));
    }
    ACUITY_TRY(queue_->run(kernels::filter_reference_columns, groups(width, 32), kChannels,
                           DeviceArray<kernels::real4>{scale.blurred}, height, scale.rows, scale.stride));
  }
  return queue_->wait();
}

}  // namespace ssimulacra2
}  // namespace acuity
