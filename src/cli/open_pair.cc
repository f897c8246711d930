// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/open_pair.h"

#include <fmt/format.h>

#include "base/try.h"
#include "cli/pairs.h"

namespace acuity::cli {
namespace {

// Raw streams have the depth that was given; others are brought to it.
Status bring_to_depth(std::unique_ptr<FrameSource>& source, const VideoOptions& options, const std::string& path) {
  if (!options.depth || options.size) return {};
  ACUITY_TRY_ASSIGN(source, with_depth(std::move(source), *options.depth, shown(path)));
  return {};
}

std::vector<std::string> found_from(size_t place, const FrameSource& source) {
  const std::vector<std::string>& found = source.format().found;
  return {found.begin() + static_cast<ptrdiff_t>(place), found.end()};
}

}  // namespace

Result<OpenedPair> open_pair(const std::string& reference, const std::string& distorted, const VideoPlan& plan,
                             const MeaningOptions& meaning, const Geometry& geometry) {
  OpenedPair pair;
  Sources& sources = pair.sources;
  ACUITY_TRY_ASSIGN(sources.reference, open_video(reference, plan.reference));
  ACUITY_TRY_ASSIGN(sources.distorted, open_video(distorted, plan.distorted));
  PairMeaning settled;
  ACUITY_TRY_ASSIGN(settled, settle_meaning({shown(reference), sources.reference->format()},
                                            {shown(distorted), sources.distorted->format()}, meaning));
  sources.reference->settle(std::move(settled.reference));
  sources.distorted->settle(std::move(settled.distorted));
  pair.frame_colour = std::move(settled.frame_colour);
  pair.warnings = std::move(settled.warnings);
  const size_t found = sources.reference->format().found.size();
  const size_t distorted_found = sources.distorted->format().found.size();
  ACUITY_TRY(bring_to_depth(sources.reference, plan.reference, reference));
  ACUITY_TRY(bring_to_depth(sources.distorted, plan.distorted, distorted));
  ACUITY_TRY_ASSIGN(sources, with_geometry(std::move(sources), geometry, shown(reference), shown(distorted)));
  for (auto [changes, source, place] :
       {std::tuple(&pair.reference_changes, sources.reference.get(), found),
        std::tuple(&pair.distorted_changes, sources.distorted.get(), distorted_found)}) {
    *changes = source->format().stated;
    const std::vector<std::string> later = found_from(place, *source);
    changes->insert(changes->end(), later.begin(), later.end());
  }
  return pair;
}

Result<std::unique_ptr<FrameSource>> open_alone(const std::string& path, const VideoPlan& plan,
                                                const MeaningOptions& meaning, const Geometry& geometry) {
  std::unique_ptr<FrameSource> source;
  ACUITY_TRY_ASSIGN(source, open_video(path, plan.reference));
  VideoFormat settled;
  ACUITY_TRY_ASSIGN(settled, settle_meaning({shown(path), source->format()}, meaning.reference));
  source->settle(std::move(settled));
  ACUITY_TRY(bring_to_depth(source, plan.reference, path));
  if (geometry.crop_reference) {
    ACUITY_TRY_ASSIGN(source, with_crop(std::move(source), *geometry.crop_reference, shown(path)));
  }
  return source;
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
