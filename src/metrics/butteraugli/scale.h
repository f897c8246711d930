// SPDX-License-Identifier: BSD-2-Clause-Patent
// One scale of Butteraugli on the CPU: what goes in, what comes out, and the memory it works in.
//
// The picture is cut into bands of rows, and those into cells of columns; each cell is worked on by one thread from the
// top down, some rows at a time. Every stage keeps just the rows that the stages after it still look at, so no
// intermediate plane of picture size exists. A cell begins as far outside its own pixels as the filters reach.
#ifndef ACUITY_METRICS_BUTTERAUGLI_SCALE_H
#define ACUITY_METRICS_BUTTERAUGLI_SCALE_H

#include <array>
#include <cstddef>
#include <cstring>

#include "colour/rows.h"
#include "metrics/butteraugli/parameters.h"
#include "metrics/butteraugli/pooling.h"
#include "metrics/butteraugli/runner.h"
#include "sums/tiles.h"

namespace acuity::butteraugli {

inline constexpr int kCellColumns = 16 * kTileWidth;
// Columns held on either side of a cell: what the filters reach, in whole vectors.
inline constexpr int kMargin = 64;
// Of a row held: a cell, its margins and a vector. An odd number of cache lines, so that the rows a filter looks at do
// not compete for the same places in the cache.
inline constexpr int kStride = 656;
static_assert(kStride >= kCellColumns + 2 * kMargin + 16 && kStride % 32 == 16);

/// How many rows and columns outside a cell each stage works on.
inline constexpr int kReachMap = 0;
inline constexpr int kReachBlurredActivity = kReachMap + 3;   // erosion looks 3 away
inline constexpr int kReachHigh = kReachBlurredActivity + 6;  // the blur of the activity
inline constexpr int kReachMiddle = kReachHigh + 3;           // the blur of the high subband
inline constexpr int kReachLow = kReachMiddle + 7;            // the blur of the middle subband
inline constexpr int kReachXyb = kReachLow + 16;              // the blur of the low subband
inline constexpr int kReachLight = kReachXyb + 2;             // the blur of opsin dynamics
inline constexpr int kReachMalta = 4;
static_assert(kReachLight + 16 + 2 <= kMargin);

/// Planes of floats of the size of a scale, with one stride.
template <int count>
struct Planes {
  std::array<float*, count> plane{};
  size_t stride = 0;
  float* row(size_t p, int y) const { return plane[p] + static_cast<size_t>(y) * stride; }
};

/// What is prepared of a reference, which is all that depends on it alone: low and middle subbands of X, Y and B, high
/// and ultra-high ones of X and Y, the blurred activity, and the mask's gains.
enum PreparedPlane : size_t {
  kPreparedLow = 0,
  kPreparedMiddle = 3,
  kPreparedHigh = 6,
  kPreparedUltra = 8,
  kPreparedActivity = 10,
  kPreparedDcGain = 11,
  kPreparedAcGain = 12
};
inline constexpr int kPreparedPlanes = 13;
using Prepared = Planes<kPreparedPlanes>;

/// Where the pixels of one picture come from: exactly one of the two.
struct ScaleReader {
  Light light;
  const Prepared* prepared = nullptr;
};

/// What a map is compared with and written to; both of picture size, row by row without gaps, or null.
struct MapPlaces {
  const float* at_least = nullptr;  // larger values of this map take the place of its own
  float* to = nullptr;
};

/// One scale of a pair.
struct Scale {
  Size size;
  bool halved = false;                   // the light is to be halved on the way in
  std::array<ScaleReader, 2> readers{};  // the reference and the distorted picture
  Parameters parameters;
  float p = 0;  // of the p-norm, 0: none

  const Prepared* prepare = nullptr;  // only prepare readers[0] into this
  float* own_map = nullptr;           // of the half resolution: its map, all that comes out
  const float* half_map = nullptr;    // of the full resolution: the map of the half, or null where there is none
  MapPlaces map;
  TileNorms* tiles = nullptr;
};

/// A part of a scale: whole tiles, at most kCellColumns wide.
struct Cell {
  int x_begin = 0, x_end = 0;
  int y_begin = 0, y_end = 0;
};

/// Bytes a thread needs when it works on `batch` rows at a time, of which there may be kLargestBatch.
inline constexpr int kLargestBatch = 64;
size_t scratch_bytes(int batch);
void run_cell(const Scale& scale, const Cell& cell, int batch, std::byte* scratch);

}  // namespace acuity::butteraugli

#endif
