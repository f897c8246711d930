// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>

#include <fmt/format.h>

#include "base/try.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/meaning_plan.h"
#include "cli/open_pair.h"
#include "cli/pairs.h"
#include "cli/text.h"
#include "cli/video_plan.h"

namespace acuity::cli {
namespace {

std::string count(const VideoFormat& format) {
  return format.frames ? fmt::format("{}", *format.frames) : "unknown until the end";
}

std::string told(const std::string& path, const VideoFormat& format) {
  std::string text =
      fmt::format("{}\n  format    {}\n  size      {} x {}\n  frames    {}\n  rate      {}\n", printable(shown(path)),
                  format.container, format.width, format.height, count(format), describe(format.rate));
  for (const std::string& fact : format.found) text += fmt::format("  found     {}\n", printable(fact));
  for (const std::string& fact : format.assumed) text += fmt::format("  assumed   {}\n", printable(fact));
  for (const std::string& fact : format.warnings) text += fmt::format("  warning   {}\n", printable(fact));
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

// Facts of one video, or of two as they are compared.
Status show(const std::vector<std::string>& paths, const VideoPlan& plan, const MeaningOptions& meaning,
            const Geometry& geometry, Console& console) {
  if (paths.size() == 1) {
    std::unique_ptr<FrameStream> stream;
    ACUITY_TRY_ASSIGN(stream, open_alone(paths[0], plan, meaning, geometry));
    console.print(told(paths[0], stream->format()));
    return {};
  }
  OpenedPair pair;
  ACUITY_TRY_ASSIGN(pair, open_pair(paths[0], paths[1], plan, meaning, geometry));
  for (const std::string& warning : pair.warnings) console.warn(warning);
  const VideoFormat &a = pair.streams.reference->format(), &b = pair.streams.distorted->format();
  console.print(told(paths[0], a) + "\n" + told(paths[1], b) + differences(a, b));
  return {};
}

}  // namespace

int run_video_info(const Request& request, Console& console) {
  const std::vector<std::string>& paths = request.arguments();
  const Result<VideoPlan> plan = plan_video(request);
  const Result<Geometry> geometry = plan_geometry(request);
  const Result<MeaningOptions> meaning = plan_meaning(request);
  Status status = !plan.ok() ? plan.status() : !meaning.ok() ? meaning.status() : geometry.status();
  if (status.ok() && paths.empty()) status = Status(StatusCode::usage, "no video is given; name one or two");
  if (status.ok() && std::count(paths.begin(), paths.end(), "-") > 1) {
    status = Status(StatusCode::usage, "standard input (-) can be given only once");
  }
  const bool readable = status.ok();
  if (readable) status = show(paths, *plan, *meaning, *geometry, console);
  // The first can be shown although the second cannot be read or compared with it.
  if (readable && !status.ok() && paths.size() == 2 && paths[0] != "-") {
    (void)show({paths[0]}, *plan, *meaning, *geometry, console);
  }
  if (!status.ok()) console.complain(status.message());
  return exit_code(status.code());
}

}  // namespace acuity::cli
