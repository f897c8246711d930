// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "engine/frame_requests.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/try.h"
#include "engine/requests.h"
#include "engine/validate.h"

namespace acuity {
namespace {

Status check_numbers(const FrameScorerOptions& options) {
  if (options.metrics.empty())
    return Status(StatusCode::usage, "no metric is given; metrics() lists the metrics of this build");
  if (options.threads < 0) {
    return Status(StatusCode::usage,
                  fmt::format("invalid number of threads {}: expected 0, for one per core, or more", options.threads));
  }
  if (options.frames_in_flight < 0 || options.frames_in_flight > 64) {
    return Status(StatusCode::usage, fmt::format("invalid number of frames in flight {}: expected 0, for as many as "
                                                 "keep a GPU busy, or 1 to 64",
                                                 options.frames_in_flight));
  }
  return {};
}

Status check_formats(const FrameScorerOptions& options) {
  const FrameFormat& format = options.format;
  if (format.depth < 8 || format.depth > 16) {
    return Status(StatusCode::usage,
                  fmt::format("invalid depth of {} bits per sample: expected 8 to 16", format.depth));
  }
  if (format.rate.numerator < 0 || format.rate.denominator < 0 ||
      (format.rate.denominator > 0 && format.rate.numerator == 0)) {
    return Status(StatusCode::usage, fmt::format("invalid frame rate {}/{}: expected a number above 0, or 0/0 if it is "
                                                 "unknown",
                                                 format.rate.numerator, format.rate.denominator));
  }
  return {};
}

// Most metrics compare samples as they are.
Status check_shapes(const FrameScorerOptions& options, const std::vector<RequestedFrameMetric>& metrics) {
  const FrameFormat& format = options.format;
  const FrameFormat& other = options.distorted_format.value_or(format);
  const bool resized = other.depth == format.depth && std::all_of(metrics.begin(), metrics.end(), [](const auto& its) {
                         return its.entry->resizes != nullptr && its.entry->resizes(its.options);
                       });
  if (other.has_same_shape(format)) return {};
  for (const RequestedFrameMetric& metric : metrics) {
    if (resized) ACUITY_TRY(validate_size(metric.entry->info, metric.options, other.width, other.height));
  }
  if (resized) return {};
  return Status(
      StatusCode::usage,
      fmt::format("the reference has {}x{} samples of {} bits, the distorted video {}x{} of {} bits or another "
                  "subsampling; convert one of them first",
                  format.width, format.height, format.depth, other.width, other.height, other.depth));
}

Result<RequestedFrameMetric> find_requested(const FrameScorerOptions& options, const FrameMetricRequest& request,
                                            FeatureList& list) {
  RequestedFrameMetric found;
  found.entry = find_frame_metric(request.metric);
  if (found.entry == nullptr) {
    return Status(StatusCode::usage,
                  fmt::format("unknown frame metric '{}'; metrics() lists the metrics of this build", request.metric));
  }
  const MetricInfo& info = found.entry->info;
  const bool is_rgb = options.format.matrix == Matrix::rgb ||
                      (options.distorted_format && options.distorted_format->matrix == Matrix::rgb);
  if (is_rgb && !found.entry->reads_rgb) {
    return Status(StatusCode::usage,
                  fmt::format("{} compares Y'CbCr, and the frames are RGB; convert them first", info.name));
  }
  if (options.want_map && !info.has_map) {
    return Status(StatusCode::usage, fmt::format("{} has no difference map; leave out want_map", info.name));
  }
  ACUITY_TRY_ASSIGN(found.options, OptionValues::parse(info, request.options));
  ACUITY_TRY(validate_size(info, found.options, options.format.width, options.format.height));
  Feature::Setup setup = setup_of(options);
  setup.options = found.options;
  ACUITY_TRY_ASSIGN(found.metric, found.entry->create(setup, *found.entry));
  for (const FeatureRequest& need : found.metric->needs()) found.places.push_back(list.place(need));
  return found;
}

}  // namespace

std::vector<std::string> RequestedFrameMetric::cpu_only() const {
  std::vector<std::string> names;
  for (const FeatureRequest& need : metric->needs()) {
    if (!need.entry->on_gpu) names.push_back(need.entry->info.name);
  }
  return names;
}

Result<FrameRequests> find_frame_requests(const FrameScorerOptions& options) {
  ACUITY_TRY(check_numbers(options));
  ACUITY_TRY(check_formats(options));
  FrameRequests requests;
  for (const FrameMetricRequest& request : options.metrics) {
    ACUITY_TRY_ASSIGN(requests.metrics.emplace_back(), find_requested(options, request, requests.list));
  }
  ACUITY_TRY(check_shapes(options, requests.metrics));
  return requests;
}

Status check_gpu_can(const FrameScorerOptions& options, const FrameRequests& requests) {
  if (options.want_map) {
    return Status(StatusCode::device, "difference maps of frames are made on the CPU only; use the device cpu or auto");
  }
  for (const RequestedFrameMetric& metric : requests.metrics) {
    const std::vector<std::string> names = metric.cpu_only();
    if (names.empty()) continue;
    const std::string why = metric.entry->feature != nullptr ? "runs"
                                                             : fmt::format("needs {}, which {}", fmt::join(names, ", "),
                                                                           names.size() == 1 ? "runs" : "run");
    return Status(StatusCode::device,
                  fmt::format("{} {} on the CPU only; use the device cpu or auto", metric.entry->info.name, why));
  }
  for (const FrameShape& shape : shapes_of(options)) ACUITY_TRY(check_gpu_frame_size(shape.width, shape.height));
  return {};
}

std::array<FrameShape, 2> shapes_of(const FrameScorerOptions& options) {
  return {options.format, options.distorted_format.value_or(options.format)};
}

Feature::Setup setup_of(const FrameScorerOptions& options) {
  return {options.format, options.distorted_format.value_or(options.format), OptionValues(), options.want_map};
}

}  // namespace acuity
