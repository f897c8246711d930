// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <fmt/format.h>

#include "base/try.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/pairs.h"
#include "cli/text.h"
#include "cli/video_plan.h"

namespace acuity::cli {
namespace {

std::string count(const VideoFormat& format) {
  return format.frames ? fmt::format("{}", *format.frames) : "known at the end only";
}

std::string told(const std::string& path, const VideoFormat& format) {
  std::string text =
      fmt::format("{}\n  format    {}\n  size      {} x {}\n  frames    {}\n  rate      {}\n", printable(shown(path)),
                  format.container, format.width, format.height, count(format), describe(format.rate));
  for (const std::string& fact : format.found) text += fmt::format("  found     {}\n", printable(fact));
  for (const std::string& fact : format.assumed) text += fmt::format("  assumed   {}\n", printable(fact));
  return text;
}

std::string differences(const VideoFormat& a, const VideoFormat& b) {
  std::string text;
  const auto differ = [&](const char* what, const std::string& mine, const std::string& other) {
    if (mine != other) text += fmt::format("  {}: {} and {}\n", what, mine, other);
  };
  differ("size", fmt::format("{} x {}", a.width, a.height), fmt::format("{} x {}", b.width, b.height));
  differ("frames", count(a), count(b));
  differ("rate", describe(a.rate), describe(b.rate));
  differ("depth", fmt::format("{}", a.depth), fmt::format("{}", b.depth));
  if (text.empty()) return "\nsize, frames, rate and depth are the same\n";
  return fmt::format("\nnot the same\n{}", text);
}

Result<std::vector<std::unique_ptr<FrameSource>>> open_all(const std::vector<std::string>& paths, const VideoPlan& plan,
                                                           const Geometry& geometry) {
  std::vector<std::unique_ptr<FrameSource>> list;
  Sources sources;
  ACUITY_TRY_ASSIGN(sources.reference, open_video(paths[0], plan.reference));
  if (paths.size() == 1) {
    if (geometry.crop_reference) {
      ACUITY_TRY_ASSIGN(sources.reference,
                        with_crop(std::move(sources.reference), *geometry.crop_reference, shown(paths[0])));
    }
    list.push_back(std::move(sources.reference));
    return list;
  }
  ACUITY_TRY_ASSIGN(sources.distorted, open_video(paths[1], plan.distorted));
  ACUITY_TRY_ASSIGN(sources, with_geometry(std::move(sources), geometry, shown(paths[0]), shown(paths[1])));
  list.push_back(std::move(sources.reference));
  list.push_back(std::move(sources.distorted));
  return list;
}

}  // namespace

int run_video_info(const Request& request, Console& console) {
  const Result<VideoPlan> plan = plan_video(request);
  const Result<Geometry> geometry = plan_geometry(request);
  Status status = plan.ok() ? geometry.status() : plan.status();
  if (status.ok() && request.arguments().empty()) status = Status(StatusCode::usage, "no video is given");
  std::string text;
  std::vector<VideoFormat> formats;
  if (status.ok()) {
    Result<std::vector<std::unique_ptr<FrameSource>>> sources = open_all(request.arguments(), *plan, *geometry);
    status = sources.status();
    if (sources.ok()) {
      for (const std::unique_ptr<FrameSource>& source : *sources) {
        if (!formats.empty()) text += '\n';
        text += told(request.arguments()[formats.size()], source->format());
        formats.push_back(source->format());
      }
    }
  }
  if (formats.size() == 2) text += differences(formats[0], formats[1]);
  console.print(text);
  if (!status.ok()) console.complain(status.message());
  return exit_code(status.code());
}

}  // namespace acuity::cli
