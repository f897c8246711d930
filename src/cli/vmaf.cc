// SPDX-License-Identifier: BSD-2-Clause-Patent
// A command that scripts for libvmaf's can call unchanged.
#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/stopwatch.h"
#include "base/try.h"
#include "cli/capabilities.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/pairs.h"
#include "cli/pools.h"
#include "cli/progress.h"
#include "cli/video_side.h"
#include "cli/heatmaps.h"
#include "cli/vmaf_output.h"
#include "device/device.h"
#include "media/form.h"
#include "media/output_file.h"

namespace acuity::cli {
namespace {

Result<std::string> first_gpu() {
  const DeviceList list = list_devices();
  for (const bool software : {false, true}) {
    for (const DeviceInfo& device : list.devices) {
      if (device.is_software == software) return device.id;
    }
  }
  std::string reasons;
  for (const BackendTrouble& trouble : list.troubles) reasons += "; " + trouble.reason;
  return Status(StatusCode::device, "--gpumask 0 asks for a GPU, and none can be used" + reasons);
}

class VmafRun {
 public:
  VmafRun(const VmafPlan& plan, Console& console) : plan_(plan), console_(console), threads_(plan.threads) {}

  Status operator()() {
    std::optional<OutputFile> output;
    if (!plan_.output.empty()) ACUITY_TRY_ASSIGN(output, OutputFile::check(plan_.output, "-o", inputs()));
    for (const VmafFeature& feature : plan_.features) ACUITY_TRY(check_heatmaps(feature.request.options, inputs()));
    ACUITY_TRY(open());
    ACUITY_TRY(create_scorer());
    const Stopwatch watch;
    const Status walked = walk();
    if (scored_ == 0) return walked.ok() ? Status(StatusCode::input, "there is no frame to score") : walked;
    Result<std::vector<FrameScore>> scores = scorer_->finish();
    Status stopped = walked;
    if (!scores.ok()) {
      // A device that fails, say, does not lose what was scored until then.
      if (stopped.ok()) stopped = scores.status();
      scores = scorer_->scores_so_far();
      if (!scores.ok()) return stopped;
    }
    results_.frames_per_second = static_cast<double>(pushed_) * 1000 / std::max(watch.milliseconds(), 1e-3);
    results_.incomplete = stopped.message();
    warn_of(*scores);
    collect(std::move(*scores));
    const Status written = output ? write(*output) : Status();
    if (!plan_.quiet || plan_.output.empty()) tell_scores();
    return written.ok() ? stopped : written;
  }

 private:
  std::vector<std::string> inputs() const {
    std::vector<std::string> files = {plan_.reference, plan_.distorted};
    for (const VmafModel& model : plan_.models) files.push_back(model.source);
    return files;
  }

  Status write(const OutputFile& output) const {
    const std::string text = format_vmaf(results_, plan_.format, plan_.significant_digits);
    const Status written = output.write(text);
    return written.ok() ? written : console_.rescue(text, written);
  }

  Status open() {
    std::unique_ptr<FrameStream> reference, distorted;
    ACUITY_TRY_ASSIGN(reference, open_video(plan_.reference, plan_.stream));
    ACUITY_TRY_ASSIGN(distorted, open_video(plan_.distorted, plan_.stream));
    for (const std::string& difference : differences_in_meaning({shown(plan_.reference), reference->format()},
                                                                {shown(plan_.distorted), distorted->format()})) {
      console_.warn(
          difference +
          ": code values are compared without conversion, as libvmaf does; use 'acuity score' to convert them");
    }
    const int depth = std::max(reference->format().depth, distorted->format().depth);
    if (plan_.common_depth && !plan_.stream.size) {
      ACUITY_TRY_ASSIGN(reference, with_depth(std::move(reference), depth, shown(plan_.reference)));
      ACUITY_TRY_ASSIGN(distorted, with_depth(std::move(distorted), depth, shown(plan_.distorted)));
    }
    const FrameForm form = stored_form(reference->format()), distorted_form = stored_form(distorted->format());
    convert_reference_.emplace(reference->format(), form, reference->format().colour);
    convert_distorted_.emplace(distorted->format(), distorted_form, distorted->format().colour);
    reference_ = std::make_unique<Side>(std::move(reference), shown(plan_.reference));
    distorted_ = std::make_unique<Side>(std::move(distorted), shown(plan_.distorted));
    const FrameFormat mine = frame_format(reference_->format(), form, reference_->format().colour);
    const FrameFormat other = frame_format(distorted_->format(), distorted_form, distorted_->format().colour);
    if (!mine.has_same_shape(other)) {
      return Status(
          StatusCode::input,
          fmt::format(
              "{} has {}x{} {}-bit {} but {} has {}x{} {}-bit {}, and libvmaf compares only videos of one form; "
              "convert one of them, or use 'acuity score', which does it",
              reference_->name(), mine.width, mine.height, mine.depth, name_of(mine.subsampling), distorted_->name(),
              other.width, other.height, other.depth, name_of(other.subsampling)));
    }
    results_.width = mine.width;
    results_.height = mine.height;
    results_.subsample = plan_.subsample;
    return {};
  }

  Status create_scorer() {
    const auto format = [](const VideoFormat& side) { return frame_format(side, stored_form(side), side.colour); };
    FrameScorerOptions options{.format = format(reference_->format()),
                               .distorted_format = format(distorted_->format()),
                               .device = plan_.device,
                               .threads = plan_.threads,
                               .frames_in_flight = plan_.frames_in_flight};
    if (const std::optional<FrameTotal> total = expected_frames()) options.expected_frames = total->frames;
    if (plan_.device == "gpu") ACUITY_TRY_ASSIGN(options.device, first_gpu());
    for (const VmafFeature& feature : plan_.features) options.metrics.push_back(feature.request);
    if (plan_.predict) {
      for (const VmafModel& model : plan_.models) options.metrics.push_back(model.request);
    }
    Result<FrameScorer> scorer = FrameScorer::create(options);
    if (!scorer.ok()) return scorer.status();
    scorer_ = std::move(*scorer);
    ACUITY_TRY(check_names());
    const std::array<PlaneSet, 2> planes = scorer_->planes();
    if (!is_converted(reference_->format())) reference_->want(planes[0]);
    if (!is_converted(distorted_->format())) distorted_->want(planes[1]);
    return {};
  }

  // What a model gives has a column of its own, beside those of features and of other models.
  Status check_names() const {
    std::set<std::string> taken;
    for (size_t i = 0; i < plan_.features.size(); ++i) {
      for (std::string& name : scorer_->output_names(i, plan_.features[i].debug)) taken.insert(std::move(name));
    }
    for (size_t i = 0; plan_.predict && i < plan_.models.size(); ++i) {
      for (const std::string& output : scorer_->output_names(plan_.features.size() + i)) {
        const std::optional<std::string> name = column_of_model(plan_.models[i].name, output);
        if (!name || taken.insert(*name).second) continue;
        return Status(
            StatusCode::usage,
            fmt::format("the model named '{}' would give '{}', which is a feature's or another model's; rename "
                        "it with name=NAME",
                        plan_.models[i].name, *name));
      }
    }
    return {};
  }

  // "vmaf" and its parts; the features of a model have columns already.
  static std::optional<std::string> column_of_model(const std::string& model, const std::string& output) {
    if (output != "vmaf" && !output.starts_with("vmaf_")) return {};
    return model + output.substr(4);
  }

  static bool is_converted(const VideoFormat& side) { return needs_conversion(side, stored_form(side)); }

  // A video that breaks off does not lose what was scored, but is told at the end.
  Status walk() {
    const FrameCount count;
    const std::optional<FrameTotal> total = expected_frames();
    reference_->begin(plan_.skip_reference);
    distorted_->begin(plan_.skip_distorted);
    for (; plan_.frames == 0 || pushed_ < plan_.frames; ++pushed_) {
      if (!reference_->has_frame() || !distorted_->has_frame()) return at_end();
      const Result<FrameView> original = (*convert_reference_)(reference_->take(), threads_);
      if (!original.ok()) return original.status();
      const Result<FrameView> other = (*convert_distorted_)(distorted_->take(), threads_);
      if (!other.ok()) return other.status();
      const bool scored = pushed_ % plan_.subsample == 0;
      ACUITY_TRY(scored ? scorer_->push(*original, *other) : scorer_->push_neighbour(*original, *other));
      scored_ += scored ? 1 : 0;
      if (!plan_.quiet) console_.progress(count.told(pushed_ + 1, total));
    }
    return {};
  }

  // As many as both sides have, and --frame_cnt allows.
  std::optional<FrameTotal> expected_frames() const {
    std::optional<FrameTotal> least;
    const auto limit = [&](std::optional<FrameTotal> total, int skipped) {
      if (total && (!least || total->frames - skipped < least->frames)) least = {total->frames - skipped, total->about};
    };
    limit(total_of(reference_->format()), plan_.skip_reference);
    limit(total_of(distorted_->format()), plan_.skip_distorted);
    if (plan_.frames > 0) limit(FrameTotal{plan_.frames}, 0);
    return least;
  }

  Status at_end() {
    ACUITY_TRY(reference_->status());
    ACUITY_TRY(distorted_->status());
    if (reference_->has_frame() != distorted_->has_frame()) {
      const bool reference_goes_on = reference_->has_frame();
      console_.warn(fmt::format("{} ended before {}", (reference_goes_on ? *distorted_ : *reference_).name(),
                                (reference_goes_on ? *reference_ : *distorted_).name()));
    }
    return {};
  }

  void add_column(FrameOutput output) {
    const auto same = [&](const FrameOutput& other) { return other.name == output.name; };
    if (std::any_of(results_.columns.begin(), results_.columns.end(), same)) return;
    results_.columns.push_back(std::move(output));
  }

  // Of several with one name the first counts, as for columns: libvmaf leaves out the later feature.
  void add_aggregate(const NamedValue& aggregate) {
    const auto same = [&](const NamedValue& other) { return other.name == aggregate.name; };
    if (std::any_of(results_.aggregates.begin(), results_.aggregates.end(), same)) return;
    results_.aggregates.push_back(aggregate);
  }

  // Features that share a device that failed warn of the same.
  void warn_of(const std::vector<FrameScore>& scores) {
    std::vector<std::string>& known = results_.warnings;
    for (const FrameScore& score : scores) {
      for (const std::string& warning : score.provenance.warnings) {
        if (std::find(known.begin(), known.end(), warning) != known.end()) continue;
        console_.warn(warning);
        known.push_back(warning);
      }
    }
  }

  // When libvmaf makes the first value of a feature's output: with the first frame, with the second, or when all frames
  // are over. Columns stand in that order.
  enum class Made : uint8_t { first, second, end };
  Made made(std::string_view output) const {
    if (output.starts_with("integer_motion2") || output.starts_with("integer_motion3")) return Made::end;
    if (!output.starts_with("motion3") || output.find("_force_0") != output.npos) return Made::first;
    return pushed_ > 1 ? Made::second : Made::end;
  }

  // Features in the order they were asked for, by when they are made; then the models, and the parts of bootstraps.
  void collect(std::vector<FrameScore> scores) {
    std::vector<FrameOutput> second, end, parts;
    for (size_t i = 0; i < plan_.features.size(); ++i) {
      std::vector<FrameOutput>& outputs = scores[i].outputs;
      // libvmaf makes "motion" last.
      if (plan_.features[i].request.metric == "float_motion") {
        std::rotate(outputs.begin(), outputs.begin() + 1, outputs.end());
      }
      for (FrameOutput& output : outputs) {
        if (output.internal && !plan_.features[i].debug) continue;
        switch (made(output.name)) {
          case Made::first:
            add_column(std::move(output));
            break;
          case Made::second:
            second.push_back(std::move(output));
            break;
          case Made::end:
            end.push_back(std::move(output));
            break;
        }
      }
      for (const NamedValue& aggregate : scores[i].aggregates) add_aggregate(aggregate);
    }
    for (FrameOutput& output : second) add_column(std::move(output));
    for (FrameOutput& output : end) add_column(std::move(output));
    for (size_t i = plan_.features.size(); i < scores.size(); ++i) {
      const std::string& name = plan_.models[i - plan_.features.size()].name;
      for (FrameOutput& output : scores[i].outputs) {
        const bool whole = output.name == "vmaf";
        std::optional<std::string> column = column_of_model(name, output.name);
        if (!column) continue;
        output.name = std::move(*column);
        if (whole) {
          add_column(std::move(output));
        } else {
          parts.push_back(std::move(output));
        }
      }
    }
    for (FrameOutput& output : parts) add_column(std::move(output));
  }

  void tell_scores() {
    if (!plan_.predict) return;
    for (const VmafModel& model : plan_.models) {
      std::string text;
      for (const FrameOutput& column : results_.columns) {
        const double value = mean(column.values);
        if (column.name == model.name) text = fmt::format("{}: {:.6f}", model.source, value);
        if (column.name == model.name + "_ci_p95_lo") text += fmt::format(", 95 % of the models from {:.6f}", value);
        if (column.name == model.name + "_ci_p95_hi") text += fmt::format(" to {:.6f}", value);
      }
      console_.note(text);
    }
  }

  const VmafPlan& plan_;
  Console& console_;
  Threads threads_;
  std::unique_ptr<Side> reference_, distorted_;
  std::optional<FormConverter> convert_reference_, convert_distorted_;
  std::optional<FrameScorer> scorer_;
  int pushed_ = 0;
  int scored_ = 0;
  VmafResults results_;
};

}  // namespace

int run_vmaf(const Request& request, Console& console) {
  if (request.has("--version")) {
    console.print(vmaf_version() + "\n");
    return kExitOk;
  }
  const Result<VmafPlan> plan = plan_vmaf(request);
  Status status = plan.status();
  if (plan.ok()) {
    if (!plan->quiet) {
      for (const std::string& note : plan->notes) console.note("acuity: " + note);
    }
    const Capabilities capabilities(console);
    status = VmafRun(*plan, console)();
  }
  if (!status.ok()) console.complain(status.message());
  return exit_code(status.code());
}

}  // namespace acuity::cli
