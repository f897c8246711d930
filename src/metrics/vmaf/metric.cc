// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/vmaf/metric.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/names.h"
#include "base/try.h"

namespace acuity {
namespace vmaf {
namespace {

// Which feature gives what, by the beginning of the name; the first that fits counts.
constexpr std::pair<std::string_view, std::string_view> kFeatures[] = {
    {"VMAF_integer_feature_adm", "adm"},
    {"VMAF_integer_feature_aim", "adm"},
    {"VMAF_integer_feature_vif", "vif"},
    {"VMAF_integer_feature_motion", "motion"},
    {"VMAF_feature_adm", "float_adm"},
    {"VMAF_feature_aim", "float_adm"},
    {"VMAF_feature_vif", "float_vif"},
    {"VMAF_feature_motion", "float_motion"},
    {"Cambi_feature_cambi", "cambi"},
    {"Speed_chroma_feature_", "speed_chroma"},
    {"Speed_temporal_feature_", "speed_temporal"},
    {"integer_adm", "adm"},
    {"integer_vif", "vif"},
    {"adm_", "float_adm"},
    {"vif", "float_vif"},
    {"psnr_hvs", "psnr_hvs"},
    {"psnr_", "psnr"},
    {"ciede2000", "ciede"},
    {"float_ms_ssim", "float_ms_ssim"},
    {"float_ssim", "float_ssim"},
    {"float_psnr", "float_psnr"},
    {"float_ansnr", "float_ansnr"},
    {"float_moment", "float_moment"},
    {"ssim", "ssim"},
};

// Where an input comes from.
struct ModelInput {
  size_t need = 0;  // which of the metric's features
  std::string output;
  size_t place = 0;  // of the output among those of the feature
};

// An option may be called by its name or by its alias, as in OptionValues.
bool same_option(const MetricInfo& info, const OptionValue& a, const OptionValue& b) {
  return a.name == b.name || std::any_of(info.options.begin(), info.options.end(), [&](const MetricOption& option) {
           const auto called = [&](const std::string& name) {
             return same_name(name, option.name) || (!option.alias.empty() && same_name(name, option.alias));
           };
           return called(a.name) && called(b.name);
         });
}

// Models of v0.6 look at what adm says was kept, and none of them at what it says was added, which costs a fifth of it.
Status spare_added_details(const Model& model, FeatureRequest& request) {
  if (request.entry->info.name != "adm") return {};
  for (const Input& input : model.inputs) {
    if (input.output.find("aim") != std::string::npos || input.output.find("adm3") != std::string::npos) return {};
  }
  std::vector<OptionValue> options = request.options.all();
  for (OptionValue& option : options) {
    if (option.name == "adm_skip_aim") option.value = "true";
  }
  ACUITY_TRY_ASSIGN(request.enough, OptionValues::parse(request.entry->info, options));
  return {};
}

// A model that scores.
class ModelMetric : public FrameMetric {
 public:
  static Result<std::unique_ptr<FrameMetric>> create(ModelSet set, const Feature::Setup& setup) {
    auto metric = std::make_unique<ModelMetric>();
    const bool widened = setup.options.text("precision") == "auto" && setup.format.depth == 8 && set.bits > 8;
    const int depth = widened ? set.bits : setup.format.depth;
    ACUITY_TRY_ASSIGN(metric->needs_, features_of(set.whole, depth));
    for (FeatureRequest& need : metric->needs_) ACUITY_TRY(spare_added_details(set.whole, need));
    if (widened) {
      metric->assumptions_.push_back(fmt::format(
          "8-bit samples are measured as {}-bit ones, as the authors of the model ask; precision=stream leaves them",
          depth));
    }
    for (const Input& input : set.whole.inputs) {
      FeatureRequest request;
      ACUITY_TRY_ASSIGN(request, request_of(input, depth));
      const auto same = [&](const FeatureRequest& need) { return same_feature(need, request); };
      const auto found = std::find_if(metric->needs_.begin(), metric->needs_.end(), same);
      metric->inputs_.push_back({static_cast<size_t>(found - metric->needs_.begin()),
                                 output_name(input.output, request.entry->info, request.options)});
    }
    if (!set.seen.empty()) {
      metric->assumptions_.insert(metric->assumptions_.begin(), fmt::format("model {}: {}", set.name, set.seen));
    }
    metric->set_ = std::move(set);
    return std::unique_ptr<FrameMetric>(std::move(metric));
  }

  static Result<FeatureRequest> request_of(const Input& input, int depth) {
    const FeatureEntry* entry = feature_with_output(input.output);
    if (entry == nullptr) {
      return Status(StatusCode::input, fmt::format("the model asks for '{}', which no feature computes", input.output));
    }
    FeatureRequest request{entry, {}, depth};
    ACUITY_TRY_ASSIGN(request.options, OptionValues::parse(entry->info, input.options));
    return request;
  }

  static bool same_feature(const FeatureRequest& a, const FeatureRequest& b) {
    return a.entry == b.entry && a.options.label(a.entry->info) == b.options.label(b.entry->info);
  }

  const std::vector<FeatureRequest>& needs() const override { return needs_; }

  Status begin(std::span<const Feature* const> features) override {
    for (ModelInput& input : inputs_) {
      const std::vector<FeatureOutput>& outputs = features[input.need]->outputs();
      const auto place = std::find_if(outputs.begin(), outputs.end(),
                                      [&](const FeatureOutput& output) { return output.name == input.output; });
      if (place == outputs.end()) {
        return Status(StatusCode::input,
                      fmt::format("the model asks for '{}', which its feature does not compute", input.output));
      }
      input.place = static_cast<size_t>(place - outputs.begin());
    }
    name_outputs();
    return {};
  }

  const std::vector<FeatureOutput>& outputs() const override { return outputs_; }
  std::vector<std::string> assumptions() const override { return assumptions_; }

  void conclude(std::span<const std::span<const double>> features, std::span<double> outputs) const override {
    std::vector<double> values;
    for (const ModelInput& input : inputs_) values.push_back(features[input.need][input.place]);
    auto next = outputs.begin();
    *next++ = predict(set_.whole, values);
    for (const Model& part : set_.parts) *next++ = predict(part, values);
    if (!set_.parts.empty()) {
      const Spread spread = predict_spread(set_.parts, values);
      for (const double value : {spread.mean, spread.deviation, spread.low, spread.high}) *next++ = value;
    }
    std::copy(values.begin(), values.end(), next);
  }

 private:
  // The names are those of libvmaf.
  void name_outputs() {
    outputs_.push_back({"vmaf"});
    for (size_t i = 0; i < set_.parts.size(); ++i) outputs_.push_back({fmt::format("vmaf_{:04}", i + 1)});
    if (!set_.parts.empty()) {
      for (const char* name : {"vmaf_bagging", "vmaf_stddev", "vmaf_ci_p95_lo", "vmaf_ci_p95_hi"}) {
        outputs_.push_back({name});
      }
    }
    for (const ModelInput& input : inputs_) outputs_.push_back({input.output});
  }

  ModelSet set_;
  std::vector<FeatureRequest> needs_;
  std::vector<ModelInput> inputs_;
  std::vector<FeatureOutput> outputs_;
  std::vector<std::string> assumptions_;
};

Result<std::unique_ptr<FrameMetric>> create(const Feature::Setup& setup, const FrameMetricEntry&) {
  ModelSet set;
  ACUITY_TRY_ASSIGN(set, load_model(setup.options.text("model")));
  const auto each_model = [&](const auto& change) {
    change(set.whole);
    for (Model& part : set.parts) change(part);
  };
  if (is_on(setup.options, "disable_clip")) each_model([](Model& model) { model.clip.reset(); });
  if (is_on(setup.options, "enable_transform")) each_model([](Model& model) { model.transform.enabled = true; });
  ACUITY_TRY(apply_overrides(setup.options.text("features"), set));
  return ModelMetric::create(std::move(set), setup);
}

// Words of the scale that the viewers whom VMAF was trained on used, which it puts at 20, 40, 60, 80 and 100.
std::string meaning(double value) {
  return value >= 90 ? "excellent" : value >= 70 ? "good" : value >= 50 ? "fair" : value >= 30 ? "poor" : "bad";
}

}  // namespace

const FeatureEntry* feature_with_output(std::string_view output) {
  for (const auto& [beginning, feature] : kFeatures) {
    if (output.starts_with(beginning)) return find_feature(feature);
  }
  return nullptr;
}

Result<std::vector<FeatureRequest>> features_of(const Model& model, int depth) {
  std::vector<FeatureRequest> list;
  for (const Input& input : model.inputs) {
    FeatureRequest request;
    ACUITY_TRY_ASSIGN(request, ModelMetric::request_of(input, depth));
    const bool known = std::any_of(list.begin(), list.end(), [&](const FeatureRequest& other) {
      return ModelMetric::same_feature(other, request);
    });
    if (!known) list.push_back(std::move(request));
  }
  return list;
}

Status apply_overrides(std::string_view overrides, ModelSet& set) {
  while (!overrides.empty()) {
    const std::string_view one = overrides.substr(0, overrides.find(';'));
    overrides.remove_prefix(std::min(one.size() + 1, overrides.size()));
    const size_t dot = one.find('.'), equals = one.find('=', dot == std::string_view::npos ? 0 : dot);
    if (dot == std::string_view::npos || equals == std::string_view::npos) {
      return Status(StatusCode::usage,
                    fmt::format("invalid value '{}' for a feature of a model: expected FEATURE.OPTION=VALUE", one));
    }
    const std::string_view feature = one.substr(0, dot);
    const OptionValue option{std::string(one.substr(dot + 1, equals - dot - 1)), std::string(one.substr(equals + 1))};
    bool used = false;
    const auto change = [&](Model& model) {
      for (Input& input : model.inputs) {
        const FeatureEntry* entry = feature_with_output(input.output);
        if (entry == nullptr || entry->info.name != feature) continue;
        used = true;
        std::erase_if(input.options, [&](const OptionValue& known) { return same_option(entry->info, known, option); });
        input.options.push_back(option);
      }
    };
    change(set.whole);
    for (Model& part : set.parts) change(part);
    if (!used) {
      return Status(StatusCode::usage, fmt::format("the model {} has no feature '{}', whose option {} is given",
                                                   set.name, feature, option.name));
    }
  }
  return {};
}

}  // namespace vmaf

FrameMetricEntry vmaf_entry() {
  MetricInfo info;
  info.name = "vmaf";
  info.version = "libvmaf 3.2.0";
  info.title = "VMAF: how a panel of viewers would rate a video, from 0 (bad) to 100 (excellent)";
  info.better = Better::higher;
  info.identical_says =
      "about 97 to 100 with most models, less if little moves and in some frames up to 532 pixels wide";
  info.minimum_side = 17;
  info.variant = "model";
  info.options = {
      {.name = "model",
       .help = "the model, or a model file of libvmaf in JSON; a single word after the metric's name sets this option; "
               "'acuity models' lists the models",
       .default_value = "v0.6.1",
       .any_text = true},
      {.name = "precision",
       .help = "auto: models that want 10 bits measure 8-bit video as 10-bit; stream: never, as libvmaf does",
       .default_value = "auto",
       .words = {"auto", "stream"}},
      switch_option("disable_clip", "", "let scores leave the range of the model", false),
      switch_option("enable_transform", "", "apply the model's transform although it is off: of v0.6.1, for phones",
                    false),
      {.name = "features",
       .help = "other options for features of the model, as FEATURE.OPTION=VALUE;...",
       .default_value = "",
       .any_text = true},
  };
  return {std::move(info), vmaf::create, vmaf::meaning};
}

}  // namespace acuity
