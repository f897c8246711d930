// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/zensim/head.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/powers.h"
#include "metrics/zensim/pooling.h"

namespace acuity::zensim {
namespace {

constexpr double kLeastDeviation = 0.0026;
constexpr double kMostLogit = 20, kMostPinned = 30, kMostStandard = 8;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Absurd weights lead to numbers that are not finite; the engine refuses a score that is not.
double power_of(double x, double exponent) {
  return std::isfinite(x) && std::isfinite(exponent) ? exact_power(x, exponent) : kNone;
}
double log_of(double x) { return std::isfinite(x) && x > 0 ? exact_log(x) : kNone; }
double logistic(double x) { return std::isfinite(x) ? 1 / (1 + exact_exp(-x)) : kNone; }

float log_of(float x) { return static_cast<float>(log_of(static_cast<double>(x))); }
float log1p_of(float x) { return static_cast<float>(log_of(1 + static_cast<double>(x))); }
float cbrt_of(float x) {
  return std::copysign(static_cast<float>(power_of(std::abs(static_cast<double>(x)), 1.0 / 3)), x);
}
float power_of(float x, float exponent) {
  return static_cast<float>(power_of(static_cast<double>(x), static_cast<double>(exponent)));
}

// Each step is rounded to float, as in the reference: what is lost beside the 1 is part of the result.
float yeo_johnson(float x, float lambda) {
  constexpr float kNear = 1e-7f;
  const float base = std::abs(x) + 1.0f;
  const float power = x >= 0 ? lambda : 2.0f - lambda;
  const float result = std::abs(power) < kNear ? log_of(base) : (power_of(base, power) - 1.0f) / power;
  if (!std::isfinite(result)) return x;
  return x >= 0 ? result : -result;
}

}  // namespace

float Head::transformed(const Transform& transform, float x) {
  const std::vector<float>& p = transform.parameters;
  const auto clamped = [](float value, float low, float high) { return std::min(std::max(value, low), high); };
  const auto clipped = [](float value, float least) { return std::max(0.0f, value - least); };
  switch (transform.shape) {
    case Shape::identity:
      break;
    case Shape::log:
      return log_of(x);
    case Shape::log1p:
      return log1p_of(x);
    case Shape::signed_log1p:
      return std::copysign(log1p_of(std::abs(x)), x);
    case Shape::signed_sqrt:
      return std::copysign(std::sqrt(std::abs(x)), x);
    case Shape::signed_cbrt:
      return cbrt_of(x);
    case Shape::clip_then_log1p:
      return log1p_of(clipped(x, p[0]));
    case Shape::winsor_p99:
      return clamped(x, p[0], p[1]);
    case Shape::quantile_bins: {
      const auto below = std::count_if(p.begin(), p.end(), [x](float edge) { return edge <= x; });
      return static_cast<float>(below) / static_cast<float>(p.size());
    }
    case Shape::winsor_then_log:
      return log_of(clamped(x, p[0], p[1]));
    case Shape::winsor_then_log1p:
      return log1p_of(clamped(x, p[0], p[1]));
    case Shape::winsor_then_signed_cbrt:
      return cbrt_of(clamped(x, p[0], p[1]));
    case Shape::signed_cbrt_then_winsor:
      return clamped(cbrt_of(x), p[0], p[1]);
    case Shape::clip_then_log1p_then_winsor:
      return clamped(log1p_of(clipped(x, p[0])), p[1], p[2]);
    case Shape::yeo_johnson:
      return yeo_johnson(x, p[0]);
  }
  return x;
}

std::vector<float> Head::run_layers(std::vector<float> values) const {
  for (const Layer& layer : layers_) {
    std::vector<float> sums = layer.biases;
    for (size_t i = 0; i < layer.inputs; ++i) {
      if (values[i] == 0) continue;
      const float* weights = layer.weights.data() + i * layer.outputs;
      for (size_t o = 0; o < layer.outputs; ++o) sums[o] = std::fma(values[i], weights[o], sums[o]);
    }
    if (layer.activation != Activation::none) {
      const float slope = layer.activation == Activation::leaky ? 0.01f : 0.0f;
      for (float& sum : sums) sum = sum < 0 ? sum * slope : sum;
    }
    values = std::move(sums);
  }
  return values;
}

double Head::mixed(std::span<const float> outputs) const {
  const Mixture& by = *mixture_;
  const auto weighted = [&](double bias, std::span<const float> weights) {
    for (size_t i = 0; i < weights.size(); ++i)
      bias += static_cast<double>(outputs[i]) * static_cast<double>(weights[i]);
    return bias;
  };
  const double count = static_cast<double>(outputs.size()), power = static_cast<double>(by.power);
  const double rank = weighted(static_cast<double>(by.rank_bias), by.rank_weights);
  const double logit = weighted(static_cast<double>(by.alpha_bias), by.alpha_weights);
  const double alpha = logistic(std::clamp(logit, -kMostLogit, kMostLogit));
  double mean = 0, powers = 0, most = static_cast<double>(outputs[0]);
  for (const float value : outputs) {
    const double v = static_cast<double>(value);
    mean += v / count;
    most = std::max(most, v);
    powers += power_of(std::abs(v), power) / count;
  }
  double variance = 0;
  for (const float value : outputs) {
    const double apart = static_cast<double>(value) - mean;
    variance += apart * apart / count;
  }
  const std::array<double, 4> reduced{mean, std::max(std::sqrt(variance), kLeastDeviation), most,
                                      power_of(powers, 1 / power)};
  double pool = static_cast<double>(by.pool_bias);
  for (size_t i = 0; i < 4; ++i) pool += static_cast<double>(by.pool_weights[i]) * reduced[i];
  return alpha * rank + (1 - alpha) * pool;
}

double Head::min_max(std::span<const float> values) const {
  const MinMax& by = *min_max_;
  double least = std::numeric_limits<double>::infinity();
  for (size_t outer = 0; outer < by.outer; ++outer) {
    double most = -std::numeric_limits<double>::infinity();
    for (size_t inner = 0; inner < by.inner; ++inner) {
      const size_t plane = outer * by.inner + inner;
      double sum = static_cast<double>(by.biases[plane]);
      for (size_t i = 0; i < values.size(); ++i) {
        const double value = std::clamp(static_cast<double>(values[i]), -kMostStandard, kMostStandard);
        sum += static_cast<double>(by.weights[plane * values.size() + i]) * value;
      }
      most = std::max(most, sum);
    }
    least = std::min(least, most);
  }
  return least;
}

// A monotone cubic Hermite spline through the knots.
double Head::calibrated(double x) const {
  if (knots_.empty() || !std::isfinite(x)) return x;
  const size_t last = knots_.size() - 1;
  const auto length = [&](size_t i) { return knots_[i + 1].x - knots_[i].x; };
  const auto secant = [&](size_t i) { return (knots_[i + 1].y - knots_[i].y) / length(i); };
  const auto end_slope = [&](double h0, double h1, double s0, double s1) {
    const double slope = ((2 * h0 + h1) * s0 - h0 * s1) / (h0 + h1);
    if (slope * s0 <= 0) return 0.0;
    return s0 * s1 < 0 && std::abs(slope) > 3 * std::abs(s0) ? 3 * s0 : slope;
  };
  const auto slope = [&](size_t i) {
    if (last == 1) return secant(0);
    if (i == 0) return end_slope(length(0), length(1), secant(0), secant(1));
    if (i == last) return end_slope(length(last - 1), length(last - 2), secant(last - 1), secant(last - 2));
    const double s0 = secant(i - 1), s1 = secant(i);
    if (s0 * s1 <= 0) return 0.0;
    const double w1 = 2 * length(i) + length(i - 1), w2 = length(i) + 2 * length(i - 1);
    return (w1 + w2) / (w1 / s0 + w2 / s1);
  };
  const Knot &first = knots_.front(), &end = knots_.back();
  if (x < first.x) return std::max(first.y + slope(0) * (x - first.x), first.y - (end.y - first.y));
  if (x > end.x) return std::min(end.y + slope(last) * (x - end.x), 100.0);
  size_t i = 0;
  while (i + 1 < last && x > knots_[i + 1].x) ++i;
  const double h = length(i), t = (x - knots_[i].x) / h;
  const double t2 = t * t, t3 = t2 * t;
  const double y = (2 * t3 - 3 * t2 + 1) * knots_[i].y + (t3 - 2 * t2 + t) * h * slope(i) +
                   (3 * t2 - 2 * t3) * knots_[i + 1].y + (t3 - t2) * h * slope(i + 1);
  return std::min(y, 100.0);
}

Head::Scores Head::evaluate(std::span<const double> features, int width, int height) const {
  std::vector<float> values;
  for (const double feature : features) values.push_back(static_cast<float>(feature));
  if (inputs_ > kAllFeatures) {
    const double w = width, h = height;
    const double shape = exact_log2(std::max(w, h) / std::min(w, h));
    for (const double more :
         {exact_log2(w * h), exact_log2(std::min(w, h)), exact_log2(std::max(w, h)), w >= h ? shape : -shape}) {
      values.push_back(static_cast<float>(more));
    }
  }
  values.resize(inputs_);
  for (size_t i = 0; i < inputs_; ++i) {
    if (!transforms_.empty()) values[i] = transformed(transforms_[i], values[i]);
    if (!means_.empty()) values[i] = (values[i] - means_[i]) / (scales_[i] == 0 ? 1.0f : scales_[i]);
  }
  Scores scores;
  if (min_max_) {
    scores.raw = min_max(values);
  } else {
    const std::vector<float> outputs = run_layers(std::move(values));
    scores.raw = mixture_ ? mixed(outputs) : static_cast<double>(outputs[0]);
  }
  scores.pinned = scores.raw;
  if (pin_) {
    scores.pinned = 100 * logistic(std::clamp(scores.raw / static_cast<double>(*pin_), -kMostPinned, kMostPinned));
  }
  scores.score = calibrated(scores.pinned);
  return scores;
}

}  // namespace acuity::zensim
