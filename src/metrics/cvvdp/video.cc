// SPDX-License-Identifier: BSD-2-Clause-Patent
// Each frame of both videos becomes three channels of light once. What is compared is these channels filtered over
// time, and the achromatic one filtered a second time for what changes.
#include "metrics/cvvdp/video.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/memory_pool.h"
#include "base/try.h"
#include "colour/yuv.h"
#include "metrics/cvvdp/cpu_frames.h"
#include "metrics/cvvdp/runner.h"
#include "metrics/cvvdp/screen.h"
#include "metrics/cvvdp/temporal.h"

namespace acuity {
namespace cvvdp {
namespace {

constexpr const char* kName = "cvvdp_video";

// In place of what is seen in the first frame by itself.
constexpr double kNotFirst = -1;

// Faster videos would need ever longer filters.
constexpr double kMostFramesPerSecond = 1000;

// The channels of one frame.
class FrameChannels final : public DerivedFrame {
 public:
  FrameChannels(std::shared_ptr<const std::byte> memory, size_t bytes, int width, int height)
      : memory_(std::move(memory)), bytes_(bytes), stride_(stride_of(width)), height_(static_cast<size_t>(height)) {}
  size_t bytes() const override { return bytes_; }

  static size_t stride_of(int width) { return round_up(static_cast<size_t>(width), 32); }
  static size_t bytes_for(int width, int height) {
    return kStillChannels * stride_of(width) * static_cast<size_t>(height) * sizeof(float);
  }
  std::array<const float*, kStillChannels> rows(int y) const {
    const auto* first = reinterpret_cast<const float*>(memory_.get()) + static_cast<size_t>(y) * stride_;
    return {first, first + height_ * stride_, first + 2 * height_ * stride_};
  }

 private:
  std::shared_ptr<const std::byte> memory_;
  size_t bytes_, stride_, height_;
};

// The same as they are, for the rule of still pictures.
class UnfilteredReader final : public ChannelReader {
 public:
  UnfilteredReader(const FrameChannels& frame, int width) : frame_(frame), width_(width) {}
  ChannelRows read(int y, float* room) const override {
    ChannelRows rows{};
    for (size_t c = 0; c < kStillChannels; ++c) {
      float* row = room + c * row_floats(width_) + kBefore;
      std::copy_n(frame_.rows(y)[c], FrameChannels::stride_of(width_), row);
      set_ends(row, width_);
      rows[c] = row;
    }
    return rows;
  }

 private:
  const FrameChannels& frame_;
  int width_;
};

// What all workers share.
struct Model {
  std::array<FrameFormat, 2> formats;  // by Role
  Photometry photometry;
  double pixels_per_degree = 0;
  std::array<std::vector<float>, kChannels> filters;
  MemoryPool memory;

  int width() const { return formats[0].width; }
  int height() const { return formats[0].height; }
};

class Worker final : public FeatureWorker {
 public:
  static Result<std::unique_ptr<FeatureWorker>> create(const Model& model) {
    std::unique_ptr<Worker> worker(new Worker(model));
    for (Pyramid& pyramid : worker->pyramids_) {
      ACUITY_TRY_ASSIGN(pyramid, Pyramid::create(worker->runner_.scales(), kChannels));
    }
    return std::unique_ptr<FeatureWorker>(std::move(worker));
  }

  size_t bytes() const override {
    return runner_.bytes() + pyramids_[0].bytes() + pyramids_[1].bytes() + scratch_.size() * sizeof(float);
  }

  Result<std::shared_ptr<const DerivedFrame>> derive(Role role, const FrameView& frame) override {
    const FrameFormat& format = model_.formats[static_cast<size_t>(role)];
    const int width = model_.width(), height = model_.height();
    std::shared_ptr<std::byte> memory;
    ACUITY_TRY_ASSIGN(memory, model_.memory.take());
    const size_t stride = FrameChannels::stride_of(width), plane = stride * static_cast<size_t>(height);
    const FrameRowReader reader(format, frame);
    for (int y = 0; y < height; ++y) {
      float* first = reinterpret_cast<float*>(memory.get()) + static_cast<size_t>(y) * stride;
      const std::array<float*, kStillChannels> rows = {first, first + plane, first + 2 * plane};
      for (float* row : rows) std::fill(row + width, row + stride, 0.0f);
      reader.read(y, scratch_.data(), rows[0], rows[1], rows[2]);
      show_row(model_.photometry, width, rows);
    }
    return std::shared_ptr<const DerivedFrame>(
        std::make_shared<FrameChannels>(std::move(memory), model_.memory.piece_bytes(), width, height));
  }

  Status measure(const FrameWindow& window, std::span<double> numbers) override {
    for (size_t side = 0; side < 2; ++side) {
      filter(window.derived[side], pyramids_[side][0]);
      runner_.build(pyramids_[side][0], pyramids_[side]);
    }
    const Differences differences = runner_.compare({&pyramids_[0][0], &pyramids_[0], &pyramids_[1][0], &pyramids_[1]});
    const double all = pooled(differences);
    auto next = numbers.begin();
    *next++ = jod_of(all);
    for (const NamedValue& value : named_values(differences)) *next++ = value.value;
    *next++ = all;
    *next = kNotFirst;
    if (window.index == 0) ACUITY_TRY_ASSIGN(*next, still_difference(window));
    return {};
  }

 private:
  explicit Worker(const Model& model)
      : model_(model),
        one_(1),
        runner_(one_, {model.width(), model.height()}, model.pixels_per_degree, kChannels),
        scratch_(yuv_row_scratch(model.width())) {}

  // What is seen in the first frame if no other follows.
  Result<double> still_difference(const FrameWindow& window) const {
    Runner runner(one_, {model_.width(), model_.height()}, model_.pixels_per_degree, kStillChannels);
    std::vector<UnfilteredReader> frames;
    std::array<Pyramid, 2> pyramids;
    for (size_t side = 0; side < 2; ++side) {
      frames.emplace_back(static_cast<const FrameChannels&>(*window.derived[side][0]), model_.width());
      ACUITY_TRY_ASSIGN(pyramids[side], Pyramid::create(runner.scales(), kStillChannels));
      runner.build(frames[side], pyramids[side]);
    }
    return pooled(runner.compare({&frames[0], &pyramids[0], &frames[1], &pyramids[1]})) * kStillFactor;
  }

  // The first scale. Before the first frame of the video, that frame is shown.
  void filter(std::span<const DerivedFrame* const> window, const PlaneReader& out) const {
    std::vector<const FrameChannels*> frames;
    for (const DerivedFrame* frame : window) {
      frames.push_back(frame == nullptr ? frames.back() : static_cast<const FrameChannels*>(frame));
    }
    std::array<std::vector<const float*>, kStillChannels> rows;
    for (int y = 0; y < model_.height(); ++y) {
      for (std::vector<const float*>& plane : rows) plane.clear();
      for (const FrameChannels* frame : frames) {
        const std::array<const float*, kStillChannels> of_frame = frame->rows(y);
        for (size_t c = 0; c < kStillChannels; ++c) rows[c].push_back(of_frame[c]);
      }
      std::array<float*, kChannels> to;
      for (size_t c = 0; c < kChannels; ++c) to[c] = out.planes()[c].row(y);
      filter_row(model_.filters, rows, model_.width(), to);
    }
  }

  const Model& model_;
  Threads one_;
  Runner runner_;
  std::array<Pyramid, 2> pyramids_;  // by Role
  std::vector<float> scratch_;
};

class VideoFeature final : public Feature {
 public:
  explicit VideoFeature(Model model) : model_(std::move(model)) {
    outputs_.push_back({kName});
    Differences shape;
    shape.channels = kChannels;
    shape.subbands.resize(scales_of({model_.width(), model_.height()}, model_.pixels_per_degree).size());
    for (const NamedValue& value : named_values(shape)) outputs_.push_back({value.name});
  }

  const std::vector<FeatureOutput>& outputs() const override { return outputs_; }
  int history() const override { return static_cast<int>(model_.filters[0].size()) - 1; }
  bool derives(Role) const override { return true; }
  size_t value_count() const override { return outputs_.size() + 2; }
  Result<std::unique_ptr<FeatureWorker>> create_worker() const override { return Worker::create(model_); }

  // The reference's pooling over time: a 2-norm of what is seen in the frames. A single frame is a still picture.
  std::vector<NamedValue> aggregates(const FeatureSeries& series) const override {
    const std::vector<double>& differences = series[outputs_.size()];
    const double still = series[outputs_.size() + 1][0];
    if (differences.size() == 1 && still != kNotFirst) return {{kName, jod_of(still)}};
    double sum = 0;
    for (const double difference : differences) sum += offset_power(difference, 2);
    return {{kName, jod_of(offset_power(sum / static_cast<double>(differences.size()), 0.5))}};
  }

 private:
  Model model_;
  std::vector<FeatureOutput> outputs_;
};

Result<double> frames_per_second(const FrameRate& rate) {
  if (rate.denominator == 0 || rate.numerator <= 0) {
    return Status(StatusCode::usage, "cvvdp needs the frame rate, and the video does not state one: give --fps");
  }
  const double fps = static_cast<double>(rate.numerator) / static_cast<double>(rate.denominator);
  if (fps > kMostFramesPerSecond) {
    return Status(StatusCode::usage, fmt::format("the video has {} frames per second, and cvvdp expects at most {}: "
                                                 "correct the rate with --fps",
                                                 fps, kMostFramesPerSecond));
  }
  return fps;
}

Result<std::unique_ptr<Feature>> create_feature(const Feature::Setup& setup) {
  const FrameFormat& format = setup.format;
  if (std::min(format.width, format.height) < kMinimumSide) {
    return Status(StatusCode::input,
                  fmt::format("the frames are {} x {} pixels, but cvvdp needs at least {} on each side", format.width,
                              format.height, kMinimumSide));
  }
  double fps = 0;
  ACUITY_TRY_ASSIGN(fps, frames_per_second(format.rate));
  Result<Screens> screens = Screens::create(setup.options);
  if (!screens.ok()) return screens.status();
  Result<Screen*> screen = screens->for_colour(format.colour);
  if (!screen.ok()) return screen.status();
  Model model{{setup.format, setup.distorted},
              (*screen)->photometry(),
              screens->pixels_per_degree(),
              temporal_filters(fps),
              MemoryPool(FrameChannels::bytes_for(format.width, format.height))};
  return std::unique_ptr<Feature>(std::make_unique<VideoFeature>(std::move(model)));
}

MetricInfo video_info() {
  MetricInfo info;
  info.name = kName;
  info.version = "0.5.6";
  info.title = "ColorVideoVDP of video: visible difference on a given display, in JOD";
  info.better = Better::higher;
  info.identical = 10;
  info.minimum_side = kMinimumSide;
  info.options = display_options();
  return info;
}

const FeatureEntry& feature_entry() {
  static const FeatureEntry entry{.info = video_info(), .create = create_feature, .on_gpu = false, .cpu_ns = 60};
  return entry;
}

class VideoMetric final : public FrameMetric {
 public:
  VideoMetric(FeatureRequest request, std::vector<std::string> assumptions) : assumptions_(std::move(assumptions)) {
    needs_.push_back(std::move(request));
  }
  const std::vector<FeatureRequest>& needs() const override { return needs_; }
  Status begin(std::span<const Feature* const> features) override {
    feature_ = features.front();
    return {};
  }
  const std::vector<FeatureOutput>& outputs() const override { return feature_->outputs(); }
  void conclude(std::span<const std::span<const double>> features, std::span<double> outputs) const override {
    std::copy_n(features.front().begin(), outputs.size(), outputs.begin());
  }
  std::vector<NamedValue> aggregates(std::span<const std::vector<NamedValue>> features) const override {
    return features.front();
  }
  std::vector<std::string> assumptions() const override { return assumptions_; }

 private:
  std::vector<FeatureRequest> needs_;
  std::vector<std::string> assumptions_;
  const Feature* feature_ = nullptr;
};

Result<std::unique_ptr<FrameMetric>> create_metric(const Feature::Setup& setup, const FrameMetricEntry&) {
  Result<Screens> screens = Screens::create(setup.options);
  if (!screens.ok()) return screens.status();
  Result<Screen*> screen = screens->for_colour(setup.format.colour);
  if (!screen.ok()) return screen.status();
  double fps = 0;
  ACUITY_TRY_ASSIGN(fps, frames_per_second(setup.format.rate));
  std::vector<std::string> assumptions{
      (*screen)->description(), "reference: " + (*screen)->reading_of(setup.format.colour),
      "distorted: " + (*screen)->reading_of(setup.distorted.colour),
      fmt::format("{:.6g} frames per second; before the first frame, that frame is shown (padding: replicate)", fps)};
  return std::unique_ptr<FrameMetric>(std::make_unique<VideoMetric>(
      FeatureRequest{&feature_entry(), setup.options, setup.format.depth}, std::move(assumptions)));
}

}  // namespace
}  // namespace cvvdp

FrameMetricEntry cvvdp_video_entry() { return {cvvdp::video_info(), cvvdp::create_metric, cvvdp::meaning_of_jod}; }

}  // namespace acuity
