// SPDX-License-Identifier: BSD-2-Clause-Patent
// CAMBI, a measure of banding, as libvmaf 3.2.0 defines it.
#include "metrics/cambi/feature.h"

#include <algorithm>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "base/try.h"
#include "metrics/cambi/gpu.h"
#include "metrics/cambi/meter.h"
#include "frames/feature_options.h"

namespace acuity::cambi {
namespace {

constexpr int kLeastSide = 216;

// 0, the default, stands for what the frames have.
MetricOption side_option(std::string name, std::string alias, std::string help, double least, double most) {
  MetricOption option = whole_option(std::move(name), std::move(alias), std::move(help), "0", least, most);
  option.words = {"0"};
  return option;
}

const MetricInfo& info() {
  static const MetricInfo info = [] {
    MetricInfo made;
    made.name = "cambi";
    made.version = "libvmaf 3.2.0";
    made.title = "banding, without a reference: 0 is none, 24 very annoying";
    made.better = Better::lower;
    made.identical_says = "no fixed value: it measures only the distorted video";
    made.minimum_says = fmt::format("from {} pixels across or down", kLeastSide);
    MetricOption heatmaps{.name = "heatmaps_path", .help = "folder for maps of the banding", .default_value = ""};
    heatmaps.any_text = true;
    made.options = {
        number_option("cambi_max_val", "cmxv", "larger values are reduced to this", "1000", 0, 1000),
        side_option("enc_width", "encw", "width of the encoded video, before it was scaled up", 180, 7680),
        side_option("enc_height", "ench", "height of the encoded video, before it was scaled up", 150, 7680),
        side_option("enc_bitdepth", "encbd", "bit depth of the encoded video", 6, 16),
        side_option("src_width", "srcw", "width of the source, for full_ref", 320, 7680),
        side_option("src_height", "srch", "height of the source, for full_ref", 200, 4320),
        whole_option("window_size", "ws", "samples across the window, at 3840x2160", "65", 15, 127),
        number_option("topk", "", "share of the samples that is pooled; overrides cambi_topk", "0.6", 0.0001, 1),
        number_option("cambi_topk", "ctpk", "share of the samples that is pooled", "0.6", 0.0001, 1),
        number_option("tvi_threshold", "tvit", "part of the luminance that a visible step has", "0.019", 0.0001, 1),
        number_option("cambi_vis_lum_threshold", "vlt", "luminance below which no banding is seen, in cd/m2", "0", 0,
                      300),
        whole_option("max_log_contrast", "mlc", "log2 of the largest step, in 10-bit codes", "2", 0, 5),
        heatmaps,
        switch_option("full_ref", "", "measure the reference as well, and the difference", false),
        word_option("eotf", "", "transfer function of the display", {"bt1886", "pq"}),
        word_option("cambi_eotf", "ceot", "transfer function of the display; overrides eotf", {"bt1886", "pq"}),
        whole_option("cambi_high_res_speedup", "hrs",
                     "height (1080, 1440 or 2160) from which the first scale is left out, or 0", "0", 0, 2160),
    };
    return made;
  }();
  return info;
}

struct Side {
  int width;
  int height;
};

bool too_small(const Side& side) { return side.width < kLeastSide && side.height < kLeastSide; }

Status refuse_small(const char* what, const Side& side) {
  return Status(StatusCode::input,
                fmt::format("cambi needs {0} samples across or down, but the {1} is {2}x{3}; use larger frames",
                            kLeastSide, what, side.width, side.height));
}

// In proportion to the size of the picture, where 3840x2160 has the size given; always odd.
int window_for(int at_2160, const Side& side, bool halved) {
  const int scaled = at_2160 * (side.width + side.height) / 375 / 16;
  return (halved ? (scaled + 1) / 2 : scaled) | 1;
}

bool leaves_out_first_scale(int from_height, const Side& side) {
  const auto samples = static_cast<int64_t>(side.width) * side.height;
  return (from_height == 1080 && samples >= 1920 * 1080) || (from_height == 1440 && samples >= 2560 * 1440) ||
         (from_height == 2160 && samples >= 3840 * 2160);
}

void fill_values(double distorted, double reference, double largest, std::span<double> values) {
  values[0] = std::min(distorted, largest);
  if (values.size() == 1) return;
  values[1] = std::min(reference, largest);
  values[2] = std::min(std::max(0.0, distorted - reference), largest);
}

class Worker : public FeatureWorker {
 public:
  Worker(const Plan& plan, double largest) : full_reference_(plan.full_reference), largest_(largest), meter_(plan) {}

  size_t bytes() const override { return meter_.bytes(); }

  Status measure(const FrameWindow& window, std::span<double> values) override {
    double distorted = 0, reference = 0;
    ACUITY_TRY_ASSIGN(distorted, meter_.measure_distorted(*window.distorted[0], window.index));
    if (full_reference_) ACUITY_TRY_ASSIGN(reference, meter_.measure_reference(*window.reference[0]));
    fill_values(distorted, reference, largest_, values);
    return {};
  }

 private:
  bool full_reference_;
  double largest_;
  Meter meter_;
};

class Cambi : public Feature {
 public:
  Cambi(Plan plan, const FrameShape& frame, const OptionValues& options)
      : plan_(std::move(plan)), frame_(frame), largest_(*options.number("cambi_max_val")) {
    outputs_ = {{.name = output_name("Cambi_feature_cambi_score", info(), options)}};
    if (!plan_.full_reference) return;
    outputs_.push_back({.name = "cambi_source"});
    outputs_.push_back({.name = "cambi_full_reference"});
  }

  const std::vector<FeatureOutput>& outputs() const override { return outputs_; }
  Result<std::unique_ptr<FeatureWorker>> create_worker() const override {
    try {
      return std::unique_ptr<FeatureWorker>(std::make_unique<Worker>(plan_, largest_));
    } catch (const std::bad_alloc&) {
      return Status(StatusCode::internal, "not enough memory for cambi; use fewer threads");
    }
  }

  bool reads(Role role, int plane) const override {
    return plane == 0 && (role == Role::distorted || plan_.full_reference);
  }
  Result<std::unique_ptr<DeviceFeatureWorker>> create_device_worker(Device& device) const override {
    return cambi::create_device_worker(
        device, plan_, frame_, [largest = largest_](double distorted, double reference, std::span<double> values) {
          fill_values(distorted, reference, largest, values);
        });
  }

 private:
  Plan plan_;
  FrameShape frame_;
  double largest_;
  std::vector<FeatureOutput> outputs_;
};

Result<std::unique_ptr<Feature>> create(const Feature::Setup& setup) {
  const OptionValues& options = setup.options;
  const auto whole = [&](std::string_view name) { return static_cast<int>(*options.number(name)); };
  const Side frame{setup.format.width, setup.format.height};
  const auto given = [&](std::string_view width, std::string_view height) {
    const Side side{whole(width), whole(height)};
    return side.width == 0 || side.height == 0 ? frame : side;
  };
  Side encoded = given("enc_width", "enc_height");
  // What was scaled down after encoding is not scaled up again.
  if (encoded.width > frame.width || encoded.height > frame.height) encoded = frame;
  const Side source = given("src_width", "src_height");
  if (too_small(encoded)) return refuse_small("distorted video", encoded);
  if (too_small(source)) return refuse_small("source", source);
  if ((source.width > encoded.width && source.height < encoded.height) ||
      (source.width < encoded.width && source.height > encoded.height)) {
    return Status(StatusCode::input,
                  fmt::format("the source is {}x{} and the encoded video {}x{}, one wider and the other higher; "
                              "check src_width, src_height, enc_width and enc_height",
                              source.width, source.height, encoded.width, encoded.height));
  }

  Plan plan;
  plan.frame_width = frame.width;
  plan.frame_height = frame.height;
  plan.full_reference = is_on(options, "full_ref");
  plan.halved = leaves_out_first_scale(whole("cambi_high_res_speedup"), encoded);
  const int depth = whole("enc_bitdepth");
  plan.smooth = (depth == 0 ? setup.format.depth : depth) < 10;
  plan.part = *options.number(options.text("topk") != "0.6" ? "topk" : "cambi_topk");
  const int size = whole("window_size");
  plan.distorted = {encoded.width, encoded.height, window_for(size, encoded, plan.halved)};
  plan.reference = {source.width, source.height, window_for(size, source, plan.halved)};
  const int window = std::max(plan.distorted.window, plan.reference.window);
  if (window * window > kMostInWindow) {
    return Status(StatusCode::input,
                  fmt::format("frames of this size make window_size={} a window of {} samples across, "
                              "and at most 65 are possible; use a smaller window_size",
                              size, window));
  }
  const std::string& eotf = options.text(options.text("cambi_eotf") != "bt1886" ? "cambi_eotf" : "eotf");
  plan.contrast = find_contrast(whole("max_log_contrast"), *options.number("tvi_threshold"),
                                *options.number("cambi_vis_lum_threshold"), eotf == "pq" ? Eotf::pq : Eotf::bt1886);
  if (!options.text("heatmaps_path").empty()) {
    ACUITY_TRY_ASSIGN(plan.heatmaps, Heatmaps::create(options.text("heatmaps_path"), encoded.width, encoded.height));
  }
  return std::unique_ptr<Feature>(std::make_unique<Cambi>(std::move(plan), setup.format, options));
}

}  // namespace
}  // namespace acuity::cambi

namespace acuity {

FeatureEntry cambi_entry() { return {.info = cambi::info(), .create = cambi::create, .on_gpu = true, .cpu_ns = 6}; }

}  // namespace acuity
