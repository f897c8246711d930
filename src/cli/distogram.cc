// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/distogram.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/try.h"
#include "cli/map_colours.h"
#include "cli/text.h"
#include "media/write.h"
#include "metrics/cvvdp/scales.h"

namespace acuity::cli {
namespace {

constexpr size_t kLeastWidth = 640, kRowHeight = 16, kGap = 4;
constexpr int kLast = 254;       // of the colours
constexpr uint8_t kWhite = 255;  // between panels

// The outputs of a channel's subbands by place among all, from the finest to the base.
std::vector<size_t> subbands_of(const MetricScore& entry, const std::string& channel) {
  std::vector<size_t> places;
  for (size_t i = 0; i < entry.score.outputs.size(); ++i) {
    const std::string& name = entry.score.outputs[i].name;
    if (name.starts_with(channel + "_subband") || name == channel + "_base") places.push_back(i);
  }
  return places;
}

// A row for each subband, high frequencies first: the loss of JOD in each frame.
using Panel = std::vector<std::vector<double>>;

// A video's only frame is a still picture, whose value is not pooled over time. That of one frame of many differs from
// the frame's, but for what is not seen at all.
int channels_of(const MetricScore& entry) {
  const std::vector<double>& frames = entry.series[0];
  return frames.size() == 1 && entry.value_of_all() == frames[0] ? cvvdp::kStillChannels : cvvdp::kChannels;
}

std::vector<Panel> panels_of(const MetricScore& entry) {
  const int channels = channels_of(entry);
  std::vector<Panel> panels;
  for (size_t c = 0; c < cvvdp::kChannels; ++c) {
    Panel& panel = panels.emplace_back();
    const std::vector<size_t> places = subbands_of(entry, cvvdp::kChannelNames[c]);
    for (const size_t place : places) {
      std::vector<double>& row = panel.emplace_back();
      for (const double seen : entry.series[place + 1]) {
        row.push_back(10 - cvvdp::jod_of(seen * cvvdp::distogram_weight(c, place == places.back(), channels)));
      }
    }
  }
  return panels;
}

}  // namespace

Result<std::string> write_distogram(const std::string& path, double largest_loss, const MetricScore& entry) {
  const std::vector<Panel> panels = panels_of(entry);
  if (largest_loss == 0) {
    for (const Panel& panel : panels) {
      for (const std::vector<double>& row : panel) {
        largest_loss = std::max(largest_loss, *std::max_element(row.begin(), row.end()));
      }
    }
    largest_loss = std::max(std::ceil(largest_loss), 1.0);
  }
  const size_t frames = entry.series[0].size();
  const size_t zoom = std::max<size_t>(1, kLeastWidth / frames), width = frames * zoom;
  std::vector<uint8_t> pixels;
  for (const Panel& panel : panels) {
    if (!pixels.empty()) pixels.insert(pixels.end(), width * kGap, kWhite);
    for (const std::vector<double>& losses : panel) {
      std::vector<uint8_t> row;
      for (const double loss : losses) {
        const double shown = std::clamp(loss / largest_loss, 0.0, 1.0);
        row.insert(row.end(), zoom, static_cast<uint8_t>(shown * kLast + 0.5));
      }
      for (size_t y = 0; y < kRowHeight; ++y) pixels.insert(pixels.end(), row.begin(), row.end());
    }
  }
  std::vector<MapColour> palette;
  for (int i = 0; i <= kLast; ++i) palette.push_back(map_colour(static_cast<double>(i) / kLast));
  palette.push_back({255, 255, 255});
  const std::string scale = fmt::format(
      "time across, one panel for each channel (achromatic, red-green, violet-yellow, transient), high frequencies "
      "above; black is no loss, pale yellow a loss of {} JOD or more",
      short_number(largest_loss));
  ACUITY_TRY(write_png(path, static_cast<int>(width), static_cast<int>(pixels.size() / width), pixels, palette,
                       "cvvdp distogram: " + scale));
  return fmt::format("distogram: {}, {}", path, scale);
}

}  // namespace acuity::cli
