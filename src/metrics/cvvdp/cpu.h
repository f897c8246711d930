// SPDX-License-Identifier: BSD-2-Clause-Patent
// The work on rows, compiled once for each instruction set.
#ifndef ACUITY_METRICS_CVVDP_CPU_H
#define ACUITY_METRICS_CVVDP_CPU_H

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "base/memory.h"
#include "colour/rows.h"
#include "metrics/cvvdp/display.h"
#include "metrics/cvvdp/scales.h"
#include "metrics/cvvdp/sensitivity.h"
#include "sums/tiles.h"

namespace acuity::cvvdp {

/// Floats before a row, for what lies left of the picture; and how long rows are, so that vectors may go beyond them.
inline constexpr size_t kBefore = 16;
inline size_t row_floats(int width) { return kBefore + round_up(static_cast<size_t>(width) + 2, 32) + 32; }

/// One plane of a scale.
struct Plane {
  float* first = nullptr;
  size_t stride = 0;
  Size size;

  static size_t cost(Size size) {
    return Arena::cost<float>(row_floats(size.width) * static_cast<size_t>(size.height));
  }
  static Plane take(Arena& arena, Size size);
  float* row(int y) const { return first + static_cast<size_t>(y) * stride; }
};

/// One row of each channel; of still pictures the last is null.
using ChannelRows = std::array<const float*, kChannels>;

/// Rows of the channels of a scale.
class ChannelReader {
 public:
  virtual ~ChannelReader() = default;
  /// Row y of the channels: in `room`, 3 rows of row_floats(width) that it may use, or where they are anyway. Two
  /// floats left of a row mirror it, and two right of it are zero, for reduce_rows.
  virtual ChannelRows read(int y, float* room) const = 0;
};

/// The channels of a picture on a display.
class PictureReader final : public ChannelReader {
 public:
  /// `rows` gives samples as they are, from 0 to 1 unless they are floats. `table` has the light of all codes of a
  /// depth; `all_in_table`: there are no other samples.
  PictureReader(Rows rows, const Photometry& photometry, const std::array<float, 9>& matrix,
                std::shared_ptr<const std::vector<float>> table, bool all_in_table)
      : rows_(std::move(rows)),
        photometry_(photometry),
        matrix_(matrix),
        table_(std::move(table)),
        all_in_table_(all_in_table) {}
  ChannelRows read(int y, float* room) const override;

 private:
  float light_of(float sample) const;

  Rows rows_;
  Photometry photometry_;
  std::array<float, 9> matrix_;
  std::shared_ptr<const std::vector<float>> table_;
  bool all_in_table_;
};

/// The light of all integer samples of a depth.
std::vector<float> light_table(const Photometry& photometry, int depth);

/// Sets the two floats on either side of a row, as a ChannelReader has them.
void set_ends(float* row, int width);

/// From red, green and blue light, of HLG that of the scene, to the channels, in place.
void mix_rows(const Photometry& photometry, const std::array<float, 9>& matrix, int width,
              const std::array<float*, kStillChannels>& rows);

/// A scale in memory.
class PlaneReader final : public ChannelReader {
 public:
  PlaneReader() = default;
  PlaneReader(Arena& arena, Size size, int channels) : channels_(channels) {
    for (Plane& plane : planes()) plane = Plane::take(arena, size);
  }
  std::span<Plane> planes() { return std::span(planes_).first(static_cast<size_t>(channels_)); }
  std::span<const Plane> planes() const { return std::span(planes_).first(static_cast<size_t>(channels_)); }
  ChannelRows read(int y, float*) const override {
    ChannelRows rows{};
    for (size_t c = 0; c < planes().size(); ++c) rows[c] = planes_[c].row(y);
    return rows;
  }

 private:
  int channels_ = 0;
  std::array<Plane, kChannels> planes_;
};

/// Rows y_begin .. y_end - 1 of the next scale.
size_t reduce_scratch_floats(int width);
void reduce_rows(const ChannelReader& scale, Size size, int y_begin, int y_end, const PlaneReader& next,
                 float* scratch);

/// A plane of the next scale at the height of row y of a scale, with a float on either side. Edges are repeated
/// outside.
void expand_columns(const Plane& next, int y, float* row);

/// One sum for each channel of a tile.
using TileSums = std::array<float, kChannels>;

/// A subband of both pictures.
struct Subband {
  Size size;
  int channels = kStillChannels;
  const ChannelReader* reference = nullptr;
  const ChannelReader* distorted = nullptr;
  const PlaneReader* next_reference = nullptr;  // of the next scale
  const PlaneReader* next_distorted = nullptr;
  const Plane* heat = nullptr;  // what is seen at each place of still pictures, for a map
  bool blurred = true;          // both sides are longer than 6
  /// log2 of the sensitivity at each luminance of the table, all factors included, and how much it grows to the next.
  alignas(64) std::array<std::array<float, kTableSide>, kChannels> sensitivity{};
  alignas(64) std::array<std::array<float, kTableSide>, kChannels> growth{};
  float luminance_step = 0, luminance_offset = 0;
};
Subband subband_of(const std::vector<Scale>& scales, size_t index, int channels);

/// Tiles of rows of tiles begin .. end - 1; `tiles` is that of the first of them.
size_t compare_scratch_floats(int width);
void compare_rows(const Subband& subband, int begin, int end, float* scratch, TileSums* tiles);

/// Adds the next scale of a map to what this one has, times `factor`, which may be the same memory as it was.
size_t add_scratch_floats(int width);
void add_next_scale(const Plane& next, float factor, const Plane& heat, float* scratch);

/// A row of what is seen, on the scale of JOD, to a row of a map: 0 where nothing is, 1 where 10 JOD are lost.
void finish_map_row(const float* heat, int width, float* map);

}  // namespace acuity::cvvdp

#endif
