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

namespace acuity {

/// Encoded sample (0 .. 1) to light, or to whatever the next step takes.
using Curve = std::function<double(double)>;

using Table = std::vector<float>;

/// The curve of one channel.
struct Channel {
  enum class Kind { scale, srgb_libjxl, general };
  Kind kind = Kind::scale;
  double factor = 1;                   // for scale
  Curve curve;                         // for general
  std::shared_ptr<const Table> table;  // of every code, for integer samples
  float transparent = 0;               // what the background alone becomes

  static Channel general(Curve curve);
  float value(float encoded) const;
};

Table make_table(const Channel& channel, int depth);

/// The same for the channels of sRGB pictures (codes as they are, exact curve, libjxl's curve). Nearly all pictures are
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
