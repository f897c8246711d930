// SPDX-License-Identifier: BSD-2-Clause-Patent
// One strip of zensim on the CPU, and the planes it is made of.
//
// The sums of windows are carried along rows from the first column to the last, so a strip is worked on from left to
// right, as many rows at once as a vector has lanes. In cells of 128 columns these sums go down the columns, where they
// begin anew at each strip, and become the features' sums. Nothing but the planes is as large as the picture.
#ifndef ACUITY_METRICS_ZENSIM_CPU_H
#define ACUITY_METRICS_ZENSIM_CPU_H

#include <array>
#include <cstddef>

#include "acuity/image.h"
#include "acuity/input.h"
#include "colour/rows.h"
#include "metrics/zensim/map.h"
#include "metrics/zensim/pooling.h"

namespace acuity::zensim {

/// Floats before and after each row of a plane. Those next to it mirror it.
inline constexpr int kRowMargin = 16;
/// Rows behind the last of a plane that may be read, whatever they hold.
inline constexpr int kRowsBehind = 16;
/// Rows that the windows of a strip look at above it, and below.
inline constexpr int kReach = 5;

/// X, Y, B of a picture, or of some rows of it.
struct Planes {
  std::array<float*, kChannels> channel{};
  size_t stride = 0;

  float* row(size_t c, int y) const { return channel[c] + static_cast<size_t>(y) * stride; }
};

/// Floats from row to row, and of all rows of a plane.
size_t plane_stride(int width);
size_t plane_floats(int width, int rows);

/// A picture as it comes in.
struct Picture {
  const Input* input = nullptr;
  const Rows* rows = nullptr;        // its colour; alpha is kept apart
  const ImageView* alpha = nullptr;  // the view to read it from; null: opaque
  float nits = 0;                    // what 1 stands for, for the planes of HDR pictures; 0: those of SDR
};

/// Scratch memory of a worker.
size_t scratch_bytes(const Layout& layout);

/// Row y of the first scale, mirrored and made longer, to row `to_row` of the planes.
void make_row(const Picture& picture, const Layout& layout, int y, const Planes& to, int to_row, std::byte* scratch);

/// Two rows that follow each other, of `width` columns, to row `to_row` of the next scale's planes.
void halve_rows(const Planes& from, int from_row, int width, const Planes& to, int to_row);

/// Where a strip finds its samples.
struct Strip {
  Planes reference, distorted;  // their first row is the first that windows look at
  int rows = 0;                 // that windows look at
  int above = 0;                // of those, before the strip's own
  int count = 0;                // of the strip
  int width = 0;                // with the columns that were added
  int counted = 0;              // columns that the mean offset counts
  bool continues = false;       // the strip above was the last one that this worker summed up
  float* map = nullptr;         // rows of it, `width` floats each, to write to; null: none
  const ScaleMapWeights* map_weights = nullptr;
  bool weighted = false;  // whether features with weights are wanted
  std::array<StripSums*, kChannels> sums{};
};

void sum_strip(const Strip& strip, std::byte* scratch);

}  // namespace acuity::zensim

#endif
