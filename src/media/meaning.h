// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the samples of two sides mean, decided once for both sides and for every metric. A side says some of it, the
// user says some, and the rest is taken from the other side or assumed. Every way to a score goes through
// settle_meaning(), so that the same pair gets the same numbers, statements and warnings on all of them. docs/colour.md
// has the rules.
#ifndef ACUITY_MEDIA_MEANING_H
#define ACUITY_MEDIA_MEANING_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acuity/picture.h"
#include "acuity/status.h"
#include "media/video.h"

namespace acuity {

/// What the user says of the samples of one side. It counts more than what the side itself says.
struct SampleOptions : SampleFacts {
  std::optional<Colour> colour{};  ///< transfer function and primaries together
};

/// Y'CbCr as metrics of frames compare it.
struct FrameForm {
  Subsampling subsampling = Subsampling::yuv420;
  int depth = 8;
  bool full_range = false;
  Matrix matrix = Matrix::bt709;
  Siting siting = Siting::left;

  bool operator==(const FrameForm&) const = default;
};

/// In whose form frames are compared.
struct FormChoice {
  enum class Like : uint8_t { reference, distorted, named };
  Like like = Like::reference;
  Subsampling subsampling = Subsampling::yuv420;  ///< where it is named
  int depth = 8;
};

struct MeaningOptions {
  SampleOptions reference{};
  SampleOptions distorted{};
  bool colour_as_stored = false;  ///< compare code values although the transfer functions or the primaries differ
  bool frames = false;            ///< whether metrics of frames are asked for
  FormChoice at{};
};

/// One of the two: its name for messages, and what its reader found.
struct MeaningSide {
  std::string name;
  VideoFormat format;
};

struct PairMeaning {
  VideoFormat reference;  ///< with every field settled, and what was found and assumed about them listed
  VideoFormat distorted;
  Colour frame_colour;  ///< what pictures are converted to before they become Y'CbCr for metrics of frames
  std::vector<std::string> warnings;
};

/// An error where the two cannot be compared, which names both and what to do.
Result<PairMeaning> settle_meaning(const MeaningSide& reference, const MeaningSide& distorted,
                                   const MeaningOptions& options);

/// What one side means where there is no other.
Result<VideoFormat> settle_meaning(const MeaningSide& side, const SampleOptions& options);

/// The form in which metrics of frames compare two settled sides.
FrameForm choose_form(const VideoFormat& reference, const VideoFormat& distorted, const FormChoice& at);
/// The same for a metric that compares light instead of samples: where sides differ, in a form that loses next to
/// nothing of either, unless a form is named.
FrameForm choose_precise_form(const VideoFormat& reference, const VideoFormat& distorted, const FormChoice& at);

/// What metrics of frames are told of a side whose frames are converted, one sentence each; nothing where they are not.
std::vector<std::string> describe_conversion(const VideoFormat& format, const FrameForm& form, const Colour& colour);

/// Why code values of the two are not comparable as they are; empty where nothing is known against it.
std::vector<std::string> differences_in_meaning(const MeaningSide& reference, const MeaningSide& distorted);

/// The format of a picture, as if it were a video of one frame.
VideoFormat format_of(const Picture& picture);

/// Equal as far as samples can tell.
bool same_colour(const Colour& a, const Colour& b, bool grey);

/// "sRGB", "PQ with BT.2020 primaries", "ICC profile 'ProPhoto'".
std::string describe(const Colour& colour, bool grey);

/// What a user calls a colour: "srgb", "display-p3" ...; "file" is none.
Result<std::optional<Colour>> parse_colour(std::string_view name);
/// "ref", "dist", or a form such as "yuv422p10".
Result<FormChoice> parse_form(std::string_view name);

}  // namespace acuity

#endif
