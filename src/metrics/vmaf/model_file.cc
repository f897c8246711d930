// SPDX-License-Identifier: BSD-2-Clause-Patent
// Reads libvmaf's model files: JSON with the text of a libsvm model inside. Nothing in a file is taken on trust.
#include <charconv>
#include <cmath>
#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/try.h"
#include "metrics/vmaf/model.h"

namespace acuity::vmaf {
namespace {

using nlohmann::json;

constexpr size_t kMostInputs = 64, kMostVectors = 1 << 20, kMostParts = 1000, kMostBytes = 256 << 20;

std::optional<double> to_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

std::string_view next_word(std::string_view& text) {
  const size_t begin = text.find_first_not_of(" \r");
  text.remove_prefix(begin == std::string_view::npos ? text.size() : begin);
  const std::string_view word = text.substr(0, text.find_first_of(" \r"));
  text.remove_prefix(word.size());
  return word;
}

std::string_view next_line(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

class Reader {
 public:
  explicit Reader(std::string_view name) : name_(name) {}

  Result<ModelSet> read(const json& root) const {
    if (!root.is_object()) return bad("it is not an object");
    ModelSet set;
    if (root.contains("model_dict")) {
      ACUITY_TRY_ASSIGN(set.whole, model(root));
      return set;
    }
    // A bootstrap: the whole has the key 0, the parts have 1, 2 ...
    if (!root.contains("0")) return bad("it has no model_dict");
    ACUITY_TRY_ASSIGN(set.whole, model(root["0"]));
    for (size_t i = 1; i <= kMostParts && root.contains(std::to_string(i)); ++i) {
      Model part;
      ACUITY_TRY_ASSIGN(part, model(root[std::to_string(i)]));
      if (!same_inputs(part, set.whole)) return bad(fmt::format("its model {} has other features than model 0", i));
      set.parts.push_back(std::move(part));
    }
    if (set.parts.empty()) return bad("it is a bootstrap of a single model");
    return set;
  }

 private:
  Status bad(const std::string& why) const {
    return Status(StatusCode::input,
                  fmt::format("'{}' is not a usable VMAF model: {}; use a model file of libvmaf in JSON", name_, why));
  }

  static bool same_inputs(const Model& a, const Model& b) {
    if (a.inputs.size() != b.inputs.size()) return false;
    for (size_t i = 0; i < a.inputs.size(); ++i) {
      const Input &x = a.inputs[i], &y = b.inputs[i];
      if (x.output != y.output || x.options.size() != y.options.size()) return false;
      for (size_t o = 0; o < x.options.size(); ++o) {
        if (x.options[o].name != y.options[o].name || x.options[o].value != y.options[o].value) return false;
      }
    }
    return true;
  }

  static const json* field(const json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
  }

  Result<std::string> text(const json& object, const char* key) const {
    const json* value = field(object, key);
    if (value == nullptr || !value->is_string()) return bad(fmt::format("{} is missing or not text", key));
    return value->get<std::string>();
  }

  Result<double> number(const json& value, const char* key) const {
    const double result = value.is_number() ? value.get<double>() : NAN;
    if (!std::isfinite(result)) return bad(fmt::format("{} holds something that is not a number", key));
    return result;
  }

  Result<std::vector<double>> numbers(const json& object, const char* key, size_t count) const {
    const json* list = field(object, key);
    if (list == nullptr || !list->is_array() || list->size() != count) {
      return bad(fmt::format("{} is not a list of {} numbers", key, count));
    }
    std::vector<double> values;
    for (const json& value : *list) {
      double result = 0;
      ACUITY_TRY_ASSIGN(result, number(value, key));
      values.push_back(result);
    }
    return values;
  }

  Result<Model> model(const json& holder) const {
    const json* found = holder.is_object() ? field(holder, "model_dict") : nullptr;
    if (found == nullptr || !found->is_object()) return bad("it has no model_dict");
    const json& dict = *found;
    Model model;
    ACUITY_TRY(read_kind(dict));
    ACUITY_TRY(read_inputs(dict, model));
    ACUITY_TRY(read_scaling(dict, model));
    if (field(dict, "score_clip") != nullptr) {
      std::vector<double> limits;
      ACUITY_TRY_ASSIGN(limits, numbers(dict, "score_clip", 2));
      if (limits[0] > limits[1]) return bad("score_clip ends before it begins");
      model.clip = {limits[0], limits[1]};
    }
    if (const json* transform = field(dict, "score_transform")) ACUITY_TRY(read_transform(*transform, model.transform));
    if (const json* chroma = field(dict, "chroma_correction_parameter")) {
      ACUITY_TRY_ASSIGN(model.chroma_correction, number(*chroma, "chroma_correction_parameter"));
    }
    std::string machine;
    ACUITY_TRY_ASSIGN(machine, text(dict, "model"));
    ACUITY_TRY(read_machine(machine, model.inputs.size(), model.machine));
    return model;
  }

  Status read_kind(const json& dict) const {
    std::string kind;
    ACUITY_TRY_ASSIGN(kind, text(dict, "model_type"));
    for (const char* known : {"LIBSVMNUSVR", "BOOTSTRAP_LIBSVMNUSVR", "RESIDUEBOOTSTRAP_LIBSVMNUSVR"}) {
      if (kind == known) return {};
    }
    return bad(fmt::format("its model_type is {}, not LIBSVMNUSVR or a bootstrap of that", kind));
  }

  Status read_inputs(const json& dict, Model& model) const {
    const json* names = field(dict, "feature_names");
    if (names == nullptr || !names->is_array() || names->empty() || names->size() > kMostInputs) {
      return bad(fmt::format("feature_names is not a list of 1 to {} names", kMostInputs));
    }
    const json* options = field(dict, "feature_opts_dicts");
    if (options != nullptr && (!options->is_array() || options->size() > names->size())) {
      return bad("feature_opts_dicts is not a list with an object for each feature");
    }
    for (size_t i = 0; i < names->size(); ++i) {
      if (!(*names)[i].is_string()) return bad("feature_names holds something that is not text");
      Input input{.output = (*names)[i].get<std::string>()};
      if (options != nullptr && i < options->size()) ACUITY_TRY(read_options((*options)[i], input));
      model.inputs.push_back(std::move(input));
    }
    return {};
  }

  Status read_options(const json& object, Input& input) const {
    if (!object.is_object()) return bad("feature_opts_dicts holds something that is not an object");
    for (const auto& [name, value] : object.items()) {
      if (value.is_boolean()) {
        input.options.push_back({name, value.get<bool>() ? "true" : "false"});
      } else if (value.is_number()) {
        double result = 0;
        ACUITY_TRY_ASSIGN(result, number(value, "feature_opts_dicts"));
        input.options.push_back({name, fmt::format("{}", result)});
      } else if (value.is_string()) {
        input.options.push_back({name, value.get<std::string>()});
      } else {
        return bad(fmt::format("the option {} of a feature is not a number, text, true or false", name));
      }
    }
    return {};
  }

  // The first slope and the first intercept are those of the score.
  Status read_scaling(const json& dict, Model& model) const {
    std::string kind;
    ACUITY_TRY_ASSIGN(kind, text(dict, "norm_type"));
    if (kind == "none") return {};
    if (kind != "linear_rescale") return bad(fmt::format("its norm_type is {}, not linear_rescale or none", kind));
    std::vector<double> slopes, intercepts;
    ACUITY_TRY_ASSIGN(slopes, numbers(dict, "slopes", model.inputs.size() + 1));
    ACUITY_TRY_ASSIGN(intercepts, numbers(dict, "intercepts", model.inputs.size() + 1));
    for (const double slope : slopes) {
      if (slope == 0) return bad("one of its slopes is 0");
    }
    model.slope = slopes[0];
    model.intercept = intercepts[0];
    for (size_t i = 0; i < model.inputs.size(); ++i) {
      model.inputs[i].slope = slopes[i + 1];
      model.inputs[i].intercept = intercepts[i + 1];
    }
    return {};
  }

  Status read_transform(const json& object, Transform& transform) const {
    if (!object.is_object()) return bad("score_transform is not an object");
    const json* enabled = field(object, "enabled");
    if (enabled != nullptr && !enabled->is_boolean()) return bad("enabled of score_transform is not true or false");
    transform.enabled = enabled != nullptr && enabled->get<bool>();
    const auto coefficient = [&](const char* key, std::optional<double>& target) -> Status {
      if (const json* value = field(object, key)) ACUITY_TRY_ASSIGN(target, number(*value, key));
      return {};
    };
    ACUITY_TRY(coefficient("p0", transform.p0));
    ACUITY_TRY(coefficient("p1", transform.p1));
    ACUITY_TRY(coefficient("p2", transform.p2));
    // libvmaf has these two as text.
    const auto limit = [&](const char* key, bool& target) -> Status {
      const json* value = field(object, key);
      if (value != nullptr && !value->is_string()) return bad(fmt::format("{} of score_transform is not text", key));
      target = value != nullptr && *value == "true";
      return {};
    };
    ACUITY_TRY(limit("out_lte_in", transform.not_above));
    ACUITY_TRY(limit("out_gte_in", transform.not_below));
    const json* knots = field(object, "knots");
    if (knots == nullptr) return {};
    if (!knots->is_array() || knots->size() < 2) return bad("knots is not a list of two or more points");
    for (const json& knot : *knots) {
      std::vector<double> point;
      ACUITY_TRY_ASSIGN(point, numbers(json{{"knots", knot}}, "knots", 2));
      const bool rises = transform.knots.empty() ||
                         (point[0] > transform.knots.back().first && point[1] >= transform.knots.back().second);
      if (!rises) return bad("knots do not rise from left to right");
      transform.knots.emplace_back(point[0], point[1]);
    }
    return {};
  }

  Status read_machine(std::string_view text, size_t inputs, Machine& machine) const {
    std::optional<double> gamma, rho, count;
    std::string type, kernel;
    for (std::string_view line; !text.empty();) {
      line = next_line(text);
      const std::string_view key = next_word(line), value = next_word(line);
      if (key == "SV") break;
      if (key == "svm_type") type = value;
      if (key == "kernel_type") kernel = value;
      if (key == "gamma") gamma = to_number(value);
      if (key == "rho") rho = to_number(value);
      if (key == "total_sv") count = to_number(value);
    }
    if (type != "nu_svr" && type != "epsilon_svr") return bad(fmt::format("its svm_type is '{}', not nu_svr", type));
    if (kernel != "rbf") return bad(fmt::format("its kernel_type is '{}', not rbf", kernel));
    if (!gamma || !rho || !count) return bad("gamma, rho or total_sv is missing or not a number");
    if (*count < 1 || *count > static_cast<double>(kMostVectors)) return bad("total_sv is invalid");
    machine.gamma = *gamma;
    machine.rho = *rho;
    while (!text.empty()) {
      std::string_view line = next_line(text);
      const std::string_view weight = next_word(line);
      if (weight.empty()) continue;
      if (machine.weights.size() == static_cast<size_t>(*count)) return bad("it has more vectors than total_sv");
      const std::optional<double> value = to_number(weight);
      if (!value) return bad("a vector has a weight that is not a number");
      machine.weights.push_back(*value);
      machine.vectors.resize(machine.vectors.size() + inputs);
      ACUITY_TRY(read_vector(line, std::span(machine.vectors).last(inputs)));
    }
    if (machine.weights.size() != static_cast<size_t>(*count)) return bad("it has fewer vectors than total_sv");
    return {};
  }

  // Numbers with their places, 3:0.25, counted from 1; those left out are 0.
  Status read_vector(std::string_view line, std::span<double> vector) const {
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      const size_t colon = word.find(':');
      if (colon == std::string_view::npos) return bad("a vector has a value without an index");
      const std::optional<double> place = to_number(word.substr(0, colon)), value = to_number(word.substr(colon + 1));
      const bool fits =
          place && value && *place >= 1 && *place <= static_cast<double>(vector.size()) && *place == std::floor(*place);
      if (!fits) return bad(fmt::format("a vector holds '{}', which is not the number of a feature", word));
      vector[static_cast<size_t>(*place) - 1] = *value;
    }
    return {};
  }

  std::string_view name_;
};

}  // namespace

Result<ModelSet> parse_model(std::string_view text, std::string_view name) {
  const json root = json::parse(text, nullptr, false);
  if (root.is_discarded()) {
    return Status(StatusCode::input,
                  fmt::format("'{}' is not a VMAF model: it is not JSON; use a model file of libvmaf", name));
  }
  Result<ModelSet> set = Reader(name).read(root);
  if (set.ok()) set->name = name;
  return set;
}

Result<ModelSet> read_model(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) return Status(StatusCode::input, fmt::format("cannot read the model '{}'; give the path of a file", path));
  std::string text;
  std::vector<char> piece(1 << 16);
  for (size_t got = piece.size(); got == piece.size();) {
    got = std::fread(piece.data(), 1, piece.size(), file.get());
    text.append(piece.data(), got);
    if (text.size() > kMostBytes)
      return Status(StatusCode::too_big, fmt::format("'{}' is too large for a model", path));
  }
  return parse_model(text, path);
}

}  // namespace acuity::vmaf
