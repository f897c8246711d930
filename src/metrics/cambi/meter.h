// SPDX-License-Identifier: BSD-2-Clause-Patent
// How much banding a frame has: contrasts at five scales, pooled.
#ifndef ACUITY_METRICS_CAMBI_METER_H
#define ACUITY_METRICS_CAMBI_METER_H

#include <array>
#include <memory>
#include <vector>

#include "acuity/frame.h"
#include "acuity/status.h"
#include "metrics/cambi/counts.h"
#include "metrics/cambi/heatmaps.h"
#include "metrics/cambi/frame_reader.h"

namespace acuity::cambi {

/// How one of the two frames of a pair is looked at.
struct View {
  int width = 0;  // as it was encoded
  int height = 0;
  int window = 0;  // samples across
};

struct Plan {
  int frame_width = 0;
  int frame_height = 0;
  View distorted;
  View reference;
  bool full_reference = false;
  bool smooth = false;  // against dithering
  bool halved = false;  // the first scale is left out
  double part = 0;      // of the samples that is pooled
  Contrast contrast;
  std::shared_ptr<Heatmaps> heatmaps;  // of distorted frames; null for none
};

/// How many of the contrasts of a scale are pooled.
int64_t pooled(const Plan& plan, int64_t samples);
/// What the means of the scales come to.
double score_of(const std::array<double, kScales>& means, int window);
/// What takes the largest contrast that a window can have to 65535.
double map_factor(const Plan& plan, int window);

/// Of one thread.
class Meter {
 public:
  explicit Meter(const Plan& plan);
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  Result<double> measure_distorted(const FrameView& frame, int64_t index);
  Result<double> measure_reference(const FrameView& frame);
  size_t bytes() const;

 private:
  Result<double> measure(FrameReader& reader, const View& view, const FrameView& frame, Heatmaps* heatmaps,
                         int64_t index);
  Result<double> measure_scale(int scale, int window, bool last, Heatmaps* heatmaps, int64_t index);
  const uint16_t* filter_row(int y);
  Status write_row(int scale, int window, int64_t first_sample, const uint16_t* levels, const float* contrasts);

  const Plan plan_;
  Steps steps_;
  Counts counts_;
  FrameReader distorted_;
  std::unique_ptr<FrameReader> reference_;
  Plane image_, smaller_;
  std::vector<uint16_t> modes_, filtered_, levels_;
  size_t most_contrasts_ = 0;
  std::unique_ptr<float[]> contrasts_;  // not filled: few pictures need all of it
  std::vector<float> map_row_;
};

}  // namespace acuity::cambi

#endif
