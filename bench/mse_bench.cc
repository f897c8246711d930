// SPDX-License-Identifier: BSD-2-Clause-Patent
// PSNR on the CPU: side of the picture, threads. MSE costs the same.
#include <benchmark/benchmark.h>

#include "acuity/scorer.h"
#include "draw.h"

namespace acuity::bench {
namespace {

void psnr(benchmark::State& state) {
  const int side = static_cast<int>(state.range(0));
  const Drawing reference = draw(side, false), distorted = draw(side, true);
  Result<Scorer> scorer =
      Scorer::create({.metrics = {"psnr"}, .threads = static_cast<int>(state.range(1))}, side, side);
  if (!scorer.ok()) {
    state.SkipWithError(scorer.status().message().c_str());
    return;
  }
  Result<std::vector<Score>> scores = Status(StatusCode::internal, "not run");
  for (auto _ : state) {
    scores = scorer->score(reference.view(), distorted.view());
    benchmark::DoNotOptimize(scores);
  }
  if (!scores.ok()) {
    state.SkipWithError(scores.status().message().c_str());
    return;
  }
  const Score* score = &scores->front();
  state.SetLabel(score->provenance.device);
  state.counters["score"] = score->value;
  state.SetItemsProcessed(state.iterations() * int64_t{side} * side);  // pixels
}

BENCHMARK(psnr)->ArgsProduct({{512, 1024, 2048, 4096}, {1, 2}})->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace acuity::bench
