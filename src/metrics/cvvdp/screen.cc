// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/screen.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "metrics/cvvdp/cpu.h"

namespace acuity::cvvdp {
namespace {

constexpr const char* kOfDisplay = "display";
constexpr const char* kAuto = "auto";
constexpr std::array<const char*, 3> kAutomatic = {"standard_4k", "standard_hdr_pq", "standard_hdr_hlg"};
enum : size_t { kSdr, kPq, kHlg };

std::optional<Size> parse_size(std::string_view text) {
  constexpr int kMost = 65536;
  Size size;
  const char* end = text.data() + text.size();
  const auto [cross, wrong_width] = std::from_chars(text.data(), end, size.width);
  if (wrong_width != std::errc() || cross == end || *cross != 'x') return {};
  const auto [rest, wrong_height] = std::from_chars(cross + 1, end, size.height);
  if (wrong_height != std::errc() || rest != end) return {};
  if (std::min(size.width, size.height) < kMinimumSide || std::max(size.width, size.height) > kMost) return {};
  return size;
}

Result<Display> display_of(const std::string& name, const OptionValues& options) {
  Result<Display> loaded = load_display(name);
  if (!loaded.ok()) return loaded;
  Display display = std::move(*loaded);
  if (const auto ppd = options.number("ppd")) display.pixels_per_degree = ppd;
  if (const auto distance = options.number("distance")) display.distance = distance;
  if (const auto size = options.number("size")) {
    display.diagonal_inches = size;
    display.field_of_view.reset();
  }
  if (const std::string& resolution = options.text("resolution"); resolution != kOfDisplay) {
    const std::optional<Size> size = parse_size(resolution);
    if (!size) {
      return Status(StatusCode::usage, fmt::format("invalid value '{}' for the option resolution of cvvdp: expected "
                                                   "WIDTHxHEIGHT, from 2x2 to 65536x65536 pixels",
                                                   resolution));
    }
    display.width = size->width;
    display.height = size->height;
  }
  const bool moved = options.number("distance") || options.number("size");
  if (moved && options.number("ppd")) {
    return Status(StatusCode::usage, "the options distance and size of cvvdp have no effect with ppd; leave them out");
  }
  if (moved && display.pixels_per_degree) {
    return Status(StatusCode::usage,
                  fmt::format("the display '{}' has a fixed number of pixels per degree, so distance "
                              "and size have no effect; use ppd",
                              display.name));
  }
  if (options.number("distance") && display.field_of_view && !display.pixels_per_degree) {
    return Status(StatusCode::usage,
                  fmt::format("the display '{}' fills a fixed part of the visual field, so distance has no effect; use "
                              "ppd, or give its size as well",
                              display.name));
  }
  if (const auto peak = options.number("peak")) display.peak = *peak;
  if (const auto black = options.number("black")) display.black = black;
  if (const auto ambient = options.number("ambient")) display.ambient = *ambient;
  if (const auto reflectivity = options.number("reflectivity")) display.reflectivity = *reflectivity;
  const Status checked = check_display(display);
  if (!checked.ok()) return checked;
  return display;
}

// What the file says its samples are, in the words of name_of(Eotf).
std::string encoding_of(const Colour& colour) {
  if (colour.icc) return "samples with an ICC profile";
  switch (colour.transfer) {
    case Transfer::srgb:
      return "sRGB codes";
    case Transfer::linear:
      return "linear samples";
    case Transfer::gamma:
      return "gamma codes";
    case Transfer::bt1886:
      return "BT.1886 codes";
    case Transfer::pq:
      return "PQ codes";
    case Transfer::hlg:
      break;
  }
  return "HLG codes";
}

MetricOption override_option(const char* name, const char* help, double minimum, double maximum) {
  return {.name = name,
          .help = help,
          .default_value = kOfDisplay,
          .minimum = minimum,
          .maximum = maximum,
          .words = {kOfDisplay}};
}

}  // namespace

const std::shared_ptr<const std::vector<float>>& Screen::table_of(int depth) {
  std::shared_ptr<const std::vector<float>>& table = tables_[depth];
  if (!table) table = std::make_shared<const std::vector<float>>(light_table(photometry_, depth));
  return table;
}

std::string Screen::description() const {
  const bool has_no_term = photometry_.eotf() == Eotf::hlg && display_.peak > 1000 && display_.ambient == 0;
  return fmt::format("display: {}, {:.6g} pixels per degree{}", display_.name, pixels_per_degree(display_),
                     has_no_term ? "; HLG in 0 lux, for which the reference has no number: its system gamma is that "
                                   "without the term of the room"
                                 : "");
}

std::string Screen::reading_of(const Colour& colour) const {
  const std::string found = encoding_of(colour);
  if (photometry_.eotf() == Eotf::linear) return fmt::format("{} read as light in nit on {}", found, display_.name);
  const std::string expected = fmt::format("{} codes", name_of(photometry_.eotf()));
  if (found == expected) return fmt::format("{} shown on {}", found, display_.name);
  return fmt::format("{} read as {} of {}, which is what {} expects; the file's own colours are not used", found,
                     expected, display_.colour_space, display_.name);
}

Result<Screens> Screens::create(const OptionValues& options) {
  std::vector<std::string> names{options.text("display")};
  if (names[0] == kAuto) names.assign(kAutomatic.begin(), kAutomatic.end());
  Screens screens;
  for (const std::string& name : names) {
    Result<Display> display = display_of(name, options);
    if (!display.ok()) return display.status();
    Result<Photometry> photometry = Photometry::create(*display);
    if (!photometry.ok()) {
      // Only who compares HLG needs the last of the automatic displays.
      if (screens.screens_.size() != kHlg) return photometry.status();
      screens.no_hlg_ = photometry.status();
      break;
    }
    screens.screens_.emplace_back(std::move(*display), *photometry);
  }
  screens.most_scales_ = static_cast<int>(options.number("capped").value_or(0));
  return screens;
}

std::vector<std::string> Screens::capped(Size picture) const {
  const size_t scales = scales_of(picture, pixels_per_degree(), most_scales_).size();
  const size_t defined = scales_of(picture, pixels_per_degree()).size();
  if (scales == defined) return {};
  return {
      fmt::format("capped: {} scales instead of the {} of the definition, which gives another score", scales, defined)};
}

Result<Screen*> Screens::for_colour(const Colour& colour) {
  if (screens_.size() == 1) return &screens_[kSdr];
  if (colour.icc) return &screens_[kSdr];
  if (colour.transfer == Transfer::linear) {
    return Status(StatusCode::usage,
                  "cvvdp must know how bright linear samples are: give display=standard_hdr_linear if they are in nit, "
                  "or convert the picture to sRGB, PQ or HLG");
  }
  if (colour.transfer == Transfer::hlg && !no_hlg_.ok()) return no_hlg_;
  return &screens_[colour.transfer == Transfer::pq ? kPq : colour.transfer == Transfer::hlg ? kHlg : kSdr];
}

std::vector<MetricOption> display_options() {
  return {{.name = "display",
           .help = "a display of ColorVideoVDP by name, a JSON file with one, FILE#NAME, or auto: standard_4k, or "
                   "standard_hdr_pq or standard_hdr_hlg for such pictures",
           .default_value = kAuto,
           .any_text = true},
          override_option("ppd", "pixels per degree", 0.1, 10000),
          override_option("distance", "from the eye to the display, in metres", 0.01, 1000),
          override_option("size", "diagonal of the display, in inches", 0.1, 10000),
          {.name = "resolution",
           .help = "width and height of the display in pixels, as in 3840x2160",
           .default_value = kOfDisplay,
           .any_text = true},
          override_option("peak", "luminance of white, in nit", 0.1, 1e6),
          override_option("black", "luminance of black, in nit", 0, 1e6),
          override_option("ambient", "light of the room on the display, in lux", 0, 1e6),
          override_option("reflectivity", "share of that light which the display reflects", 0, 1),
          {.name = "capped",
           .help = "at most so many scales, the base included, which gives other scores than the definition",
           .default_value = "no",
           .minimum = 1,
           .maximum = 30,
           .words = {"no"},
           .whole = true}};
}

std::vector<MetricOption> time_options() {
  std::vector<MetricOption> options;
  options.push_back({.name = "padding",
                     .help = "what is seen before the first frame: that frame, or the video backwards",
                     .default_value = "replicate",
                     .words = {"replicate", "symmetric"}});
  options.push_back({.name = "full_screen",
                     .help = "scale frames to the size of the display, each video from its own size",
                     .default_value = kNoResizing,
                     .words = {kNoResizing, "nearest", "bilinear", "bicubic", "area"}});
  options.push_back({.name = "clip",
                     .help = "with full_screen, limit colours to what can be shown after scaling, or before as well, "
                             "as pycvvdp does with .yuv files",
                     .default_value = "after",
                     .words = {"after", "both"}});
  return options;
}

Result<std::vector<std::string>> names_of_outputs(const OptionValues& options, int channels) {
  constexpr Size kLargest{1 << 16, 1 << 16};
  Result<Screens> screens = Screens::create(options);
  if (!screens.ok()) return screens.status();
  Differences shape;
  shape.channels = channels;
  shape.subbands.resize(scales_of(kLargest, screens->pixels_per_degree(), screens->most_scales()).size());
  std::vector<std::string> names;
  for (const NamedValue& value : named_values(shape)) names.push_back(value.name);
  return names;
}

// One JOD is where three of four people tell the better picture.
std::string meaning_of_jod(double value) {
  constexpr double kDeviation = 1.4826;
  if (value >= 10) return "no visible difference";
  const double share = 50 * (1 + std::erf((10 - value) / kDeviation / std::sqrt(2.0)));
  return fmt::format("{:.0f} of 100 people would tell it from the reference, 50 by chance", share);
}

}  // namespace acuity::cvvdp
