// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/frame_scores.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/stopwatch.h"
#include "base/try.h"
#include "cli/exit_code.h"
#include "engine/frame_metric.h"
#include "metrics/vmaf/metric.h"

namespace acuity::cli {
namespace {

// How many bits a model was made for, where it measures samples of fewer bits as if they had as many.
int wanted_depth(const MetricChoice& metric) {
  if (metric.name != "vmaf") return 0;
  // Names and words count in any case.
  const Result<OptionValues> options = OptionValues::parse(find_frame_metric(metric.name)->info, metric.options);
  if (!options.ok() || options->text("precision") != "auto") return 0;
  const Result<vmaf::ModelSet> set = vmaf::load_model(options->text("model"));
  return set.ok() ? set->bits : 0;
}

MetricScore converted(FrameScore score, MetricScore entry) {
  entry.series.push_back(score.outputs[score.headline].values);
  for (size_t i = 0; i < score.outputs.size(); ++i) {
    FrameOutput& output = score.outputs[i];
    // A metric whose value has its own name would be listed twice.
    if (output.internal || (i == score.headline && output.name == entry.metric->name)) continue;
    entry.score.outputs.push_back({output.name, 0});
    entry.series.push_back(std::move(output.values));
  }
  entry.aggregates = std::move(score.aggregates);
  if (score.map) {
    entry.score.map = std::move(score.map->map);
    entry.map_context = std::move(score.map->context);
  }
  entry.score.provenance = std::move(score.provenance);
  return entry;
}

// The frame in the form that is compared: where it has that form, the one that others have too.
Result<Input> in_form(FormConverter& convert, const FrameFormat& format, const std::shared_ptr<const VideoFrame>& frame,
                      const Input& input, const Threads& threads) {
  if (frame->there.has_picture()) return input;
  const Result<FrameView> view = convert(frame, threads);
  if (!view.ok()) return view.status();
  return view->owner == frame ? input : Input(*view, format);
}

}  // namespace

FrameScores::Group& FrameScores::group_for(const FrameForm& form, const Colour& colour) {
  for (Group& group : groups_) {
    if (group.form == form) return group;
  }
  groups_.push_back({form,
                     FormConverter(*reference_.format, form, colour),
                     FormConverter(*distorted_.format, form, colour),
                     frame_format(*reference_.format, form, colour),
                     frame_format(*distorted_.format, form, colour),
                     {},
                     {}});
  const auto add = [&](const VideoFormat& format, std::vector<std::string>& changes) {
    for (std::string& text : describe_conversion(format, form, colour)) changes.push_back(std::move(text));
  };
  add(*reference_.format, reference_changes_);
  add(*distorted_.format, distorted_changes_);
  return groups_.back();
}

bool FrameScores::resize(const ScoreJob& job) {
  return std::all_of(job.metrics.begin(), job.metrics.end(), [](const MetricChoice& metric) {
    const FrameMetricEntry* entry = find_frame_metric(metric.name);
    if (entry == nullptr || entry->resizes == nullptr) return false;
    const Result<OptionValues> options = OptionValues::parse(entry->info, metric.options);
    return options.ok() && entry->resizes(*options);
  });
}

Status FrameScores::begin(const ScoreJob& job, const FrameSide& reference, const FrameSide& distorted,
                          const Colour& colour, const std::optional<FrameRate>& rate, int64_t expected_frames) {
  reference_ = reference;
  distorted_ = distorted;
  const FormChoice& at = job.meaning.at;
  const FrameForm form = choose_form(*reference.format, *distorted.format, at);
  const int deepest = std::max(reference.format->depth, distorted.format->depth);
  for (size_t m = 0; m < job.metrics.size(); ++m) {
    const MetricChoice& metric = job.metrics[m];
    if (!find_metric(metric.name)->is_frame_metric) continue;
    if (metric.name == "cvvdp_video") {
      group_for(choose_precise_form(*reference.format, *distorted.format, at), colour).places.push_back(m);
      continue;
    }
    // A model that widens 8-bit samples shall not see deeper ones rounded to 8 bits before.
    FrameForm own = form;
    const int wanted = at.like == FormChoice::Like::named ? 0 : wanted_depth(metric);
    if (form.depth < wanted && form.depth < deepest) own.depth = wanted;
    group_for(own, colour).places.push_back(m);
  }
  for (Group& group : groups_) {
    for (const FrameSide& side : {reference_, distorted_}) {
      if (!needs_conversion(*side.format, group.form)) continue;
      ACUITY_TRY(check_is_here(*side.format, side.name, "the conversion to the form in which both are compared"));
    }
    // A picture has no rate of its own, and the video beside it may.
    if (reference.format->rate.denominator == 0 && reference.format->still) {
      group.reference_format.rate = distorted.format->rate;
    }
    if (rate) group.reference_format.rate = *rate;
    FrameScorerOptions options{.format = group.reference_format,
                               .distorted_format = group.distorted_format,
                               .device = job.device,
                               .expected_frames = expected_frames,
                               .threads = job.threads,
                               .frames_in_flight = job.frames_in_flight,
                               .vram_cap_bytes = job.vram_cap_bytes,
                               .want_map = job.want_map};
    for (const size_t m : group.places) options.metrics.push_back({job.metrics[m].name, job.metrics[m].options});
    Result<FrameScorer> scorer = FrameScorer::create(options);
    if (!scorer.ok()) {
      return naming_files(scorer.status(), reference.format->still ? distorted.name : reference.name);
    }
    group.scorer = std::move(*scorer);
  }
  return {};
}

Status FrameScores::push(const std::shared_ptr<const VideoFrame>& reference,
                         const std::shared_ptr<const VideoFrame>& distorted, const InputPair& inputs, int64_t number,
                         bool scored, const Threads& threads) {
  for (Group& group : groups_) {
    const Stopwatch watch;
    const Result<Input> first = in_form(group.reference, group.reference_format, reference, inputs.reference, threads);
    if (!first.ok()) return naming_files(first.status(), reference_.name);
    const Result<Input> second = in_form(group.distorted, group.distorted_format, distorted, inputs.distorted, threads);
    if (!second.ok()) return naming_files(second.status(), distorted_.name);
    convert_ms_ += watch.milliseconds();
    const Status pushed =
        scored ? group.scorer->push(*first, *second, number) : group.scorer->push_neighbour(*first, *second, number);
    if (!pushed.ok()) return naming_files(pushed, fmt::format("{} and {}", reference_.name, distorted_.name));
  }
  return {};
}

int FrameScores::frames_before() const {
  int most = 0;
  for (const Group& group : groups_) most = std::max(most, group.scorer->frames_before());
  return most;
}

int FrameScores::frames_after() const {
  int most = 0;
  for (const Group& group : groups_) most = std::max(most, group.scorer->frames_after());
  return most;
}

std::array<PlaneSet, 2> FrameScores::planes() const {
  std::array<PlaneSet, 2> planes{};
  for (const Group& group : groups_) {
    const std::array<PlaneSet, 2> its_planes = group.scorer->planes();
    for (size_t p = 0; p < 3; ++p) {
      planes[0][p] = planes[0][p] || its_planes[0][p] || needs_conversion(*reference_.format, group.form);
      planes[1][p] = planes[1][p] || its_planes[1][p] || needs_conversion(*distorted_.format, group.form);
    }
  }
  return planes;
}

Status FrameScores::finish(std::vector<MetricScore>& scores, Status& cut_short) {
  for (Group& group : groups_) {
    Result<std::vector<FrameScore>> found = group.scorer->finish();
    if (!found.ok()) {
      const Status failure = naming_files(found.status(), fmt::format("{} and {}", reference_.name, distorted_.name));
      if (is_of_device(failure)) found = group.scorer->scores_so_far();
      if (!found.ok()) return failure;
      cut_short = failure;
    }
    for (size_t i = 0; i < group.places.size(); ++i) {
      MetricScore& entry = scores[group.places[i]];
      entry = converted(std::move((*found)[i]), {entry.metric, entry.label, {}, {}, {}});
    }
  }
  return {};
}

}  // namespace acuity::cli
