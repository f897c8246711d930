// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ssimulacra2/gpu_bands.h"

#include <algorithm>
#include <utility>

#include "base/memory.h"
#include "base/try.h"
#include "lang/host.h"
#include "metrics/tiles.h"

namespace acuity {

extern const KernelFile ssimulacra2_kernels;
extern const KernelFile ssimulacra2_prepared_kernels;

namespace ssimulacra2 {
namespace kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &ssimulacra2_kernels;
#include "metrics/ssimulacra2/kernels.h"

}  // namespace kernels

namespace prepared_kernels {

using namespace kernel_dialect;
inline constexpr const KernelFile* kKernelFile = &ssimulacra2_prepared_kernels;
#include "metrics/ssimulacra2/prepared_kernels.h"

}  // namespace prepared_kernels

namespace {

// The row filter is bound by latency and the column filter waits for the bands above: bands are small, and several of
// the largest scales' are in work at once, each on a queue of its own. Against a prepared reference a row takes less
// room, so that bands may be higher.
struct Shape {
  int band_rows;
  std::array<int, 2> flights;  // bands in work at once, of the largest scales; of the others one
};
constexpr Shape kPairs{128, {4, 2}};
constexpr Shape kPrepared{256, {4, 2}};

constexpr size_t kDeviceAlignment = 256;
constexpr int kStateFloats = kChannels * (kPlanes * kFilterFloats + kSums);  // of a column

}  // namespace

Bands::Bands(const Metric::Setup& setup, Kind kind)
    : setup_(setup),
      pictures_(kind == Kind::pairs ? 2 : 1),
      planes_(kind == Kind::pairs ? kPlanes : kPlanes - kKeptPlanes) {
  const Shape& shape = kind == Kind::pairs ? kPairs : kPrepared;
  const int band_rows = whole_units(setup.strip_rows > 0 ? setup.strip_rows : shape.band_rows);
  bool banded = true;
  for (const Size size : scale_sizes(setup.width, setup.height)) {
    ScalePlan plan;
    const size_t s = plans_.size();
    plan.size = size;
    plan.stride = whole_units(size.width);
    banded = banded && band_rows < size.height;
    plan.banded = banded;
    plan.band_rows = banded ? band_rows : whole_units(size.height);
    const bool several = banded && setup.strip_rows == 0 && s < shape.flights.size();
    plan.flights = several ? shape.flights[s] : 1;
    // Ten rows of the band above are still looked at.
    plan.ring = plan.flights * plan.band_rows + kBandUnit;
    plan.xyb_ring = plan.ring + (several ? plan.band_rows : 0);
    plan.tiles = tile_total_;
    tile_total_ += tile_count(size.width, size.height);
    plans_.push_back(std::move(plan));
  }
}

Result<std::unique_ptr<Bands>> Bands::create(const Metric::Setup& setup, Kind kind) {
  std::unique_ptr<Bands> bands(new Bands(setup, kind));
  ACUITY_TRY(bands->allocate());
  return bands;
}

Status Bands::allocate() {
  size_t bytes = 0;
  const auto place = [&bytes](size_t floats) {
    const size_t at = bytes;
    bytes += round_up(floats * sizeof(float), kDeviceAlignment);
    return at;
  };
  const auto pictures = static_cast<size_t>(pictures_);
  for (ScalePlan& plan : plans_) {
    plan.xyb = place(pictures * kChannels * plan.plane_floats(plan.xyb_ring));
    plan.blurred = place(kChannels * static_cast<size_t>(planes_) * plan.plane_floats(plan.ring));
    plan.state = place(static_cast<size_t>(kStateFloats) * static_cast<size_t>(plan.stride));
    if (&plan != &plans_[0]) {
      plan.linear =
          place((plan.banded ? kLinearSlots : 1) * pictures * kChannels * static_cast<size_t>(plan.linear_plane()));
    }
    ACUITY_TRY(create_queues(plan));
  }
  tiles_ = place(tile_total_ * kChannels * kSums);
  ACUITY_TRY_ASSIGN(memory_, setup_.device->allocate(bytes));
  ACUITY_TRY_ASSIGN(results_, setup_.device->allocate_pinned(tile_total_ * sizeof(TileSums)));
  const auto used = pictures_ == 2 ? std::array<KernelInfo, 2>{kernels::filter_rows, kernels::filter_columns}
                                   : std::array<KernelInfo, 2>{prepared_kernels::filter_rows_prepared,
                                                               prepared_kernels::filter_columns_prepared};
  for (const KernelInfo& kernel : used) ACUITY_TRY(setup_.device->prepare(kernel));
  return {};
}

Status Bands::create_queues(ScalePlan& plan) {
  plan.queues.resize(plan.flights == 1 ? 1 : static_cast<size_t>(plan.flights) + 2);
  for (std::unique_ptr<Queue>& queue : plan.queues) ACUITY_TRY_ASSIGN(queue, setup_.device->create_queue());
  plan.finished.resize(static_cast<size_t>(plan.flights) + 1);
  for (std::unique_ptr<Event>& event : plan.finished) ACUITY_TRY_ASSIGN(event, setup_.device->create_event());
  ACUITY_TRY_ASSIGN(plan.made, setup_.device->create_event());
  ACUITY_TRY_ASSIGN(plan.filtered, setup_.device->create_event());
  for (std::unique_ptr<Event>& event : plan.used) ACUITY_TRY_ASSIGN(event, setup_.device->create_event());
  ACUITY_TRY_ASSIGN(plan.done, setup_.device->create_event());
  return {};
}

Result<std::vector<ScaleErrors>> Bands::run(PixelBands& pixels, const std::array<const Rows*, 2>& pictures,
                                            const KeptReference* kept) {
  kept_ = kept;
  ACUITY_TRY(pixels.begin(pictures, plans_[0].band_rows));
  for (int band = 0; band * plans_[0].band_rows < setup_.height; ++band) ACUITY_TRY(run_band(pixels, 0, band));
  Queue& first = plans_[0].columns();
  for (size_t s = 1; s < plans_.size(); ++s) ACUITY_TRY(first.wait_for(*plans_[s].done));
  ACUITY_TRY(first.download(*results_, 0, *memory_, tiles_, results_->size()));
  ACUITY_TRY(first.wait());
  return pool_scales(reinterpret_cast<const TileSums*>(results_->data()), scale_sizes(setup_.width, setup_.height));
}

// A band of a scale, and of those below it the bands that it completes.
Status Bands::run_band(PixelBands& pixels, size_t s, int band) {
  ScalePlan& plan = plans_[s];
  Queue& queue = plan.pixels();
  const int y = band * plan.band_rows, y_end = std::min(y + plan.band_rows, plan.size.height);
  if (band > plan.flights) ACUITY_TRY(queue.wait_for(plan.finished_of(band - plan.flights - 1)));
  ScalePlan* const next = s + 1 < plans_.size() ? &plans_[s + 1] : nullptr;
  const int next_band = next != nullptr && next->banded ? y / 2 / next->band_rows : 0;
  if (next_band >= kLinearSlots) {
    ACUITY_TRY(queue.wait_for(*next->used[static_cast<size_t>(next_band % kLinearSlots)]));
  }
  if (s == 0) {
    ACUITY_TRY(pixels.await(queue, band));
    for (int i = 0; i < pictures_; ++i) {
      const Picture picture = pictures_ == 2 && i == 0 ? kReference : kDistorted;
      ACUITY_TRY(make_pixels(queue, pixels.sent(picture), target(0, i, y), plan.size, 1, y, y_end));
    }
    ACUITY_TRY(pixels.release(queue, band));
  } else {
    ACUITY_TRY(make_smaller_pixels(s, band, y, y_end));
  }
  ACUITY_TRY(queue.signal(*plan.made));
  ACUITY_TRY(filter_rows(plan, s, band, y, y_end));
  ACUITY_TRY(filter_columns(plan, s, y, y_end));
  ACUITY_TRY(plan.columns().signal(plan.finished_of(band)));
  const bool last = y_end == plan.size.height;
  if (last) ACUITY_TRY(plan.columns().signal(*plan.done));
  if (next == nullptr || !(last || (next->banded && y_end / 2 % next->band_rows == 0))) return {};
  return run_band(pixels, s + 1, next_band);
}

// Of the pictures that pass through; where a band's row y and what follows it goes.
PixelTarget Bands::target(size_t s, int picture, int y) const {
  const ScalePlan& plan = plans_[s];
  PixelTarget target{.xyb = array<float>(xyb_of(plan, picture)), .ring = plan.xyb_ring, .stride = plan.stride};
  if (s + 1 < plans_.size()) {
    const ScalePlan& next = plans_[s + 1];
    const int band = next.banded ? y / 2 / next.band_rows : 0;
    const size_t before = static_cast<size_t>(picture * kChannels) * static_cast<size_t>(next.linear_plane());
    target.next = array<float>(linear_of(next, band) + before * sizeof(float));
    target.next_first = band * next.band_rows;
    target.next_plane = next.linear_plane();
  }
  return target;
}

size_t Bands::xyb_of(const ScalePlan& plan, int picture) const {
  return plan.xyb + static_cast<size_t>(picture * kChannels) * plan.plane_floats(plan.xyb_ring) * sizeof(float);
}

size_t Bands::linear_of(const ScalePlan& plan, int band) const {
  const auto planes = static_cast<size_t>(band % kLinearSlots * pictures_ * kChannels);
  return plan.linear + planes * static_cast<size_t>(plan.linear_plane()) * sizeof(float);
}

// From the linear light that the latest bands of the scale before made.
Status Bands::make_smaller_pixels(size_t s, int band, int y, int y_end) {
  const ScalePlan& plan = plans_[s];
  Queue& queue = plan.pixels();
  ACUITY_TRY(queue.wait_for(*plans_[s - 1].made));
  const SentPixels light = light_at(memory_->address() + linear_of(plan, band), plan.linear_plane(), y);
  ACUITY_TRY(make_pixels(queue, light, target(s, 0, y), plan.size, pictures_, y, y_end));
  return queue.signal(*plan.used[static_cast<size_t>(band % kLinearSlots)]);
}

// Once the band's XYB is there.
Status Bands::filter_rows(const ScalePlan& plan, size_t s, int band, int y, int y_end) {
  Queue& queue = plan.rows(band);
  const int count = groups(y_end - y, 32);
  const auto distorted = array<const float>(xyb_of(plan, pictures_ - 1));
  const auto blurred = array<float>(plan.blurred);
  ACUITY_TRY(queue.wait_for(*plan.made));
  if (band >= plan.flights) ACUITY_TRY(queue.wait_for(plan.finished_of(band - plan.flights)));
  if (kept_ == nullptr) {
    ACUITY_TRY(queue.run(kernels::filter_rows, count, kChannels, array<const float>(plan.xyb), distorted, blurred,
                         plan.size.width, y, y_end, plan.xyb_ring, plan.ring, plan.stride));
  } else {
    const KeptReference::Scale& reference = kept_->scale(s);
    ACUITY_TRY(queue.run(prepared_kernels::filter_rows_prepared, count, kChannels,
                         DeviceArray<const float>{reference.xyb}, distorted, blurred, plan.size.width, y, y_end,
                         reference.rows, plan.xyb_ring, plan.ring, plan.stride));
  }
  return queue.signal(*plan.filtered);
}

// The columns and the sums, once the rows are filtered.
Status Bands::filter_columns(const ScalePlan& plan, size_t s, int y, int y_end) {
  Queue& queue = plan.columns();
  const auto [width, height] = plan.size;
  const int count = groups(width, 32), n = y - kAhead, n_end = y_end == height ? height : y_end - kAhead;
  const auto distorted = array<const float>(xyb_of(plan, pictures_ - 1));
  const auto blurred = array<const kernels::real4>(plan.blurred);
  const auto state = array<float>(plan.state);
  const auto tiles = array<float>(tiles_ + plan.tiles * sizeof(TileSums));
  ACUITY_TRY(queue.wait_for(*plan.filtered));
  if (kept_ == nullptr) {
    return queue.run(kernels::filter_columns, count, kChannels, array<const float>(plan.xyb), distorted, blurred, state,
                     tiles, width, height, n, n_end, plan.xyb_ring, plan.ring, plan.stride);
  }
  const KeptReference::Scale& reference = kept_->scale(s);
  return queue.run(prepared_kernels::filter_columns_prepared, count, kChannels, DeviceArray<const float>{reference.xyb},
                   distorted, blurred, DeviceArray<const kernels::real4>{reference.blurred}, state, tiles, width,
                   height, n, n_end, reference.rows, plan.xyb_ring, plan.ring, plan.stride);
}

}  // namespace ssimulacra2
}  // namespace acuity
