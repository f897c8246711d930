// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/video_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/try.h"
#include "cli/lists.h"
#include "cli/sides.h"
#include "frames/resampling.h"

namespace acuity::cli {
namespace {

constexpr int kMost = std::numeric_limits<int>::max();

Status usage(std::string message) { return Status(StatusCode::usage, std::move(message)); }

Result<std::pair<int, int>> parse_size(std::string_view text) {
  const size_t cross = text.find('x');
  if (cross == std::string_view::npos) return usage(fmt::format("invalid size '{}': expected WIDTHxHEIGHT", text));
  std::pair<int, int> size;
  ACUITY_TRY_ASSIGN(size.first, parse_whole(text.substr(0, cross), "the width", 1, 65535));
  ACUITY_TRY_ASSIGN(size.second, parse_whole(text.substr(cross + 1), "the height", 1, 65535));
  return size;
}

Result<int> parse_depth(std::string_view text) { return parse_whole(text, "the depth", 8, 16); }

Result<int64_t> parse_frame(std::string_view text) {
  int frame = 0;
  ACUITY_TRY_ASSIGN(frame, parse_whole(text, "the number", 0, kMost));
  return frame;
}

Result<bool> parse_decode(std::string_view text) {
  if (text == "cpu" || text == "cuda") return text == "cuda";
  return usage(fmt::format("invalid value '{}': expected cpu or cuda", text));
}

Result<int> parse_stream(std::string_view text) { return parse_whole(text, "the number", 0, kMost); }

Status read_streams(const Request& request, VideoOptions& a, VideoOptions& b) {
  ACUITY_TRY(read_sides(request, "--size", parse_size, a.size, b.size));
  ACUITY_TRY(read_sides(request, "--pixel-format", parse_pixel_format, a.pixel_format, b.pixel_format));
  ACUITY_TRY(read_sides(request, "--depth", parse_depth, a.depth, b.depth));
  ACUITY_TRY(read_sides(request, "--stream", parse_stream, a.stream, b.stream));
  if (request.has("--pixel-format") && !request.has("--size")) {
    return usage("--pixel-format is for raw streams: give --size as well");
  }
  return {};
}

template <typename Whole>
Status read_whole(const Request& request, const std::string& option, int least, Whole& target) {
  if (!request.has(option)) return {};
  ACUITY_TRY_ASSIGN(target, parse_whole(request.value(option), option, least, kMost));
  return {};
}

// A frame, or a time such as 00:01:30.
Status read_place(const Request& request, const std::string& option, int least, std::optional<int64_t>& frame,
                  std::optional<double>& time) {
  if (!request.has(option)) return {};
  const std::string text = request.value(option);
  if (text.find(':') == std::string::npos) return read_whole(request, option, least, frame);
  ACUITY_TRY_ASSIGN(time, parse_time(text, option));
  return {};
}

// One frame of each, wherever it is: a part of the reference that is one frame long, and the other shifted to it.
Status take_one_frame(const Request& request, const FilePlan& files, VideoPlan& plan) {
  for (const char* option : {"--start", "--end", "--every", "--offset"}) {
    if (request.has(option)) return usage(fmt::format("--frame chooses one frame of each side; leave out {}", option));
  }
  plan.one_frame = true;
  plan.start = files.reference_frame.value_or(0);
  plan.end = plan.start + 1;
  plan.offset = files.distorted_frame.value_or(0) - plan.start;
  return {};
}

}  // namespace

const std::vector<Option>& stream_options() {
  static const std::vector<Option> table = {
      {.name = "--size",
       .value = "WxH",
       .help = "the stream is raw YUV with frames of this size; this and the next three accept one value for both "
               "sides, or two as REF,DIST, one of which may be empty"},
      {.name = "--pixel-format",
       .value = "FORMAT",
       .help = "how raw streams store their samples",
       .default_value = "yuv420p",
       .words = {"yuv420p", "yuv422p", "yuv444p", "gray", "nv12", "p010"},
       .suggest = Suggest::words},
      {.name = "--depth",
       .value = "BITS",
       .help = "bits per sample, 8 to 16: what raw streams have (above 8, two bytes per sample, low byte first; "
               "default 8), "
               "and what other streams are converted to"},
      {.name = "--stream",
       .value = "N",
       .help = "which video stream of a container to use, counted from 0",
       .default_value = "the one that libav considers best"},
  };
  return table;
}

const std::vector<Option>& frame_options() {
  static const std::vector<Option> table = {
      {.name = "--frame",
       .value = "N",
       .help = "which picture of an animation, file with pages or video to use, counted from 0; one value for "
               "both sides, or two as REF,DIST, one of which may be empty"},
  };
  return table;
}

const std::vector<Option>& limit_options() {
  static const std::vector<Option> table = {
      {.name = "--max-pixels",
       .value = "N",
       .help =
           "refuse pictures and frames with more pixels; files may have 8 bytes per pixel of this limit and decoding "
           "may use 16, but at least 2 and 4 GiB",
       .default_value = "268435456"},
  };
  return table;
}

const std::vector<Option>& decode_options() {
  static const std::vector<Option> table = {
      {.name = "--decode",
       .value = "HOW",
       .help = "what decodes videos: the CPU, or the GPU's own decoder, from which frames go to the metrics without a "
               "copy to the host; cuda needs the device cuda, which is then the default; one value for both sides, or "
               "two as REF,DIST",
       .default_value = "cpu",
       .words = {"cpu", "cuda"},
       .suggest = Suggest::words},
  };
  return table;
}

const std::vector<Option>& pairing_options() {
  static const std::vector<Option> table = {
      {.name = "--sync",
       .value = "HOW",
       .help = "how frames of videos are paired: by number, by nearest time, or both shown at one rate, at most 166 "
               "frames per second or MOST",
       .default_value = "index",
       .words = {"index", "pts", "resample", "resample:MOST"},
       .suggest = Suggest::words},
      {.name = "--offset",
       .value = "N",
       .help = "skip the first N frames of the distorted video, or of the reference if N is negative",
       .default_value = "0"},
      {.name = "--start",
       .value = "PLACE",
       .help = "the first frame of the reference to score: its number, counted from 0, or its time, as in 00:01:30 or "
               "1:30.5",
       .default_value = "0"},
      {.name = "--end", .value = "PLACE", .help = "the frame of the reference to stop before, by number or time"},
      {.name = "--fps",
       .value = "RATE",
       .help = "frames per second, as in 25 or 30000/1001, for metrics that look at time (cvvdp)",
       .default_value = "what the reference states"},
      {.name = "--every", .value = "N", .help = "score one frame in N", .default_value = "1"},
      {.name = "--shortest", .help = "if one video ends or breaks off early, score the frames that both have"},
  };
  return table;
}

Result<FrameRate> parse_rate(const std::string& text) {
  const auto wrong = [&] {
    return usage(
        fmt::format("invalid value '{}' for --fps: expected frames per second up to 1000, as in 25, 29.97 or "
                    "30000/1001",
                    text));
  };
  const size_t slash = text.find('/');
  FrameRate rate{0, 1};
  if (slash != std::string::npos) {
    const Result<int> above = parse_whole(text.substr(0, slash), "--fps", 1, kMost);
    const Result<int> below = parse_whole(text.substr(slash + 1), "--fps", 1, kMost);
    if (!above.ok() || !below.ok()) return wrong();
    rate = {*above, *below};
  } else {
    constexpr int64_t kParts = 1000000;
    const Result<double> number = parse_number(text, "--fps");
    if (!number.ok() || !(*number > 0 && *number <= 1000)) return wrong();
    rate = {std::llround(*number * kParts), kParts};
  }
  const double fps = static_cast<double>(rate.numerator) / static_cast<double>(rate.denominator);
  if (!(fps > 0 && fps <= 1000)) return wrong();
  return rate;
}

bool asks_for_video(const Request& request) {
  for (const std::vector<Option>* table : {&stream_options(), &decode_options(), &pairing_options()}) {
    for (const Option& option : *table) {
      if (request.has(option.name)) return true;
    }
  }
  return request.has("--range") || request.has("--matrix") || request.has("--siting");
}

Result<FilePlan> read_file_options(const Request& request) {
  FilePlan plan;
  ACUITY_TRY(read_sides(request, "--frame", parse_frame, plan.reference_frame, plan.distorted_frame));
  if (request.has("--max-pixels")) {
    int pixels = 0;
    ACUITY_TRY_ASSIGN(pixels, parse_whole(request.value("--max-pixels"), "--max-pixels", 1, kMost));
    plan.limits.maximum_pixels = pixels;
    plan.limits.maximum_file_bytes = std::max(plan.limits.maximum_file_bytes, int64_t{8} * pixels);
    plan.limits.maximum_decoded_bytes = std::max(plan.limits.maximum_decoded_bytes, int64_t{16} * pixels);
  }
  return plan;
}

Result<VideoPlan> plan_video(const Request& request) {
  VideoPlan plan;
  ACUITY_TRY(read_streams(request, plan.reference, plan.distorted));
  std::optional<bool> reference_on_gpu, distorted_on_gpu;
  ACUITY_TRY(read_sides(request, "--decode", parse_decode, reference_on_gpu, distorted_on_gpu));
  plan.decode_reference_on_gpu = reference_on_gpu.value_or(false);
  plan.decode_distorted_on_gpu = distorted_on_gpu.value_or(false);
  if (request.has("--sync")) {
    const std::string sync = request.value("--sync");
    constexpr std::string_view kResample = "resample";
    plan.by_time = sync == "pts";
    if (sync == kResample) {
      plan.resampled = Resampling::kMostByDefault;
    } else if (sync.starts_with(fmt::format("{}:", kResample))) {
      ACUITY_TRY_ASSIGN(plan.resampled, parse_whole(sync.substr(kResample.size() + 1), "--sync resample", 1, 1000));
    } else if (sync != "index" && sync != "pts") {
      return usage(fmt::format("invalid value '{}' for --sync: expected index, pts, resample or resample:MOST", sync));
    }
    if (plan.resampled && request.has("--fps")) {
      return usage("--fps and --sync resample cannot be combined: the rate is derived from those of the videos");
    }
  }
  ACUITY_TRY(read_whole(request, "--offset", -kMost, plan.offset));
  std::optional<int64_t> start;
  ACUITY_TRY(read_place(request, "--start", 0, start, plan.start_time));
  plan.start = start.value_or(0);
  ACUITY_TRY(read_place(request, "--end", 1, plan.end, plan.end_time));
  ACUITY_TRY(read_whole(request, "--every", 1, plan.every));
  if (plan.end && *plan.end <= plan.start) {
    return usage(fmt::format("--end {} is not after --start {}", *plan.end, plan.start));
  }
  if (plan.end_time && *plan.end_time <= plan.start_time.value_or(0)) {
    return usage(fmt::format("--end {} is not after --start {}", request.value("--end"), request.value("--start")));
  }
  if (plan.resampled && (plan.start_time || plan.end_time)) {
    return usage("with --sync resample, --start and --end are numbers of the frames shown, not times");
  }
  plan.shortest = request.has("--shortest");
  FilePlan files;
  ACUITY_TRY_ASSIGN(files, read_file_options(request));
  plan.reference.limits = plan.distorted.limits = files.limits;
  if (files.reference_frame || files.distorted_frame) ACUITY_TRY(take_one_frame(request, files, plan));
  return plan;
}

}  // namespace acuity::cli
