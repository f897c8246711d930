// SPDX-License-Identifier: BSD-2-Clause-Patent
// One scale of SSIMULACRA2 on the CPU: what goes in, what comes out, and the memory it works in.
//
// The picture is walked in bands of rows, each band from left to right in cells of columns. A cell makes XYB of its
// pixels, runs the row filter (its state goes from cell to cell), then the column filter (its state goes from band to
// band), then the error maps and their sums, so no intermediate plane of picture size exists. Cell (band, column)
// needs (band, column - 1) and (band - 1, column): several threads work on neighbouring bands, each a cell behind the
// one above it.
#ifndef ACUITY_METRICS_SSIMULACRA2_SCALE_H
#define ACUITY_METRICS_SSIMULACRA2_SCALE_H

#include <array>
#include <atomic>
#include <cstddef>

#include "colour/rows.h"
#include "sums/tiles.h"

namespace acuity::ssimulacra2 {

inline constexpr int kChannels = 3;              // X, Y, B
inline constexpr int kCellColumns = kTileWidth;  // so that a cell's column sums are a tile's
inline constexpr int kAhead = 4;                 // an output needs the input four rows (columns) on
inline constexpr int kHistory = 10;              // ... and six back: ten rows of the last band
inline constexpr int kPlanes = 5;                // blurred planes of a channel: mu1, mu2, s11, s22, s12
inline constexpr int kSums = 6;  // of a channel: ssim, ringing, blur; each plain and to the fourth power

// The layout of a worker's scratch, the same for all instruction sets.
inline constexpr int kXybStride = 48;                         // a cell, four columns ahead, up to a whole vector
inline constexpr int kColumnsHeld = kCellColumns + kHistory;  // columns the row filter looks at for one cell
inline constexpr int kFilterFloats = 6;                       // of a filter's state
inline constexpr size_t kMaximumLanes = 16;

/// Three planes of floats that share a stride (in floats).
struct Planes {
  std::array<float*, 3> channel{};
  size_t stride = 0;
};

/// Where the pixels of one picture come from at one scale: exactly one of the three.
struct ScaleReader {
  const Rows* rows = nullptr;      // the picture itself
  const Planes* linear = nullptr;  // a smaller scale, linear light
  const Planes* xyb = nullptr;     // prepared before
};

/// What the column filter hands from one band to the next, for one cell of columns.
struct alignas(64) CellState {
  float inputs[kChannels][kPlanes][kHistory][kCellColumns];
  float filters[kChannels][kPlanes][kFilterFloats][kCellColumns];
  float xyb[2][kChannels][kAhead][kCellColumns];
  float sums[kChannels][kSums][kCellColumns];
};

/// Sums of one tile, in the order of kSums.
using TileSums = std::array<float, kChannels * kSums>;

/// For the difference map: the value of a pixel is the sum over channels and the three maps of linear * e + quartic *
/// e^4.
struct MapWeights {
  std::array<std::array<float, 3>, kChannels> linear{};
  std::array<std::array<float, 3>, kChannels> quartic{};
};

struct Scale {
  int width = 0;
  int height = 0;
  int band_rows = 0;                        // even
  std::array<ScaleReader, 2> readers;       // reference, distorted
  std::array<const Planes*, 2> next{};      // where the next scale's linear light goes; null: nowhere
  CellState* cells = nullptr;               // one for each cell of columns
  TileSums* tiles = nullptr;                // one for each tile, row by row
  std::atomic<int>* progress = nullptr;     // for each band, how many cells are done; starts at zero
  std::atomic<int>* next_band = nullptr;    // starts at zero
  const MapWeights* map_weights = nullptr;  // null: no map
  float* map = nullptr;                     // width * height

  int band_count() const { return (height + kAhead + band_rows - 1) / band_rows; }
  int cell_count() const { return (width + kCellColumns - 1) / kCellColumns; }
};

/// Bytes of scratch a worker needs.
size_t scratch_bytes(int band_rows);

/// Takes bands until none is left. Several workers may run at once on the same Scale, each with its own scratch.
void score_scale(const Scale& scale, std::byte* scratch);

/// Rows row_begin .. row_end - 1 of one picture as positive XYB and, where `next` is given, the next scale's linear
/// light. row_begin is even.
void prepare_rows(const ScaleReader& reader, int width, int height, int row_begin, int row_end, const Planes& xyb,
                  const Planes* next);

}  // namespace acuity::ssimulacra2

#endif
