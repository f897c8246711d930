// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA2 on the CPU: side of the picture, threads; a pair, against a reference prepared before, or many pairs.
#include <vector>

#include <benchmark/benchmark.h>

#include "acuity/scorer.h"
#include "draw.h"

namespace acuity::bench {
namespace {

void run(benchmark::State& state, bool cached) {
  const int side = static_cast<int>(state.range(0));
  const Drawing reference = draw(side, false), distorted = draw(side, true);
  Result<Scorer> scorer =
      Scorer::create({.metric = "ssimulacra2", .threads = static_cast<int>(state.range(1))}, side, side);
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

// One call for many pairs: side of the picture, threads.
void many(benchmark::State& state) {
  const int side = static_cast<int>(state.range(0));
  const Drawing reference = draw(side, false), distorted = draw(side, true);
  const std::vector<ImagePair> pairs(64, {reference.view(), distorted.view()});
  Result<Scorer> scorer =
      Scorer::create({.metric = "ssimulacra2", .threads = static_cast<int>(state.range(1))}, side, side);
  for (auto _ : state) {
    if (!scorer.ok() || !scorer->score_many(pairs).ok()) {
      state.SkipWithError("the pairs could not be scored");
      return;
    }
  }
  state.counters["pairs/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * 64, benchmark::Counter::kIsRate);
}

void pair(benchmark::State& state) { run(state, false); }
void cached(benchmark::State& state) { run(state, true); }

BENCHMARK(pair)
    ->Name("ssimulacra2/pair")
    ->ArgsProduct({{512, 1024, 2048, 4096}, {1, 2}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(many)->Name("ssimulacra2/many")->ArgsProduct({{512}, {1, 2}})->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(cached)
    ->Name("ssimulacra2/cached")
    ->ArgsProduct({{512, 1024, 2048, 4096}, {1, 2}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace acuity::bench
