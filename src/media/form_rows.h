// SPDX-License-Identifier: BSD-2-Clause-Patent
// Parts of media/form.h: numbers of a form, and rows of pictures as Y'CbCr.
#ifndef ACUITY_MEDIA_FORM_ROWS_H
#define ACUITY_MEDIA_FORM_ROWS_H

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "acuity/image.h"
#include "acuity/status.h"
#include "colour/primaries.h"
#include "colour/rows.h"
#include "media/meaning.h"

namespace acuity {

/// Which codes a form gives black and grey, and how many there are to white and to full colour.
struct Levels {
  explicit Levels(const FrameForm& form);
  int black, luma_width, zero, chroma_width, most;
};

/// Y'CbCr of one matrix from that of another: what one step of Cb and of Cr adds to luma, and becomes.
struct MatrixChange {
  MatrixChange(Matrix from, Matrix to);
  double luma_cb, luma_cr, cb_cb, cb_cr, cr_cb, cr_cr;
};

/// Y', Cb and Cr of every pixel of a row, as numbers of steps from black and from grey.
struct FormRow {
  explicit FormRow(int width)
      : luma(static_cast<size_t>(width)), cb(static_cast<size_t>(width)), cr(static_cast<size_t>(width)) {}
  std::vector<double> luma, cb, cr;
};

/// Rows of a picture as Y'CbCr. Reading is const and may happen on several threads.
class PictureRows {
 public:
  /// `colour`: what the picture is converted to first, where it is something else. The view must stay valid.
  static Result<PictureRows> create(const ImageView& view, const FrameForm& form, const Colour& colour);

  void read(int y, FormRow& row) const;

 private:
  PictureRows() = default;
  void read_stored(int y, size_t channel, std::vector<double>& out) const;
  void read_converted(int y, std::array<std::vector<double>*, 3> out) const;

  ImageView view_;
  Colour colour_;
  bool is_rgb_ = false;  // the planes are green, blue and red
  double red_ = 0, blue_ = 0, luma_width_ = 0, chroma_width_ = 0;
  std::vector<double> fractions_;  // of integer samples
  std::optional<Rows> rows_;       // where the colours are converted
  Matrix3 from_bt709_{};           // then, to the primaries of that colour
  bool codes_ = false;             // rows_ gives sRGB codes, which are what is wanted
};

}  // namespace acuity

#endif
