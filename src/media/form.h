// SPDX-License-Identifier: BSD-2-Clause-Patent
// Frames as metrics of frames compare them: in one form of Y'CbCr for both sides, with the same bits on every machine.
// docs/video.md states the arithmetic.
#ifndef ACUITY_MEDIA_FORM_H
#define ACUITY_MEDIA_FORM_H

#include <cstdint>
#include <memory>
#include <vector>

#include "acuity/frame.h"
#include "acuity/status.h"
#include "base/threads.h"
#include "media/meaning.h"
#include "media/video.h"

namespace acuity {

/// The form that frames of a format have already; of RGB the nearest, 4:4:4 by BT.709 in limited range.
FrameForm stored_form(const VideoFormat& format);

/// Whether frames of this format have to be converted.
bool needs_conversion(const VideoFormat& format, const FrameForm& form);

/// Codes of one form as codes of another, times `parts`: range and depth change with one rounding.
std::vector<uint16_t> rescaled_codes(const FrameForm& from, const FrameForm& to, int parts, bool luma);

/// What frames of this format are after FormConverter; `colour` as there.
FrameFormat frame_format(const VideoFormat& format, const FrameForm& form, const Colour& colour);

/// Brings the frames of one side to a form. Used by one thread at a time.
class FormConverter {
 public:
  /// `colour`: what pictures are converted to before they become Y'CbCr.
  FormConverter(VideoFormat format, const FrameForm& form, Colour colour)
      : format_(std::move(format)), form_(form), colour_(std::move(colour)) {}

  /// The view keeps its samples alive. An error where a picture has transparency.
  Result<FrameView> operator()(std::shared_ptr<const VideoFrame> frame, const Threads& threads);

 private:
  class Resampling;
  VideoFormat format_;
  FrameForm form_;
  Colour colour_;
  FramePool pool_;
  std::shared_ptr<const Resampling> resampling_;  // made when a frame needs it
};

}  // namespace acuity

#endif
