// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/vmaf_plan.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/names.h"
#include "base/try.h"
#include "cli/lists.h"
#include "cli/text.h"
#include "metrics/vmaf/metric.h"

namespace acuity::cli {
namespace {

Status usage(std::string message) { return Status(StatusCode::usage, std::move(message)); }

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t end = 0; end != std::string_view::npos; text.remove_prefix(end == text.npos ? 0 : end + 1)) {
    end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
  }
  return parts;
}

// "key=value"; a word alone has no value.
std::pair<std::string, std::optional<std::string>> key_and_value(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return {text, {}};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::string metric_of(const FeatureEntry& feature) {
  for (const FrameMetricEntry& entry : frame_metrics()) {
    if (entry.feature == &feature) return entry.info.name;
  }
  return "";
}

Result<VmafFeature> parse_feature(const std::string& text) {
  const auto [name, rest] = key_and_value(text);
  const FeatureEntry* entry = find_feature(name);
  if (entry == nullptr) {
    std::vector<std::string> names;
    for (const FeatureEntry& known : features()) names.push_back(known.info.name);
    return usage(fmt::format("there is no feature '{}'{}; there are: {}", name, did_you_mean(name, names),
                             fmt::join(names, ", ")));
  }
  VmafFeature feature{.request = {metric_of(*entry), {}}};
  for (const std::string& part : rest ? split(*rest, ':') : std::vector<std::string>()) {
    const auto [key, value] = key_and_value(part);
    if (!value) return usage(fmt::format("invalid option '{}' of {}: expected OPTION=VALUE", part, name));
    if (key == "debug") {
      feature.debug = *value == "true";
    } else {
      feature.request.options.push_back({key, *value});
    }
  }
  const Result<OptionValues> values = OptionValues::parse(entry->info, feature.request.options);
  if (!values.ok()) return values.status();
  return feature;
}

Result<VmafModel> parse_model(const std::string& text) {
  VmafModel model;
  model.request = {"vmaf", {{"precision", "stream"}}};
  std::string overrides;
  for (const std::string& part : split(text, ':')) {
    const auto [key, value] = key_and_value(part);
    if (key == "disable_clip" || key == "enable_transform") {
      model.request.options.push_back({key, value.value_or("true") == "true" ? "true" : "false"});
    } else if (!value) {
      return usage(
          fmt::format("invalid value '{}' for -m: expected version=NAME or path=FILE, and name=NAME, disable_clip, "
                      "enable_transform or FEATURE.OPTION=VALUE with colons between",
                      part));
    } else if (key == "version" || key == "path") {
      model.source = *value;
      if (key == "version" && vmaf::find_model(*value) == nullptr) {
        return usage(fmt::format("there is no model '{}'; 'acuity models' lists all", *value));
      }
    } else if (key == "name") {
      model.name = *value;
    } else {
      overrides += (overrides.empty() ? "" : ";") + part;
    }
  }
  if (model.source.empty())
    return usage(fmt::format("invalid value '{}' for -m: expected version=NAME or path=FILE", text));
  model.request.options.push_back({"model", model.source});
  if (!overrides.empty()) model.request.options.push_back({"features", overrides});
  return model;
}

// The features of a model are printed as well, all that each of them gives.
Status add_features_of(const VmafModel& model, VmafPlan& plan) {
  vmaf::ModelSet set;
  ACUITY_TRY_ASSIGN(set, vmaf::load_model(model.source));
  for (const OptionValue& option : model.request.options) {
    if (option.name == "features") ACUITY_TRY(vmaf::apply_overrides(option.value, set));
  }
  std::vector<FeatureRequest> needs;
  ACUITY_TRY_ASSIGN(needs, vmaf::features_of(set.whole, 8));
  for (const FeatureRequest& need : needs) {
    plan.features.push_back({.request = {metric_of(*need.entry), need.options.all()}});
  }
  return {};
}

struct Preset {
  std::vector<std::string> models;
  std::vector<std::string> features;
  bool common_depth = false;
};

// The conditions of AOM's and Netflix's common tests.
Result<Preset> find_preset(const Request& request) {
  Preset preset;
  if (request.has("--aom_ctc")) {
    const std::string version = request.value("--aom_ctc");
    int number = 0;
    if (version.size() == 4 && version.starts_with("v") && version.ends_with(".0")) number = version[1] - '0';
    if (number < 1 || number > 7)
      return usage(fmt::format("invalid value '{}' for --aom_ctc: expected v1.0 to v7.0", version));
    preset.models = {"version=vmaf_v0.6.1", "version=vmaf_v0.6.1neg:name=vmaf_neg"};
    preset.features = {
        "psnr=reduced_hbd_peak=true:enable_apsnr=true:min_sse=0.5", "ciede",
        number < 7 ? "float_ssim=enable_db=true:clip_db=true" : "float_ssim=scale=1:enable_db=true:clip_db=true",
        "float_ms_ssim=enable_db=true:clip_db=true", "psnr_hvs"};
    if (number >= 3) preset.features.emplace_back("cambi");
    preset.common_depth = number >= 6;
  }
  if (request.has("--nflx_ctc")) {
    const std::string version = request.value("--nflx_ctc");
    if (version != "v1.0") return usage(fmt::format("invalid value '{}' for --nflx_ctc: expected v1.0", version));
    for (const char* model : {"version=vmaf_4k_v0.6.1", "version=vmaf_4k_v0.6.1neg:name=vmaf_neg"}) {
      preset.models.emplace_back(model);
    }
    for (const char* feature :
         {"psnr=enable_chroma=true:enable_apsnr=true", "float_ssim=enable_db=true:clip_db=true", "cambi"}) {
      preset.features.emplace_back(feature);
    }
  }
  return preset;
}

// As libvmaf's command reads it: decimal, hexadecimal or octal, with a sign or without, the lowest 32 bits.
Result<uint32_t> parse_unsigned(const std::string& text, std::string_view option) {
  char* end = nullptr;
  const auto number = static_cast<uint32_t>(std::strtoul(text.c_str(), &end, 0));
  if (*end == '\0' && end != text.c_str()) return number;
  return usage(fmt::format("invalid value '{}' for {}: expected a whole number", text, option));
}

// Numbers above the maximum of an int count as that.
Status read_unsigned(const Request& request, const std::string& option, int& target) {
  if (!request.has(option)) return {};
  uint32_t number = 0;
  ACUITY_TRY_ASSIGN(number, parse_unsigned(request.value(option), option));
  target = static_cast<int>(std::min<uint32_t>(number, std::numeric_limits<int>::max()));
  return {};
}

Status read_side(const Request& request, const std::string& option, int& target) {
  ACUITY_TRY(read_unsigned(request, option, target));
  if (target > 0) return {};
  return usage(fmt::format("invalid value '{}' for {}: expected at least 1", request.value(option), option));
}

Status plan_stream(const Request& request, VmafPlan& plan) {
  plan.reference = request.value("--reference");
  plan.distorted = request.value("--distorted");
  if (plan.reference.empty()) return usage("the reference is missing: give a video with -r");
  if (plan.distorted.empty()) return usage("the distorted video is missing: give a video with -d");
  if (plan.reference == "-" && plan.distorted == "-") return usage("standard input (-) can be given only once");
  int given = 0;
  for (const char* option : {"--width", "--height", "--pixel_format", "--bitdepth"})
    given += request.has(option) ? 1 : 0;
  plan.stream.raw_options = "--width, --height, --pixel_format and --bitdepth";
  if (given == 0) return {};
  if (given < 4) return usage("raw YUV needs all of --width, --height, --pixel_format and --bitdepth");
  int width = 0, height = 0, depth = 0;
  ACUITY_TRY(read_side(request, "--width", width));
  ACUITY_TRY(read_side(request, "--height", height));
  ACUITY_TRY(read_unsigned(request, "--bitdepth", depth));
  if (depth != 8 && depth != 10 && depth != 12 && depth != 16) {
    return usage(fmt::format("invalid value {} for --bitdepth: expected 8, 10, 12 or 16", depth));
  }
  const std::string format = request.value("--pixel_format");
  if (format == "420") plan.stream.pixel_format = {Subsampling::yuv420, RawLayout::planar};
  if (format == "422") plan.stream.pixel_format = {Subsampling::yuv422, RawLayout::planar};
  if (format == "444") plan.stream.pixel_format = {Subsampling::yuv444, RawLayout::planar};
  if (!plan.stream.pixel_format)
    return usage(fmt::format("invalid value '{}' for --pixel_format: expected 420, 422 or 444", format));
  plan.stream.size = {width, height};
  plan.stream.depth = depth;
  return {};
}

Status plan_metrics(const Request& request, VmafPlan& plan) {
  Preset preset;
  ACUITY_TRY_ASSIGN(preset, find_preset(request));
  plan.common_depth = preset.common_depth;
  for (const std::string& model : request.values("--model")) preset.models.push_back(model);
  for (const std::string& feature : request.values("--feature")) preset.features.push_back(feature);
  if (preset.models.empty() && plan.predict) preset.models.emplace_back("version=vmaf_v0.6.1");
  for (const std::string& text : preset.models) {
    VmafModel model;
    ACUITY_TRY_ASSIGN(model, parse_model(text));
    for (const VmafModel& other : plan.models) {
      if (other.name == model.name) {
        return usage(fmt::format("two models have the name '{}'; rename one with name=NAME", model.name));
      }
    }
    ACUITY_TRY(add_features_of(model, plan));
    plan.models.push_back(std::move(model));
  }
  for (const std::string& text : preset.features) {
    VmafFeature feature;
    ACUITY_TRY_ASSIGN(feature, parse_feature(text));
    plan.features.push_back(std::move(feature));
  }
  if (plan.features.empty())
    return usage("there is nothing to compute: name a model with -m or a feature with --feature");
  return {};
}

// Names become attributes of XML as they are, as in libvmaf.
bool is_attribute(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto may_follow = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.'; };
  return !name.empty() && is_letter(name.front()) && std::all_of(name.begin(), name.end(), may_follow);
}

// And heads of columns without quotes around them.
bool is_head(std::string_view name) {
  return !name.empty() && csv_field(name) == name && printable(name) == name && is_utf8(name);
}

Status check_name(const std::string& name, VmafFormat format) {
  const bool xml = format == VmafFormat::xml;
  if ((!xml || is_attribute(name)) && (format != VmafFormat::csv || is_head(name))) return {};
  return usage(fmt::format("the model name '{}' cannot be written as {}: expected {}; give name=NAME, or write --json",
                           name, xml ? "XML" : "CSV",
                           xml ? "letters, digits, '_', '-' and '.', a letter or '_' first"
                               : "UTF-8 without commas, quotes and control characters"));
}

Status plan_output(const Request& request, VmafPlan& plan) {
  plan.output = request.value("--output");
  const int formats = request.has("--xml") + request.has("--json") + request.has("--csv") + request.has("--sub");
  if (formats > 1) return usage("give only one of --xml, --json, --csv and --sub");
  if (request.has("--json")) plan.format = VmafFormat::json;
  if (request.has("--csv")) plan.format = VmafFormat::csv;
  if (request.has("--sub")) plan.format = VmafFormat::sub;
  if (request.has("--precision")) {
    const std::string digits = request.value("--precision");
    int count = 17;
    if (digits != "max") ACUITY_TRY_ASSIGN(count, parse_whole(digits, "--precision", 1, 17));
    plan.significant_digits = count;
  }
  // Without predictions no name is written.
  for (const VmafModel& model : plan.models) {
    if (plan.predict && !plan.output.empty()) ACUITY_TRY(check_name(model.name, plan.format));
  }
  return {};
}

// Whether a name stands for several devices and the other is one of them, or the same.
bool includes(const std::string& name, const std::string& other) {
  if (name == "gpu") return other != "cpu" && other != "auto";
  return other == name || other.starts_with(name + ":");
}

// libvmaf uses its GPU where a mask of what it must not do there is given; so does 0 here, which forbids nothing.
Status plan_device(const Request& request, VmafPlan& plan) {
  std::vector<std::string> chosen;
  if (request.has("--gpumask")) {
    uint32_t mask = 0;
    ACUITY_TRY_ASSIGN(mask, parse_unsigned(request.value("--gpumask"), "--gpumask"));
    chosen.emplace_back(mask == 0 ? "gpu" : "cpu");
  }
  for (const char* option : {"--backend", "--device"}) {
    if (request.has(option)) chosen.push_back(request.value(option));
  }
  if (request.has("--no_cuda")) chosen.emplace_back("cpu");
  if (chosen.empty()) return {};
  plan.device = chosen.front();
  for (const std::string& device : chosen) {
    if (includes(plan.device, device)) {
      plan.device = device;
    } else if (!includes(device, plan.device)) {
      return usage("--gpumask, --backend, --device and --no_cuda ask for different devices; give one of them");
    }
  }
  return {};
}

}  // namespace

const std::vector<Option>& vmaf_options() {
  static const std::vector<Option> table = [] {
    std::vector<Option> options = {
        {.name = "--reference", .letter = "-r", .value = "FILE", .help = "the original", .suggest = Suggest::files},
        {.name = "--distorted",
         .letter = "-d",
         .value = "FILE",
         .help = "the video to compare with it",
         .suggest = Suggest::files},
        {.name = "--width",
         .letter = "-w",
         .value = "N",
         .help = "width of raw YUV; raw YUV needs this and the next three"},
        {.name = "--height", .letter = "-h", .value = "N", .help = "height of raw YUV"},
        {.name = "--pixel_format",
         .letter = "-p",
         .value = "FORMAT",
         .help = "of raw YUV",
         .words = {"420", "422", "444"},
         .suggest = Suggest::words},
        {.name = "--bitdepth",
         .letter = "-b",
         .value = "BITS",
         .help = "of raw YUV",
         .words = {"8", "10", "12", "16"},
         .suggest = Suggest::words},
        {.name = "--model",
         .letter = "-m",
         .value = "MODEL",
         .help = "version=NAME or path=FILE, and with colons between name=NAME, disable_clip, enable_transform, "
                 "FEATURE.OPTION=VALUE; 'acuity models' lists names",
         .default_value = "version=vmaf_v0.6.1"},
        {.name = "--feature",
         .value = "FEATURE",
         .help = "what else to compute, as NAME or NAME=OPTION=VALUE:... with libvmaf's names; 'acuity metrics' "
                 "describes them, psnr as psnr_yuv"},
        {.name = "--output",
         .letter = "-o",
         .value = "FILE",
         .help = "where to write the results; without it only the scores are printed",
         .suggest = Suggest::files},
        {.name = "--xml", .help = "write XML; this is the default"},
        {.name = "--json", .help = "write JSON"},
        {.name = "--csv", .help = "write CSV"},
        {.name = "--sub", .help = "write subtitles"},
        {.name = "--precision",
         .value = "DIGITS",
         .help = "significant digits of numbers, or max for all; the default is six decimals, as in libvmaf"},
        {.name = "--threads",
         .value = "N",
         .help = "how many threads to use; never changes a score",
         .default_value = "1"},
        {.name = "--subsample",
         .value = "N",
         .help = "score one frame in N; motion still sees all",
         .default_value = "1"},
        {.name = "--frame_cnt", .value = "N", .help = "score at most N frames"},
        {.name = "--frame_skip_ref",
         .value = "N",
         .help = "skip the first N frames of the reference",
         .default_value = "0"},
        {.name = "--frame_skip_dist",
         .value = "N",
         .help = "skip the first N frames of the distorted video",
         .default_value = "0"},
        {.name = "--aom_ctc", .value = "VERSION", .help = "what AOM's common test conditions ask for, v1.0 to v7.0"},
        {.name = "--nflx_ctc", .value = "VERSION", .help = "what Netflix's common test conditions ask for: v1.0"},
        {.name = "--cpumask", .value = "MASK", .help = "has no effect; ACUITY_CPU chooses the instruction set"},
        {.name = "--gpumask", .value = "MASK", .help = "0 uses the first GPU, anything else the CPU"},
        {.name = "--device",
         .value = "NAME",
         .help = "the device that computes",
         .default_value = "cpu",
         .words = {"auto", "cpu", "cuda", "hip", "vulkan"},
         .suggest = Suggest::words},
        {.name = "--backend",
         .value = "NAME",
         .help = "the same",
         .words = {"auto", "cpu", "cuda", "hip", "vulkan"},
         .suggest = Suggest::words},
        {.name = "--no_cuda", .help = "use the CPU"},
        {.name = "--frames-in-flight",
         .value = "N",
         .help = "how many pairs of frames a GPU is sent ahead, 1 to 64; never changes a score",
         .default_value = "as many as keep it busy"},
        {.name = "--no_prediction", .letter = "-n", .help = "features only"},
        {.name = "--quiet", .letter = "-q", .help = "show no progress, and with --output no score"},
        {.name = "--version", .letter = "-v", .help = "print the version"},
        {.name = "--help", .help = "show this help"},
    };
    // Of several the last counts, as with libvmaf's command.
    for (Option& option : options) option.repeats = !option.value.empty();
    return options;
  }();
  return table;
}

Result<VmafPlan> plan_vmaf(const Request& request) {
  VmafPlan plan;
  plan.predict = !request.has("--no_prediction");
  plan.quiet = request.has("--quiet");
  ACUITY_TRY(plan_stream(request, plan));
  ACUITY_TRY(plan_metrics(request, plan));
  ACUITY_TRY(plan_output(request, plan));
  ACUITY_TRY(read_unsigned(request, "--threads", plan.threads));
  ACUITY_TRY(read_unsigned(request, "--subsample", plan.subsample));
  ACUITY_TRY(read_unsigned(request, "--frame_cnt", plan.frames));
  ACUITY_TRY(read_unsigned(request, "--frame_skip_ref", plan.skip_reference));
  ACUITY_TRY(read_unsigned(request, "--frame_skip_dist", plan.skip_distorted));
  plan.threads = std::clamp(plan.threads, 1, 1024);
  plan.subsample = std::max(plan.subsample, 1);
  if (request.has("--frames-in-flight")) {
    const std::string text = request.value("--frames-in-flight");
    ACUITY_TRY_ASSIGN(plan.frames_in_flight, parse_whole(text, "--frames-in-flight", 1, 64));
  }
  ACUITY_TRY(plan_device(request, plan));
  if (request.has("--cpumask")) plan.notes.emplace_back("--cpumask has no effect here");
  return plan;
}

}  // namespace acuity::cli
