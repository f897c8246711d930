// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "media/meaning_text.h"

#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/try.h"
#include "colour/cicp.h"
#include "colour/icc.h"
#include "colour/primaries.h"
#include "colour/transfer.h"
#include "media/meaning.h"

namespace acuity {
namespace {

struct NamedPrimaries {
  int code;  // of H.273
  std::string_view name;
};
constexpr std::array<NamedPrimaries, 9> kPrimaries{{{1, "BT.709"},
                                                    {12, "Display P3"},
                                                    {9, "BT.2020"},
                                                    {5, "BT.470 BG"},
                                                    {6, "SMPTE 170M"},
                                                    {4, "BT.470 M"},
                                                    {8, "film"},
                                                    {11, "DCI-P3"},
                                                    {22, "EBU 3213"}}};

struct NamedColour {
  std::string_view name;
  Colour colour;
};
const std::array<NamedColour, 8>& named_colours() {
  static const std::array<NamedColour, 8> table{
      {{"srgb", {}},
       {"linear", {.transfer = Transfer::linear}},
       {"gamma22", {.transfer = Transfer::gamma, .gamma = 2.2}},
       {"display-p3", {.primaries = Primaries::display_p3}},
       {"bt709", {.transfer = Transfer::bt1886}},
       {"bt2020", {.transfer = Transfer::bt1886, .primaries = Primaries::bt2020}},
       {"bt2100-pq", {.transfer = Transfer::pq, .primaries = Primaries::bt2020}},
       {"bt2100-hlg", {.transfer = Transfer::hlg, .primaries = Primaries::bt2020}}}};
  return table;
}

std::string name_of_form(Subsampling subsampling, int depth) {
  return depth == 8 ? std::string(name_of(subsampling)) : fmt::format("{}{}", name_of(subsampling), depth);
}

}  // namespace

std::string describe_transfer(const Colour& colour) {
  return colour.transfer == Transfer::linear ? "linear light" : transfer_name(colour);
}

std::string describe_primaries(const Colour& colour) {
  for (const NamedPrimaries& known : kPrimaries) {
    const Result<Colour> named = colour_from_cicp(known.code, kCicpUnspecified, 0, true, "");
    if (named.ok() && same_primaries(chromaticities_of(*named), chromaticities_of(colour))) {
      return fmt::format("{} primaries", known.name);
    }
  }
  return "primaries of its own";
}

std::string describe(const Colour& colour, bool grey) {
  if (colour.icc) {
    const Result<IccConversion> profile = read_icc(*colour.icc, grey);
    return profile.ok() ? fmt::format("ICC profile '{}'", profile->name) : "an ICC profile";
  }
  const bool bt709 = grey || same_primaries(chromaticities_of(colour), {});
  if (bt709) return describe_transfer(colour);
  return fmt::format("{} with {}", describe_transfer(colour), describe_primaries(colour));
}

std::vector<std::string> assumed_colour(const Colour& colour, bool says_transfer, bool says_primaries) {
  if (!says_transfer && !says_primaries) {
    const bool linear = colour.transfer == Transfer::linear;
    return {fmt::format("{} (the file names no colour space)",
                        linear ? "linear light with BT.709 primaries" : describe(colour, false))};
  }
  if (!says_transfer) return {fmt::format("{} transfer (the file names none)", describe_transfer(colour))};
  if (!says_primaries) return {fmt::format("{} (the file names none)", describe_primaries(colour))};
  return {};
}

std::vector<std::string> describe_conversion(const VideoFormat& format, const FrameForm& form, const Colour& colour) {
  std::vector<std::string> list;
  const std::string name = name_of_form(form.subsampling, form.depth);
  const char* range = form.full_range ? "full" : "limited";
  if (format.rgb) {
    const bool same = same_colour(format.colour, colour, format.grey);
    const bool stays_rgb = form.matrix == Matrix::rgb;
    if (stays_rgb && same && format.depth == form.depth && !format.floats) return list;
    list.push_back(fmt::format(
        "converted {}to {} for frame metrics",
        same ? ""
             : fmt::format("from {} to {} and ", describe(format.colour, format.grey), describe(colour, format.grey)),
        stays_rgb ? fmt::format("{}-bit RGB", form.depth)
                  : fmt::format("{} by matrix {} in {} range", name, name_of(form.matrix), range)));
    return list;
  }
  std::string text;
  const auto change = [&](bool differs, const std::string& from, const std::string& to) {
    if (differs) text += fmt::format("{}from {} to {}", text.empty() ? "" : ", ", from, to);
  };
  change(format.subsampling != form.subsampling || format.depth != form.depth,
         name_of_form(format.subsampling, format.depth), name);
  change(format.full_range != form.full_range, format.full_range ? "full" : "limited", std::string(range) + " range");
  const bool colourful = format.subsampling != Subsampling::grey && form.subsampling != Subsampling::grey;
  change(colourful && format.matrix != form.matrix, fmt::format("matrix {}", name_of(format.matrix)),
         std::string(name_of(form.matrix)));
  const auto halved = [](Subsampling s) { return s == Subsampling::yuv420 || s == Subsampling::yuv422; };
  change(halved(format.subsampling) && halved(form.subsampling) && format.siting != form.siting,
         fmt::format("chroma sited {}", name_of(format.siting)), std::string(name_of(form.siting)));
  if (!text.empty()) list.push_back(fmt::format("converted {} for frame metrics", text));
  return list;
}

Result<std::optional<Colour>> parse_colour(std::string_view name) {
  if (name == "file") return std::optional<Colour>();
  std::string known = "file";
  for (const NamedColour& entry : named_colours()) {
    if (entry.name == name) return std::optional(entry.colour);
    known += fmt::format(", {}", entry.name);
  }
  return Status(StatusCode::usage, fmt::format("'{}' is unknown; use one of {}", name, known));
}

Result<FormChoice> parse_form(std::string_view name) {
  if (name == "ref") return FormChoice{.like = FormChoice::Like::reference};
  if (name == "dist") return FormChoice{.like = FormChoice::Like::distorted};
  FormChoice choice{.like = FormChoice::Like::named};
  const Status unknown(StatusCode::usage,
                       fmt::format("'{}' is unknown; use ref, dist, or yuv420p, yuv422p, yuv444p or gray, followed by "
                                   "the depth if it is above 8, as in yuv422p10",
                                   name));
  const size_t digits = name.find_last_not_of("0123456789") + 1;
  // "yuv420p" itself ends in a letter, so that what follows it is the depth.
  const Result<Subsampling> subsampling = parse_subsampling(name.substr(0, digits));
  if (!subsampling.ok()) return unknown;
  choice.subsampling = *subsampling;
  if (digits == name.size()) return choice;
  const auto [end, error] = std::from_chars(name.data() + digits, name.data() + name.size(), choice.depth);
  if (error != std::errc() || choice.depth < 8 || choice.depth > 16) return unknown;
  return choice;
}

}  // namespace acuity
