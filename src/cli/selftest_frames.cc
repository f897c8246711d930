// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/selftest_frames.h"

#include <array>

#include <fmt/format.h>

#include "acuity/frame_scorer.h"
#include "base/try.h"
#include "cli/text.h"
#include "media/form.h"
#include "media/video.h"

namespace acuity::cli {
namespace {

struct FrameAnswer {
  std::string_view metric;
  std::array<double, 3> values;  // of the three frames
};

// What the metrics gave when they agreed with their references (tests/golden/video). A metric without answers here
// fails.
// clang-format off: one answer a line
constexpr FrameAnswer kAnswers[] = {
    {"vmaf", {86.187399672109152, 62.417645597620485, 83.261090898302342}},
    {"cvvdp_video", {9.1360063156789195, 9.1840466954246747, 9.2496667707928566}},
    {"adm", {0.9654704256649792, 0.81047526176208307, 0.96996398858793809}},
    {"cambi", {0, 0, 1.083869618274814}},
    {"ciede", {32.516880945601201, 31.674399378008157, 33.998746156155512}},
    {"float_adm", {0.96548275450182375, 0.81041688207275719, 0.96998047006228794}},
    {"float_ansnr", {18.578272003000333, 13.078967911546586, 16.814102571120266}},
    {"float_moment", {114.88754194918157, 114.88754194918157, 114.88754194918157}},
    {"float_motion", {0, 6.3673367500305176, 6.3760852813720703}},
    {"float_ms_ssim", {0.96504259568961814, 0.97982446777852739, 0.97243496242127081}},
    {"float_psnr", {32.386966687282126, 26.042413583884301, 35.050517456473223}},
    {"float_ssim", {0.78832823038101196, 0.86005276441574097, 0.91992610692977905}},
    {"float_vif", {0.51673749878735298, 0.35767033139130627, 0.63903704643577097}},
    {"motion", {0, 6.3673389905871174, 6.3760856490993767}},
    {"motion_v2", {0, 6.3673389905871174, 6.3760856490993767}},
    {"psnr_hvs", {36.534358451604916, 29.874418709741022, 34.543580215973215}},
    {"psnr_yuv", {32.386966687282126, 26.042413583884301, 35.050517456473223}},
    {"speed_chroma", {4.2941131591796875, 0.88136613368988037, 2.7524189949035645}},
    {"speed_temporal", {0, 8.8592634201049805, 41.948486328125}},
    {"ssim", {0.78905289858319205, 0.8597907380052876, 0.92043372807277024}},
    {"vif", {0.51672825733288419, 0.35763038160365151, 0.63901387337012305}},
};
// clang-format on

// Four times the picture, because one is smaller than some metrics want, turned to the left by `shift` pixels, because
// some want motion.
std::shared_ptr<Picture> tiled(const DrawnPicture& drawn, size_t shift) {
  const size_t row = static_cast<size_t>(drawn.width) * 3, bytes = row * static_cast<size_t>(drawn.height);
  auto picture = std::make_shared<Picture>();
  picture->pixels = std::shared_ptr<std::byte[]>(new std::byte[4 * bytes]);
  const auto* from = reinterpret_cast<const std::byte*>(drawn.rgb.data());
  std::byte* to = picture->pixels.get();
  for (int half = 0; half < 2; ++half) {
    for (size_t y = 0; y < static_cast<size_t>(drawn.height); ++y) {
      for (size_t i = 0; i < 2 * row; ++i) *to++ = from[y * row + (i + 3 * shift) % row];
    }
  }
  picture->view =
      interleaved_view(picture->pixels.get(), 2 * drawn.width, 2 * drawn.height, Channels::rgb, SampleType::u8);
  return picture;
}

Result<FrameView> frame_of(const DrawnPicture& drawn, size_t shift) {
  auto frame = std::make_shared<VideoFrame>();
  frame->picture = tiled(drawn, shift);
  VideoFormat format;
  format.width = frame->picture->view.width;
  format.height = frame->picture->view.height;
  format.rgb = true;
  return FormConverter(format, stored_form(format), format.colour)(frame, Threads(1));
}

Result<std::vector<double>> score(const MetricInfo& metric, const std::string& device, int threads,
                                  const std::vector<DrawnPair>& pairs) {
  const DrawnPicture& first = pairs.front().reference;
  FrameFormat format;
  format.width = 2 * first.width;
  format.height = 2 * first.height;
  format.subsampling = Subsampling::yuv444;
  format.rate = {25, 1};
  Result<FrameScorer> scorer =
      FrameScorer::create({.metrics = {{metric.name}}, .format = format, .device = device, .threads = threads});
  if (!scorer.ok()) return scorer.status();
  for (size_t i = 0; i < pairs.size(); ++i) {
    FrameView reference, distorted;
    ACUITY_TRY_ASSIGN(reference, frame_of(pairs[i].reference, 2 * i));
    ACUITY_TRY_ASSIGN(distorted, frame_of(pairs[i].distorted, 2 * i));
    ACUITY_TRY(scorer->push(reference, distorted));
  }
  std::vector<FrameScore> scores;
  ACUITY_TRY_ASSIGN(scores, scorer->finish());
  return scores.front().outputs[scores.front().headline].values;
}

}  // namespace

std::vector<std::string> check_frames(const MetricInfo& metric, const std::string& device, int threads,
                                      const std::vector<DrawnPair>& pairs) {
  const Result<std::vector<double>> values = score(metric, device, threads, pairs);
  if (!values.ok()) return {values.status().message()};
  const FrameAnswer* answer = nullptr;
  for (const FrameAnswer& candidate : kAnswers) {
    if (candidate.metric == metric.name) answer = &candidate;
  }
  std::vector<std::string> complaints;
  for (size_t i = 0; i < values->size(); ++i) {
    const std::string found = fmt::format("{}: {}", pairs[i].name, exact_number((*values)[i]));
    if (answer == nullptr) {
      complaints.push_back(found + ", and no answer to compare it with");
    } else if ((*values)[i] != answer->values[i]) {
      complaints.push_back(fmt::format("{} instead of {}", found, exact_number(answer->values[i])));
    }
  }
  return complaints;
}

}  // namespace acuity::cli
