// SPDX-License-Identifier: BSD-2-Clause-Patent
// A trained model that makes a score of zensim's features, read from a file (ZNPR, version 3): transforms of the
// features, layers of a network or a single one, what makes one number of their outputs, and a curve that calibrates
// it.
#ifndef ACUITY_METRICS_ZENSIM_HEAD_H
#define ACUITY_METRICS_ZENSIM_HEAD_H

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acuity/status.h"

namespace acuity::zensim {

class Head {
 public:
  struct Scores {
    double raw = 0;     // of the network
    double pinned = 0;  // brought to 0 .. 100, if the head does that
    double score = 0;   // calibrated, if the head does that
  };

  static Result<Head> read(const std::string& path);
  /// The same of a file's content; `name` is for messages.
  static Result<Head> parse(std::string_view name, std::span<const std::byte> file);

  size_t inputs() const { return inputs_; }
  /// Which file it is, in a few words.
  const std::string& description() const { return description_; }

  /// Of all 372 features of pictures of that size.
  Scores evaluate(std::span<const double> features, int width, int height) const;

 private:
  friend class HeadParser;

  enum class Shape {
    identity,
    log,
    log1p,
    signed_log1p,
    signed_sqrt,
    signed_cbrt,
    clip_then_log1p,
    winsor_p99,
    quantile_bins,
    winsor_then_log,
    winsor_then_log1p,
    winsor_then_signed_cbrt,
    signed_cbrt_then_winsor,
    clip_then_log1p_then_winsor,
    yeo_johnson,
  };
  struct Transform {
    Shape shape = Shape::identity;
    std::vector<float> parameters{};
  };
  enum class Activation { none, relu, leaky };
  struct Layer {
    size_t inputs = 0, outputs = 0;
    Activation activation = Activation::none;
    std::vector<float> weights{};  // of the first input to all outputs, of the second ...
    std::vector<float> biases{};
  };
  // Makes one number of the last layer's outputs: a rank and a pool of them, mixed.
  struct Mixture {
    std::vector<float> alpha_weights{};  // empty: alpha is the same for all
    float alpha_bias = 0;
    std::vector<float> rank_weights{};
    float rank_bias = 0;
    std::array<float, 4> pool_weights{};
    float pool_bias = 0, power = 1;
  };
  struct MinMax {
    size_t outer = 0, inner = 0;
    std::vector<float> weights{}, biases{};
  };
  struct Knot {
    double x = 0, y = 0;
  };

  static float transformed(const Transform& transform, float x);
  std::vector<float> run_layers(std::vector<float> values) const;
  double mixed(std::span<const float> outputs) const;
  double min_max(std::span<const float> values) const;
  double calibrated(double x) const;

  size_t inputs_ = 0;
  std::string description_;
  std::vector<Transform> transforms_;  // empty: none
  std::vector<float> means_, scales_;  // empty: none
  std::vector<Layer> layers_;
  std::optional<Mixture> mixture_;
  std::optional<MinMax> min_max_;
  std::optional<float> pin_;
  std::vector<Knot> knots_;  // empty: none
};

}  // namespace acuity::zensim

#endif
