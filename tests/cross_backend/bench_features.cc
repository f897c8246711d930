// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "acuity/frame_scorer.h"
#include "base/try.h"
#include "cross_backend/bench.h"
#include "cross_backend/fill.h"
#include "device/device.h"
#include "device/pinned.h"

namespace acuity::tests {
namespace {

constexpr size_t kPairs = 8;

// "vif", "vmaf:model=vmaf_v0.6.1", or several with + between them.
std::vector<FrameMetricRequest> requests_of(const std::string& metrics) {
  std::vector<FrameMetricRequest> requests;
  for (size_t begin = 0; begin < metrics.size();) {
    const size_t end = std::min(metrics.find('+', begin), metrics.size());
    const std::string metric = metrics.substr(begin, end - begin);
    const size_t colon = metric.find(':'), equals = metric.find('=');
    FrameMetricRequest request{metric.substr(0, colon), {}};
    if (colon != std::string::npos && equals != std::string::npos) {
      request.options = {{metric.substr(colon + 1, equals - colon - 1), metric.substr(equals + 1)}};
    }
    requests.push_back(std::move(request));
    begin = end + 1;
  }
  return requests;
}

struct Frames {
  FrameFormat format;
  std::shared_ptr<PinnedMemory> memory;

  size_t pixels() const { return static_cast<size_t>(format.width) * static_cast<size_t>(format.height); }
  size_t bytes() const { return pixels() * 3 / 2; }

  static Result<Frames> create(Device& device, int width, int height) {
    Frames frames{FrameFormat{{.width = width, .height = height}}, nullptr};
    frames.format.rate = {60, 1};  // cvvdp looks at the frames of a quarter of a second
    ACUITY_TRY_ASSIGN(frames.memory, allocate_known_pinned(device, 2 * kPairs * frames.bytes()));
    fill(frames.memory->data(), 2 * kPairs * frames.bytes(), [&](size_t i) {
      const auto columns = static_cast<size_t>(width), rows = static_cast<size_t>(height);
      const size_t time = i / frames.bytes() / 2, x = i % columns + 3 * time, y = i / columns % rows + time;
      // A texture, and to the right of it a slope that shows bands.
      const bool is_slope = i % columns > columns / 2;
      const size_t value = is_slope ? 40 + (x / 30 + y / 50) % 160
                                    : 16 + (x * 3 / 7 + y / 3 + ((x + y * 31) * 2654435761u >> 7) % 9) % 220;
      return i / frames.bytes() % 2 == 0 || is_slope ? value : value / 3 * 3;
    });
    return frames;
  }

  Input input(size_t number, bool distorted) const {
    const std::byte* samples = memory->data() + (number % kPairs * 2 + (distorted ? 1 : 0)) * bytes();
    FrameView view{format};
    view.planes = {samples, samples + pixels(), samples + pixels() * 5 / 4};
    view.row_strides = {format.width, format.width / 2, format.width / 2};
    view.owner = memory;
    return {view, format};
  }
};

Status bench_size(Device& device, const std::string& metrics, int width, int height, Amount amount) {
  const size_t count = amount == Amount::brief ? 8 : 200;
  const size_t first = count / 10;  // they load and allocate
  Frames frames;
  ACUITY_TRY_ASSIGN(frames, Frames::create(device, width, height));
  for (const bool are_there : {false, true}) {
    std::vector<Input> kept;
    for (size_t i = 0; i < 2 * kPairs; ++i) kept.push_back(frames.input(i / 2, i % 2 == 1));
    for (const int in_flight : {1, 2, 4, 8}) {
      FrameScorerOptions options{.metrics = requests_of(metrics),
                                 .format = frames.format,
                                 .device = device.info().id,
                                 .threads = 1,
                                 .frames_in_flight = in_flight};
      Result<FrameScorer> scorer = FrameScorer::create(options);
      if (!scorer.ok()) return scorer.status();
      auto begin = std::chrono::steady_clock::now();
      for (size_t i = 0; i < first + count; ++i) {
        if (i == first) begin = std::chrono::steady_clock::now();
        const size_t pair = i % kPairs;
        ACUITY_TRY(are_there ? scorer->push(kept[2 * pair], kept[2 * pair + 1])
                             : scorer->push(frames.input(pair, false), frames.input(pair, true)));
      }
      std::vector<FrameScore> scores;
      ACUITY_TRY_ASSIGN(scores, scorer->finish());
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
      int64_t working_bytes = 0;
      for (const FrameScore& score : scores) working_bytes += score.provenance.working_bytes;
      fmt::print("{} {}x{} {}, {} in flight: {:.0f} frames/s, {:.1f} bytes a pixel, {:.4f}\n", metrics, width, height,
                 are_there ? "there" : "page-locked", in_flight, static_cast<double>(count) / elapsed.count(),
                 static_cast<double>(working_bytes) / static_cast<double>(frames.pixels()),
                 scores[0].outputs[scores[0].headline].values.back());
    }
  }
  return {};
}

}  // namespace

int bench_features(const std::string& id, const std::string& metrics, int width, int height, Amount amount) {
  const Result<std::shared_ptr<Device>> opened = open_device(id);
  const Status status = opened.ok() ? bench_size(**opened, metrics, width, height, amount) : opened.status();
  if (!status.ok()) fmt::print("{}\n", status.message());
  return status.ok() ? 0 : 1;
}

}  // namespace acuity::tests
