// SPDX-License-Identifier: BSD-2-Clause-Patent
// A metric on the CPU: side of the picture, threads; a pair, against a reference prepared before, or many pairs.
#ifndef ACUITY_BENCH_METRIC_BENCH_H
#define ACUITY_BENCH_METRIC_BENCH_H

#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "acuity/scorer.h"
#include "draw.h"

namespace acuity::bench {

inline Result<Scorer> scorer_for(const benchmark::State& state, ScorerOptions options) {
  const int side = static_cast<int>(state.range(0));
  options.device = "cpu";
  options.threads = static_cast<int>(state.range(1));
  return Scorer::create(options, side, side);
}

inline void run_metric(benchmark::State& state, const ScorerOptions& options, bool is_prepared) {
  const int side = static_cast<int>(state.range(0));
  const Drawing reference = draw(side, false), distorted = draw(side, true);
  Result<Scorer> scorer = scorer_for(state, options);
  const Result<Reference> prepared = scorer.ok() && is_prepared ? scorer->prepare(reference.view()) : Reference();
  if (!scorer.ok() || !prepared.ok()) {
    state.SkipWithError("the scorer could not be made");
    return;
  }
  Result<std::vector<Score>> scores = Status(StatusCode::internal, "not run");
  for (auto _ : state) {
    scores =
        is_prepared ? scorer->score(*prepared, distorted.view()) : scorer->score(reference.view(), distorted.view());
    benchmark::DoNotOptimize(scores);
  }
  if (!scores.ok()) {
    state.SkipWithError(scores.status().message().c_str());
    return;
  }
  const Score* score = &scores->front();
  const double pixels = static_cast<double>(side) * side;
  state.SetLabel(score->provenance.device);
  state.counters["score"] = score->value;
  state.SetItemsProcessed(state.iterations() * int64_t{side} * side);  // pixels
  state.counters["working B/pixel"] = static_cast<double>(score->provenance.working_bytes) / pixels;
}

// One call for many pairs.
inline void run_many(benchmark::State& state, const ScorerOptions& options) {
  const int side = static_cast<int>(state.range(0));
  const Drawing reference = draw(side, false), distorted = draw(side, true);
  const std::vector<InputPair> pairs(64, {reference.view(), distorted.view()});
  Result<Scorer> scorer = scorer_for(state, options);
  for (auto _ : state) {
    if (!scorer.ok() || !scorer->score_many(pairs).ok()) {
      state.SkipWithError("the pairs could not be scored");
      return;
    }
  }
  state.counters["pairs/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * 64, benchmark::Counter::kIsRate);
}

/// Registers NAME/pair, NAME/prepared and NAME/many; give the result to a static variable.
inline bool bench_metric(const std::string& name, const ScorerOptions& options) {
  const auto add = [&](const std::string& kind, const std::vector<int64_t>& sides, auto run) {
    benchmark::RegisterBenchmark((name + "/" + kind).c_str(), run)
        ->ArgsProduct({sides, {1, 2}})
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  };
  const std::vector<int64_t> sides{512, 1024, 2048, 4096};
  add("pair", sides, [options](benchmark::State& state) { run_metric(state, options, false); });
  add("prepared", sides, [options](benchmark::State& state) { run_metric(state, options, true); });
  add("many", {512}, [options](benchmark::State& state) { run_many(state, options); });
  return true;
}

}  // namespace acuity::bench

#endif
