// SPDX-License-Identifier: BSD-2-Clause-Patent
// IW-SSIM, with and without weights, and MS-SSIM on the CPU: side of the picture, threads; a pair, or against a
// reference prepared before.
#include <benchmark/benchmark.h>

#include "acuity/scorer.h"
#include "draw.h"

namespace acuity::bench {
namespace {

void run(benchmark::State& state, const ScorerOptions& metric, bool cached) {
  const int side = static_cast<int>(state.range(0));
  const Drawing reference = draw(side, false), distorted = draw(side, true);
  ScorerOptions options = metric;
  options.device = "cpu";
  options.threads = static_cast<int>(state.range(1));
  Result<Scorer> scorer = Scorer::create(options, side, side);
  if (!scorer.ok() || (cached && !scorer->set_reference(reference.view()).ok())) {
    state.SkipWithError("the scorer could not be made");
    return;
  }
  Result<Score> score = Status(StatusCode::internal, "not run");
  for (auto _ : state) {
    score = cached ? scorer->score(distorted.view()) : scorer->score(reference.view(), distorted.view());
    benchmark::DoNotOptimize(score);
  }
  if (!score.ok()) {
    state.SkipWithError(score.status().message().c_str());
    return;
  }
  const double pixels = static_cast<double>(side) * side;
  state.SetLabel(score->provenance.device);
  state.counters["score"] = score->value;
  state.SetItemsProcessed(state.iterations() * int64_t{side} * side);  // pixels
  state.counters["working B/pixel"] = static_cast<double>(score->provenance.working_bytes) / pixels;
}

const ScorerOptions kIwssim{.metric = "iwssim"};
const ScorerOptions kPlain{.metric = "iwssim", .metric_options = {{"weights", "none"}}};
const ScorerOptions kMsssim{.metric = "msssim"};

void arguments(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgsProduct({{512, 1024, 2048, 4096}, {1, 2}})->Unit(benchmark::kMillisecond)->UseRealTime();
}

BENCHMARK_CAPTURE(run, pair, kIwssim, false)->Name("iwssim/pair")->Apply(arguments);
BENCHMARK_CAPTURE(run, cached, kIwssim, true)->Name("iwssim/cached")->Apply(arguments);
BENCHMARK_CAPTURE(run, plain, kPlain, false)->Name("iwssim/weights=none/pair")->Apply(arguments);
BENCHMARK_CAPTURE(run, classic, kMsssim, false)->Name("msssim/pair")->Apply(arguments);
BENCHMARK_CAPTURE(run, classic_cached, kMsssim, true)->Name("msssim/cached")->Apply(arguments);

}  // namespace
}  // namespace acuity::bench
