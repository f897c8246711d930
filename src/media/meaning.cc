// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/meaning.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/try.h"
#include "colour/cicp.h"
#include "colour/icc.h"
#include "colour/primaries.h"
#include "media/meaning_text.h"

namespace acuity {
namespace {

// Where something known of a side's samples comes from, best first.
enum class Origin : uint8_t { user, file, other_side, assumed };

bool is_known(Origin origin) { return origin == Origin::user || origin == Origin::file; }

// One side while it is settled.
struct Party {
  std::string name;
  VideoFormat format;
  const SampleOptions* options = nullptr;
  Origin range = Origin::assumed, matrix = Origin::assumed, siting = Origin::assumed;
  Origin primaries = Origin::assumed, transfer = Origin::assumed;
  bool seemed_linear = false;  // floats of a file that does not say what they are

  bool grey() const { return format.rgb ? format.grey : format.subsampling == Subsampling::grey; }
  bool has_matrix() const { return !format.rgb && format.subsampling != Subsampling::grey; }
  bool has_siting() const {
    return !format.rgb && (format.subsampling == Subsampling::yuv420 || format.subsampling == Subsampling::yuv422);
  }
};

bool is_hdr(const Colour& colour) {
  return !colour.icc && (colour.transfer == Transfer::pq || colour.transfer == Transfer::hlg);
}

bool is_linear(const Colour& colour) { return !colour.icc && colour.transfer == Transfer::linear; }

// A profile that is sRGB is sRGB.
Colour plain(const Colour& colour, bool grey) {
  if (!colour.icc) return colour;
  const Result<IccConversion> profile = read_icc(*colour.icc, grey);
  return profile.ok() && profile->is_srgb ? Colour{} : colour;
}

bool has_profile(const Party& side) { return plain(side.format.colour, side.grey()).icc != nullptr; }

bool same_transfer(const Colour& a, const Colour& b) {
  if (a.transfer != b.transfer) return false;
  if (a.transfer == Transfer::gamma) return a.gamma == b.gamma;
  return a.transfer != Transfer::hlg || a.peak_nits == b.peak_nits;
}

void copy_transfer(const Colour& from, Colour& to) {
  to.transfer = from.transfer;
  to.gamma = from.gamma;
  to.peak_nits = from.peak_nits;
}

void copy_primaries(const Colour& from, Colour& to) {
  to.primaries = from.primaries;
  to.chromaticities = from.chromaticities;
}

// What the file says and what the user says, the latter on top.
Status hear(Party& side) {
  const SampleOptions& options = *side.options;
  VideoFormat& format = side.format;
  const auto hear_one = [](Origin& origin, bool said, auto& value, const auto& option) {
    origin = option ? Origin::user : said ? Origin::file : Origin::assumed;
    if (option) value = *option;
  };
  if (!format.rgb) hear_one(side.range, format.says.range, format.full_range, options.full_range);
  if (side.has_matrix()) hear_one(side.matrix, format.says.matrix, format.matrix, options.matrix);
  if (side.has_siting()) hear_one(side.siting, format.says.siting, format.siting, options.siting);
  side.primaries = format.says.primaries ? Origin::file : Origin::assumed;
  side.transfer = format.says.transfer ? Origin::file : Origin::assumed;
  side.seemed_linear =
      side.transfer == Origin::assumed && !options.colour && !options.transfer && is_linear(format.colour);
  if (options.colour) {
    format.colour = *options.colour;
    side.primaries = side.transfer = Origin::user;
  }
  if (!options.primaries && !options.transfer) return {};
  if (format.colour.icc) {  // a profile says both, so that one of them alone cannot be replaced
    format.colour = {};
    side.primaries = side.transfer = Origin::assumed;
  }
  if (options.primaries) {
    Colour named;
    ACUITY_TRY_ASSIGN(named, colour_from_cicp(*options.primaries, kCicpUnspecified, 0, true, side.name));
    copy_primaries(named, format.colour);
    side.primaries = Origin::user;
  }
  if (options.transfer) {
    Colour named;
    ACUITY_TRY_ASSIGN(named, colour_from_cicp(kCicpUnspecified, *options.transfer, 0, true, side.name));
    copy_transfer(named, format.colour);
    side.transfer = Origin::user;
  }
  return {};
}

// Where one side says something and nothing is known of the other, that one takes it over. What the user says of one
// side is not meant for the other.
template <typename Value>
void take_over(Origin& a_origin, Value& a, Origin& b_origin, Value& b) {
  if (a_origin == Origin::file && !is_known(b_origin)) {
    b = a;
    b_origin = Origin::other_side;
  } else if (b_origin == Origin::file && !is_known(a_origin)) {
    a = b;
    a_origin = Origin::other_side;
  }
}

void settle_samples(Party& a, Party& b) {
  if (!a.format.rgb && !b.format.rgb) take_over(a.range, a.format.full_range, b.range, b.format.full_range);
  if (a.has_matrix() && b.has_matrix()) take_over(a.matrix, a.format.matrix, b.matrix, b.format.matrix);
  // A smaller copy of a video was not made anew by the rule for its own size.
  const auto is_large = [](const VideoFormat& format) { return format.width >= 1280 || format.height > 576; };
  const Matrix usual = is_large(a.format) || is_large(b.format) ? Matrix::bt709 : Matrix::bt601;
  for (Party* side : {&a, &b}) {
    if (side->has_matrix() && side->matrix == Origin::assumed) side->format.matrix = usual;
  }
  if (a.has_siting() && b.has_siting()) take_over(a.siting, a.format.siting, b.siting, b.format.siting);
}

// Which curve samples have where neither side says: that of a video among videos, sRGB as soon as there is a picture or
// RGB, and light itself where there is nothing but floats.
Colour usual_colour(const Party& a, const Party& b) {
  if (!a.format.rgb && !b.format.rgb) return {.transfer = Transfer::bt1886};
  if (a.seemed_linear && b.seemed_linear) return {.transfer = Transfer::linear};
  return {};
}

// Whether the colours of one side can be those of the other: a profile may not be made for such samples, and light
// itself is held by floats alone.
bool fits(const Colour& colour, const Party& side) {
  if (is_linear(colour) && !side.seemed_linear) return false;
  return !colour.icc || read_icc(*colour.icc, side.grey()).ok();
}

void settle_colour(Party& a, Party& b) {
  const auto says_both = [](const Party& side) {
    return side.primaries == Origin::file && side.transfer == Origin::file;
  };
  const auto knows_none = [](const Party& side) { return !is_known(side.primaries) && !is_known(side.transfer); };
  const Colour usual = usual_colour(a, b);
  for (auto [from, to] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    if (!knows_none(*to)) continue;
    copy_transfer(usual, to->format.colour);
    copy_primaries(usual, to->format.colour);
    // Encoders lose profiles, but none adds one without converting: an original without one is what is usual.
    const bool is_original = to == &a && a.format.still && b.format.still && has_profile(b);
    if (says_both(*from) && fits(from->format.colour, *to) && !is_original) {
      to->format.colour = from->format.colour;
      to->primaries = to->transfer = Origin::other_side;
      return;
    }
  }
  const auto settle_one = [&](Origin Party::* origin, void (*copy)(const Colour&, Colour&)) {
    for (auto [from, to] : {std::pair(&a, &b), std::pair(&b, &a)}) {
      if (is_known(to->*origin)) continue;
      const bool takes = from->*origin == Origin::file && !from->format.colour.icc && fits(from->format.colour, *to);
      copy(takes ? from->format.colour : usual, to->format.colour);
      to->*origin = takes ? Origin::other_side : Origin::assumed;
    }
  };
  settle_one(&Party::transfer, copy_transfer);
  settle_one(&Party::primaries, copy_primaries);
}

// What was found and assumed of one side, as its format lists it from then on. Files of pictures have listed already
// what they say of colours.
void state(Party& side, const std::string& other) {
  VideoFormat& format = side.format;
  const auto list = [&](Origin origin, const std::string& text) {
    if (origin == Origin::user) format.found.push_back(text + " (by option)");
    if (origin == Origin::file) format.found.push_back(text);
    if (origin == Origin::other_side) format.assumed.push_back(fmt::format("{}, as {} states", text, other));
    if (origin == Origin::assumed) format.assumed.push_back(text);
  };
  if (!format.rgb) list(side.range, format.full_range ? "full range" : "limited range");
  if (side.has_matrix()) list(side.matrix, fmt::format("matrix {}", name_of(format.matrix)));
  if (side.has_siting()) list(side.siting, fmt::format("chroma sited {}", name_of(format.siting)));
  if (format.still && side.transfer == Origin::assumed && side.primaries == Origin::assumed) {
    format.assumed.push_back(assumed_colour(format.colour, false, false).front());
  } else if (side.transfer == side.primaries && (format.still || format.colour.icc)) {
    if (side.transfer != Origin::file) list(side.transfer, describe(format.colour, side.grey()));
  } else {
    if (!format.still || side.primaries != Origin::file) list(side.primaries, describe_primaries(format.colour));
    if (!format.still || side.transfer != Origin::file) list(side.transfer, describe_transfer(format.colour));
  }
}

// Whether what a side took over for its colours is SDR as nearly all pictures and videos have it.
bool took_ordinary_colours(const Party& side) {
  const Colour meant = plain(side.format.colour, side.grey());
  const bool transfer = meant.transfer == Transfer::srgb || meant.transfer == Transfer::bt1886;
  const bool primaries = side.grey() || same_primaries(chromaticities_of(meant), {});
  return !meant.icc && (transfer || side.transfer != Origin::other_side) &&
         (primaries || side.primaries != Origin::other_side);
}

// What one side took over from the other, or was given for want of anything better, and what may well be wrong.
void warn_of_doubt(const Party& side, const Party& other, std::vector<std::string>& warnings) {
  const VideoFormat& format = side.format;
  const auto took_over = [&](const std::string& what, const std::string& as, const char* option) {
    warnings.push_back(fmt::format("{} does not state {}: assumed {}, as {} states; use {} if that is wrong", side.name,
                                   what, as, other.name, option));
  };
  if (side.range == Origin::other_side && format.full_range) took_over("its range", "full range", "--range");
  if (side.matrix == Origin::other_side &&
      format.matrix != (format.width >= 1280 || format.height > 576 ? Matrix::bt709 : Matrix::bt601)) {
    took_over("its matrix", std::string(name_of(format.matrix)), "--matrix");
  }
  const bool colour_taken = side.transfer == Origin::other_side || side.primaries == Origin::other_side;
  if (side.seemed_linear && !is_linear(format.colour)) {
    warnings.push_back(
        fmt::format("{} has float samples and does not state their transfer function: assumed {}; use --colour linear "
                    "if they are linear light",
                    side.name, describe(format.colour, side.grey())));
  } else if (colour_taken && !took_ordinary_colours(side)) {
    took_over("its colours", describe(format.colour, side.grey()), "--colour");
  } else if (side.transfer == Origin::assumed && other.transfer == Origin::file && is_linear(other.format.colour)) {
    warnings.push_back(
        fmt::format("{} does not state its colours: assumed {}, although {} is linear light; use --colour if that is "
                    "wrong",
                    side.name, describe(format.colour, side.grey()), other.name));
  } else if (side.transfer == Origin::assumed && has_profile(other)) {
    warnings.push_back(
        fmt::format("{} does not state its colours: assumed {}, although {} has {}; if {} has lost that profile, use "
                    "--colour-as-stored",
                    side.name, describe(format.colour, side.grey()), other.name,
                    describe(other.format.colour, other.grey()), side.name));
  }
  if (side.has_matrix() && side.matrix == Origin::assumed && other.format.rgb) {
    const bool range = side.range == Origin::assumed;
    warnings.push_back(
        fmt::format("{} does not state its matrix{}, which its RGB depends on: assumed {}{}; use --matrix{} if that "
                    "is wrong",
                    side.name, range ? " and range" : "", name_of(format.matrix), range ? " in limited range" : "",
                    range ? " and --range" : ""));
  }
}

void warn_of_differences(const Party& a, const Party& b, std::vector<std::string>& warnings) {
  const auto ordered = [&](bool a_first) { return a_first ? std::pair(&a, &b) : std::pair(&b, &a); };
  if (a.format.alpha != b.format.alpha) {
    const auto [has, lacks] = ordered(a.format.alpha);
    warnings.push_back(fmt::format("{} has transparency but {} does not and counts as opaque", has->name, lacks->name));
  }
  const bool ycbcr = !a.format.rgb && !b.format.rgb;
  if (ycbcr && a.grey() != b.grey()) {
    const auto [grey, colourful] = ordered(a.grey());
    warnings.push_back(fmt::format("{} is grey but {} has colour", grey->name, colourful->name));
  }
  const Colour first = plain(a.format.colour, a.grey()), second = plain(b.format.colour, b.grey());
  if (first.icc || second.icc || same_transfer(first, second)) return;
  if (is_linear(first) != is_linear(second) && (is_hdr(first) || is_hdr(second))) {
    const auto [linear, other] = ordered(is_linear(first));
    warnings.push_back(fmt::format("{} is linear light and {} is {}: 1.0 counts as the white that the metric assumes",
                                   linear->name, other->name, describe_transfer(other->format.colour)));
  }
  const bool streams = !a.format.still || !b.format.still;
  const auto is_display = [](const Colour& colour) { return !is_linear(colour) && !is_hdr(colour); };
  if (streams && is_display(first) && is_display(second)) {
    warnings.push_back(
        fmt::format("{} is {} but {} is {}, so equal code values are different light; if both were made for the same "
                    "display, give one --transfer for both",
                    a.name, describe_transfer(first), b.name, describe_transfer(second)));
  }
}

Status differ(const Party& a, const Party& b, const std::string& why) {
  return Status(
      StatusCode::input,
      fmt::format("{} is {} but {} is {}: {}; convert one of them, use --colour, --transfer or --primaries if a file "
                  "states them wrong, or use --colour-as-stored to compare the code values anyway",
                  a.name, describe(a.format.colour, a.grey()), b.name, describe(b.format.colour, b.grey()), why));
}

// Colours that no metric can compare, or metrics of frames cannot. Pictures are converted for those, video is not.
Status check_colours(const Party& a, const Party& b, bool frames) {
  const Colour &first = a.format.colour, &second = b.format.colour;
  if (same_colour(first, second, a.grey() && b.grey())) return {};
  if (is_hdr(first) != is_hdr(second) && !is_linear(first) && !is_linear(second)) {
    return differ(a, b, "HDR and SDR have no common scale of light");
  }
  if (!frames) return {};
  if (!a.format.still && !b.format.still) return differ(a, b, "frame metrics compare code values");
  if (is_hdr(first) || is_hdr(second)) return differ(a, b, "pictures are not converted to HDR for frame metrics");
  return {};
}

Colour frame_colour(const Party& a, const Party& b) {
  if (!a.format.still) return a.format.colour;
  if (!b.format.still) return b.format.colour;
  return is_hdr(a.format.colour) ? a.format.colour : Colour{};
}

}  // namespace

Result<PairMeaning> settle_meaning(const MeaningSide& reference, const MeaningSide& distorted,
                                   const MeaningOptions& options) {
  Party a{reference.name, reference.format, &options.reference};
  Party b{distorted.name, distorted.format, &options.distorted};
  ACUITY_TRY(hear(a));
  ACUITY_TRY(hear(b));
  settle_samples(a, b);
  settle_colour(a, b);
  PairMeaning meaning;
  warn_of_doubt(a, b, meaning.warnings);
  warn_of_doubt(b, a, meaning.warnings);
  if (options.colour_as_stored && !same_colour(a.format.colour, b.format.colour, a.grey() && b.grey())) {
    meaning.warnings.push_back(fmt::format("{} is {} but {} is {}: code values are compared as they are stored", a.name,
                                           describe(a.format.colour, a.grey()), b.name,
                                           describe(b.format.colour, b.grey())));
    b.format.colour = a.format.colour;
  }
  warn_of_differences(a, b, meaning.warnings);
  ACUITY_TRY(check_colours(a, b, options.frames));
  state(a, b.name);
  state(b, a.name);
  // Grey has no primaries. Beside RGB it takes those that it states, which rounds as RGB of three equal samples does.
  if (a.grey() && b.grey()) {
    for (Party* side : {&a, &b}) copy_primaries({}, side->format.colour);
  }
  meaning.frame_colour = frame_colour(a, b);
  meaning.reference = std::move(a.format);
  meaning.distorted = std::move(b.format);
  return meaning;
}

Result<VideoFormat> settle_meaning(const MeaningSide& side, const SampleOptions& options) {
  Party alone{side.name, side.format, &options};
  ACUITY_TRY(hear(alone));
  Party same = alone;
  settle_samples(alone, same);
  settle_colour(alone, same);
  state(alone, "");
  return alone.format;
}

FrameForm choose_form(const VideoFormat& reference, const VideoFormat& distorted, const FormChoice& at) {
  const bool like_distorted = at.like == FormChoice::Like::distorted;
  const VideoFormat& like = like_distorted ? distorted : reference;
  const VideoFormat& other = like_distorted ? reference : distorted;
  FrameForm form;
  if (!like.rgb || !other.rgb) {
    const VideoFormat& ycbcr = like.rgb ? other : like;
    form = {ycbcr.subsampling, ycbcr.depth, ycbcr.full_range, ycbcr.matrix, ycbcr.siting};
  }
  if (like.rgb) {
    form.subsampling = Subsampling::yuv444;
    form.depth = !like.floats ? like.depth : !other.floats ? other.depth : 16;
  }
  if (at.like == FormChoice::Like::named) {
    form.subsampling = at.subsampling;
    form.depth = at.depth;
  }
  return form;
}

FrameForm choose_precise_form(const VideoFormat& reference, const VideoFormat& distorted, const FormChoice& at) {
  constexpr int kMostBits = 16;
  FrameForm form = choose_form(reference, distorted, at);
  if (at.like == FormChoice::Like::named) return form;
  const VideoFormat &a = reference, &b = distorted;
  if (a.rgb && b.rgb) {
    const bool as_stored = a.depth == b.depth && !a.floats && !b.floats;
    return {.subsampling = Subsampling::yuv444,
            .depth = as_stored ? a.depth : kMostBits,
            .full_range = true,
            .matrix = Matrix::rgb};
  }
  const bool is_grey = a.subsampling == Subsampling::grey, is_whole = a.subsampling == Subsampling::yuv444;
  const bool same_chroma = !a.rgb && !b.rgb && a.subsampling == b.subsampling &&
                           (is_grey || (a.matrix == b.matrix && (is_whole || a.siting == b.siting)));
  if (!same_chroma) form.subsampling = Subsampling::yuv444;
  if (!same_chroma || a.full_range != b.full_range) {
    form.depth = kMostBits;
  } else if (a.depth != b.depth) {
    // Samples of limited range become deeper by a shift, those of full range by a rounding.
    form.depth = a.full_range ? kMostBits : std::max(a.depth, b.depth);
  }
  return form;
}

std::vector<std::string> differences_in_meaning(const MeaningSide& reference, const MeaningSide& distorted) {
  const VideoFormat &a = reference.format, &b = distorted.format;
  std::vector<std::string> list;
  const auto compare = [&](bool said, const std::string& mine, const std::string& other) {
    if (said && mine != other)
      list.push_back(fmt::format("{} is {} but {} is {}", reference.name, mine, distorted.name, other));
  };
  const auto range = [](const VideoFormat& format) { return format.full_range ? "full range" : "limited range"; };
  const auto matrix = [](const VideoFormat& format) { return fmt::format("by matrix {}", name_of(format.matrix)); };
  if (!a.rgb && !b.rgb) {
    compare(a.says.range && b.says.range, range(a), range(b));
    compare(a.says.matrix && b.says.matrix, matrix(a), matrix(b));
  }
  compare(a.says.transfer && b.says.transfer, describe_transfer(a.colour), describe_transfer(b.colour));
  compare(a.says.primaries && b.says.primaries, describe_primaries(a.colour), describe_primaries(b.colour));
  return list;
}

VideoFormat format_of(const Picture& picture) {
  VideoFormat format;
  format.container = picture.format;
  format.width = picture.view.width;
  format.height = picture.view.height;
  format.depth = picture.view.depth;
  format.rgb = format.still = true;
  format.grey = picture.view.is_grey();
  format.alpha = picture.view.has_alpha();
  format.floats = picture.view.type == SampleType::f32;
  format.full_range = true;
  format.colour = picture.view.colour;
  format.says.transfer = picture.says_transfer;
  format.says.primaries = picture.says_primaries;
  format.frames = 1;
  format.found = picture.found;
  format.assumed = picture.assumed;
  for (const std::string& text : assumed_colour(format.colour, format.says.transfer, format.says.primaries)) {
    std::erase(format.assumed, text);
  }
  return format;
}

bool same_colour(const Colour& a, const Colour& b, bool grey) {
  const Colour first = plain(a, grey), second = plain(b, grey);
  if (first.icc || second.icc) return first.icc && second.icc && *first.icc == *second.icc;
  return same_transfer(first, second) && (grey || same_primaries(chromaticities_of(first), chromaticities_of(second)));
}

}  // namespace acuity
