// SPDX-License-Identifier: BSD-2-Clause-Patent
// Metrics of pictures on frames that the device turns into RGB, against frames that were turned into RGB before.
#include <array>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "acuity/scorer.h"
#include "base/try.h"
#include "colour/yuv.h"
#include "cross_backend/frames_check.h"
#include "engine/metric.h"
#include "support/synthetic_video.h"

namespace acuity::tests {
namespace {

struct FramePair {
  FrameFormat format;
  std::array<OwnedFrame, 2> frames;

  explicit FramePair(const FrameFormat& its_format) : format(its_format) {
    const SyntheticVideo video(format.width, format.height, format.depth, format.subsampling);
    frames = {video.reference(3), video.distorted(3)};
  }

  // What the device must find, from what everybody else would be given.
  Result<Score> expected(const MetricRequest& metric) const {
    std::array<std::vector<float>, 2> planes;
    std::array<ImageView, 2> views;
    for (size_t i = 0; i < 2; ++i) {
      planes[i].resize(converted_floats(format));
      convert_frame(format, frames[i].view(), Threads(1), planes[i].data());
      views[i] = converted_view(format, planes[i].data());
    }
    return score({.metrics = {metric}, .device = "cpu"}, views[0], views[1], false);
  }

  Result<Score> score(const ScorerOptions& options, const Input& reference, const Input& distorted,
                      bool prepared) const {
    Result<Scorer> scorer = Scorer::create(options, format.width, format.height);
    if (!scorer.ok()) return scorer.status();
    std::vector<Score> scores;
    if (prepared) {
      Reference kept;
      ACUITY_TRY_ASSIGN(kept, scorer->prepare(reference));
      ACUITY_TRY_ASSIGN(scores, scorer->score(kept, distorted));
    } else {
      ACUITY_TRY_ASSIGN(scores, scorer->score(reference, distorted));
    }
    return scores.front();
  }

  Result<Score> score(const ScorerOptions& options, bool prepared) const {
    return score(options, Input(frames[0].view(), format), Input(frames[1].view(), format), prepared);
  }
};

// The samples of a frame in page-locked memory, planes without gaps.
Result<Input> page_locked(const std::string& device, const OwnedFrame& frame, const FrameFormat& format) {
  size_t bytes = 0;
  for (const std::vector<uint8_t>& plane : frame.planes) bytes += plane.size();
  HostMemory memory;
  ACUITY_TRY_ASSIGN(memory, HostMemory::allocate(device, bytes));
  FrameView view = frame.view();
  std::byte* to = memory.data();
  for (size_t p = 0; p < static_cast<size_t>(view.planes_count()); ++p) {
    std::memcpy(to, frame.planes[p].data(), frame.planes[p].size());
    view.planes[p] = to;
    to += frame.planes[p].size();
  }
  view.owner = memory.owner();
  return Input(view, format);
}

class Checks {
 public:
  explicit Checks(std::string device) : device_(std::move(device)) {}

  void compare(const MetricRequest& metric, const FramePair& pair, int strip = 0) {
    const Result<Score> expected = pair.expected(metric);
    for (const char* device : {"cpu", device_.c_str()}) {
      for (const bool prepared : {false, true}) {
        ScorerOptions options{.metrics = {metric}, .device = device, .threads = 2};
        if (strip > 0) options.memory = MemoryMode::strip(strip);
        count(fmt::format("{} {}{}", metric.metric, device, prepared ? " prepared" : ""), pair, expected,
              pair.score(options, prepared));
      }
    }
  }

  void compare_page_locked(const MetricRequest& metric, const FramePair& pair) {
    const Result<Input> reference = page_locked(device_, pair.frames[0], pair.format);
    const Result<Input> distorted = page_locked(device_, pair.frames[1], pair.format);
    const Status& failure = reference.ok() ? distorted.status() : reference.status();
    count(metric.metric + " page-locked", pair, pair.expected(metric),
          failure.ok() ? pair.score({.metrics = {metric}, .device = device_}, *reference, *distorted, false)
                       : Result<Score>(failure));
  }

  const Tally& tally() const { return tally_; }

 private:
  void count(const std::string& what, const FramePair& pair, const Result<Score>& expected,
             const Result<Score>& found) {
    ++tally_.comparisons;
    std::string trouble;
    if (!expected.ok() || !found.ok()) {
      trouble = expected.ok() ? found.status().message() : "the CPU: " + expected.status().message();
    } else if (expected->value != found->value) {
      trouble = fmt::format("{:.17g}, from RGB on the CPU {:.17g}", found->value, expected->value);
    } else if (expected->outputs.size() != found->outputs.size()) {
      trouble = "another number of outputs";
    }
    for (size_t i = 0; trouble.empty() && i < expected->outputs.size(); ++i) {
      if (expected->outputs[i].value != found->outputs[i].value) trouble = expected->outputs[i].name + " differs";
    }
    if (trouble.empty()) return;
    ++tally_.failures;
    fmt::print("FAILED {} of frames of {}x{}, {} bits, subsampling {}: {}\n", what, pair.format.width,
               pair.format.height, pair.format.depth, static_cast<int>(pair.format.subsampling), trouble);
  }

  std::string device_;
  Tally tally_;
};

}  // namespace

Tally check_frame_pictures(const std::shared_ptr<Device>& device, Amount amount) {
  Checks checks(device->info().id);
  const auto format_of = [](int width, int height, int depth, Subsampling subsampling) {
    FrameFormat format{{width, height, depth, subsampling}};
    format.siting = depth == 8 ? Siting::left : Siting::top_left;
    format.full_range = depth > 10;
    if (depth > 10 && subsampling == Subsampling::yuv444) format.matrix = Matrix::rgb;
    return format;
  };
  for (const MetricEntry& entry : registry()) {
    if (!entry.on_gpu) continue;
    // All metrics get their pixels from the same code, in one of two ways.
    const bool few = amount == Amount::brief ||
                     (amount == Amount::quick && entry.info.name != "ssimulacra2" && entry.info.name != "dssim");
    for (const Subsampling subsampling :
         {Subsampling::yuv420, Subsampling::yuv422, Subsampling::yuv444, Subsampling::grey}) {
      for (const int depth : {8, 10, 16}) {
        if (few && (subsampling != Subsampling::yuv420 || depth == 10)) continue;
        checks.compare(entry.info.name, FramePair(format_of(97, 67, depth, subsampling)));
      }
    }
    checks.compare(entry.info.name, FramePair(format_of(70, 300, 10, Subsampling::yuv420)), 34);
    if (amount == Amount::all)
      checks.compare_page_locked(entry.info.name, FramePair(format_of(1920, 1080, 8, Subsampling::yuv420)));
  }
  if (amount == Amount::brief) return checks.tally();
  // More than a band, from ordinary memory and from page-locked memory.
  const FramePair large(format_of(1285, 601, 10, Subsampling::yuv420));
  checks.compare("ssimulacra2", large);
  checks.compare_page_locked("ssimulacra2", large);
  checks.compare_page_locked("ssimulacra2", FramePair(format_of(640, 1100, 10, Subsampling::yuv422)));
  return checks.tally();
}

}  // namespace acuity::tests
