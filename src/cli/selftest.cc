// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scores the drawn pictures with everything this machine can run and compares with known answers, to the last bit.
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "acuity/scorer.h"
#include "base/try.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/gpu_metrics.h"
#include "cli/request.h"
#include "cli/selftest_frames.h"
#include "cli/selftest_pictures.h"
#include "cli/text.h"
#include "device/device.h"
#include "lang/targets.h"

namespace acuity::cli {
namespace {

struct Answer {
  std::string_view metric;
  std::string_view pair;
  double value;
};

// What the metrics gave when they agreed with their references (tests/golden). A metric without answers here fails.
// clang-format off: one answer a line
constexpr std::array<Answer, 27> kAnswers{{
    {"ssimulacra2", "noise", 21.970261784110861},
    {"ssimulacra2", "blur", 41.557827022470036},
    {"ssimulacra2", "bands", 29.811494155476169},
    {"butteraugli", "noise", 4.9526233673095703},
    {"butteraugli", "blur", 5.9202651977539062},
    {"butteraugli", "bands", 5.5231103897094727},
    {"cvvdp", "noise", 9.3542054224074498},
    {"cvvdp", "blur", 9.677209022515596},
    {"cvvdp", "bands", 9.1408480545890249},
    {"dssim", "noise", 0.0088607201137347325},
    {"dssim", "blur", 0.012881217074209639},
    {"dssim", "bands", 0.012815911256027768},
    {"iwssim", "noise", 0.96858226239666645},
    {"iwssim", "blur", 0.9738116134621273},
    {"iwssim", "bands", 0.95215995498312189},
    {"msssim", "noise", 0.96360265625335173},
    {"msssim", "blur", 0.97834520200621056},
    {"msssim", "bands", 0.96646896304429264},
    {"zensim", "noise", 49.544064238240857},
    {"zensim", "blur", 52.447265480531527},
    {"zensim", "bands", 35.730563767689304},
    {"psnr", "noise", 28.543529755366386},
    {"psnr", "blur", 24.56927683660172},
    {"psnr", "bands", 31.337334489337842},
    {"mse", "noise", 90.934228249206669},
    {"mse", "blur", 227.06629682898432},
    {"mse", "bands", 47.791087368445083},
}};
// clang-format on

const Answer* find_answer(std::string_view metric, std::string_view pair) {
  for (const Answer& answer : kAnswers) {
    if (answer.metric == metric && answer.pair == pair) return &answer;
  }
  return nullptr;
}

// What is wrong with one result; empty when nothing is.
std::string complaint(const Result<std::vector<Score>>& scores, const std::string& pair, const double* answer) {
  if (!scores.ok()) return fmt::format("{}: {}", pair, scores.status().message());
  const Score* score = &scores->front();
  if (answer == nullptr)
    return fmt::format("{}: {}, and no answer to compare it with", pair, exact_number(score->value));
  if (score->value == *answer) return "";
  return fmt::format("{}: {} instead of {}", pair, exact_number(score->value), exact_number(*answer));
}

std::vector<std::string> check(const MetricInfo& metric, const std::string& device, int threads,
                               const std::vector<DrawnPair>& pairs) {
  std::vector<std::string> complaints;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) complaints.push_back(text);
  };
  const DrawnPicture& first = pairs.front().reference;
  Result<Scorer> scorer =
      Scorer::create({.metrics = {metric.name}, .device = device, .threads = threads}, first.width, first.height);
  if (!scorer.ok()) return {scorer.status().message()};
  for (const DrawnPair& pair : pairs) {
    const Answer* answer = find_answer(metric.name, pair.name);
    add(complaint(scorer->score(pair.reference.view(), pair.distorted.view()), pair.name,
                  answer != nullptr ? &answer->value : nullptr));
  }
  add(complaint(scorer->score(first.view(), first.view()), "identical", &*metric.identical));
  return complaints;
}

// Counts checks and says how they came out.
class Tally {
 public:
  explicit Tally(Console& console) : console_(console) {}

  void check_metric(const MetricInfo& metric, const std::string& device, const std::string& place, int threads) {
    const std::vector<std::string> complaints =
        metric.is_frame_metric ? check_frames(metric, device, threads, pairs_) : check(metric, device, threads, pairs_);
    wrong_ += complaints.empty() ? 0 : 1;
    ++all_;
    console_.print(fmt::format(
        "{}  {:<14} {:<7} {} thread{}{}\n", complaints.empty() ? "ok   " : console_.bold("WRONG"), metric.name, place,
        threads, threads == 1 ? " " : "s", complaints.empty() ? "" : fmt::format("  {}", fmt::join(complaints, "; "))));
  }

  int conclude() const {
    if (wrong_ == 0) {
      console_.print(fmt::format("All {} checks passed: every score is right to the last bit.\n", all_));
      return kExitOk;
    }
    console_.print(fmt::format("{} of {} checks failed: scores from this machine cannot be trusted.\n", wrong_, all_));
    return kExitFailed;
  }

 private:
  Console& console_;
  const std::vector<DrawnPair> pairs_ = selftest_pairs();
  int wrong_ = 0;
  int all_ = 0;
};

Status check_cpu(Tally& tally) {
  const std::vector<std::string> targets = cpu_targets();
  // ACUITY_CPU is read once, at the first use; it must not undo what is set below.
  ACUITY_TRY(prepare_cpu());
  for (const std::string& target : targets) {
    ACUITY_TRY(limit_cpu(target));
    for (const MetricInfo& metric : metrics()) {
      for (const int threads : {1, 2}) tally.check_metric(metric, "cpu", target, threads);
    }
  }
  return {};
}

Status check_device(const std::string& name, Tally& tally, Console& console) {
  std::shared_ptr<Device> device;  // kept open from metric to metric
  ACUITY_TRY_ASSIGN(device, open_device(name));
  for (const MetricInfo& metric : metrics()) {
    if (has_gpu_version(metric)) {
      tally.check_metric(metric, device->info().id, device->info().id, 1);
    } else {
      console.print(fmt::format("       {:<14} runs on the CPU only\n", metric.name));
    }
  }
  return {};
}

}  // namespace

int run_selftest(const Request& request, Console& console) {
  Tally tally(console);
  const std::string device = request.value("--device");
  const Status status = device == "cpu" ? check_cpu(tally) : check_device(device, tally, console);
  if (status.ok()) return tally.conclude();
  console.complain(status.message());
  return exit_code(status.code());
}

}  // namespace acuity::cli
