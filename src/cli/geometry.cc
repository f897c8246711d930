// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/geometry.h"

#include <fmt/format.h>

#include "base/try.h"
#include "cli/lists.h"
#include "cli/sides.h"

namespace acuity::cli {
namespace {

constexpr int kMostSide = 65535;

Status usage(std::string message) { return Status(StatusCode::usage, std::move(message)); }

Result<Crop> parse_crop(std::string_view text) {
  const size_t cross = text.find('x');
  const size_t left = cross == std::string_view::npos ? cross : text.find('+', cross);
  const size_t top = left == std::string_view::npos ? left : text.find('+', left + 1);
  if (top == std::string_view::npos) {
    return usage(fmt::format("invalid value '{}': expected WIDTHxHEIGHT+LEFT+TOP, such as 640x360+0+60", text));
  }
  Crop crop;
  ACUITY_TRY_ASSIGN(crop.width, parse_whole(text.substr(0, cross), "the width", 1, kMostSide));
  ACUITY_TRY_ASSIGN(crop.height, parse_whole(text.substr(cross + 1, left - cross - 1), "the height", 1, kMostSide));
  ACUITY_TRY_ASSIGN(crop.x, parse_whole(text.substr(left + 1, top - left - 1), "the left edge", 0, kMostSide));
  ACUITY_TRY_ASSIGN(crop.y, parse_whole(text.substr(top + 1), "the top edge", 0, kMostSide));
  return crop;
}

}  // namespace

const std::vector<Option>& geometry_options() {
  static const std::vector<Option> table = {
      {.name = "--scale",
       .value = "SIDE",
       .help = "scale the pictures or frames of this side to the size of the other",
       .words = {"ref", "dist"},
       .suggest = Suggest::words},
      {.name = "--scaler",
       .value = "FILTER",
       .help = "the filter of --scale",
       .default_value = "bicubic",
       .words = {"bicubic", "bilinear", "lanczos"},
       .suggest = Suggest::words},
      {.name = "--crop",
       .value = "WxH+X+Y",
       .help = "compare only this part: its size, left column and top row; one value for both sides, or two as "
               "REF,DIST, one of which may be empty; applied before --scale"},
  };
  return table;
}

Result<Geometry> plan_geometry(const Request& request) {
  Geometry geometry;
  ACUITY_TRY(read_sides(request, "--crop", parse_crop, geometry.crop_reference, geometry.crop_distorted));
  if (request.has("--scale")) {
    const std::string side = request.value("--scale");
    if (side != "ref" && side != "dist")
      return usage(fmt::format("invalid value '{}' for --scale: expected ref or dist", side));
    geometry.scale_reference = side == "ref";
  }
  if (!request.has("--scaler")) return geometry;
  if (!geometry.scale_reference) return usage("--scaler needs --scale");
  Result<Scaler> scaler = parse_scaler(request.value("--scaler"));
  if (!scaler.ok()) return usage("--scaler: " + scaler.status().message());
  geometry.scaler = *scaler;
  return geometry;
}

Result<StreamPair> with_geometry(StreamPair streams, const Geometry& geometry, const std::string& reference_name,
                                 const std::string& distorted_name) {
  if (geometry.crop_reference) {
    ACUITY_TRY_ASSIGN(streams.reference,
                      with_crop(std::move(streams.reference), *geometry.crop_reference, reference_name));
  }
  if (geometry.crop_distorted) {
    ACUITY_TRY_ASSIGN(streams.distorted,
                      with_crop(std::move(streams.distorted), *geometry.crop_distorted, distorted_name));
  }
  if (!geometry.scale_reference) return streams;
  std::unique_ptr<FrameStream>& scaled = *geometry.scale_reference ? streams.reference : streams.distorted;
  const VideoFormat& like = (*geometry.scale_reference ? streams.distorted : streams.reference)->format();
  ACUITY_TRY_ASSIGN(scaled, with_size(std::move(scaled), like.width, like.height, geometry.scaler,
                                      *geometry.scale_reference ? reference_name : distorted_name));
  return streams;
}

}  // namespace acuity::cli
