// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the reference has between samples and scores (tests/golden/cvvdp_stages.json): planes of light, scales,
// contrasts, sensitivities, and planes filtered over time. Where only vectors and kernels do a step, it is done here by
// the same math.h.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "acuity/frame_scorer.h"
#include "base/threads.h"
#include "lang/host.h"
#include "metrics/cvvdp/cpu_frames.h"
#include "metrics/cvvdp/display.h"
#include "metrics/cvvdp/parameters.h"
#include "metrics/cvvdp/runner.h"
#include "metrics/cvvdp/temporal.h"
#include "support/fixtures.h"
#include "support/scoring.h"
#include "support/synthetic_video.h"

namespace acuity::cvvdp::dialect {

using namespace kernel_dialect;
#include "lang/exact.h"
#include "metrics/cvvdp/math.h"

}  // namespace acuity::cvvdp::dialect

namespace acuity::tests {
namespace {

using namespace cvvdp;
using nlohmann::json;

template <typename Value>
Value must(Result<Value> result) {
  EXPECT_TRUE(result.ok()) << result.status().message();
  return std::move(*result);
}

json stages() {
  std::ifstream stream(tests_folder() + "/golden/cvvdp_stages.json");
  return json::parse(stream);
}

struct Statistics {
  double sum = 0, squares = 0, count = 0, least = INFINITY, most = -INFINITY;

  void add(double value) {
    sum += value;
    squares += value * value;
    ++count;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  double mean() const { return sum / count; }
  double deviation() const { return std::sqrt(std::max(squares / count - mean() * mean(), 0.0)); }
};

// Mean, standard deviation, least and most; `tolerance` is a share of the largest of them. The reference computes in
// 32-bit floats: planes differ by up to 9e-8, contrasts by 5e-7, all else by 1e-6.
void expect_near(const Statistics& ours, const json& expected, double tolerance, const std::string& what) {
  const std::vector<double> values = expected.get<std::vector<double>>();
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::fabs(value));
  EXPECT_NEAR(ours.mean(), values[0], tolerance * largest) << what;
  EXPECT_NEAR(ours.deviation(), values[1], tolerance * largest) << what;
  EXPECT_NEAR(ours.least, values[2], tolerance * largest) << what;
  EXPECT_NEAR(ours.most, values[3], tolerance * largest) << what;
}

// Memory for rows, aligned.
class Room {
 public:
  explicit Room(size_t floats)
      : arena_(must(Arena::create(Arena::cost<float>(floats)))), first_(arena_.take<float>(floats)) {
    std::fill_n(first_, floats, 0.0f);
  }
  float* at(size_t offset = 0) const { return first_ + offset; }

 private:
  Arena arena_;
  float* first_;
};

// A picture on a display, and its scales.
class Shown {
 public:
  Shown(const std::string& name, const Photometry& photometry, const std::vector<Scale>& scales)
      : picture_(fixture(name)),
        reader_(rows_of(picture_.view), photometry, photometry.matrix(),
                std::make_shared<const std::vector<float>>(light_table(photometry, 8)), true),
        pyramid_(must(Pyramid::create(scales))),
        room_(kStillChannels * row_floats(scales[0].size.width)) {
    const Threads threads(1);
    Runner(threads, scales).build(reader_, pyramid_);
  }

  // Row y of a scale.
  ChannelRows row(size_t scale, int y) const {
    return scale == 0 ? reader_.read(y, room_.at()) : pyramid_[scale].read(y, nullptr);
  }
  // Row y of the next scale, expanded to this one.
  std::vector<float> expanded(size_t scale, size_t channel, int y, int width) const {
    const Plane& next = pyramid_[scale + 1].planes()[channel];
    const Room room(row_floats(next.size.width));
    float* row = room.at(kBefore);
    expand_columns(next, y, row);
    std::vector<float> values;
    for (int x = 0; x < width; ++x) {
      const float* here = row + x / 2;
      values.push_back(x % 2 == 0 ? dialect::expand_even(here[-1], here[0], here[1])
                                  : dialect::expand_odd(here[0], here[1]));
    }
    return values;
  }

 private:
  static Rows rows_of(ImageView view) {
    view.colour = {.transfer = Transfer::linear};
    return must(Rows::create(view, {.encoding = WorkingSpace::Encoding::linear}, std::nullopt));
  }

  Picture picture_;
  PictureReader reader_;
  Pyramid pyramid_;
  Room room_;
};

void expect_planes(const json& still, const char* side, const Shown& shown, Size size) {
  for (size_t c = 0; c < kStillChannels; ++c) {
    Statistics plane;
    for (int y = 0; y < size.height; ++y) {
      const float* row = shown.row(0, y)[c];
      for (int x = 0; x < size.width; ++x) plane.add(static_cast<double>(row[x]));
    }
    expect_near(plane, still["planes"][side][c], 2e-7, std::string(side) + " " + kChannelNames[c]);
    for (const json& sample : still["samples"]) {
      const double expected = sample[side][c];
      EXPECT_NEAR(static_cast<double>(shown.row(0, sample["y"])[c][sample["x"].get<int>()]), expected,
                  1e-6 * (std::fabs(expected) + 10));
    }
  }
}

// Contrasts of a subband, and the sensitivity to them where the picture is the reference.
void expect_subband(const json& scale, const char* side, const Shown& shown, const std::vector<Scale>& scales,
                    size_t s) {
  const Size size = scales[s].size;
  const Subband subband = subband_of(scales, s, kStillChannels);
  const double factor = s == 0 ? 1 : 2;
  Statistics luminance;
  std::array<Statistics, kStillChannels> contrasts, sensitivities;
  for (int y = 0; y < size.height; ++y) {
    const ChannelRows rows = shown.row(s, y);
    const std::vector<float> background = shown.expanded(s, 0, y, size.width);
    for (size_t c = 0; c < kStillChannels; ++c) {
      const std::vector<float> expanded = shown.expanded(s, c, y, size.width);
      for (size_t x = 0; x < expanded.size(); ++x) {
        const float level = dialect::background_of(background[x]);
        contrasts[c].add(factor * static_cast<double>(dialect::contrast_of(rows[c][x], expanded[x], 1 / level)));
        const float place = dialect::luminance_place(level);
        const auto index = static_cast<size_t>(place);
        const float log_sensitivity =
            std::fma(place - static_cast<float>(index), subband.growth[c][index], subband.sensitivity[c][index]);
        sensitivities[c].add(static_cast<double>(dialect::quick_exp_2(log_sensitivity)) / (factor * kGains[c]));
        if (c == 0) luminance.add(std::log10(static_cast<double>(level)));
      }
    }
  }
  const std::string what = std::string(side) + " of subband " + std::to_string(s + 1) + " ";
  expect_near(luminance, scale["log_luminance"][side], 2e-6, what + "luminance");
  for (size_t c = 0; c < kStillChannels; ++c) {
    const json& channel = scale["channels"][c];
    expect_near(contrasts[c], channel[side], 1e-6, what + kChannelNames[c]);
    if (side == std::string("reference")) {
      expect_near(sensitivities[c], channel["sensitivity"], 2e-6, what + "sensitivity");
    }
  }
}

void expect_base(const json& scale, const char* side, const Shown& shown, const std::vector<Scale>& scales) {
  const size_t s = scales.size() - 1;
  const Size size = scales[s].size;
  std::array<Statistics, kStillChannels> planes;
  for (size_t c = 0; c < kStillChannels; ++c) {
    for (int y = 0; y < size.height; ++y) {
      for (int x = 0; x < size.width; ++x) planes[c].add(static_cast<double>(shown.row(s, y)[c][x]));
    }
  }
  const double background = planes[0].mean();
  EXPECT_NEAR(std::log10(background), scale["log_luminance"][side][0].get<double>(), 1e-6) << side;
  for (size_t c = 0; c < kStillChannels; ++c) {
    Statistics contrast = planes[c];
    contrast.sum /= background;
    contrast.squares /= background * background;
    contrast.least /= background;
    contrast.most /= background;
    expect_near(contrast, scale["channels"][c][side], 1e-6, std::string(side) + " of the base");
    if (side != std::string("reference")) continue;
    const double expected = scale["channels"][c]["sensitivity"][0];
    EXPECT_NEAR(sensitivity_at(static_cast<int>(c), scales[s].frequency, background), expected, 1e-6 * expected);
  }
}

TEST(CvvdpStages, OfStillPicturesAgreeWithTheReference) {
  const json all = stages();
  EXPECT_EQ(all["stills"].size(), 2u);
  for (const json& still : all["stills"]) {
    const Display display = must(load_display(still["display"].get<std::string>()));
    const Photometry photometry = must(Photometry::create(display));
    const double ppd = pixels_per_degree(display);
    EXPECT_NEAR(ppd, still["pixels_per_degree"].get<double>(), 1e-12 * ppd);
    // These are of torch 1.13, which rounds the products of matrices once more than the version of the other goldens.
    for (size_t i = 0; i < 9; ++i) {
      EXPECT_NEAR(static_cast<double>(photometry.matrix()[i]), still["matrix"][i].get<double>(), 1e-7);
    }
    const json& expected = still["scales"];
    const Size size{expected[0]["width"], expected[0]["height"]};
    const std::vector<Scale> scales = scales_of(size, ppd, 0);
    ASSERT_EQ(scales.size(), expected.size());
    for (size_t s = 0; s < scales.size(); ++s) {
      EXPECT_EQ(scales[s].size.width, expected[s]["width"]) << s;
      EXPECT_EQ(scales[s].size.height, expected[s]["height"]) << s;
      EXPECT_NEAR(scales[s].frequency, expected[s]["frequency"].get<double>(), 1e-12 * ppd) << s;
      for (int c = 0; c < kStillChannels; ++c) {
        const std::array<double, kTableSide> ours = log_sensitivity(c, scales[s].frequency);
        const json& its = expected[s]["channels"][static_cast<size_t>(c)]["log_sensitivity"];
        for (size_t l = 0; l < kTableSide; ++l) {
          EXPECT_NEAR(ours[l] * std::log10(2.0) - kSensitivityDecibels / 20, its[l].get<double>(), 2e-6)
              << s << " " << c;
        }
      }
    }
    for (const char* side : {"reference", "distorted"}) {
      const Shown shown(still[side].get<std::string>(), photometry, scales);
      expect_planes(still, side, shown, size);
      for (size_t s = 0; s + 1 < scales.size(); ++s) expect_subband(expected[s], side, shown, scales, s);
      expect_base(expected.back(), side, shown, scales);
    }
    const Score score = score_pair(fixture(still["reference"]).view, fixture(still["distorted"]).view,
                                   {.metrics = {{"cvvdp", {{"display", display.name}}}}, .device = "cpu"});
    EXPECT_NEAR(score.value, still["jod"].get<double>(), 5e-6);
    for (size_t c = 0; c < kStillChannels; ++c) {
      for (size_t s = 0; s < scales.size(); ++s) {
        const double difference = expected[s]["channels"][c]["difference"];
        EXPECT_NEAR(score.outputs[c * scales.size() + s].value, difference, 2e-4 * (difference + 0.001)) << c << s;
      }
    }
  }
}

constexpr Size kFrame{352, 288};
constexpr int kFrames = 12;

// Frames of packed RGB as planes of green, blue and red.
std::vector<OwnedFrame> rgb_frames(bool distorted) {
  const SyntheticVideo video(kFrame.width, kFrame.height, 8, Subsampling::yuv444);
  std::vector<OwnedFrame> frames;
  for (int t = 0; t < kFrames; ++t) {
    OwnedFrame frame = distorted ? video.distorted(t) : video.reference(t);
    const std::vector<uint8_t> samples = rgb_of(frame);
    for (size_t i = 0; i < frame.planes[0].size(); ++i) {
      frame.planes[0][i] = samples[3 * i + 1];
      frame.planes[1][i] = samples[3 * i + 2];
      frame.planes[2][i] = samples[3 * i];
    }
    frames.push_back(std::move(frame));
  }
  return frames;
}

// The planes of a frame as it is seen after those before it.
std::array<Statistics, kChannels> filtered(const std::vector<OwnedFrame>& frames, int frame, double fps) {
  const Photometry photometry = must(Photometry::create(must(load_display("standard_4k"))));
  const std::array<std::vector<float>, kChannels> filters = temporal_filters(fps);
  const size_t stride = row_floats(kFrame.width);
  const Room light(kFrames * kStillChannels * stride), out(kChannels * stride);
  std::array<float*, kChannels> to;
  for (size_t c = 0; c < kChannels; ++c) to[c] = out.at(c * stride + kBefore);
  std::array<Statistics, kChannels> planes;
  for (int y = 0; y < kFrame.height; ++y) {
    const auto row_of = [&](int t, size_t c) {
      return light.at((static_cast<size_t>(t) * kStillChannels + c) * stride);
    };
    for (int t = 0; t <= frame; ++t) {
      const auto& [green, blue, red] = frames[static_cast<size_t>(t)].planes;
      const auto fill = [&](const std::vector<uint8_t>& plane, float* row) {
        const uint8_t* from = plane.data() + static_cast<ptrdiff_t>(y) * kFrame.width;
        std::transform(from, from + kFrame.width, row, [](uint8_t code) { return static_cast<float>(code) / 255; });
      };
      fill(red, row_of(t, 0));
      fill(green, row_of(t, 1));
      fill(blue, row_of(t, 2));
      show_row(photometry, {}, kFrame.width, {row_of(t, 0), row_of(t, 1), row_of(t, 2)});
    }
    std::array<std::vector<const float*>, kStillChannels> history;
    for (size_t c = 0; c < kStillChannels; ++c) {
      for (int back = 0; back < static_cast<int>(filters[0].size()); ++back) {
        history[c].push_back(row_of(std::max(frame - back, 0), c));
      }
    }
    filter_row(filters, history, kFrame.width, to);
    for (size_t c = 0; c < kChannels; ++c) {
      for (int x = 0; x < kFrame.width; ++x) planes[c].add(static_cast<double>(to[c][x]));
    }
  }
  return planes;
}

TEST(CvvdpStages, OfVideosAgreeWithTheReference) {
  const std::vector<OwnedFrame> reference = rgb_frames(false), distorted = rgb_frames(true);
  const json all = stages();
  EXPECT_EQ(all["videos"].size(), 2u);
  for (const json& video : all["videos"]) {
    const double fps = video["fps"];
    for (const json& expected : video["filtered"]) {
      for (const char* side : {"reference", "distorted"}) {
        const int frame = expected["frame"];
        const auto planes = filtered(side == std::string("reference") ? reference : distorted, frame, fps);
        for (size_t c = 0; c < kChannels; ++c) {
          const std::string what = std::string(side) + " " + kChannelNames[c] + " " + std::to_string(frame);
          // Of one frame nothing is transient: what there is of it are the roundings of the taps.
          if (c == 3 && frame == 0) {
            EXPECT_LT(std::max(std::fabs(planes[c].least), planes[c].most), 1e-4) << what;
          } else {
            expect_near(planes[c], expected[side][c], 2e-6, what);
          }
        }
      }
    }
    FrameFormat format{reference[0].format};
    format.full_range = true;
    format.matrix = Matrix::rgb;
    format.rate = {std::llround(fps), 1};
    Result<FrameScorer> scorer = FrameScorer::create(
        {.metrics = {{"cvvdp_video", {{"display", "standard_4k"}}}}, .format = format, .device = "cpu", .threads = 2});
    ASSERT_TRUE(scorer.ok()) << scorer.status().message();
    for (size_t t = 0; t < kFrames; ++t) {
      ASSERT_TRUE(scorer->push(reference[t].view(), distorted[t].view()).ok());
    }
    const Result<std::vector<FrameScore>> scores = scorer->finish();
    ASSERT_TRUE(scores.ok()) << scores.status().message();
    EXPECT_NEAR(scores->front().aggregates[0].value, video["jod"].get<double>(), 5e-6) << fps;
    const json& differences = video["differences"];
    for (size_t c = 0; c < kChannels; ++c) {
      for (size_t t = 0; t < kFrames; ++t) {
        const std::vector<double> expected = differences[c][t].get<std::vector<double>>();
        for (size_t s = 0; s < expected.size(); ++s) {
          EXPECT_NEAR(scores->front().outputs[1 + c * expected.size() + s].values[t], expected[s],
                      2e-4 * (expected[s] + 0.001))
              << fps << " " << c << " " << t << " " << s;
        }
      }
    }
  }
}

}  // namespace
}  // namespace acuity::tests
