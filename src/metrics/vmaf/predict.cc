// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/powers.h"
#include "metrics/vmaf/model.h"

namespace acuity::vmaf {
namespace {

// Sums run over numbers and vectors in their order, as libsvm's do.
double respond(const Machine& machine, const std::vector<double>& inputs) {
  double sum = 0;
  const double* vector = machine.vectors.data();
  for (const double weight : machine.weights) {
    double distance = 0;
    for (const double input : inputs) {
      const double difference = input - *vector++;
      distance += difference * difference;
    }
    sum += weight * exact_exp(-machine.gamma * distance);
  }
  return sum - machine.rho;
}

// Where chroma is not measured to differ at all (grey video, for one) the model was not trained; it is then guessed
// from luma. What counts as 0 is looked at after scaling there and back, as libvmaf does.
void correct_chroma(const Model& model, std::vector<double>& inputs) {
  std::optional<size_t> luma, chroma;
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    if (model.inputs[i].output.find("adm3") != std::string::npos) luma = i;
    if (model.inputs[i].output.find("speed_chroma") != std::string::npos) chroma = i;
  }
  if (!luma || !chroma) return;
  const auto unscaled = [&](size_t i) { return (inputs[i] - model.inputs[i].intercept) / model.inputs[i].slope; };
  if (unscaled(*chroma) != 0) return;
  const double guess = -model.chroma_correction * unscaled(*luma) + model.chroma_correction;
  inputs[*chroma] = model.inputs[*chroma].slope * guess + model.inputs[*chroma].intercept;
}

// Lines between the knots, the first and the last of them going on for ever.
double between_knots(const std::vector<std::pair<double, double>>& knots, double x) {
  size_t segment = 0;
  while (segment + 2 < knots.size() && x > knots[segment + 1].first) ++segment;
  const auto [x0, y0] = knots[segment];
  const auto [x1, y1] = knots[segment + 1];
  if (y0 == y1) return y0;
  const double slope = (y1 - y0) / (x1 - x0);
  return slope * x + (y0 - x0 * slope);
}

double transformed(const Transform& transform, double score) {
  double result = score;
  if (transform.p0 || transform.p1 || transform.p2) {
    result = transform.p0.value_or(0) + transform.p1.value_or(0) * score + transform.p2.value_or(0) * score * score;
  }
  if (transform.knots.size() > 1) result = between_knots(transform.knots, result);
  if (transform.not_above) result = std::min(result, score);
  if (transform.not_below) result = std::max(result, score);
  return result;
}

double finished(const Model& model, double score, Without without) {
  if (model.transform.enabled && !without.transform) score = transformed(model.transform, score);
  if (model.clip && !without.clip) score = std::clamp(score, model.clip->first, model.clip->second);
  return score;
}

double percentile(std::span<const double> sorted, double percent) {
  const double place = percent * static_cast<double>(sorted.size() - 1) / 100;
  const double below = std::floor(place), above = std::ceil(place);
  const double low = sorted[static_cast<size_t>(below)], high = sorted[static_cast<size_t>(above)];
  return below == above ? low : low * (above - place) + high * (place - below);
}

}  // namespace

double predict(const Model& model, std::span<const double> values, Without without) {
  std::vector<double> inputs(values.size());
  for (size_t i = 0; i < values.size(); ++i) inputs[i] = model.inputs[i].slope * values[i] + model.inputs[i].intercept;
  if (model.chroma_correction != 0) correct_chroma(model, inputs);
  const double score = (respond(model.machine, inputs) - model.intercept) / model.slope;
  return finished(model, score, without);
}

// Made of scores as the machines give them; the mean and the ends of the interval are then finished like a score, and
// the deviation is stretched as much as a step around the mean is.
Spread predict_spread(std::span<const Model> parts, std::span<const double> values) {
  constexpr double kStep = 0.01;
  std::vector<double> scores;
  double sum = 0;
  for (const Model& part : parts) {
    scores.push_back(predict(part, values, {.clip = true, .transform = true}));
    sum += scores.back();
  }
  const double mean = sum / static_cast<double>(scores.size());
  double squares = 0;
  for (const double score : scores) squares += (score - mean) * (score - mean);
  std::sort(scores.begin(), scores.end());
  const auto finish = [&](double score) { return finished(parts.front(), score, {}); };
  const double stretch = (finish(mean + kStep) - finish(mean - kStep)) / (2 * kStep);
  return {.mean = finish(mean),
          .deviation = std::sqrt(squares / static_cast<double>(scores.size())) * stretch,
          .low = finish(percentile(scores, 2.5)),
          .high = finish(percentile(scores, 97.5))};
}

}  // namespace acuity::vmaf
