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

/// One plane of a scale, or a ring of its rows.
struct Plane {
  float* first = nullptr;
  size_t stride = 0;
  Size size;
  int ring = 1;  // rows there are

  static size_t cost(Size size, int ring) {
    return Arena::cost<float>(row_floats(size.width) * static_cast<size_t>(ring));
  }
  static size_t cost(Size size) { return cost(size, size.height); }
  static Plane take(Arena& arena, Size size, int ring);
  static Plane take(Arena& arena, Size size) { return take(arena, size, size.height); }
  float* row(int y) const { return first + static_cast<size_t>(y % ring) * stride; }
};

/// One row of each channel; of still pictures the last is null.
using ChannelRows = std::array<const float*, kChannels>;

/// Rows of the channels of a scale.
class ChannelReader {
 public:
  virtual ~ChannelReader() = default;
  /// Row y of the channels: in `room`, 3 rows of row_floats(width) that it may use, or where they are anyway.
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
  Rows rows_;
  Photometry photometry_;
  std::array<float, 9> matrix_;
  std::shared_ptr<const std::vector<float>> table_;
  bool all_in_table_;
};

/// The light of all integer samples of a depth.
std::vector<float> light_table(const Photometry& photometry, int depth);

/// Codes, as fractions of the last, to their light in a table of all codes, in place.
void look_up(std::span<const float> table, int width, float* samples);

/// Encoded samples to light, of HLG that of the scene, in place.
void show_samples(const Photometry& photometry, int width, float* samples);

/// From red, green and blue light, of HLG that of the scene, to the channels, in place.
void mix_rows(const Photometry& photometry, const std::array<float, 9>& matrix, int width,
              const std::array<float*, kStillChannels>& rows);

/// A scale in memory.
class PlaneReader final : public ChannelReader {
 public:
  PlaneReader() = default;
  PlaneReader(Arena& arena, Size size, int channels) : PlaneReader(arena, size, channels, size.height) {}
  PlaneReader(Arena& arena, Size size, int channels, int ring) : channels_(channels) {
    for (Plane& plane : planes()) plane = Plane::take(arena, size, ring);
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

/// Makes the next scale row by row, from some row on. What it refers to must stay valid.
class Reducer {
 public:
  static size_t scratch_floats(int width);
  Reducer(const ChannelReader& scale, Size size, const PlaneReader& next, int begin, float* scratch);
  /// Up to before row `end`.
  void advance(int end);
  /// How many rows of the next scale can be made of so many of this one.
  int makeable(int rows) const;

 private:
  static constexpr int kHeld = 5;

  const ChannelReader& scale_;
  Size size_;
  const PlaneReader& next_;
  int y_;     // the next to be made
  int read_;  // the next to be read
  float* scratch_;
  std::array<ChannelRows, kHeld> rows_{};  // a ring of those that were read
};

/// A plane of the next scale at the height of row y of a scale, with a float on either side. Edges are repeated
/// outside.
void expand_columns(const Plane& next, int y, float* row);

/// One sum for each channel of a tile.
using TileSums = std::array<float, kChannels>;
/// Of all tiles of a subband: for each channel the root of the mean square difference.
std::array<double, kChannels> differences_of(std::span<const TileSums> tiles, Size size, int channels);

/// A subband of both pictures.
struct Subband {
  Size size;
  int channels = kStillChannels;
  const ChannelReader* reference = nullptr;
  const ChannelReader* distorted = nullptr;
  const PlaneReader* next_reference = nullptr;  // of the next scale
  const PlaneReader* next_distorted = nullptr;
  const Plane* heat = nullptr;  // what is seen at each place, for a map
  std::array<float, kChannels> heat_weights{};
  bool blurred = true;  // both sides are longer than 6
  /// log2 of the sensitivity at each luminance of the table, all factors included, and how much it grows to the next.
  alignas(64) std::array<std::array<float, kTableSide>, kChannels> sensitivity{};
  alignas(64) std::array<std::array<float, kTableSide>, kChannels> growth{};
};
Subband subband_of(const std::vector<Scale>& scales, size_t index, int channels);

inline constexpr int kReach = 6;  // of the blur of masking, to each side

/// Goes down a subband row by row. What it refers to must stay valid.
class Comparer {
 public:
  static size_t scratch_floats(int width);
  /// Rows of tiles begin .. end - 1; `tiles` is the first of them.
  Comparer(const Subband& subband, int begin, int end, float* scratch, TileSums* tiles);
  /// As far as the first `readable` rows of the scale go, which can be read with what surrounds them.
  void advance(int readable);
  /// How many rows these are where the next scale has so many.
  int readable(int next_rows) const;

 private:
  using Row = std::array<float*, kChannels>;
  static constexpr int kBlurRows = 2 * kReach + 1, kDelayRows = kReach + 1;

  size_t channels() const { return static_cast<size_t>(subband_.channels); }
  float* const* shared(int y) const { return shared_[static_cast<size_t>(y % kBlurRows)].data(); }
  float* const* differences(int y) const { return differences_[static_cast<size_t>(y % kDelayRows)].data(); }
  void see(int y);
  void blur(int y);
  void finish_tiles();

  const Subband& subband_;
  int y_, end_;                              // the next row, and the one to stop before
  int seen_;                                 // the next row to be seen
  std::array<Row, kBlurRows> shared_;        // a ring
  std::array<Row, kDelayRows> differences_;  // another
  Row blurred_, columns_;
  float* room_ = nullptr;
  std::array<Row, 2> expanded_;
  TileSums* tiles_;
};

/// Adds the next scale of a map to what this one has, times `factor`, which may be the same memory as it was.
size_t add_scratch_floats(int width);
void add_next_scale(const Plane& next, float factor, const Plane& heat, float* scratch);

/// A row of what is seen, on the scale of JOD, to a row of a map: 0 where nothing is, 1 where 10 JOD are lost.
void finish_map_row(const float* heat, int width, float* map);

}  // namespace acuity::cvvdp

#endif
