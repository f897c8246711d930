// SPDX-License-Identifier: BSD-2-Clause-Patent
// What is compared is the channels of light filtered over time, and the achromatic one filtered a second time for what
// changes. Frames are kept as they are stored, which takes the least memory: the light of a row is made again for each
// group of frames that are measured together.
#include "metrics/cvvdp/video.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/try.h"
#include "colour/yuv.h"
#include "metrics/cvvdp/cascade.h"
#include "metrics/cvvdp/context.h"
#include "metrics/cvvdp/cpu_frames.h"
#include "metrics/cvvdp/gpu_frames.h"
#include "metrics/cvvdp/reading.h"
#include "metrics/cvvdp/resize.h"
#include "metrics/cvvdp/screen.h"
#include "metrics/cvvdp/temporal.h"

namespace acuity {
namespace cvvdp {
namespace {

constexpr const char* kName = "cvvdp_video";

// Faster videos would need ever longer filters.
constexpr double kMostFramesPerSecond = 1000;

// Of a display that frames are scaled to.
constexpr int64_t kMostScreenPixels = int64_t{1} << 28;

// So many frames share the light that is made of those before them.
constexpr int kTogether = 6;

// The map of the frame that was measured last.
struct KeptMap {
  std::mutex mutex;
  int64_t index = -1;
  FrameMap map;
};

// What all workers share.
struct Model {
  std::array<FrameFormat, 2> formats;  // by Role
  Photometry photometry;
  std::vector<Scale> scales;
  std::array<std::vector<float>, kChannels> filters;
  bool symmetric = false;  // before the first frame; otherwise that frame is shown
  std::string resizing;    // a mode of Resizer, or kNoResizing
  bool clips_first = false;
  std::array<std::vector<float>, 2> tables;  // by Role: the light of codes, if frames are codes
  std::shared_ptr<KeptMap> kept;             // null: no map is wanted

  Size size() const { return scales[0].size; }
  bool resizes() const { return resizing != kNoResizing; }
  int taps() const { return static_cast<int>(filters[0].size()); }
};

// A video of one frame is a still picture: nothing changes in it, and the reference weighs it as one.
bool is_still(const FrameWindow& window) { return window.index == 0 && window.following[0][0] == nullptr; }

void fill_numbers(Differences differences, std::span<double> numbers) {
  const bool still = differences.channels == kStillChannels;
  const double all = pooled(differences) * (still ? kStillFactor : 1);
  differences.channels = kChannels;  // the last one is 0 in a still picture
  auto next = numbers.begin();
  *next++ = jod_of(all);
  for (const NamedValue& value : named_values(differences)) *next++ = value.value;
  *next++ = all;
  *next = still ? 1 : 0;
}

// The number of the frame that is seen so many frames before that of a window.
int64_t frame_before(const FrameWindow& window, int back, bool symmetric) {
  int known = back;
  while (window.reference[static_cast<size_t>(known)] == nullptr) --known;
  if (known == back) return window.index - back;
  if (!symmetric) return window.index - known;
  // The sequence goes back and forth; its first and last frames are not repeated.
  const int64_t distance = back - known;
  int64_t last = window.index;
  for (const FrameView* next : window.following[0]) last += next != nullptr ? 1 : 0;
  if (last == 0) return 0;
  const int64_t place = distance % (2 * last);
  return place <= last ? place : 2 * last - place;
}

const FrameView& view_in(const FrameWindow& window, Role role, int64_t number) {
  const auto& past = role == Role::reference ? window.reference : window.distorted;
  const auto& future = window.following[static_cast<size_t>(role)];
  return number <= window.index ? *past[static_cast<size_t>(window.index - number)]
                                : *future[static_cast<size_t>(number - window.index - 1)];
}

class Worker final : public FeatureWorker {
 public:
  static Result<std::unique_ptr<FeatureWorker>> create(const Model& model) {
    std::unique_ptr<Worker> worker(new Worker(model));
    for (std::unique_ptr<Cascade>& cascade : worker->cascades_) {
      ACUITY_TRY_ASSIGN(cascade, Cascade::create(model.scales, kChannels));
    }
    ACUITY_TRY_ASSIGN(worker->light_memory_, Arena::create(Arena::cost<float>(worker->light_floats())));
    worker->light_ = worker->light_memory_.take<float>(worker->light_floats());
    return std::unique_ptr<FeatureWorker>(std::move(worker));
  }

  size_t bytes() const override {
    size_t bytes = light_memory_.size() + scratch_.size() * sizeof(float);
    for (const std::unique_ptr<Cascade>& cascade : cascades_) bytes += cascade->bytes();
    return bytes;
  }

  Status measure(const FrameWindow& window, std::span<double> numbers) override {
    return measure_several({&window, 1}, {&numbers, 1});
  }

  Status measure_several(std::span<const FrameWindow> windows, std::span<const std::span<double>> numbers) override {
    std::unique_ptr<Cascade> still;  // in place of the only frame's own
    if (is_still(windows[0])) ACUITY_TRY_ASSIGN(still, Cascade::create(model_.scales, kStillChannels));
    std::vector<Cascade*> cascades;
    for (size_t w = 0; w < windows.size(); ++w) cascades.push_back(still ? still.get() : cascades_[w].get());
    std::optional<Heat> heat;
    if (model_.kept) ACUITY_TRY_ASSIGN(heat, Heat::create(model_.scales));
    for (Cascade* cascade : cascades) cascade->begin(heat && cascade == cascades.back() ? &*heat : nullptr);
    std::vector<float> achromatic;  // of the last distorted frame, for the map
    look_through(windows, cascades, still != nullptr, model_.kept ? &achromatic : nullptr);
    for (size_t w = 0; w < windows.size(); ++w) fill_numbers(cascades[w]->differences(), numbers[w]);
    if (heat) {
      const std::lock_guard lock(model_.kept->mutex);
      if (const int64_t index = windows.back().index; index > model_.kept->index) {
        model_.kept->index = index;
        model_.kept->map = {heat->map(), grey_context(std::move(achromatic))};
      }
    }
    return {};
  }

 private:
  using LightRows = std::array<float*, kStillChannels>;
  // For each channel the row of the frame itself, then of the frame before, and so on.
  using History = std::array<std::vector<const float*>, kStillChannels>;

  explicit Worker(const Model& model)
      : model_(model),
        stride_(round_up(static_cast<size_t>(model.size().width), 32)),
        scratch_(yuv_row_scratch(std::max(model.formats[0].width, model.formats[1].width))) {
    for (size_t side = 0; side < 2 && model.resizes(); ++side) {
      const FrameFormat& format = model.formats[side];
      resizers_[side].emplace(model.resizing, Size{format.width, format.height}, model.size());
    }
  }

  // Those before the first frame are frames of the windows as well.
  size_t light_floats() const { return static_cast<size_t>(model_.taps() + kTogether - 1) * kStillChannels * stride_; }
  LightRows light_rows(size_t slot) const {
    float* first = light_ + slot * kStillChannels * stride_;
    return {first, first + stride_, first + 2 * stride_};
  }

  // Puts all rows of the windows into their cascades. `achromatic` gets the last frame's, as it is seen.
  void look_through(std::span<const FrameWindow> windows, std::span<Cascade* const> cascades, bool still,
                    std::vector<float>* achromatic) {
    std::map<int64_t, const FrameWindow*> frames;  // all that are looked at, and a window that has them
    for (const FrameWindow& window : windows) {
      for (int back = 0; back < model_.taps(); ++back) {
        frames[frame_before(window, back, model_.symmetric)] = &window;
      }
    }
    std::array<std::vector<FrameRowReader>, 2> readers;
    std::map<int64_t, size_t> slots;
    for (const auto& [number, window] : frames) {
      slots.emplace(number, slots.size());
      for (const Role role : {Role::reference, Role::distorted}) {
        const auto side = static_cast<size_t>(role);
        readers[side].emplace_back(model_.formats[side], view_in(*window, role, number),
                                   reading_of(model_.formats[side], !model_.resizes() || model_.clips_first));
      }
    }
    std::vector<History> histories(windows.size());
    for (size_t w = 0; w < windows.size(); ++w) {
      for (int back = 0; back < model_.taps(); ++back) {
        const LightRows rows = light_rows(slots[frame_before(windows[w], back, model_.symmetric)]);
        for (size_t c = 0; c < kStillChannels; ++c) histories[w][c].push_back(rows[c]);
      }
    }
    const int height = model_.size().height;
    for (int y = 0; y < height; ++y) {
      for (const Role role : {Role::reference, Role::distorted}) {
        const std::vector<FrameRowReader>& its_readers = readers[static_cast<size_t>(role)];
        for (size_t slot = 0; slot < its_readers.size(); ++slot) read(its_readers[slot], role, y, light_rows(slot));
        for (size_t w = 0; w < windows.size(); ++w) {
          if (still) {
            copy(histories[w], cascades[w]->rows(role, y));
          } else {
            filter_row(model_.filters, histories[w], model_.size().width, cascades[w]->rows(role, y));
          }
        }
      }
      if (achromatic != nullptr) {
        const float* row = cascades.back()->rows(Role::distorted, y)[0];
        achromatic->insert(achromatic->end(), row, row + model_.size().width);
      }
      if ((y + 1) % Cascade::kRowsAtATime != 0 && y + 1 != height) continue;
      for (Cascade* cascade : cascades) cascade->advance(y + 1);
    }
  }

  // The light of a row, as channels.
  void read(const FrameRowReader& reader, Role role, int y, const LightRows& rows) {
    const int width = model_.size().width;
    for (float* row : rows) std::fill(row + width, row + stride_, 0.0f);
    if (auto& resizer = resizers_[static_cast<size_t>(role)]) {
      resizer->read(reader, y, rows);
    } else {
      reader.read(y, scratch_.data(), rows[0], rows[1], rows[2]);
    }
    show_row(model_.photometry, model_.tables[static_cast<size_t>(role)], width, rows);
  }

  void copy(const History& from, const std::array<float*, kChannels>& to) const {
    for (size_t c = 0; c < kStillChannels; ++c) std::copy_n(from[c][0], stride_, to[c]);
  }

  const Model& model_;
  size_t stride_;
  std::array<std::optional<Resizer>, 2> resizers_;  // by Role
  std::array<std::unique_ptr<Cascade>, kTogether> cascades_;
  Arena light_memory_;
  float* light_ = nullptr;  // of one row of each frame that is looked at
  std::vector<float> scratch_;
};

class VideoFeature final : public Feature {
 public:
  explicit VideoFeature(Model model) : model_(std::move(model)) {
    outputs_.push_back({kName});
    Differences shape;
    shape.channels = kChannels;
    shape.subbands.resize(model_.scales.size());
    for (const NamedValue& value : named_values(shape)) outputs_.push_back({value.name});
  }

  const std::vector<FeatureOutput>& outputs() const override { return outputs_; }
  int history() const override { return model_.taps() - 1; }
  // The first frame waits for the next, which tells whether it is a still picture.
  int lookahead(int64_t index) const override {
    if (model_.symmetric) return index < history() ? history() - static_cast<int>(index) : 0;
    return index == 0 ? 1 : 0;
  }
  int together() const override { return kTogether; }
  std::optional<FrameMap> map() const override {
    return model_.kept && model_.kept->index >= 0 ? std::optional(model_.kept->map) : std::nullopt;
  }
  size_t value_count() const override { return outputs_.size() + 2; }
  Result<std::unique_ptr<FeatureWorker>> create_worker() const override { return Worker::create(model_); }
  Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device) const override {
    return cvvdp::create_device_worker(device,
                                       {model_.formats, model_.photometry, model_.scales, model_.filters,
                                        model_.symmetric, model_.resizing, model_.clips_first, model_.tables},
                                       fill_numbers);
  }

  // The reference's pooling over time: a 2-norm of what is seen in the frames. It does not pool a still picture.
  std::vector<NamedValue> aggregates(const FeatureSeries& series) const override {
    const std::vector<double>& differences = series[outputs_.size()];
    if (const bool still = series[outputs_.size() + 1][0] != 0; still) return {{kName, jod_of(differences[0])}};
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

// The size at which frames are compared: that of the display where they are scaled to it.
Result<Size> compared_size(const FrameFormat& format, const Display& display, const OptionValues& options) {
  if (options.text("full_screen") == kNoResizing) return Size{format.width, format.height};
  if (int64_t{display.width} * display.height > kMostScreenPixels) {
    return Status(
        StatusCode::too_big,
        fmt::format("full_screen of cvvdp would scale frames to the {} x {} pixels of the display '{}', and at "
                    "most {} pixels are accepted: give a smaller resolution=WIDTHxHEIGHT",
                    display.width, display.height, display.name, kMostScreenPixels));
  }
  if (display.width > 0 && display.height > 0) return Size{display.width, display.height};
  return Status(StatusCode::usage, fmt::format("full_screen of cvvdp needs to know how many pixels the display '{}' "
                                               "has: give resolution=WIDTHxHEIGHT",
                                               display.name));
}

// What both the metric and its feature are made of.
struct Setting {
  Screens screens;
  Screen* screen;
  Size size;
  double fps;

  static Result<Setting> create(const Feature::Setup& setup) {
    double fps = 0;
    ACUITY_TRY_ASSIGN(fps, frames_per_second(setup.format.rate));
    Result<Screens> screens = Screens::create(setup.options);
    if (!screens.ok()) return screens.status();
    Result<Screen*> screen = screens->for_colour(setup.format.colour);
    if (!screen.ok()) return screen.status();
    Size size;
    ACUITY_TRY_ASSIGN(size, compared_size(setup.format, (*screen)->display(), setup.options));
    if (std::min(size.width, size.height) < kMinimumSide) {
      return Status(StatusCode::input, fmt::format("the frames are {} x {} pixels, but cvvdp needs at least {} on each "
                                                   "side",
                                                   size.width, size.height, kMinimumSide));
    }
    return Setting{std::move(*screens), *screen, size, fps};
  }
};

Result<std::unique_ptr<Feature>> create_feature(const Feature::Setup& setup) {
  Result<Setting> setting = Setting::create(setup);
  if (!setting.ok()) return setting.status();
  const Screens& screens = setting->screens;
  Model model{{setup.format, setup.distorted},
              setting->screen->photometry(),
              scales_of(setting->size, screens.pixels_per_degree(), screens.most_scales()),
              temporal_filters(setting->fps),
              setup.options.text("padding") == "symmetric",
              setup.options.text("full_screen"),
              setup.options.text("clip") == "both",
              {},
              setup.want_map ? std::make_shared<KeptMap>() : nullptr};
  // Scaled frames are codes no more.
  for (size_t side = 0; side < 2 && !model.resizes(); ++side) {
    model.tables[side] = table_of(model.formats[side], model.photometry);
  }
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
  info.has_map = true;
  info.options = display_options();
  for (MetricOption& option : time_options()) info.options.push_back(std::move(option));
  return info;
}

const FeatureEntry& feature_entry() {
  static const FeatureEntry entry{.info = video_info(), .create = create_feature, .on_gpu = true, .cpu_ns = 60};
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
  std::optional<FrameMap> map() const override { return feature_->map(); }
  std::vector<std::string> assumptions() const override { return assumptions_; }

 private:
  std::vector<FeatureRequest> needs_;
  std::vector<std::string> assumptions_;
  const Feature* feature_ = nullptr;
};

Result<std::unique_ptr<FrameMetric>> create_metric(const Feature::Setup& setup, const FrameMetricEntry&) {
  Result<Setting> setting = Setting::create(setup);
  if (!setting.ok()) return setting.status();
  const Screen& screen = *setting->screen;
  const bool symmetric = setup.options.text("padding") == "symmetric";
  std::vector<std::string> assumptions{
      screen.description(), "reference: " + screen.reading_of(setup.format.colour),
      "distorted: " + screen.reading_of(setup.distorted.colour),
      fmt::format("{:.6g} frames per second; before the first frame, {} (padding: {})", setting->fps,
                  symmetric ? "the video runs backwards" : "that frame is shown", setup.options.text("padding"))};
  if (const std::string& mode = setup.options.text("full_screen"); mode != kNoResizing) {
    assumptions.push_back(fmt::format("full screen: {} x {} and {} x {} scaled to {} x {}, {}, in encoded RGB",
                                      setup.format.width, setup.format.height, setup.distorted.width,
                                      setup.distorted.height, setting->size.width, setting->size.height, mode));
  }
  for (std::string& line : setting->screens.capped(setting->size)) assumptions.push_back(std::move(line));
  return std::unique_ptr<FrameMetric>(std::make_unique<VideoMetric>(
      FeatureRequest{&feature_entry(), setup.options, setup.format.depth}, std::move(assumptions)));
}

// Whether the videos may have different sizes.
bool resizes(const OptionValues& options) { return options.text("full_screen") != kNoResizing; }

}  // namespace
}  // namespace cvvdp

FrameMetricEntry cvvdp_video_entry() {
  return {.info = cvvdp::video_info(),
          .create = cvvdp::create_metric,
          .meaning = cvvdp::meaning_of_jod,
          .resizes = cvvdp::resizes,
          .reads_rgb = true,
          .check_options = cvvdp::check_options};
}

}  // namespace acuity
