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
  SampleConversion steps;                // the curve as numbers
  Curve curve;                           // the same in double, for tables; alone where it is that of a profile
  double parameter = 0;                  // what the curve was made with, and tables are known by
  std::shared_ptr<const Table> table{};  // of every code, for integer samples; of floats, for float samples

  /// Encoded samples to what the next step takes, in place. Float samples that are codes are looked up in the table;
  /// what came of transparency (`mixed`) is not.
  void decode(float* samples, int count, bool mixed) const;
};

/// In place of a depth: the table of floats, which has those of 16, 12 and 10 bits one after the other. Samples of 8
/// bits are among those of 16.
inline constexpr int kFloatTable = 0;

/// The value of every code. It is found from the code divided by the largest one, rounded to float, so that equal
/// samples of different depths have equal values; 255ths are taken exactly.
Table make_table(const Channel& channel, int depth);

/// The same where the curve is no profile's: made once and kept, for nearly all pictures share a few of them.
std::shared_ptr<const Table> shared_table(const Channel& channel, int depth);

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
