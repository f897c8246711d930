// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/frame_plan.h"

#include <algorithm>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "acuity/plan.h"
#include "base/guard.h"
#include "base/memory.h"
#include "base/try.h"
#include "device/counting_device.h"
#include "device/pixels/resident.h"
#include "engine/device_feature.h"
#include "engine/frame_requests.h"
#include "engine/plan.h"

namespace acuity {
namespace {

// Of the samples of a frame, which are not looked at.
Result<int64_t> sample_bytes(const std::shared_ptr<DevicePool>& pool, const FrameShape& shape, const PlaneSet& planes) {
  if (std::none_of(planes.begin(), planes.end(), [](bool is) { return is; })) return int64_t{0};
  FrameView view{shape};
  for (int p = 0; p < shape.planes_count(); ++p) {
    const auto row = static_cast<size_t>(shape.plane_width(p)) * static_cast<size_t>(shape.sample_bytes());
    view.row_strides[static_cast<size_t>(p)] = static_cast<ptrdiff_t>(round_up(row, kAlignment));
  }
  std::shared_ptr<Resident> samples;
  ACUITY_TRY_ASSIGN(samples, Resident::create(pool, view, FrameFormat{shape}, planes));
  return static_cast<int64_t>(samples->bytes());
}

}  // namespace

Result<FramePlan> plan_frames(const std::array<FrameShape, 2>& shapes, std::span<const Feature* const> features) {
  const auto device = std::make_shared<CountingDevice>();
  FramePlan plan;
  std::vector<std::unique_ptr<DeviceFeatureWorker>> workers;
  size_t scratch = 0, results = 0;
  int history = 0;
  for (const Feature* feature : features) {
    std::unique_ptr<DeviceFeatureWorker>& worker = workers.emplace_back();
    ACUITY_TRY_ASSIGN(worker, feature->create_device_worker(*device));
    scratch = std::max(scratch, worker->scratch_bytes());
    results += worker->result_bytes();
    const auto derived = static_cast<int64_t>(worker->derived_bytes());
    plan.per_frame += derived;
    plan.windows += derived * feature->history();
    history = std::max(history, feature->history());
  }
  plan.per_frame += static_cast<int64_t>(device->device_count().now() + scratch + results);
  plan.kernels = device->kernels();
  const auto pool = std::make_shared<DevicePool>(device);
  const std::array<PlaneSet, 2> planes = planes_read(shapes, features);
  for (size_t side = 0; side < 2; ++side) {
    int64_t samples = 0;
    ACUITY_TRY_ASSIGN(samples, sample_bytes(pool, shapes[side], planes[side]));
    plan.per_frame += samples;
    plan.windows += samples * history;
  }
  return plan;
}

std::array<PlaneSet, 2> planes_read(const std::array<FrameShape, 2>& shapes, std::span<const Feature* const> features) {
  std::array<PlaneSet, 2> all{};
  for (const Role role : {Role::reference, Role::distorted}) {
    const auto side = static_cast<size_t>(role);
    for (int p = 0; p < shapes[side].planes_count(); ++p) {
      all[side][static_cast<size_t>(p)] = std::any_of(features.begin(), features.end(),
                                                      [&](const Feature* feature) { return feature->reads(role, p); });
    }
  }
  return all;
}

// Kernels of small scales leave most of a device idle, and the host needs time to conclude: others work meanwhile.
int usual_in_flight(const std::array<FrameShape, 2>& shapes) {
  const auto pixels = [](const FrameShape& shape) { return int64_t{shape.width} * shape.height; };
  return std::max(pixels(shapes[0]), pixels(shapes[1])) > 4'000'000 ? 8 : 12;
}

Result<int64_t> plan_device_bytes(const FrameScorerOptions& options) {
  return guarded<Result<int64_t>>([&]() -> Result<int64_t> {
    if (options.device == "auto" || options.device == "cpu") {
      return Status(StatusCode::usage, fmt::format("memory of frame metrics is planned for a GPU: use its name, such "
                                                   "as cuda, instead of {}",
                                                   options.device));
    }
    ACUITY_TRY(planned_backend(options.device).status());
    FrameRequests requests;
    ACUITY_TRY_ASSIGN(requests, find_frame_requests(options));
    ACUITY_TRY(check_gpu_can(options, requests));
    std::vector<PipelineFeature> features;
    ACUITY_TRY_ASSIGN(features, requests.list.create(setup_of(options)));
    std::vector<const Feature*> pointers;
    for (const PipelineFeature& feature : features) pointers.push_back(feature.feature.get());
    FramePlan plan;
    ACUITY_TRY_ASSIGN(plan, plan_frames(shapes_of(options), pointers));
    const int usual = usual_in_flight(shapes_of(options));
    return plan.bytes(options.frames_in_flight == 0 ? usual : options.frames_in_flight);
  });
}

}  // namespace acuity
