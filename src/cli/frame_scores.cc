// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/frame_scores.h"

#include <fmt/format.h>

#include "base/try.h"

namespace acuity::cli {
namespace {

Status check_formats(const FrameSide& a, const FrameSide& b, const std::string& metric) {
  const FrameView mine = frame_format(*a.format), other = frame_format(*b.format);
  if (mine.depth == other.depth && mine.subsampling == other.subsampling) return {};
  return Status(StatusCode::input,
                fmt::format("{} has {}-bit {} but {} has {}-bit {}: {} compares samples as they are, so convert one of "
                            "them first; --depth REF,DIST brings them to the same depth",
                            a.name, mine.depth, name_of(mine.subsampling), b.name, other.depth,
                            name_of(other.subsampling), metric));
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
  entry.score.provenance = std::move(score.provenance);
  return entry;
}

}  // namespace

Status FrameScores::begin(const ScoreJob& job, const FrameSide& reference, const FrameSide& distorted) {
  reference_ = reference;
  distorted_ = distorted;
  const FrameView format = frame_format(*reference.format);
  FrameScorerOptions options{.width = format.width,
                             .height = format.height,
                             .depth = format.depth,
                             .subsampling = format.subsampling,
                             .threads = job.threads};
  for (size_t m = 0; m < job.metrics.size(); ++m) {
    const MetricChoice& metric = job.metrics[m];
    if (!find_metric(metric.name)->frames) continue;
    ACUITY_TRY(check_formats(reference, distorted, metric.label));
    if (job.device != "auto" && job.device != "cpu") {
      return Status(StatusCode::device,
                    fmt::format("{} runs on the CPU only; use the device cpu or auto", metric.name));
    }
    options.metrics.push_back({metric.name, metric.options});
    places_.push_back(m);
  }
  if (places_.empty()) return {};
  Result<FrameScorer> scorer = FrameScorer::create(options);
  if (!scorer.ok()) return naming_files(scorer.status(), reference.name);
  scorer_ = std::move(*scorer);
  return {};
}

Status FrameScores::push(std::shared_ptr<const VideoFrame> reference, std::shared_ptr<const VideoFrame> distorted,
                         bool scored) {
  const Result<FrameView> original = frame_view(*reference_.format, std::move(reference));
  if (!original.ok()) return naming_files(original.status(), reference_.name);
  const Result<FrameView> other = frame_view(*distorted_.format, std::move(distorted));
  if (!other.ok()) return naming_files(other.status(), distorted_.name);
  const Status pushed = scored ? scorer_->push(*original, *other) : scorer_->push_neighbour(*original, *other);
  return pushed.ok() ? pushed : naming_files(pushed, fmt::format("{} and {}", reference_.name, distorted_.name));
}

Status FrameScores::finish(std::vector<MetricScore>& scores) {
  Result<std::vector<FrameScore>> found = scorer_->finish();
  if (!found.ok()) return naming_files(found.status(), fmt::format("{} and {}", reference_.name, distorted_.name));
  for (size_t i = 0; i < places_.size(); ++i) {
    MetricScore& entry = scores[places_[i]];
    entry = converted(std::move((*found)[i]), {entry.metric, entry.label, {}, {}, {}});
    for (const FrameSide* side : {&reference_, &distorted_}) {
      if (!side->format->rgb) continue;
      entry.score.provenance.assumptions.push_back(fmt::format(
          "{} converted to {}-bit Y'CbCr 4:4:4 by BT.709 in limited range", side->name, side->format->depth));
    }
  }
  return {};
}

}  // namespace acuity::cli
