// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <fmt/format.h>

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

}  // namespace

int run_video_info(const Request& request, Console& console) {
  const Result<VideoPlan> plan = plan_video(request);
  Status status = plan.status();
  if (status.ok() && request.arguments().empty()) status = Status(StatusCode::usage, "no video is given");
  std::string text;
  std::vector<VideoFormat> formats;
  for (size_t i = 0; status.ok() && i < request.arguments().size(); ++i) {
    const std::string& path = request.arguments()[i];
    const Result<std::unique_ptr<FrameSource>> source = open_video(path, i == 0 ? plan->reference : plan->distorted);
    status = source.status();
    if (!status.ok()) break;
    formats.push_back((*source)->format());
    if (i > 0) text += '\n';
    text += told(path, formats.back());
  }
  if (formats.size() == 2) text += differences(formats[0], formats[1]);
  console.print(text);
  if (!status.ok()) console.complain(status.message());
  return exit_code(status.code());
}

}  // namespace acuity::cli
