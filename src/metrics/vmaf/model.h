// SPDX-License-Identifier: BSD-2-Clause-Patent
// VMAF's models: a support vector machine makes a score of some features of a frame.
#ifndef ACUITY_METRICS_VMAF_MODEL_H
#define ACUITY_METRICS_VMAF_MODEL_H

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "acuity/score.h"
#include "acuity/status.h"

namespace acuity::vmaf {

/// Regression by support vectors with radial basis functions.
struct Machine {
  double gamma = 0;
  double rho = 0;
  std::vector<double> weights;  // of each vector
  std::vector<double> vectors;  // one after the other
  bool operator==(const Machine&) const = default;
};

/// What the machine sees of a feature: slope * value + intercept.
struct Input {
  std::string output;  // by its long name: "VMAF_integer_feature_adm2_score"
  std::vector<OptionValue> options{};
  double slope = 1;
  double intercept = 0;
};

/// What may be done to a score in the end: a polynomial, then lines between knots, then a limit.
struct Transform {
  bool enabled = false;
  std::optional<double> p0{}, p1{}, p2{};
  std::vector<std::pair<double, double>> knots{};
  bool not_above = false;  // what came in
  bool not_below = false;
};

struct Model {
  std::vector<Input> inputs;
  double slope = 1;  // of the score, as of the inputs
  double intercept = 0;
  std::optional<std::pair<double, double>> clip{};
  Transform transform{};
  double chroma_correction = 0;
  Machine machine{};
};

/// A model, or one with the parts of a bootstrap, which have the same inputs with the same options.
struct ModelSet {
  std::string name{};
  std::string seen{};  // the display and the distance it is for; empty: not known
  int bits = 0;        // the depth that its authors want 8-bit video to be brought to; 0: none
  Model whole{};
  std::vector<Model> parts{};
};

/// What part of predict() is left out.
struct Without {
  bool clip = false;
  bool transform = false;
};

/// The score of a frame whose inputs have these values.
double predict(const Model& model, std::span<const double> values, Without without = {});

/// What the parts of a bootstrap say together.
struct Spread {
  double mean = 0;
  double deviation = 0;
  double low = 0;  // of the 95 % interval
  double high = 0;
};
Spread predict_spread(std::span<const Model> parts, std::span<const double> values);

/// Every model that is built in, in the order lists show them.
const std::vector<ModelSet>& built_in_models();
/// By its name, with or without "vmaf_" in front, or a shorter one that short_names() has; null where there is none.
const ModelSet* find_model(std::string_view name);
struct ShortName {
  std::string_view name;
  std::string_view stands_for;
};
std::span<const ShortName> short_names();

/// Reads libvmaf's JSON; `name` is for messages.
Result<ModelSet> parse_model(std::string_view json, std::string_view name);
Result<ModelSet> read_model(const std::string& path);

/// A built-in model or, where there is none of that name, a file.
Result<ModelSet> load_model(const std::string& name_or_path);

}  // namespace acuity::vmaf

#endif
