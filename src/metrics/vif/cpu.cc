// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/vif/cpu.h"

#include <algorithm>

#include "base/memory.h"
#include "frames/frame_rows.h"
#include "metrics/vif/filters.h"

// Filters gain a third from an instruction that AVX-512 does not always have, so this file has a target more than
// others.
#ifndef ACUITY_FEWER_TARGETS
#define HWY_WANT_AVX3_DL
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/vif/cpu.cc"
#include <hwy/foreach_target.h>

#include "lang/cpu.h"
#include "metrics/vif/filtering.h"
#include "metrics/vif/statistics.h"

HWY_BEFORE_NAMESPACE();
namespace acuity::vif {
namespace HWY_NAMESPACE {
using namespace acuity::HWY_NAMESPACE;

constexpr int kBandRows = 4;  // results at once
constexpr int kChunk = 512;   // columns that are filtered down before they are filtered across
constexpr int kLag = 64;      // how far the second filter stays behind, so that its neighbours are there
constexpr int kMargin = 32;   // before and behind a row of scratch, for mirrored samples
constexpr int kMoments = 8;   // rows of scratch for each row of results

size_t row_units(int width) { return round_up(static_cast<size_t>(width), 64) + 2 * kMargin; }

// The rows of both pictures that a band of results is made of, at some column. Where fewer samples than a vector are
// left in a row, they are copied so that reading a whole one is safe.
template <typename Sample, int kRows>
struct Window {
  const Sample* reference[kRows];
  const Sample* distorted[kRows];
  Sample ends[2][kRows][kHalves];
  alignas(64) int16_t pairs[2 * kRows * kHalves];  // for store_pairs, of both

  Window(const Planes& planes, int first) {
    for (int i = 0; i < kRows; ++i) {
      // Past the mirror of the last row only rows of no weight are asked for.
      const int y = std::clamp(mirrored(first + i, planes.height), 0, planes.height - 1);
      reference[i] = reinterpret_cast<const Sample*>(planes.reference + y * planes.reference_stride);
      distorted[i] = reinterpret_cast<const Sample*>(planes.distorted + y * planes.distorted_stride);
    }
  }

  // Returns the column at which the rest of the rows is to be read then.
  int copy_end(int x, int width) {
    const size_t left = static_cast<size_t>(width - x);
    for (int i = 0; i < kRows; ++i) {
      std::copy_n(reference[i] + x, left, ends[0][i]);
      std::copy_n(distorted[i] + x, left, ends[1][i]);
      std::fill(ends[0][i] + left, ends[0][i] + kHalves, Sample{0});
      std::fill(ends[1][i] + left, ends[1][i] + kHalves, Sample{0});
      reference[i] = ends[0][i];
      distorted[i] = ends[1][i];
    }
    return 0;
  }
};

void mirror_ends(int16_t* row, int width, int radius, bool left, bool right) {
  for (int i = 1; left && i <= radius; ++i) row[-i] = row[i];
  for (int i = 1; right && i <= radius; ++i) row[width - 1 + i] = row[width - 1 - i];
}

template <int kScale, typename Sample>
void measure_band(const Planes& planes, int y, double gain_limit, int16_t* scratch, Totals& totals) {
  Window<Sample, kBandRows + 2 * kReach[kScale]> window(planes, y - kReach[kScale]);
  const size_t units = row_units(planes.width);
  const int width = planes.width, rows = std::min(kBandRows, planes.height - y);
  int16_t* const first = scratch + kMargin;
  const auto row = [&](int r, int moment)
                       HWY_ATTR { return first + static_cast<size_t>(r * kMoments + moment) * units; };
  const Shifts shifts = shifts_of(kScale, planes.depth);
  for (int begin = 0, done = 0; begin < width; begin += kChunk) {
    const int end = std::min(begin + kChunk, width);
    for (int x = begin; x < end; x += kHalves) {
      const int from = x + kHalves > width ? window.copy_end(x, width) : x;
      filter_moments_down<kScale, kBandRows>(window.reference, window.distorted, from, shifts, window.pairs, first + x,
                                             units);
    }
    const int ready = end == width ? width : end - kLag;
    for (int r = 0; r < rows; ++r) {
      for (int m = 0; m < kMoments; ++m) mirror_ends(row(r, m), width, kRadius[kScale], begin == 0, end == width);
      measure_row<kScale>(row(r, 0), units, done, ready, width, gain_limit, totals);
    }
    done = ready;
  }
}

// kScale is that of the result.
template <int kScale, typename Sample>
void halve_band(const Planes& planes, int y, const NextPlanes& next, int16_t* scratch) {
  Window<Sample, kBandRows + 2 * kReach[kScale]> window(planes, y - kReach[kScale]);
  const size_t units = row_units(planes.width);
  const int width = planes.width, shift = shifts_of(kScale - 1, planes.depth).mean;
  int16_t* const first = scratch + kMargin;
  for (int x = 0; x < width; x += kHalves) {
    const int from = x + kHalves > width ? window.copy_end(x, width) : x;
    store_pairs<kRowPairs<kScale, kBandRows>>(window.reference, from, window.pairs);
    filter_mean_down<kScale, kBandRows, 2, Sample>(window.pairs, shift, first + x, units);
    store_pairs<kRowPairs<kScale, kBandRows>>(window.distorted, from, window.pairs);
    filter_mean_down<kScale, kBandRows, 2, Sample>(window.pairs, shift, first + units + x, units);
  }
  for (int r = 0; r < kBandRows; r += 2) {
    const int to = (y + r) / 2;
    if (to >= planes.height / 2) break;
    const size_t place = static_cast<size_t>(to) * next.stride;
    for (int p = 0; p < 2; ++p) {
      int16_t* from = first + static_cast<size_t>(r + p) * units;
      mirror_ends(from, width, kRadius[kScale], true, true);
      halve_row<kScale>(from, width / 2, (p == 0 ? next.reference : next.distorted) + place);
    }
  }
}

template <int kScale, typename Sample>
void measure_planes(const Planes& planes, double gain_limit, bool skip_totals, const NextPlanes* next, int16_t* scratch,
                    Totals& totals) {
  for (int y = 0; y < planes.height; y += kBandRows) {
    if (!skip_totals) measure_band<kScale, Sample>(planes, y, gain_limit, scratch, totals);
    if constexpr (kScale + 1 < kScales) {
      if (next != nullptr) halve_band<kScale + 1, Sample>(planes, y, *next, scratch);
    }
  }
}

void MeasureScale(int scale, const Planes& planes, double gain_limit, bool skip_totals, const NextPlanes* next,
                  int16_t* scratch, Totals& totals) {
  const auto run = [&](auto function) INLINED { function(planes, gain_limit, skip_totals, next, scratch, totals); };
  if (scale == 0 && planes.depth == 8) return run(measure_planes<0, uint8_t>);
  if (scale == 0) return run(measure_planes<0, uint16_t>);
  if (scale == 1) return run(measure_planes<1, uint16_t>);
  if (scale == 2) return run(measure_planes<2, uint16_t>);
  run(measure_planes<3, uint16_t>);
}

void ScaledLogs(const int32_t* values, size_t count, int32_t* logs) {
  const WholeTag d;
  for (size_t i = 0; i < count; i += kLanes) {
    WholeVector v[1] = {hn::LoadU(d, values + i)};
    take_scaled_logs(v);
    hn::StoreU(hn::Sub(v[0], hn::Set(d, kLogUnit * 127)), d, logs + i);
  }
}

size_t ScratchUnits(int width) { return kBandRows * kMoments * row_units(width); }

}  // namespace HWY_NAMESPACE
}  // namespace acuity::vif
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace acuity::vif {

HWY_EXPORT(MeasureScale);
HWY_EXPORT(ScaledLogs);
HWY_EXPORT(ScratchUnits);

size_t scratch_units(int width) { return HWY_DYNAMIC_DISPATCH(ScratchUnits)(width); }

Totals measure_scale(int scale, const Planes& planes, double gain_limit, bool skip_totals, const NextPlanes* next,
                     int16_t* scratch) {
  Totals totals;
  HWY_DYNAMIC_DISPATCH(MeasureScale)(scale, planes, gain_limit, skip_totals, next, scratch, totals);
  return totals;
}

void scaled_logs(const int32_t* values, size_t count, int32_t* logs) {
  HWY_DYNAMIC_DISPATCH(ScaledLogs)(values, count, logs);
}

}  // namespace acuity::vif
#endif
