// SPDX-License-Identifier: BSD-2-Clause-Patent
// The one way in for pixels: any ImageView, row by row, as planar floats in the space a metric works in. No full-size
// copy is ever made, and nothing passes through 8 bit.
#ifndef ACUITY_COLOUR_ROWS_H
#define ACUITY_COLOUR_ROWS_H

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "acuity/image.h"
#include "acuity/status.h"
#include "colour/steps.h"

namespace acuity {

/// What a metric wants its pixels to be. The primaries are always those of BT.709.
struct WorkingSpace {
  enum class Encoding {
    linear,      ///< light, SDR white at 1
    srgb_codes,  ///< sRGB-encoded, 0 .. 255, fractions kept; integer samples of an 8-bit sRGB picture come out
                 ///< unchanged
  };
  Encoding encoding = Encoding::linear;
  /// How sRGB samples become light. The references differ in the last digits, and some scores contain the difference.
  enum class SrgbCurve {
    exact,   ///< IEC 61966-2-1
    libjxl,  ///< libjxl's rational approximation, in its operation order
    single,  ///< the curve of the standard, each step rounded to float, as dssim has it
    smooth,  ///< with constants that leave no step where its two parts meet, as zensim has it
  };
  SrgbCurve srgb_curve = SrgbCurve::exact;
  double nits_of_one = 203;  ///< what 1.0 means for PQ and HLG, whose samples stand for absolute light
};

/// Rows of one picture in a working space. Reading is const and may happen on several threads at once.
class Rows {
 public:
  /// The view must stay valid. Transparent pictures are composited over the grey `background` (0..1) in the encoded
  /// space of the picture, as the references do; `background` must be given for views with alpha and is ignored for
  /// others.
  static Result<Rows> create(const ImageView& view, const WorkingSpace& space, std::optional<float> background);

  /// Pixels x_begin .. x_end - 1 of row y. Grey pictures give three equal planes. `from` may be any float buffers
  /// without particular alignment.
  void read(int y, int x_begin, int x_end, float* red, float* green, float* blue) const;

  /// Where the rows can also be made from packed RGB codes by one table for all three channels, that table; else empty.
  /// Samples above the table's end stand for its last value.
  std::span<const float> code_table() const;

  /// What a device needs to make the rows from the samples itself, by colour/math.h; nothing where a profile asks for
  /// more than that.
  struct Conversion {
    SampleConversion samples;
    PixelConversion pixels;
    /// Of opaque samples; grey has the first alone. Of floats the table of floats, or none.
    std::array<std::span<const float>, 3> tables;
    float background = 0;
  };
  std::optional<Conversion> conversion() const;

  /// The same rows of a copy of the picture, whose view may have other strides.
  Rows of_copy(const ImageView& copy) const;

  const ImageView& view() const { return view_; }
  int width() const { return view_.width; }
  int height() const { return view_.height; }

  /// What was done to get here, for the result's list of assumptions; e.g. "sRGB decoded to linear light".
  const std::string& description() const { return description_; }

 private:
  struct Maker;
  ImageView view_;
  std::shared_ptr<const Maker> maker_;
  std::string description_;
};

}  // namespace acuity

#endif
