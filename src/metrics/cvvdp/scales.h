// SPDX-License-Identifier: BSD-2-Clause-Patent
// What every device shares: the scales of the contrast pyramid, what is found in each of them, and how that becomes the
// score.
#ifndef ACUITY_METRICS_CVVDP_SCALES_H
#define ACUITY_METRICS_CVVDP_SCALES_H

#include <array>
#include <vector>

#include "acuity/score.h"
#include "metrics/cvvdp/parameters.h"

namespace acuity::cvvdp {

inline constexpr int kMinimumSide = 2;

struct Size {
  int width = 0;
  int height = 0;
  double pixels() const { return static_cast<double>(width) * height; }
};

/// A scale of the pyramid and the subband that lies between it and the next. The last has what is left: the base.
struct Scale {
  Size size;
  double frequency = 0;  // that the subband stands for, in cycles per degree
};
/// `most` limits how many there are; 0: nothing but the definition does.
std::vector<Scale> scales_of(Size picture, double pixels_per_degree, int most = 0);

/// What is found in one frame: for each channel and each subband the root of the mean square difference.
struct Differences {
  int channels = kStillChannels;
  std::vector<std::array<double, kChannels>> subbands;
};

/// From the sum over a subband of D * (D + 2e).
double difference_of(double sum, double pixels);

/// All subbands of a channel; then all channels.
double pooled(const Differences& differences, int channel);
double pooled(const Differences& differences);

/// What a difference of a channel counts for in a map, outside the base. Still pictures have three channels.
double heat_weight(size_t channel, int channels);

/// What the difference of a video's subband counts for by itself, for a distogram. A video of one frame is a still
/// picture.
double distogram_weight(size_t channel, bool base, int channels);

/// Just-objectionable differences, counted down from 10.
double jod_of(double difference);

std::vector<NamedValue> named_values(const Differences& differences);

/// The reference's power: (x + e)^p - e^p.
double offset_power(double x, double power);

}  // namespace acuity::cvvdp

#endif
