// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/open_pair.h"

#include <fmt/format.h>

#include "base/try.h"
#include "cli/pairs.h"

namespace acuity::cli {
namespace {

// Raw streams have the depth that was given; others are brought to it.
Status bring_to_depth(std::unique_ptr<FrameStream>& stream, const VideoOptions& options, const std::string& path) {
  if (!options.depth || options.size) return {};
  ACUITY_TRY_ASSIGN(stream, with_depth(std::move(stream), *options.depth, shown(path)));
  return {};
}

std::vector<std::string> found_from(size_t place, const FrameStream& stream) {
  const std::vector<std::string>& found = stream.format().found;
  return {found.begin() + static_cast<ptrdiff_t>(place), found.end()};
}

}  // namespace

Result<OpenedPair> open_pair(const std::string& reference, const std::string& distorted, const VideoPlan& plan,
                             const MeaningOptions& meaning, const Geometry& geometry) {
  OpenedPair pair;
  StreamPair& streams = pair.streams;
  ACUITY_TRY_ASSIGN(streams.reference, open_video(reference, plan.reference));
  ACUITY_TRY_ASSIGN(streams.distorted, open_video(distorted, plan.distorted));
  PairMeaning settled;
  ACUITY_TRY_ASSIGN(settled, settle_meaning({shown(reference), streams.reference->format()},
                                            {shown(distorted), streams.distorted->format()}, meaning));
  streams.reference->settle(std::move(settled.reference));
  streams.distorted->settle(std::move(settled.distorted));
  pair.frame_colour = std::move(settled.frame_colour);
  pair.warnings = std::move(settled.warnings);
  const size_t found = streams.reference->format().found.size();
  const size_t distorted_found = streams.distorted->format().found.size();
  ACUITY_TRY(bring_to_depth(streams.reference, plan.reference, reference));
  ACUITY_TRY(bring_to_depth(streams.distorted, plan.distorted, distorted));
  ACUITY_TRY_ASSIGN(streams, with_geometry(std::move(streams), geometry, shown(reference), shown(distorted)));
  for (auto [changes, stream, place] :
       {std::tuple(&pair.reference_changes, streams.reference.get(), found),
        std::tuple(&pair.distorted_changes, streams.distorted.get(), distorted_found)}) {
    *changes = stream->format().stated;
    const std::vector<std::string> later = found_from(place, *stream);
    changes->insert(changes->end(), later.begin(), later.end());
  }
  return pair;
}

Result<std::unique_ptr<FrameStream>> open_alone(const std::string& path, const VideoPlan& plan,
                                                const MeaningOptions& meaning, const Geometry& geometry) {
  std::unique_ptr<FrameStream> stream;
  ACUITY_TRY_ASSIGN(stream, open_video(path, plan.reference));
  VideoFormat settled;
  ACUITY_TRY_ASSIGN(settled, settle_meaning({shown(path), stream->format()}, meaning.reference));
  stream->settle(std::move(settled));
  ACUITY_TRY(bring_to_depth(stream, plan.reference, path));
  if (geometry.crop_reference) {
    ACUITY_TRY_ASSIGN(stream, with_crop(std::move(stream), *geometry.crop_reference, shown(path)));
  }
  return stream;
}

std::vector<std::string> doubts(const MeaningSide& reference, const MeaningSide& distorted) {
  const VideoFormat &mine = reference.format, &other = distorted.format;
  std::vector<std::string> list = mine.warnings;
  list.insert(list.end(), other.warnings.begin(), other.warnings.end());
  const auto [width, height] = mine.pixel_aspect;
  const auto [other_width, other_height] = other.pixel_aspect;
  if (width > 0 && other_width > 0 && mine.pixel_aspect != other.pixel_aspect) {
    list.push_back(fmt::format("{} has pixels of {}:{} but {} has pixels of {}:{}: both are scored as they are stored",
                               reference.name, width, height, distorted.name, other_width, other_height));
  }
  if (mine.interlaced && other.interlaced && *mine.interlaced != *other.interlaced) {
    list.push_back(fmt::format("{} is interlaced but {} is not: both fields are scored together, as whole frames",
                               (*mine.interlaced ? reference : distorted).name,
                               (*mine.interlaced ? distorted : reference).name));
  }
  return list;
}

}  // namespace acuity::cli
