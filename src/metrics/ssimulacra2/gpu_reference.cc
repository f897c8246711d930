// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/ssimulacra2/gpu_reference.h"

#include <algorithm>
#include <limits>

#include "base/memory.h"
#include "base/try.h"
#include "device/workspace.h"
#include "metrics/ssimulacra2/gpu_kernels.h"
#include "metrics/ssimulacra2/scale.h"

namespace acuity::ssimulacra2 {
namespace {

constexpr int kBandRows = 256;
constexpr int kUnit = 32;  // planes have multiples of as many rows and columns
constexpr int kKeptPlanes = 2;

int whole(int count, int of) { return groups(count, of) * of; }

}  // namespace

ReferencePlanes::ReferencePlanes(const Metric::Setup& setup) {
  for (const Size size : scale_sizes(setup.width, setup.height)) {
    scales_.push_back({.size = size, .stride = whole(size.width, kUnit), .rows = whole(size.height + kAhead, kUnit)});
  }
}

Result<std::unique_ptr<ReferencePlanes>> ReferencePlanes::create(const Metric::Setup& setup) {
  std::unique_ptr<ReferencePlanes> planes(new ReferencePlanes(setup));
  MemoryLayout layout;
  for (Scale& scale : planes->scales_) {
    scale.xyb = layout.place(kChannels * scale.plane_floats());
    scale.blurred = layout.place(kChannels * kKeptPlanes * scale.plane_floats());
  }
  if (layout.largest_array() > std::numeric_limits<int32_t>::max()) return std::unique_ptr<ReferencePlanes>();
  ACUITY_TRY_ASSIGN(planes->memory_, setup.pool->take(layout.bytes(), "ssimulacra2 reference"));
  return planes;
}

Status ReferencePlanes::make(const Metric::Setup& setup, Samples& samples, const InputRows& reference) {
  Queue& queue = samples.queue();
  ACUITY_TRY(samples.begin({&reference, nullptr}, kBandRows, kBandRows));
  for (int y = 0; y < setup.height; y += kBandRows) {
    ACUITY_TRY(samples.make(queue, y, std::min(y + kBandRows, setup.height), false));
    ACUITY_TRY(make_pixels(queue, 0, samples.places()[0], y / kBandRows, kBandRows));
  }
  for (size_t s = 0; s < scales_.size(); ++s) {
    const Scale& scale = scales_[s];
    const auto [width, height] = scale.size;
    if (s > 0) {
      const Samples::Place light{{.samples = array<const unsigned char>(scale.blurred),
                                  .table = {},
                                  .format = FORMAT_PLANES,
                                  .table_last = 0,
                                  .plane_stride = width * height},
                                 height};
      ACUITY_TRY(make_pixels(queue, s, light, 0, whole(height, kUnit)));
    }
    ACUITY_TRY(queue.run(prepared_kernels::filter_reference_rows, groups(height, 32), kChannels,
                         array<const float>(scale.xyb), array<float>(scale.blurred), width, height, scale.rows,
                         scale.stride));
    ACUITY_TRY(queue.run(prepared_kernels::filter_reference_columns, groups(width, 32), kChannels,
                         array<kernels::real4>(scale.blurred), height, scale.rows, scale.stride));
  }
  return samples.wait();
}

// The next scale's light waits where the blurred planes of that scale will be.
Status ReferencePlanes::make_pixels(Queue& queue, size_t s, const Samples::Place& from, int band, int band_rows) const {
  constexpr int kCellUnit = 128;
  const Scale& scale = scales_[s];
  const Scale* const next = s + 1 < scales_.size() ? &scales_[s + 1] : nullptr;
  const int cell_columns = whole(scale.size.width, kCellUnit);
  const SentPixels& pixels = from.pixels;
  return queue.run(kernels::make_pixels, cell_columns / kCellUnit, band_rows / 16, pixels.samples, pixels.samples,
                   pixels.table, pixels.table, array<kernels::real4>(scale.xyb),
                   array<float>(next != nullptr ? next->blurred : 0), pixels.format, pixels.table_last,
                   pixels.plane_stride, from.ring, pixels.format, pixels.table_last, pixels.plane_stride, from.ring,
                   scale.size.width, scale.size.height, band, 0, band_rows, cell_columns, scale.rows,
                   next != nullptr ? next->size.height : 0);
}

Result<InputRows> keep_samples(const Metric::Setup& setup, Queue& queue, const InputRows& reference) {
  InputRows rows = reference;
  ACUITY_TRY_ASSIGN(rows.input, keep_on_device(reference.input, reference.rows, setup.pool, queue, setup.senders()));
  rows.rows = reference.rows.of_copy(rows.input.view());
  return rows;
}

}  // namespace acuity::ssimulacra2
