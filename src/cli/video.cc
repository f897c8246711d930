// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cli/video.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>

#include <fmt/format.h>

#include "base/try.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/frame_scores.h"
#include "cli/frame_values.h"
#include "cli/leave.h"
#include "cli/open_pair.h"
#include "cli/video_side.h"
#include "device/pinned.h"
#include "media/scale.h"

namespace acuity::cli {
namespace {

// How many pairs "--device auto" reckons with where the length is not known.
constexpr int64_t kManyFrames = 1000;
constexpr size_t kMostPending = 4;

double interval(const FrameRate& rate) {
  return rate.denominator == 0 ? 0 : static_cast<double>(rate.denominator) / static_cast<double>(rate.numerator);
}

class VideoScorer {
 public:
  VideoScorer(const ScoreJob& job, const VideoPlan& plan, PairResult& result, const FrameProgress& progress)
      : job_(job), plan_(plan), result_(result), progress_(progress), threads_(job.threads) {}

  Status operator()() {
    result_.video.emplace();
    const Status opened = open();
    if (!opened.ok()) return interrupted() ? stopped() : opened;
    ACUITY_TRY(create_scorers());
    Status walked;
    result_.spans.push_back(timed("score", [&] {
      walked = resampling_ ? walk_resampled() : walk();
      const Status finished = finish_pending(0);
      if (walked.ok()) walked = finished;
    }));
    // What feeds a pipe is interrupted too, so that an end that came by then may not be the end.
    if (is_stopped()) walked = stopped();
    describe_sides();
    if (!walked.ok()) {
      const bool kept = plan_.shortest || walked.code() == StatusCode::cancelled || is_of_device(walked);
      if (!kept || result_.video->frames.empty()) return walked;
      result_.cut_short = walked;
    }
    if (result_.video->frames.empty()) return nothing_scored();
    if (frame_scores_.any()) ACUITY_TRY(frame_scores_.finish(result_.scores, result_.cut_short));
    add_warnings_of_metrics(result_, fmt::format("{} and {}", reference_->name(), distorted_->name()));
    if (!result_.cut_short.ok()) ACUITY_TRY(keep_common_frames(result_));
    pool_frames(result_);
    return {};
  }

  bool on_gpu() const { return device_ != nullptr; }

 private:
  // A frame in flight on a GPU. One is sent, one worked on and one finished; on the CPU, which has no time to lose by
  // waiting, each is scored before the next is looked at.
  struct Pending {
    FramePair frame;
    InputPair inputs;
    Job job;
  };

  Status open() {
    VideoPlan plan = plan_;
    if (plan.decode_reference_on_gpu || plan.decode_distorted_on_gpu) {
      ACUITY_TRY_ASSIGN(device_, job_.opening.get().device);
      if (plan.decode_reference_on_gpu) plan.reference.decoder = device_;
      if (plan.decode_distorted_on_gpu) plan.distorted.decoder = device_;
    }
    OpenedPair pair;
    ACUITY_TRY_ASSIGN(pair, open_pair(result_.reference, result_.distorted, plan, job_.meaning, job_.geometry));
    reference_ = std::make_unique<Side>(std::move(pair.streams.reference), shown(result_.reference));
    distorted_ = std::make_unique<Side>(std::move(pair.streams.distorted), shown(result_.distorted));
    result_.reference_facts.changed = std::move(pair.reference_changes);
    result_.distorted_facts.changed = std::move(pair.distorted_changes);
    result_.warnings = std::move(pair.warnings);
    frame_colour_ = std::move(pair.frame_colour);
    const VideoFormat& mine = reference_->format();
    const VideoFormat& other = distorted_->format();
    if ((mine.width != other.width || mine.height != other.height) && !FrameScores::resize(job_)) {
      // The size may be that of a turned frame, or of a stream that nobody chose.
      const auto with_facts = [](const std::string& name, const VideoFormat& format) {
        return format.stated.empty() ? name : fmt::format("{} ({})", name, fmt::join(format.stated, "; "));
      };
      return unequal_sizes(with_facts(reference_->name(), mine), mine.width, mine.height,
                           with_facts(distorted_->name(), other), other.width, other.height);
    }
    result_.width = mine.width;
    result_.height = mine.height;
    for (const Side* side : {reference_.get(), distorted_.get()}) {
      if (plan_.by_time && side->format().rate.denominator == 0 && side->format().frames != 1) {
        return Status(StatusCode::usage, fmt::format("{} has no frame rate, so --sync pts cannot pair its frames: "
                                                     "use --sync index",
                                                     side->name()));
      }
    }
    if (plan_.resampled) {
      const Result<Resampling> resampling = Resampling::create(mine.rate, other.rate, *plan_.resampled);
      if (!resampling.ok()) {
        return naming_files(resampling.status(), fmt::format("{} and {}", reference_->name(), distorted_->name()));
      }
      resampling_ = *resampling;
    }
    const bool timed = interval(mine.rate) > 0 && interval(other.rate) > 0;
    const bool several = mine.frames != 1 && other.frames != 1 && !plan_.one_frame;
    if (several && timed && !plan_.by_time && !resampling_ && interval(mine.rate) != interval(other.rate)) {
      result_.warnings.push_back(
          fmt::format("{} has {} but {} has {}: frames are paired by number; {}", reference_->name(),
                      describe(mine.rate), distorted_->name(), describe(other.rate),
                      looks_at_time() ? "use --sync resample to show both at one rate, as cvvdp needs it"
                                      : "use --sync pts to pair them by time"));
    }
    for (std::string& doubt : doubts({reference_->name(), mine}, {distorted_->name(), other})) {
      result_.warnings.push_back(std::move(doubt));
    }
    if (plan_.every % 2 == 0) {
      result_.warnings.push_back(
          fmt::format("--every {} is even: if better and worse frames alternate in a video, it may score only "
                      "one kind; use an odd number",
                      plan_.every));
    }
    return {};
  }

  Status create_scorers() {
    const std::optional<FrameTotal> total = expected_frames();
    if (job_.want_map && !plan_.one_frame && (!total || total->about || total->frames != 1)) {
      return Status(StatusCode::usage, fmt::format("--map shows one frame of {}: choose it with --frame N, counted "
                                                   "from 0",
                                                   reference_->name()));
    }
    for (const MetricChoice& metric : job_.metrics) {
      result_.scores.push_back({find_metric(metric.name), metric.label, {}, {}});
      if (result_.scores.back().metric->is_frame_metric) continue;
      places_.push_back(result_.scores.size() - 1);
      // The one name that other tools have for something else.
      if (metric.name == "psnr" && !(reference_->format().rgb && distorted_->format().rgb)) {
        result_.warnings.push_back(fmt::format(
            "{} compares sRGB codes: it converts the frames of {} and {} to RGB, which is slow and differs from the "
            "PSNR of ffmpeg and libvmaf; use psnr_yuv for theirs, which compares Y, Cb and Cr a hundred times as fast",
            metric.label, reference_->name(), distorted_->name()));
      }
    }
    if (job_.opening.valid()) {
      ACUITY_TRY_ASSIGN(device_, job_.opening.get().device);
      result_.spans.push_back(job_.opening.get().span);
    }
    if (!places_.empty()) ACUITY_TRY(create_scorer(job_.device, total ? total->frames : kManyFrames));
    ACUITY_TRY(frame_scores_.begin(
        job_, {reference_->name(), &reference_->format()}, {distorted_->name(), &distorted_->format()}, frame_colour_,
        resampling_ ? FrameRate{resampling_->frames_per_second(), 1} : job_.rate, total ? total->frames : kManyFrames));
    if (!places_.empty()) return {};
    const std::array<PlaneSet, 2> planes = frame_scores_.planes();
    reference_->want(planes[0]);
    distorted_->want(planes[1]);
    return {};
  }

  // For all metrics of pictures: a device then works on one frame for all of them at a time.
  Status create_scorer(const std::string& device, int64_t frames) {
    ScorerOptions options = scorer_options(job_, frames);
    options.device = device;
    for (const size_t place : places_) {
      options.metrics.emplace_back(job_.metrics[place].name, job_.metrics[place].options);
    }
    Result<Scorer> scorer = Status();
    result_.spans.push_back(
        timed("make scorer", [&] { scorer = Scorer::create(options, result_.width, result_.height); }));
    if (!scorer.ok()) return naming_files(scorer.status(), reference_->name());
    scorer_ = std::move(*scorer);
    return {};
  }

  // Goes through both streams; an error where they do not fit or break off.
  Status walk() {
    reference_->begin(plan_.offset < 0 ? -plan_.offset : 0);
    distorted_->begin(plan_.offset > 0 ? plan_.offset : 0);
    ACUITY_TRY(begin_range());
    std::shared_ptr<VideoFrame> partner;
    bool beyond_end = false;
    double partner_time = 0;
    double time = 0;
    for (; reference_->has_frame(); reference_->advance()) {
      if (is_stopped()) return stopped();
      const int64_t index = reference_->frame()->index;
      const bool starts_here = find_range(index);
      beyond_end = end_ && index >= *end_;
      if (beyond_end && !is_neighbour(index)) return {};
      time = reference_->time();
      bool moved = false;
      // Whether the distorted frame in hand is the partner, or nearer to that. Of those of the same time each is one
      // once.
      const auto is_next = [&] {
        if (partner == nullptr) return true;
        if (!plan_.by_time) return !moved;
        const double other = distorted_->time();
        if (other == partner_time) return partner_time < time || !moved;
        return std::abs(other - time) < std::abs(partner_time - time);
      };
      while (distorted_->has_frame() && is_next()) {
        partner_time = distorted_->time();
        partner = distorted_->take();
        moved = true;
      }
      // Between two frames the nearer is a partner however far it is; after the last one, while that is still shown.
      const double reach = interval(distorted_->format().rate) / 2 + 1e-9;
      const bool near = distorted_->has_frame() || std::abs(partner_time - time) <= reach;
      const bool found = plan_.by_time ? partner != nullptr && near : moved;
      if (!found && beyond_end) return {};
      if (!found) return distorted_->status().ok() ? unequal() : distorted_->status();
      const bool scored = !beyond_end && start_ && index >= *start_ && (index - *start_) % plan_.every == 0;
      if (starts_here) ACUITY_TRY(push_waiting());
      // One of each for all metrics: a device gets it once.
      const InputPair inputs = inputs_of(reference_->frame(), partner);
      if (frame_scores_.any() && (scored || is_neighbour(index))) {
        ACUITY_TRY(frame_scores_.push(reference_->frame(), partner, inputs, index, scored, threads_));
      } else if (frame_scores_.any() && !start_) {
        keep_waiting(reference_->frame(), partner);
      }
      if (scored) ACUITY_TRY(score(index, *reference_->frame(), *partner, inputs));
    }
    if (beyond_end) return {};
    ACUITY_TRY(reference_->status());
    if (plan_.end && *plan_.end <= reference_->seen()) return {};  // what was asked for ends with the reference
    // By time, the distorted video may have a frame more where it has more frames per second.
    const double reach = plan_.by_time ? interval(reference_->format().rate) / 2 + 1e-9 : 0;
    while (plan_.by_time && distorted_->has_frame() && distorted_->time() - time <= reach) distorted_->advance();
    ACUITY_TRY(distorted_->status());
    return distorted_->has_frame() ? unequal() : Status();
  }

  // The same where both are shown at one rate: frames are repeated, and counted as they are shown.
  Status walk_resampled() {
    reference_->begin(plan_.offset < 0 ? -plan_.offset : 0);
    distorted_->begin(plan_.offset > 0 ? plan_.offset : 0);
    start_ = plan_.start;
    end_ = plan_.end;
    ShownSide original(*reference_, *resampling_), other(*distorted_, *resampling_);
    for (int64_t k = 0;; ++k) {
      if (is_stopped()) return stopped();
      const bool beyond_end = end_ && k >= *end_;
      if (beyond_end && !is_neighbour(k)) return {};
      const bool is_there = original.show(k), other_is_there = other.show(k);
      if (!is_there || !other_is_there) {
        ACUITY_TRY(original.status());
        ACUITY_TRY(other.status());
        ACUITY_TRY(reference_->status());
        ACUITY_TRY(distorted_->status());
        return is_there == other_is_there || beyond_end ? Status() : unequal();
      }
      const bool scored = !beyond_end && k >= *start_ && (k - *start_) % plan_.every == 0;
      const InputPair inputs = inputs_of(original.frame(), other.frame());
      if (frame_scores_.any() && (scored || is_neighbour(k))) {
        ACUITY_TRY(frame_scores_.push(original.frame(), other.frame(), inputs, k, scored, threads_));
      }
      if (scored) ACUITY_TRY(score(k, *original.frame(), *other.frame(), inputs));
    }
  }

  // Which frames are scored; where that goes by time, find_range() finds it out on the way.
  Status begin_range() {
    end_ = plan_.end;
    if (!plan_.start_time) start_ = plan_.start;
    if ((!plan_.start_time && !plan_.end_time) || !reference_->has_frame() || reference_->frame()->time) return {};
    return Status(StatusCode::usage, fmt::format("{} has no frame rate, so --start and --end cannot be times: "
                                                 "give frame numbers",
                                                 reference_->name()));
  }

  // Whether the first frame to score is this one.
  bool find_range(int64_t index) {
    constexpr double kRounding = 1e-6;  // of times in containers
    const double time = reference_->time_in_stream() + kRounding;
    if (!end_ && plan_.end_time && time >= *plan_.end_time) end_ = index;
    if (start_ || time < *plan_.start_time) return false;
    start_ = index;
    return true;
  }

  // Frames before the first that is scored, while that is not known yet: the last of them are its neighbours.
  void keep_waiting(const std::shared_ptr<VideoFrame>& reference, const std::shared_ptr<VideoFrame>& distorted) {
    waiting_.emplace_back(reference, distorted);
    if (waiting_.size() > static_cast<size_t>(frame_scores_.frames_before())) waiting_.pop_front();
  }

  Status push_waiting() {
    for (const auto& [reference, distorted] : waiting_) {
      ACUITY_TRY(
          frame_scores_.push(reference, distorted, inputs_of(reference, distorted), reference->index, false, threads_));
    }
    waiting_.clear();
    return {};
  }

  bool is_stopped() const { return interrupted() || job_.is_given_up(); }

  Status stopped() const {
    return Status(StatusCode::cancelled, fmt::format("interrupted after {} frames", result_.video->frames.size()));
  }

  // Whether a metric of frames may want to look at a frame that is not scored itself.
  bool is_neighbour(int64_t index) const {
    if (!frame_scores_.any() || !start_) return false;
    const int64_t before = frame_scores_.frames_before(), after = frame_scores_.frames_after();
    if (index < *start_) return *start_ - index <= before;
    if (end_ && index >= *end_) {
      const int64_t last = *start_ + (*end_ - 1 - *start_) / plan_.every * plan_.every;
      return index - last <= after;
    }
    const int64_t since = (index - *start_) % plan_.every;
    return since <= after || plan_.every - since <= before;
  }

  // Where the first frames of both are opaque, a later one may be the first that is not.
  void warn_of_transparency(const VideoFrame& reference, const VideoFrame& distorted) {
    if (warned_of_transparency_ || reference_->format().alpha || distorted_->format().alpha) return;
    const auto has_alpha = [](const VideoFrame& frame) { return frame.picture && frame.picture->view.has_alpha(); };
    const bool mine = has_alpha(reference);
    if (mine == has_alpha(distorted)) return;
    warned_of_transparency_ = true;
    const Side &has = mine ? *reference_ : *distorted_, &lacks = mine ? *distorted_ : *reference_;
    result_.warnings.push_back(
        fmt::format("frame {} of {} has transparency but that of {} does not and counts as opaque",
                    (mine ? reference : distorted).index, has.name(), lacks.name()));
  }

  Status score(int64_t number, const VideoFrame& reference, const VideoFrame& distorted, const InputPair& inputs) {
    progress_(static_cast<int64_t>(result_.video->frames.size()), expected_frames());
    warn_of_transparency(reference, distorted);
    const FramePair frame{number, reference.time, distorted.time};
    if (!scorer_) return keep(frame, std::vector<Score>());
    if (!on_gpu_) {
      ACUITY_TRY(finish_pending(0));  // those from before a failure come first
      return keep(frame, inputs, scorer_->score(inputs.reference, inputs.distorted));
    }
    Result<Job> job = scorer_->start(inputs.reference, inputs.distorted);
    if (!job.ok()) {
      ACUITY_TRY(finish_pending(0));
      return keep(frame, inputs, job.status());
    }
    pending_.push_back({frame, inputs, std::move(*job)});
    return finish_pending(kMostPending);
  }

  // Where "auto" chose a device that fails, the CPU scores the frame and those that come.
  Status keep(const FramePair& frame, const InputPair& inputs, Result<std::vector<Score>> scores) {
    if (scores.ok() || job_.device != "auto" || !is_of_device(scores.status())) return keep(frame, std::move(scores));
    if (!failed_scorer_) {
      failed_scorer_ = std::exchange(scorer_, std::nullopt);  // jobs in flight still use it
      ACUITY_TRY(create_scorer("cpu", 1));
      on_gpu_ = false;
      result_.warnings.push_back(
          fmt::format("the device failed, so the CPU scored frame {} of {} and those after it: {}", frame.index,
                      reference_->name(), scores.status().message()));
    }
    return keep(frame, scorer_->score(inputs.reference, inputs.distorted));
  }

  InputPair inputs_of(const std::shared_ptr<const VideoFrame>& reference,
                      const std::shared_ptr<const VideoFrame>& distorted) const {
    return {input_of(*reference_, reference), input_of(*distorted_, distorted)};
  }

  // Frames use the same memory again and again. A GPU takes them from there once it is page-locked.
  Input input_of(const Side& side, const std::shared_ptr<const VideoFrame>& frame) const {
    if (frame->there.has_picture()) return frame->there;
    if (!frame->picture) {
      const FrameFormat format = frame_format(side.format());
      if (device_) lock_samples(device_, frame->samples.data());
      return {view_of(format, frame), format};
    }
    ImageView view = frame->picture->view;
    view.colour = side.format().colour;
    return {view, frame};
  }

  std::string place_of(const FramePair& frame) const {
    return fmt::format("frame {} of {} and {}", frame.index, reference_->name(), distorted_->name());
  }

  // Waits for the first frames in flight until no more than so many are left.
  Status finish_pending(size_t most) {
    for (; pending_.size() > most; pending_.pop_front()) {
      const Status kept = keep(pending_.front().frame, pending_.front().inputs, pending_.front().job.finish());
      if (kept.ok()) continue;
      pending_.clear();  // what comes after a failure does not count
      return kept;
    }
    return {};
  }

  Status keep(const FramePair& frame, Result<std::vector<Score>> scores) {
    if (!scores.ok()) return naming_files(scores.status(), place_of(frame));
    for (size_t i = 0; i < scores->size(); ++i) {
      if (!finite((*scores)[i])) {
        return Status(StatusCode::internal,
                      fmt::format("{}: {} gave a result that is not a finite number; please report this",
                                  place_of(frame), result_.scores[places_[i]].label));
      }
    }
    if (!scores->empty() && result_.video->frames.empty() && !failed_scorer_)
      note_device(scores->front().provenance.device);
    for (size_t i = 0; i < scores->size(); ++i) {
      add_frame(result_.scores[places_[i]], std::move((*scores)[i]), result_.video->convert_ms);
    }
    result_.video->frames.push_back(frame);
    return {};
  }

  // Where auto found one, as "cuda:0 (its name)".
  void note_device(const std::string& device) {
    on_gpu_ = !device.starts_with("cpu");
    if (!on_gpu_ || device_) return;
    const Result<std::shared_ptr<Device>> opened = open_device(device.substr(0, device.find(' ')));
    if (opened.ok()) device_ = *opened;
  }

  void describe_sides() {
    const auto tell = [](Side& side, bool is_reference, FileFacts& facts, StreamFacts& stream) {
      const VideoFormat& format = side.format();
      facts = {format.container,
               format.found,
               format.assumed,
               side.milliseconds(),
               std::move(facts.changed),
               {is_reference ? "read reference" : "read distorted", side.begin_ms(), side.end_ms()}};
      stream = {side.frames(), format.rate};
    };
    tell(*reference_, true, result_.reference_facts, result_.video->reference);
    tell(*distorted_, false, result_.distorted_facts, result_.video->distorted);
    const auto add = [](FileFacts& facts, const std::vector<std::string>& changes) {
      facts.found.insert(facts.found.end(), changes.begin(), changes.end());
      facts.changed.insert(facts.changed.end(), changes.begin(), changes.end());
    };
    add(result_.reference_facts, frame_scores_.reference_changes());
    add(result_.distorted_facts, frame_scores_.distorted_changes());
    if (resampling_) {
      const auto change = [&](const Side& side) {
        return fmt::format("{} shown as {} frames per second, frames repeated", describe(side.format().rate),
                           resampling_->frames_per_second());
      };
      add(result_.reference_facts, {change(*reference_)});
      add(result_.distorted_facts, {change(*distorted_)});
    }
    result_.video->convert_ms += frame_scores_.convert_ms();
  }

  // One has ended and the other has not. Unless that will do, the rest is counted, for the message.
  Status unequal() {
    if (plan_.shortest) {
      result_.warnings.push_back(
          fmt::format("{} and {} have different lengths; only the frames that both have were scored",
                      reference_->name(), distorted_->name()));
      return {};
    }
    for (Side* side : {reference_.get(), distorted_.get()}) {
      while (side->has_frame() && !is_stopped()) side->advance();
      if (is_stopped()) return stopped();
      ACUITY_TRY(side->status());
    }
    if (plan_.one_frame) return no_such_frame();
    const Side& shifted = plan_.offset < 0 ? *reference_ : *distorted_;
    const std::string less = plan_.offset == 0 ? ""
                                               : fmt::format(", and --offset leaves out the first {} of {}",
                                                             std::abs(plan_.offset), shifted.name());
    return Status(StatusCode::input,
                  fmt::format("{} has {} ({}) but {} has {} ({}){}: {}", reference_->name(), count_of(*reference_),
                              describe(reference_->format().rate), distorted_->name(), count_of(*distorted_),
                              describe(distorted_->format().rate), less, advice()));
  }

  bool looks_at_time() const {
    return std::any_of(job_.metrics.begin(), job_.metrics.end(),
                       [](const MetricChoice& metric) { return metric.name == "cvvdp_video"; });
  }

  static std::string count_of(const Side& side) {
    return *side.frames() == 1 ? "1 frame" : fmt::format("{} frames", *side.frames());
  }

  // What may help where one has frames that the other has no partner for, and is not in use already.
  std::string advice() const {
    if (reference_->frames() == 1 || distorted_->frames() == 1) {
      return "choose one frame of each with --frame REF,DIST, counted from 0";
    }
    const bool timed = reference_->format().rate.denominator != 0 && distorted_->format().rate.denominator != 0;
    const bool may_sync = timed && !plan_.by_time && !resampling_;
    return fmt::format("use --shortest to score the frames that both have, {}--offset to shift one{}",
                       may_sync ? "" : "or ",
                       !may_sync         ? ""
                       : looks_at_time() ? ", or --sync resample to show both at one rate"
                                         : ", or --sync pts to pair by time");
  }

  Status no_such_frame() const {
    const bool in_reference = *reference_->frames() <= plan_.start;
    const Side& side = in_reference ? *reference_ : *distorted_;
    return Status(StatusCode::input,
                  fmt::format("{} has no frame {}: it has {}, counted from 0; choose another with --frame", side.name(),
                              in_reference ? plan_.start : plan_.start + plan_.offset, count_of(side)));
  }

  Status nothing_scored() const {
    if (plan_.one_frame && reference_->frames() && distorted_->frames()) return no_such_frame();
    for (const Side* side : {reference_.get(), distorted_.get()}) {
      if (side->frames() == 0) return Status(StatusCode::input, fmt::format("{} has no frames", side->name()));
    }
    return Status(StatusCode::input, fmt::format("no frame of {} is left to score; check --start, --end, "
                                                 "--offset and --shortest",
                                                 reference_->name()));
  }

  // Where the lengths of the files tell.
  std::optional<FrameTotal> expected_frames() const {
    std::optional<FrameTotal> total = total_of(reference_->format());
    if (total && resampling_) {
      total = {std::llround(static_cast<double>(total->frames) * interval(reference_->format().rate) *
                            resampling_->frames_per_second()),
               true};
    }
    const std::optional<int64_t> end = frame_at(plan_.end_time, plan_.end);
    if (end && (!total || *end < total->frames)) total = {*end, plan_.end_time.has_value()};
    if (!total) return total;
    const int64_t left_out = std::max(frame_at(plan_.start_time, plan_.start).value_or(0), -plan_.offset);
    total->frames = std::max<int64_t>(1, (total->frames - left_out + plan_.every - 1) / plan_.every);
    return total;
  }

  // About which frame is shown then.
  std::optional<int64_t> frame_at(const std::optional<double>& time, const std::optional<int64_t>& otherwise) const {
    const double step = interval(reference_->format().rate);
    return time && step > 0 ? std::llround(*time / step) : otherwise;
  }

  const ScoreJob& job_;
  const VideoPlan& plan_;
  PairResult& result_;
  const FrameProgress& progress_;
  Threads threads_;
  std::unique_ptr<Side> reference_;
  std::unique_ptr<Side> distorted_;
  std::vector<size_t> places_;  // of the metrics of pictures among all
  std::optional<Scorer> scorer_, failed_scorer_;
  bool warned_of_transparency_ = false;
  bool on_gpu_ = false;             // as the first frame has told
  std::shared_ptr<Device> device_;  // null: none that is known
  Colour frame_colour_;
  FrameScores frame_scores_;
  std::optional<Resampling> resampling_;
  std::optional<int64_t> start_, end_;
  std::deque<std::pair<std::shared_ptr<VideoFrame>, std::shared_ptr<VideoFrame>>> waiting_;
  std::deque<Pending> pending_;  // last: jobs use the scorer
};

}  // namespace

PairResult score_video(const ScoreJob& job, const VideoPlan& plan, const std::string& distorted,
                       const FrameProgress& progress) {
  PairResult result;
  result.reference = job.reference;
  result.distorted = distorted;
  const auto scorer = std::make_shared<VideoScorer>(job, plan, result, progress);
  result.status = (*scorer)();
  if (job.ends_process && scorer->on_gpu()) keep_until_exit(scorer);
  if (!result.status.ok()) {
    result.scores.clear();
    result.video.reset();
  }
  return result;
}

}  // namespace acuity::cli
