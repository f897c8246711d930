// SPDX-License-Identifier: BSD-2-Clause-Patent
// Luma of a picture, row by row, for metrics that look at nothing else; and what is done about pictures that are too
// small for them.
#ifndef ACUITY_METRICS_IWSSIM_LUMA_ROWS_H
#define ACUITY_METRICS_IWSSIM_LUMA_ROWS_H

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "acuity/scorer.h"
#include "acuity/status.h"
#include "colour/rows.h"

namespace acuity {

/// For luma_tie_place of metrics/iwssim/luma.h: what the half-way cases add to the luma of whole codes.
using LumaTies = std::array<float, 26 * 256>;
const LumaTies& luma_ties();

/// How a side that is too short is made long enough.
enum class Enlarge {
  tile,     ///< the picture is repeated, from its upper left corner on
  reflect,  ///< ... mirrored at each turn, edge samples not doubled
  upscale,  ///< ... stretched by the smallest whole factor, with linear interpolation
  reject,   ///< it is not: such pictures are refused
};

/// The option by which a metric lets its caller choose, named "small", and what was chosen.
MetricOption enlarge_option(int minimum_side);
Enlarge enlarge_by_name(const std::string& word);

/// Refuses pictures with a side below the minimum where that was asked for.
Status check_side(Enlarge enlarge, int minimum_side, int width, int height);

/// Which samples of a picture make one of its enlarged form, along one side.
struct Enlarged {
  int first = 0;
  int second = 0;
  float fraction = 0;  // of the way from first to second
};
/// For each place of the enlarged side, at least `minimum_side` of them; one by one where it is long enough already.
std::vector<Enlarged> enlarge_side(Enlarge enlarge, int side, int minimum_side);

/// Rows of luma, 0 .. 255 by the weights of metrics/iwssim/luma.h, counted from mid-grey: code 128 is 0. Luma of pixels
/// whose codes are whole, as those of 8-bit pictures are, is rounded to whole numbers as double arithmetic would round
/// it; that of others is not. Reading is const and may happen on several threads.
class LumaRows {
 public:
  /// As for Rows. A side shorter than `minimum_side` is enlarged.
  static Result<LumaRows> create(const ImageView& view, Enlarge enlarge, int minimum_side,
                                 std::optional<float> background);

  int width() const { return enlarged() ? static_cast<int>(columns_.size()) : rows_.width(); }
  int height() const { return enlarged() ? static_cast<int>(lines_.size()) : rows_.height(); }
  /// Whether the picture was too small.
  bool enlarged() const { return !columns_.empty(); }
  const Rows& rows() const { return rows_; }
  /// What was done to get here, for the result's list of assumptions.
  const std::string& description() const { return description_; }

  /// Floats that read() wants to work in.
  size_t scratch_floats() const;
  /// Row y, all of it. Up to 15 floats beyond its end are written too, with finite numbers.
  void read(int y, float* scratch, float* out) const;

 private:
  explicit LumaRows(Rows rows) : rows_(std::move(rows)) {}
  void read_source(int y, float* scratch, float* out) const;
  void read_enlarged(int source, float* scratch, float* out) const;

  Rows rows_;
  bool plain_bytes_ = false;
  std::string description_;
  std::vector<Enlarged> columns_, lines_;  // empty where the picture is large enough
};

}  // namespace acuity

#endif
