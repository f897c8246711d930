// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/output_names.h"

#include <algorithm>
#include <cstdint>

#include "acuity/frame_scorer.h"
#include "acuity/scorer.h"
#include "base/try.h"
#include "engine/options.h"
#include "metrics/cvvdp/screen.h"

namespace acuity::cli {
namespace {

constexpr int kSide = 1024;

void add(const std::string& name, std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

std::vector<uint8_t> drawn(size_t channels, uint8_t least) {
  std::vector<uint8_t> samples(size_t{kSide} * kSide * channels);
  for (size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<uint8_t>(least + i % 61);
  return samples;
}

Status names_of_pictures(const MetricChoice& metric, std::vector<std::string>& names) {
  const std::vector<uint8_t> a = drawn(3, 60), b = drawn(3, 63);
  const auto view_of = [](const std::vector<uint8_t>& samples) {
    return interleaved_view(samples.data(), kSide, kSide, Channels::rgb, SampleType::u8);
  };
  Result<Scorer> scorer = Scorer::create({.metrics = {{metric.name, metric.options}}, .device = "cpu"}, kSide, kSide);
  if (!scorer.ok()) return scorer.status();
  const Result<std::vector<Score>> scores = scorer->score(view_of(a), view_of(b));
  if (!scores.ok()) return scores.status();
  for (const NamedValue& output : scores->front().outputs) add(output.name, names);
  return {};
}

// Pictures that are larger than those drawn here have more subbands on some displays.
Status names_of_cvvdp(const MetricChoice& metric, const std::string& name, std::vector<std::string>& names) {
  OptionValues options;
  ACUITY_TRY_ASSIGN(options, OptionValues::parse(*find_metric(name), metric.options));
  std::vector<std::string> outputs;
  ACUITY_TRY_ASSIGN(outputs,
                    cvvdp::names_of_outputs(options, name == "cvvdp" ? cvvdp::kStillChannels : cvvdp::kChannels));
  for (const std::string& output : outputs) add(output, names);
  return {};
}

Status names_of_frames(const MetricChoice& metric, std::vector<std::string>& names) {
  const std::vector<uint8_t> a = drawn(1, 60), b = drawn(1, 63);
  FrameFormat format;
  format.width = format.height = kSide;
  format.rate = {25, 1};
  const auto view_of = [&format](const std::vector<uint8_t>& samples) {
    FrameView view;
    static_cast<FrameShape&>(view) = format;
    for (size_t plane = 0; plane < 3; ++plane) {
      view.planes[plane] = reinterpret_cast<const std::byte*>(samples.data());
      view.row_strides[plane] = kSide;
    }
    return view;
  };
  Result<FrameScorer> scorer = FrameScorer::create(
      {.metrics = {{metric.name, metric.options}}, .format = format, .device = "cpu", .expected_frames = 2});
  if (!scorer.ok()) return scorer.status();
  for (int frame = 0; frame < 2; ++frame) ACUITY_TRY(scorer->push(view_of(a), view_of(b)));
  const Result<std::vector<FrameScore>> scores = scorer->finish();
  if (!scores.ok()) return scores.status();
  const FrameScore& score = scores->front();
  for (size_t i = 0; i < score.outputs.size(); ++i) {
    const FrameOutput& output = score.outputs[i];
    if (!output.internal && !(i == score.headline && output.name == metric.name)) add(output.name, names);
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> output_names(const MetricChoice& metric) {
  std::vector<std::string> names;
  if (metric.name == "cvvdp") {
    // Rows may be pictures or videos, and some options are for one of them only.
    const Status pictures = names_of_cvvdp(metric, "cvvdp", names);
    const Status videos = names_of_cvvdp(metric, "cvvdp_video", names);
    if (!pictures.ok() && !videos.ok()) return pictures;
  } else if (metric.name == "cvvdp_video") {
    ACUITY_TRY(names_of_cvvdp(metric, metric.name, names));
  } else if (find_metric(metric.name)->is_frame_metric) {
    ACUITY_TRY(names_of_frames(metric, names));
  } else {
    ACUITY_TRY(names_of_pictures(metric, names));
  }
  return names;
}

}  // namespace acuity::cli
