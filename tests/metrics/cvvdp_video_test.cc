// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "acuity/frame_scorer.h"
#include "acuity/scorer.h"
#include "lang/targets.h"
#include "metrics/cvvdp/temporal.h"
#include "support/fixtures.h"
#include "support/synthetic_video.h"

namespace acuity::tests {
namespace {

// Frames of a clip named as in the goldens: synth_WxH_Nf_Bbit_SAMPLING.
struct Clip {
  FrameFormat format;
  std::vector<OwnedFrame> reference, distorted;

  explicit Clip(const std::string& name) {
    int frames = 0, sampling = 0;
    EXPECT_EQ(std::sscanf(name.c_str(), "synth_%dx%d_%df_%dbit_%d", &format.width, &format.height, &frames,
                          &format.depth, &sampling),
              5)
        << name;
    format.subsampling = sampling == 420   ? Subsampling::yuv420
                         : sampling == 422 ? Subsampling::yuv422
                                           : Subsampling::yuv444;
    // The reference reads chroma as if it lay between the pixels.
    format.siting = Siting::centre;
    const SyntheticVideo video(format.width, format.height, format.depth, format.subsampling);
    for (int t = 0; t < frames; ++t) {
      reference.push_back(video.reference(t));
      distorted.push_back(video.distorted(t));
    }
  }
};

FrameScorerOptions options_for(const Clip& clip, double fps, const std::vector<OptionValue>& values) {
  FrameScorerOptions options{
      .metrics = {{"cvvdp_video", values}}, .format = clip.format, .device = "cpu", .threads = 2};
  options.format.rate = {std::llround(fps * 1000), 1000};
  return options;
}

// Frames from `first` to before `end`; those before are shown, and not scored.
FrameScore score(const Clip& clip, const FrameScorerOptions& options, size_t first = 0, size_t end = SIZE_MAX,
                 bool identical = false) {
  Result<FrameScorer> scorer = FrameScorer::create(options);
  EXPECT_TRUE(scorer.ok()) << scorer.status().message();
  if (!scorer.ok()) return {};
  for (size_t t = 0; t < std::min(end, clip.reference.size()); ++t) {
    const FrameView reference = clip.reference[t].view();
    const FrameView distorted = identical ? reference : clip.distorted[t].view();
    if (t < first) {
      if (t + static_cast<size_t>(scorer->frames_before()) < first) continue;
      EXPECT_TRUE(scorer->push_neighbour(reference, distorted, static_cast<int64_t>(t)).ok());
    } else {
      EXPECT_TRUE(scorer->push(reference, distorted, static_cast<int64_t>(t)).ok());
    }
  }
  Result<std::vector<FrameScore>> scores = scorer->finish();
  EXPECT_TRUE(scores.ok()) << scores.status().message();
  return scores.ok() ? scores->front() : FrameScore{};
}

double value_of(const FrameScore& score) { return score.aggregates.empty() ? NAN : score.aggregates[0].value; }

std::vector<std::vector<double>> numbers(const FrameScore& score) {
  std::vector<std::vector<double>> all{{value_of(score)}};
  for (const FrameOutput& output : score.outputs) all.push_back(output.values);
  return all;
}

using Run = std::map<std::string, double>;  // output, value

// By "clip,fps,display,options".
std::map<std::string, Run> golden_runs() {
  std::ifstream stream(tests_folder() + "/golden/video/cvvdp.csv");
  std::map<std::string, Run> runs;
  std::string line;
  std::getline(stream, line);
  while (std::getline(stream, line)) {
    const size_t value = line.rfind(','), output = line.rfind(',', value - 1);
    runs[line.substr(0, output)][line.substr(output + 1, value - output - 1)] = std::stod(line.substr(value + 1));
  }
  return runs;
}

// Over all 81 runs the largest difference is 2.7e-6.
TEST(CvvdpVideo, AgreesWithTheReference) {
  int scores = 0, subbands = 0;
  for (const auto& [name, run] : golden_runs()) {
    if (name[0] == '-') continue;
    std::istringstream fields(name);
    std::string clip_name, fps, display, settings, setting;
    std::getline(fields, clip_name, ',');
    std::getline(fields, fps, ',');
    std::getline(fields, display, ',');
    std::getline(fields, settings);
    Clip clip(clip_name);
    std::vector<OptionValue> values{{"display", display}};
    std::istringstream list(settings);
    while (std::getline(list, setting, ';')) {
      if (setting == "matrix=601") clip.format.matrix = Matrix::bt601;
      if (setting == "matrix=2020") clip.format.matrix = Matrix::bt2020;
      if (setting.starts_with("ppd=")) values.push_back({"ppd", setting.substr(4)});
    }
    const FrameScore ours = score(clip, options_for(clip, std::stod(fps), values));
    // One headline, four channels with all subbands, one value for each channel.
    const size_t count = (ours.outputs.size() - 1) / 4 - 1;
    for (const auto& [output, expected] : run) {
      int channel = 0, frame = 0, subband = 0;
      if (output == "jod") {
        EXPECT_NEAR(value_of(ours), expected, 1e-5) << name;
        ++scores;
      } else if (std::sscanf(output.c_str(), "q_ch[%d][%d][%d]", &channel, &frame, &subband) == 3) {
        const size_t place = 1 + static_cast<size_t>(channel) * count + static_cast<size_t>(subband);
        EXPECT_NEAR(ours.outputs[place].values[static_cast<size_t>(frame)], expected, 2e-4 * (expected + 0.001))
            << name << " " << output;
        ++subbands;
      }
    }
  }
  EXPECT_EQ(scores, 81);
  EXPECT_GT(subbands, 200);
}

TEST(CvvdpVideo, FiltersAreThoseOfTheReference) {
  int weights = 0;
  for (const auto& [name, run] : golden_runs()) {
    if (name[0] != '-') continue;
    const double fps = std::stod(name.substr(2));
    const auto filters = cvvdp::temporal_filters(fps);
    for (const auto& [output, expected] : run) {
      size_t channel = 0, tap = 0;
      if (output == "filter_len") {
        EXPECT_EQ(cvvdp::temporal_length(fps), expected) << name;
      } else if (std::sscanf(output.c_str(), "filter[%zu][%zu]", &channel, &tap) == 2) {
        // The reference's are 32-bit floats out of a 32-bit transform: two units in the last place of the largest.
        EXPECT_NEAR(static_cast<double>(filters[channel].at(tap)), expected, 1.2e-7) << name << output;
        ++weights;
      }
    }
  }
  EXPECT_GT(weights, 300);
}

TEST(CvvdpVideo, IdenticalVideosScoreExactly10) {
  const Clip clip("synth_65x41_5f_8bit_420");
  for (const char* display : {"standard_4k", "standard_hdr_pq", "standard_hdr_hlg", "standard_hdr_linear"}) {
    const FrameScore same = score(clip, options_for(clip, 25, {{"display", display}}), 0, SIZE_MAX, true);
    EXPECT_EQ(value_of(same), 10) << display;
    EXPECT_EQ(same.outputs[0].values, std::vector<double>(5, 10.0)) << display;
  }
}

TEST(CvvdpVideo, NothingButTheFramesChangesTheScore) {
  for (const char* name : {"synth_97x67_12f_8bit_420", "synth_70x45_12f_10bit_422"}) {
    const Clip clip(name);
    for (const char* display : {"standard_4k", "standard_hdr_pq", "standard_hdr_hlg"}) {
      FrameScorerOptions options = options_for(clip, 24, {{"display", display}});
      options.threads = 1;
      const auto expected = numbers(score(clip, options));
      EXPECT_LT(expected[0][0], 10);
      options.threads = 3;
      EXPECT_EQ(numbers(score(clip, options)), expected) << name << display;
      for (const std::string& target : cpu_targets()) {
        ASSERT_TRUE(limit_cpu(target).ok());
        EXPECT_EQ(numbers(score(clip, options)), expected) << name << display << target;
      }
      ASSERT_TRUE(limit_cpu("").ok());
    }
  }
}

TEST(CvvdpVideo, APartScoresAsItDoesInTheWhole) {
  const Clip clip("synth_97x67_30f_8bit_420");
  const FrameScorerOptions options = options_for(clip, 30, {});
  const FrameScore whole = score(clip, options), part = score(clip, options, 17, 25);
  ASSERT_EQ(part.outputs[0].values.size(), 8u);
  for (size_t i = 0; i < whole.outputs.size(); ++i) {
    const std::vector<double>& all = whole.outputs[i].values;
    EXPECT_EQ(part.outputs[i].values, std::vector<double>(all.begin() + 17, all.begin() + 25)) << whole.outputs[i].name;
  }
}

TEST(CvvdpVideo, ASingleFrameIsAStillPicture) {
  const Clip clip("synth_97x67_1f_8bit_444");
  for (const char* display : {"standard_4k", "standard_hdr_hlg"}) {
    Result<Scorer> scorer = Scorer::create({.metrics = {{"cvvdp", {{"display", display}}}}, .device = "cpu"}, 97, 67);
    const auto still =
        scorer->score(Input(clip.reference[0].view(), clip.format), Input(clip.distorted[0].view(), clip.format));
    ASSERT_TRUE(still.ok()) << still.status().message();
    // The reader of pictures does not limit samples to their range first, and these hardly leave it.
    EXPECT_NEAR(value_of(score(clip, options_for(clip, 30, {{"display", display}}))), still->front().value, 1e-6);
  }
}

TEST(CvvdpVideo, RefusesWhatItCannotKnow) {
  const Clip clip("synth_65x41_1f_8bit_420");
  FrameScorerOptions options = options_for(clip, 25, {});
  options.format.rate = {};
  EXPECT_NE(FrameScorer::create(options).status().message().find("give --fps"), std::string::npos);
  options.format.rate = {2000, 1};
  EXPECT_NE(FrameScorer::create(options).status().message().find("at most 1000"), std::string::npos);
  options.format.rate = {25, 1};
  EXPECT_TRUE(FrameScorer::create(options).ok());
  options.format.colour.transfer = Transfer::linear;
  EXPECT_NE(FrameScorer::create(options).status().message().find("how bright linear samples are"), std::string::npos);
}

}  // namespace
}  // namespace acuity::tests
