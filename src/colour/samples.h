// SPDX-License-Identifier: BSD-2-Clause-Patent
// The first step on the way of a sample: out of memory, over the background where it is transparent, and through its
// curve.
#ifndef ACUITY_COLOUR_SAMPLES_H
#define ACUITY_COLOUR_SAMPLES_H

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "acuity/image.h"
#include "colour/steps.h"

namespace acuity {

/// Encoded sample (0 .. 1) to light, or to whatever the next step takes.
using Curve = std::function<double(double)>;

using Table = std::vector<float>;

/// How samples of one channel are decoded.
struct Channel {
  SampleSteps steps;                   // the curve as numbers
  Curve curve;                         // the same in double, for tables; alone where it is that of a profile
  std::shared_ptr<const Table> table;  // of every code, for integer samples

  /// Encoded samples to what the next step takes, in place.
  void decode(float* samples, int count) const;
};

Table make_table(const Channel& channel, int depth);

/// The same for the channels of sRGB pictures (codes as they are, and the forms of the curve). Nearly all pictures are
/// sRGB of one of a few depths, so these tables are made once and kept.
std::shared_ptr<const Table> srgb_table(const Channel& channel, int depth);

/// One channel of some pixels of a row.
struct Span {
  const std::byte* samples;
  const std::byte* alpha;  // null when opaque
  ptrdiff_t stride;
  int count;
};

/// The inner loops; `maximum` is that of integer samples.
using Load = void (*)(const Channel& channel, const Span& span, int maximum, float background, float* to);

Load load_for(const ImageView& view);

}  // namespace acuity

#endif
