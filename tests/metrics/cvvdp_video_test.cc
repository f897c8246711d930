// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "acuity/frame_scorer.h"
#include "acuity/scorer.h"
#include "frames/resampling.h"
#include "lang/targets.h"
#include "metrics/cvvdp/temporal.h"
#include "support/fixtures.h"
#include "support/scoring.h"
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

// Frames from `first` to before `end`; those before and after are shown, and not scored.
FrameScore score(const Clip& clip, const FrameScorerOptions& options, size_t first = 0, size_t end = SIZE_MAX,
                 bool identical = false) {
  Result<FrameScorer> scorer = FrameScorer::create(options);
  EXPECT_TRUE(scorer.ok()) << scorer.status().message();
  if (!scorer.ok()) return {};
  end = std::min(end, clip.reference.size());
  for (size_t t = 0; t < std::min(end + static_cast<size_t>(scorer->frames_after()), clip.reference.size()); ++t) {
    const FrameView reference = clip.reference[t].view();
    const FrameView distorted = identical ? reference : clip.distorted[t].view();
    if (t < first || t >= end) {
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

std::vector<std::string> parts(const std::string& text, char between) {
  std::vector<std::string> list;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, between);) list.push_back(part);
  return list;
}

// What the reference gives for a run.
struct Expected {
  struct Subbands {
    size_t frame, channel;
    std::vector<double> values;
  };
  double jod = NAN;
  std::vector<Subbands> subbands;
};

// By "clip,fps,display,options". A row that begins with a comma has a frame and a channel of the run above it.
std::map<std::string, Expected> golden_runs() {
  std::ifstream stream(tests_folder() + "/golden/video/cvvdp.csv");
  std::map<std::string, Expected> runs;
  std::string line, name;
  std::getline(stream, line);
  while (std::getline(stream, line)) {
    if (line[0] != ',') {
      name = line.substr(0, line.rfind(','));
      runs[name].jod = std::stod(line.substr(name.size() + 1));
      continue;
    }
    const std::vector<std::string> fields = parts(line, ',');
    Expected::Subbands row{std::stoul(fields[1]), std::stoul(fields[2]), {}};
    for (size_t i = 3; i < fields.size(); ++i) row.values.push_back(std::stod(fields[i]));
    runs[name].subbands.push_back(std::move(row));
  }
  return runs;
}

// A run of the goldens: what is compared, and how.
struct GoldenRun {
  std::string name;
  Clip clip, original;  // the distorted frames are those of the one, the reference's those of the other
  std::vector<OptionValue> values;
  FrameRate rate{}, original_rate{};
  std::optional<int> resampled;  // at most to that rate
  int64_t frames = INT64_MAX;

  // By "clip,fps,display,options".
  explicit GoldenRun(const std::string& key) : GoldenRun(key, parts(key, ',')) {}

  FrameScore score() {
    FrameScorerOptions options{
        .metrics = {{"cvvdp_video", values}}, .format = original.format, .distorted_format = clip.format};
    options.device = "cpu";
    options.threads = 2;
    options.format.rate = rate;
    std::optional<Resampling> resampling;
    if (resampled) {
      Result<Resampling> made = Resampling::create(original_rate, rate, *resampled);
      EXPECT_TRUE(made.ok()) << made.status().message();
      resampling = *made;
      options.format.rate = {resampling->frames_per_second(), 1};
    }
    Result<FrameScorer> scorer = FrameScorer::create(options);
    EXPECT_TRUE(scorer.ok()) << name << scorer.status().message();
    if (!scorer.ok()) return {};
    for (int64_t k = 0; k < frames; ++k) {
      const auto enough = [&](const std::vector<OwnedFrame>& list, const FrameRate& its_rate) {
        return (resampling ? resampling->frames_for(k, its_rate) : k + 1) <= static_cast<int64_t>(list.size());
      };
      if (!enough(original.reference, original_rate) || !enough(clip.distorted, rate)) break;
      const auto at = [&](const FrameRate& its_rate) {
        return static_cast<size_t>(resampling ? resampling->frame_at(k, its_rate) : k);
      };
      EXPECT_TRUE(scorer->push(original.reference[at(original_rate)].view(), clip.distorted[at(rate)].view()).ok());
    }
    Result<std::vector<FrameScore>> scores = scorer->finish();
    EXPECT_TRUE(scores.ok()) << scores.status().message();
    return scores.ok() ? scores->front() : FrameScore{};
  }

 private:
  static FrameRate rate_of(const std::string& text) {
    const size_t slash = text.find('/');
    if (slash != std::string::npos) return {std::stoll(text.substr(0, slash)), std::stoll(text.substr(slash + 1))};
    return {std::llround(std::stod(text) * 1000), 1000};
  }

  GoldenRun(const std::string& key, const std::vector<std::string>& fields)
      : name(key), clip(fields[0]), original(fields[0]), values{{"display", fields[2]}}, rate(rate_of(fields[1])) {
    original_rate = rate;
    for (const std::string& setting : parts(fields[3], ';')) {
      const size_t equals = setting.find('=');
      const std::string what = setting.substr(0, equals), value = setting.substr(equals + 1);
      const std::vector<std::string> halves = parts(value, what == "resample" ? '@' : ':');
      if (what == "reference_clip" || what == "resample") original = Clip(halves[0]);
      if (what == "resample") original_rate = rate_of(halves[1]);
      if (what == "resample") resampled = Resampling::kMostByDefault;
      if (what == "max_fps") resampled = std::stoi(value);
      if (what == "frames") frames = std::stoll(value);
      if (what == "ppd") values.push_back({"ppd", value});
      if (what == "pad") values.push_back({"padding", value});
      if (what == "src" && value == "yuv") values.push_back({"clip", "both"});
      if (what != "resize") continue;
      // The frames were scaled to sizes that are not those of the displays.
      values.push_back({"full_screen", halves[0]});
      values.push_back({"resolution", halves[1]});
      values.push_back({"ppd", fields[2] == "standard_fhd" ? "37.842503853602885" : "75.40244934516305"});
    }
    for (Clip* side : {&clip, &original}) {
      if (fields[3].find("matrix=601") != std::string::npos) side->format.matrix = Matrix::bt601;
      if (fields[3].find("matrix=2020") != std::string::npos) side->format.matrix = Matrix::bt2020;
    }
  }
};

constexpr int kEveryRun = kSlowMachine ? 9 : 1;

// The largest differences are 1.4e-6, and 1.73e-4 (Q + 0.001) in 16,898 subbands.
TEST(CvvdpVideo, AgreesWithTheReference) {
  int runs = 0, subbands = 0;
  for (const auto& [name, expected] : golden_runs()) {
    if (runs++ % kEveryRun != 0) continue;
    const FrameScore ours = GoldenRun(name).score();
    EXPECT_NEAR(value_of(ours), expected.jod, 5e-6) << name;
    // One headline, four channels with all subbands, one value for each channel.
    const size_t count = (ours.outputs.size() - 1) / 4 - 1;
    for (const Expected::Subbands& row : expected.subbands) {
      ASSERT_EQ(row.values.size(), count) << name;
      for (size_t b = 0; b < count; ++b) {
        EXPECT_NEAR(ours.outputs[1 + row.channel * count + b].values[row.frame], row.values[b],
                    2e-4 * (row.values[b] + 0.001))
            << name << " channel " << row.channel << " frame " << row.frame << " subband " << b + 1;
        ++subbands;
      }
    }
  }
  EXPECT_EQ(runs, 112);
  if (!kSlowMachine) {
    EXPECT_EQ(subbands, 16898);
  }
}

TEST(CvvdpVideo, FiltersAreThoseOfTheReference) {
  std::ifstream stream(tests_folder() + "/golden/video/cvvdp_filters.csv");
  std::string line;
  std::getline(stream, line);
  int filters = 0;
  for (; std::getline(stream, line); ++filters) {
    const std::vector<std::string> fields = parts(line, ',');
    const double fps = std::stod(fields[0]);
    const std::vector<float> ours = cvvdp::temporal_filters(fps)[std::stoul(fields[1])];
    ASSERT_EQ(ours.size(), fields.size() - 2) << fps;
    EXPECT_EQ(cvvdp::temporal_length(fps), static_cast<int>(ours.size())) << fps;
    // The reference's are 32-bit floats out of a 32-bit transform: two units in the last place of the largest.
    for (size_t tap = 0; tap < ours.size(); ++tap) {
      EXPECT_NEAR(static_cast<double>(ours[tap]), std::stod(fields[2 + tap]), 1.2e-7) << fps << " " << tap;
    }
  }
  EXPECT_EQ(filters, 16 * 4);
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

TEST(CvvdpVideo, WhatIsAskedForDoesNotDependOnThreadsEither) {
  const Clip clip("synth_97x67_12f_8bit_420");
  const std::vector<std::vector<OptionValue>> all{{{"padding", "symmetric"}},
                                                  {{"full_screen", "bicubic"}, {"resolution", "80x61"}},
                                                  {{"full_screen", "area"}, {"resolution", "33x20"}},
                                                  {{"capped", "3"}}};
  std::vector<double> values{value_of(score(clip, options_for(clip, 24, {})))};
  for (const std::vector<OptionValue>& asked : all) {
    FrameScorerOptions options = options_for(clip, 24, asked);
    options.threads = 1;
    const auto expected = numbers(score(clip, options));
    EXPECT_EQ(std::count(values.begin(), values.end(), expected[0][0]), 0) << asked[0].name;
    values.push_back(expected[0][0]);
    options.threads = 3;
    EXPECT_EQ(numbers(score(clip, options)), expected) << asked[0].name;
    for (const std::string& target : cpu_targets()) {
      ASSERT_TRUE(limit_cpu(target).ok());
      EXPECT_EQ(numbers(score(clip, options)), expected) << asked[0].name << target;
    }
    ASSERT_TRUE(limit_cpu("").ok());
  }
}

TEST(CvvdpVideo, APartScoresAsItDoesInTheWhole) {
  const Clip clip("synth_97x67_30f_8bit_420");
  for (const char* padding : {"replicate", "symmetric"}) {
    const FrameScorerOptions options = options_for(clip, 30, {{"padding", padding}});
    const FrameScore whole = score(clip, options);
    for (const auto& [begin, end] : {std::pair(17, 25), std::pair(0, 3), std::pair(2, 3), std::pair(29, 30)}) {
      const FrameScore part = score(clip, options, static_cast<size_t>(begin), static_cast<size_t>(end));
      for (size_t i = 0; i < whole.outputs.size(); ++i) {
        const std::vector<double>& all = whole.outputs[i].values;
        EXPECT_EQ(part.outputs[i].values, std::vector<double>(all.begin() + begin, all.begin() + end))
            << whole.outputs[i].name << padding << begin;
      }
    }
  }
}

// A frame of a longer video is none: what follows it tells.
TEST(CvvdpVideo, AFrameOfManyIsNoStillPicture) {
  const Clip clip("synth_97x67_12f_8bit_420"), alone("synth_97x67_1f_8bit_420");
  const FrameScorerOptions options = options_for(clip, 30, {});
  const FrameScore first = score(clip, options, 0, 1);
  EXPECT_NEAR(value_of(first), first.outputs[0].values[0], 1.1e-4);  // the reference's mean of one is 1.0e-4 off
  const FrameScore still = score(alone, options);
  EXPECT_GT(value_of(still), value_of(first));
  // Its only frame is that still picture, so that pools, gates and lists of frames say what the score says.
  EXPECT_EQ(still.outputs[0].values, std::vector<double>{value_of(still)});
  for (const FrameOutput& output : still.outputs) {
    if (!output.name.starts_with("transient")) continue;
    EXPECT_EQ(output.values, std::vector<double>{0}) << output.name;
  }
}

TEST(CvvdpVideo, ACapIsStatedAndChangesTheScore) {
  const Clip clip("synth_97x67_3f_8bit_420");
  const FrameScore whole = score(clip, options_for(clip, 30, {}));
  const size_t scales = (whole.outputs.size() - 1) / 4 - 1;
  const auto states = [](const FrameScore& score, const std::string& words) {
    const std::vector<std::string>& lines = score.provenance.assumptions;
    return std::any_of(lines.begin(), lines.end(), [&](const auto& line) { return line.find(words) != line.npos; });
  };
  for (size_t most = 1; most <= scales + 1; ++most) {
    const FrameScore capped = score(clip, options_for(clip, 30, {{"capped", std::to_string(most)}}));
    EXPECT_EQ((capped.outputs.size() - 1) / 4 - 1, std::min(most, scales));
    EXPECT_EQ(states(capped, "which gives another score"), most < scales);
    EXPECT_EQ(value_of(capped) == value_of(whole), most >= scales);
  }
}

// The memory does not grow with the video, and is less than 40 bytes per pixel for two threads at 1080p.
TEST(CvvdpVideo, MemoryIsThatOfSomeRows) {
  const auto bytes = [](const char* name) {
    const Clip clip(name);
    FrameScorerOptions options = options_for(clip, 30, {});
    options.threads = 1;
    return static_cast<double>(score(clip, options).provenance.working_bytes);
  };
  const double few = bytes("synth_640x64_5f_8bit_420");
  EXPECT_EQ(bytes("synth_640x64_20f_8bit_420"), few);
  EXPECT_LT(bytes("synth_640x256_5f_8bit_420"), 1.2 * few);
  EXPECT_LT(2 * few * 1920 / 640 / (1920 * 1080), 40);
}

TEST(CvvdpVideo, MapsShowWhereFramesDiffer) {
  const Clip clip("synth_97x67_6f_8bit_420");
  FrameScorerOptions options = options_for(clip, 30, {});
  options.want_map = true;
  const auto map_of = [&](size_t first, size_t end, bool identical) {
    return score(clip, options, first, end, identical).map.value_or(FrameMap());
  };
  const FrameMap map = map_of(4, 5, false);
  ASSERT_EQ(map.map.values.size(), 97u * 67u);
  ASSERT_EQ(map.context.size(), 97u * 67u);
  EXPECT_GT(*std::max_element(map.map.values.begin(), map.map.values.end()), 0.1f);
  EXPECT_GE(*std::min_element(map.map.values.begin(), map.map.values.end()), 0);
  EXPECT_GE(*std::min_element(map.context.begin(), map.context.end()), 0.199f);
  EXPECT_LE(*std::max_element(map.context.begin(), map.context.end()), 0.801f);
  const FrameMap same = map_of(4, 5, true);
  EXPECT_EQ(*std::max_element(same.map.values.begin(), same.map.values.end()), 0);
  // That of the last frame, whatever else is measured.
  options.threads = 1;
  EXPECT_EQ(map_of(0, 5, false).map.values, map.map.values);
  for (const std::string& target : cpu_targets()) {
    ASSERT_TRUE(limit_cpu(target).ok());
    EXPECT_EQ(map_of(4, 5, false).map.values, map.map.values) << target;
  }
  ASSERT_TRUE(limit_cpu("").ok());
  options.want_map = false;
  EXPECT_FALSE(score(clip, options).map.has_value());
}

TEST(CvvdpVideo, SizesMayDifferOnTheFullScreenOnly) {
  const Clip clip("synth_65x41_1f_8bit_420");
  FrameScorerOptions options = options_for(clip, 25, {});
  options.distorted_format = Clip("synth_97x67_1f_8bit_444").format;
  EXPECT_NE(FrameScorer::create(options).status().message().find("convert one of them"), std::string::npos);
  options.metrics[0].options = {{"full_screen", "area"}};
  EXPECT_TRUE(FrameScorer::create(options).ok());
  options.metrics[0].options = {{"full_screen", "area"}, {"resolution", "64x"}};
  EXPECT_NE(FrameScorer::create(options).status().message().find("expected WIDTHxHEIGHT"), std::string::npos);
  options.metrics[0].options = {{"full_screen", "area"}, {"resolution", "32768x8192"}};
  EXPECT_TRUE(FrameScorer::create(options).ok());
  options.metrics[0].options = {{"full_screen", "area"}, {"resolution", "32768x8193"}};
  EXPECT_EQ(FrameScorer::create(options).status().code(), StatusCode::too_big);
  EXPECT_NE(FrameScorer::create(options).status().message().find("at most 268435456 pixels"), std::string::npos);
  options.metrics.push_back({"psnr_yuv", {}});
  options.metrics[0].options = {{"full_screen", "area"}};
  EXPECT_FALSE(FrameScorer::create(options).ok());
}

TEST(CvvdpVideo, ASingleFrameIsAStillPicture) {
  const Clip clip("synth_97x67_1f_8bit_444");
  for (const char* display : {"standard_4k", "standard_hdr_hlg"}) {
    Result<Scorer> scorer = Scorer::create({.metrics = {{"cvvdp", {{"display", display}}}}, .device = "cpu"}, 97, 67);
    const auto still =
        scorer->score(Input(clip.reference[0].view(), clip.format), Input(clip.distorted[0].view(), clip.format));
    ASSERT_TRUE(still.ok()) << still.status().message();
    // The reader of pictures has the exact equations, not the reference's decimals, and does not limit samples to their
    // range first, which these hardly leave.
    EXPECT_NEAR(value_of(score(clip, options_for(clip, 30, {{"display", display}}))), still->front().value, 1e-5);
  }
}

// Planes of green, blue and red, which the other metrics of frames do not compare.
TEST(CvvdpVideo, FramesMayBeRgb) {
  const Clip clip("synth_97x67_1f_8bit_444");
  FrameScorerOptions options = options_for(clip, 30, {});
  options.format.matrix = Matrix::rgb;
  for (const bool full_range : {false, true}) {
    options.format.full_range = full_range;
    Result<Scorer> scorer = Scorer::create({.metrics = {"cvvdp"}, .device = "cpu"}, 97, 67);
    const auto in_pixels = [&](const OwnedFrame& frame) {
      std::vector<float> samples;
      for (size_t i = 0; i < frame.planes[0].size(); ++i) {
        for (const size_t plane : {2, 0, 1}) {
          const float code = frame.planes[plane][i];
          samples.push_back(std::clamp(full_range ? code / 255 : (code - 16) / 219, 0.0f, 1.0f));
        }
      }
      return samples;
    };
    const std::vector<float> reference = in_pixels(clip.reference[0]), distorted = in_pixels(clip.distorted[0]);
    const auto view = [](const std::vector<float>& samples) {
      return interleaved_view(samples.data(), 97, 67, Channels::rgb, SampleType::f32);
    };
    const auto still = scorer->score(view(reference), view(distorted));
    ASSERT_TRUE(still.ok()) << still.status().message();
    EXPECT_NEAR(value_of(score(clip, options)), still->front().value, 1e-6) << full_range;
  }
  options.metrics = {{"psnr_yuv", {}}};
  EXPECT_NE(FrameScorer::create(options).status().message().find("compares Y'CbCr, and the frames are RGB"),
            std::string::npos);
}

// Codes of red, green and blue, or of grey, become the same light in a picture and in a frame.
TEST(CvvdpVideo, ASingleFrameOfCodesScoresExactlyAsThePicture) {
  for (const int depth : {8, 10, 16}) {
    for (const Subsampling subsampling : {Subsampling::yuv444, Subsampling::grey}) {
      Clip clip("synth_97x67_1f_" + std::to_string(depth) + "bit_444");
      const bool grey = subsampling == Subsampling::grey;
      clip.format.full_range = true;
      clip.format.subsampling = subsampling;
      if (!grey) clip.format.matrix = Matrix::rgb;
      const size_t bytes = depth == 8 ? 1 : 2;
      const auto in_pixels = [&](OwnedFrame& frame) {
        frame.format.subsampling = subsampling;
        std::vector<uint8_t> samples;
        for (size_t at = 0; at < frame.planes[0].size(); at += bytes) {
          for (const size_t plane : grey ? std::vector<size_t>{0} : std::vector<size_t>{2, 0, 1}) {
            const auto sample = frame.planes[plane].begin() + static_cast<ptrdiff_t>(at);
            samples.insert(samples.end(), sample, sample + static_cast<ptrdiff_t>(bytes));
          }
        }
        return samples;
      };
      const std::vector<uint8_t> reference = in_pixels(clip.reference[0]), distorted = in_pixels(clip.distorted[0]);
      const auto view = [&](const std::vector<uint8_t>& samples) {
        ImageView image = interleaved_view(samples.data(), 97, 67, grey ? Channels::grey : Channels::rgb,
                                           depth == 8 ? SampleType::u8 : SampleType::u16);
        image.depth = depth;
        return image;
      };
      for (const char* display : {"standard_4k", "standard_hdr_pq", "standard_hdr_hlg", "standard_hdr_linear"}) {
        const std::string what = display + std::string(" ") + std::to_string(depth) + (grey ? " grey" : "");
        const Score still =
            score_pair(view(reference), view(distorted),
                       {.metrics = {{"cvvdp", {{"display", display}}}}, .device = "cpu", .want_map = true});
        EXPECT_LT(still.value, 10);
        FrameScorerOptions options = options_for(clip, 30, {{"display", display}});
        options.want_map = true;
        const FrameScore video = score(clip, options);
        EXPECT_EQ(value_of(video), still.value) << what;
        ASSERT_TRUE(video.map.has_value());
        EXPECT_EQ(video.map->map.values, still.map.values) << what;
        for (const NamedValue& output : still.outputs) {
          const auto same = std::find_if(video.outputs.begin(), video.outputs.end(),
                                         [&](const FrameOutput& other) { return other.name == output.name; });
          ASSERT_NE(same, video.outputs.end()) << output.name;
          EXPECT_EQ(same->values[0], output.value) << output.name << " " << what;
        }
      }
    }
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
