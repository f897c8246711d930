// SPDX-License-Identifier: BSD-2-Clause-Patent
// All scales of a pair of video frames at once, in the memory of some rows of each: rows of the first scale are put in
// from top to bottom, and what follows from them is done as soon as it can be.
#ifndef ACUITY_METRICS_CVVDP_CASCADE_H
#define ACUITY_METRICS_CVVDP_CASCADE_H

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "engine/feature.h"
#include "metrics/cvvdp/cpu.h"
#include "metrics/cvvdp/heat.h"

namespace acuity::cvvdp {

class Cascade {
 public:
  /// How many rows may be put in before advance() is called.
  static constexpr int kRowsAtATime = 16;

  static Result<std::unique_ptr<Cascade>> create(const std::vector<Scale>& scales, int channels);
  size_t bytes() const;

  /// Begins with another pair; with `heat`, what is seen is kept there for a map.
  void begin(const Heat* heat = nullptr);
  /// Where row y of the first scale belongs, with what a ChannelReader has on either side.
  std::array<float*, kChannels> rows(Role role, int y) const;
  /// Says that the first `rows` rows of the first scale are there.
  void advance(int rows);
  /// Once all of them were.
  Differences differences() const;

 private:
  // A scale, and the subband between it and the next unless it is the base.
  struct Level {
    std::array<PlaneReader, 2> sides;  // by Role
    int rows = 0;                      // that are there
    Subband subband;
    std::vector<TileSums> tiles;
    std::array<float*, 2> reduce_scratch{};
    float* compare_scratch = nullptr;
    std::array<std::optional<Reducer>, 2> reducers;
    std::optional<Comparer> comparer;
  };

  Arena arena_;
  std::vector<Scale> scales_;
  int channels_ = 0;
  std::vector<Level> levels_;
  const Plane* base_heat_ = nullptr;
};

}  // namespace acuity::cvvdp

#endif
