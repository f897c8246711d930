// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cross_backend/frames_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "acuity/frame_scorer.h"
#include "base/try.h"
#include "device/pinned.h"
#include "engine/frame_metric.h"
#include "engine/frame_pipeline.h"
#include "metrics/psnr_yuv/gpu.h"
#include "metrics/psnr_yuv/sums.h"
#include "metrics/vmaf/model.h"
#include "support/synthetic_video.h"

namespace acuity::tests {
namespace {

constexpr size_t kFrames = 7;

struct Clip {
  std::string name;
  FrameShape shape;
  std::vector<FrameView> reference, distorted;
  FrameRate rate{24, 1};
  std::optional<FrameShape> distorted_shape{};  // where it is another
  Matrix matrix = Matrix::bt709;
  bool full_range = false;
};

std::string describe(const FrameShape& shape) {
  static constexpr const char* kNames[] = {"4:2:0", "4:2:2", "4:4:4", "grey"};
  return fmt::format("{}x{} {}-bit {}", shape.width, shape.height, shape.depth,
                     kNames[static_cast<size_t>(shape.subsampling)]);
}

FrameView owned_view(OwnedFrame frame) {
  auto owner = std::make_shared<const OwnedFrame>(std::move(frame));
  FrameView view = owner->view();
  view.owner = std::move(owner);
  return view;
}

Clip drawn_clip(const FrameShape& shape, size_t frames = kFrames) {
  const SyntheticVideo video(shape.width, shape.height, shape.depth, shape.subsampling);
  Clip clip{describe(shape), shape, {}, {}};
  for (size_t t = 0; t < frames; ++t) {
    clip.reference.push_back(owned_view(video.reference(static_cast<int>(t))));
    clip.distorted.push_back(owned_view(video.distorted(static_cast<int>(t))));
  }
  return clip;
}

// The largest sums there are: white, and black or noise; and noise against other noise, which moves.
Clip extreme_clip(const FrameShape& shape) {
  Clip clip{describe(shape) + " of black and white", shape, {}, {}};
  const int white = (1 << shape.depth) - 1;
  for (size_t t = 0; t < kFrames; ++t) {
    OwnedFrame reference{shape, {}}, distorted{shape, {}};
    uint32_t noise = static_cast<uint32_t>(t);
    for (int p = 0; p < shape.planes_count(); ++p) {
      for (int i = 0; i < shape.plane_width(p) * shape.plane_height(p); ++i) {
        noise = noise * 1664525 + 1013904223;
        const bool is_white = t % 3 != 1 && (noise >> 16) % 3 == 0, was_white = t % 3 != 2 || (noise >> 20) % 2 == 0;
        for (int byte = 0; byte < shape.sample_bytes(); ++byte) {
          reference.planes[static_cast<size_t>(p)].push_back(was_white ? static_cast<uint8_t>(white >> (8 * byte)) : 0);
          distorted.planes[static_cast<size_t>(p)].push_back(is_white ? static_cast<uint8_t>(white >> (8 * byte)) : 0);
        }
      }
    }
    clip.reference.push_back(owned_view(std::move(reference)));
    clip.distorted.push_back(owned_view(std::move(distorted)));
  }
  return clip;
}

// The same samples in page-locked memory, with so many bytes between the rows.
Result<FrameView> pinned_view(Device& device, const FrameView& frame, int gap) {
  std::array<size_t, 3> offsets{};
  size_t bytes = 0;
  FrameView view = frame;
  for (int p = 0; p < frame.planes_count(); ++p) {
    const auto at = static_cast<size_t>(p);
    offsets[at] = bytes;
    view.row_strides[at] = frame.plane_width(p) * frame.sample_bytes() + gap * frame.sample_bytes();
    bytes += static_cast<size_t>(view.row_strides[at] * frame.plane_height(p));
  }
  std::shared_ptr<PinnedMemory> memory;
  ACUITY_TRY_ASSIGN(memory, allocate_known_pinned(device, bytes));
  for (int p = 0; p < frame.planes_count(); ++p) {
    const auto at = static_cast<size_t>(p);
    view.planes[at] = memory->data() + offsets[at];
    for (int y = 0; y < frame.plane_height(p); ++y) {
      std::memcpy(memory->data() + offsets[at] + static_cast<size_t>(y * view.row_strides[at]),
                  frame.planes[at] + y * frame.row_strides[at],
                  static_cast<size_t>(frame.plane_width(p) * frame.sample_bytes()));
    }
  }
  view.owner = std::move(memory);
  return view;
}

Result<Clip> pinned_clip(Device& device, const Clip& clip, int gap) {
  Clip pinned = clip;
  pinned.name += fmt::format(", page-locked, {} samples between rows", gap);
  for (auto* frames : {&pinned.reference, &pinned.distorted}) {
    for (FrameView& frame : *frames) ACUITY_TRY_ASSIGN(frame, pinned_view(device, frame, gap));
  }
  return pinned;
}

// From the bottom up, without an owner.
Clip upside_down(Clip clip) {
  clip.name += ", upside down, not owned";
  for (auto* frames : {&clip.reference, &clip.distorted}) {
    for (FrameView& frame : *frames) {
      for (int p = 0; p < frame.planes_count(); ++p) {
        const auto at = static_cast<size_t>(p);
        frame.planes[at] += (frame.plane_height(p) - 1) * frame.row_strides[at];
        frame.row_strides[at] = -frame.row_strides[at];
      }
    }
  }
  return clip;
}

Result<FrameScore> score(const std::string& device, const FrameMetricRequest& metric, const Clip& clip, bool owned,
                         int in_flight = 0) {
  FrameFormat format{clip.shape};
  format.rate = clip.rate;
  format.matrix = clip.matrix;
  format.full_range = clip.full_range;
  FrameScorerOptions options{.format = format, .device = device, .threads = 2, .frames_in_flight = in_flight};
  options.metrics.push_back(metric);
  if (clip.distorted_shape) {
    options.distorted_format = FrameFormat{*clip.distorted_shape};
    options.distorted_format->rate = clip.rate;
  }
  Result<FrameScorer> scorer = FrameScorer::create(options);
  if (!scorer.ok()) return scorer.status();
  for (size_t i = 0; i < clip.reference.size(); ++i) {
    FrameView reference = clip.reference[i], distorted = clip.distorted[i];
    if (!owned) reference.owner = distorted.owner = nullptr;
    const bool is_scored = i % 3 != 1;
    ACUITY_TRY(is_scored ? scorer->push(reference, distorted) : scorer->push_neighbour(reference, distorted));
  }
  std::vector<FrameScore> scores;
  ACUITY_TRY_ASSIGN(scores, scorer->finish());
  return std::move(scores.front());
}

std::string difference(const FrameScore& expected, const FrameScore& found) {
  if (expected.outputs.size() != found.outputs.size() || expected.aggregates.size() != found.aggregates.size()) {
    return "another number of outputs";
  }
  for (size_t o = 0; o < expected.outputs.size(); ++o) {
    const FrameOutput &here = expected.outputs[o], &there = found.outputs[o];
    if (here.values.size() != there.values.size()) return "another number of frames";
    for (size_t i = 0; i < here.values.size(); ++i) {
      if (here.values[i] == there.values[i]) continue;
      return fmt::format("{} of frame {} is {:.17g}, on the CPU {:.17g}", here.name, i, there.values[i],
                         here.values[i]);
    }
  }
  for (size_t a = 0; a < expected.aggregates.size(); ++a) {
    if (expected.aggregates[a].value != found.aggregates[a].value) return expected.aggregates[a].name + " differs";
  }
  return "";
}

// How far luma is from that of some frames before: a feature that looks back, made of the sums of psnr.
class PastDifference final : public Feature {
 public:
  PastDifference(const FrameShape& shape, int history) : shape_(shape), history_(history) {}
  const std::vector<FeatureOutput>& outputs() const override { return outputs_; }
  int history() const override { return history_; }
  bool reads(Role, int plane) const override { return plane == 0; }

  Result<std::unique_ptr<FeatureWorker>> create_worker() const override {
    class Worker final : public FeatureWorker {
     public:
      size_t bytes() const override { return 0; }
      Status measure(const FrameWindow& window, std::span<double> numbers) override {
        const auto sum = [](const auto& frames) {
          return frames.back() == nullptr ? 0 : psnr_yuv::squared_differences(*frames.back(), *frames[0], 0);
        };
        numbers[0] = static_cast<double>(sum(window.reference));
        numbers[1] = static_cast<double>(sum(window.distorted));
        return {};
      }
    };
    return std::unique_ptr<FeatureWorker>(std::make_unique<Worker>());
  }

  Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device&) const override {
    class Worker final : public DeviceFeatureWorker {
     public:
      explicit Worker(const FrameShape& shape) : shape_(shape) {}
      size_t bytes() const override { return 0; }
      size_t result_bytes() const override { return 2 * sizeof(int64_t); }
      Status submit(Queue& queue, const DeviceWindow& window, uint64_t results) override {
        for (const auto& frames : {window.reference, window.distorted}) {
          if (frames.back() != nullptr) {
            ACUITY_TRY(psnr_yuv::add_squared_differences(queue, shape_, 0, *frames.back(), *frames[0], results));
          }
          results += sizeof(int64_t);
        }
        return {};
      }
      Status finish(std::span<const std::byte> results, std::span<double> numbers) override {
        std::array<int64_t, 2> sums{};
        std::memcpy(sums.data(), results.data(), sizeof sums);
        for (size_t i = 0; i < 2; ++i) numbers[i] = static_cast<double>(sums[i]);
        return {};
      }

     private:
      FrameShape shape_;
    };
    return std::unique_ptr<DeviceFeatureWorker>(std::make_unique<Worker>(shape_));
  }

 private:
  FrameShape shape_;
  int history_;
  std::vector<FeatureOutput> outputs_{{"reference"}, {"distorted"}};
};

class Checks {
 public:
  explicit Checks(const std::shared_ptr<Device>& device) : device_(device), id_(device->info().id) {}

  // Both must give values, or refuse for the same reason.
  void compare(const FrameMetricRequest& metric, const Clip& clip, bool owned = true) {
    const Result<FrameScore> expected = score("cpu", metric, clip, owned), found = score(id_, metric, clip, owned);
    std::string what = metric.metric;
    for (const OptionValue& option : metric.options) what += fmt::format(":{}={}", option.name, option.value);
    std::string trouble;
    if (expected.ok() && found.ok()) {
      trouble = difference(*expected, *found);
    } else if (expected.status().code() != StatusCode::device &&
               expected.status().message() == found.status().message()) {
      return;  // the feature accepts no such frames, or the options do not go together; see require_comparisons()
    } else {
      trouble = expected.ok() ? found.status().message() : "the CPU: " + expected.status().message();
    }
    count(fmt::format("{} {}", what, clip.name), trouble);
  }

  // However many frames are in flight.
  void compare_in_flight(const FrameMetricRequest& metric, const Clip& clip) {
    const Result<FrameScore> expected = score("cpu", metric, clip, true);
    for (const int in_flight : {1, 2, 8}) {
      const Result<FrameScore> found = score(id_, metric, clip, true, in_flight);
      count(fmt::format("{} {}, {} in flight", metric.metric, clip.name, in_flight),
            !expected.ok() ? expected.status().message()
            : !found.ok()  ? found.status().message()
                           : difference(*expected, *found));
    }
  }

  // A feature that is set up for more bits than frames have.
  void compare_widened(const FeatureEntry& entry, const FrameShape& shape, int depth) {
    FrameShape wide = shape;
    wide.depth = depth;
    compare_made(fmt::format("{} as {}-bit", entry.info.name, depth), drawn_clip(shape, 2 * kFrames), depth,
                 [&]() -> Result<std::unique_ptr<Feature>> {
                   OptionValues options;
                   ACUITY_TRY_ASSIGN(options, OptionValues::parse(entry.info, {}));
                   return entry.create({FrameFormat{wide}, FrameFormat{wide}, options});
                 });
  }

  void compare_past(const FrameShape& shape, int history) {
    compare_made(fmt::format("{} frames before", history), drawn_clip(shape, 3 * kFrames), shape.depth,
                 [&]() -> Result<std::unique_ptr<Feature>> {
                   return std::unique_ptr<Feature>(std::make_unique<PastDifference>(shape, history));
                 });
  }

  // Refusals are not counted, so that a feature must have had some frames to compare.
  void require_comparisons(const std::string& metric, int before, int fewest) {
    const int made = tally_.comparisons - before;
    if (made < fewest) {
      count(metric, fmt::format("compared {} times, and at least {} were expected; all else was refused on both sides",
                                made, fewest));
    }
  }

  Device& device() const { return *device_; }
  const Tally& tally() const { return tally_; }
  void count(const std::string& what, const std::string& trouble) {
    ++tally_.comparisons;
    if (trouble.empty()) return;
    fmt::print("FAILED {} {}: {}\n", id_, what, trouble);
    ++tally_.failures;
  }

 private:
  using Make = std::function<Result<std::unique_ptr<Feature>>()>;

  void compare_made(const std::string& what, const Clip& clip, int depth, const Make& make) {
    const Result<FeatureSeries> expected = measure(make, clip, depth, false);
    const Result<FeatureSeries> found = measure(make, clip, depth, true);
    const std::string trouble = !expected.ok()        ? expected.status().message()
                                : !found.ok()         ? found.status().message()
                                : *expected != *found ? "values differ"
                                                      : "";
    count(fmt::format("{} {}", what, clip.name), trouble);
  }

  Result<FeatureSeries> measure(const Make& make, const Clip& clip, int depth, bool on_device) {
    std::vector<PipelineFeature> features(1);
    ACUITY_TRY_ASSIGN(features[0].feature, make());
    features[0].depth = depth;
    features[0].on_device = on_device;
    std::unique_ptr<FrameDevice> there;
    if (on_device) {
      ACUITY_TRY_ASSIGN(there, FrameDevice::create(device_, {clip.shape, clip.shape}, {features[0].feature.get()}, 2));
    }
    FramePipeline pipeline(clip.shape, std::move(features), 1, std::move(there));
    for (size_t i = 0; i < clip.reference.size(); ++i) {
      ACUITY_TRY(pipeline.push(clip.reference[i], clip.distorted[i], static_cast<int64_t>(i), i % 4 != 2));
    }
    ACUITY_TRY(pipeline.finish());
    pipeline.conclude();
    return pipeline.series(0);
  }

  std::shared_ptr<Device> device_;
  std::string id_;
  Tally tally_;
};

// Numbers that are not any number between two ends.
std::vector<std::string> known_numbers(const std::string& option) {
  if (option == "vif_kernelscale") return {"0.5", "1.5", "3.7113"};
  if (option == "vif_prescale") return {"0.5", "1.5"};
  if (option == "motion_filter_size") return {"1", "3"};
  return {};
}

// Every switch the other way, every word, and every number at its ends and a fifth between them.
std::vector<std::vector<OptionValue>> option_sets(const MetricInfo& info) {
  std::vector<std::vector<OptionValue>> sets{{}};
  for (const MetricOption& option : info.options) {
    std::vector<std::string> values = option.words;
    if (values.empty()) values = known_numbers(option.name);
    if (values.empty() && option.minimum <= option.maximum) {
      for (const double part : {0.0, 0.2, 1.0}) {
        const double value = option.minimum + part * (std::min(option.maximum, 1e6) - option.minimum);
        values.push_back(fmt::format("{}", option.whole ? std::floor(value) : value));
      }
    }
    for (const std::string& value : values) {
      if (value != option.default_value) sets.push_back({{option.name, value}});
    }
  }
  return sets;
}

void check_metric(const FrameMetricEntry& metric, Amount amount, Checks& checks) {
  const std::string& name = metric.info.name;
  // Features that refuse small frames get larger ones, or have nothing to say of them.
  int more = metric.info.minimum_side > 60 ? metric.info.minimum_side : 0;
  if (name == "cambi") more = 160;
  if (name.starts_with("speed_")) more = 560;
  const bool quick = amount != Amount::all, brief = amount == Amount::brief, few = brief || (quick && more > 0);
  std::vector<Subsampling> subsamplings{Subsampling::yuv420, Subsampling::yuv422, Subsampling::yuv444,
                                        Subsampling::grey};
  if (few) subsamplings = {Subsampling::yuv420};
  for (const int depth : brief ? std::vector{10} : std::vector{8, 10, 12, 16}) {
    if (quick && depth > 8) subsamplings = {Subsampling::yuv420};
    for (const Subsampling subsampling : subsamplings) {
      checks.compare({name}, drawn_clip({97 + more, 67 + more, depth, subsampling}));
      if (!quick) checks.compare({name}, drawn_clip({1283, 721, depth, subsampling}));
    }
    checks.compare({name}, extreme_clip({130 + more, 66 + more, depth, Subsampling::yuv420}));
  }
  const int least = std::max(2, metric.info.minimum_side);
  for (const auto& [width, height] : {std::pair{least, least}, {least + 1, 131}, {517, least}, {256, 128}, {255, 65}}) {
    checks.compare({name}, drawn_clip({width, height, 8, Subsampling::yuv420}));
  }
  if (brief) return;
  // In frames so narrow, what is special at the last column of a scale counts.
  for (const auto& [width, height] : {std::pair{40, 37}, {66, 34}, {71, 34}, {322, 182}}) {
    if (std::min(width, height) < least) continue;
    for (const int depth : {8, 10}) checks.compare({name}, drawn_clip({width, height, depth, Subsampling::yuv420}));
  }
  int depths = 0;
  for (const std::vector<OptionValue>& options : option_sets(metric.info)) {
    const int depth = ++depths % 2 == 0 ? 8 : 10;
    checks.compare({name, options}, drawn_clip({98 + more, 66 + more, depth, Subsampling::yuv420}));
  }
  for (const int depth : {8, 10}) {
    const Clip clip = drawn_clip({120 + more, 70 + more, depth, Subsampling::yuv420});
    checks.compare({name}, upside_down(clip), false);
    for (const int gap : few ? std::vector{5} : quick ? std::vector{0, 5} : std::vector{0, 8, 5, 200}) {
      const Result<Clip> pinned = pinned_clip(checks.device(), clip, gap);
      if (pinned.ok()) {
        checks.compare({name}, *pinned);
      } else {
        checks.count("page-locked memory", pinned.status().message());
      }
    }
  }
  checks.compare_widened(*metric.feature, {98 + more, 66 + more, 8, Subsampling::yuv420}, 10);
}

// Every model of VMAF, on frames that are large enough for all their features.
void check_models(Amount amount, Checks& checks) {
  for (const int depth : {8, 10}) {
    const Clip clip = drawn_clip({402, 338, depth, Subsampling::yuv420}, 3);
    for (const vmaf::ModelSet& model : vmaf::built_in_models()) {
      if (amount != Amount::all && depth == 10 && model.bits != 10) continue;
      // One of each family has all its features.
      const bool first = model.name == "v0.6.1" || model.name == "float_v0.6.1" || model.name == "v1.0.16_3d0h";
      if (amount == Amount::brief && !first) continue;
      checks.compare({"vmaf", {{"model", model.name}}}, clip);
    }
  }
  checks.compare_in_flight({"vmaf"}, drawn_clip({98, 66, 8, Subsampling::yuv420}, 3 * kFrames));
}

// The reference of one clip and the distorted frames of another.
Clip mixed_clip(const FrameShape& reference, const FrameShape& distorted, size_t frames) {
  Clip clip = drawn_clip(reference, frames), other = drawn_clip(distorted, frames);
  clip.name += " and " + other.name;
  clip.distorted = std::move(other.distorted);
  clip.distorted_shape = distorted;
  return clip;
}

std::map<std::string, std::string> contents_of(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    files[entry.path().filename().string()] = {std::istreambuf_iterator<char>(file), {}};
  }
  return files;
}

// The maps that CAMBI writes, with several frames in flight, of frames of which not all are scored.
void check_cambi_maps(Amount amount, Checks& checks) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / fmt::format("acuity_maps_{}", getpid());
  const auto maps_of = [&](const std::string& device, std::vector<OptionValue> options, const Clip& clip) {
    options.push_back({"heatmaps_path", (folder / device).string()});
    const Result<FrameScore> made = score(device, {"cambi", options}, clip, true, 2);
    checks.count(fmt::format("cambi with maps on {}", device), made.status().message());
    return contents_of(folder / device);
  };
  std::vector<std::vector<OptionValue>> sets{
      {{"full_ref", "true"}}, {{"max_log_contrast", "4"}}, {{"enc_width", "300"}, {"enc_height", "170"}}};
  if (amount == Amount::brief) sets.resize(1);
  for (const std::vector<OptionValue>& options : sets) {
    const Clip clip = drawn_clip({322, 182, 10, Subsampling::yuv420});
    const auto expected = maps_of("cpu", options, clip), found = maps_of(checks.device().info().id, options, clip);
    size_t banded = 0;
    for (const auto& [name, samples] : expected)
      banded += static_cast<size_t>(std::count_if(samples.begin(), samples.end(), [](char byte) { return byte != 0; }));
    const std::string what = fmt::format("maps of cambi, {}={}", options[0].name, options[0].value);
    checks.count(what, expected.size() != 5 || banded < 1000
                           ? fmt::format("the CPU made {} with {} bytes", expected.size(), banded)
                       : expected != found ? "samples differ"
                                           : "");
    std::filesystem::remove_all(folder);
  }
}

// Frames before the first one that come after it, and videos that are scaled to a display.
void check_cvvdp_options(Amount amount, Checks& checks) {
  const FrameMetricRequest symmetric{"cvvdp_video", {{"padding", "symmetric"}}};
  const FrameShape small{45, 38, 10, Subsampling::yuv420};
  checks.compare_in_flight(symmetric, drawn_clip({98, 66, 8, Subsampling::yuv420}, 3 * kFrames));
  const auto resized = [](const char* mode, const char* clip) {
    return FrameMetricRequest{"cvvdp_video", {{"full_screen", mode}, {"clip", clip}, {"resolution", "80x53"}}};
  };
  checks.compare_in_flight(resized("bicubic", "after"), drawn_clip(small, kFrames));
  if (amount == Amount::brief) return;
  const bool quick = amount == Amount::quick;
  for (const size_t frames : quick ? std::vector<size_t>{1, 3, 8} : std::vector<size_t>{1, 2, 3, 7, 8, 14, 40}) {
    for (const FrameRate rate : {FrameRate{10, 1}, {24, 1}, {120, 1}}) {
      Clip clip = drawn_clip(small, frames);
      clip.name += fmt::format(", {} frames at {}", frames, rate.numerator);
      clip.rate = rate;
      checks.compare(symmetric, clip);
    }
  }
  for (const char* mode : {"nearest", "bilinear", "bicubic", "area"}) {
    for (const char* clip : {"after", "both"}) {
      checks.compare(resized(mode, clip), drawn_clip({217, 130, 8, Subsampling::yuv420}, 2));
      checks.compare(resized(mode, clip), extreme_clip({40, 67, 10, Subsampling::yuv444}));
      checks.compare(resized(mode, clip), mixed_clip(small, {131, 90, 10, Subsampling::yuv422}, 3));
      checks.compare(resized(mode, clip),
                     mixed_clip({80, 53, 8, Subsampling::grey}, {33, 20, 8, small.subsampling}, 3));
    }
  }
  if (quick) return;
  checks.compare(
      {"cvvdp_video",
       {{"full_screen", "area"}, {"padding", "symmetric"}, {"display", "standard_hdr_pq"}, {"resolution", "1283x721"}}},
      mixed_clip({640, 360, 10, Subsampling::yuv420}, {1920, 1080, 10, Subsampling::yuv420}, 5));
}

// Windows of all lengths, displays that make light in every way, and frames that are too small for some scales.
void check_cvvdp(Amount amount, Checks& checks) {
  const FrameMetricRequest metric{"cvvdp_video", {}};
  checks.compare_in_flight(metric, drawn_clip({98, 66, 8, Subsampling::yuv420}, 3 * kFrames));
  if (amount == Amount::brief) return;
  const FrameShape small{45, 38, 10, Subsampling::yuv420};
  for (const char* display : {"standard_phone", "standard_hdr_pq", "standard_hdr_hlg", "standard_hdr_linear"}) {
    checks.compare({metric.metric, {{"display", display}}}, drawn_clip(small, 3));
  }
  for (const auto& [depth, subsampling] : {std::pair{8, Subsampling::yuv422},
                                           {10, Subsampling::yuv444},
                                           {12, Subsampling::grey},
                                           {16, Subsampling::yuv420}}) {
    checks.compare(metric, drawn_clip({131, 40, depth, subsampling}, 3));
    checks.compare(metric, extreme_clip({40, 67, depth, subsampling}));
  }
  for (const auto& [width, height] : {std::pair{2, 2}, {3, 70}, {9, 5}, {300, 7}}) {
    checks.compare(metric, drawn_clip({width, height, 8, Subsampling::yuv420}, 2));
  }
  checks.compare(metric, drawn_clip(small, 1));
  Clip rgb = drawn_clip({131, 40, 8, Subsampling::yuv444}, 3);
  rgb.name += ", RGB";
  rgb.matrix = Matrix::rgb;
  checks.compare(metric, rgb);
  // Codes, which are looked up: of one frame and of several, on displays that make light in every way.
  Clip deep = drawn_clip({131, 40, 10, Subsampling::yuv444}, 1), grey = drawn_clip({131, 40, 16, Subsampling::grey}, 3);
  deep.matrix = Matrix::rgb;
  for (Clip* clip : {&rgb, &deep, &grey}) {
    clip->full_range = true;
    clip->name += ", codes";
    for (const char* display : {"standard_4k", "standard_hdr_pq", "standard_hdr_hlg", "standard_hdr_linear"}) {
      checks.compare({metric.metric, {{"display", display}}}, *clip);
    }
  }
  for (const FrameRate rate : {FrameRate{10, 1}, {30000, 1001}, {120, 1}}) {
    Clip clip = drawn_clip(small, 2 * kFrames);
    clip.rate = rate;
    checks.compare(metric, clip);
  }
  if (amount == Amount::quick) return;
  for (const int depth : {8, 10}) checks.compare(metric, drawn_clip({1283, 721, depth, Subsampling::yuv420}));
  Clip clip = drawn_clip({1920, 1080, 8, Subsampling::yuv420}, 3 * kFrames);
  clip.rate = {60, 1};
  checks.compare_in_flight(metric, clip);
}

}  // namespace

Tally check_frames(const std::shared_ptr<Device>& device, Amount amount, const std::string& only) {
  Checks checks(device);
  for (const FrameMetricEntry& metric : frame_metrics()) {
    if (!only.empty() && metric.info.name != only) continue;
    if (metric.feature == nullptr || !metric.feature->on_gpu) continue;
    const int before = checks.tally().comparisons;
    check_metric(metric, amount, checks);
    checks.require_comparisons(metric.info.name, before, amount == Amount::brief ? 2 : 20);
  }
  if (only.empty() || only == "vmaf") {
    const int before = checks.tally().comparisons;
    check_models(amount, checks);
    checks.require_comparisons("vmaf", before, amount == Amount::brief ? 5 : 20);
  }
  if (only.empty() || only == "cambi") check_cambi_maps(amount, checks);
  if (only.empty() || only == "cvvdp_video") {
    check_cvvdp(amount, checks);
    check_cvvdp_options(amount, checks);
  }
  if (!only.empty()) return checks.tally();
  for (const int history : {1, 2, 5, 11}) checks.compare_past({97, 67, 8, Subsampling::yuv420}, history);
  if (amount != Amount::brief) checks.compare_past({1280, 720, 10, Subsampling::yuv422}, 3);
  return checks.tally();
}

}  // namespace acuity::tests
